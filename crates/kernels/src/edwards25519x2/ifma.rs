//! Two points in step with AVX-512 IFMA.
//!
//! ```text
//! lane     0   1   2   3   4   5   6   7
//!         (X0, Y0, Z0, T0, X1, Y1, Z1, T1)
//! ```
//!
//! Both formulas are four multiplications after four others, so one vector multiplication does four
//! of each point. Between the two, sums and differences are taken of the first four's results, which
//! are moved about inside each half; they are taken before the carry, so that there is one carry for
//! each factor. Doubling yields T for nothing, in the lane that would idle.
//!
//! Limbs of products before their carry are at most 267·2^52 (`Fe8::mul_wide`); a negative is taken
//! from 2^10 p, whose limbs are 512·2^52 less a little. The largest sum is 2C + A - B, at most
//! (3·267 + 512)·2^52 < 2^63, which a carry takes.
//!
//! Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", §4.3 (four processors)

use crate::edwards25519::{Point, non_adjacent_form, radix_16};
use crate::field25519::{Fe, MASK51};
use crate::field25519x8::{Fe8, Roots, Wide, carry, invert_all, lanes, load, sqrt_ratio_all};
use crate::lanes8::Lanes8;
use core::arch::x86_64::*;
use std::sync::LazyLock;
use subtle::Choice;
use zeroize::Zeroize;

/// Two points, before a carry.
#[derive(Clone, Copy)]
struct Pair(Wide);

/// Two points made ready for being added: (Y-X, Y+X, 2Z, 2dT) in each half, tight.
#[derive(Clone, Copy)]
struct Cached(Fe8);

/// Lanes of both halves, from a mask of four.
const fn both(mask: u8) -> u8 {
    mask | mask << 4
}

/// Lane numbers for `_mm512_permutex_epi64`, which moves within each half.
const fn from(lanes: [i32; 4]) -> i32 {
    lanes[0] | lanes[1] << 2 | lanes[2] << 4 | lanes[3] << 6
}

/// Limb i of 2^10 p.
#[inline]
#[target_feature(enable = "avx512f")]
fn bias(i: usize) -> __m512i {
    _mm512_set1_epi64(if i == 0 { (MASK51 - 18) << 10 } else { MASK51 << 10 } as i64)
}

impl Pair {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new(p: &[Point; 2]) -> Pair {
        let [p, q] = p;
        Pair(Wide(gather(&[&p.x, &p.y, &p.z, &p.t, &q.x, &q.y, &q.z, &q.t])))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn neutral() -> Pair {
        Pair::new(&[Point::IDENTITY; 2])
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    fn points(&self) -> [Point; 2] {
        let f = scatter(&self.0.reduce());
        [Point { x: f[0], y: f[1], z: f[2], t: f[3] }, Point { x: f[4], y: f[5], z: f[6], t: f[7] }]
    }

    /// Twice the points; T is not read.
    ///
    /// A, B, C, S = X^2, Y^2, Z^2, (X+Y)^2; E = A+B-S, F = 2C+A-B, G = A-B, H = A+B;
    /// X, Y, Z, T = EF, GH, FG, EH.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn double(&self) -> Pair {
        let mut s = self.0.0;
        for limb in &mut s {
            let x = _mm512_permutex_epi64::<{ from([0, 1, 2, 0]) }>(*limb);
            let y = _mm512_maskz_permutex_epi64::<{ from([0, 0, 0, 1]) }>(both(8), *limb);
            *limb = _mm512_add_epi64(x, y);
        }
        let q = carry(s).square_wide().0;
        let (mut left, mut right) = (q, q);
        for i in 0..5 {
            let a = _mm512_permutex_epi64::<{ from([0, 0, 0, 0]) }>(q[i]);
            let b = _mm512_permutex_epi64::<{ from([1, 1, 1, 1]) }>(q[i]);
            let c = _mm512_permutex_epi64::<{ from([2, 2, 2, 2]) }>(q[i]);
            let s = _mm512_permutex_epi64::<{ from([3, 3, 3, 3]) }>(q[i]);
            let twice_c = _mm512_add_epi64(c, c);
            let minus_s = _mm512_maskz_sub_epi64(both(9), bias(i), s);
            // (A+B-S, A-B, 2C+A-B, A+B-S)
            let signed = _mm512_mask_sub_epi64(b, both(6), bias(i), b);
            left[i] = _mm512_add_epi64(_mm512_add_epi64(a, signed), minus_s);
            left[i] = _mm512_mask_add_epi64(left[i], both(4), left[i], twice_c);
            // (2C+A-B, A+B, A-B, A+B)
            let signed = _mm512_mask_sub_epi64(b, both(5), bias(i), b);
            right[i] = _mm512_add_epi64(a, signed);
            right[i] = _mm512_mask_add_epi64(right[i], both(1), right[i], twice_c);
        }
        Pair(carry(left).mul_wide(&carry(right)))
    }

    /// (Y-X, Y+X, Z, T), twice Z where asked for.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn prepared(&self, twice_z: bool) -> Fe8 {
        let mut r = self.0.0;
        for (i, limb) in r.iter_mut().enumerate() {
            let x = _mm512_permutex_epi64::<{ from([0, 0, 0, 0]) }>(*limb);
            let y = _mm512_permutex_epi64::<{ from([1, 1, 2, 3]) }>(*limb);
            let x = _mm512_mask_sub_epi64(x, both(1), bias(i), x);
            let sum = _mm512_mask_add_epi64(y, both(3), y, x);
            *limb = if twice_z { _mm512_mask_add_epi64(sum, both(4), y, y) } else { sum };
        }
        carry(r)
    }

    /// The sums with other points.
    ///
    /// a, b, d, c = the products of (Y-X, Y+X, Z, T) with the cached coordinates; E = b-a, F = d-c,
    /// G = d+c, H = b+a; X, Y, Z, T = EF, GH, FG, EH.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn add(&self, other: &Fe8) -> Pair {
        let q = self.prepared(false).mul_wide(other).0;
        let (mut left, mut right) = (q, q);
        for i in 0..5 {
            // (b-a, d+c, d-c, b-a)
            let first = _mm512_permutex_epi64::<{ from([1, 2, 2, 1]) }>(q[i]);
            let second = _mm512_permutex_epi64::<{ from([0, 3, 3, 0]) }>(q[i]);
            let signed = _mm512_mask_sub_epi64(second, both(13), bias(i), second);
            left[i] = _mm512_add_epi64(first, signed);
            // (d-c, b+a, d+c, b+a)
            let first = _mm512_permutex_epi64::<{ from([2, 1, 2, 1]) }>(q[i]);
            let second = _mm512_permutex_epi64::<{ from([3, 0, 3, 0]) }>(q[i]);
            let signed = _mm512_mask_sub_epi64(second, both(1), bias(i), second);
            right[i] = _mm512_add_epi64(first, signed);
        }
        Pair(carry(left).mul_wide(&carry(right)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn cached(&self) -> Cached {
        let [one, d2] = [&Fe::ONE, &Fe::D2];
        let factors = Fe8(gather(&[one, one, one, d2, one, one, one, d2]));
        Cached(self.prepared(true).mul(&factors))
    }
}

impl Cached {
    /// The negatives of the halves of `mask`; loose, as additions may take them.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn negated_where(&self, mask: u8) -> Fe8 {
        let mut r = self.0.0;
        for (i, limb) in r.iter_mut().enumerate() {
            let twice_p = _mm512_srli_epi64::<9>(bias(i));
            let swapped = _mm512_permutex_epi64::<{ from([1, 0, 2, 3]) }>(*limb);
            let negative = _mm512_mask_sub_epi64(swapped, both(8), twice_p, swapped);
            *limb = _mm512_mask_mov_epi64(*limb, mask, negative);
        }
        Fe8(r)
    }
}

/// One element a lane.
#[inline]
#[target_feature(enable = "avx512f")]
fn gather(elements: &[&Fe; 8]) -> [__m512i; 5] {
    let mut r = [_mm512_setzero_si512(); 5];
    for i in 0..5 {
        r[i] = load(&core::array::from_fn(|lane| elements[lane].0[i]));
    }
    r
}

/// The lanes' elements.
#[inline]
#[target_feature(enable = "avx512f")]
fn scatter(elements: &Fe8) -> [Fe; 8] {
    let mut limbs = [[0; 8]; 5];
    for i in 0..5 {
        limbs[i] = lanes(elements.0[i]);
    }
    core::array::from_fn(|lane| Fe(limbs.map(|limb| limb[lane])))
}

/// As [`super::double_mul_pair_vartime`].
pub(super) fn double_mul_pair_vartime(
    _: Lanes8,
    a: &[u8; 32],
    p: &[Point; 2],
    b: &[u8; 32],
    q: &[Point; 2],
) -> [Point; 2] {
    let forms = [non_adjacent_form(a, 5), non_adjacent_form(b, 5)];
    // SAFETY: the token shows that the CPU has the features that the function enables.
    unsafe { straus_vartime(&forms, &[p, q]) }
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn straus_vartime(forms: &[[i8; 256]; 2], points: &[&[Point; 2]; 2]) -> [Point; 2] {
    let tables = [odd_multiples(points[0]), odd_multiples(points[1])];
    let top = (0..256).rev().find(|&i| forms[0][i] != 0 || forms[1][i] != 0);
    let mut r = Pair::neutral();
    for i in (0..=top.unwrap_or(0)).rev() {
        r = r.double();
        for (form, table) in forms.iter().zip(&tables) {
            let digit = form[i];
            if digit != 0 {
                let multiple = &table[usize::from(digit.unsigned_abs() / 2)];
                r = r.add(&multiple.negated_where(if digit < 0 { 0xff } else { 0 }));
            }
        }
    }
    r.points()
}

/// P, 3P, ..., 15P.
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn odd_multiples(p: &[Point; 2]) -> [Cached; 8] {
    let mut multiple = Pair::new(p);
    let twice = multiple.double().cached();
    let mut table = [multiple.cached(); 8];
    for entry in &mut table[1..] {
        multiple = multiple.add(&twice.0);
        *entry = multiple.cached();
    }
    table
}

/// As [`super::mul_pair`].
pub(super) fn mul_pair(_: Lanes8, p: &Point, a: &[u8; 32], b: &[u8; 32]) -> [Point; 2] {
    let mut digits = [radix_16(a), radix_16(b)];
    // SAFETY: the token shows that the CPU has the features that the function enables.
    let r = unsafe { windows(p, &digits) };
    digits.zeroize();
    r
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn windows(p: &Point, digits: &[[i8; 64]; 2]) -> [Point; 2] {
    let mut multiple = Pair::new(&[*p; 2]);
    let once = multiple.cached();
    let mut table = [once; 8];
    for entry in &mut table[1..] {
        multiple = multiple.add(&once.0);
        *entry = multiple.cached();
    }
    let mut r = Pair::neutral().add(&select(&table, [digits[0][63], digits[1][63]]));
    for i in (0..63).rev() {
        r = r.double().double().double().double();
        r = r.add(&select(&table, [digits[0][i], digits[1][i]]));
    }
    r.points()
}

/// For each half, `digit` times the first entry, digit in -8..=8, reading every entry.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn select(table: &[Cached; 8], digits: [i8; 2]) -> Fe8 {
    // Vectors, not numbers, are compared, so that nothing is left to branch on.
    let [low, high] = digits.map(i64::from);
    let digit = _mm512_setr_epi64(low, low, low, low, high, high, high, high);
    let magnitude = _mm512_abs_epi64(digit);
    let negative = _mm512_movepi64_mask(digit);
    let mut r = identity();
    for (j, entry) in table.iter().enumerate() {
        let here = _mm512_cmpeq_epi64_mask(magnitude, _mm512_set1_epi64(j as i64 + 1));
        for i in 0..5 {
            r[i] = _mm512_mask_mov_epi64(r[i], here, entry.0.0[i]);
        }
    }
    Cached(Fe8(r)).negated_where(negative)
}

/// As [`super::mul_base`]: the even digits' sum in one half, the odd digits' in the other.
pub(super) fn mul_base(_: Lanes8, a: &[u8; 32]) -> Point {
    let mut digits = radix_16(a);
    // SAFETY: the token shows that the CPU has the features that the function enables.
    let [even, odd] = unsafe { comb(&digits) };
    digits.zeroize();
    even.add(&odd.double_times(4))
}

/// Four lanes of five limbs: one half of a cached point.
type Half = [[u64; 4]; 5];

/// j·256^i·B at 8 i + j - 1, as the portable comb.
static COMB: LazyLock<Vec<Half>> = LazyLock::new(|| {
    let two = Fe::ONE.add(&Fe::ONE).canonical();
    let half = |affine: &crate::edwards25519::Affine| {
        let (minus, plus) = (affine.y_minus_x.canonical(), affine.y_plus_x.canonical());
        let t2d = affine.xy2d.canonical();
        core::array::from_fn(|i| [minus[i], plus[i], two[i], t2d[i]])
    };
    crate::edwards25519::base().comb().iter().map(half).collect()
});

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn comb(digits: &[i8; 64]) -> [Point; 2] {
    let mut r = Pair::neutral();
    let mut table = [Cached(Fe8(identity())); 8];
    for (i, halves) in COMB.chunks_exact(8).enumerate() {
        for (entry, half) in table.iter_mut().zip(halves) {
            for k in 0..5 {
                entry.0.0[k] = load_twice(&half[k]);
            }
        }
        r = r.add(&select(&table, [digits[2 * i], digits[2 * i + 1]]));
    }
    r.points()
}

/// Reads four lanes into both halves.
#[inline]
#[target_feature(enable = "avx512f")]
fn load_twice(half: &[u64; 4]) -> __m512i {
    // SAFETY: the reference is to 32 readable bytes, and the instruction asks for no alignment.
    _mm512_broadcast_i64x4(unsafe { _mm256_loadu_si256(half.as_ptr().cast()) })
}

/// The neutral element made ready for being added: (1, 1, 2, 0).
#[inline]
#[target_feature(enable = "avx512f")]
fn identity() -> [__m512i; 5] {
    let mut r = [_mm512_setzero_si512(); 5];
    r[0] = _mm512_setr_epi64(1, 1, 2, 0, 1, 1, 2, 0);
    r
}

/// The elements with `padding` after them.
fn padded<const N: usize>(elements: &[Fe; N], padding: Fe) -> [Fe; 8] {
    assert!(N <= 8, "eight lanes hold eight elements");
    core::array::from_fn(|i| if i < N { elements[i] } else { padding })
}

/// Inverts; none may be zero.
pub(super) fn invert<const N: usize>(_: Lanes8, elements: &[Fe; N]) -> [Fe; N] {
    let all = padded(elements, Fe::ONE);
    // SAFETY: the token shows that the CPU has the features that the function enables.
    let inverses = unsafe { invert_lanes(&all) };
    core::array::from_fn(|i| inverses[i])
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn invert_lanes(elements: &[Fe; 8]) -> [Fe; 8] {
    let mut group = [Wide(gather(&elements.each_ref())).reduce()];
    invert_all(&mut group);
    scatter(&group[0])
}

/// As [`super::sqrt_ratios`].
pub(super) fn sqrt_ratios<const N: usize>(_: Lanes8, ratios: &[(Fe, Fe); N]) -> [(Choice, Fe); N] {
    let u = padded(&ratios.map(|(u, _)| u), Fe::ONE);
    let v = padded(&ratios.map(|(_, v)| v), Fe::ONE);
    // SAFETY: the token shows that the CPU has the features that the function enables.
    let (square, roots) = unsafe { sqrt_lanes(&u, &v) };
    core::array::from_fn(|i| (Choice::from(square >> i & 1), roots[i]))
}

#[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
fn sqrt_lanes(u: &[Fe; 8], v: &[Fe; 8]) -> (u8, [Fe; 8]) {
    let u = Wide(gather(&u.each_ref())).reduce();
    let v = Wide(gather(&v.each_ref())).reduce();
    let roots = sqrt_ratio_all(&[u], &[v]);
    let Roots { square, root } = roots[0];
    (square, scatter(&root))
}
