//! Two points in step with AVX2 and FMA.
//!
//! Each point is one vector element, its coordinates side by side in the four lanes:
//!
//! ```text
//! lane     0  1  2  3
//!         (X, Y, Z, T)
//! ```
//!
//! Both formulas are four multiplications after four others, so two vector multiplications add or
//! double a point. Between the two, sums and differences are taken of the first four's results, before
//! their carry. A product's latency is that of nearly two, so the two points, which do not wait for
//! each other, fill the gaps.
//!
//! Bounds are those of [`crate::field25519x4`]: coordinates are at most 1, columns before a carry count
//! at most 4.
//!
//! Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", §4.3 (four processors)

use crate::edwards25519::{Affine, Point, base, non_adjacent_form, radix_16};
use crate::field25519::Fe;
use crate::field25519x4::{Fe4, Wide, balanced, pow_p58};
use core::arch::x86_64::*;
use std::sync::LazyLock;
use zeroize::Zeroize;

/// A point, at most 1.
#[derive(Clone, Copy)]
struct Extended(Fe4);

/// A point made ready for being added: (Y-X, Y+X, 2Z, 2dT), at most 1.
#[derive(Clone, Copy)]
struct Cached(Fe4);

/// Lane numbers for `_mm256_permute4x64_*`.
const fn from(lanes: [i32; 4]) -> i32 {
    lanes[0] | lanes[1] << 2 | lanes[2] << 4 | lanes[3] << 6
}

/// All ones in the lanes that have a 1.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(lanes: [i64; 4]) -> __m256i {
    let [a, b, c, d] = lanes.map(|lane| -lane);
    _mm256_setr_epi64x(a, b, c, d)
}

/// The negatives in the lanes of a mask.
#[inline]
#[target_feature(enable = "avx2")]
fn negate(x: __m256i, mask: __m256i) -> __m256i {
    _mm256_sub_epi64(_mm256_xor_si256(x, mask), mask)
}

impl Extended {
    #[target_feature(enable = "avx2")]
    fn new(p: &Point) -> Extended {
        Extended(Fe4::from_lanes(&[p.x, p.y, p.z, p.t]))
    }

    #[target_feature(enable = "avx2")]
    fn point(&self) -> Point {
        let [x, y, z, t] = self.0.to_lanes();
        Point { x, y, z, t }
    }

    /// Twice the point; T is not read.
    ///
    /// A, B, C, P = X^2, Y^2, Z^2, XY; E = 2P, F = B-A-2C, G = B-A, H = -(A+B);
    /// X, Y, Z, T = EF, GH, FG, EH.
    ///
    /// # Correctness
    /// A, B, C and P count 1 each, so that F counts 4.
    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    fn double(&mut self) {
        let (mut f, mut g) = (self.0, self.0);
        for i in 0..5 {
            f.0[i] = _mm256_permute4x64_pd::<{ from([0, 1, 2, 0]) }>(self.0.0[i]);
            g.0[i] = _mm256_permute4x64_pd::<{ from([0, 1, 2, 1]) }>(self.0.0[i]);
        }
        let q = f.mul_wide(&g).0;
        let (mut left, mut right) = (q, q);
        for i in 0..5 {
            let a = _mm256_permute4x64_epi64::<{ from([0, 0, 0, 0]) }>(q[i]);
            let b = _mm256_permute4x64_epi64::<{ from([1, 1, 1, 1]) }>(q[i]);
            let c = _mm256_permute4x64_epi64::<{ from([2, 2, 2, 2]) }>(q[i]);
            let p = _mm256_permute4x64_epi64::<{ from([3, 3, 3, 3]) }>(q[i]);
            let (p2, c2) = (_mm256_add_epi64(p, p), _mm256_add_epi64(c, c));
            let b_minus_a = _mm256_sub_epi64(b, a);
            // (2P, B-A, B-A-2C, 2P)
            let c_left = _mm256_and_si256(c2, mask([0, 0, 1, 0]));
            let left_sum = _mm256_sub_epi64(b_minus_a, c_left);
            left[i] = _mm256_blend_epi32::<0b11000011>(left_sum, p2);
            // (B-A-2C, -B-A, B-A, -B-A)
            let c_right = _mm256_and_si256(c2, mask([1, 0, 0, 0]));
            let b_signed = negate(b, mask([0, 1, 0, 1]));
            right[i] = _mm256_sub_epi64(_mm256_sub_epi64(b_signed, a), c_right);
        }
        self.0 = Wide(left).carry().mul(&Wide(right).carry());
    }

    /// (Y-X, Y+X, Z, T), of which the first two are at most 2.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn prepared(&self) -> Fe4 {
        let signs = _mm256_setr_pd(-1.0, 1.0, 0.0, 0.0);
        let mut r = self.0;
        for limb in &mut r.0 {
            let x = _mm256_permute4x64_pd::<{ from([0, 0, 0, 0]) }>(*limb);
            let y = _mm256_permute4x64_pd::<{ from([1, 1, 2, 3]) }>(*limb);
            *limb = _mm256_fmadd_pd(x, signs, y);
        }
        r
    }

    /// The sum with another point.
    ///
    /// a, b, d, c = the products of (Y-X, Y+X, Z, T) with the cached coordinates; E = b-a, F = d-c,
    /// G = d+c, H = b+a; X, Y, Z, T = EF, GH, FG, EH.
    ///
    /// # Correctness
    /// a and b count 2, so that E and H count 4.
    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    fn add(&mut self, other: &Cached) {
        let q = self.prepared().mul_wide(&other.0).0;
        let (mut left, mut right) = (q, q);
        for i in 0..5 {
            // (b-a, d+c, d-c, b-a)
            let first = _mm256_permute4x64_epi64::<{ from([1, 2, 2, 1]) }>(q[i]);
            let second = _mm256_permute4x64_epi64::<{ from([0, 3, 3, 0]) }>(q[i]);
            left[i] = _mm256_add_epi64(first, negate(second, mask([1, 0, 1, 1])));
            // (d-c, b+a, d+c, b+a)
            let first = _mm256_permute4x64_epi64::<{ from([2, 1, 2, 1]) }>(q[i]);
            let second = _mm256_permute4x64_epi64::<{ from([3, 0, 3, 0]) }>(q[i]);
            right[i] = _mm256_add_epi64(first, negate(second, mask([1, 0, 0, 0])));
        }
        self.0 = Wide(left).carry().mul(&Wide(right).carry());
    }

    #[target_feature(enable = "avx2,fma")]
    fn cached(&self) -> Cached {
        let twice_z = _mm256_setr_pd(1.0, 1.0, 2.0, 1.0);
        let mut r = self.prepared();
        for limb in &mut r.0 {
            *limb = _mm256_mul_pd(*limb, twice_z);
        }
        Cached(r.mul(&Fe4::from_lanes(&[Fe::ONE, Fe::ONE, Fe::ONE, Fe::D2])))
    }
}

impl Cached {
    /// The negative, where the mask is all ones.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn negated_where(&self, here: __m256i) -> Cached {
        let sign = _mm256_setr_pd(0.0, 0.0, 0.0, -0.0);
        let here = _mm256_castsi256_pd(here);
        let mut r = self.0;
        for limb in &mut r.0 {
            let swapped = _mm256_permute4x64_pd::<{ from([1, 0, 2, 3]) }>(*limb);
            *limb = _mm256_blendv_pd(*limb, _mm256_xor_pd(swapped, sign), here);
        }
        Cached(r)
    }

    /// The neutral element.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn neutral() -> Cached {
        let mut r = [_mm256_setzero_pd(); 5];
        r[0] = _mm256_setr_pd(1.0, 1.0, 2.0, 0.0);
        Cached(Fe4(r))
    }
}

/// As [`super::double_mul_pair_vartime`].
#[target_feature(enable = "avx2,fma")]
pub(super) fn double_mul_pair_vartime(
    a: &[u8; 32],
    p: &[Point; 2],
    b: &[u8; 32],
    q: &[Point; 2],
) -> [Point; 2] {
    let forms = [non_adjacent_form(a, 5), non_adjacent_form(b, 5)];
    let tables = [p, q].map(|points| [odd_multiples(&points[0]), odd_multiples(&points[1])]);
    let top = (0..256).rev().find(|&i| forms[0][i] != 0 || forms[1][i] != 0);
    let mut r = [Extended::new(&Point::IDENTITY); 2];
    for i in (0..=top.unwrap_or(0)).rev() {
        for half in &mut r {
            half.double();
        }
        for (form, tables) in forms.iter().zip(&tables) {
            let digit = form[i];
            if digit != 0 {
                let negative = _mm256_set1_epi64x(i64::from(digit >> 7));
                for (half, table) in r.iter_mut().zip(tables) {
                    let multiple = &table[usize::from(digit.unsigned_abs() / 2)];
                    half.add(&multiple.negated_where(negative));
                }
            }
        }
    }
    [r[0].point(), r[1].point()]
}

/// P, 3P, ..., 15P.
#[target_feature(enable = "avx2,fma")]
fn odd_multiples(p: &Point) -> [Cached; 8] {
    let mut multiple = Extended::new(p);
    let mut twice = multiple;
    twice.double();
    let twice = twice.cached();
    let mut table = [multiple.cached(); 8];
    for entry in &mut table[1..] {
        multiple.add(&twice);
        *entry = multiple.cached();
    }
    table
}

/// As [`super::mul_pair`].
#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_pair(p: &Point, a: &[u8; 32], b: &[u8; 32]) -> [Point; 2] {
    let mut digits = [radix_16(a), radix_16(b)];
    let mut multiple = Extended::new(p);
    let once = multiple.cached();
    let mut table = [once; 8];
    for entry in &mut table[1..] {
        multiple.add(&once);
        *entry = multiple.cached();
    }
    let mut r = [Extended::new(&Point::IDENTITY); 2];
    for i in (0..64).rev() {
        for _ in 0..if i < 63 { 4 } else { 0 } {
            for half in &mut r {
                half.double();
            }
        }
        for (half, digits) in r.iter_mut().zip(&digits) {
            half.add(&select(&table, digits[i]));
        }
    }
    digits.zeroize();
    [r[0].point(), r[1].point()]
}

/// `digit` times the first entry, digit in -8..=8, reading every entry.
#[inline]
#[target_feature(enable = "avx2")]
fn select(table: &[Cached; 8], digit: i8) -> Cached {
    // Vectors, not numbers, are compared, so that nothing is left to branch on.
    let digit = _mm256_set1_epi64x(i64::from(digit));
    let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), digit);
    let magnitude = negate(digit, negative);
    let zero = _mm256_castsi256_pd(_mm256_cmpeq_epi64(magnitude, _mm256_setzero_si256()));
    let mut r = Cached::neutral();
    for limb in &mut r.0.0 {
        *limb = _mm256_and_pd(*limb, zero);
    }
    for (j, entry) in table.iter().enumerate() {
        let here = _mm256_cmpeq_epi64(magnitude, _mm256_set1_epi64x(j as i64 + 1));
        let here = _mm256_castsi256_pd(here);
        for i in 0..5 {
            r.0.0[i] = _mm256_or_pd(r.0.0[i], _mm256_and_pd(entry.0.0[i], here));
        }
    }
    r.negated_where(negative)
}

/// Five limbs of four lanes: an affine point made ready for being added.
type Entry = [[f64; 4]; 5];

/// j·256^i·B at 8 i + j - 1, as the portable comb.
static COMB: LazyLock<Vec<[Entry; 8]>> = LazyLock::new(|| {
    let entry = |affine: &Affine| -> Entry {
        let [minus, plus, t2d] = [affine.y_minus_x, affine.y_plus_x, affine.xy2d]
            .map(|element| balanced(&element.canonical()));
        let two = [2.0, 0.0, 0.0, 0.0, 0.0];
        core::array::from_fn(|i| [minus[i], plus[i], two[i], t2d[i]])
    };
    let tables = base().comb().chunks_exact(8);
    tables.map(|table| core::array::from_fn(|j| entry(&table[j]))).collect()
});

/// As [`super::mul_base`]: the even digits' sum in one point, the odd digits' in the other.
#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_base(a: &[u8; 32]) -> Point {
    let mut digits = radix_16(a);
    let mut r = [Extended::new(&Point::IDENTITY); 2];
    for (i, entries) in COMB.iter().enumerate() {
        let mut table = [Cached::neutral(); 8];
        for (entry, limbs) in table.iter_mut().zip(entries) {
            for k in 0..5 {
                entry.0.0[k] = load(&limbs[k]);
            }
        }
        for (odd, half) in r.iter_mut().enumerate() {
            half.add(&select(&table, digits[2 * i + odd]));
        }
    }
    digits.zeroize();
    let [mut even, mut odd] = r;
    for _ in 0..4 {
        odd.double();
    }
    even.add(&odd.cached());
    even.point()
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(lanes: &[f64; 4]) -> __m256d {
    // SAFETY: the reference is to 32 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_loadu_pd(lanes.as_ptr()) }
}

/// Raises at most eight elements to (p-5)/8.
#[target_feature(enable = "avx2,fma")]
pub(super) fn pow_p58_all<const N: usize>(elements: &[Fe; N]) -> [Fe; N] {
    assert!(N <= 8, "two vectors hold eight elements");
    let of = |i: usize| if i < N { elements[i] } else { Fe::ONE };
    let group = |i: usize| [of(i), of(i + 1), of(i + 2), of(i + 3)];
    let low = Fe4::from_lanes(&group(0));
    let powers = if N <= 4 {
        let [low] = pow_p58(&[low]);
        [low.to_lanes(), [Fe::ONE; 4]]
    } else {
        let [low, high] = pow_p58(&[low, Fe4::from_lanes(&group(4))]);
        [low.to_lanes(), high.to_lanes()]
    };
    core::array::from_fn(|i| powers[i / 4][i % 4])
}
