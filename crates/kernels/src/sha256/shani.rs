//! SHA-NI lanes: four messages. 138 cycles per compression with one message, 69 with four (Zen 5).

use super::instructions::sha256_instructions;
use core::arch::x86_64::*;

type V = __m128i;
/// (f, e, b, a) and (h, g, d, c).
const LOW: [usize; 4] = [5, 4, 1, 0];
const HIGH: [usize; 4] = [7, 6, 3, 2];

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn load(row: &[W; L]) -> V {
    // SAFETY: `row` is 16 readable bytes.
    unsafe { _mm_loadu_si128(row.as_ptr().cast()) }
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn store(row: &mut [W; L], v: V) {
    // SAFETY: `row` is 16 writable bytes.
    unsafe { _mm_storeu_si128(row.as_mut_ptr().cast(), v) };
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn set1(word: W) -> V {
    _mm_set1_epi32(word as i32)
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn add(a: V, b: V) -> V {
    _mm_add_epi32(a, b)
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn xor(a: V, b: V) -> V {
    _mm_xor_si128(a, b)
}

/// Turns four rows into four columns.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn turn(rows: [V; 4]) -> [V; 4] {
    let [a, b, c, d] = rows;
    let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
    [
        _mm_unpacklo_epi64(ab, cd),
        _mm_unpackhi_epi64(ab, cd),
        _mm_unpacklo_epi64(ab_high, cd_high),
        _mm_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Four rounds of each message.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn four_rounds<const N: usize>(t: &mut Turned<N>, kw: [V; N]) {
    for i in 0..N {
        t.high[i] = _mm_sha256rnds2_epu32(t.high[i], t.low[i], kw[i]);
    }
    for i in 0..N {
        let high = _mm_shuffle_epi32::<0x0e>(kw[i]);
        t.low[i] = _mm_sha256rnds2_epu32(t.low[i], t.high[i], high);
    }
}

/// The next four words of the schedule.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn schedule(a: V, b: V, c: V, d: V) -> V {
    let sum = add(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8::<4>(d, c));
    _mm_sha256msg2_epu32(sum, d)
}

sha256_instructions!(#[target_feature(enable = "sha,sse4.1,ssse3")]);
