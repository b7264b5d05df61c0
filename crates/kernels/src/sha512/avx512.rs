//! AVX-512 lanes: two streams of eight, interleaved.
//!
//! `V = (lanes 0 … 7, lanes 8 … 15)`; see [`sha256`](crate::sha256) for why two.

use super::{Fixed, K, Shape, TOP, W, sha2_long_entries};
use crate::sha256::{rows::Rows, sha2_jobs, sha2_rounds};
use core::arch::x86_64::*;

pub(super) const L: usize = 16;
type Soa = Rows<W, L, 80>;

#[derive(Clone, Copy)]
struct V(__m512i, __m512i);

/// Applies a one-stream operation to both streams.
macro_rules! both {
    ($f:ident($($v:ident),+ $(; $n:literal)?)) => {
        V($f$(::<$n>)?($($v.0),+), $f$(::<$n>)?($($v.1),+))
    };
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(row: &[W; L]) -> V {
    let (a, b) = (row.as_ptr(), row[8..].as_ptr());
    // SAFETY: `row` is 16 readable words, `a` points at the first eight.
    let a = unsafe { _mm512_loadu_si512(a.cast()) };
    // SAFETY: `b` points at the last eight.
    let b = unsafe { _mm512_loadu_si512(b.cast()) };
    V(a, b)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(row: &mut [W; L], v: V) {
    let (a, b) = row.split_at_mut(8);
    // SAFETY: `a` is eight writable words.
    unsafe { _mm512_storeu_si512(a.as_mut_ptr().cast(), v.0) };
    // SAFETY: `b` is eight writable words.
    unsafe { _mm512_storeu_si512(b.as_mut_ptr().cast(), v.1) };
}

#[target_feature(enable = "avx512f")]
#[inline]
fn set1(word: W) -> V {
    let v = _mm512_set1_epi64(word as i64);
    V(v, v)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn add(a: V, b: V) -> V {
    both!(_mm512_add_epi64(a, b))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn xor(a: V, b: V) -> V {
    both!(_mm512_xor_si512(a, b))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0x96>(a, b, c)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn ch(e: V, f: V, g: V) -> V {
    both!(_mm512_ternarylogic_epi64(e, f, g; 0xCA))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn maj(a: V, b: V, c: V) -> V {
    both!(_mm512_ternarylogic_epi64(a, b, c; 0xE8))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn turn3<const A: i32, const B: i32, const C: i32>(v: __m512i) -> __m512i {
    xor3(_mm512_ror_epi64::<A>(v), _mm512_ror_epi64::<B>(v), _mm512_ror_epi64::<C>(v))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn turn2<const A: i32, const B: i32, const S: u32>(v: __m512i) -> __m512i {
    xor3(_mm512_ror_epi64::<A>(v), _mm512_ror_epi64::<B>(v), _mm512_srli_epi64::<S>(v))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn big0(a: V) -> V {
    V(turn3::<28, 34, 39>(a.0), turn3::<28, 34, 39>(a.1))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn big1(e: V) -> V {
    V(turn3::<14, 18, 41>(e.0), turn3::<14, 18, 41>(e.1))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn small0(w: V) -> V {
    V(turn2::<1, 8, 7>(w.0), turn2::<1, 8, 7>(w.1))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn small1(w: V) -> V {
    V(turn2::<19, 61, 6>(w.0), turn2::<19, 61, 6>(w.1))
}

sha2_rounds!(#[target_feature(enable = "avx512f")]);
sha2_jobs!(#[target_feature(enable = "avx512f")]; tail: 2);
sha2_long_entries!(#[target_feature(enable = "avx512f")]);
