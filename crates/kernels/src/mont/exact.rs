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
        }
    }

    /// Overwrites all that came from N.
    pub(super) fn zeroize(&mut self) {
        self.n0.zeroize();
        let Self { n, n0: _, entering, leaving, product } = self;
        for limbs in [n, entering, leaving, product] {
            limbs.zeroize();
        }
    }

    /// Says whether [`Exact::zeroize`] was here.
    #[cfg(test)]
    pub(super) fn is_wiped(&self) -> bool {
        let Self { n, n0, entering, leaving, product } = self;
        *n0 == 0 && [n, entering, leaving, product].iter().all(|limbs| limbs.is_empty())
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
        self.product_times(a, c, &self.product)
    }

    /// a·c·f mod N, canonical, of any a and c below 2^bits, for the `factor` R²·f mod N.
    pub(super) fn product_times(&self, a: &[u64], c: &[u64], factor: &[u64]) -> Vec<u64> {
        self.mul(&Zeroizing::new(self.mul(a, c)), factor)
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

/// 1/a mod an odd N, canonical, of public numbers of as many limbs; `None` where they have a factor in common.
///
/// B. S. Kaliski, The Montgomery inverse and its applications, IEEE Transactions on Computers 44 (1995),
/// phase I: r·a ≡ −2^k·u and s·a ≡ 2^k·v (mod N) while u and v, from N and a on, become their greatest common
/// divisor and 0.
pub(super) fn inverse_vartime(ring: &Ring, a: &[u64]) -> Option<Vec<u64>> {
    let len = ring.len() + 1;
    let (mut u, mut v) = (padded(ring.modulus(), len), padded(a, len));
    let (mut r, mut s) = (vec![0; len], padded(&[1], len));
    let mut k = 0;
    while v.iter().any(|&limb| limb > 0) {
        let (halved, doubled) = if v[0] & 1 == 0 {
            (&mut v, &mut r)
        } else if u[0] & 1 == 0 {
            (&mut u, &mut s)
        } else if u.iter().rev().gt(v.iter().rev()) {
            subtract(&mut u, &v);
            add(&mut r, &s);
            continue;
        } else {
            subtract(&mut v, &u);
            add(&mut s, &r);
            continue;
        };
        let twos = halved[0].trailing_zeros().min(63);
        shift_right(halved, twos);
        shift_left(doubled, twos);
        k += twos as usize;
    }
    if u[0] != 1 || u[1..].iter().any(|&limb| limb > 0) {
        return None;
    }
    // −r·2^−k; N = u·s + v·r throughout, so that r is below N.
    debug_assert!(ring.is_canonical(&r[..ring.len()]));
    let mut negative = padded(ring.modulus(), len);
    subtract(&mut negative, &r);
    negative.truncate(ring.len());
    let power = ring.enter(&ring.inverse_power_of_two(k));
    Some(ring.mul(&negative, &power))
}

fn add(a: &mut [u64], b: &[u64]) {
    a.iter_mut().zip(b).fold(false, |carry, (a, &b)| {
        let (sum, over) = a.overflowing_add(b);
        let (sum, again) = sum.overflowing_add(u64::from(carry));
        *a = sum;
        over | again
    });
}

fn subtract(a: &mut [u64], b: &[u64]) {
    a.iter_mut().zip(b).fold(false, |borrow, (a, &b)| {
        let (rest, under) = a.overflowing_sub(b);
        let (rest, again) = rest.overflowing_sub(u64::from(borrow));
        *a = rest;
        under | again
    });
}

/// By 1 to 63 bits.
fn shift_right(a: &mut [u64], bits: u32) {
    a.iter_mut().rev().fold(0, |above, limb| {
        let out = *limb << (64 - bits);
        *limb = *limb >> bits | above;
        out
    });
}

/// By 1 to 63 bits.
fn shift_left(a: &mut [u64], bits: u32) {
    a.iter_mut().fold(0, |below, limb| {
        let out = *limb >> (64 - bits);
        *limb = *limb << bits | below;
        out
    });
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
