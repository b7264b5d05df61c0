//! Tables of multiples, looked up with another index in each lane.
//!
//! A table is kept lane by lane: the limbs of one lane's entry lie side by side in memory. A lookup loads each lane's row and transposes; that is a sixth of the time of bringing limbs
//! together one by one.

use super::avx2::{Affine, Cached, Points};
use crate::edwards25519::{self, Point};
use crate::field25519x4::{Fe4, balanced};
use core::arch::x86_64::*;

/// The limbs of N·4/5 coordinates, rounded down, four to a vector.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Row<const N: usize>([[f64; 4]; N]);

/// Digits of four lanes, which may be negative.
pub(super) type Digits = [i16; 4];

/// Multiples 0 to 8 of four points, a row for each lane.
pub(super) struct Multiples([[Row<5>; 4]; 9]);

/// Multiples 0 to 128 of one point with Z = 1.
pub(super) struct FixedMultiples(Vec<Row<4>>);

#[inline]
#[target_feature(enable = "avx2,fma")]
fn load(limbs: &[f64; 4]) -> __m256d {
    // SAFETY: the reference is to 32 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_loadu_pd(limbs.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn store(limbs: &mut [f64; 4], v: __m256d) {
    // SAFETY: the reference is to 32 writable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_storeu_pd(limbs.as_mut_ptr(), v) }
}

/// Transposes four vectors of four limbs.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn transpose(r: [__m256d; 4]) -> [__m256d; 4] {
    let (a, b) = (_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpackhi_pd(r[0], r[1]));
    let (c, d) = (_mm256_unpacklo_pd(r[2], r[3]), _mm256_unpackhi_pd(r[2], r[3]));
    [
        _mm256_permute2f128_pd::<0x20>(a, c),
        _mm256_permute2f128_pd::<0x20>(b, d),
        _mm256_permute2f128_pd::<0x31>(a, c),
        _mm256_permute2f128_pd::<0x31>(b, d),
    ]
}

/// Coordinates of four lanes from their rows: limb 4 b + i of a row is limb i of its block b.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn gather<const N: usize, const M: usize>(rows: [&Row<N>; 4]) -> [Fe4; M] {
    let mut r = [Fe4([_mm256_setzero_pd(); 5]); M];
    for block in 0..N {
        let mut vectors = [_mm256_setzero_pd(); 4];
        for lane in 0..4 {
            vectors[lane] = load(&rows[lane].0[block]);
        }
        for (i, limb) in transpose(vectors).into_iter().enumerate() {
            let at = 4 * block + i;
            if at < 5 * M {
                r[at / 5].0[at % 5] = limb;
            }
        }
    }
    r
}

/// All ones in the lanes whose digit is negative.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn negative(digits: Digits) -> __m256d {
    let [a, b, c, d] = digits.map(|digit| i64::from(digit >> 15));
    _mm256_castsi256_pd(_mm256_setr_epi64x(a, b, c, d))
}

impl Multiples {
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn new(points: &Points) -> Box<Multiples> {
        let mut table = Box::new(Multiples([[Row([[0.0; 4]; 5]); 4]; 9]));
        let once = points.cached();
        table.set(0, &Points::neutral().cached());
        table.set(1, &once);
        let mut multiple = *points;
        for n in 2..9 {
            multiple.add(&once);
            table.set(n, &multiple.cached());
        }
        table
    }

    #[target_feature(enable = "avx2,fma")]
    fn set(&mut self, n: usize, cached: &Cached) {
        for block in 0..5 {
            let mut limbs = [_mm256_setzero_pd(); 4];
            for (i, limb) in limbs.iter_mut().enumerate() {
                let at = 4 * block + i;
                *limb = cached.0[at / 5].0[at % 5];
            }
            for (lane, row) in transpose(limbs).into_iter().enumerate() {
                store(&mut self.0[n][lane].0[block], row);
            }
        }
    }

    /// The digits' multiples; digits are from -8 to 8.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn look_up(&self, digits: Digits) -> Cached {
        let mut rows = [&self.0[0][0]; 4];
        for lane in 0..4 {
            rows[lane] = &self.0[usize::from(digits[lane].unsigned_abs())][lane];
        }
        Cached(gather(rows)).negate_where(negative(digits))
    }
}

impl FixedMultiples {
    pub(super) fn new(point: &Point) -> FixedMultiples {
        let entries = edwards25519::Affine::multiples(point, 128);
        let row = |entry: &edwards25519::Affine| {
            let coordinates = [entry.y_plus_x, entry.y_minus_x, entry.xy2d];
            let mut row = Row([[0.0; 4]; 4]);
            let limbs = coordinates.iter().flat_map(|fe| balanced(&fe.canonical()));
            for (word, limb) in row.0.as_flattened_mut().iter_mut().zip(limbs) {
                *word = limb;
            }
            row
        };
        FixedMultiples(entries.iter().map(row).collect())
    }

    /// The digits' multiples; digits are from -128 to 128.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(super) fn look_up(&self, digits: Digits) -> Affine {
        let rows = digits.map(|digit| &self.0[usize::from(digit.unsigned_abs())]);
        Affine(gather(rows)).negate_where(negative(digits))
    }
}
