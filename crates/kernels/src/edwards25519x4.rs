//! Four points of edwards25519 at a time, for CPUs with AVX2 and no AVX-512 IFMA.
//!
//! Only what costs most is done in lanes, square roots' exponentiations and multiplications; points
//! come and go as the portable code's. Without AVX2 the portable code does it all.
//!
//! Functions are constant time unless their names end in `_vartime`; those are for public data.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod secret_mul;
#[cfg(target_arch = "x86_64")]
mod table;

use crate::edwards25519::{Point, base, radix_16};
use crate::field25519::Fe;
use subtle::Choice;

/// The integer that multiplies a point in place of -c, in signed digits of radix 16.
#[derive(Clone, Copy, Debug)]
pub struct MinusC {
    /// Whether 2^252 is added to what the digits make.
    plus_2_252: bool,
    digits: [i8; 33],
}

/// L - 2^252.
const L_LOW: u128 = 27742317777372353535851937790883648493;

impl MinusC {
    /// The integer -c.
    #[must_use]
    pub fn integer(c: u128) -> MinusC {
        MinusC { plus_2_252: false, digits: digits(c).map(|digit| -digit) }
    }

    /// L - c, or 0 for c = 0.
    #[must_use]
    pub fn mod_order(c: u128) -> MinusC {
        if c == 0 {
            return MinusC::integer(0);
        }
        let digits =
            if c <= L_LOW { digits(L_LOW - c) } else { digits(c - L_LOW).map(|digit| -digit) };
        MinusC { plus_2_252: true, digits }
    }
}

fn digits(value: u128) -> [i8; 33] {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&value.to_le_bytes());
    let all = radix_16(&bytes);
    core::array::from_fn(|i| all[i])
}

/// What one lane computes: s B + m Y and s H + m G, with B the base point.
#[derive(Clone, Copy, Debug)]
pub struct DoubleMul {
    /// s, below 2^255, little-endian.
    pub s: [u8; 32],
    /// m.
    pub minus_c: MinusC,
    /// Y.
    pub y: Point,
    /// H.
    pub h: Point,
    /// G.
    pub g: Point,
}

/// Says whether four lanes are worked on at a time, for benchmarks and messages.
#[must_use]
pub fn is_fast() -> bool {
    crate::cpu::allowed(crate::cpu::Family::Avx2)
}

/// Computes both sums of four lanes; the first of each pair is that of B.
///
/// # Panics
/// The top bit of an s is set.
///
/// # Security
/// Variable time: public data only.
#[must_use]
pub fn double_mul_vartime(lanes: &[DoubleMul; 4]) -> [[Point; 2]; 4] {
    #[cfg(target_arch = "x86_64")]
    if is_fast() {
        // SAFETY: the CPU has AVX2 and FMA, as asked just now.
        return unsafe { avx2::double_mul_vartime(lanes) };
    }
    lanes.map(|lane| {
        let digits = radix_16(&lane.s);
        let sum = |table: &Point, m: &Point| {
            let mut r = if lane.minus_c.plus_2_252 { *m } else { Point::IDENTITY };
            for i in (0..64).rev() {
                if i < 63 {
                    r = r.double_times(4);
                }
                r = add_small(&r, table, digits[i]);
                r = add_small(&r, m, lane.minus_c.digits.get(i).copied().unwrap_or(0));
            }
            r
        };
        [sum(base().point(), &lane.y), sum(&lane.h, &lane.g)]
    })
}

/// r + n p for a small n.
fn add_small(r: &Point, p: &Point, n: i8) -> Point {
    let signed = if n < 0 { p.neg() } else { *p };
    let cached = signed.cached();
    (0..n.unsigned_abs()).fold(*r, |r, _| r.add_cached(&cached))
}

/// Multiplies each lane's point, of the subgroup of order L, by all of its scalars, which are below 2^253.
///
/// # Panics
/// A scalar is not below 2^253.
///
/// # Security
/// Constant time. Which multiple of L is added to a scalar is not specified, so a point with a torsion
/// part gives an unspecified result.
#[must_use]
pub fn mul_all<const N: usize>(
    points: &[Point; 4],
    scalars: [&[[u8; 32]; 4]; N],
) -> [[Point; 4]; N] {
    // The top bits are zero in every reduced scalar, and reveal nothing of it.
    let small = |scalar: &[u8; 32]| crate::ct::public(scalar[31] >> 5) == 0;
    assert!(scalars.iter().copied().flatten().all(small), "scalars are below 2^253");
    #[cfg(target_arch = "x86_64")]
    if is_fast() {
        // SAFETY: the CPU has AVX2 and FMA, as asked just now.
        return unsafe { secret_mul::mul_all(points, scalars) };
    }
    scalars.map(|scalars| core::array::from_fn(|lane| points[lane].mul(&scalars[lane])))
}

/// Multiplies the base point by four scalars, which are below 2^255.
///
/// # Panics
/// The top bit of a scalar is set.
///
/// # Security
/// Constant time.
#[must_use]
pub fn mul_base_all(scalars: &[[u8; 32]; 4]) -> [Point; 4] {
    #[cfg(target_arch = "x86_64")]
    if is_fast() {
        // SAFETY: the CPU has AVX2 and FMA, as asked just now.
        return unsafe { secret_mul::mul_base_all(scalars) };
    }
    core::array::from_fn(|lane| base().mul(&scalars[lane]))
}

/// Takes roots of ratios u/v, each as [`Fe::sqrt_ratio`] does, twelve at a time being best.
///
/// # Security
/// Constant time.
#[must_use]
pub fn sqrt_ratios(ratios: &[(Fe, Fe)]) -> Vec<(Choice, Fe)> {
    #[cfg(target_arch = "x86_64")]
    if is_fast() {
        let mut powers: Vec<Fe> = ratios.iter().map(|(u, v)| Fe::root_base(u, v)).collect();
        for chunk in powers.chunks_mut(12) {
            // SAFETY: the CPU has AVX2 and FMA, as asked just now.
            unsafe { avx2::pow_p58(chunk) };
        }
        let finish = |((u, v), power): (&(Fe, Fe), &Fe)| Fe::root_from_power(u, v, power);
        return ratios.iter().zip(&powers).map(finish).collect();
    }
    ratios.iter().map(|(u, v)| Fe::sqrt_ratio(u, v)).collect()
}

#[cfg(test)]
mod tests;
