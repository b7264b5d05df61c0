//! What SHA-256 and SHA-512 share: they differ in the word, the lengths of rotations and constants.
//!
//! Spec: FIPS 180-4 §6.2 and §6.4.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod body;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod instructions;
mod kernels;
mod lanes;
mod portable;
mod rows;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use instructions::sha2_instructions;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) use simd128::sha2_simd128;
#[cfg(target_arch = "x86_64")]
pub(crate) use {
    avx2::sha2_avx2,
    avx512::{sha2_avx512, sha2_avx512_rounds},
};
pub(crate) use {
    body::{sha2_jobs, sha2_rounds, sha2_rows, sha2_vector_jobs},
    kernels::sha2_kernels,
    lanes::sha2_lanes,
    portable::sha2_portable,
    rows::{HashShape, PrefixWords, PrfShape, Rows, sha2_scalar},
};
