//! GMP through rug: mpz_powm(x, 2^T), which squares in Montgomery form inside.

use super::{Chain, exponent};
use rug::{Integer, integer::Order};
use std::ffi::CStr;

/// GMP's own version.
pub fn version() -> String {
    // SAFETY: gmp::version is a static string that nothing writes.
    let text = unsafe { CStr::from_ptr(gmp_mpfr_sys::gmp::version) };
    text.to_string_lossy().into_owned()
}

struct Power {
    modulus: Integer,
    x: Integer,
    exponent: Integer,
    y: Integer,
}

/// mpz_powm.
pub fn power(modulus: &[u8], x: &[u8]) -> Box<dyn Chain> {
    let number = |bytes: &[u8]| Integer::from_digits(bytes, Order::Msf);
    let (modulus, x, exponent) = (number(modulus), number(x), number(&exponent()));
    Box::new(Power { modulus, x, exponent, y: Integer::new() })
}

impl Chain for Power {
    fn run(&mut self) {
        let power = self.x.pow_mod_ref(&self.exponent, &self.modulus);
        self.y = Integer::from(power.expect("the exponent is positive"));
    }

    fn value(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.y.significant_digits::<u8>()];
        self.y.write_digits(&mut bytes, Order::Msf);
        bytes
    }
}
