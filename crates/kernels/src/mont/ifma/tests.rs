//! Against the portable ring; `TETRALITH_SLOW=1` runs ten times as many squarings.

use super::*;
use crate::cpu::{Family, has};
use crate::mont::{Kernel, Squarer};

/// A reproducible stream of words.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mixed = (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58476d1ce4e5b9);
        mixed ^ mixed >> 32
    }

    /// Exactly so many bits: an odd number.
    fn modulus(&mut self, bits: usize) -> Vec<u64> {
        let mut n: Vec<u64> = (0..bits.div_ceil(64)).map(|_| self.next()).collect();
        let top = bits - 64 * (n.len() - 1);
        let last = n.len() - 1;
        n[last] = n[last] & (u64::MAX >> (64 - top)) | 1 << (top - 1);
        n[0] |= 1;
        n
    }
}

/// Moduli of a class by v: any length, those at the limit, and extreme shapes.
fn moduli(words: &mut Words, v: usize) -> Vec<Vec<u64>> {
    let most = BLOCK_BITS * v - 10;
    let mut all: Vec<Vec<u64>> =
        [most, most - 1, most - 22, most - 200, most / 2 + 9, 130, 64, 33, 2]
            .map(|bits| words.modulus(bits))
            .to_vec();
    let limbs = most.div_ceil(64);
    // 2^most − 1 and 2^(most − 1) + 1: every digit full, every digit empty.
    let mut full = vec![u64::MAX; limbs];
    full[limbs - 1] = u64::MAX >> (64 * limbs - most);
    let mut empty = vec![0; limbs];
    empty[limbs - 1] = 1 << (most - 1 - 64 * (limbs - 1));
    empty[0] |= 1;
    all.extend([full, empty, vec![3], vec![u64::MAX; limbs - 1]]);
    all
}

/// a² b^(−2l) mod N by another way than the chain's: through the ring.
fn expected(ring: &Ring, l: usize, digits: &[u64]) -> Vec<u64> {
    let mut a = vec![0; ring.len()];
    // Horner over the bits: a = 2·a + bit.
    let one = ring.leave(ring.one());
    for i in (0..64 * digits.len()).rev() {
        ring.double(&mut a);
        if digits[i / 64] >> (i % 64) & 1 == 1 {
            let sum = add(&a, &one, ring.modulus());
            a = sum;
        }
    }
    let a = ring.enter(&a);
    let factor = ring.enter(&inverse_power_of_two(ring, 2 * BLOCK_BITS * l));
    ring.leave(&ring.mul(&ring.mul(&a, &a), &factor))
}

fn add(a: &[u64], b: &[u64], n: &[u64]) -> Vec<u64> {
    let mut carry = 0u128;
    let sum: Vec<u64> = a
        .iter()
        .zip(b)
        .map(|(&a, &b)| {
            let sum = u128::from(a) + u128::from(b) + carry;
            carry = sum >> 64;
            sum as u64
        })
        .collect();
    let mut out = vec![0; n.len()];
    portable::subtract_once(&mut out, &sum, n, carry as u64);
    out
}

fn scale() -> u64 {
    if std::env::var_os("TETRALITH_SLOW").is_some() { 10 } else { 1 }
}

#[test]
fn classes() {
    assert_eq!(blocks(2048), Some(5));
    assert_eq!(blocks(2070), Some(5));
    assert_eq!(blocks(2071), Some(8));
    assert_eq!(blocks(4096), Some(10));
    assert_eq!(blocks(4151), None);
}

#[test]
fn chains_match_the_portable_ring() {
    if !has(Family::Avx512) {
        return;
    }
    let mut words = Words(1);
    for v in [3, 5, 8, 10] {
        for n in moduli(&mut words, v) {
            let ring = Ring::new(&n).unwrap();
            let mut chain = Chain::of_blocks(&ring, v);
            let mut portable = Squarer::with_kernel(Kernel::Portable, &n).unwrap();
            let mut start = words.modulus(64 * ring.len());
            start = ring.leave(&ring.mul(&start, ring.one()));
            chain.set(&start);
            portable.set(&start);
            assert_eq!(chain.value(ring.len()), start);
            for count in [0, 1, 2, 3, 7, 100 * scale()] {
                chain.square(count);
                portable.square(count);
                assert_eq!(chain.value(ring.len()), portable.value(), "{v} {n:x?} {count}");
                if words.next() & 1 == 0 {
                    chain.square_exactly();
                    portable.square(1);
                }
            }
        }
    }
}

#[test]
fn ten_thousand_squarings_at_2048_bits() {
    if !has(Family::Avx512) {
        return;
    }
    let mut words = Words(2);
    for bits in [2048, 2070, 2070, 2079, 2080] {
        let n = words.modulus(bits);
        let ring = Ring::new(&n).unwrap();
        let mut chain = Chain::of_blocks(&ring, 5);
        let mut portable = Squarer::with_kernel(Kernel::Portable, &n).unwrap();
        let start = words.modulus(bits - 1);
        chain.set(&start);
        portable.set(&start);
        let mut left = 10_000 * scale();
        while left > 0 {
            let count = (1 + words.next() % 97).min(left);
            chain.square(count);
            portable.square(count);
            assert_eq!(chain.value(ring.len()), portable.value(), "{bits}");
            left -= count;
        }
        // A modulus that fills the last digit leaves it no room: guesses must fail, and be mended.
        assert!(bits < 2070 || chain.redone > 0, "{bits}: {}", chain.redone);
    }
}

/// Numbers whose digits are at their extremes, which no chain would meet: right, or noticed.
#[test]
fn crafted_digits_are_right_or_noticed() {
    if !has(Family::Avx512) {
        return;
    }
    let mut words = Words(3);
    let mut noticed = 0;
    for v in [3, 5, 8, 10] {
        for n in moduli(&mut words, v) {
            let ring = Ring::new(&n).unwrap();
            let mut chain = Chain::of_blocks(&ring, v);
            for round in 0..40 * scale() {
                let line = chain.memory.workspaces[chain.current];
                for i in 0..8 * v {
                    let digit = match words.next() % (2 + round % 5) {
                        0 => DIGIT,
                        1 => 0,
                        2 => 1,
                        3 => DIGIT - 1,
                        _ => words.next() & DIGIT,
                    };
                    chain.memory.lines[line + i / 8].0[i % 8] = digit;
                }
                let before = chain.number();
                if chain.run(1) == 1 {
                    noticed += 1;
                    assert_eq!(chain.number(), before, "a squaring that does not count leaves A");
                    chain.square_exactly();
                }
                let mut got = chain.value(ring.len());
                // value() takes b^(2l) away; the expected number still has it.
                got = ring.leave(&ring.mul(
                    &ring.enter(&got),
                    &ring.enter(&power_of_two(&ring, 2 * BLOCK_BITS * chain.l)),
                ));
                assert_eq!(got, expected(&ring, chain.l, &before), "{v} {n:x?} {before:x?}");
            }
        }
    }
    assert!(noticed > 0, "no crafted number made a guess fail");
}

/// Digits that make a carry ripple: the guess fails, and is noticed.
#[test]
fn a_ripple_is_noticed() {
    if !has(Family::Avx512) {
        return;
    }
    // A = 2^52 − 1 modulo a large N: A² = (2^52 − 2)·2^52 + 1 has no ripple. A = b^v − 1 has.
    let n = Words(4).modulus(2048);
    let ring = Ring::new(&n).unwrap();
    let mut chain = Chain::of_blocks(&ring, 5);
    let line = chain.memory.workspaces[chain.current];
    chain.memory.lines[line..line + 5].fill(Line([DIGIT; 8]));
    let before = chain.number();
    chain.square(1);
    let got = chain.number();
    assert_eq!(chain.redone, 1);
    assert_eq!(got, {
        let mut want = expected(&ring, chain.l, &before);
        want.resize(got.len(), 0);
        want
    });
}
