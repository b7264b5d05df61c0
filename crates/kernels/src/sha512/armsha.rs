//! Lanes of aarch64's SHA-512 instructions: two messages.
//!
//! The state of a message is four vectors, its block eight: of 32 registers two messages need 24.

use crate::lanes::row_memory;
use crate::sha2::{sha2_instructions, sha2_vector_jobs};
use core::arch::aarch64::*;

type V = uint64x2_t;
/// (a, b), (c, d), (e, f) and (g, h).
const PARTS: [[usize; 2]; 4] = [[0, 1], [2, 3], [4, 5], [6, 7]];

row_memory!(#[target_feature(enable = "neon,sha3")] W; vld1q_u64, vst1q_u64);

#[target_feature(enable = "neon,sha3")]
#[inline]
fn set1(word: W) -> V {
    vdupq_n_u64(word)
}

#[target_feature(enable = "neon,sha3")]
#[inline]
fn add(a: V, b: V) -> V {
    vaddq_u64(a, b)
}

#[target_feature(enable = "neon,sha3")]
#[inline]
fn xor(a: V, b: V) -> V {
    veorq_u64(a, b)
}

/// Turns two rows into two columns.
#[target_feature(enable = "neon,sha3")]
#[inline]
fn turn([a, b]: [V; 2]) -> [V; 2] {
    [vzip1q_u64(a, b), vzip2q_u64(a, b)]
}

/// The second word of `a`, and the first of `b`.
#[target_feature(enable = "neon,sha3")]
#[inline]
fn middle(a: V, b: V) -> V {
    vextq_u64::<1>(a, b)
}

/// Two rounds of each message.
///
/// With `t` = (t of the second round, t of the first), where t = h + Σ1(e) + Ch(e, f, g) + K + W:
/// (c, d) + t are the next (e, f), and `vsha512h2q` makes the next (a, b) of `t`, (c, d) and (a, b).
#[target_feature(enable = "neon,sha3")]
#[inline]
fn group_rounds<const N: usize>(Turned([ab, cd, ef, gh]): &mut Turned<N>, kw: [V; N]) {
    for i in 0..N {
        let sum = add(middle(kw[i], kw[i]), gh[i]);
        let t = vsha512hq_u64(sum, middle(ef[i], gh[i]), middle(cd[i], ef[i]));
        let next = vsha512h2q_u64(t, cd[i], ab[i]);
        (ab[i], cd[i], ef[i], gh[i]) = (next, ab[i], add(cd[i], t), ef[i]);
    }
}

/// The next two words of each message's schedule.
#[target_feature(enable = "neon,sha3")]
#[inline]
fn schedule<const N: usize>(m: &Ring<N>, g: usize) -> [V; N] {
    let [a, b, e, f, h] = [0, 1, 4, 5, 7].map(|i| &m[(g + i) % RING]);
    let mut next = *h;
    for i in 0..N {
        next[i] = vsha512su1q_u64(vsha512su0q_u64(a[i], b[i]), h[i], middle(e[i], f[i]));
    }
    next
}

sha2_instructions!(#[target_feature(enable = "neon,sha3")]);
sha2_vector_jobs!(#[target_feature(enable = "neon,sha3")]);
