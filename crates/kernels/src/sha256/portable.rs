//! The portable lanes: plain words, which compilers turn into whatever vectors the target has.

use super::{Fixed, K, Shape, TOP, W, rows::Rows, sha2_jobs, sha2_rounds, sha2_short_body};

pub(super) const L: usize = 4;
type V = [W; L];
type Soa = Rows<W, L, 64>;

#[inline]
fn map(a: V, f: impl Fn(W) -> W) -> V {
    core::array::from_fn(|i| f(a[i]))
}

#[inline]
fn load(row: &[W; L]) -> V {
    *row
}

#[inline]
fn store(row: &mut [W; L], v: V) {
    *row = v;
}

#[inline]
fn set1(word: W) -> V {
    [word; L]
}

#[inline]
fn add(a: V, b: V) -> V {
    core::array::from_fn(|i| a[i].wrapping_add(b[i]))
}

#[inline]
fn xor(a: V, b: V) -> V {
    core::array::from_fn(|i| a[i] ^ b[i])
}

#[inline]
fn ch(e: V, f: V, g: V) -> V {
    core::array::from_fn(|i| g[i] ^ (e[i] & (f[i] ^ g[i])))
}

#[inline]
fn maj(a: V, b: V, c: V) -> V {
    core::array::from_fn(|i| (a[i] & b[i]) | (c[i] & (a[i] | b[i])))
}

#[inline]
fn big0(a: V) -> V {
    map(a, |a| a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22))
}

#[inline]
fn big1(e: V) -> V {
    map(e, |e| e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25))
}

#[inline]
fn small0(w: V) -> V {
    map(w, |w| w.rotate_right(7) ^ w.rotate_right(18) ^ (w >> 3))
}

#[inline]
fn small1(w: V) -> V {
    map(w, |w| w.rotate_right(17) ^ w.rotate_right(19) ^ (w >> 10))
}

sha2_rounds!();
sha2_jobs!(; tail: 4);
sha2_short_body!();
