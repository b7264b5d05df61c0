//! Against the portable ring; `TETRALITH_SLOW=1` runs ten times as many products.

use super::*;
use crate::cpu::{Family, has};

/// A reproducible stream of words.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58476d1ce4e5b9);
        mixed ^ mixed >> 32
    }

    /// An odd number of exactly so many bits, or the greatest, or the least.
    fn modulus(&mut self, bits: usize, shape: u32) -> Vec<u64> {
        let limbs = bits.div_ceil(64);
        let mut n: Vec<u64> = (0..limbs)
            .map(|_| match shape {
                0 => u64::MAX,
                1 => 0,
                _ => self.next(),
            })
            .collect();
        let top = bits - 64 * (limbs - 1);
        n[limbs - 1] = n[limbs - 1] & (u64::MAX >> (64 - top)) | 1 << (top - 1);
        n[0] |= 1;
        n
    }

    /// Digits with many at their extremes.
    fn digits(&mut self, count: usize, round: u64) -> Vec<u64> {
        (0..count)
            .map(|_| match self.next() % (2 + round % 5) {
                0 => DIGIT,
                1 => 0,
                2 => DIGIT - 1,
                _ => self.next() & DIGIT,
            })
            .collect()
    }
}

fn rounds() -> u64 {
    if std::env::var_os("TETRALITH_SLOW").is_some() { 600 } else { 60 }
}

#[test]
fn products_match_the_exact_ones() {
    if !has(Family::Avx512) {
        return;
    }
    let (mut words, mut noticed) = (Words(1), 0);
    for v in [3, 5, 8, 10] {
        let most = 416 * v - 10;
        for bits in [most, most - 1, most - 22, most / 2, 130] {
            for shape in 0..4 {
                let n = words.modulus(bits, shape);
                let ring = Ring::new(&n).unwrap();
                let product = Product::of_blocks(&ring, v);
                for round in 0..rounds() {
                    let a = words.digits(8 * v, round);
                    let b = if round % 3 == 0 { a.clone() } else { words.digits(8 * v, round / 5) };
                    let mut exact = a.clone();
                    product.mul_exactly(&mut exact, &b);
                    let mut fast = a.clone();
                    let counts = match v {
                        3 => product.run::<3, 1, 1>(&mut fast, &b),
                        5 => product.run::<5, 2, 1>(&mut fast, &b),
                        8 => product.run::<8, 3, 2>(&mut fast, &b),
                        _ => product.run::<10, 4, 2>(&mut fast, &b),
                    };
                    if !counts {
                        noticed += 1;
                        assert_eq!(fast, a, "a product that does not count leaves its factor");
                        continue;
                    }
                    let len = ring.len();
                    assert_eq!(product.leave(&fast, len), product.leave(&exact, len), "{v} {bits}");
                }
            }
        }
    }
    assert!(noticed > 0, "no crafted number made a guess fail");
}

#[test]
fn exact_products_are_products() {
    if !has(Family::Avx512) {
        return;
    }
    let mut words = Words(2);
    for (v, bits) in [(3, 1024), (5, 2048), (5, 2070), (8, 3072), (10, 4096), (10, 130)] {
        let n = words.modulus(bits, 9);
        let ring = Ring::new(&n).unwrap();
        let product = Product::of_blocks(&ring, v);
        for _ in 0..20 {
            let mut number = || {
                let mut a = words.modulus(bits, 9);
                let high = a.clone();
                crate::mont::portable::subtract_once(&mut a, &high, &n, 0);
                a
            };
            let (a, b) = (number(), number());
            let right = ring.leave(&ring.mul(&ring.enter(&a), &ring.enter(&b)));
            let (mut fast, mut exact) = (product.enter(&a), product.enter(&a));
            product.mul_assign(&mut fast, &product.enter(&b));
            product.mul_exactly(&mut exact, &product.enter(&b));
            assert_eq!(product.leave(&fast, ring.len()), right);
            assert_eq!(product.leave(&exact, ring.len()), right);
        }
    }
}
