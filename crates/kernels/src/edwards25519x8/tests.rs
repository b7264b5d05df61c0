//! The portable twin against the functions of this room, which on x86-64 are the kernel's.

use super::*;
use crate::edwards25519::{self, Sign};
use crate::lanes8::Lanes8;

/// Encodings of points, of points with torsion parts, and of no point.
fn groups() -> Vec<[[u8; 32]; 8]> {
    let points: Vec<[u8; 32]> =
        edwards25519::tests::points().iter().map(edwards25519::Point::encode).collect();
    let mut all = points.clone();
    for (i, bytes) in points.iter().enumerate() {
        let mut changed = *bytes;
        changed[i % 32] ^= 1 << (i % 8);
        all.push(changed);
    }
    all.extend([[0xff; 32], [0; 32]]);
    (0..all.len()).map(|i| core::array::from_fn(|lane| all[(i + 3 * lane) % all.len()])).collect()
}

fn scalars(i: usize) -> [[u8; 32]; 8] {
    let all = edwards25519::tests::scalars();
    core::array::from_fn(|lane| {
        let mut scalar = all[(i + lane) % all.len()];
        scalar[31] &= 0x1f;
        scalar
    })
}

#[test]
fn the_twin_gives_the_same() {
    #[cfg(not(target_arch = "x86_64"))]
    let lanes = Lanes8::for_twins();
    #[cfg(target_arch = "x86_64")]
    let Some(lanes) = Lanes8::detect() else {
        println!("left out: this CPU has no AVX-512 IFMA, or TETRALITH_KERNEL forbids it");
        return;
    };
    let groups = groups();
    let (ours, twins) = (decode_all(lanes, &groups), portable::decode_all(lanes, &groups));
    let masks = |small: u8, a: u8, b: u8, c: u8| [small, a, b & !a, c & !a & !b];
    for (a, b) in ours.iter().zip(&twins) {
        let of_a =
            masks(a.points.small_order(lanes), a.non_canonical, a.not_on_curve, a.negative_zero);
        let of_b =
            masks(b.points.small_order(lanes), b.non_canonical, b.not_on_curve, b.negative_zero);
        assert_eq!(of_a, of_b);
    }
    let same = |a: &[Points], b: &[portable::Points]| {
        assert_eq!(encode_all(lanes, a), portable::encode_all(lanes, b));
    };
    for sign in [Sign::EvenX, Sign::Rfc9380] {
        let a = map_to_curve_elligator2_all(lanes, &groups, sign);
        same(&a, &portable::map_to_curve_elligator2_all(lanes, &groups, sign));
    }
    let a: Vec<Points> = ours.iter().map(|d| d.points).collect();
    let b: Vec<portable::Points> = twins.iter().map(|d| d.points).collect();
    same(&a, &b);
    for i in (0..a.len()).step_by(3) {
        let (s, t, [y, h, g]) = (scalars(i), scalars(3 * i + 1), [i, i / 2, i / 3]);
        let c = t.map(|t| core::array::from_fn(|j| t[j]));
        for rule in [MinusC::Integer, MinusC::ModOrder] {
            let job = DoubleMul { s: &s, c: &c, y: &a[y], h: &a[h], g: &a[g] };
            let twin = DoubleMul { s: &s, c: &c, y: &b[y], h: &b[h], g: &b[g] };
            let sums = double_mul_all_vartime(lanes, &[job], rule);
            same(&sums[0], &portable::double_mul_all_vartime(lanes, &[twin], rule)[0]);
        }
        let both = two_mul_all(lanes, &[TwoMul { scalars: [&s, &t], point: &a[i] }]);
        let twin = portable::two_mul_all(lanes, &[TwoMul { scalars: [&s, &t], point: &b[i] }]);
        same(&both[0], &twin[0]);
        same(&mul_base_all(lanes, &[s]), &portable::mul_base_all(lanes, &[s]));
        same(&mul_all(lanes, &t[0], &a[i..=i]), &portable::mul_all(lanes, &t[0], &b[i..=i]));
        let eight = (a[i].mul_by_cofactor(lanes), b[i].mul_by_cofactor(lanes));
        same(&[eight.0], &[eight.1]);
        assert_eq!(a[i].lane(lanes, i % 8).encode(), b[i].lane(lanes, i % 8).encode());
        let points = core::array::from_fn(|lane| b[lane].lane(lanes, lane));
        same(
            &[Points::from_lanes(lanes, &points)],
            &[portable::Points::from_lanes(lanes, &points)],
        );
    }
}
