//! Eight points of a curve with an equation y^2 = x^3 + a x + b at a time, for verifiers: variable time.
//! Compiled once for each curve, into `p256x8` and `secp256k1x8`.
//!
//! The twin of [`crate::weierstrass`], with the same formulas in Jacobian coordinates. They have
//! exceptions, which a lane cannot branch on: adding a point to itself or to its negative gives Z = 0,
//! which stays, so that a lane with Z = 0 in the end met one, or has the neutral element. Such lanes are
//! told, and their rows are left to the code that has branches. Honest input never leads there, but for a
//! chance of 2^-250.
//!
//! The module around it has the curve: `GENERATOR`, `ONE`, `PRIME`, `double`, `right_side` of the equation,
//! and what makes elements of numbers and back.
//!
//! SEC 1 §2.3; Bernstein and Lange, Explicit-Formulas Database, "jacobian"

use super::field::{self, Fe8, carry, minus, plus, shift};
use super::{GENERATOR, ONE, PRIME, double, from_limbs, numbers, right_side};
use crate::lanes8::Lanes8;
use crate::limbs52::{join, split};
use crate::weierstrass::eight::DoubleMul;
use core::arch::x86_64::*;

/// Eight points in Jacobian coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Points {
    pub(super) x: Fe8,
    pub(super) y: Fe8,
    pub(super) z: Fe8,
}

/// Points made ready for being added: X, Y, Z, Z^2, Z^3.
#[derive(Clone, Copy)]
struct Cached {
    point: Points,
    zz: Fe8,
    zzz: Fe8,
}

/// Decodes compressed points; the mask has the lanes where that was possible.
///
/// SEC 1 §2.3.4
#[must_use]
pub fn decode_vartime(_: Lanes8, encodings: &[[u8; 33]; 8]) -> (Points, u8) {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { decode(encodings) }
}

/// Computes s P − c Q for each group; the masks have the lanes whose results are to be used.
///
/// # Security
/// Variable time in the caches alone; public data only.
#[must_use]
pub fn double_mul_vartime(_: Lanes8, groups: &[DoubleMul<'_, Points>]) -> Vec<(Points, u8)> {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    groups.iter().map(|group| unsafe { double_mul(group) }).collect()
}

/// Encodes points, none of which is neutral where its encoding is used, with one inversion.
///
/// SEC 1 §2.3.3
#[must_use]
pub fn encode_all(_: Lanes8, groups: &[Points]) -> Vec<[[u8; 33]; 8]> {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { encode(groups) }
}

/// One lane's point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane([[u64; 5]; 3]);

impl Points {
    /// One lane's point.
    #[must_use]
    pub fn lane(&self, _: Lanes8, lane: usize) -> Lane {
        // SAFETY: the token shows that the CPU has the features that the function enables.
        Lane(
            [&self.x, &self.y, &self.z]
                .map(|a| a.0.map(|limb| unsafe { field::lanes(limb) }[lane])),
        )
    }

    /// One point for each lane.
    #[must_use]
    pub fn from_lanes(_: Lanes8, points: &[Lane; 8]) -> Points {
        let limb = |k: usize, i: usize| {
            let limbs = points.map(|point| point.0[k][i]);
            // SAFETY: the token shows that the CPU has the features that the function enables.
            unsafe { field::load(&limbs) }
        };
        let [x, y, z] = [0, 1, 2].map(|k| Fe8([0, 1, 2, 3, 4].map(|i| limb(k, i))));
        Points { x, y, z }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(x: Fe8, y: Fe8) -> Points {
        Points { x, y, z: Fe8::broadcast(&ONE) }
    }

    /// `other` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn select(&self, other: &Points, mask: u8) -> Points {
        Points {
            x: self.x.select(&other.x, mask),
            y: self.y.select(&other.y, mask),
            z: self.z.select(&other.z, mask),
        }
    }

    /// Formula "add-1998-cmo", exceptions as the module says.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&self, q: &Cached) -> Points {
        let zz = self.z.sqr();
        let (u1, u2) = (self.x.mul(&q.zz), q.point.x.mul(&zz));
        let s1 = self.y.mul(&q.zzz);
        let s2 = q.point.y.mul(&self.z.mul(&zz));
        let z = self.z.mul(&q.point.z);
        let (h, r) = (u2.sub(&u1), s2.sub(&s1));
        let hh = h.sqr();
        let (hhh, v) = (h.mul(&hh), u1.mul(&hh));
        let x = carry(minus::<0>(&r.sqr().0, &plus(&hhh.0, &shift::<1>(&v.0))));
        let y = r.mul(&v.sub(&x)).sub(&s1.mul(&hhh));
        Points { x, y, z: z.mul(&h) }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn cached(&self) -> Cached {
        let zz = self.z.sqr();
        Cached { point: *self, zz, zzz: zz.mul(&self.z) }
    }
}

/// P, 2P, ..., 8P.
#[target_feature(enable = "avx512f,avx512ifma")]
fn table(p: &Points) -> [Cached; 8] {
    let once = p.cached();
    let mut multiple = double(p);
    let mut table = [once; 8];
    table[1] = multiple.cached();
    for entry in &mut table[2..] {
        multiple = multiple.add(&once);
        *entry = multiple.cached();
    }
    table
}

/// The digits' multiples, for digits from −8 to 8; any where they are 0.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn look_up(table: &[Cached; 8], digits: __m512i) -> Cached {
    let magnitude = _mm512_abs_epi64(digits);
    let mut r = table[0];
    for (i, entry) in table.iter().enumerate().skip(1) {
        let here = _mm512_cmpeq_epi64_mask(magnitude, field::splat(i as u64 + 1));
        r.point = r.point.select(&entry.point, here);
        r.zz = r.zz.select(&entry.zz, here);
        r.zzz = r.zzz.select(&entry.zzz, here);
    }
    let negative = _mm512_cmplt_epi64_mask(digits, _mm512_setzero_si512());
    r.point.y = r.point.y.select(&r.point.y.neg(), negative);
    r
}

/// Places of a scalar of 256 bits in radix 16, and of one of 128.
const ROWS: usize = 65;
const SHORT_ROWS: usize = 33;

/// Digits from −8 to 8 of big-endian scalars, a vector a place.
#[target_feature(enable = "avx512f")]
fn radix_16<const N: usize>(scalars: &[[u8; N]; 8], negate: bool) -> [__m512i; ROWS] {
    let mut rows = [[0u64; 8]; ROWS];
    for (lane, scalar) in scalars.iter().enumerate() {
        let mut carry = 0;
        for place in 0..=2 * N {
            let nibble = match scalar.iter().rev().nth(place / 2) {
                Some(byte) => byte >> (4 * (place % 2)) & 15,
                None => 0,
            };
            let digit = i64::from(nibble) + carry;
            carry = i64::from(digit > 8);
            let digit = digit - 16 * carry;
            rows[place][lane] = if negate { -digit } else { digit } as u64;
        }
    }
    let mut digits = [field::splat(0); ROWS];
    for (digits, row) in digits.iter_mut().zip(&rows) {
        *digits = field::load(row);
    }
    digits
}

/// A sum, and the lanes where it is still neutral.
struct Sum {
    point: Points,
    neutral: u8,
}

impl Sum {
    /// Adds the digits' multiples.
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn add(&mut self, table: &[Cached; 8], digits: __m512i) {
        let nothing = _mm512_cmpeq_epi64_mask(digits, _mm512_setzero_si512());
        if nothing == 0xff {
            return;
        }
        let q = look_up(table, digits);
        let sum = self.point.add(&q).select(&q.point, self.neutral);
        self.point = sum.select(&self.point, nothing);
        self.neutral &= nothing;
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn double_mul(group: &DoubleMul<'_, Points>) -> (Points, u8) {
    let [x, y] = GENERATOR;
    let generator = Points::new(Fe8::broadcast(&x), Fe8::broadcast(&y));
    let (of_p, of_q) = (table(group.p.unwrap_or(&generator)), table(group.q));
    let (s, c) = (radix_16(group.s, false), radix_16(group.c, true));
    let mut sum = Sum { point: generator, neutral: 0xff };
    for i in (0..ROWS).rev() {
        if sum.neutral != 0xff {
            for _ in 0..4 {
                sum.point = double(&sum.point);
            }
        }
        sum.add(&of_p, s[i]);
        if i < SHORT_ROWS {
            sum.add(&of_q, c[i]);
        }
    }
    (sum.point, !(sum.neutral | sum.point.z.is_zero()))
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn decode(encodings: &[[u8; 33]; 8]) -> (Points, u8) {
    let (mut good, mut odd) = (0, 0);
    let mut limbs_of = [[0; 5]; 8];
    for (lane, bytes) in encodings.iter().enumerate() {
        let x: [u8; 32] = core::array::from_fn(|i| bytes[i + 1]);
        good |= u8::from(matches!(bytes[0], 2 | 3) && x < PRIME) << lane;
        odd |= (bytes[0] & 1) << lane;
        limbs_of[lane] = split(&x);
    }
    let x = from_limbs(&limbs_of);
    let square = right_side(&x);
    let y = square.sqrt_candidate();
    good &= y.sqr().sub(&square).is_zero();
    let is_odd = _mm512_test_epi64_mask(numbers(&y)[0], field::splat(1));
    (Points::new(x, y.select(&y.neg(), is_odd ^ odd)), good)
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn encode(groups: &[Points]) -> Vec<[[u8; 33]; 8]> {
    let one = Fe8::broadcast(&ONE);
    let z: Vec<Fe8> = groups.iter().map(|p| p.z.select(&one, p.z.is_zero())).collect();
    let mut before = Vec::with_capacity(z.len());
    let mut product = one;
    for z in &z {
        before.push(product);
        product = product.mul(z);
    }
    let mut inverse = product.invert();
    let mut out = vec![[[0; 33]; 8]; groups.len()];
    for (i, p) in groups.iter().enumerate().rev() {
        let z_inverse = inverse.mul(&before[i]);
        inverse = inverse.mul(&z[i]);
        let zz = z_inverse.sqr();
        let (x, y) = (numbers(&p.x.mul(&zz)), numbers(&p.y.mul(&zz.mul(&z_inverse))));
        let odd = field::lanes(y[0]);
        let mut words = [[0; 8]; 5];
        for k in 0..5 {
            words[k] = field::lanes(x[k]);
        }
        for (lane, bytes) in out[i].iter_mut().enumerate() {
            bytes[0] = 2 + (odd[lane] & 1) as u8;
            bytes[1..].copy_from_slice(&join(&words.map(|word| word[lane])));
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::duplicate_mod)] // likewise
#[path = "jacobian8/tests.rs"]
mod tests;
