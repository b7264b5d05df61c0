//! Against the portable ring; `TETRALITH_SLOW=1` runs ten times as many squarings.

use super::*;
use crate::cpu::{Family, has};
use crate::mont::exact::inverse_vartime;
use crate::mont::fast::Engine;
use crate::mont::powers::{Eights, MARK, Steps};
use crate::mont::test_moduli::{Words, reduced};
use crate::mont::{FastRing, Kernel, Squarer};
use memory::DIGIT;

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

/// a·c·b^−(l+m) mod N by another way than the kernel's: through the ring. Limbs of any size.
fn expected(ring: &Ring, v: usize, a: &[u64], c: &[u64]) -> Vec<u64> {
    let (a, c) = (ring.enter(&reduced(ring, a)), ring.enter(&reduced(ring, c)));
    let factor = ring.enter(&ring.inverse_power_of_two(shift(v)));
    ring.leave(&ring.mul(&ring.mul(&a, &c), &factor))
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
fn squarings_match_the_portable_ring() {
    if !has(Family::Avx512) {
        return;
    }
    let mut words = Words(1);
    for v in [3, 5, 8, 10] {
        for n in moduli(&mut words, v) {
            let ring = Ring::new(&n).unwrap();
            let mut ifma = Ifma::of_blocks(&ring, v);
            let mut portable = Squarer::with_kernel(Kernel::Portable, &n).unwrap();
            let start = reduced(&ring, &words.modulus(64 * ring.len()));
            let mut a = ifma.enter(&start);
            portable.set(&start);
            for count in [0, 1, 2, 3, 7, 100 * scale()] {
                ifma.square(&mut a, count);
                portable.square(count);
                assert_eq!(ifma.leave(&a, ring.len()), portable.value(), "{v} {n:x?} {count}");
                // The way that wrong guesses go, where the guess was right.
                if words.next() & 1 == 0 {
                    ifma.square_exactly(&mut a);
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
    for bits in [2048, 2070, 2079, 2080] {
        let n = words.modulus(bits);
        let ring = Ring::new(&n).unwrap();
        let mut ifma = Ifma::of_blocks(&ring, 5);
        let mut portable = Squarer::with_kernel(Kernel::Portable, &n).unwrap();
        let start = words.modulus(bits - 1);
        let mut a = ifma.enter(&start);
        portable.set(&start);
        let mut left = 10_000 * scale();
        while left > 0 {
            let count = (1 + words.next() % 97).min(left);
            ifma.square(&mut a, count);
            portable.square(count);
            assert_eq!(ifma.leave(&a, ring.len()), portable.value(), "{bits}");
            left -= count;
        }
        // A modulus that fills the last digit leaves no room in it: guesses must fail, and be mended.
        assert!(bits < 2070 || ifma.redone > 0, "{bits}: {}", ifma.redone);
    }
}

/// Numbers whose digits are at their extremes, which no run would meet: right, or noticed.
#[test]
fn crafted_digits_are_right_or_noticed() {
    if !has(Family::Avx512) {
        return;
    }
    let mut words = Words(3);
    for v in [3, 5, 8, 10] {
        let mut noticed = 0;
        for n in moduli(&mut words, v) {
            let ring = Ring::new(&n).unwrap();
            let mut ifma = Ifma::of_blocks(&ring, v);
            for round in 0..8 * scale() {
                let (a, c) = (crafted(&mut words, v, round), crafted(&mut words, v, round));
                let (mut square, mut product) = (a.clone(), a.clone());
                // SAFETY: nothing is recorded.
                let left = unsafe { ifma.memory.square(&mut square, 1, &mut Record::nothing()) };
                if left == 1 {
                    assert_eq!(square, a, "a squaring that does not count leaves A");
                    noticed += 1;
                    ifma.square_exactly(&mut square);
                }
                ifma.multiply(&mut product, &c);
                let (a, c) = (ifma.limbs(&a), ifma.limbs(&c));
                for (got, c) in [(square, &a), (product, &c)] {
                    let got = reduced(&ring, &ifma.limbs(&got));
                    assert_eq!(got, expected(&ring, v, &a, c), "{v} {n:x?} {a:x?} {c:x?}");
                }
            }
        }
        assert!(noticed > 0, "no crafted number made a guess fail");
    }
}

fn crafted(words: &mut Words, v: usize, round: u64) -> Vec<u64> {
    let digit = |_| match words.next() % (2 + round % 5) {
        0 => DIGIT,
        1 => 0,
        2 => 1,
        3 => DIGIT - 1,
        _ => words.next() & DIGIT,
    };
    (0..8 * v).map(digit).collect()
}

/// A run of full digits makes a carry ripple: the guess fails, is noticed, and the rest is right.
#[test]
fn a_ripple_is_noticed() {
    if !has(Family::Avx512) {
        return;
    }
    let ring = Ring::new(&Words(4).modulus(2048)).unwrap();
    let mut ifma = Ifma::of_blocks(&ring, 5);
    let full = vec![DIGIT; 40];
    let mut a = full.clone();
    ifma.square(&mut a, 3);
    assert!(ifma.redone > 0);
    let mut want = full;
    (0..3).for_each(|_| ifma.square_exactly(&mut want));
    assert_eq!(ifma.leave(&a, 32), ifma.leave(&want, 32));
}

#[test]
fn powers_agree_on_all_kernels() {
    let mut words = Words(5);
    for bits in [64, 500, 1024, 2048, 2070, 3072, 4096] {
        let ring = Ring::new(&words.modulus(bits)).unwrap();
        let base: Vec<Vec<u64>> = (0..2).map(|_| reduced(&ring, &words.modulus(bits))).collect();
        let exponents: [Vec<u64>; 3] = [words.modulus(256), words.modulus(77), vec![0, 0]];
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.fits(bits)) {
            let mut fast = FastRing::with_kernel(kernel, &ring).unwrap();
            let entered: Vec<Vec<u64>> = base.iter().map(|a| fast.enter(a)).collect();
            for (e, f) in [(0, 1), (1, 0), (2, 0), (2, 2)] {
                let got = fast.multi_pow_vartime(&[
                    (&entered[0], &exponents[e]),
                    (&entered[1], &exponents[f]),
                ]);
                let want = ring.mul(
                    &ring.pow(&ring.enter(&base[0]), &exponents[e]),
                    &ring.pow(&ring.enter(&base[1]), &exponents[f]),
                );
                assert_eq!(fast.leave(&got), ring.leave(&want), "{bits} {kernel:?}");
            }
            for exponent in &exponents {
                let want = ring.pow(&ring.enter(&base[0]), exponent);
                let got = fast.pow(&entered[0], exponent);
                assert_eq!(fast.leave(&got), ring.leave(&want), "{bits} {kernel:?}");
            }
            fast.zeroize();
        }
    }
}

/// Values recorded while squaring are those of the chain, also where a squaring is done again.
#[test]
fn recorded_values_are_those_of_the_chain() {
    let mut words = Words(9);
    for bits in [64, 1000, 1238, 2048, 2070, 3318, 4150] {
        let ring = Ring::new(&words.modulus(bits)).unwrap();
        let start = reduced(&ring, &words.modulus(bits));
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.fits(bits)) {
            let mut fast = FastRing::with_kernel(kernel, &ring).unwrap();
            for (count, every) in [(0, 1), (5, 7), (7, 7), (3000, 1), (999, 2), (1000, 13)] {
                let mut table = Elements::new(&fast, 0);
                let (mut a, mut b) = (fast.enter(&start), fast.enter(&start));
                fast.square_recording(&mut a, count, every, &mut table);
                assert_eq!(table.len() as u64, count / every);
                for i in 0..table.len() {
                    fast.square_assign(&mut b, every);
                    assert_eq!(fast.leave(table.value(i)), fast.leave(&b), "{bits} {kernel:?} {i}");
                }
                fast.square_assign(&mut b, count % every);
                assert_eq!(fast.leave(&a), fast.leave(&b));
            }
            // At the limit of a class guesses fail, and are mended on the way.
            if let Engine::Ifma(ifma) = &fast.engine {
                assert!(bits != 2070 || ifma.redone > 1, "{}", ifma.redone);
            }
        }
    }
}

/// Numbers in all lanes, ordinary and crafted: right, also where a guess had to be mended.
#[test]
fn products_in_lanes_match_the_portable_ring() {
    if !has(Family::Avx512) {
        return;
    }
    let mut words = Words(13);
    for v in [3, 5, 8, 10] {
        let (mut redone, mut tested) = (0, 0);
        // Some of these numbers, and of those that follow them, are prime to what products divide by.
        let near =
            |n: Vec<u64>| (0..8).map(move |i| [&[n[0].wrapping_add(2 * i)], &n[1..]].concat());
        for n in moduli(&mut words, v).into_iter().flat_map(near) {
            let ring = Ring::new(&n).unwrap();
            let ifma = Ifma::of_blocks(&ring, v);
            let Some(mut lanes) = ifma.lanes(&ring) else { continue };
            tested += 1;
            let divisor = reduced(&ring, &ifma.limbs(&vec![DIGIT; 8 * v]));
            let factor = ring.enter(&inverse_vartime(&ring, &divisor).unwrap());
            for round in 0..5 * scale() {
                let mut number = |lane: u64| match (round, lane) {
                    (0, _) => vec![DIGIT; 8 * v],
                    (1, 0..4) => vec![0; 8 * v],
                    (2, _) => ifma.enter(&reduced(&ring, &words.modulus(64 * ring.len()))),
                    _ => crafted(&mut words, v, round + lane),
                };
                let [a, b]: [Vec<Vec<u64>>; 2] =
                    [(); 2].map(|()| (0..8).map(&mut number).collect());
                put(&mut lanes.runs, &a);
                put(&mut lanes.factors, &b);
                lanes.multiply();
                for lane in 0..8 {
                    let digits: Vec<u64> = lanes.out.0.iter().map(|row| row.0[lane]).collect();
                    let [a, b] =
                        [&a[lane], &b[lane]].map(|a| ring.enter(&reduced(&ring, &ifma.limbs(a))));
                    let want = ring.leave(&ring.mul(&ring.mul(&a, &b), &factor));
                    let got = reduced(&ring, &ifma.limbs(&digits));
                    assert_eq!(got, want, "{v} {n:x?} {round} {lane}");
                }
            }
            redone += lanes.redone;
        }
        assert!(redone > 0, "no crafted number made a guess fail");
        assert!(tested > 20, "{tested} moduli had lanes");
    }
}

fn put(eight: &mut lanes::Eight, numbers: &[Vec<u64>]) {
    for (lane, number) in numbers.iter().enumerate() {
        eight.0.iter_mut().zip(number).for_each(|(row, &digit)| row.0[lane] = digit);
    }
}

/// Elements go where they should, and come back.
#[test]
fn steps_in_lanes() {
    let mut words = Words(14);
    for bits in [1000, 2048, 3000, 4000] {
        let ring = Ring::new(&words.rough_modulus(bits)).unwrap();
        // None on CPUs that have no IFMA, or must not use it.
        let Some(ifma) = Ifma::new(&ring, bits) else { return };
        let mut fast = FastRing::with_kernel(Kernel::Ifma, &ring).unwrap();
        let element = |words: &mut Words| fast.enter(&reduced(&ring, &words.modulus(bits)));
        let elements: Vec<Vec<u64>> = (0..24).map(|_| element(&mut words)).collect();
        let mut values = Elements::new(&fast, 24);
        elements.iter().for_each(|element| values.push(element));
        let mut lanes = ifma.lanes(&ring).unwrap();
        // Runs of both parities of the lanes are kept, eight in all, and of the last step one.
        for step in 0..3 {
            let marked = |lane: usize| lane % 2 == step || (step, lane) == (2, 5);
            let value = |lane: usize| 8 * step as u32 + lane as u32;
            let mark = |lane| value(lane) | if marked(lane) { MARK } else { 0 };
            lanes.take(&values, Steps::new(&[core::array::from_fn(mark)]));
        }
        let mut table = Elements::new(&fast, 16);
        let [g, _] = lanes.factors().clone();
        lanes.finish(&mut table);
        // In lanes a product is g times smaller: a run is of three factors, those kept of as many as steps.
        for lane in 0..8 {
            let mut run = fast.one();
            let mut kept = fast.one();
            for step in 0..3 {
                fast.mul_assign(&mut run, &elements[8 * step + lane]);
                if lane % 2 == step {
                    kept.clone_from(&run);
                }
            }
            let mut got = table.value(lane).to_vec();
            (0..2).for_each(|_| fast.mul_assign(&mut got, &g));
            assert_eq!(fast.leave(&got), fast.leave(&run), "{bits} {lane}");
            // The even lanes come first, then the odd ones; the first has the one of the last step, too.
            let at = 8 + lane / 2 + 4 * (lane % 2);
            let mut sum = table.value(at).to_vec();
            (0..lane % 2).for_each(|_| fast.mul_assign(&mut sum, &g));
            if at == 8 {
                let mut last = elements[5].clone();
                [13, 21].iter().for_each(|&i| fast.mul_assign(&mut last, &elements[i]));
                fast.mul_assign(&mut kept, &last);
                (0..3).for_each(|_| fast.mul_assign(&mut sum, &g));
            }
            assert_eq!(fast.leave(&sum), fast.leave(&kept), "{bits} {lane}");
        }
    }
}
