// Package tetralith is fast, trustworthy cryptography for ledgers.
//
// Its packages are
//
//   - [tetralith.example/tetralith/vrf]: verifiable random functions, one proof or columns of them;
//   - [tetralith.example/tetralith/xmss]: post-quantum XMSS signatures;
//   - [tetralith.example/tetralith/vdf]: sequential squaring, proofs of delay and time-locks;
//   - [tetralith.example/tetralith/tss]: threshold signatures;
//   - [tetralith.example/tetralith/compat/aidos]: the names of the package AidosKuneen/xmss.
//
// Native code does the work and picks the fastest instructions of the CPU when it runs. On Linux and
// macOS it is a shared library inside the program, and no C compiler is needed, not even with
// CGO_ENABLED=0. Where a shared library cannot be loaded, build with the tag tetralith_wasm: the same code
// then runs as WebAssembly, which verifies only and is slower. With the tag tetralith_cgo the
// program is linked against an installed library by pkg-config.
//
// This package has what the others share: their errors, and the name of the code that runs.
package tetralith

import "tetralith.example/tetralith/internal/abi"

// Backend names the code that runs in this program: "native (avx512)" for the embedded shared library,
// "cgo (avx512)" for a linked one, "wasm (simd128)" for WebAssembly. The kernel in parentheses is the
// fastest that the CPU has, or "unavailable" if the library is missing.
func Backend() string { return abi.Backend() }
