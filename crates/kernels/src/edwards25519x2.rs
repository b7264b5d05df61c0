//! Work on few points of edwards25519 as fast as this CPU can: one proof, not many.
//!
//! With AVX-512 IFMA two points are worked on in step, each with its four coordinates side by side in
//! four lanes, and up to eight square roots or inversions run in eight lanes. With AVX2 and FMA the points
//! are two vectors of four lanes. Otherwise the portable code does the same one after another. Scalars are integers, used as they are.
//!
//! Functions are constant time unless their names end in `_vartime`; those are for public data.

#[cfg(target_arch = "x86_64")]
mod fma;
#[cfg(target_arch = "x86_64")]
mod ifma;

use crate::edwards25519::{Point, base};
use crate::field25519::Fe;
#[cfg(target_arch = "x86_64")]
use crate::lanes8::Lanes8;
use subtle::Choice;

#[cfg(target_arch = "x86_64")]
fn is_avx2() -> bool {
    crate::cpu::allowed(crate::cpu::Family::Avx2)
}

/// Computes a P + b Q for two pairs of points.
///
/// # Panics
/// A scalar's top bit is set.
///
/// # Security
/// Variable time: public data only.
#[must_use]
pub fn double_mul_pair_vartime(
    a: &[u8; 32],
    p: &[Point; 2],
    b: &[u8; 32],
    q: &[Point; 2],
) -> [Point; 2] {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = Lanes8::detect() {
        return ifma::double_mul_pair_vartime(lanes, a, p, b, q);
    }
    #[cfg(target_arch = "x86_64")]
    if is_avx2() {
        // SAFETY: the CPU has AVX2 and FMA, as asked just now.
        return unsafe { fma::double_mul_pair_vartime(a, p, b, q) };
    }
    [p[0].double_mul_vartime(a, &q[0], b), p[1].double_mul_vartime(a, &q[1], b)]
}

/// Computes a P + b B and a Q + b H, B being the base point.
///
/// # Panics
/// A scalar's top bit is set.
///
/// # Security
/// Variable time: public data only.
#[must_use]
pub fn double_mul_base_and_vartime(
    a: &[u8; 32],
    p: &[Point; 2],
    b: &[u8; 32],
    h: &Point,
) -> [Point; 2] {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = Lanes8::detect() {
        return ifma::double_mul_pair_vartime(lanes, a, p, b, &[*base().point(), *h]);
    }
    #[cfg(target_arch = "x86_64")]
    if is_avx2() {
        // SAFETY: the CPU has AVX2 and FMA, as asked just now.
        return unsafe { fma::double_mul_pair_vartime(a, p, b, &[*base().point(), *h]) };
    }
    [p[0].double_mul_fixed_vartime(a, base(), b), p[1].double_mul_vartime(a, h, b)]
}

/// Computes a P and b P.
///
/// # Panics
/// A scalar's top bit is set.
///
/// # Security
/// Constant time.
#[must_use]
pub fn mul_pair(p: &Point, a: &[u8; 32], b: &[u8; 32]) -> [Point; 2] {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = Lanes8::detect() {
        return ifma::mul_pair(lanes, p, a, b);
    }
    #[cfg(target_arch = "x86_64")]
    if is_avx2() {
        // SAFETY: the CPU has AVX2 and FMA, as asked just now.
        return unsafe { fma::mul_pair(p, a, b) };
    }
    [p.mul(a), p.mul(b)]
}

/// Computes a B, B being the base point.
///
/// # Panics
/// The scalar's top bit is set.
///
/// # Security
/// Constant time.
#[must_use]
pub fn mul_base(a: &[u8; 32]) -> Point {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = Lanes8::detect() {
        return ifma::mul_base(lanes, a);
    }
    #[cfg(target_arch = "x86_64")]
    if is_avx2() {
        // SAFETY: the CPU has AVX2 and FMA, as asked just now.
        return unsafe { fma::mul_base(a) };
    }
    base().mul(a)
}

/// Encodes at most eight points. RFC 8032 §5.1.2
///
/// # Panics
/// There are more than eight.
///
/// # Security
/// Constant time.
#[must_use]
pub fn encode<const N: usize>(points: &[Point; N]) -> [[u8; 32]; N] {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = Lanes8::detect() {
        let inverses = ifma::invert(lanes, &points.map(|p| p.z));
        return core::array::from_fn(|i| points[i].encode_with(&inverses[i]));
    }
    Point::encode_all(points)
}

/// Takes at most eight roots of ratios u/v, each as [`Fe::sqrt_ratio`] does.
///
/// # Panics
/// There are more than eight.
///
/// # Security
/// Constant time.
#[must_use]
pub fn sqrt_ratios<const N: usize>(ratios: &[(Fe, Fe); N]) -> [(Choice, Fe); N] {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = Lanes8::detect() {
        return ifma::sqrt_ratios(lanes, ratios);
    }
    #[cfg(target_arch = "x86_64")]
    if N > 1 && is_avx2() {
        let bases = ratios.map(|(u, v)| Fe::root_base(&u, &v));
        // SAFETY: the CPU has AVX2 and FMA, as asked just now.
        let powers = unsafe { fma::pow_p58_all(&bases) };
        return core::array::from_fn(|i| {
            let (u, v) = &ratios[i];
            Fe::root_from_power(u, v, &powers[i])
        });
    }
    ratios.map(|(u, v)| Fe::sqrt_ratio(&u, &v))
}

#[cfg(test)]
mod tests;
