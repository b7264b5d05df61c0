//! The points of edwards25519, portable: -x^2 + y^2 = 1 + d x^2 y^2 over the field of 2^255 - 19.
//!
//! Points are held in extended coordinates (X : Y : Z : T), x = X/Z, y = Y/Z, T = XY/Z, and added
//! with formulas that are complete: d is no square, so no sum needs a special case, not even with
//! points of small order. Points are any of the curve's 8·L, not only the prime-order subgroup, and
//! scalars are integers and never reduced mod L, because the two differ on points with a torsion
//! part and verdicts hang on that.
//!
//! Functions are constant time unless their names end in `_vartime`; those are for public data.
//!
//! Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", §3.1 and §3.3; RFC 8032 §5.1

mod elligator2;
mod scalar_mul;

#[cfg(target_arch = "x86_64")]
pub(crate) use elligator2::SQRT_MINUS_A_2;
pub use elligator2::{PendingMap, Sign, map_to_curve_elligator2};
#[cfg(target_arch = "x86_64")]
pub(crate) use scalar_mul::non_adjacent_form;
pub(crate) use scalar_mul::radix_16;
pub use scalar_mul::{FixedPoint, base};

use crate::field25519::Fe;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroize;

/// A point of the curve.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub(crate) x: Fe,
    pub(crate) y: Fe,
    pub(crate) z: Fe,
    pub(crate) t: Fe,
}

/// A point made ready for being added: (Y+X, Y-X, Z, 2dT).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cached {
    pub(crate) y_plus_x: Fe,
    pub(crate) y_minus_x: Fe,
    pub(crate) z: Fe,
    pub(crate) t2d: Fe,
}

/// A point with Z = 1 made ready for being added: (y+x, y-x, 2dxy).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Affine {
    pub(crate) y_plus_x: Fe,
    pub(crate) y_minus_x: Fe,
    pub(crate) xy2d: Fe,
}

/// Why 32 bytes are not the encoding of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The y coordinate is not below p.
    NonCanonical,
    /// No point of the curve has this y coordinate.
    NotOnCurve,
    /// x is zero and the sign bit is set.
    NegativeZero,
}

/// What becomes of an encoding of a point with x = 0 and the sign bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NegativeZero {
    /// It is refused, as RFC 8032 §5.1.3 says.
    Refuse,
    /// It is read as if the sign bit were clear, as libsodium does.
    Accept,
}

/// A point being decoded, that lacks its square root, so that several roots can be taken at once.
#[derive(Clone, Copy, Debug)]
pub struct PendingPoint {
    y: Fe,
    sign: Choice,
}

impl PendingPoint {
    /// Begins to decode a point.
    ///
    /// # Errors
    /// The y coordinate is not below p.
    pub fn new(bytes: &[u8; 32]) -> Result<PendingPoint, DecodeError> {
        let mut masked = *bytes;
        masked[31] &= 0x7f;
        let y = Fe::from_bytes(bytes);
        if y.to_bytes() != masked {
            return Err(DecodeError::NonCanonical);
        }
        Ok(PendingPoint { y, sign: Choice::from(bytes[31] >> 7) })
    }

    /// u and v, of whose ratio [`PendingPoint::finish`] takes the root.
    #[must_use]
    pub fn ratio(&self) -> (Fe, Fe) {
        let y2 = self.y.square();
        (y2.sub(&Fe::ONE), y2.mul(&Fe::D).add(&Fe::ONE))
    }

    /// Ends decoding with what [`Fe::sqrt_ratio`] gives.
    ///
    /// # Errors
    /// The point is not on the curve, or its x is zero and has a sign.
    pub fn finish(
        &self,
        (on_curve, root): (Choice, Fe),
        negative_zero: NegativeZero,
    ) -> Result<Point, DecodeError> {
        if !bool::from(on_curve) {
            return Err(DecodeError::NotOnCurve);
        }
        let (mut x, y) = (root, self.y);
        if negative_zero == NegativeZero::Refuse && bool::from(x.is_zero() & self.sign) {
            return Err(DecodeError::NegativeZero);
        }
        x.conditional_negate(self.sign);
        Ok(Point { x, y, z: Fe::ONE, t: x.mul(&y) })
    }
}

impl Point {
    /// The neutral element (0, 1).
    pub const IDENTITY: Point = Point { x: Fe::ZERO, y: Fe::ONE, z: Fe::ONE, t: Fe::ZERO };

    /// Decodes a point; the encoding must be canonical, the point may be any of the curve.
    ///
    /// # Errors
    /// The bytes encode no point.
    ///
    /// # Security
    /// Variable time in which error it is; points that decode take constant time.
    ///
    /// RFC 8032 §5.1.3
    pub fn decode(bytes: &[u8; 32], negative_zero: NegativeZero) -> Result<Point, DecodeError> {
        let pending = PendingPoint::new(bytes)?;
        let (u, v) = pending.ratio();
        pending.finish(Fe::sqrt_ratio(&u, &v), negative_zero)
    }

    /// Encodes the point: y, with the parity of x in the top bit.
    ///
    /// RFC 8032 §5.1.2
    #[must_use]
    pub fn encode(&self) -> [u8; 32] {
        self.encode_with(&self.z.invert())
    }

    pub(crate) fn encode_with(&self, z_inverse: &Fe) -> [u8; 32] {
        let mut bytes = self.y.mul(z_inverse).to_bytes();
        bytes[31] |= self.x.mul(z_inverse).is_negative().unwrap_u8() << 7;
        bytes
    }

    /// Encodes several points at the price of one inversion.
    #[must_use]
    pub fn encode_all<const N: usize>(points: &[Point; N]) -> [[u8; 32]; N] {
        let mut inverses = points.map(|p| p.z);
        Fe::invert_all(&mut inverses);
        core::array::from_fn(|i| points[i].encode_with(&inverses[i]))
    }

    /// As [`Point::encode_all`], for any number.
    #[must_use]
    pub fn encode_many(points: &[Point]) -> Vec<[u8; 32]> {
        let mut inverses: Vec<Fe> = points.iter().map(|p| p.z).collect();
        Fe::invert_all(&mut inverses);
        points.iter().zip(&inverses).map(|(p, inverse)| p.encode_with(inverse)).collect()
    }

    /// The sum.
    #[must_use]
    pub fn add(&self, other: &Point) -> Point {
        self.add_cached(&other.cached())
    }

    /// The difference.
    #[must_use]
    pub fn sub(&self, other: &Point) -> Point {
        self.add_cached(&other.neg().cached())
    }

    /// The negative.
    #[must_use]
    pub fn neg(&self) -> Point {
        Point { x: self.x.neg(), y: self.y, z: self.z, t: self.t.neg() }
    }

    /// Twice the point.
    #[must_use]
    pub fn double(&self) -> Point {
        self.double_parts().extended()
    }

    /// The point times the cofactor 8, which takes off its torsion part.
    #[must_use]
    pub fn mul_by_cofactor(&self) -> Point {
        self.double_times(3)
    }

    /// The point times 2^n; `n` is public and not zero.
    pub(crate) fn double_times(&self, n: u32) -> Point {
        debug_assert!(n > 0);
        let mut p = *self;
        for _ in 1..n {
            (p.x, p.y, p.z) = p.double_parts().projective();
        }
        p.double()
    }

    /// Says whether this is the neutral element.
    #[must_use]
    pub fn is_identity(&self) -> Choice {
        self.x.is_zero() & self.y.ct_eq(&self.z)
    }

    /// Says whether the point is one of the eight whose order divides 8.
    #[must_use]
    pub fn is_small_order(&self) -> Choice {
        self.mul_by_cofactor().is_identity()
    }

    pub(crate) fn cached(&self) -> Cached {
        Cached {
            y_plus_x: self.y.add(&self.x),
            y_minus_x: self.y.sub(&self.x),
            z: self.z,
            t2d: self.t.mul(&Fe::D2),
        }
    }

    pub(crate) fn add_cached(&self, q: &Cached) -> Point {
        let zz = self.z.mul(&q.z);
        self.add_parts(&q.y_plus_x, &q.y_minus_x, &q.t2d, &zz).extended()
    }

    pub(crate) fn add_affine(&self, q: &Affine) -> Point {
        self.add_parts(&q.y_plus_x, &q.y_minus_x, &q.xy2d, &self.z).extended()
    }

    fn add_parts(&self, y_plus_x: &Fe, y_minus_x: &Fe, t2d: &Fe, zz: &Fe) -> Completed {
        let a = self.y.sub(&self.x).mul(y_minus_x);
        let b = self.y.add(&self.x).mul(y_plus_x);
        let c = self.t.mul(t2d);
        let d = zz.add(zz);
        Completed { e: b.sub(&a), f: d.sub(&c), g: d.add(&c), h: b.add(&a) }
    }

    fn double_parts(&self) -> Completed {
        let a = self.x.square();
        let b = self.y.square();
        let zz = self.z.square();
        let h = a.add(&b);
        let e = h.sub(&self.x.add(&self.y).square());
        let g = a.sub(&b);
        let f = zz.add(&zz).add(&g);
        Completed { e, f, g, h }
    }
}

/// x = E/G, y = H/F: what both formulas end in before the last multiplications.
struct Completed {
    e: Fe,
    f: Fe,
    g: Fe,
    h: Fe,
}

impl Completed {
    fn extended(&self) -> Point {
        let (x, y, z) = self.projective();
        Point { x, y, z, t: self.e.mul(&self.h) }
    }

    fn projective(&self) -> (Fe, Fe, Fe) {
        (self.e.mul(&self.f), self.g.mul(&self.h), self.f.mul(&self.g))
    }
}

impl Cached {
    pub(crate) const IDENTITY: Cached =
        Cached { y_plus_x: Fe::ONE, y_minus_x: Fe::ONE, z: Fe::ONE, t2d: Fe::ZERO };

    pub(crate) fn neg(&self) -> Cached {
        Cached {
            y_plus_x: self.y_minus_x,
            y_minus_x: self.y_plus_x,
            z: self.z,
            t2d: self.t2d.neg(),
        }
    }
}

impl Affine {
    pub(crate) const IDENTITY: Affine =
        Affine { y_plus_x: Fe::ONE, y_minus_x: Fe::ONE, xy2d: Fe::ZERO };

    pub(crate) fn neg(&self) -> Affine {
        Affine { y_plus_x: self.y_minus_x, y_minus_x: self.y_plus_x, xy2d: self.xy2d.neg() }
    }

    /// Multiples 0 to `n` of a point.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn multiples(point: &Point, n: usize) -> Vec<Affine> {
        let cached = point.cached();
        let mut multiples = vec![*point];
        for i in 1..n {
            multiples.push(multiples[i - 1].add_cached(&cached));
        }
        let mut entries = vec![Affine::IDENTITY];
        entries.extend(Affine::from_points(&multiples));
        entries
    }

    /// Brings points to Z = 1 at the price of one inversion.
    pub(crate) fn from_points(points: &[Point]) -> Vec<Affine> {
        let mut inverses: Vec<Fe> = points.iter().map(|p| p.z).collect();
        Fe::invert_all(&mut inverses);
        let affine = |(p, inverse): (&Point, &Fe)| {
            let (x, y) = (p.x.mul(inverse), p.y.mul(inverse));
            Affine { y_plus_x: y.add(&x), y_minus_x: y.sub(&x), xy2d: x.mul(&y).mul(&Fe::D2) }
        };
        points.iter().zip(&inverses).map(affine).collect()
    }
}

impl ConditionallySelectable for Cached {
    fn conditional_select(a: &Cached, b: &Cached, choice: Choice) -> Cached {
        let s = |a: &Fe, b: &Fe| Fe::conditional_select(a, b, choice);
        Cached {
            y_plus_x: s(&a.y_plus_x, &b.y_plus_x),
            y_minus_x: s(&a.y_minus_x, &b.y_minus_x),
            z: s(&a.z, &b.z),
            t2d: s(&a.t2d, &b.t2d),
        }
    }
}

impl ConditionallySelectable for Affine {
    fn conditional_select(a: &Affine, b: &Affine, choice: Choice) -> Affine {
        let s = |a: &Fe, b: &Fe| Fe::conditional_select(a, b, choice);
        Affine {
            y_plus_x: s(&a.y_plus_x, &b.y_plus_x),
            y_minus_x: s(&a.y_minus_x, &b.y_minus_x),
            xy2d: s(&a.xy2d, &b.xy2d),
        }
    }
}

impl ConstantTimeEq for Point {
    fn ct_eq(&self, other: &Point) -> Choice {
        self.x.mul(&other.z).ct_eq(&other.x.mul(&self.z))
            & self.y.mul(&other.z).ct_eq(&other.y.mul(&self.z))
    }
}

impl Zeroize for Point {
    fn zeroize(&mut self) {
        self.x.zeroize();
        self.y.zeroize();
        self.z.zeroize();
        self.t.zeroize();
    }
}

#[cfg(test)]
pub(crate) mod tests;
