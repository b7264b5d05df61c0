// Package abi calls Tetralith's C interface, bindings/c/include/tetralith.h.
//
// A call is a function and a list of words, one for each C argument. Three carriers make the call:
// purego on the embedded shared library, cgo (build tag tetralith_cgo), and wazero on the embedded
// WebAssembly module (build tag tetralith_wasm, and platforms without the first).
package abi

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Version is the version of the C interface that this package was written for.
const Version = 1

// The statuses of the C interface.
const (
	OK          = 0
	NotValid    = 1
	Malformed   = 2
	Environment = 3
	State       = 4
	Peer        = 5
	Argument    = 64
	Internal    = 70
)

// Func is a function of the C interface. It is looked up when it is first called.
type Func struct {
	name string
	addr atomic.Uintptr
}

// Function names a function of the C interface, without its prefix tetralith_.
func Function(name string) *Func {
	f := &Func{name: "tetralith_" + name}
	functions = append(functions, f)
	return f
}

// functions are all that this program may call, for a test against the header.
var functions []*Func

// Handle is an object of the library. 0 is none.
type Handle uint64

// Owned is memory that the library allocated and hands over.
type Owned struct {
	bytes unsafe.Pointer
	len   uint64
}

type mode uint8

const (
	value mode = iota
	in
	out
	handle
	outHandle
	ownedBytes
	ownedLen
	progress
	user
)

// Word is one argument of a C call.
type Word struct {
	mode  mode
	value uint64
	ptr   unsafe.Pointer
	size  int
}

// Int passes a number.
func Int[T ~int | ~int32 | ~uint32 | ~uint64](n T) Word { return Word{value: uint64(n)} }

// Len passes the length of bytes.
func Len(b []byte) Word { return Word{value: uint64(len(b))} }

// In passes bytes that the function reads. NULL if there are none.
func In(b []byte) Word {
	return Word{mode: in, ptr: escape(unsafe.Pointer(unsafe.SliceData(b))), size: len(b)}
}

// Out passes bytes that the function writes. NULL if there are none.
func Out(b []byte) Word {
	return Word{mode: out, ptr: escape(unsafe.Pointer(unsafe.SliceData(b))), size: len(b)}
}

// Numbers passes numbers that the function reads.
func Numbers(n []uint64) Word {
	return Word{mode: in, ptr: escape(unsafe.Pointer(unsafe.SliceData(n))), size: 8 * len(n)}
}

// OutSize passes the place of a size_t that the function writes.
func OutSize(n *uint64) Word { return Word{mode: out, ptr: escape(unsafe.Pointer(n)), size: 8} }

// The passes a handle.
func The(h Handle) Word { return Word{mode: handle, value: uint64(h)} }

// OutHandle passes the place of a handle that the function writes.
func OutHandle(h *Handle) Word { return Word{mode: outHandle, ptr: escape(unsafe.Pointer(h)), size: 8} }

// OutBytes passes the place of a pointer to allocated bytes that the function writes.
func OutBytes(o *Owned) Word {
	return Word{mode: ownedBytes, ptr: escape(unsafe.Pointer(&o.bytes)), size: 8}
}

// OutLen passes the place of the length of [OutBytes].
func OutLen(o *Owned) Word { return Word{mode: ownedLen, ptr: escape(unsafe.Pointer(&o.len)), size: 8} }

// escape moves what a pointer points to off the stack, which moves when a call back into Go lets it grow.
func escape(p unsafe.Pointer) unsafe.Pointer {
	if never.Load() {
		sink = p
	}
	return p
}

var (
	never atomic.Bool
	sink  unsafe.Pointer
)

// Failure makes the error of a failed call. The package tetralith sets it.
var Failure func(status int, code, message string) error

// Unsupported makes the error of a function that this carrier does not have.
func Unsupported(what string) error {
	return Failure(Environment, "backend.unsupported", what+" is not available with the "+carrier+" backend")
}

// Call calls a function that returns a status.
func (f *Func) Call(args ...Word) error {
	if err := f.find(); err != nil {
		return err
	}
	status, text := invoke(f, args)
	if status == OK {
		return nil
	}
	return failed(status, text)
}

// Get calls a function that returns a number and cannot fail; 0 where the library is missing.
func (f *Func) Get(args ...Word) uint64 {
	if f.find() != nil {
		return 0
	}
	return get(f, args)
}

// Take copies and frees what a call handed over.
//
// from is the handle of the call, which says where the memory is.
func (o *Owned) Take(from Handle) ([]byte, error) {
	bytes, err := take(o, from)
	*o = Owned{}
	return bytes, err
}

// Backend names the carrier and the fastest kernels that it found, such as "native (avx512)".
func Backend() string {
	name := make([]byte, 32)
	n := kernel.Get(Out(name), Len(name))
	if n == 0 || n >= uint64(len(name)) {
		return carrier + " (unavailable)"
	}
	return carrier + " (" + string(name[:n]) + ")"
}

var (
	kernel    = Function("kernel")
	lastError = Function("last_error")
	bytesFree = Function("bytes_free")
)

// maxError is the length of the longest message that is kept.
const maxError = 1024

func failed(status int32, text []byte) error {
	code, message, found := strings.Cut(string(text), ": ")
	if !found {
		code, message = "internal", "the library gave no reason"
	}
	return Failure(int(status), code, message)
}

// library is loaded by the first call, and never unloaded.
var library = sync.OnceValues(func() (uintptr, error) {
	base, err := load()
	if err != nil {
		return 0, err
	}
	if found := version(base); found != Version {
		message := fmt.Sprintf("the library has version %d of the C interface, expected %d", found, Version)
		return 0, Failure(Environment, "backend.version", message)
	}
	return base, nil
})

func (f *Func) find() error {
	if f.addr.Load() != 0 {
		return nil
	}
	base, err := library()
	if err != nil {
		return err
	}
	addr := lookup(base, f.name)
	if addr == 0 {
		return Unsupported(f.name)
	}
	f.addr.Store(addr)
	return nil
}

func missing(file string) error {
	message := "this build of the module has no " + file
	return Failure(Environment, "backend.missing", message)
}

func keep(args []Word) {
	for i := range args {
		runtime.KeepAlive(args[i].ptr)
	}
}
