//! The portable lanes: one message at a time, in 64-bit words.

use super::{DOMAIN, RC, Rows, Shape, keccak_body};

pub(super) const L: usize = 1;
pub(super) type Soa = Rows<L>;
type V = u64;

#[inline]
fn load(row: &[u64; L]) -> V {
    row[0]
}

#[inline]
fn store(row: &mut [u64; L], v: V) {
    row[0] = v;
}

#[inline]
fn set1(word: u64) -> V {
    word
}

#[inline]
fn xor(a: V, b: V) -> V {
    a ^ b
}

#[inline]
fn xor3(a: V, b: V, c: V) -> V {
    a ^ b ^ c
}

/// `a ⊕ (¬b ∧ c)`.
#[inline]
fn chi(a: V, b: V, c: V) -> V {
    a ^ (!b & c)
}

#[inline]
fn rotl<const N: i32>(a: V) -> V {
    a.rotate_left(N as u32)
}

#[inline]
fn half_up(a: V) -> V {
    a << 32
}

#[inline]
fn half_down(a: V) -> V {
    a >> 32
}

keccak_body!();

/// Permutes one state: what is done once for many messages.
pub(super) fn permute_one(a: &mut [u64; 25]) {
    permute(a);
}
