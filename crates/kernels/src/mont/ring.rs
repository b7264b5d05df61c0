//! Arithmetic modulo one odd number, in Montgomery form.

use super::portable;
use crate::ct;
use core::cmp::Ordering;
use zeroize::{Zeroize, Zeroizing};

/// The integers modulo an odd N > 1, with what multiplication in Montgomery form needs.
///
/// Elements are slices of [`Ring::len`] limbs, little-endian, below N; those in Montgomery form hold
/// a·R mod N with R = 2^(64·len).
#[derive(Clone)]
pub struct Ring {
    n: Vec<u64>,
    n0: u64,
    /// R mod N: one, in Montgomery form.
    one: Vec<u64>,
    /// R² mod N, which carries into Montgomery form.
    rr: Vec<u64>,
}

impl Ring {
    /// Makes the ring of an odd modulus above one; leading zero limbs are dropped.
    ///
    /// Returns `None` where the modulus is even, zero or one.
    ///
    /// # Security
    /// Constant time but for the modulus's number of bits, and for whether it is even, zero or one.
    #[must_use]
    pub fn new(modulus: &[u64]) -> Option<Self> {
        // Public: the factors of a time-lock are odd and their size is known.
        let len = modulus.iter().rposition(|&limb| ct::public(limb != 0))? + 1;
        if ct::public(modulus[0] & 1 == 0) || ct::public(len == 1 && modulus[0] == 1) {
            return None;
        }
        let n = modulus[..len].to_vec();
        let n0 = portable::neg_inverse(n[0]);
        let one = power_of_two(&n);
        let mut ring = Self { n, n0, one, rr: Vec::new() };
        ring.rr = ring.r_squared();
        Some(ring)
    }

    /// R² = R·2^(64·L): 2 in Montgomery form raised to the power 64·L.
    fn r_squared(&self) -> Vec<u64> {
        let mut two = Zeroizing::new(self.one.clone());
        self.double(&mut two);
        self.pow_vartime(&two, &[64 * self.len() as u64])
    }

    /// The number of limbs of the modulus, and of every element.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a modulus has at least one limb
    pub fn len(&self) -> usize {
        self.n.len()
    }

    /// The modulus, without leading zero limbs.
    #[must_use]
    pub fn modulus(&self) -> &[u64] {
        &self.n
    }

    /// One, in Montgomery form.
    #[must_use]
    pub fn one(&self) -> &[u64] {
        &self.one
    }

    /// Carries a number below N into Montgomery form.
    #[must_use]
    pub fn enter(&self, a: &[u64]) -> Vec<u64> {
        debug_assert!(self.is_canonical(a));
        self.mul(a, &self.rr)
    }

    /// Carries an element out of Montgomery form.
    #[must_use]
    pub fn leave(&self, a: &[u64]) -> Vec<u64> {
        let mut wide = Zeroizing::new(vec![0; 2 * self.len()]);
        wide[..self.len()].copy_from_slice(a);
        let mut out = vec![0; self.len()];
        portable::redc(&mut out, &mut wide, &self.n, self.n0);
        out
    }

    /// Says whether `a` has the ring's length and is below N.
    #[must_use]
    pub fn is_canonical(&self, a: &[u64]) -> bool {
        a.len() == self.len() && compare(a, &self.n) == Ordering::Less
    }

    /// Multiplies two elements in Montgomery form.
    #[must_use]
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut out = vec![0; self.len()];
        let mut wide = Zeroizing::new(vec![0; 2 * self.len()]);
        self.mul_to(&mut out, a, b, &mut wide);
        out
    }

    /// Multiplies two elements in Montgomery form into `out`; `wide` is scratch of 2·len limbs.
    pub fn mul_to(&self, out: &mut [u64], a: &[u64], b: &[u64], wide: &mut [u64]) {
        out.copy_from_slice(a);
        self.mul_assign(out, b, wide);
    }

    /// Multiplies `a` by `b` in place; `wide` is scratch of 2·len limbs.
    pub fn mul_assign(&self, a: &mut [u64], b: &[u64], wide: &mut [u64]) {
        portable::multiply(a, b, wide, &self.n, self.n0);
    }

    /// Squares `a` in place; `wide` is scratch of 2·len limbs.
    pub fn square_assign(&self, a: &mut [u64], wide: &mut [u64]) {
        portable::square(a, wide, &self.n, self.n0);
    }

    /// Doubles an element in place.
    pub fn double(&self, a: &mut [u64]) {
        double_mod(a, &self.n);
    }

    /// Raises an element in Montgomery form to a public power, little-endian limbs.
    #[must_use]
    pub fn pow_vartime(&self, base: &[u64], exponent: &[u64]) -> Vec<u64> {
        self.multi_pow_vartime(&[(base, exponent)])
    }

    /// The product of all bases, in Montgomery form, each raised to its public power.
    ///
    /// All share one run of squarings (Straus), with a sliding window for each base.
    #[must_use]
    pub fn multi_pow_vartime(&self, terms: &[(&[u64], &[u64])]) -> Vec<u64> {
        let mut wide = Zeroizing::new(vec![0; 2 * self.len()]);
        let tables: Vec<(Vec<Zeroizing<Vec<u64>>>, Vec<Digit>)> = terms
            .iter()
            .map(|(base, exponent)| {
                let window = window_bits(bit_len(exponent));
                (self.odd_powers(base, 1 << (window - 1), &mut wide), digits(exponent, window))
            })
            .collect();
        let top = tables.iter().filter_map(|(_, digits)| digits.last()).map(|d| d.shift).max();
        let mut pending: Vec<_> =
            tables.iter().map(|(_, digits)| digits.iter().rev().peekable()).collect();
        let mut out = self.one.clone();
        for shift in (0..=top.unwrap_or(0)).rev() {
            if top != Some(shift) {
                self.square_assign(&mut out, &mut wide);
            }
            for ((powers, _), pending) in tables.iter().zip(&mut pending) {
                if let Some(digit) = pending.next_if(|digit| digit.shift == shift) {
                    self.mul_assign(&mut out, &powers[digit.odd / 2], &mut wide);
                }
            }
        }
        out
    }

    /// The first `count` odd powers of `base`.
    fn odd_powers(&self, base: &[u64], count: usize, wide: &mut [u64]) -> Vec<Zeroizing<Vec<u64>>> {
        let mut square = Zeroizing::new(base.to_vec());
        self.square_assign(&mut square, wide);
        let mut powers = vec![Zeroizing::new(base.to_vec())];
        while powers.len() < count {
            let mut next = powers[powers.len() - 1].clone();
            self.mul_assign(&mut next, &square, wide);
            powers.push(next);
        }
        powers
    }

    /// Raises an element in Montgomery form to a secret power, little-endian limbs.
    ///
    /// # Security
    /// Time and memory access depend on the lengths of `exponent` and of the modulus alone.
    #[must_use]
    pub fn pow(&self, base: &[u64], exponent: &[u64]) -> Vec<u64> {
        let len = self.len();
        let mut wide = Zeroizing::new(vec![0; 2 * len]);
        let mut table = Zeroizing::new(vec![0; 16 * len]);
        table[..len].copy_from_slice(&self.one);
        for i in 1..16 {
            let (done, rest) = table.split_at_mut(i * len);
            self.mul_to(&mut rest[..len], &done[(i - 1) * len..], base, &mut wide);
        }
        let mut out = self.one.clone();
        let mut pick = Zeroizing::new(vec![0; len]);
        for &limb in exponent.iter().rev() {
            for shift in (0..16).rev() {
                for _ in 0..4 {
                    self.square_assign(&mut out, &mut wide);
                }
                select(&mut pick, &table, limb >> (4 * shift) & 15);
                self.mul_assign(&mut out, &pick, &mut wide);
            }
        }
        out
    }

    /// Returns 2^(−64·k) mod N, not in Montgomery form.
    #[must_use]
    pub fn inverse_power(&self, k: usize) -> Vec<u64> {
        // Leaving Montgomery form m times divides by 2^(64·L·m), so it starts from the difference.
        let departures = k.div_ceil(self.len());
        let mut value = vec![0; self.len()];
        value[self.len() * departures - k] = 1;
        for _ in 0..departures {
            let left = self.leave(&value);
            value.zeroize();
            value = left;
        }
        value
    }

    /// Returns 2^(−bits) mod N, not in Montgomery form.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    pub(super) fn inverse_power_of_two(&self, bits: usize) -> Vec<u64> {
        let limbs = bits.div_ceil(64);
        let mut power = self.inverse_power(limbs);
        (bits..64 * limbs).for_each(|_| self.double(&mut power));
        power
    }

    /// Overwrites the modulus and all that came from it, where the modulus is a secret.
    pub fn zeroize(&mut self) {
        self.n.zeroize();
        self.n0.zeroize();
        self.one.zeroize();
        self.rr.zeroize();
    }
}

/// An odd digit of an exponent: odd·2^shift.
pub(super) struct Digit {
    pub(super) shift: usize,
    pub(super) odd: usize,
}

/// The sliding window with the fewest multiplications for an exponent of so many bits.
pub(super) fn window_bits(bits: usize) -> usize {
    match bits {
        0..=16 => 1,
        17..=80 => 3,
        81..=240 => 4,
        241..=700 => 5,
        _ => 6,
    }
}

/// Writes an exponent as a sum of odd digits of at most `window` bits, in rising order.
pub(super) fn digits(exponent: &[u64], window: usize) -> Vec<Digit> {
    let bits = bit_len(exponent);
    let mut digits = Vec::new();
    let mut i = 0;
    while i < bits {
        if bit(exponent, i) {
            let end = (i + window).min(bits);
            let odd = (i..end).rev().fold(0, |d, j| d << 1 | usize::from(bit(exponent, j)));
            digits.push(Digit { shift: i, odd });
            i = end;
        } else {
            i += 1;
        }
    }
    digits
}

/// pick = table[index], reading all 16 rows.
pub(super) fn select(pick: &mut [u64], table: &[u64], index: u64) {
    pick.fill(0);
    for (i, row) in table.chunks_exact(pick.len()).enumerate() {
        let differ = i as u64 ^ index;
        let mask = (differ.wrapping_sub(1) >> 63).wrapping_neg(); // all ones where differ = 0
        for (pick, &limb) in pick.iter_mut().zip(row) {
            *pick |= limb & core::hint::black_box(mask);
        }
    }
}

/// 2^(64·L) mod n, by doubling the largest power of two below n.
fn power_of_two(n: &[u64]) -> Vec<u64> {
    // The number of bits of the top limb is public, as the modulus's size is.
    let zeros = ct::public(n[n.len() - 1]).leading_zeros() as usize;
    let top = 64 * n.len() - zeros - 1;
    let mut value = vec![0; n.len()];
    value[top / 64] = 1 << (top % 64);
    for _ in top..64 * n.len() {
        double_mod(&mut value, n);
    }
    value
}

fn double_mod(a: &mut [u64], n: &[u64]) {
    let mut carry = 0;
    for limb in a.iter_mut() {
        let next = *limb >> 63;
        *limb = *limb << 1 | carry;
        carry = next;
    }
    let mut borrow = 0;
    for (&a, &n) in a.iter().zip(n) {
        let (d, b0) = a.overflowing_sub(n);
        borrow = u64::from(b0) | u64::from(d < borrow);
    }
    // Subtract n, or zero, by a mask.
    // Opaque: told that the mask is all or nothing, the compiler would branch on it.
    let mask = core::hint::black_box((carry | (borrow ^ 1)).wrapping_neg());
    let mut borrow = 0;
    for (a, &n) in a.iter_mut().zip(n) {
        let difference = u128::from(*a).wrapping_sub(u128::from(n & mask) + u128::from(borrow));
        *a = difference as u64;
        borrow = (difference >> 64) as u64 & 1;
    }
}

fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

pub(super) fn bit_len(a: &[u64]) -> usize {
    match a.iter().rposition(|&limb| limb != 0) {
        Some(top) => 64 * top + 64 - a[top].leading_zeros() as usize,
        None => 0,
    }
}

fn bit(a: &[u64], i: usize) -> bool {
    a[i / 64] >> (i % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reproducible stream of limbs, among them many of all ones and all zeros.
    fn limbs(state: &mut u64, len: usize) -> Vec<u64> {
        let mut next = || {
            *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let mixed = (*state ^ *state >> 29).wrapping_mul(0xbf58476d1ce4e5b9);
            mixed ^ mixed >> 32
        };
        (0..len)
            .map(|_| match next() % 6 {
                0 => u64::MAX,
                1 => 0,
                _ => next(),
            })
            .collect()
    }

    /// a·b mod n by doubling and adding: nothing in common with Montgomery's way.
    fn slow_mul(a: &[u64], b: &[u64], n: &[u64]) -> Vec<u64> {
        let mut out = vec![0; n.len()];
        for i in (0..64 * b.len()).rev() {
            double_mod(&mut out, n);
            if bit(b, i) {
                let mut carry = false;
                for (o, &a) in out.iter_mut().zip(a) {
                    let (s, c0) = o.overflowing_add(a);
                    let (s, c1) = s.overflowing_add(u64::from(carry));
                    (*o, carry) = (s, c0 | c1);
                }
                let sum = out.clone();
                portable::subtract_once(&mut out, &sum, n, u64::from(carry));
            }
        }
        out
    }

    #[test]
    fn moduli_that_have_no_ring() {
        for bad in [&[][..], &[0], &[1], &[1, 0], &[2], &[0, 1]] {
            assert!(Ring::new(bad).is_none());
        }
        assert_eq!(Ring::new(&[3, 0]).map(|ring| ring.len()), Some(1));
    }

    #[test]
    fn products_match_doubling_and_adding() {
        let mut state = 1;
        for len in (1..13).chain([15, 16, 17, 23, 31, 32, 33]) {
            for round in 0..8 {
                let mut n = limbs(&mut state, len);
                if round == 0 {
                    n.fill(u64::MAX);
                }
                n[0] |= 3;
                n[len - 1] |= 1 << (8 * round);
                let ring = Ring::new(&n).unwrap();
                let reduce = |mut a: Vec<u64>| {
                    while !ring.is_canonical(&a) {
                        let high = a.clone();
                        portable::subtract_once(&mut a, &high, &n, 0);
                        if a[len - 1] > n[len - 1] {
                            a[len - 1] %= n[len - 1].max(1);
                        }
                    }
                    a
                };
                let (a, b) = (reduce(limbs(&mut state, len)), reduce(limbs(&mut state, len)));
                let (am, bm) = (ring.enter(&a), ring.enter(&b));
                assert_eq!(ring.leave(&am), a);
                assert_eq!(ring.leave(&ring.mul(&am, &bm)), slow_mul(&a, &b, &n), "{len} {round}");
                let (mut square, mut wide) = (am.clone(), vec![0; 2 * len]);
                ring.square_assign(&mut square, &mut wide);
                assert_eq!(square, ring.mul(&am, &am), "{len} {round}");
            }
        }
    }

    #[test]
    fn powers_agree() {
        let mut state = 7;
        for len in [1, 3, 8] {
            let mut n = limbs(&mut state, len);
            n[0] |= 3;
            n[len - 1] |= 1 << 62;
            let ring = Ring::new(&n).unwrap();
            let base = ring.enter(&[&[5][..], &vec![0; len - 1]].concat());
            for e in [0, 1, 2, 3, 40, 65_537, u64::MAX] {
                assert_eq!(ring.pow(&base, &[e]), ring.pow_vartime(&base, &[e]));
            }
            let seven = ring.enter(&[&[7][..], &vec![0; len - 1]].concat());
            let both = ring.multi_pow_vartime(&[(&base, &[77, 1]), (&seven, &[1 << 40])]);
            let each = ring.mul(&ring.pow(&base, &[77, 1]), &ring.pow(&seven, &[1 << 40]));
            assert_eq!(both, each);
            let long = limbs(&mut state, 12);
            assert_eq!(ring.pow(&base, &long), ring.pow_vartime(&base, &long));
        }
        // Fermat: 2^(p − 1) = 1.
        let ring = Ring::new(&[0xffff_ffff_ffff_ffc5]).unwrap();
        let two = ring.enter(&[2]);
        assert_eq!(ring.leave(&ring.pow(&two, &[0xffff_ffff_ffff_ffc4])), [1]);
    }

    #[test]
    fn inverse_powers_of_two() {
        let n = [0xdead_beef_0000_0001, 77, 1 << 20];
        let ring = Ring::new(&n).unwrap();
        for k in [0, 1, 3, 4, 7, 13] {
            let mut value = ring.inverse_power(k);
            for _ in 0..64 * k {
                ring.double(&mut value);
            }
            assert_eq!(value, [1, 0, 0], "{k}");
        }
    }
}
