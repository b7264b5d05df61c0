//! num-bigint-dig: `modpow(x, 2^T)`.

use super::{Chain, exponent};
use num_bigint_dig::BigUint;

struct Power {
    modulus: BigUint,
    x: BigUint,
    exponent: BigUint,
    y: BigUint,
}

/// `BigUint::modpow`.
pub fn power(modulus: &[u8], x: &[u8]) -> Box<dyn Chain> {
    let number = BigUint::from_bytes_be;
    let (modulus, x, exponent) = (number(modulus), number(x), number(&exponent()));
    Box::new(Power { modulus, y: x.clone(), x, exponent })
}

impl Chain for Power {
    fn run(&mut self) {
        self.y = self.x.modpow(&self.exponent, &self.modulus);
    }

    fn value(&self) -> Vec<u8> {
        self.y.to_bytes_be()
    }
}
