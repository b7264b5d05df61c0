//! Against the portable ring.

use super::*;
use crate::cpu::{Family, has};
use crate::mont::test_moduli::{Words, reduced};
use crate::mont::{Kernel, Squarer};

/// Of the length at which a class ends, and shorter: any, every bit set, only the first and the last.
fn moduli(words: &mut Words, v: usize) -> Vec<Vec<u64>> {
    let most = BLOCK_BITS * v - 4;
    let mut all = [most, most - 1, most - 22, most - 100, most / 2, 64, 2]
        .map(|bits| words.modulus(bits))
        .to_vec();
    let limbs = most.div_ceil(64);
    let mut full = vec![u64::MAX; limbs];
    full[limbs - 1] >>= 64 * limbs - most;
    let mut empty = vec![0; limbs];
    empty[limbs - 1] = 1 << (most - 1 - 64 * (limbs - 1));
    empty[0] |= 1;
    all.extend([full, empty]);
    all
}

#[test]
fn matches_the_portable_ring() {
    if !has(Family::Avx2) {
        return;
    }
    assert!(rounds_down());
    let mut words = Words(6);
    for v in [2, 3, 4, 5, 6, 9, 10, 15, 20, 31] {
        for n in moduli(&mut words, v) {
            let ring = Ring::new(&n).unwrap();
            let mut fma = Fma::prepared(&ring);
            let mut portable = Squarer::with_kernel(Kernel::Portable, &n).unwrap();
            let start = reduced(&ring, &words.modulus(64 * n.len() + 7));
            portable.set(&start);
            let mut a = fma.enter(&start);
            for count in [0, 1, 2, 50] {
                fma.square(&mut a, count);
                portable.square(count);
                assert_eq!(fma.leave(&a, n.len()), portable.value(), "{v} {count} {n:x?}");
            }
            let b = fma.enter(&start);
            fma.multiply(&mut a, &b);
            let want = ring.mul(&ring.enter(&portable.value()), &ring.enter(&start));
            assert_eq!(fma.leave(&a, n.len()), ring.leave(&want), "{v} {n:x?}");
        }
    }
}

/// Elements that only carries make, digits of the greatest size and of either sign: they are far above
/// N, as those of a multiple of N may be.
#[test]
fn crafted_digits() {
    if !has(Family::Avx2) {
        return;
    }
    let mut words = Words(7);
    let extremes = [MOST, -MOST, LOW / 2.0, -LOW / 2.0, LOW / 2.0 - 1.0, 0.0, 1.0, -1.0];
    for v in [2, 3, 5, 10, 20, MOST_BLOCKS] {
        let many = if v == MOST_BLOCKS { 2 } else { 60 };
        for n in moduli(&mut words, v).into_iter().filter(|n| n.len() > 3 * (v - 1)).take(many) {
            let ring = Ring::new(&n).unwrap();
            let mut fma = Fma::prepared(&ring);
            for round in 0..many {
                let mut element = || -> Vec<u64> {
                    let mut digits: Vec<u64> = (0..4 * v)
                        .map(|_| match round {
                            0..8 => extremes[round].to_bits(),
                            _ => extremes[words.next() as usize % 8].to_bits(),
                        })
                        .collect();
                    let top = f64::from_bits(digits[4 * v - 1]).clamp(-LOW / 17.0, LOW / 17.0);
                    digits[4 * v - 1] = top.trunc().to_bits();
                    digits
                };
                let (mut a, b) = (element(), element());
                let plain = [&a, &b].map(|digits| ring.enter(&fma.leave(digits, ring.len())));
                let mut square = a.clone();
                fma.square(&mut square, 1);
                assert_eq!(
                    fma.leave(&square, n.len()),
                    ring.leave(&ring.mul(&plain[0], &plain[0]))
                );
                fma.multiply(&mut a, &b);
                assert_eq!(fma.leave(&a, n.len()), ring.leave(&ring.mul(&plain[0], &plain[1])));
            }
        }
    }
}

/// The greatest columns, and the most negative: all products of digits have one sign, and their low
/// halves are all ones or nothing.
#[test]
fn crafted_columns() {
    if !has(Family::Avx2) {
        return;
    }
    let half = LOW / 2.0;
    let mut words = Words(8);
    for v in [20, MOST_BLOCKS] {
        let full = moduli(&mut words, v).swap_remove(7);
        let ring = Ring::new(&full).unwrap();
        let mut fma = Fma::prepared(&ring);
        for [a, b] in [[half, -half], [half - 1.0, half + 1.0], [MOST, MOST], [-MOST, MOST]] {
            let element = |digit: f64| -> Vec<u64> {
                let top = digit.clamp(-LOW / 17.0, LOW / 17.0).trunc();
                (1..4 * v).map(|_| digit).chain([top]).map(f64::to_bits).collect()
            };
            let (mut a, b) = (element(a), element(b));
            let plain = [&a, &b].map(|digits| ring.enter(&fma.leave(digits, ring.len())));
            fma.multiply(&mut a, &b);
            let want = ring.leave(&ring.mul(&plain[0], &plain[1]));
            assert_eq!(fma.leave(&a, full.len()), want, "{v}");
        }
    }
}

#[test]
fn classes_end_where_they_should() {
    for v in 3..MOST_BLOCKS {
        assert_eq!((blocks(208 * v - 4), blocks(208 * v - 3)), (v, v + 1));
    }
}

/// The rounding mode of whoever calls does not matter, and is his again.
#[test]
fn the_callers_mode_stays() {
    if !has(Family::Avx2) {
        return;
    }
    let set = |mode: u32| {
        // SAFETY: MXCSR is loaded from a local; every exception is masked in each mode below.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &mode, options(nostack, readonly)) }
    };
    let get = || {
        let mut mode = 0u32;
        // SAFETY: MXCSR is stored to a local.
        unsafe { asm!("stmxcsr [{}]", in(reg) &mut mode, options(nostack)) };
        mode
    };
    let n = Words(9).modulus(2048);
    let ring = Ring::new(&n).unwrap();
    let mut fma = Fma::prepared(&ring);
    let start = fma.enter(&reduced(&ring, &Words(10).modulus(2047)));
    let mut want = start.clone();
    fma.square(&mut want, 3);
    let usual = get();
    // To nearest, up, towards zero; with what is denormal taken for zero.
    for mode in [0x1f80, 0x5f80, 0x7f80, 0xffc0] {
        let mut a = start.clone();
        set(mode);
        fma.square(&mut a, 3);
        let after = get();
        set(usual);
        assert_eq!(after, mode);
        assert_eq!(fma.leave(&a, n.len()), fma.leave(&want, n.len()), "{mode:x}");
    }
}

#[test]
fn nothing_is_left_of_a_wiped_modulus() {
    if !has(Family::Avx2) {
        return;
    }
    let mut words = Words(11);
    let ring = Ring::new(&words.modulus(1024)).unwrap();
    let mut fma = Fma::prepared(&ring);
    let mut a = fma.enter(&reduced(&ring, &words.modulus(1023)));
    let b = a.clone();
    fma.square(&mut a, 3);
    fma.multiply(&mut a, &b);
    let blocks = fma.memory.len();
    fma.zeroize();
    assert_eq!(fma.memory.len(), blocks);
    assert!(fma.memory.iter().all(|block| block.0 == [0; 4]));
    assert!(fma.lift.is_empty() && fma.exact.is_wiped());
}
