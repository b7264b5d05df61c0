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
type Soa = Rows<W, L, 64>;
type State = [V; 8];
type State8 = [[W; L]; 8];
type Words = [[W; L]; K.len()];

/// The state of each of `N` messages as the instructions want it: (f, e, b, a) and (h, g, d, c).
struct Turned<const N: usize> {
    abef: [V; N],
    cdgh: [V; N],
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
fn turned(s: &State) -> Turned<4> {
    Turned { abef: turn([s[5], s[4], s[1], s[0]]), cdgh: turn([s[7], s[6], s[3], s[2]]) }
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn turned_back(t: Turned<4>) -> State {
    let [f, e, b, a] = turn(t.abef);
    let [h, g, d, c] = turn(t.cdgh);
    [a, b, c, d, e, f, g, h]
}

/// Four rounds of each message.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn four_rounds<const N: usize>(t: &mut Turned<N>, kw: [V; N]) {
    for i in 0..N {
        t.cdgh[i] = _mm_sha256rnds2_epu32(t.cdgh[i], t.abef[i], kw[i]);
    }
    for i in 0..N {
        let high = _mm_shuffle_epi32::<0x0e>(kw[i]);
        t.abef[i] = _mm_sha256rnds2_epu32(t.abef[i], t.cdgh[i], high);
    }
}

/// Turns words `4·g ‥` of the block into each message's.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn words(w: &Words, g: usize) -> [V; 4] {
    turn([load(&w[4 * g]), load(&w[4 * g + 1]), load(&w[4 * g + 2]), load(&w[4 * g + 3])])
}

/// Runs the rounds from `R0 / 4` to `R1 / 4` in fours, of the first sixteen.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn rounds<const R0: usize, const R1: usize>(s: &mut State, w: &Words) {
    let mut t = turned(s);
    for g in R0 / 4..R1 / 4 {
        four_rounds(&mut t, add_k(words(w, g), g));
    }
    *s = turned_back(t);
}

/// The schedule is computed along the rounds, by instructions that take no notice of zeros.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn extend<const ZERO: u32, const FIRST: usize, const KNOWN: usize>(_: &mut Words) {}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn add_k<const N: usize>(mut m: [V; N], g: usize) -> [V; N] {
    let k = constants(&K, g);
    for i in 0..N {
        m[i] = add(m[i], k);
    }
    m
}

#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn constants(k: &[W; 64], g: usize) -> V {
    let [a, b, c, d] = [k[4 * g], k[4 * g + 1], k[4 * g + 2], k[4 * g + 3]].map(|k| k as i32);
    _mm_setr_epi32(a, b, c, d)
}

/// Runs the rounds from `4·from` on, with the schedule.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn groups<const N: usize>(t: &mut Turned<N>, mut m: [[V; N]; 4], from: usize) {
    macro_rules! group {
        ($g:literal) => {
            if $g >= 4 {
                let [a, b, c, d] = [m[$g & 3], m[($g + 1) & 3], m[($g + 2) & 3], m[($g + 3) & 3]];
                for i in 0..N {
                    let sum =
                        add(_mm_sha256msg1_epu32(a[i], b[i]), _mm_alignr_epi8::<4>(d[i], c[i]));
                    m[$g & 3][i] = _mm_sha256msg2_epu32(sum, d[i]);
                }
            }
            if $g >= from {
                four_rounds(t, add_k(m[$g & 3], $g));
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
}

/// Finishes a block whose first rounds, `R0 / 4` fours of them, led to `s`.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn finish<const R0: usize, const KNOWN: usize>(
    feed: &State8,
    s: &State8,
    w: &mut Words,
    out: &mut State8,
) {
    let mut t = turned(&loads(s));
    groups(&mut t, [words(w, 0), words(w, 1), words(w, 2), words(w, 3)], R0 / 4);
    plus(feed, &turned_back(t), out);
}

/// Runs all rounds with `kw[i]` = schedule word + round constant already added.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn padding_block(feed: &State8, kw: &[W; 64], out: &mut State8) {
    let mut t = turned(&loads(feed));
    for g in 0..16 {
        four_rounds(&mut t, [constants(kw, g); 4]);
    }
    plus(feed, &turned_back(t), out);
}

sha2_jobs!(#[target_feature(enable = "sha,sse4.1,ssse3")]; tail: 4);
sha2_short_body!(#[target_feature(enable = "sha,sse4.1,ssse3")]);

/// One message's state from its words.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn one(s: &[W; 8]) -> Turned<1> {
    let [a, b, c, d, e, f, g, h] = s.map(|word| word as i32);
    Turned { abef: [_mm_setr_epi32(f, e, b, a)], cdgh: [_mm_setr_epi32(h, g, d, c)] }
}

/// One message's words from its state.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn one_back(t: &Turned<1>) -> [W; 8] {
    let (mut feba, mut hgdc) = ([0; 4], [0; 4]);
    store(&mut feba, t.abef[0]);
    store(&mut hgdc, t.cdgh[0]);
    let ([f, e, b, a], [h, g, d, c]) = (feba, hgdc);
    [a, b, c, d, e, f, g, h]
}

/// Hashes one block of one message, of which the rounds of the first `4·from` words led to `s`.
#[target_feature(enable = "sha,sse4.1,ssse3")]
#[inline]
fn block(feed: &[W; 8], s: &[W; 8], w: &[W; 16], from: usize) -> [W; 8] {
    let mut t = one(s);
    let [m0, m1, m2, m3] =
        [0, 1, 2, 3].map(|g| [w[4 * g], w[4 * g + 1], w[4 * g + 2], w[4 * g + 3]]);
    groups(&mut t, [[load(&m0)], [load(&m1)], [load(&m2)], [load(&m3)]], from);
    sum(feed, &one_back(&t))
}

fn sum(a: &[W; 8], b: &[W; 8]) -> [W; 8] {
    core::array::from_fn(|i| a[i].wrapping_add(b[i]))
}

/// Hashes two masked values in lane 0 alone.
///
/// The key and the masks are hashed in three lanes, and what depends on them by itself: a third of
/// the time of four lanes that wait for each other.
#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(super) fn pair_first(m: &mut Soa, prf: &Shape, out: &Fixed) {
    if prf.r0 != 4 {
        return pair(m, prf, out);
    }
    for i in 0..8 {
        m.s[i] = [m.feed[i][0]; L];
        m.t[i] = [m.mid[i][0]; L];
    }
    for i in 0..4 {
        m.w[i] = [m.words[i][0]; L];
        m.w[4 + i] = [m.tail[i][0]; L];
    }
    let last = m.tail[3][0];
    m.w[7] = [0, 1, 2, 2].map(|i| last.wrapping_add(i));
    pad(&mut m.w, 8, prf.bits);
    finish::<4, 16>(&m.s, &m.t, &mut m.w, &mut m.keys[0]);
    let (mut first, mut second) = ([0; 16], [0; 16]);
    first[7] = 1;
    for i in 0..8 {
        first[8 + i] = m.keys[0][i][0];
        second[i] = m.x[i][0] ^ m.keys[0][i][1];
        second[8 + i] = m.y[i][0] ^ m.keys[0][i][2];
    }
    let s = block(&IV, &out.half_h, &first, 2);
    let s = block(&s, &s, &second, 0);
    let mut t = one(&s);
    for g in 0..16 {
        four_rounds(&mut t, [constants(&out.pad_h, g)]);
    }
    let s = sum(&s, &one_back(&t));
    for i in 0..8 {
        m.x[i][0] = s[i];
    }
}
