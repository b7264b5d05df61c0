//! AVX2 lanes: four states, one word of each in a vector.

use super::{DOMAIN, RC, Rows, Shape, keccak_body};
use crate::lanes::row_memory;
use core::arch::x86_64::*;

pub(super) const L: usize = 4;
pub(super) type Soa = Rows<L>;
type V = __m256i;

row_memory!(#[target_feature(enable = "avx2")] u64; _mm256_loadu_si256, _mm256_storeu_si256);

#[target_feature(enable = "avx2")]
#[inline]
fn set1(word: u64) -> V {
    _mm256_set1_epi64x(word as i64)
}

#[target_feature(enable = "avx2")]
#[inline]
fn xor(a: V, b: V) -> V {
    _mm256_xor_si256(a, b)
}

#[target_feature(enable = "avx2")]
#[inline]
fn xor3(a: V, b: V, c: V) -> V {
    xor(xor(a, b), c)
}

/// `a ⊕ (¬b ∧ c)`.
#[target_feature(enable = "avx2")]
#[inline]
fn chi(a: V, b: V, c: V) -> V {
    xor(a, _mm256_andnot_si256(b, c))
}

/// Turns left; AVX2 has no rotation, and a shift by a vector of equal counts needs no constant sum.
#[target_feature(enable = "avx2")]
#[inline]
fn rotl<const N: i32>(a: V) -> V {
    let (left, right) = (_mm256_set1_epi64x(N.into()), _mm256_set1_epi64x((64 - N).into()));
    _mm256_or_si256(_mm256_sllv_epi64(a, left), _mm256_srlv_epi64(a, right))
}

#[target_feature(enable = "avx2")]
#[inline]
fn half_up(a: V) -> V {
    _mm256_slli_epi64::<32>(a)
}

#[target_feature(enable = "avx2")]
#[inline]
fn half_down(a: V) -> V {
    _mm256_srli_epi64::<32>(a)
}

keccak_body!(#[target_feature(enable = "avx2")]);
