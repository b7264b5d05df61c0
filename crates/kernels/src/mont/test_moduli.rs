//! Moduli and numbers for the kernels' tests.

use super::{Ring, portable};

/// A reproducible stream of words.
pub(super) struct Words(pub(super) u64);

impl Words {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58476d1ce4e5b9);
        mixed ^ mixed >> 32
    }

    /// Exactly so many bits: an odd number.
    pub(super) fn modulus(&mut self, bits: usize) -> Vec<u64> {
        let mut n: Vec<u64> = (0..bits.div_ceil(64)).map(|_| self.next()).collect();
        let top = bits - 64 * (n.len() - 1);
        let last = n.len() - 1;
        n[last] = n[last] & (u64::MAX >> (64 - top)) | 1 << (top - 1);
        n[0] |= 1;
        n
    }

    /// The same without small factors, which kernels in lanes do not like.
    pub(super) fn rough_modulus(&mut self, bits: usize) -> Vec<u64> {
        loop {
            let n = self.modulus(bits);
            let rest = |p: u64| {
                n.iter().rev().fold(0, |rest, &limb| {
                    ((u128::from(rest) << 64 | u128::from(limb)) % u128::from(p)) as u64
                })
            };
            if (3..5000).step_by(2).all(|p| rest(p) > 0) {
                return n;
            }
        }
    }
}

/// A number times a small one, without zeros on top.
pub(super) fn multiple(n: &[u64], factor: u64) -> Vec<u64> {
    let mut carry = 0;
    let times = |&limb: &u64| {
        let product = u128::from(limb) * u128::from(factor) + carry;
        carry = product >> 64;
        product as u64
    };
    let mut out: Vec<u64> = n.iter().map(times).collect();
    out.push(carry as u64);
    while out.last() == Some(&0) {
        out.pop();
    }
    out
}

/// A number modulo N, bit by bit.
pub(super) fn reduced(ring: &Ring, number: &[u64]) -> Vec<u64> {
    let mut out = vec![0; ring.len()];
    let one = ring.leave(ring.one());
    for i in (0..64 * number.len()).rev() {
        ring.double(&mut out);
        if number[i / 64] >> (i % 64) & 1 == 1 {
            out = add(&out, &one, ring.modulus());
        }
    }
    out
}

fn add(a: &[u64], b: &[u64], n: &[u64]) -> Vec<u64> {
    let mut carry = 0u128;
    let sum: Vec<u64> = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| {
            let sum = u128::from(a) + u128::from(b) + carry;
            carry = sum >> 64;
            sum as u64
        })
        .collect();
    let mut out = vec![0; n.len()];
    portable::subtract_once(&mut out, &sum, n, carry as u64);
    out
}
