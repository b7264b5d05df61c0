//! Arithmetic modulo an odd number of exactly 256 bits: the challenge prime.
//!
//! A prover takes a product modulo it for every block of the quotient, and a verifier tests it to be
//! prime, so it has its own fixed-size code. For public numbers.

use crate::nat;

/// Numbers modulo an odd n of 256 bits, in Montgomery form with R = 2^256 where that is said.
#[derive(Clone)]
pub(crate) struct Field256 {
    n: [u64; 4],
    /// −n^(−1) mod 2^64.
    n0: u64,
    /// R mod n and R² mod n.
    one: [u64; 4],
    rr: [u64; 4],
    /// One over n's highest limb, rounded.
    reciprocal: f64,
}

impl Field256 {
    /// Makes the numbers modulo `n`, which is odd and has its highest bit set.
    pub(crate) fn new(n: [u64; 4]) -> Self {
        debug_assert!(n[0] & 1 == 1 && n[3] >> 63 == 1);
        // n is its own inverse mod 8; each step doubles the right bits.
        let inverse =
            (0..5).fold(n[0], |i, _| i.wrapping_mul(2u64.wrapping_sub(n[0].wrapping_mul(i))));
        let mut one = [0; 4];
        nat::sub(&mut one, &n); // 2^256 − n, below n for its highest bit is set
        let (n0, reciprocal) = (inverse.wrapping_neg(), 1.0 / n[3] as f64);
        let mut field = Self { n, n0, one, rr: one, reciprocal };
        // 2^256 is R.
        field.rr = field.power_of_two(256);
        field
    }

    /// ⌊2^(256 + 64·W)/n⌋ − 2^(64·W), for [`Field256::expand`].
    pub(crate) fn inverse<const W: usize>(&self) -> [u64; W] {
        // 2^256 = n + (2^256 − n).
        self.long_division(&self.one)
    }

    /// One, in Montgomery form.
    pub(crate) fn one(&self) -> [u64; 4] {
        self.one
    }

    /// −1, in Montgomery form.
    pub(crate) fn minus_one(&self) -> [u64; 4] {
        let mut minus = self.n;
        nat::sub(&mut minus, &self.one);
        minus
    }

    /// 2^exponent, in Montgomery form.
    pub(crate) fn power_of_two(&self, exponent: u64) -> [u64; 4] {
        let bits = 64 - exponent.leading_zeros();
        (0..bits).rev().fold(self.one, |power, bit| {
            let mut square = self.mul(&power, &power);
            if exponent >> bit & 1 == 1 {
                self.double(&mut square);
            }
            square
        })
    }

    /// Carries any number of 256 bits into Montgomery form.
    pub(crate) fn enter(&self, a: &[u64; 4]) -> [u64; 4] {
        self.mul(a, &self.rr)
    }

    /// Carries out of Montgomery form.
    pub(crate) fn leave(&self, a: &[u64; 4]) -> [u64; 4] {
        self.mul(a, &[1, 0, 0, 0])
    }

    fn double(&self, a: &mut [u64; 4]) {
        let carry = a[3] >> 63;
        nat::shl(a, 1);
        if carry == 1 || nat::cmp(a, &self.n).is_ge() {
            nat::sub(a, &self.n);
        }
    }

    /// a·b/R mod n, for any a and a b below n.
    ///
    /// # Correctness
    /// After each row the accumulator is below 2·n + 2^256 < 2^258 before the limb that was made zero
    /// is dropped, and below b + n < 2^257 after: five limbs, the last of them 0 or 1.
    #[inline(always)]
    pub(crate) fn mul(&self, a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
        let n = &self.n;
        let mut t = [0u64; 4];
        let mut top = 0;
        for &a in a {
            // t + a·b, then + q·n, whose lowest limb vanishes.
            let (t0, c) = mac(t[0], a, b[0], 0);
            let (t1, c) = mac(t[1], a, b[1], c);
            let (t2, c) = mac(t[2], a, b[2], c);
            let (t3, c) = mac(t[3], a, b[3], c);
            let (t4, over) = c.overflowing_add(top);
            let q = t0.wrapping_mul(self.n0);
            let (_, c) = mac(t0, q, n[0], 0);
            let (t0, c) = mac(t1, q, n[1], c);
            let (t1, c) = mac(t2, q, n[2], c);
            let (t2, c) = mac(t3, q, n[3], c);
            let (t3, again) = t4.overflowing_add(c);
            t = [t0, t1, t2, t3];
            top = u64::from(over) + u64::from(again);
        }
        let (d0, w) = t[0].overflowing_sub(n[0]);
        let (d1, w) = sub_limb(t[1], n[1], w);
        let (d2, w) = sub_limb(t[2], n[2], w);
        let (d3, w) = sub_limb(t[3], n[3], w);
        if top == 1 || !w { [d0, d1, d2, d3] } else { t }
    }

    /// base^exponent in Montgomery form.
    pub(crate) fn pow(&self, base: &[u64; 4], exponent: &[u64]) -> [u64; 4] {
        self.pow_each(&[*base], exponent)[0]
    }

    /// The powers of several bases, in Montgomery form, by windows of four bits.
    ///
    /// One multiplication is a chain of some hundred cycles that leaves most of the processor idle; the
    /// bases take turns, so that it works on several at a time.
    pub(crate) fn pow_each<const K: usize>(
        &self,
        bases: &[[u64; 4]; K],
        exponent: &[u64],
    ) -> [[u64; 4]; K] {
        let mut tables = [[self.one; K]; 16];
        for i in 1..16 {
            for k in 0..K {
                tables[i][k] = self.mul(&tables[i - 1][k], &bases[k]);
            }
        }
        let bits = nat::bit_len(exponent).div_ceil(4);
        let digit = |i: u64| (exponent[(i / 16) as usize] >> (4 * (i % 16)) & 15) as usize;
        let mut out = [self.one; K];
        for i in (0..bits).rev() {
            if i + 1 < bits {
                for _ in 0..4 {
                    for out in &mut out {
                        *out = self.mul(out, out);
                    }
                }
            }
            if digit(i) > 0 {
                for (out, power) in out.iter_mut().zip(&tables[digit(i)]) {
                    *out = self.mul(out, power);
                }
            }
        }
        out
    }

    /// ⌊2^k·r/n⌋ for r < n and k ≤ 32: from the highest limbs, unless that leaves a doubt.
    ///
    /// # Correctness
    /// n ≥ 2^255, so the quotient of the highest limbs is off by less than 2^k·2^−62, and three
    /// roundings to 53 bits by less than 2^k·2^−50: below 2^−17 together. Where the estimate is farther
    /// than that from a whole number, its floor is right.
    #[inline]
    pub(crate) fn quotient(&self, r: &[u64; 4], k: u32) -> u64 {
        let estimate = r[3] as f64 * self.reciprocal * (1u64 << k) as f64;
        let digit = estimate as u64;
        let fraction = estimate - digit as f64;
        if fraction > 0.0001 && fraction < 0.9999 {
            return digit;
        }
        self.quotient_exactly(digit, r, k)
    }

    /// ⌊2^(64·W)·r/n⌋ for r < n, with what [`Field256::inverse`] gave; but not its lowest limb.
    ///
    /// # Correctness
    /// W is at least 4. With μ = ⌊2^(256 + 64·W)/n⌋ the estimate ⌊r·μ/2^256⌋ is at most 2 too small:
    /// r·2^(256 + 64·W)/n − r·μ is below 2^256, and two floors lose less than one each. Its upper limbs are wrong
    /// only where adding 2 would carry out of the lowest.
    #[inline]
    pub(crate) fn expand<const W: usize>(&self, inverse: &[u64; W], r: &[u64; 4]) -> [u64; W] {
        const { assert!(W >= 4) }
        let (mut estimate, mut t) = ([0; W], [0; 4]);
        for (j, &limb) in inverse.iter().enumerate() {
            let (t0, c) = mac(t[0], limb, r[0], 0);
            let (t1, c) = mac(t[1], limb, r[1], c);
            let (t2, c) = mac(t[2], limb, r[2], c);
            let (t3, c) = mac(t[3], limb, r[3], c);
            t = [t1, t2, t3, c];
            if j >= 4 {
                estimate[j - 4] = t0;
            }
        }
        let highest = &mut estimate[W - 4..];
        highest.copy_from_slice(&t);
        nat::add(highest, r);
        if estimate[0] >= u64::MAX - 2 { self.long_division(r) } else { estimate }
    }

    /// ⌊2^(64·W)·r/n⌋ for r < n, 32 bits at a time.
    #[cold]
    fn long_division<const W: usize>(&self, r: &[u64; 4]) -> [u64; W] {
        let (mut quotient, mut rest) = ([0; W], *r);
        for i in (0..2 * W).rev() {
            let digit = self.quotient(&rest, 32);
            quotient[i / 2] |= digit << (32 * (i % 2));
            let mut value = [rest[0], rest[1], rest[2], rest[3], 0];
            nat::shl(&mut value, 32);
            nat::sub(&mut value, &self.times(digit));
            rest.copy_from_slice(&value[..4]);
        }
        quotient
    }

    /// digit·n.
    fn times(&self, digit: u64) -> [u64; 5] {
        let mut multiple = [0; 5];
        for i in 0..4 {
            (multiple[i], multiple[i + 1]) = mac(0, digit, self.n[i], multiple[i]);
        }
        multiple
    }

    /// Puts an estimate right.
    #[cold]
    fn quotient_exactly(&self, mut digit: u64, r: &[u64; 4], k: u32) -> u64 {
        let mut value = [r[0], r[1], r[2], r[3], 0];
        nat::shl(&mut value, k);
        let mut multiple = self.times(digit);
        while nat::cmp(&multiple, &value).is_gt() {
            digit -= 1;
            nat::sub(&mut multiple, &self.n);
        }
        nat::sub(&mut value, &multiple);
        while nat::cmp(&value, &self.n).is_ge() {
            digit += 1;
            nat::sub(&mut value, &self.n);
        }
        digit
    }
}

/// (low, high) of t + a·b + c.
#[inline(always)]
fn mac(t: u64, a: u64, b: u64, c: u64) -> (u64, u64) {
    // Below 2^128, whatever they are: nothing wraps, and no check for it stands in the way.
    let product = u128::from(a).wrapping_mul(u128::from(b));
    let sum = product.wrapping_add(u128::from(t)).wrapping_add(u128::from(c));
    (sum as u64, (sum >> 64) as u64)
}

/// (difference, borrow) of a − b − borrow.
#[inline(always)]
fn sub_limb(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (d, w0) = a.overflowing_sub(b);
    let (d, w1) = d.overflowing_sub(u64::from(borrow));
    (d, w0 | w1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tetralith_kernels::mont::Ring;

    #[test]
    fn agrees_with_the_ring() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            match state >> 60 {
                0 | 1 => u64::MAX,
                2 => 0,
                _ => state ^ state >> 33,
            }
        };
        for _ in 0..300 {
            let n = [next() | 1, next(), next(), next() | 1 << 63];
            let (field, ring) = (Field256::new(n), Ring::new(&n).unwrap());
            let reduce = |a: [u64; 4]| -> [u64; 4] { nat::rem(&a, &n).try_into().unwrap() };
            let a = reduce([next(), next(), next(), next()]);
            let b = reduce([next(), next(), next(), next()]);
            assert_eq!(field.one().to_vec(), ring.one());
            assert_eq!(field.enter(&a).to_vec(), ring.enter(&a));
            assert_eq!(field.mul(&a, &b).to_vec(), ring.mul(&a, &b));
            assert_eq!(field.pow(&a, &b).to_vec(), ring.pow(&a, &b));
            let each = field.pow_each(&[a, b, field.one()], &b);
            assert_eq!(each[..2], [field.pow(&a, &b), field.pow(&b, &b)]);
            assert_eq!(field.leave(&field.enter(&a)), a);
            let bits = u64::from(next() as u32 % 600);
            let two = ring.enter(&[2, 0, 0, 0]);
            assert_eq!(field.power_of_two(bits).to_vec(), ring.pow(&two, &[bits]));
            let expansion: [u64; 4] = field.expand(&field.inverse(), &a);
            let exact: [u64; 4] = field.long_division(&a);
            assert_eq!(expansion[1..], exact[1..]);
            assert_eq!(exact[3] >> 32, field.quotient(&a, 32));
            let expansion: [u64; 9] = field.expand(&field.inverse(), &a);
            let longer: [u64; 9] = field.long_division(&a);
            assert_eq!(expansion[1..], longer[1..]);
            assert_eq!(exact, longer[5..]);
            // ⌊2^256·a/n⌋·n ≤ 2^256·a, by less than n.
            let mut rest = [&[0; 4][..], &a].concat();
            assert!(!nat::sub(&mut rest, &nat::mul(&exact, &n)));
            assert!(nat::cmp(&rest, &n).is_lt());
            for k in [1, 13, 32] {
                let mut value = [a[0], a[1], a[2], a[3], 0];
                nat::shl(&mut value, k);
                let digit = field.quotient(&a, k);
                for guess in [digit.saturating_sub(2), digit + 2] {
                    assert_eq!(field.quotient_exactly(guess, &a, k), digit);
                }
                let mut multiple = nat::mul(&n, &[field.quotient(&a, k)]);
                assert!(nat::cmp(&multiple, &value).is_le());
                nat::add(&mut multiple, &n);
                assert!(nat::cmp(&multiple, &value).is_gt());
            }
        }
    }

    /// Modulo 2^256 − 1 a multiple of 2^64 is followed by itself, again and again: the lowest limb of the estimate
    /// is just below a carry.
    #[test]
    fn estimates_that_leave_a_doubt() {
        let field = Field256::new([u64::MAX; 4]);
        for r in [[0, 7, 8, 9], [0, 0, 0, 1], [0, u64::MAX, 0, 5], [0, 1, 0, 0]] {
            let expansion: [u64; 16] = field.expand(&field.inverse(), &r);
            assert!((1..16).all(|i| expansion[i] == r[i % 4]), "{expansion:x?}");
        }
    }
}
