//! The C interface: `include/tetralith.h` is made from these files, and says what callers may rely on.
//!
//! A call returns a status and writes its results only if that is zero. A panic is caught and becomes
//! `TETRALITH_INTERNAL`. No pointer of the caller's is kept after a call returns.
//!
//! WebAssembly has no files and here no randomness, so the functions of `keys`, `checkpoint`, `timelock`
//! and `tss` are missing there.

pub mod aidos;
#[cfg(not(target_family = "wasm"))]
pub mod checkpoint;
pub mod kernel;
#[cfg(not(target_family = "wasm"))]
pub mod keys;
mod memory;
pub mod progress;
pub mod sodium;
pub mod sqr;
mod status;
#[cfg(not(target_family = "wasm"))]
pub mod timelock;
#[cfg(not(target_family = "wasm"))]
pub mod tss;
pub mod vdf;
pub mod vrf;
pub mod xmss;

pub use status::*;
