//go:build tetralith_wasm || !((linux || darwin) && (amd64 || arm64))

package abi

import (
	"context"
	"embed"
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const carrier = "wasm"

//go:embed lib/wasm
var embedded embed.FS

const embeddedName = "lib/wasm/tetralith.wasm"

// engine is the compiled module and its instances. An instance runs one call at a time.
var engine struct {
	sync.Mutex
	runtime   wazero.Runtime
	module    wazero.CompiledModule
	instances []*instance
	next      atomic.Uint32
}

// instance is a module with memory of its own. A handle has the number of its instance, from 1, in its upper
// half and an address in its lower half.
type instance struct {
	sync.Mutex
	number uint64
	module api.Module
	// base and size are pages that the library's allocator does not know of.
	base, size uint32
	// broken says that a call trapped: nobody knows in what state the memory is.
	broken bool
}

func load() (uintptr, error) {
	code, err := embedded.ReadFile(embeddedName)
	if err != nil {
		return 0, missing(embeddedName)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return 0, Unsupported("a big-endian machine")
	}
	ctx := context.Background()
	engine.runtime = wazero.NewRuntime(ctx)
	if engine.module, err = engine.runtime.CompileModule(ctx, code); err != nil {
		return 0, Failure(Environment, "backend.load", err.Error())
	}
	return 1, nil
}

func lookup(_ uintptr, name string) uintptr {
	if _, ok := engine.module.ExportedFunctions()[name]; ok {
		return 1
	}
	return 0
}

func version(uintptr) uint32 {
	instance, err := acquire(0)
	if err != nil {
		return 0
	}
	defer instance.Unlock()
	return uint32(instance.call("tetralith_abi_version", nil))
}

// acquire locks the instance of a handle, or any.
func acquire(of Handle) (*instance, error) {
	engine.Lock()
	defer engine.Unlock()
	if number := uint64(of) >> 32; number != 0 {
		instance := engine.instances[number-1]
		engine.Unlock()
		instance.Lock()
		engine.Lock()
		return instance, nil
	}
	for _, instance := range engine.instances {
		if instance.TryLock() {
			return instance, nil
		}
	}
	if len(engine.instances) < max(runtime.GOMAXPROCS(0), 1) {
		module, err := engine.runtime.InstantiateModule(context.Background(), engine.module, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			return nil, Failure(Environment, "backend.load", err.Error())
		}
		made := &instance{number: uint64(len(engine.instances) + 1), module: module}
		made.Lock()
		engine.instances = append(engine.instances, made)
		return made, nil
	}
	busy := engine.instances[int(engine.next.Add(1))%len(engine.instances)]
	engine.Unlock()
	busy.Lock()
	engine.Lock()
	return busy, nil
}

func invoke(f *Func, args []Word) (int32, []byte) {
	for i := range args {
		if args[i].mode == progress {
			return Environment, []byte("backend.unsupported: " + f.name + " is not available with the wasm backend")
		}
	}
	instance, err := acquire(owner(args))
	if err != nil {
		return Environment, []byte("backend.load: " + err.Error())
	}
	defer instance.Unlock()
	status := int32(instance.call(f.name, args))
	if instance.broken {
		return Internal, []byte("internal: the WebAssembly module trapped")
	}
	if status == OK {
		return OK, nil
	}
	text := make([]byte, maxError)
	n := instance.call(lastError.name, []Word{Out(text), Len(text)})
	return status, text[:min(n, maxError-1)]
}

func get(f *Func, args []Word) uint64 {
	instance, err := acquire(owner(args))
	if err != nil {
		return 0
	}
	defer instance.Unlock()
	return instance.call(f.name, args)
}

// owner is the handle among the arguments, if there is one.
func owner(args []Word) Handle {
	for i := range args {
		if args[i].mode == handle {
			return Handle(args[i].value)
		}
	}
	return 0
}

// call copies the arguments into the instance's memory, calls, copies back, and wipes them.
func (i *instance) call(name string, args []Word) uint64 {
	words, used, ok := i.place(args)
	if i.broken || !ok {
		i.broken = true
		return Internal
	}
	results, err := i.module.ExportedFunction(name).Call(context.Background(), words...)
	if err != nil {
		i.broken = true
		return Internal
	}
	memory := i.module.Memory()
	for n := range args {
		w := &args[n]
		if !w.written() || w.size == 0 {
			continue
		}
		view, _ := memory.Read(uint32(words[n]), uint32(w.size))
		copy(unsafe.Slice((*byte)(w.ptr), w.size), view)
		if h := (*uint64)(w.ptr); w.mode == outHandle && *h != 0 {
			*h |= i.number << 32
		}
	}
	keep(args)
	if view, ok := memory.Read(i.base, used); ok {
		clear(view)
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

// written says whether the function writes where the word points.
func (w *Word) written() bool {
	switch w.mode {
	case out, outHandle, ownedBytes, ownedLen:
		return true
	}
	return false
}

// place copies what the words point to into the instance's pages, and returns the words as WebAssembly
// takes them. Pointers and sizes have 32 bits there; written into 64 zero bits, the value is the same.
func (i *instance) place(args []Word) (words []uint64, used uint32, ok bool) {
	need := uint64(0)
	for n := range args {
		need += uint64(args[n].size+7) &^ 7
	}
	if !i.reserve(need) {
		return nil, 0, false
	}
	words = make([]uint64, len(args))
	for n := range args {
		w := &args[n]
		switch {
		case w.mode == handle:
			words[n] = w.value & (1<<32 - 1)
		case w.mode == value:
			words[n] = w.value
		case w.size > 0:
			at := i.base + used
			i.module.Memory().Write(at, unsafe.Slice((*byte)(w.ptr), w.size))
			words[n] = uint64(at)
			used += uint32(w.size+7) &^ 7
		}
	}
	return words, used, true
}

// reserve makes room in pages of the host's own: the library's allocator takes what it grows itself only.
func (i *instance) reserve(need uint64) bool {
	if need <= uint64(i.size) {
		return true
	}
	pages := (2*need + pageSize - 1) / pageSize
	if pages > 1<<14 {
		return false
	}
	before, ok := i.module.Memory().Grow(uint32(pages))
	if !ok {
		return false
	}
	i.base, i.size = before*pageSize, uint32(pages)*pageSize
	return true
}

// take copies allocated bytes and frees them.
func take(o *Owned, from Handle) ([]byte, error) {
	at := uint64(uintptr(o.bytes))
	if at == 0 {
		return nil, nil
	}
	instance, err := acquire(from)
	if err != nil {
		return nil, err
	}
	defer instance.Unlock()
	view, _ := instance.module.Memory().Read(uint32(at), uint32(o.len))
	bytes := append([]byte(nil), view...)
	clear(view)
	instance.call(bytesFree.name, []Word{{value: at}, {value: o.len}})
	return bytes, nil
}

// Progress passes a function that the library would call: it cannot, and the call is refused.
func Progress(func(done, total uint64) bool) (Word, Word, func()) {
	return Word{mode: progress}, Word{mode: user}, func() {}
}

const pageSize = 1 << 16
