//! Elligator 2 with one square root and no inversion; the formulas and their exceptions are derived
//! in [`crate::edwards25519::map_to_curve_elligator2`]'s module.
//!
//! RFC 9380 §6.7.1 and §6.8.2, draft-irtf-cfrg-vrf-03 §5.4.1.2

use super::Points;
use crate::edwards25519::{SQRT_MINUS_A_2, Sign};
use crate::field25519::Fe;
use crate::field25519x8::{Fe8, Roots, sqrt_ratio_all};
use crate::lanes8::Lanes8;

/// Maps groups of field elements, 255 bits little-endian each with the top bits ignored, to points
/// of the prime-order subgroup; the cofactor is cleared.
///
/// # Security
/// Constant time.
///
/// RFC 9380 §6.7.1 (Elligator 2), §6.8.2 (Edwards), §7 (cofactor)
#[must_use]
pub fn map_to_curve_elligator2_all(
    _: Lanes8,
    elements: &[[[u8; 32]; 8]],
    sign: Sign,
) -> Vec<Points> {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { map(elements, sign) }
}

/// What both ways to choose the sign need, with D = 1 + 2 r^2.
struct Input {
    /// 2 r^2.
    rr2: Fe8,
    d: Fe8,
    /// r sqrt(2/i) = r (1 - i).
    r_sqrt_2_i: Fe8,
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn map(elements: &[[[u8; 32]; 8]], sign: Sign) -> Vec<Points> {
    let (one, a) = (Fe8::splat(&Fe::ONE), Fe8::splat(&Fe::A));
    let one_minus_i = one.sub(&Fe8::splat(&Fe::SQRT_M1));
    let (mut inputs, mut u, mut v) = (Vec::new(), Vec::new(), Vec::new());
    for bytes in elements {
        let r = Fe8::from_bytes(bytes);
        let rr2 = r.square_wide().twice();
        let d = rr2.add(&one);
        let d2 = d.square();
        let n = a.square().mul(&rr2).sub(&d2).mul(&a);
        match sign {
            Sign::EvenX => {
                u.push(one);
                v.push(n.mul(&d));
            }
            Sign::Rfc9380 => {
                u.push(n);
                v.push(d2.mul(&d));
            }
        }
        inputs.push(Input { rr2, d, r_sqrt_2_i: r.mul(&one_minus_i) });
    }
    let mut out = Vec::with_capacity(elements.len());
    for (input, found) in inputs.iter().zip(sqrt_ratio_all(&u, &v)) {
        let p = match sign {
            Sign::EvenX => by_x(input, &found),
            Sign::Rfc9380 => by_t(input, &found),
        };
        out.push(p.double_times(3));
    }
    out
}

/// s times D.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn numerator(input: &Input, square: u8) -> Fe8 {
    let minus_a = Fe8::splat(&Fe::A).neg();
    minus_a.mul(&input.rr2).or_where(square, &minus_a)
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn by_t(input: &Input, found: &Roots) -> Points {
    let s = numerator(input, found.square);
    let t = found.root.mul(&input.r_sqrt_2_i).or_where(found.square, &found.root);
    let t = t.negate_where(t.negative() ^ found.square);
    let (xn, xd) = (s.mul(&Fe8::splat(&SQRT_MINUS_A_2)), input.d.mul(&t));
    let (yn, yd) = (s.sub(&input.d), s.add(&input.d));
    let p = Points { x: xn.mul(&yd), y: yn.mul(&xd), z: xd.mul(&yd), t: xn.mul(&yn) };
    p.or_where(p.z.zero(), &Points::neutral())
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn by_x(input: &Input, found: &Roots) -> Points {
    let s = numerator(input, found.square);
    let one = Fe8::splat(&Fe::ONE);
    let factor = input.r_sqrt_2_i.or_where(found.square, &one);
    let scale = Fe8::splat(&Fe::A).mul(&Fe8::splat(&SQRT_MINUS_A_2));
    let x = found.root.mul(&input.d).mul(&factor).mul(&scale);
    let x = x.negate_where(x.negative());
    let (yn, yd) = (s.sub(&input.d), s.add(&input.d));
    Points { x: x.mul(&yd), y: yn, z: yd, t: x.mul(&yn) }
}
