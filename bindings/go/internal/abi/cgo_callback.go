//go:build !tetralith_wasm && tetralith_cgo && (linux || darwin) && (amd64 || arm64)

package abi

// #include <stdint.h>
import "C"

//export tetralithGoReported
func tetralithGoReported(user, done, total C.uint64_t) C.int32_t {
	return C.int32_t(reported(uint64(user), uint64(done), uint64(total)))
}
