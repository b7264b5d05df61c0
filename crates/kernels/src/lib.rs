//! All SIMD and wide arithmetic of Tetralith.
//!
//! Each module is one job with one shape: a portable implementation that is always compiled and is
//! the oracle, and kernels for particular CPUs that must give the same answers. A kernel is entered
//! once for a whole job through a token of [`cpu`] that proves the CPU has its instructions. This
//! crate takes and returns plain arrays and slices and knows no protocol.

pub mod bitmatrix;
pub mod cpu;
pub mod ct;
pub mod edwards25519;
pub mod edwards25519x2;
pub mod edwards25519x4;
pub mod edwards25519x8;
pub mod field25519;
#[cfg(target_arch = "x86_64")]
mod field25519x4;
#[cfg(target_arch = "x86_64")]
mod field25519x8;
#[cfg(feature = "freed")]
pub mod freed;
pub mod keccak;
mod lanes;
pub mod lanes8;
mod limbs52;
pub mod mont;
pub mod p256x8;
pub mod prime256x8;
pub mod secp256k1;
pub mod secp256k1x8;
mod sha2;
pub mod sha256;
pub mod sha256x16;
pub mod sha512;
pub mod sha512x8;
pub mod small_factors_x16;
pub mod threads;
pub mod weierstrass;
pub mod wipe;
