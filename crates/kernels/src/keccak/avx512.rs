//! AVX-512 lanes: eight states, one word of each in a vector.
//!
//! The state of 25 vectors stays in registers; rotations, the three-way exclusive or and χ are one
//! instruction each.

use super::{DOMAIN, RC, Rows, Shape, keccak_body};
use crate::lanes::row_memory;
use core::arch::x86_64::*;

pub(super) const L: usize = 8;
pub(super) type Soa = Rows<L>;
type V = __m512i;

row_memory!(#[target_feature(enable = "avx512f")] u64; _mm512_loadu_si512, _mm512_storeu_si512);

#[target_feature(enable = "avx512f")]
#[inline]
fn set1(word: u64) -> V {
    _mm512_set1_epi64(word as i64)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn xor(a: V, b: V) -> V {
    _mm512_xor_si512(a, b)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn xor3(a: V, b: V, c: V) -> V {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

/// `a ⊕ (¬b ∧ c)`.
#[target_feature(enable = "avx512f")]
#[inline]
fn chi(a: V, b: V, c: V) -> V {
    _mm512_ternarylogic_epi64::<0xD2>(a, b, c)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn rotl<const N: i32>(a: V) -> V {
    _mm512_rol_epi64::<N>(a)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn half_up(a: V) -> V {
    _mm512_slli_epi64::<32>(a)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn half_down(a: V) -> V {
    _mm512_srli_epi64::<32>(a)
}

keccak_body!(#[target_feature(enable = "avx512f")]);
