use super::*;
use crate::edwards25519::tests::{points, scalars};

#[test]
fn four_agree_with_portable() {
    let (points, scalars) = (points(), scalars());
    let challenges = [0, 1, L_LOW - 1, L_LOW, L_LOW + 1, u128::MAX, 1 << 127, 12345];
    for i in 0..40usize {
        let lane = |l: usize| {
            let p = |k: usize| points[(i * k + 5 * l + k) % points.len()];
            let c = challenges[(i + l) % challenges.len()];
            let minus_c = if i % 2 == 0 { MinusC::integer(c) } else { MinusC::mod_order(c) };
            let s = scalars[(3 * i + l) % scalars.len()];
            (DoubleMul { s, minus_c, y: p(1), h: p(2), g: p(3) }, c)
        };
        let lanes = [0, 1, 2, 3].map(lane);
        let got = double_mul_vartime(&lanes.map(|(lane, _)| lane));
        for ((lane, c), got) in lanes.iter().zip(got) {
            let expected = expected(lane, *c, i % 2 == 0);
            assert_eq!(got.map(|p| p.encode()), expected.map(|p| p.encode()), "{i}");
            assert_eq!(got[0].double().add(&got[1]).encode(), {
                expected[0].double().add(&expected[1]).encode()
            });
        }
    }
}

/// By the portable multiplication, with L - c as dalek reduces it.
fn expected(lane: &DoubleMul, c: u128, integer: bool) -> [Point; 2] {
    let c = curve25519_dalek::Scalar::from(c);
    let (minus_c, negate) = if integer { (c, true) } else { (-c, false) };
    let m = |p: &Point| if negate { p.neg() } else { *p };
    [
        m(&lane.y).double_mul_fixed_vartime(minus_c.as_bytes(), base(), &lane.s),
        m(&lane.g).double_mul_vartime(minus_c.as_bytes(), &lane.h, &lane.s),
    ]
}

#[test]
fn roots_agree_with_portable() {
    let samples = crate::field25519::tests::samples();
    let fe = |i: usize| Fe::from_bytes(&samples[i % samples.len()]);
    for n in [0, 1, 3, 4, 12, 13, 100] {
        let ratios: Vec<(Fe, Fe)> = (0..n).map(|i| (fe(i), fe(7 * i + n))).collect();
        for ((square, root), (u, v)) in sqrt_ratios(&ratios).into_iter().zip(&ratios) {
            let (expected, expected_root) = Fe::sqrt_ratio(u, v);
            assert_eq!(square.unwrap_u8(), expected.unwrap_u8());
            assert_eq!(root.to_bytes(), expected_root.to_bytes());
        }
    }
}
