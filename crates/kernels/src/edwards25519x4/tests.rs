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

/// Scalars below 2^253 around every edge of the recoding: even and odd, next to L, sparse and dense.
fn secret_scalars() -> Vec<[u8; 32]> {
    let mut all: Vec<[u8; 32]> = scalars().into_iter().collect();
    let order = curve25519_dalek::Scalar::from(0u8) - curve25519_dalek::Scalar::ONE;
    for n in 0..4u8 {
        let mut near = order.to_bytes();
        near[0] = near[0].wrapping_add(n).wrapping_sub(1);
        all.extend([near, [n; 32], [0xff - n; 32]]);
        let mut small = [0; 32];
        small[0] = n;
        all.push(small);
    }
    for tooth in 0..8 {
        let mut one = [0; 32];
        one[4 * tooth] = 1;
        all.push(one);
    }
    all.iter_mut().for_each(|s| s[31] &= 0x1f);
    all
}

#[test]
fn secret_multiplications_agree_with_portable() {
    let scalars = secret_scalars();
    let mut points: Vec<Point> = scalars.iter().map(|s| base().mul(s)).collect();
    points.push(Point::IDENTITY);
    let pick =
        |i: usize| -> [[u8; 32]; 4] { [0, 1, 2, 3].map(|l| scalars[(i + l) % scalars.len()]) };
    for i in 0..scalars.len() {
        let (a, b) = (pick(i), pick(3 * i + 1));
        let p = [0, 1, 2, 3].map(|l| points[(5 * i + 7 * l) % points.len()]);
        let [pa, pb] = mul_all(&p, [&a, &b]);
        let [alone] = mul_all(&p, [&b]);
        let ab = mul_base_all(&a);
        for lane in 0..4 {
            assert_eq!(pa[lane].encode(), p[lane].mul(&a[lane]).encode(), "{i} {lane}");
            assert_eq!(pb[lane].encode(), p[lane].mul(&b[lane]).encode(), "{i} {lane}");
            assert_eq!(alone[lane].encode(), pb[lane].encode(), "{i} {lane}");
            assert_eq!(ab[lane].encode(), base().mul(&a[lane]).encode(), "{i} {lane}");
            // T is right, too.
            assert_eq!(pa[lane].add(&pb[lane]).encode(), {
                p[lane].mul(&a[lane]).add(&p[lane].mul(&b[lane])).encode()
            });
        }
    }
    let no = std::panic::catch_unwind(|| mul_all(&[Point::IDENTITY; 4], [&[[0x20; 32]; 4]]));
    assert!(no.is_err(), "a scalar of 254 bits");
}
