//go:build !tetralith_wasm && !tetralith_cgo && (amd64 || arm64)

package abi

func open(code []byte, dlopen func(path string) (uintptr, error)) (uintptr, error) {
	return openFile(code, dlopen)
}
