//! AVX2 lanes: 8 messages, one word of 32 bits of each in a vector.

use super::{Fixed, K, Shape, TOP, W, rows::Rows, sha2_jobs, sha2_rounds, sha2_short_body};
use core::arch::x86_64::*;

pub(super) const L: usize = 8;
type V = __m256i;
type Soa = Rows<W, L, 64>;

#[target_feature(enable = "avx2")]
#[inline]
fn load(row: &[W; L]) -> V {
    // SAFETY: `row` is 32 readable bytes.
    unsafe { _mm256_loadu_si256(row.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(row: &mut [W; L], v: V) {
    // SAFETY: `row` is 32 writable bytes.
    unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), v) };
}

#[target_feature(enable = "avx2")]
#[inline]
fn set1(word: W) -> V {
    _mm256_set1_epi32(word as i32)
}

#[target_feature(enable = "avx2")]
#[inline]
fn add(a: V, b: V) -> V {
    _mm256_add_epi32(a, b)
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

/// `g ⊕ (e ∧ (f ⊕ g))`.
#[target_feature(enable = "avx2")]
#[inline]
fn ch(e: V, f: V, g: V) -> V {
    xor(g, _mm256_and_si256(e, xor(f, g)))
}

/// `b ⊕ ((a ⊕ b) ∧ (b ⊕ c))`.
#[target_feature(enable = "avx2")]
#[inline]
fn maj(a: V, b: V, c: V) -> V {
    xor(b, _mm256_and_si256(xor(a, b), xor(b, c)))
}

/// Turns right by `R`, where `R + LEFT` is the word's length.
#[target_feature(enable = "avx2")]
#[inline]
fn turn<const R: i32, const LEFT: i32>(v: V) -> V {
    _mm256_or_si256(_mm256_srli_epi32::<R>(v), _mm256_slli_epi32::<LEFT>(v))
}

#[target_feature(enable = "avx2")]
#[inline]
fn big0(a: V) -> V {
    xor3(turn::<2, 30>(a), turn::<13, 19>(a), turn::<22, 10>(a))
}

#[target_feature(enable = "avx2")]
#[inline]
fn big1(e: V) -> V {
    xor3(turn::<6, 26>(e), turn::<11, 21>(e), turn::<25, 7>(e))
}

#[target_feature(enable = "avx2")]
#[inline]
fn small0(w: V) -> V {
    xor3(turn::<7, 25>(w), turn::<18, 14>(w), _mm256_srli_epi32::<3>(w))
}

#[target_feature(enable = "avx2")]
#[inline]
fn small1(w: V) -> V {
    xor3(turn::<17, 15>(w), turn::<19, 13>(w), _mm256_srli_epi32::<10>(w))
}

sha2_rounds!(#[target_feature(enable = "avx2")]);
sha2_jobs!(#[target_feature(enable = "avx2")]; tail: 4);
sha2_short_body!(#[target_feature(enable = "avx2")]);
