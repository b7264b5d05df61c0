//go:build !tetralith_wasm && !tetralith_cgo && (linux || darwin) && (amd64 || arm64)

package abi

import (
	"runtime"
	"sync"

	"github.com/ebitengine/purego"
)

const carrier = "native"

// load writes the embedded library to where the loader finds it, and loads it.
func load() (uintptr, error) {
	code, err := embedded.ReadFile(embeddedName)
	if err != nil {
		return 0, missing(embeddedName)
	}
	return open(code, func(path string) (uintptr, error) {
		return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	})
}

func lookup(base uintptr, name string) uintptr {
	addr, err := purego.Dlsym(base, name)
	if err != nil {
		return 0
	}
	return addr
}

func version(base uintptr) uint32 {
	found := lookup(base, "tetralith_abi_version")
	if found == 0 {
		return 0
	}
	r, _, _ := purego.SyscallN(found)
	return uint32(r)
}

// invoke calls a function and, where it fails, asks the same thread for the reason.
func invoke(f *Func, args []Word) (int32, []byte) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	status := int32(get(f, args))
	if status == OK || lastError.find() != nil {
		return status, nil
	}
	text := make([]byte, maxError)
	n := get(lastError, []Word{Out(text), Len(text)})
	return status, text[:min(n, maxError-1)]
}

func get(f *Func, args []Word) uint64 {
	var words [maxWords]uintptr
	for i := range args {
		words[i] = args[i].word()
	}
	r, _, _ := purego.SyscallN(f.addr.Load(), words[:len(args)]...)
	keep(args)
	return uint64(r)
}

// progressCallback is made once: callbacks are never freed.
var progressCallback = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(id uintptr, done, total uint64) uintptr {
		return uintptr(reported(uint64(id), done, total))
	})
})

// maxWords is more than the arguments of any function.
const maxWords = 15
