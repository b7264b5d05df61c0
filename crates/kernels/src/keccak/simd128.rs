//! SIMD128 lanes of WebAssembly: two states, one word of each in a vector.

use super::{DOMAIN, RC, Rows, Shape, keccak_body};
use crate::lanes::row_memory;
use core::arch::wasm32::*;

pub(super) const L: usize = 2;
pub(super) type Soa = Rows<L>;
type V = v128;

row_memory!(#[target_feature(enable = "simd128")] u64; v128_load, v128_store);

#[target_feature(enable = "simd128")]
#[inline]
fn set1(word: u64) -> V {
    u64x2_splat(word)
}

#[target_feature(enable = "simd128")]
#[inline]
fn xor(a: V, b: V) -> V {
    v128_xor(a, b)
}

#[target_feature(enable = "simd128")]
#[inline]
fn xor3(a: V, b: V, c: V) -> V {
    xor(xor(a, b), c)
}

/// `a ⊕ (¬b ∧ c)`.
#[target_feature(enable = "simd128")]
#[inline]
fn chi(a: V, b: V, c: V) -> V {
    xor(a, v128_andnot(c, b))
}

#[target_feature(enable = "simd128")]
#[inline]
fn rotl<const N: i32>(a: V) -> V {
    v128_or(u64x2_shl(a, N as u32), u64x2_shr(a, 64 - N as u32))
}

#[target_feature(enable = "simd128")]
#[inline]
fn half_up(a: V) -> V {
    u64x2_shl(a, 32)
}

#[target_feature(enable = "simd128")]
#[inline]
fn half_down(a: V) -> V {
    u64x2_shr(a, 32)
}

keccak_body!(#[target_feature(enable = "simd128")]);
