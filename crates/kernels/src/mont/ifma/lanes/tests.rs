//! Wrong guesses in lanes, one at a time: numbers all of whose digits are random but for those that make
//! one sum of halves, somewhere in a product, a full digit to which a carry comes from below.
//!
//! A product that does not notice is wrong, and nothing else in it would have been noticed.

use super::super::Ifma;
use super::*;
use crate::cpu::{Family, has};
use crate::mont::test_moduli::{Words, multiple, reduced};

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
            let ring = Ring::new(&words.rough_modulus(BLOCK_BITS * v - 10 - less)).unwrap();
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
        let one = before(power_of_two(ring, BLOCK_BITS * v)).unwrap();
        let factor = ring.enter(&inverse_vartime(ring, &one).unwrap());
        let mut lanes = ifma.lanes(ring).unwrap();
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

    /// T modulo X² − 1 of which the reduction makes this m.
    fn t_for(&self, m: &[u64]) -> Vec<u64> {
        let ring = all_ones(m.len());
        let modulus = ring.enter(&padded(self.ring.modulus(), ring.len()));
        digits_of(&negative(&ring, &ring.mul(&modulus, &reduced(&ring, &limbs(m)))), m.len())
    }

    /// Two factors whose product is this modulo X² − 1.
    fn factors_for(&mut self, t: &[u64]) -> Pair {
        let count = 8 * self.v;
        let ring = all_ones(count);
        loop {
            let b = self.random(count);
            let Some(inverse) = inverse_vartime(&ring, &reduced(&ring, &limbs(&b))) else {
                continue;
            };
            let a = ring.mul(&ring.enter(&inverse), &reduced(&ring, &limbs(t)));
            return [digits_of(&a, count), b];
        }
    }

    /// The number with these remainders modulo Y − 1, Y + 1 and X + 1, modulo X² − 1.
    fn with_remainders(&self, [e, f, n]: [&[u64]; 3]) -> Vec<u64> {
        let count = 8 * self.v;
        let ring = all_ones(count);
        // (Y + 1)·(X + 1) is 4 modulo Y − 1 and 0 modulo the others, (Y − 1)·(X + 1) is −4 modulo Y + 1, and
        // X − 1 is −2 modulo X + 1: shifted by so many digits, added or subtracted, and halved twice or once.
        let [y, x] = [2 * self.v, 4 * self.v];
        let parts: [(&[u64], &[(usize, bool)], usize); 3] = [
            (e, &[(0, true), (y, true), (x, true), (x + y, true)], 2),
            (f, &[(0, true), (y, false), (x, true), (x + y, false)], 2),
            (n, &[(0, true), (x, false)], 1),
        ];
        let mut sum = vec![0; ring.len()];
        for (digits, terms, halvings) in parts {
            let half = ring.enter(&ring.inverse_power_of_two(halvings));
            for &(shift, plus) in terms {
                let mut moved = vec![0; count];
                digits
                    .iter()
                    .enumerate()
                    .for_each(|(i, &digit)| moved[(i + shift) % count] = digit);
                let mut term = ring.mul(&half, &reduced(&ring, &limbs(&moved)));
                if !plus {
                    term = negative(&ring, &term);
                }
                sum = ring_sum(&ring, &sum, &term);
            }
        }
        digits_of(&sum, count)
    }
}

/// The ring modulo X² − 1.
fn all_ones(count: usize) -> Ring {
    Ring::new(&limbs(&vec![DIGIT; count])).unwrap()
}

fn limbs(digits: &[u64]) -> Vec<u64> {
    from_digits(digits, (52 * digits.len()).div_ceil(64))
}

fn digits_of(limbs: &[u64], count: usize) -> Vec<u64> {
    let mut digits = vec![0; count];
    to_digits(&mut digits, limbs);
    digits
}

fn negative(ring: &Ring, a: &[u64]) -> Vec<u64> {
    let mut minus_one = ring.modulus().to_vec();
    minus_one[0] -= 1;
    ring.mul(&ring.enter(&minus_one), a)
}

fn ring_sum(ring: &Ring, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut wide = b.to_vec();
    let mut carry = false;
    for (wide, &a) in wide.iter_mut().zip(a) {
        let (sum, over) = wide.overflowing_add(a);
        let (sum, again) = sum.overflowing_add(u64::from(carry));
        (*wide, carry) = (sum, over | again);
    }
    wide.push(u64::from(carry));
    reduced(ring, &wide)
}

/// The sum of a number's parts, halved again and again, from a multiple `base` of half a block on; the distances
/// of these halves are multiples of it too.
#[derive(Clone, Copy, Debug)]
struct Sum {
    base: usize,
    halves: &'static [usize],
}

const fn sum(base: usize, halves: &'static [usize]) -> Option<Sum> {
    Some(Sum { base, halves })
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

/// What is made of T, and wanted digits of it: e, f, n, and m.
const OF_REMAINDERS: [(usize, Option<Sum>); 12] = [
    (0, sum(0, &[1])),
    (0, None),
    (1, sum(0, &[1])),
    (1, None),
    (2, sum(0, &[1])),
    (2, sum(2, &[1])),
    (2, sum(0, &[2])),
    (2, sum(0, &[2, 1])),
    (2, None),
    (3, sum(0, &[1])),
    (3, sum(6, &[1])),
    (3, None),
];

#[test]
fn what_is_reduced_may_ripple() {
    of_moduli(&[1, 200], |case| {
        let v = case.v;
        for (which, sum) in OF_REMAINDERS {
            let mut pairs = Vec::new();
            // Where columns may be negative, a carry that comes from below may be, too.
            let (count, least) = if sum.is_some() { (4, 4) } else { (16, 1) };
            for _ in 0..count {
                let mut parts = [2 * v, 2 * v, 4 * v, 8 * v].map(|count| case.random(count));
                let mut wanted = case.digits(parts[which].len(), sum);
                if sum.is_none() {
                    // No column is empty where a carry is to come, or it goes below.
                    let last = wanted.len() - 1;
                    wanted[1 + case.words.next() as usize % last] = 0;
                }
                parts[which] = wanted;
                let [e, f, n, m] = &parts;
                let t = if which < 3 { case.with_remainders([e, f, n]) } else { case.t_for(m) };
                pairs.push(case.factors_for(&t));
            }
            let redone = case.multiply(&pairs);
            assert!(redone >= least, "{v} {which} {sum:?}: {redone} of {count} guesses were wrong");
        }
    });
}

#[test]
fn moduli_that_share_a_factor_with_what_is_divided_by_have_no_lanes() {
    if !has(Family::Avx512) {
        return;
    }
    let mut words = Words(33);
    let mut n = words.modulus(2000);
    // 3, 5 and 17 divide 2^16 − 1, and so 2^2080 − 1.
    for small in [3u64, 5, 17] {
        let ring = Ring::new(&multiple(&n, small)).unwrap();
        assert!(Ifma::of_blocks(&ring, 5).lanes(&ring).is_none());
        n[1] ^= 1;
    }
}

#[test]
fn results_that_do_not_fit_are_noticed() {
    // At the limit of a class, with both last digits full, V is above b^v: its last digit tells.
    of_moduli(&[0], |case| {
        let count = 8 * case.v;
        let pairs: Vec<Pair> = (0..16)
            .map(|_| {
                [(); 2].map(|()| {
                    let mut digits = case.random(count);
                    digits[count - 1] = DIGIT;
                    digits
                })
            })
            .collect();
        assert_eq!(case.multiply(&pairs), 16);
    });
}

#[test]
fn the_upper_half_may_ripple() {
    of_moduli(&[1], |case| {
        let count = 8 * case.v;
        let ring = case.ring.clone();
        let one = before(power_of_two(&ring, BLOCK_BITS * case.v)).unwrap();
        let mut pairs = Vec::new();
        for i in 0..32 {
            let mut v = case.random(count);
            // Below N, whose last digit has 41 bits, and above a·b/(b^v − 1).
            v[count - 1] = v[count - 1] >> 13 | 1 << 38;
            let at = if i % 2 == 0 { count / 2 + 1 + i % 8 } else { i % 8 };
            v[at] = 0;
            let v = reduced(&ring, &limbs(&v));
            let b = reduced(&ring, &limbs(&case.random(count)));
            let Some(inverse) = inverse_vartime(&ring, &b) else { continue };
            let a = ring.mul(&ring.enter(&ring.mul(&ring.enter(&v), &one)), &inverse);
            pairs.push([digits_of(&a, count), digits_of(&b, count)]);
        }
        assert!(case.multiply(&pairs) > 0);
    });
}
