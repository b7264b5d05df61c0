//! The ledger's fixed-point numbers, with 34 decimal digits, and its logarithm and exponential.
//!
//! Whether a pool leads a slot is a comparison that every node must decide alike, so every rounding
//! here is the ledger's: multiplication and division round down, the logarithm is a continued
//! fraction stopped by the same rule, and the exponential's Taylor series is cut by the same bound.
//!
//! cardano-ledger, `libs/non-integral`; Data.Fixed with resolution 10^34

use core::ops::{Add, Neg, Sub};
use num_bigint::{BigInt, Sign};
use std::sync::LazyLock;

/// A number, times 10^34.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fixed(BigInt);

/// How two numbers compare, or that the series did not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Below,
    Above,
    Undecided,
}

/// 10^34, the denominator of every number here.
static RESOLUTION: LazyLock<BigInt> = LazyLock::new(|| BigInt::from(10u8).pow(34));

/// 10^-24, where series stop.
static EPSILON: LazyLock<Fixed> = LazyLock::new(|| Fixed(BigInt::from(10u8).pow(10)));

/// a/b rounded towards minus infinity.
fn divide_down(a: &BigInt, b: &BigInt) -> BigInt {
    let quotient = a / b; // towards zero
    let inexact = &quotient * b != *a;
    if inexact && (a.sign() == Sign::Minus) != (b.sign() == Sign::Minus) {
        quotient - 1
    } else {
        quotient
    }
}

impl Fixed {
    pub(super) fn integer(n: i64) -> Fixed {
        Fixed(BigInt::from(n) * &*RESOLUTION)
    }

    /// numerator/denominator, rounded down.
    pub(super) fn ratio(numerator: &BigInt, denominator: &BigInt) -> Fixed {
        Fixed(divide_down(&(numerator * &*RESOLUTION), denominator))
    }

    pub(super) fn mul(&self, other: &Fixed) -> Fixed {
        Fixed(divide_down(&(&self.0 * &other.0), &RESOLUTION))
    }

    fn div(&self, other: &Fixed) -> Fixed {
        Fixed(divide_down(&(&self.0 * &*RESOLUTION), &other.0))
    }

    fn abs(&self) -> Fixed {
        Fixed(BigInt::from(self.0.magnitude().clone()))
    }

    fn power(&self, n: i64) -> Fixed {
        if n < 0 {
            return Fixed::integer(1).div(&self.power(-n));
        }
        match n {
            0 => Fixed::integer(1),
            n if n % 2 == 0 => {
                let half = self.power(n / 2);
                half.mul(&half)
            }
            n => self.mul(&self.power(n - 1)),
        }
    }

    /// e, by its Taylor series.
    fn e() -> Fixed {
        let one = Fixed::integer(1);
        let (mut term, mut sum) = (one.clone(), one.clone());
        for divisor in 1..1000 {
            term = term.mul(&one).div(&Fixed::integer(divisor));
            if term.abs() < *EPSILON {
                break;
            }
            sum = &sum + &term;
        }
        sum
    }

    /// The natural logarithm of a positive number.
    pub(super) fn ln(&self) -> Fixed {
        let e = Fixed::e();
        let n = self.integer_logarithm(&e);
        let rest = &self.div(&e.power(n)) - &Fixed::integer(1);
        &Fixed::integer(n) + &rest.ln_1_plus()
    }

    /// n with e^n <= x < e^(n+1).
    fn integer_logarithm(&self, e: &Fixed) -> i64 {
        let (mut low, mut high) = (Fixed::integer(1).div(e), e.clone());
        let (mut l, mut u) = (-1i64, 1i64);
        while !(low <= *self && *self <= high) {
            (low, high) = (low.mul(&low), high.mul(&high));
            (l, u) = (2 * l, 2 * u);
        }
        while l + 1 != u {
            let middle = l + (u - l).div_euclid(2);
            if *self < e.power(middle) { u = middle } else { l = middle }
        }
        l
    }

    /// ln(1 + x) for x >= 0, by the continued fraction with a_1 = x, a_2k = a_2k+1 = k^2 x, b_n = n.
    fn ln_1_plus(&self) -> Fixed {
        let mut last: Option<Fixed> = None;
        let (mut a_before, mut b_before) = (Fixed::integer(1), Fixed::integer(0));
        let (mut a, mut b) = (Fixed::integer(0), Fixed::integer(1));
        for n in 1..=1001i64 {
            let factor =
                if n == 1 { self.clone() } else { self.mul(&Fixed::integer((n / 2).pow(2))) };
            let bn = Fixed::integer(n);
            let a_next = &bn.mul(&a) + &factor.mul(&a_before);
            let b_next = &bn.mul(&b) + &factor.mul(&b_before);
            let convergent = a_next.div(&b_next);
            let converged = last.is_some_and(|last| (&last - &convergent).abs() < *EPSILON);
            if converged || n == 1001 {
                return convergent;
            }
            (a_before, b_before) = (a, b);
            (a, b) = (a_next, b_next);
            last = Some(convergent);
        }
        unreachable!("the loop returns at its last turn")
    }

    /// Compares this number with e^x, |x| small enough that three times a term bounds what follows.
    pub(super) fn compare_with_exp(&self, x: &Fixed) -> Comparison {
        let bound = Fixed::integer(3);
        let (mut term, mut sum) = (x.clone(), Fixed::integer(1));
        for divisor in 2..1002 {
            let next = term.mul(x).div(&Fixed::integer(divisor));
            let error = next.mul(&bound).abs();
            sum = &sum + &term;
            if *self >= &sum + &error {
                return Comparison::Above;
            }
            if *self < &sum - &error {
                return Comparison::Below;
            }
            term = next;
        }
        Comparison::Undecided
    }
}

impl Add for &Fixed {
    type Output = Fixed;
    fn add(self, other: &Fixed) -> Fixed {
        Fixed(&self.0 + &other.0)
    }
}

impl Sub for &Fixed {
    type Output = Fixed;
    fn sub(self, other: &Fixed) -> Fixed {
        Fixed(&self.0 - &other.0)
    }
}

impl Neg for Fixed {
    type Output = Fixed;
    fn neg(self) -> Fixed {
        Fixed(-self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(x: &Fixed) -> String {
        x.0.to_string()
    }

    #[test]
    fn rounding_is_down() {
        let n = |n: i64| BigInt::from(n);
        assert_eq!(divide_down(&n(7), &n(2)), n(3));
        assert_eq!(divide_down(&n(-7), &n(2)), n(-4));
        assert_eq!(divide_down(&n(7), &n(-2)), n(-4));
        assert_eq!(divide_down(&n(-6), &n(2)), n(-3));
    }

    /// e and ln(0.95), whose true digits are 2.718281828459045235360287471352662497… and
    /// -0.051293294387550533426196144255473…; the series stop near 24 digits.
    #[test]
    fn e_and_logarithm_are_right_to_24_digits() {
        assert!(text(&Fixed::e()).starts_with("271828182845904523536028"));
        let x = Fixed::ratio(&BigInt::from(95), &BigInt::from(100)).ln();
        assert!(text(&x).starts_with("-5129329438755053342619"), "{}", text(&x));
    }
}
