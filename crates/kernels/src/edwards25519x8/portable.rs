//! The portable twin: the same jobs, lane by lane, by [`crate::edwards25519`].

use super::{Decoded, DoubleMul, MinusC, TwoMul};
use crate::edwards25519::{self, DecodeError, NegativeZero, Point, Sign, base};
use crate::field25519::Fe;
use crate::lanes8::Lanes8;

/// A group of eight points.
#[derive(Clone, Copy, Debug)]
pub struct Points([Point; 8]);

impl Points {
    /// The points times the cofactor 8, which takes off their torsion parts.
    #[must_use]
    pub fn mul_by_cofactor(&self, _: Lanes8) -> Points {
        self.map(Point::mul_by_cofactor)
    }

    /// The lanes with a point whose order divides 8, as a mask.
    #[must_use]
    pub fn small_order(&self, _: Lanes8) -> u8 {
        mask(|lane| self.0[lane].is_small_order().into())
    }

    /// One lane's point.
    #[must_use]
    pub fn lane(&self, _: Lanes8, lane: usize) -> Point {
        self.0[lane]
    }

    /// One point for each lane.
    #[must_use]
    pub fn from_lanes(_: Lanes8, points: &[Point; 8]) -> Points {
        Points(*points)
    }

    fn map(&self, of: impl Fn(&Point) -> Point) -> Points {
        Points(core::array::from_fn(|lane| of(&self.0[lane])))
    }
}

/// The lanes for which something holds.
fn mask(holds: impl Fn(usize) -> bool) -> u8 {
    (0..8).fold(0, |mask, lane| mask | u8::from(holds(lane)) << lane)
}

/// Decodes groups of points.
///
/// RFC 8032 §5.1.3
#[must_use]
pub fn decode_all(_: Lanes8, encodings: &[[[u8; 32]; 8]]) -> Vec<Decoded<Points>> {
    let group = |bytes: &[[u8; 32]; 8]| {
        let found = bytes.map(|bytes| Point::decode(&bytes, NegativeZero::Accept));
        let failed = |lane: usize, with| found[lane].as_ref().err() == Some(&with);
        let refused = |lane: usize| {
            let strict = Point::decode(&bytes[lane], NegativeZero::Refuse);
            strict.err() == Some(DecodeError::NegativeZero)
        };
        Decoded {
            points: Points(found.map(|point| point.unwrap_or(Point::IDENTITY))),
            non_canonical: mask(|lane| failed(lane, DecodeError::NonCanonical)),
            not_on_curve: mask(|lane| failed(lane, DecodeError::NotOnCurve)),
            negative_zero: mask(refused),
        }
    };
    encodings.iter().map(group).collect()
}

/// Encodes groups of points at the price of one inversion.
///
/// RFC 8032 §5.1.2
#[must_use]
pub fn encode_all(_: Lanes8, points: &[Points]) -> Vec<[[u8; 32]; 8]> {
    let all: Vec<Point> = points.iter().flat_map(|group| group.0).collect();
    Point::encode_many(&all).as_chunks().0.to_vec()
}

/// Maps groups of field elements, 255 bits little-endian each with the top bits ignored, to points
/// of the prime-order subgroup; the cofactor is cleared.
///
/// RFC 9380 §6.7.1 (Elligator 2), §6.8.2 (Edwards), §7 (cofactor)
#[must_use]
pub fn map_to_curve_elligator2_all(
    _: Lanes8,
    elements: &[[[u8; 32]; 8]],
    sign: Sign,
) -> Vec<Points> {
    let point =
        |bytes: [u8; 32]| edwards25519::map_to_curve_elligator2(&Fe::from_bytes(&bytes), sign);
    elements.iter().map(|bytes| Points(bytes.map(point))).collect()
}

/// Computes s B - c Y and s H - c G for each lane of each group, B being the base point.
///
/// # Panics
/// An s is not below 2^253.
///
/// # Security
/// Variable time: public data only.
#[must_use]
pub fn double_mul_all_vartime(
    _: Lanes8,
    groups: &[DoubleMul<'_, Points>],
    minus_c: MinusC,
) -> Vec<[Points; 2]> {
    let sums = |group: &DoubleMul<'_, Points>, lane: usize| {
        let (s, c) = (&group.s[lane], u128::from_le_bytes(group.c[lane]));
        assert!(s[31] < 0x20, "scalars are below 2^253");
        let ([y, g, h], m) = multiplier([group.y, group.g, group.h].map(|p| p.0[lane]), c, minus_c);
        [y.double_mul_fixed_vartime(&m, base(), s), g.double_mul_vartime(&m, &h, s)]
    };
    let group = |group: &DoubleMul<'_, Points>| {
        let both: [[Point; 2]; 8] = core::array::from_fn(|lane| sums(group, lane));
        [0, 1].map(|k| Points(both.map(|sums| sums[k])))
    };
    groups.iter().map(group).collect()
}

/// L - 2^252, and what 2^252 is above 2^128.
const L_LOW: u128 = 27742317777372353535851937790883648493;
const L_HIGH: u128 = 1 << 124;

/// Y, G and H, the first two or their negatives, and what multiplies these for -c.
fn multiplier([y, g, h]: [Point; 3], c: u128, minus_c: MinusC) -> ([Point; 3], [u8; 32]) {
    let mut m = [0; 32];
    if minus_c == MinusC::Integer || c == 0 {
        m[..16].copy_from_slice(&c.to_le_bytes());
        return ([y.neg(), g.neg(), h], m);
    }
    let (low, borrow) = L_LOW.overflowing_sub(c);
    m[..16].copy_from_slice(&low.to_le_bytes());
    m[16..].copy_from_slice(&(L_HIGH - u128::from(borrow)).to_le_bytes());
    ([y, g, h], m)
}

/// Multiplies each lane's point by both of its scalars.
///
/// # Panics
/// A scalar is not below 2^253.
#[must_use]
pub fn two_mul_all(_: Lanes8, groups: &[TwoMul<'_, Points>]) -> Vec<[Points; 2]> {
    let product = |group: &TwoMul<'_, Points>, k: usize| {
        Points(core::array::from_fn(|lane| mul(&group.point.0[lane], &group.scalars[k][lane])))
    };
    groups.iter().map(|group| [0, 1].map(|k| product(group, k))).collect()
}

/// Multiplies every point by one scalar below 2^253, little-endian.
///
/// # Panics
/// The scalar is not below 2^253.
#[must_use]
pub fn mul_all(_: Lanes8, scalar: &[u8; 32], points: &[Points]) -> Vec<Points> {
    points.iter().map(|group| group.map(|point| mul(point, scalar))).collect()
}

/// Multiplies the base point by scalars below 2^253, little-endian.
///
/// # Panics
/// A scalar is not below 2^253.
#[must_use]
pub fn mul_base_all(_: Lanes8, scalars: &[[[u8; 32]; 8]]) -> Vec<Points> {
    let product = |scalar: &[u8; 32]| {
        assert!(scalar[31] < 0x20, "scalars are below 2^253");
        base().mul(scalar)
    };
    scalars.iter().map(|s| Points(core::array::from_fn(|lane| product(&s[lane])))).collect()
}

fn mul(point: &Point, scalar: &[u8; 32]) -> Point {
    assert!(scalar[31] < 0x20, "scalars are below 2^253");
    point.mul(scalar)
}
