//! Lanes of aarch64's SHA-256 instructions: four messages.

use super::alone::sha256_alone;
use crate::lanes::row_memory;
use crate::sha2::{sha2_instructions, sha2_jobs};
use core::arch::aarch64::*;

type V = uint32x4_t;
const PARTS: [[usize; 4]; 2] = [[0, 1, 2, 3], [4, 5, 6, 7]];

row_memory!(#[target_feature(enable = "neon,sha2")] W; vld1q_u32, vst1q_u32);

#[target_feature(enable = "neon,sha2")]
#[inline]
fn set1(word: W) -> V {
    vdupq_n_u32(word)
}

#[target_feature(enable = "neon,sha2")]
#[inline]
fn add(a: V, b: V) -> V {
    vaddq_u32(a, b)
}

#[target_feature(enable = "neon,sha2")]
#[inline]
fn xor(a: V, b: V) -> V {
    veorq_u32(a, b)
}

/// Turns four rows into four columns.
#[target_feature(enable = "neon,sha2")]
#[inline]
fn turn(rows: [V; 4]) -> [V; 4] {
    let [a, b, c, d] = rows;
    // (a0, c0, a1, c1), (a2, c2, a3, c3), and of b and d likewise.
    let (ac, ac_high) = (vzip1q_u32(a, c), vzip2q_u32(a, c));
    let (bd, bd_high) = (vzip1q_u32(b, d), vzip2q_u32(b, d));
    [
        vzip1q_u32(ac, bd),
        vzip2q_u32(ac, bd),
        vzip1q_u32(ac_high, bd_high),
        vzip2q_u32(ac_high, bd_high),
    ]
}

/// Four rounds of each message.
#[target_feature(enable = "neon,sha2")]
#[inline]
fn group_rounds<const N: usize>(Turned([low, high]): &mut Turned<N>, kw: [V; N]) {
    for i in 0..N {
        let before = low[i];
        low[i] = vsha256hq_u32(before, high[i], kw[i]);
        high[i] = vsha256h2q_u32(high[i], before, kw[i]);
    }
}

/// The next four words of each message's schedule.
#[target_feature(enable = "neon,sha2")]
#[inline]
fn schedule<const N: usize>(m: &Ring<N>, g: usize) -> [V; N] {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| &m[(g + i) % RING]);
    let mut next = *d;
    for i in 0..N {
        next[i] = vsha256su1q_u32(vsha256su0q_u32(a[i], b[i]), c[i], d[i]);
    }
    next
}

sha2_instructions!(#[target_feature(enable = "neon,sha2")]);
sha2_jobs!(#[target_feature(enable = "neon,sha2")]);
sha256_alone!(#[target_feature(enable = "neon,sha2")]);
