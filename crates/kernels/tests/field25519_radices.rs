//! Holds the two radices of the field mod 2^255 - 19 against each other, with limbs at their bounds.
//!
//! It needs nothing from a system: `.ci/cross` runs it on aarch64 and WebAssembly too.

use tetralith_kernels::field25519::{narrow, wide};

/// Elements with the limbs that carry furthest, and pseudo-random ones, tight and loose.
fn elements() -> Vec<[u64; 5]> {
    let loose = (1u64 << 54) - 1;
    let mut all = vec![[0; 5], [1, 0, 0, 0, 0], [loose; 5], [(1 << 51) - 1; 5], [(1 << 52) - 1; 5]];
    for i in 0..5 {
        for limb in [loose, (1 << 26) - 1, 1 << 26, 1 << 51, loose - ((1 << 26) - 1)] {
            let mut one = [0; 5];
            one[i] = limb;
            all.push(one);
            let mut but_one = [loose; 5];
            but_one[i] = limb;
            all.push(but_one);
        }
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for round in 0..200 {
        all.push(core::array::from_fn(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> (10 + round % 4)
        }));
    }
    all
}

/// The value in 0..p of limbs below 2^52, by subtraction.
fn value(limbs: [u64; 5]) -> [u64; 5] {
    assert!(limbs.iter().all(|&limb| limb < 1 << 52), "not tight: {limbs:?}");
    let mask = (1 << 51) - 1;
    let mut t = limbs;
    for _ in 0..3 {
        for i in 0..4 {
            t[i + 1] += t[i] >> 51;
            t[i] &= mask;
        }
        t[0] += 19 * (t[4] >> 51);
        t[4] &= mask;
    }
    let p_and_more = t[1..].iter().all(|&limb| limb == mask) && t[0] >= mask - 18;
    if p_and_more { [t[0] - (mask - 18), 0, 0, 0, 0] } else { t }
}

#[test]
fn both_radices_give_the_same_products() {
    let all = elements();
    for a in &all {
        assert_eq!(value(narrow::square(a)), value(wide::square(a)), "{a:?}");
        for b in &all {
            assert_eq!(value(narrow::mul(a, b)), value(wide::mul(a, b)), "{a:?} {b:?}");
        }
    }
}

#[test]
fn squares_are_products() {
    for a in &elements() {
        assert_eq!(value(narrow::square(a)), value(narrow::mul(a, a)), "{a:?}");
    }
}
