//! Any scalars and points, of small order too: kernels that work on several points of edwards25519 in
//! lanes compute what the portable code does. `TETRALITH_KERNEL` chooses the kernels.

use crate::vrf_many::{ORDER, TORSION};
use tetralith_kernels::edwards25519::{Point, base};
use tetralith_kernels::edwards25519x2::{
    double_mul_base_and_vartime, double_mul_pair_vartime, mul_base, mul_pair,
};
use tetralith_kernels::edwards25519x4::{
    DoubleMul, MinusC, double_mul_vartime, mul_all, mul_base_all,
};

/// Clears the upper bits, down to `bits` of them.
fn below(mut scalar: [u8; 32], bits: usize) -> [u8; 32] {
    scalar[31] &= (1 << (bits - 248)) - 1;
    scalar
}

/// A point of the base point's order, and the same with a part of small order.
fn points(seed: [u8; 32], part: u8) -> (Point, Point) {
    let prime = base().mul(&below(seed, 255));
    (prime, prime.add(&TORSION[usize::from(part) % 8]))
}

fn encode<const N: usize>(points: [Point; N]) -> [[u8; 32]; N] {
    Point::encode_all(&points)
}

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Some(lanes) = crate::read::<[([u8; 32], [u8; 32], [u8; 16], u8); 4]>(data) else { return };
    let c = lanes.map(|(_, _, c, _)| {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&c);
        bytes
    });
    let scalars = lanes.map(|(scalar, ..)| below(scalar, 255));
    let (prime, any): (Vec<Point>, Vec<Point>) =
        lanes.iter().map(|&(_, seed, _, part)| points(seed, part)).unzip();
    let (prime, any) = ([0, 1, 2, 3].map(|i| prime[i]), [0, 1, 2, 3].map(|i| any[i]));

    for mod_order in [false, true] {
        let lane = |i: usize| {
            let number = u128::from_le_bytes(lanes[i].2);
            let minus_c =
                if mod_order { MinusC::mod_order(number) } else { MinusC::integer(number) };
            DoubleMul {
                s: scalars[i],
                minus_c,
                y: any[i],
                h: any[(i + 1) % 4],
                g: any[(i + 2) % 4],
            }
        };
        let four = [0, 1, 2, 3].map(lane);
        for (i, (lane, got)) in four.iter().zip(double_mul_vartime(&four)).enumerate() {
            let minus_c = |p: &Point| match mod_order && lanes[i].2 != [0; 16] {
                true => p.mul(&ORDER).sub(&p.mul(&c[i])),
                false => p.neg().mul(&c[i]),
            };
            let u = base().mul(&lane.s).add(&minus_c(&lane.y));
            let v = lane.h.mul(&lane.s).add(&minus_c(&lane.g));
            assert_eq!(encode(got), encode([u, v]));
        }
    }

    let small = scalars.map(|scalar| below(scalar, 253));
    let [one, two] = mul_all(&prime, [&small, &c]);
    let expected = |s: &[[u8; 32]; 4]| [0, 1, 2, 3].map(|i| prime[i].mul(&s[i]));
    assert_eq!([encode(one), encode(two)], [encode(expected(&small)), encode(expected(&c))]);
    let expected = scalars.map(|scalar| base().mul(&scalar));
    assert_eq!(encode(mul_base_all(&scalars)), encode(expected));
    assert_eq!(encode(scalars.map(|scalar| mul_base(&scalar))), encode(expected));

    let [p, q, r, t] = any;
    let (a, b) = (&scalars[0], &scalars[1]);
    assert_eq!(encode(mul_pair(&p, a, b)), encode([p.mul(a), p.mul(b)]));
    let got = double_mul_pair_vartime(a, &[p, q], b, &[r, t]);
    assert_eq!(encode(got), encode([p.mul(a).add(&r.mul(b)), q.mul(a).add(&t.mul(b))]));
    let got = double_mul_base_and_vartime(a, &[p, q], b, &r);
    assert_eq!(encode(got), encode([p.mul(a).add(&base().mul(b)), q.mul(a).add(&r.mul(b))]));
}
