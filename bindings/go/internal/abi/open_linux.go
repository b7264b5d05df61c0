//go:build !tetralith_wasm && !tetralith_cgo && (amd64 || arm64)

package abi

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// open loads the library from memory, or from a temporary file where that is not possible.
func open(code []byte, dlopen func(path string) (uintptr, error)) (uintptr, error) {
	if fd, err := unix.MemfdCreate("libtetralith.so", unix.MFD_CLOEXEC); err == nil {
		file := os.NewFile(uintptr(fd), "libtetralith.so")
		defer file.Close()
		if _, err := file.Write(code); err == nil {
			if base, err := dlopen(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil {
				return base, nil
			}
		}
	}
	return openFile(code, dlopen)
}
