//! Eight points of edwards25519 at once, one in each lane of AVX-512 IFMA.
//!
//! A caller that has a [`Lanes8`](crate::lanes8::Lanes8) calls the functions here. On a CPU without these
//! instructions nobody has one, and [`crate::edwards25519x4`] or [`crate::edwards25519`] does the work. The
//! module compiles for every target: where no kernel exists, [`portable`] takes its name.
//!
//! Functions are constant time unless their names end in `_vartime`; those are for public data.

#[cfg(target_arch = "x86_64")]
mod ifma;
pub mod portable;

#[cfg(target_arch = "x86_64")]
pub use ifma::{
    Points, decode_all, double_mul_all_vartime, encode_all, map_to_curve_elligator2_all, mul_all,
    mul_base_all, two_mul_all,
};
#[cfg(not(target_arch = "x86_64"))]
pub use portable::{
    Points, decode_all, double_mul_all_vartime, encode_all, map_to_curve_elligator2_all, mul_all,
    mul_base_all, two_mul_all,
};

/// The integer that -c is, for points with a torsion part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinusC {
    /// The integer -c.
    Integer,
    /// L - c, or 0 for c = 0.
    ModOrder,
}

/// The input of one group: in each lane two scalars and three points.
#[derive(Clone, Copy, Debug)]
pub struct DoubleMul<'a, P = Points> {
    /// s, below 2^253, little-endian.
    pub s: &'a [[u8; 32]; 8],
    /// c, below 2^128, little-endian.
    pub c: &'a [[u8; 16]; 8],
    /// Y.
    pub y: &'a P,
    /// H.
    pub h: &'a P,
    /// G.
    pub g: &'a P,
}

/// Two scalars below 2^253, little-endian, and a point, in each lane.
#[derive(Clone, Copy, Debug)]
pub struct TwoMul<'a, P = Points> {
    /// The scalars.
    pub scalars: [&'a [[u8; 32]; 8]; 2],
    /// The point.
    pub point: &'a P,
}

/// Eight decoded points, with masks of the lanes whose encodings are not what they should be.
///
/// A lane of `non_canonical` or `not_on_curve` holds the neutral element instead, so that whatever
/// is computed with the group stays on the curve. A lane of `negative_zero` holds the point with
/// the sign bit ignored, as [`crate::edwards25519::NegativeZero::Accept`] reads it.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<P = Points> {
    /// The points.
    pub points: P,
    /// Lanes whose y coordinate is not below p.
    pub non_canonical: u8,
    /// Lanes whose y coordinate no point of the curve has; meaningless where not canonical.
    pub not_on_curve: u8,
    /// Lanes with x = 0 and the sign bit set.
    pub negative_zero: u8,
}

#[cfg(test)]
mod tests;
