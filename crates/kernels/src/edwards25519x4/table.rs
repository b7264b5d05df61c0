//! Tables of multiples, looked up with another index in each lane.
//!
//! A table is kept lane by lane: the limbs of one lane's entry lie side by side in memory, 32 bits
//! each. A lookup loads each lane's row and transposes; that is a sixth of the time of bringing limbs
//! together one by one.

use super::avx2::{Affine, Cached, Points};
use super::field::Fe4;
use crate::edwards25519::{self, Point};
use core::arch::x86_64::*;

/// Limbs of N/5·4 coordinates, eight to a vector.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Row<const N: usize>([[u32; 8]; N]);

/// Digits of four lanes, which may be negative.
pub(super) type Digits = [i16; 4];

/// Multiples 0 to 8 of four points, a row for each lane.
pub(super) struct Multiples([[Row<5>; 4]; 9]);

/// Multiples 0 to 128 of one point with Z = 1.
pub(super) struct FixedMultiples(Vec<Row<4>>);

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u32; 8]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(words: &mut [u32; 8], v: __m256i) {
    // SAFETY: the reference is to 32 writable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), v) }
}

/// Transposes four vectors of four words of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(r: [__m256i; 4]) -> [__m256i; 4] {
    let (a, b) = (_mm256_unpacklo_epi64(r[0], r[1]), _mm256_unpackhi_epi64(r[0], r[1]));
    let (c, d) = (_mm256_unpacklo_epi64(r[2], r[3]), _mm256_unpackhi_epi64(r[2], r[3]));
    [
        _mm256_permute2x128_si256::<0x20>(a, c),
        _mm256_permute2x128_si256::<0x20>(b, d),
        _mm256_permute2x128_si256::<0x31>(a, c),
        _mm256_permute2x128_si256::<0x31>(b, d),
    ]
}

/// Coordinates of four lanes from their rows: limb 8 b + i of a row is limb i of its block b.
#[inline]
#[target_feature(enable = "avx2")]
fn gather<const N: usize, const M: usize>(rows: [&Row<N>; 4]) -> [Fe4; M] {
    let low = _mm256_set1_epi64x(0xffff_ffff);
    let mut r = [Fe4([_mm256_setzero_si256(); 10]); M];
    for block in 0..N {
        let mut vectors = [low; 4];
        for lane in 0..4 {
            vectors[lane] = load(&rows[lane].0[block]);
        }
        for (pair, limbs) in transpose(vectors).into_iter().enumerate() {
            let at = 8 * block + 2 * pair;
            if at < 10 * M {
                r[at / 10].0[at % 10] = _mm256_and_si256(limbs, low);
                r[at / 10].0[at % 10 + 1] = _mm256_srli_epi64::<32>(limbs);
            }
        }
    }
    r
}

/// All ones in the lanes whose digit is negative.
#[inline]
#[target_feature(enable = "avx2")]
fn negative(digits: Digits) -> __m256i {
    let [a, b, c, d] = digits.map(|digit| i64::from(digit >> 15));
    _mm256_setr_epi64x(a, b, c, d)
}

impl Multiples {
    #[target_feature(enable = "avx2")]
    pub(super) fn new(points: &Points) -> Box<Multiples> {
        let mut table = Box::new(Multiples([[Row([[0; 8]; 5]); 4]; 9]));
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

    /// # Correctness
    /// Limbs at most 1 fit 32 bits.
    #[target_feature(enable = "avx2")]
    fn set(&mut self, n: usize, cached: &Cached) {
        for block in 0..5 {
            let mut pairs = [_mm256_setzero_si256(); 4];
            for (pair, limbs) in pairs.iter_mut().enumerate() {
                let at = 8 * block + 2 * pair;
                let coordinate = &cached.0[at / 10].0;
                let high = _mm256_slli_epi64::<32>(coordinate[at % 10 + 1]);
                *limbs = _mm256_or_si256(coordinate[at % 10], high);
            }
            for (lane, row) in transpose(pairs).into_iter().enumerate() {
                store(&mut self.0[n][lane].0[block], row);
            }
        }
    }

    /// The digits' multiples; digits are from -8 to 8.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn look_up(&self, digits: Digits) -> Cached {
        let mut rows = [&self.0[0][0]; 4];
        for lane in 0..4 {
            rows[lane] = &self.0[usize::from(digits[lane].unsigned_abs())][lane];
        }
        let [plus, minus, z2, t2d]: [Fe4; 4] = gather(rows);
        let negative = negative(digits);
        Cached([
            plus.or_where(negative, &minus),
            minus.or_where(negative, &plus),
            z2,
            t2d.negate_where(negative),
        ])
    }
}

impl FixedMultiples {
    pub(super) fn new(point: &Point) -> FixedMultiples {
        let entries = edwards25519::Affine::multiples(point, 128);
        let row = |entry: &edwards25519::Affine| {
            let coordinates = [entry.y_plus_x, entry.y_minus_x, entry.xy2d];
            let mut row = Row([[0; 8]; 4]);
            let limbs = coordinates.iter().flat_map(|fe| super::field::split(&fe.canonical()));
            for (word, limb) in row.0.as_flattened_mut().iter_mut().zip(limbs) {
                *word = limb;
            }
            row
        };
        FixedMultiples(entries.iter().map(row).collect())
    }

    /// The digits' multiples; digits are from -128 to 128.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn look_up(&self, digits: Digits) -> Affine {
        let rows = digits.map(|digit| &self.0[usize::from(digit.unsigned_abs())]);
        let [plus, minus, xy2d]: [Fe4; 3] = gather(rows);
        let negative = negative(digits);
        Affine([
            plus.or_where(negative, &minus),
            minus.or_where(negative, &plus),
            xy2d.negate_where(negative),
        ])
    }
}
