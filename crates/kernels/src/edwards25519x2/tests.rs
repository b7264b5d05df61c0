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
