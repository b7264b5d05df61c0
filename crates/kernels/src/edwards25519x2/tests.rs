use super::*;
use crate::edwards25519::tests::{points, scalars};

#[test]
fn pairs_agree_with_portable() {
    let (points, scalars) = (points(), scalars());
    for i in 0..scalars.len().max(points.len()) {
        let p = |k: usize| points[(i * k + k) % points.len()];
        let s = |k: usize| &scalars[(i * k + k) % scalars.len()];
        let (pp, qq) = ([p(1), p(3)], [p(5), p(7)]);
        let encode = |points: [Point; 2]| points.map(|p| p.encode());
        let expected = [0, 1].map(|n| pp[n].double_mul_vartime(s(1), &qq[n], s(2)));
        assert_eq!(encode(double_mul_pair_vartime(s(1), &pp, s(2), &qq)), encode(expected), "{i}");
        let expected = [
            pp[0].double_mul_fixed_vartime(s(1), base(), s(2)),
            pp[1].double_mul_vartime(s(1), &qq[0], s(2)),
        ];
        let got = double_mul_base_and_vartime(s(1), &pp, s(2), &qq[0]);
        assert_eq!(encode(got), encode(expected));
        let got = mul_pair(&p(1), s(1), s(3));
        assert_eq!(encode(got), [p(1).mul(s(1)).encode(), p(1).mul(s(3)).encode()]);
        // Extended coordinates are what they should be, T too.
        assert_eq!(
            got[0].double().add(&p(2)).encode(),
            p(1).mul(s(1)).double().add(&p(2)).encode()
        );
        assert_eq!(mul_base(s(1)).encode(), base().mul(s(1)).encode());
    }
}

#[test]
fn encodings_and_roots_agree_with_portable() {
    let points = points();
    for window in points.windows(4) {
        let four: [Point; 4] = core::array::from_fn(|i| window[i].double());
        assert_eq!(encode(&four), four.map(|p| p.encode()));
    }
    let samples = crate::field25519::tests::samples();
    for window in samples.windows(3) {
        let [a, b, c] = [0, 1, 2].map(|i| Fe::from_bytes(&window[i]));
        let ratios = [(a, b), (b, c), (Fe::ONE, a)];
        for ((square, root), (u, v)) in sqrt_ratios(&ratios).into_iter().zip(ratios) {
            let (expected, expected_root) = Fe::sqrt_ratio(&u, &v);
            assert_eq!(square.unwrap_u8(), expected.unwrap_u8());
            assert_eq!(root.to_bytes(), expected_root.to_bytes());
        }
    }
}

/// The kernel of AVX2 itself, also where the CPU has AVX-512 and would take that.
#[cfg(target_arch = "x86_64")]
#[test]
fn pairs_with_avx2_agree_with_portable() {
    if !crate::cpu::has(crate::cpu::Family::Avx2) {
        return;
    }
    let (points, scalars) = (points(), scalars());
    let encode = |points: [Point; 2]| points.map(|p| p.encode());
    for i in 0..scalars.len().max(points.len()) {
        let p = |k: usize| points[(i * k + k) % points.len()];
        let s = |k: usize| &scalars[(i * k + k) % scalars.len()];
        let (pp, qq) = ([p(1), p(3)], [p(5), p(7)]);
        let expected = [0, 1].map(|n| pp[n].double_mul_vartime(s(1), &qq[n], s(2)));
        // SAFETY: the CPU has AVX2 and FMA.
        let got = unsafe { fma::double_mul_pair_vartime(s(1), &pp, s(2), &qq) };
        assert_eq!(encode(got), encode(expected), "{i}");
        let expected = [p(1).mul(s(1)), p(1).mul(s(3))];
        // SAFETY: as above.
        let got = unsafe { fma::mul_pair(&p(1), s(1), s(3)) };
        assert_eq!(encode(got), encode(expected), "{i}");
        // Extended coordinates are what they should be, T too.
        let sums = [got, expected].map(|pair| pair.map(|q| q.add(&p(2))));
        assert_eq!(encode(sums[0]), encode(sums[1]), "{i}");
        // SAFETY: as above.
        let got = unsafe { fma::mul_base(s(1)) };
        assert_eq!(got.add(&p(2)).encode(), base().mul(s(1)).add(&p(2)).encode(), "{i}");
    }
    let samples = crate::field25519::tests::samples();
    for window in samples.windows(8) {
        let all: [Fe; 8] = core::array::from_fn(|i| Fe::from_bytes(&window[i]));
        let [a, b, c, ..] = all;
        // SAFETY: as above.
        let eight = unsafe { fma::pow_p58_all(&all) };
        // SAFETY: as above.
        let three = unsafe { fma::pow_p58_all(&[a, b, c]) };
        for (got, of) in eight.iter().zip(&all).chain(three.iter().zip(&all)) {
            assert_eq!(got.to_bytes(), of.pow_p58().to_bytes());
        }
    }
}
