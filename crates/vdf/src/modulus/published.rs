//! Numbers whose factors anyone can look up.
//!
//! Whoever knows the factors of N computes every output at once and proves any output he likes, so
//! nothing is proved modulo such a number. The list is short and cannot be complete: it holds the
//! preset `lcs35` and the largest RSA challenge numbers that have been factored. It is compared by
//! value, so a multiple of a listed prime is refused as well.

use crate::nat;
use std::sync::OnceLock;

/// A number with published factors.
pub(crate) struct Published {
    /// What the number is called.
    pub(crate) name: &'static str,
    /// Where its factors are published.
    pub(crate) publication: &'static str,
}

/// Each number with its publication; the factors are in `presets/published_factors.txt`, under the same names.
const NUMBERS: [Published; 4] = [
    Published {
        name: "lcs35",
        publication: "the puzzle's 2019 solution, published by MIT CSAIL, gives the seed of one",
    },
    Published { name: "rsa768", publication: "RSA-768 was factored in 2009, IACR ePrint 2010/006" },
    Published { name: "rsa240", publication: "RSA-240 was factored in 2019, IACR ePrint 2020/697" },
    Published { name: "rsa250", publication: "RSA-250 was factored in 2020, IACR ePrint 2020/697" },
];

/// The published number that shares a prime factor with `n`.
pub(super) fn find(n: &[u64]) -> Option<&'static Published> {
    let divides = |prime: &[u64]| nat::cmp(n, prime).is_ge() && nat::is_zero(&nat::rem(n, prime));
    let (name, _) = factors().iter().find(|(_, prime)| divides(prime))?;
    NUMBERS.iter().find(|number| number.name == *name)
}

/// The published prime factors, each with the name of the number that it divides.
fn factors() -> &'static [(&'static str, Vec<u64>)] {
    static FACTORS: OnceLock<Vec<(&str, Vec<u64>)>> = OnceLock::new();
    FACTORS.get_or_init(|| {
        let rows = include_str!("../presets/published_factors.txt").lines();
        let row = |line: &'static str| {
            let (name, digits) = line.split_once(' ').expect("a row is a name and a number");
            let bytes = super::parse_hex(digits, "the factor").expect("a factor is in hex");
            (name, nat::from_bytes(&bytes))
        };
        rows.map(row).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Modulus, prime};

    /// The message of the 2019 solution gives b, and p is the first prime above 5^b mod 2^1024.
    #[test]
    fn the_solution_of_lcs35_gives_a_factor() {
        let seed = "712238904468723561162000937465778229877598711342253664788091132335";
        let mut exponent = vec![0u64; 4];
        for digit in seed.bytes() {
            exponent = nat::mul(&exponent, &[10])[..4].to_vec();
            assert!(!nat::add(&mut exponent, &[u64::from(digit - b'0')]));
        }
        let product = |a: &[u64], b: &[u64]| nat::mul(a, b)[..16].to_vec();
        let mut power = [vec![1], vec![0; 15]].concat();
        for i in (0..nat::bit_len(&exponent)).rev() {
            power = product(&power, &power);
            if nat::bit(&exponent, i) {
                power = product(&power, &[5]);
            }
        }
        assert!(!nat::add(&mut power, &[670]));
        assert!(nat::is_zero(&nat::rem(Modulus::lcs35().limbs(), &power)));
        assert!(prime::is_probable_prime(&power, 8));
        // It is the first of the two that are kept.
        assert_eq!(factors()[0], ("lcs35", power));
    }

    #[test]
    fn all_factors_are_primes_and_named() {
        for pair in factors().chunks(2) {
            let [(name, p), (same, q)] = pair else { panic!("two factors each") };
            assert_eq!(name, same);
            for prime in [p, q] {
                assert!(prime::is_probable_prime(prime, 8), "{name}");
                let multiple = nat::mul(prime, &[0xffff_ffff_ffff_ffc5]);
                assert_eq!(find(&multiple).map(|found| found.name), Some(*name));
            }
            assert_eq!(find(&nat::mul(p, q)).map(|found| found.name), Some(*name));
        }
        assert_eq!(factors().len(), 2 * NUMBERS.len());
        assert!(find(Modulus::rsa2048().limbs()).is_none());
        assert!(find(&[15]).is_none());
    }
}
