//! Constant-time multiplications by secret scalars: two of one point, one of many points, and one of
//! the base point.
//!
//! Signed digits of four bits, looked up by going through the whole table, in every lane. Two sums are
//! always computed in step, because one alone waits for its own products: those of a point's two
//! scalars, or those of two groups with the same scalar. A multiple of B is two sums of 32 entries of
//! 32 tables each, for the odd and for the even powers of 16, in step as well.

use super::table::ScannedMultiples;
use super::{Affine, Augend, Completed, Points};
use crate::edwards25519::{self, base};
use crate::edwards25519x8::TwoMul;
use crate::field25519x8::{Fe8, words};
use crate::lanes8::Lanes8;
use core::arch::x86_64::*;
use std::sync::LazyLock;
use zeroize::{Zeroize, Zeroizing};

/// Multiplies each lane's point by both of its scalars.
///
/// # Panics
/// A scalar is not below 2^253.
///
/// # Security
/// Constant time.
#[must_use]
pub fn two_mul_all(_: Lanes8, groups: &[TwoMul<'_, Points>]) -> Vec<[Points; 2]> {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { two_mul(groups) }
}

/// Multiplies every point by one scalar below 2^253, little-endian.
///
/// # Panics
/// The scalar is not below 2^253.
///
/// # Security
/// Constant time.
#[must_use]
pub fn mul_all(_: Lanes8, scalar: &[u8; 32], points: &[Points]) -> Vec<Points> {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { mul_by_one(scalar, points) }
}

/// Multiplies the base point by scalars below 2^253, little-endian.
///
/// # Panics
/// A scalar is not below 2^253.
///
/// # Security
/// Constant time.
#[must_use]
pub fn mul_base_all(_: Lanes8, scalars: &[[[u8; 32]; 8]]) -> Vec<Points> {
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { mul_base(scalars) }
}

/// Words of scalars with 0x88..88 added: nibbles are digits plus 8.
struct Nibbles([__m512i; 4]);

impl Nibbles {
    #[target_feature(enable = "avx512f")]
    fn new(scalars: &[[u8; 32]; 8]) -> Nibbles {
        let mut sums = *scalars;
        for (sum, scalar) in sums.iter_mut().zip(scalars) {
            assert!(scalar[31] < 0x20, "scalars are below 2^253");
            *sum = super::scalar_mul::add_repeated(scalar, 0x8888_8888_8888_8888);
        }
        let nibbles = Nibbles(words(&sums));
        sums.zeroize();
        nibbles
    }

    /// The digits at 16^i.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn digits(&self, i: usize) -> SecretDigits {
        let word = super::scalar_mul::field(self.0[i / 16], 4 * (i % 16), 15);
        SecretDigits::from_excess(word)
    }
}

/// Digits of eight lanes that stay in registers.
pub(super) struct SecretDigits {
    pub(super) magnitudes: __m512i,
    pub(super) negative: u8,
}

impl SecretDigits {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn from_excess(v: __m512i) -> SecretDigits {
        let digits = _mm512_sub_epi64(v, _mm512_set1_epi64(8));
        let negative = _mm512_cmplt_epi64_mask(digits, _mm512_setzero_si512());
        SecretDigits { magnitudes: _mm512_abs_epi64(digits), negative }
    }

    /// The lanes with this magnitude.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn are(&self, magnitude: i64) -> u8 {
        _mm512_cmpeq_epi64_mask(self.magnitudes, _mm512_set1_epi64(magnitude))
    }
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn two_mul(groups: &[TwoMul<'_, Points>]) -> Vec<[Points; 2]> {
    let mut table = ScannedMultiples::new();
    let mut out = Vec::with_capacity(groups.len());
    let neutral = Points::neutral();
    let (mut points, mut augends) = ([neutral; 2], [neutral.augend(); 2]);
    for group in groups {
        let nibbles = [Nibbles::new(group.scalars[0]), Nibbles::new(group.scalars[1])];
        table.fill(group.point);
        let mut sums = [Completed::of(&neutral); 2];
        for i in (0..64).rev() {
            if i < 63 {
                double_4_times(&mut sums, &mut points);
            }
            sums[0].set_augend(&mut augends[0]);
            sums[1].set_augend(&mut augends[1]);
            table.add_to(&augends[0], &nibbles[0].digits(i), &mut sums[0]);
            table.add_to(&augends[1], &nibbles[1].digits(i), &mut sums[1]);
        }
        out.push([sums[0].extended(), sums[1].extended()]);
    }
    out
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn mul_by_one(scalar: &[u8; 32], points: &[Points]) -> Vec<Points> {
    let nibbles = Nibbles::new(&Zeroizing::new([*scalar; 8]));
    let mut tables = [ScannedMultiples::new(), ScannedMultiples::new()];
    let mut out = Vec::with_capacity(points.len());
    let neutral = Points::neutral();
    let (mut doubled, mut augends) = ([neutral; 2], [neutral.augend(); 2]);
    for pair in points.chunks(2) {
        let n = pair.len();
        for (table, p) in tables.iter_mut().zip(pair) {
            table.fill(p);
        }
        let mut sums = [Completed::of(&neutral); 2];
        for i in (0..64).rev() {
            if i < 63 {
                double_4_times(&mut sums[..n], &mut doubled);
            }
            let digits = nibbles.digits(i);
            for k in 0..n {
                sums[k].set_augend(&mut augends[k]);
            }
            for k in 0..n {
                tables[k].add_to(&augends[k], &digits, &mut sums[k]);
            }
        }
        for sum in &sums[..n] {
            out.push(sum.extended());
        }
    }
    out
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn double_4_times(sums: &mut [Completed], points: &mut [Points; 2]) {
    for _ in 0..4 {
        for (point, sum) in points.iter_mut().zip(&*sums) {
            point.set_projective(sum);
        }
        for (point, sum) in points.iter().zip(&mut *sums) {
            point.double(sum);
        }
    }
}

/// Multiples 1 to 8 of 256^i B, for i below 32, as canonical limbs of y + x, y - x and 2dxy.
static COMB: LazyLock<Vec<[[[u64; 5]; 3]; 8]>> = LazyLock::new(|| {
    let multiples = |i: usize| -> [[[u64; 5]; 3]; 8] {
        let points: [_; 8] = core::array::from_fn(|j| {
            let mut scalar = [0; 32];
            scalar[i] = j as u8 + 1;
            base().mul(&scalar)
        });
        let entries = edwards25519::Affine::from_points(&points);
        core::array::from_fn(|j| {
            let e = &entries[j];
            [e.y_plus_x.canonical(), e.y_minus_x.canonical(), e.xy2d.canonical()]
        })
    };
    (0..32).map(multiples).collect()
});

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn mul_base(scalars: &[[[u8; 32]; 8]]) -> Vec<Points> {
    let mut out = Vec::with_capacity(scalars.len());
    let neutral = Points::neutral();
    let (mut points, mut augends) = ([neutral; 2], [neutral.augend(); 2]);
    for scalars in scalars {
        let nibbles = Nibbles::new(scalars);
        let mut sums = [Completed::of(&neutral); 2];
        for (i, table) in COMB.iter().enumerate() {
            sums[0].set_augend(&mut augends[0]);
            sums[1].set_augend(&mut augends[1]);
            add_comb(&augends[0], table, &nibbles.digits(2 * i + 1), &mut sums[0]);
            add_comb(&augends[1], table, &nibbles.digits(2 * i), &mut sums[1]);
        }
        double_4_times(&mut sums[..1], &mut points);
        sums[0].set_augend(&mut augends[0]);
        sums[1].set_augend(&mut augends[1]);
        augends[0].add_cached(&augends[1].cached(), &mut sums[0]);
        out.push(sums[0].extended());
    }
    out
}

/// Adds the digits' multiples, going through the whole table.
///
/// # Correctness
/// Entries are canonical, so that their negatives are loose and fit for being multiplied.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn add_comb(p: &Augend, table: &[[[u64; 5]; 3]; 8], digits: &SecretDigits, sum: &mut Completed) {
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi64(1));
    let mut found = [[zero; 5]; 3];
    (found[0][0], found[1][0]) = (one, one);
    for (j, entry) in table.iter().enumerate() {
        let here = digits.are(j as i64 + 1);
        for (limbs, constant) in found.iter_mut().zip(entry) {
            for (limb, &c) in limbs.iter_mut().zip(constant) {
                *limb = _mm512_mask_mov_epi64(*limb, here, _mm512_set1_epi64(c as i64));
            }
        }
    }
    let [plus, minus, xy2d] = found.map(Fe8);
    let q = Affine {
        y_plus_x: plus.or_where(digits.negative, &minus),
        y_minus_x: minus.or_where(digits.negative, &plus),
        xy2d: xy2d.negate_loose_where(digits.negative),
    };
    p.add_affine(&q, sum);
}
