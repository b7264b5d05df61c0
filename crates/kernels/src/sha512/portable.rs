//! The portable lanes: plain words, which compilers turn into whatever vectors the target has.

use super::sha2_long_entries;
use super::{Fixed, K, Shape, TOP, W};
use crate::sha256::{rows::Rows, sha2_jobs, sha2_rounds};

pub(super) const L: usize = 4;
type V = [W; L];
type Soa = Rows<W, L, 80>;

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
    map(a, |a| a.rotate_right(28) ^ a.rotate_right(34) ^ a.rotate_right(39))
}

#[inline]
fn big1(e: V) -> V {
    map(e, |e| e.rotate_right(14) ^ e.rotate_right(18) ^ e.rotate_right(41))
}

#[inline]
fn small0(w: V) -> V {
    map(w, |w| w.rotate_right(1) ^ w.rotate_right(8) ^ (w >> 7))
}

#[inline]
fn small1(w: V) -> V {
    map(w, |w| w.rotate_right(19) ^ w.rotate_right(61) ^ (w >> 6))
}

sha2_rounds!();
sha2_jobs!(; tail: 2);
sha2_long_entries!();
