//go:build !tetralith_wasm && !tetralith_cgo && (linux || darwin) && (amd64 || arm64)

package abi

import (
	"os"
	"path/filepath"
)

// openFile loads the library from a file in a new folder that only this user can enter, and removes both.
func openFile(code []byte, dlopen func(path string) (uintptr, error)) (uintptr, error) {
	folder, err := os.MkdirTemp("", "tetralith-")
	if err != nil {
		return 0, Failure(Environment, "backend.load", err.Error())
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "libtetralith")
	if err := os.WriteFile(path, code, 0o500); err != nil {
		return 0, Failure(Environment, "backend.load", err.Error())
	}
	base, err := dlopen(path)
	if err != nil {
		return 0, Failure(Environment, "backend.load", err.Error())
	}
	return base, nil
}
