//! Wrong guesses in lanes, one at a time: numbers all of whose digits are random but for those that make
//! one sum of halves, somewhere in a product, a full digit to which a carry comes from below.
//!
//! A product that does not notice is wrong, and nothing else in it would have been noticed.

use super::super::Ifma;
use super::*;
use crate::cpu::{Family, has};
use crate::mont::test_moduli::{Words, reduced};

/// What is done with the modulus of a class, and numbers modulo it.
struct Case {
    v: usize,
    ring: Ring,
    ifma: Ifma,
    words: Words,
}

/// Two factors.
type Pair = [Vec<u64>; 2];

/// Calls for moduli of each class, of so many bits less than fit.
fn of_moduli(less: &[usize], mut test: impl FnMut(&mut Case)) {
    if !has(Family::Avx512) {
        return;
    }
    let mut words = Words(31);
    for v in [3, 5, 8, 10] {
        for less in less {
            let ring = Ring::new(&words.modulus(BLOCK_BITS * v - 10 - less)).unwrap();
            let ifma = Ifma::of_blocks(&ring, v);
            test(&mut Case { v, ring, ifma, words: Words(words.next()) });
        }
    }
}

impl Case {
    fn random(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.words.next() & DIGIT).collect()
    }

    /// Random digits, with one of those that are wanted: see [`Sum`].
    fn digits(&mut self, count: usize, sum: Option<Sum>) -> Vec<u64> {
        let mut digits = self.random(count);
        let Some(Sum { base, halves }) = sum else { return digits };
        let strides = halves.iter().map(|half| half * self.v);
        let places = strides.clone().fold(vec![base * self.v], |places, stride| {
            places.iter().flat_map(|&place| [place, place + stride]).collect()
        });
        let least = strides.min().expect("a sum is of halves");
        let i = 1 + self.words.next() as usize % (least - 1);
        let (&last, others) = places.split_last().expect("there is a place");
        let part = (DIGIT + 1) / places.len() as u64;
        let mut rest = DIGIT;
        for place in others {
            digits[place + i] = self.words.next() % part;
            rest -= digits[place + i];
        }
        digits[last + i] = rest;
        // Together a digit and less than two: a carry.
        for place in places {
            digits[place + i - 1] = part + self.words.next() % part;
        }
        digits
    }

    /// Multiplies pairs, all of which must come out right; returns how many had to be repeated.
    fn multiply(&mut self, pairs: &[Pair]) -> u64 {
        let (v, ring, ifma) = (self.v, &self.ring, &self.ifma);
        let factor = ring.enter(&ring.inverse_power_of_two(BLOCK_BITS * v));
        let mut lanes = ifma.lanes(ring);
        for pairs in pairs.chunks(8) {
            for (lane, [a, b]) in pairs.iter().enumerate() {
                for (eight, number) in [(&mut lanes.runs, a), (&mut lanes.factors, b)] {
                    eight.0.iter_mut().zip(number).for_each(|(row, &digit)| row.0[lane] = digit);
                }
            }
            lanes.multiply();
            for (lane, pair) in pairs.iter().enumerate() {
                let digits: Vec<u64> = lanes.out.0.iter().map(|row| row.0[lane]).collect();
                let [a, b] = pair.each_ref().map(|a| ring.enter(&reduced(ring, &ifma.limbs(a))));
                let want = ring.leave(&ring.mul(&ring.mul(&a, &b), &factor));
                assert_eq!(reduced(ring, &ifma.limbs(&digits)), want, "{v} {pair:x?}");
            }
        }
        lanes.redone
    }

    /// Two factors for which the product has this Low and this P, of half a number's digits each.
    fn factors_for(&mut self, low: &[u64], p: &[u64]) -> Pair {
        let (count, half) = (8 * self.v, 4 * self.v);
        let mut b = self.random(count);
        b[0] |= 1;
        // T = Low + X·(P − Low·C), and A = T/B, modulo X².
        let mut fold = vec![0; count];
        to_digits(&mut fold, &self.ring.inverse_power_of_two(BLOCK_BITS * self.v / 2));
        let high = difference(p, &product_of(low, &fold, half));
        let a = product_of(&[low, &high].concat(), &inverse(&b, count), count);
        [a, b]
    }
}

/// The sum of a number's parts, halved again and again, from a multiple `base` of half a block on; the distances
/// of these halves are multiples of it too.
#[derive(Clone, Copy)]
struct Sum {
    base: usize,
    halves: &'static [usize],
}

const fn sum(base: usize, halves: &'static [usize]) -> Option<Sum> {
    Some(Sum { base, halves })
}

/// The lowest digits of a product.
fn product_of(a: &[u64], b: &[u64], count: usize) -> Vec<u64> {
    let mut out = vec![0; count];
    for (i, &a) in a.iter().enumerate().take(count) {
        let mut carry = 0;
        for (out, &b) in out[i..].iter_mut().zip(b) {
            let sum = u128::from(a) * u128::from(b) + u128::from(*out) + carry;
            *out = sum as u64 & DIGIT;
            carry = sum >> 52;
        }
        if let Some(out) = out.get_mut(i + b.len()) {
            *out = carry as u64; // nothing else has come here yet
        }
    }
    out
}

/// a − b modulo a power of the base.
fn difference(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut borrow = 0;
    let digit = |(&a, &b): (&u64, &u64)| {
        let difference = a as i64 - b as i64 - borrow;
        borrow = i64::from(difference < 0);
        difference as u64 & DIGIT
    };
    a.iter().zip(b).map(digit).collect()
}

/// 1/b modulo a power of the base, of an odd b.
fn inverse(b: &[u64], count: usize) -> Vec<u64> {
    let mut two = vec![0; count];
    two[0] = 2;
    let mut inverse = vec![0; count];
    inverse[0] = 1; // right modulo 2, and each step doubles the right bits
    for _ in 0..(52 * count).next_power_of_two().ilog2() {
        let rest = difference(&two, &product_of(b, &inverse, count));
        inverse = product_of(&inverse, &rest, count);
    }
    inverse
}

#[test]
fn random_digits_need_no_second_try() {
    of_moduli(&[1, 30, 200], |case| {
        let pairs: Vec<Pair> = (0..48).map(|_| [(); 2].map(|()| case.random(8 * case.v))).collect();
        assert_eq!(case.multiply(&pairs), 0);
    });
}

/// The sums that are made of both factors, in units of half a block: of the number's halves, those of its
/// halves', and those of blocks.
const OF_FACTORS: [Option<Sum>; 13] = [
    sum(0, &[1]),
    sum(2, &[1]),
    sum(4, &[1]),
    sum(6, &[1]),
    sum(0, &[2]),
    sum(4, &[2]),
    sum(0, &[4]),
    sum(0, &[2, 1]),
    sum(4, &[2, 1]),
    sum(0, &[4, 1]),
    sum(2, &[4, 1]),
    sum(0, &[4, 2]),
    sum(0, &[4, 2, 1]),
];

#[test]
fn each_sum_of_a_factor_may_ripple() {
    of_moduli(&[1, 200], |case| {
        let count = 8 * case.v;
        for sum in OF_FACTORS {
            let left = [case.digits(count, sum), case.random(count)];
            let right = [case.random(count), case.digits(count, sum)];
            assert_eq!(case.multiply(&[left, right]), 2);
        }
    });
}

#[test]
fn what_is_reduced_may_ripple() {
    const SUMS: [Option<Sum>; 4] = [sum(0, &[1]), sum(2, &[1]), sum(0, &[2]), sum(0, &[2, 1])];
    of_moduli(&[1, 200], |case| {
        let half = 4 * case.v;
        let mut modulus = vec![0; 8 * case.v];
        to_digits(&mut modulus, case.ring.modulus());
        let mut redone = 0;
        for sum in SUMS.into_iter().chain([None; 4]) {
            let mut wanted = case.digits(half, sum);
            if sum.is_none() {
                // No column is empty where a carry is to come, or it goes below.
                wanted[1 + case.words.next() as usize % (half - 1)] = 0;
            }
            let other = case.random(half);
            // P = −q·N for this q.
            let for_q = difference(&vec![0; half], &product_of(&wanted, &modulus, half));
            let pairs = [
                case.factors_for(&wanted, &other),
                case.factors_for(&other, &wanted),
                case.factors_for(&other, &for_q),
            ];
            redone += case.multiply(&pairs);
        }
        assert!(redone >= 9, "{redone} of 24 guesses were wrong");
    });
}
