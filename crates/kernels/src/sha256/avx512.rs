//! AVX-512 lanes: two streams of sixteen, interleaved.
//!
//! One stream is bound by latency: a round's additions depend on each other, and a vector addition
//! takes two cycles on the newest cores. Two independent streams fill the gaps (46.6 cycles per
//! compression with one, 30.6 with two); three no longer fit into 32 registers (54).
//!
//! `V = (lanes 0 … 15, lanes 16 … 31)`. Rotations are one instruction, Ch, Maj and the three-way
//! exclusive or one ternary each.

use super::{Fixed, K, Shape, TOP, W, rows::Rows, sha2_jobs, sha2_rounds, sha2_short_body};
use core::arch::x86_64::*;

pub(super) const L: usize = 32;
type Soa = Rows<W, L, 64>;

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
    let (a, b) = (row.as_ptr(), row[16..].as_ptr());
    // SAFETY: `row` is 32 readable words, `a` points at the first sixteen.
    let a = unsafe { _mm512_loadu_si512(a.cast()) };
    // SAFETY: `b` points at the last sixteen.
    let b = unsafe { _mm512_loadu_si512(b.cast()) };
    V(a, b)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(row: &mut [W; L], v: V) {
    let (a, b) = row.split_at_mut(16);
    // SAFETY: `a` is sixteen writable words.
    unsafe { _mm512_storeu_si512(a.as_mut_ptr().cast(), v.0) };
    // SAFETY: `b` is sixteen writable words.
    unsafe { _mm512_storeu_si512(b.as_mut_ptr().cast(), v.1) };
}

#[target_feature(enable = "avx512f")]
#[inline]
fn set1(word: W) -> V {
    let v = _mm512_set1_epi32(word as i32);
    V(v, v)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn add(a: V, b: V) -> V {
    both!(_mm512_add_epi32(a, b))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn xor(a: V, b: V) -> V {
    both!(_mm512_xor_si512(a, b))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<0x96>(a, b, c)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn ch(e: V, f: V, g: V) -> V {
    both!(_mm512_ternarylogic_epi32(e, f, g; 0xCA))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn maj(a: V, b: V, c: V) -> V {
    both!(_mm512_ternarylogic_epi32(a, b, c; 0xE8))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn turn3<const A: i32, const B: i32, const C: i32>(v: __m512i) -> __m512i {
    xor3(_mm512_ror_epi32::<A>(v), _mm512_ror_epi32::<B>(v), _mm512_ror_epi32::<C>(v))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn turn2<const A: i32, const B: i32, const S: u32>(v: __m512i) -> __m512i {
    xor3(_mm512_ror_epi32::<A>(v), _mm512_ror_epi32::<B>(v), _mm512_srli_epi32::<S>(v))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn big0(a: V) -> V {
    V(turn3::<2, 13, 22>(a.0), turn3::<2, 13, 22>(a.1))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn big1(e: V) -> V {
    V(turn3::<6, 11, 25>(e.0), turn3::<6, 11, 25>(e.1))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn small0(w: V) -> V {
    V(turn2::<7, 18, 3>(w.0), turn2::<7, 18, 3>(w.1))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn small1(w: V) -> V {
    V(turn2::<17, 19, 10>(w.0), turn2::<17, 19, 10>(w.1))
}

sha2_rounds!(#[target_feature(enable = "avx512f")]);
sha2_jobs!(#[target_feature(enable = "avx512f")]; tail: 4);
sha2_short_body!(#[target_feature(enable = "avx512f")]);
