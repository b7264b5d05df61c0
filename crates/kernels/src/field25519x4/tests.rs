use super::*;
use crate::field25519::tests::samples;
use subtle::ConstantTimeEq;

fn has_avx2() -> bool {
    crate::cpu::has(crate::cpu::Family::Avx2)
}

/// The element that limbs stand for, by the portable code.
fn value(limbs: &[f64; 5]) -> Fe {
    let mut sum = Fe::ZERO;
    for (i, &limb) in limbs.iter().enumerate() {
        let mut one = Fe::ZERO;
        one.0[i] = limb.abs() as u64;
        sum = if limb < 0.0 { sum.sub(&one) } else { sum.add(&one) };
    }
    sum
}

#[target_feature(enable = "avx2")]
fn from_limbs(limbs: &[[f64; 5]; 4]) -> Fe4 {
    let mut r = [splat(0.0); 5];
    for i in 0..5 {
        r[i] = _mm256_setr_pd(limbs[0][i], limbs[1][i], limbs[2][i], limbs[3][i]);
    }
    Fe4(r)
}

fn same(got: [Fe; 4], expected: [Fe; 4], what: &str) {
    for (got, expected) in got.iter().zip(&expected) {
        assert_eq!(got.to_bytes(), expected.to_bytes(), "{what}");
    }
}

/// Limbs at most n: all at the bound with every choice of signs, single ones, and mixed ones.
fn extremes(n: f64) -> Vec<[f64; 5]> {
    let most = n * TIGHT;
    let mut all = vec![[0.0; 5]];
    for signs in 0..32u32 {
        let sign = |i: usize| if signs >> i & 1 == 1 { -1.0 } else { 1.0 };
        all.push(core::array::from_fn(|i| sign(i) * most));
        all.push(core::array::from_fn(|i| sign(i) * (most - (1u64 << (7 * i)) as f64)));
        all.push(core::array::from_fn(|i| {
            if signs as usize % 5 == i { sign(i) * most } else { sign(i) }
        }));
    }
    all
}

#[target_feature(enable = "avx2,fma")]
fn products_agree(f: &[[f64; 5]], g: &[[f64; 5]]) {
    for i in 0..f.len() {
        for j in (0..g.len()).step_by(4) {
            let (a, b) = ([0, 7, 13, 1], [0, 1, 2, 3]);
            let a = a.map(|lane| f[(i + lane) % f.len()]);
            let b = b.map(|lane| g[(j + lane) % g.len()]);
            let (va, vb) = (from_limbs(&a), from_limbs(&b));
            let expected = core::array::from_fn(|l| value(&a[l]).mul(&value(&b[l])));
            same(va.mul(&vb).to_lanes(), expected, "product");
            same(vb.mul(&va).to_lanes(), expected, "product");
        }
    }
}

#[test]
fn products_at_the_bounds_agree_with_portable() {
    if !has_avx2() {
        return;
    }
    for (m, n) in [(1.0, 1.0), (1.0, 2.0), (3.0, 1.0), (1.5, 2.0)] {
        // SAFETY: the CPU has AVX2 and FMA.
        unsafe { products_agree(&extremes(m), &extremes(n)) };
    }
}

#[target_feature(enable = "avx2,fma")]
fn squares_agree(f: &[[f64; 5]]) {
    for i in 0..f.len() {
        let a = [0, 1, 2, 3].map(|lane| f[(i + lane) % f.len()]);
        let (va, expected) = (from_limbs(&a), a.map(|limbs| value(&limbs).square()));
        same(va.square().to_lanes(), expected, "square");
        same(va.to_lanes(), a.map(|limbs| value(&limbs)), "lanes");
        same(va.wide().carry().to_lanes(), a.map(|limbs| value(&limbs)), "carry");
    }
}

#[test]
fn squares_at_the_bounds_agree_with_portable() {
    if has_avx2() {
        // SAFETY: the CPU has AVX2 and FMA.
        unsafe { squares_agree(&extremes(1.0)) };
    }
}

/// The widest columns that a carry takes, and sums of them.
#[target_feature(enable = "avx2")]
fn carries_agree() {
    let most = (1i64 << 61) - 1;
    for signs in 0..32 {
        for less in [0, 1, (1 << 51) - 1, 1 << 50, (1 << 50) + 1] {
            let mut z = Wide::zero();
            let mut expected = Fe::ZERO;
            for i in 0..5 {
                let column = if signs >> i & 1 == 1 { less - most } else { most - less };
                z.0[i] = _mm256_set1_epi64x(column);
                let mut one = Fe::ZERO;
                one.0[i] = column.unsigned_abs() & MASK51;
                let mut high = Fe::ZERO;
                high.0[(i + 1) % 5] = (column.unsigned_abs() >> 51) * if i == 4 { 19 } else { 1 };
                let one = one.add(&high);
                expected = if column < 0 { expected.sub(&one) } else { expected.add(&one) };
            }
            same(z.carry().to_lanes(), [expected; 4], "carry");
        }
    }
}

#[test]
fn carries_of_the_widest_columns_agree_with_portable() {
    if has_avx2() {
        // SAFETY: the CPU has AVX2.
        unsafe { carries_agree() };
    }
}

#[target_feature(enable = "avx2,fma")]
fn sums_agree(all: &[Fe]) {
    for i in 0..all.len() {
        let a = [0, 1, 2, 3].map(|lane| all[(i + lane) % all.len()]);
        let b = [0, 1, 2, 3].map(|lane| all[(7 * i + lane) % all.len()]);
        let (va, vb) = (Fe4::from_lanes(&a), Fe4::from_lanes(&b));
        let of = |op: fn(&Fe, &Fe) -> Fe| core::array::from_fn(|l| op(&a[l], &b[l]));
        let one = Fe4::splat(&Fe::ONE);
        same(va.add(&vb).mul(&one).to_lanes(), of(Fe::add), "sum");
        same(va.sub(&vb).mul(&one).to_lanes(), of(Fe::sub), "difference");
        same(va.wide().add(&vb.wide()).carry().to_lanes(), of(Fe::add), "wide sum");
        same(va.wide().sub(&vb.wide()).carry().to_lanes(), of(Fe::sub), "wide difference");
        let mask = _mm256_castsi256_pd(_mm256_setr_epi64x(0, -1, -1, 0));
        let negated = [a[0], a[1].neg(), a[2].neg(), a[3]];
        same(va.negate_where(mask).to_lanes(), negated, "negative");
        same(va.or_where(mask, &vb).to_lanes(), [a[0], b[1], b[2], a[3]], "choice");
        same(pow_p58(&[va])[0].to_lanes(), a.map(|a| a.pow_p58()), "power");
        let balanced = value(&balanced(&a[0].0));
        assert!(bool::from(balanced.ct_eq(&a[0])), "balanced limbs");
    }
}

#[test]
fn sums_and_powers_agree_with_portable() {
    if has_avx2() {
        let all: Vec<Fe> = samples().iter().map(Fe::from_bytes).collect();
        // SAFETY: the CPU has AVX2 and FMA.
        unsafe { sums_agree(&all) };
    }
}

#[test]
fn bounds_are_held_in_debug_builds() {
    if !has_avx2() || !cfg!(debug_assertions) {
        return;
    }
    let too_large = std::panic::catch_unwind(|| {
        // SAFETY: the CPU has AVX2 and FMA.
        unsafe { products_agree(&extremes(2.0), &extremes(2.0)) }
    });
    assert!(too_large.is_err(), "factors of numbers 2 and 2");
}
