//! What the kernels with digits of 52 bits do, in plain Rust: for the way in and out, and for guesses
//! that were wrong.
//!
//! A kernel's element is a number a·2^s mod N, where its sizes decide s. N may be a secret (a prime, while
//! it is looked for): what is made of it on the way is wiped.

use super::{Ring, portable};
use zeroize::{Zeroize, Zeroizing};

/// The ring with 64-bit limbs, as many as the kernel's numbers take: N has zeros on top.
#[derive(Clone)]
pub(super) struct Exact {
    n: Vec<u64>,
    n0: u64,
    /// R·2^s, R·2^−s and R²·2^−s mod N, where R = 2^(64·limbs).
    entering: Vec<u64>,
    leaving: Vec<u64>,
    product: Vec<u64>,
    /// R²·2^−bits mod N.
    lanes: Vec<u64>,
}

impl Exact {
    /// Numbers take so many bits; s is `shift`, which is not more.
    pub(super) fn new(ring: &Ring, bits: usize, shift: usize) -> Self {
        let limbs = bits.div_ceil(64);
        let n = padded(ring.modulus(), limbs);
        let r = 64 * limbs;
        let power = |e| padded(&Zeroizing::new(power_of_two(ring, e)), limbs);
        Exact {
            n0: portable::neg_inverse(n[0]),
            n,
            entering: power(r + shift),
            leaving: power(r - shift),
            product: power(2 * r - shift),
            lanes: power(2 * r - bits),
        }
    }

    /// Overwrites all that came from N.
    pub(super) fn zeroize(&mut self) {
        self.n0.zeroize();
        let Self { n, n0: _, entering, leaving, product, lanes } = self;
        for limbs in [n, entering, leaving, product, lanes] {
            limbs.zeroize();
        }
    }

    /// Says whether [`Exact::zeroize`] was here.
    #[cfg(test)]
    pub(super) fn is_wiped(&self) -> bool {
        let Self { n, n0, entering, leaving, product, lanes } = self;
        *n0 == 0 && [n, entering, leaving, product, lanes].iter().all(|limbs| limbs.is_empty())
    }

    /// N, with zeros on top.
    pub(super) fn modulus(&self) -> &[u64] {
        &self.n
    }

    /// a·2^s mod N, canonical.
    pub(super) fn enter(&self, a: &[u64]) -> Vec<u64> {
        self.mul(&Zeroizing::new(padded(a, self.n.len())), &self.entering)
    }

    /// a·2^−s mod N, canonical, in as many limbs as N has without zeros on top.
    pub(super) fn leave(&self, a: &[u64], limbs: usize) -> Vec<u64> {
        let mut number = self.mul(a, &self.leaving);
        number.truncate(limbs);
        number
    }

    /// a·c·2^−s mod N, canonical, of any a and c below 2^bits.
    ///
    /// # Correctness
    /// a·c may be above N·R, so its reduction is not canonical. It is below 2^bits + N and, with N
    /// subtracted where it does not fit its limbs, below R; the second product makes it canonical.
    pub(super) fn product(&self, a: &[u64], c: &[u64]) -> Vec<u64> {
        self.mul(&Zeroizing::new(self.mul(a, c)), &self.product)
    }

    /// a·c·2^−bits mod N, canonical, of any a and c below 2^bits: what a product in lanes is.
    pub(super) fn product_in_lanes(&self, a: &[u64], c: &[u64]) -> Vec<u64> {
        self.mul(&Zeroizing::new(self.mul(a, c)), &self.lanes)
    }

    /// a·c/R mod N, canonical where one of them is below N.
    fn mul(&self, a: &[u64], c: &[u64]) -> Vec<u64> {
        let mut wide = Zeroizing::new(vec![0; 2 * self.n.len()]);
        portable::mul_wide(&mut wide, a, c);
        let mut out = vec![0; self.n.len()];
        portable::redc(&mut out, &mut wide, &self.n, self.n0);
        out
    }

    /// −N^−1 mod 2^(64·limbs): Montgomery's quotient of one.
    pub(super) fn negative_inverse(&self, limbs: usize) -> Vec<u64> {
        let mut rest = Zeroizing::new(vec![0u64; limbs + 1]);
        rest[0] = 1;
        let quotient = |i: usize| {
            let q = rest[i].wrapping_mul(self.n0);
            let mut carry = 0;
            for (rest, &n) in rest[i..].iter_mut().zip(&self.n) {
                let sum = u128::from(*rest) + u128::from(q) * u128::from(n) + carry;
                *rest = sum as u64;
                carry = sum >> 64;
            }
            q
        };
        (0..limbs).map(quotient).collect()
    }
}

/// 2^e mod N.
pub(super) fn power_of_two(ring: &Ring, e: usize) -> Vec<u64> {
    let mut two = Zeroizing::new(ring.one().to_vec());
    ring.double(&mut two);
    ring.leave(&Zeroizing::new(ring.pow_vartime(&two, &[e as u64])))
}

/// A number with zeros on top, up to so many limbs; no other copy is left behind.
pub(super) fn padded(a: &[u64], limbs: usize) -> Vec<u64> {
    let mut out = vec![0; limbs];
    out[..a.len()].copy_from_slice(a);
    out
}

/// 64 bits of a number, from bit `at` on; above the number there are zeros.
pub(super) fn bits_from(limbs: &[u64], at: usize) -> u64 {
    let limb = |i: usize| u128::from(limbs.get(i).copied().unwrap_or(0));
    ((limb(at / 64) | limb(at / 64 + 1) << 64) >> (at % 64)) as u64
}
