//! SHA-NI lanes: four messages, interleaved.
//!
//! The instructions take one message at a time, two rounds each, and their latency leaves room for
//! three others: 138 cycles per compression with one, 69 with four. Rows hold one word of each
//! message; before a block is hashed they are turned into one message's four words each:
//! `(w0 of 4 messages), …, (w3 of 4 messages) → (w0 … w3 of message 0), …`.

use super::{Fixed, IV, K, Shape, TOP, W, rows::Rows, sha2_jobs, sha2_short_body};
use core::arch::x86_64::*;

pub(super) const L: usize = 4;
type V = __m128i;
type Soa = Rows<W, L>;
type State = [V; 8];
type Block = [V; 16];

/// The state of four messages as the instructions want it: (f, e, b, a) and (h, g, d, c).
struct Turned {
    abef: [V; 4],
    cdgh: [V; 4],
}

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

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn turned(s: &State) -> Turned {
    Turned { abef: turn([s[5], s[4], s[1], s[0]]), cdgh: turn([s[7], s[6], s[3], s[2]]) }
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn turned_back(t: Turned) -> State {
    let [f, e, b, a] = turn(t.abef);
    let [h, g, d, c] = turn(t.cdgh);
    [a, b, c, d, e, f, g, h]
}

/// Four rounds of each message.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn four_rounds(t: &mut Turned, kw: [V; 4]) {
    for i in 0..4 {
        t.cdgh[i] = _mm_sha256rnds2_epu32(t.cdgh[i], t.abef[i], kw[i]);
    }
    for i in 0..4 {
        let high = _mm_shuffle_epi32::<0x0e>(kw[i]);
        t.abef[i] = _mm_sha256rnds2_epu32(t.abef[i], t.cdgh[i], high);
    }
}

/// Runs the rounds from `R0 / 4` to `R1 / 4` in fours, of the first sixteen.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn rounds<const R0: usize, const R1: usize>(s: &mut State, w: &Block) {
    let mut t = turned(s);
    for g in R0 / 4..R1 / 4 {
        let m = turn([w[4 * g], w[4 * g + 1], w[4 * g + 2], w[4 * g + 3]]);
        four_rounds(&mut t, add_k(m, g));
    }
    *s = turned_back(t);
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn add_k(m: [V; 4], g: usize) -> [V; 4] {
    let k = constants(&K, g);
    [add(m[0], k), add(m[1], k), add(m[2], k), add(m[3], k)]
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn constants(k: &[W; 64], g: usize) -> V {
    let [a, b, c, d] = [k[4 * g], k[4 * g + 1], k[4 * g + 2], k[4 * g + 3]].map(|k| k as i32);
    _mm_setr_epi32(a, b, c, d)
}

/// Finishes a block whose first rounds, `R0 / 4` fours of them, led to `s`.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn finish<const R0: usize>(feed: &State, s: State, w: &Block) -> State {
    let mut t = turned(&s);
    let mut m = [[set1(0); 4]; 4];
    for g in 0..4 {
        m[g] = turn([w[4 * g], w[4 * g + 1], w[4 * g + 2], w[4 * g + 3]]);
    }
    macro_rules! group {
        ($g:literal) => {
            if $g >= 4 {
                let [a, b, c, d] = [m[$g & 3], m[($g + 1) & 3], m[($g + 2) & 3], m[($g + 3) & 3]];
                for i in 0..4 {
                    let sum =
                        add(_mm_sha256msg1_epu32(a[i], b[i]), _mm_alignr_epi8::<4>(d[i], c[i]));
                    m[$g & 3][i] = _mm_sha256msg2_epu32(sum, d[i]);
                }
            }
            if $g >= R0 / 4 {
                four_rounds(&mut t, add_k(m[$g & 3], $g));
            }
        };
    }
    group!(0);
    group!(1);
    group!(2);
    group!(3);
    group!(4);
    group!(5);
    group!(6);
    group!(7);
    group!(8);
    group!(9);
    group!(10);
    group!(11);
    group!(12);
    group!(13);
    group!(14);
    group!(15);
    plus(feed, &turned_back(t))
}

/// Runs all rounds with `kw[i]` = schedule word + round constant already added.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn padding_block(feed: &State, kw: &[W; 64]) -> State {
    let mut t = turned(feed);
    for g in 0..16 {
        four_rounds(&mut t, [constants(kw, g); 4]);
    }
    plus(feed, &turned_back(t))
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn plus(feed: &State, s: &State) -> State {
    let mut out = *feed;
    for i in 0..8 {
        out[i] = add(feed[i], s[i]);
    }
    out
}

sha2_jobs!(#[target_feature(enable = "sha,sse4.1,ssse3")]; tail: 4);
sha2_short_body!(#[target_feature(enable = "sha,sse4.1,ssse3")]);
