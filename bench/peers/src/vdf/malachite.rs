//! malachite: `mod_pow(x, 2^T)`, after GMP's algorithms.

use super::{Chain, exponent};
use malachite_base::num::arithmetic::traits::ModPow;
use malachite_base::num::conversion::traits::PowerOf2Digits;
use malachite_nz::natural::Natural;

struct Power {
    modulus: Natural,
    x: Natural,
    exponent: Natural,
    y: Natural,
}

/// `Natural::mod_pow`.
pub fn power(modulus: &[u8], x: &[u8]) -> Box<dyn Chain> {
    let number = |bytes: &[u8]| {
        Natural::from_power_of_2_digits_desc(8, bytes.iter().copied()).expect("bytes are digits")
    };
    let (modulus, x, exponent) = (number(modulus), number(x), number(&exponent()));
    Box::new(Power { modulus, y: x.clone(), x, exponent })
}

impl Chain for Power {
    fn run(&mut self) {
        self.y = (&self.x).mod_pow(&self.exponent, &self.modulus);
    }

    fn value(&self) -> Vec<u8> {
        self.y.to_power_of_2_digits_desc(8)
    }
}
