//! SHA-NI lanes: four messages. 138 cycles per compression with one message, 69 with four (Zen 5).

use super::alone::sha256_alone;
use crate::lanes::row_memory;
use crate::sha2::{sha2_instructions, sha2_jobs};
use core::arch::x86_64::*;

type V = __m128i;
/// (f, e, b, a) and (h, g, d, c).
const PARTS: [[usize; 4]; 2] = [[5, 4, 1, 0], [7, 6, 3, 2]];

row_memory!(#[target_feature(enable = "sha,sse4.1,ssse3")] W; _mm_loadu_si128, _mm_storeu_si128);

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
fn group_rounds<const N: usize>(Turned([low, high]): &mut Turned<N>, kw: [V; N]) {
    for i in 0..N {
        high[i] = _mm_sha256rnds2_epu32(high[i], low[i], kw[i]);
    }
    for i in 0..N {
        let last = _mm_shuffle_epi32::<0x0e>(kw[i]);
        low[i] = _mm_sha256rnds2_epu32(low[i], high[i], last);
    }
}

/// The next four words of each message's schedule.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn schedule<const N: usize>(m: &Ring<N>, g: usize) -> [V; N] {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| &m[(g + i) % RING]);
    let mut next = *d;
    for i in 0..N {
        let sum = add(_mm_sha256msg1_epu32(a[i], b[i]), _mm_alignr_epi8::<4>(d[i], c[i]));
        next[i] = _mm_sha256msg2_epu32(sum, d[i]);
    }
    next
}

sha2_instructions!(#[target_feature(enable = "sha,sse4.1,ssse3")]);
sha2_jobs!(#[target_feature(enable = "sha,sse4.1,ssse3")]);
sha256_alone!(#[target_feature(enable = "sha,sse4.1,ssse3")]);
