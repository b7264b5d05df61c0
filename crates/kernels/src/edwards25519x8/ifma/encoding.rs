//! From bytes to points and back.

use super::Points;
use crate::edwards25519x8::Decoded;
use crate::field25519::Fe;
use crate::field25519x8::{Fe8, invert_all, sqrt_ratio_all};
use crate::lanes8::Lanes8;

/// Decodes groups of points.
///
/// RFC 8032 §5.1.3
#[must_use]
pub fn decode_all(_: Lanes8, encodings: &[[[u8; 32]; 8]]) -> Vec<Decoded<Points>> {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { decode(encodings) }
}

/// Encodes groups of points at the price of one inversion.
///
/// RFC 8032 §5.1.2
#[must_use]
pub fn encode_all(_: Lanes8, points: &[Points]) -> Vec<[[u8; 32]; 8]> {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { encode(points) }
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn decode(encodings: &[[[u8; 32]; 8]]) -> Vec<Decoded<Points>> {
    let (one, d) = (Fe8::splat(&Fe::ONE), Fe8::splat(&Fe::D));
    let (mut u, mut v) = (Vec::new(), Vec::new());
    for bytes in encodings {
        let y2 = Fe8::from_bytes(bytes).square();
        u.push(y2.sub(&one));
        v.push(y2.mul(&d).add(&one));
    }
    let mut out = Vec::with_capacity(encodings.len());
    for (bytes, found) in encodings.iter().zip(sqrt_ratio_all(&u, &v)) {
        let y = Fe8::from_bytes(bytes);
        let sign = signs(bytes);
        let non_canonical = !y.canonical().same_limbs(&y);
        let not_on_curve = !found.square;
        let negative_zero = found.root.zero() & sign;
        let x = found.root.negate_where(sign);
        let points = Points { x, y, z: one, t: x.mul(&y) }
            .or_where(non_canonical | not_on_curve, &Points::neutral());
        out.push(Decoded { points, non_canonical, not_on_curve, negative_zero });
    }
    out
}

/// # Correctness
/// No Z is zero: the points are on the curve, see [`Decoded`], and the formulas are complete.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn encode(points: &[Points]) -> Vec<[[u8; 32]; 8]> {
    let mut inverses = Vec::with_capacity(points.len());
    for p in points {
        inverses.push(p.z);
    }
    invert_all(&mut inverses);
    let mut out = Vec::with_capacity(points.len());
    for (p, inverse) in points.iter().zip(&inverses) {
        let mut bytes = p.y.mul(inverse).to_bytes();
        let odd = p.x.mul(inverse).negative();
        for (lane, encoding) in bytes.iter_mut().enumerate() {
            encoding[31] |= (odd >> lane & 1) << 7;
        }
        out.push(bytes);
    }
    out
}

/// The lanes whose top bit is set.
fn signs(bytes: &[[u8; 32]; 8]) -> u8 {
    bytes.iter().enumerate().fold(0, |mask, (lane, b)| mask | (b[31] >> 7) << lane)
}
