//go:build !tetralith_wasm && tetralith_cgo && (linux || darwin) && (amd64 || arm64)

package abi

/*
#cgo pkg-config: tetralith
#include <tetralith.h>

// All arguments are integers and pointers, and each has a register or stack slot of its own, so that a
// function can be called with its arguments as words. On macOS that fails for 32-bit numbers beyond the
// eighth argument; a test holds that no function has any.
static uintptr_t tl_call(uintptr_t f, const uintptr_t *a, size_t n) {
	typedef uintptr_t w;
	switch (n) {
	case 0: return ((w (*)(void))f)();
	case 1: return ((w (*)(w))f)(a[0]);
	case 2: return ((w (*)(w, w))f)(a[0], a[1]);
	case 3: return ((w (*)(w, w, w))f)(a[0], a[1], a[2]);
	case 4: return ((w (*)(w, w, w, w))f)(a[0], a[1], a[2], a[3]);
	case 5: return ((w (*)(w, w, w, w, w))f)(a[0], a[1], a[2], a[3], a[4]);
	case 6: return ((w (*)(w, w, w, w, w, w))f)(a[0], a[1], a[2], a[3], a[4], a[5]);
	default: return ((w (*)(w, w, w, w, w, w, w, w, w, w, w, w, w, w, w))f)(a[0], a[1], a[2], a[3], a[4],
		a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14]);
	}
}

int32_t tetralithGoReported(uint64_t user, uint64_t done, uint64_t total);
static int32_t tl_progress(void *user, uint64_t done, uint64_t total) {
	return tetralithGoReported((uintptr_t)user, done, total);
}
static uintptr_t tl_progress_address(void) { return (uintptr_t)tl_progress; }
*/
import "C"

import (
	"runtime"
	"unsafe"
)

const carrier = "cgo"

// load has nothing to do: the linker found the library.
func load() (uintptr, error) { return 1, nil }

func lookup(_ uintptr, name string) uintptr { return uintptr(symbols[name]) }

func version(uintptr) uint32 { return uint32(C.tetralith_abi_version()) }

// invoke calls a function and, where it fails, asks the same thread for the reason.
func invoke(f *Func, args []Word) (int32, []byte) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	status := int32(get(f, args))
	if status == OK {
		return status, nil
	}
	text := make([]byte, maxError)
	n := uint64(C.tetralith_last_error((*C.char)(unsafe.Pointer(&text[0])), maxError))
	return status, text[:min(n, maxError-1)]
}

func get(f *Func, args []Word) uint64 {
	var words [maxWords]C.uintptr_t
	for i := range args {
		words[i] = C.uintptr_t(args[i].word())
	}
	r := C.tl_call(C.uintptr_t(f.addr.Load()), &words[0], C.size_t(len(args)))
	keep(args)
	return uint64(r)
}

func progressCallback() uintptr { return uintptr(C.tl_progress_address()) }

// maxWords is what tl_call passes.
const maxWords = 15
