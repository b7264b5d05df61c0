//! Tables of multiples, looked up with another index in each lane.
//!
//! A table is kept lane by lane: all limbs of one lane's entry lie side by side in memory.
//!
//! ```text
//! entry e:  lane 0: (Y+X)0..4 (Y-X)0..4 (2Z)0..4 (2dT)0..4 and four unused words
//!           lane 1: ...
//! ```
//!
//! A lookup loads each lane's row and transposes eight rows of eight words three times: 60 shuffles
//! instead of 20 gathers of eight words or a blend of all entries; on Zen 5 that is 4 cycles per lane
//! where a gather takes 35 and a blend of eight entries 10.

use super::secret_mul::SecretDigits;
use super::{Affine, Augend, Cached, Completed, Points};
use crate::edwards25519::{self, Point};
use crate::field25519x8::{Fe8, load, load_half, store, store_half, transpose, transpose_halves};
use core::arch::x86_64::*;

/// Multiples 0 to 8 of eight points.
#[derive(Default)]
pub(super) struct Multiples(Vec<Entry>);

/// One multiple in all lanes, row by row.
#[derive(Clone, Copy)]
struct Entry([Row; 8]);

/// One multiple in one lane: sixteen words, then four.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Row([[u64; 8]; 2], [u64; 4]);

/// Digits of eight lanes: magnitudes, and a mask of those that are negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits {
    pub(super) magnitudes: [u64; 8],
    pub(super) negative: u8,
}

impl Digits {
    /// Splits digits in excess form: digit + `excess`, in all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn from_excess(v: __m512i, excess: i64) -> Digits {
        let digits = _mm512_sub_epi64(v, _mm512_set1_epi64(excess));
        let negative = _mm512_cmplt_epi64_mask(digits, _mm512_setzero_si512());
        let mut magnitudes = [0; 8];
        store(&mut magnitudes, _mm512_abs_epi64(digits));
        Digits { magnitudes, negative }
    }

    /// The digits negated.
    pub(super) fn neg(self) -> Digits {
        Digits { negative: !self.negative, ..self }
    }
}

impl Multiples {
    /// Fills tables with the multiples of other points; their additions do not wait for each other.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn fill<const N: usize>(tables: [&mut Multiples; N], points: [&Points; N]) {
        let neutral = Points::neutral();
        let mut multiples = [neutral.augend(); N];
        let mut firsts = [multiples[0].cached(); N];
        let mut sums = [Completed::of(&neutral); N];
        for k in 0..N {
            if tables[k].0.is_empty() {
                tables[k].0.resize(9, Entry([Row([[0; 8]; 2], [0; 4]); 8]));
                tables[k].0[0].set(&firsts[k]);
            }
            multiples[k] = points[k].augend();
            firsts[k] = multiples[k].cached();
            tables[k].0[1].set(&firsts[k]);
        }
        for e in 2..9 {
            for k in 0..N {
                multiples[k].add_cached(&firsts[k], &mut sums[k]);
            }
            for k in 0..N {
                sums[k].set_augend(&mut multiples[k]);
            }
            for k in 0..N {
                tables[k].0[e].set(&multiples[k].cached());
            }
        }
    }

    /// The digits' multiples; digits are from -8 to 8.
    ///
    /// # Correctness
    /// Entries are tight, so that their negatives are loose and fit for being multiplied.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn lookup(&self, digits: &Digits) -> Cached {
        let zero = _mm512_setzero_si512();
        let (mut a, mut b, mut c) = ([zero; 8], [zero; 8], [zero; 4]);
        for lane in 0..8 {
            let Row(head, tail) = &self.0[digits.magnitudes[lane] as usize].0[lane];
            a[lane] = load(&head[0]);
            b[lane] = load(&head[1]);
            c[lane % 4] = match lane {
                0..4 => _mm512_castsi256_si512(load_half(tail)),
                _ => _mm512_inserti64x4::<1>(c[lane % 4], load_half(tail)),
            };
        }
        let (a, b, c) = (transpose(&a), transpose(&b), transpose_halves(&c));
        let plus = Fe8([a[0], a[1], a[2], a[3], a[4]]);
        let minus = Fe8([a[5], a[6], a[7], b[0], b[1]]);
        Cached {
            y_plus_x: plus.or_where(digits.negative, &minus),
            y_minus_x: minus.or_where(digits.negative, &plus),
            z2: Fe8([b[2], b[3], b[4], b[5], b[6]]),
            t2d: Fe8([b[7], c[0], c[1], c[2], c[3]]).negate_loose_where(digits.negative),
        }
    }

    /// The sum of `p` and the digits' multiples.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn add_to(&self, p: &Augend, digits: &Digits, sum: &mut Completed) {
        p.add_cached(&self.lookup(digits), sum);
    }
}

impl Entry {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn set(&mut self, p: &Cached) {
        let (yp, ym, z, t) = (&p.y_plus_x.0, &p.y_minus_x.0, &p.z2.0, &p.t2d.0);
        let a = transpose(&[yp[0], yp[1], yp[2], yp[3], yp[4], ym[0], ym[1], ym[2]]);
        let b = transpose(&[ym[3], ym[4], z[0], z[1], z[2], z[3], z[4], t[0]]);
        let c = transpose_halves(&[t[1], t[2], t[3], t[4]]);
        for (lane, Row(head, tail)) in self.0.iter_mut().enumerate() {
            store(&mut head[0], a[lane]);
            store(&mut head[1], b[lane]);
            let half = match lane {
                0..4 => _mm512_castsi512_si256(c[lane]),
                _ => _mm512_extracti64x4_epi64::<1>(c[lane % 4]),
            };
            store_half(tail, half);
        }
    }
}

/// Multiples 0 to 8 of eight points, all of which are read in every lookup.
pub(super) struct ScannedMultiples([Cached; 9]);

impl ScannedMultiples {
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn new() -> ScannedMultiples {
        ScannedMultiples([Points::neutral().augend().cached(); 9])
    }

    /// Fills the table with the multiples of other points.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn fill(&mut self, p: &Points) {
        let (mut multiple, mut sum) = (p.augend(), Completed::of(p));
        self.0[1] = multiple.cached();
        for e in 2..9 {
            multiple.add_cached(&self.0[1], &mut sum);
            sum.set_augend(&mut multiple);
            self.0[e] = multiple.cached();
        }
    }

    /// The sum of `p` and the digits' multiples, in constant time.
    ///
    /// # Correctness
    /// As for [`Multiples::lookup`].
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn add_to(&self, p: &Augend, digits: &SecretDigits, sum: &mut Completed) {
        let mut found = self.0[0];
        for (e, entry) in self.0.iter().enumerate().skip(1) {
            let here = digits.are(e as i64);
            found.y_plus_x = found.y_plus_x.or_where(here, &entry.y_plus_x);
            found.y_minus_x = found.y_minus_x.or_where(here, &entry.y_minus_x);
            found.z2 = found.z2.or_where(here, &entry.z2);
            found.t2d = found.t2d.or_where(here, &entry.t2d);
        }
        let (plus, minus) = (found.y_plus_x, found.y_minus_x);
        found.y_plus_x = plus.or_where(digits.negative, &minus);
        found.y_minus_x = minus.or_where(digits.negative, &plus);
        found.t2d = found.t2d.negate_loose_where(digits.negative);
        p.add_cached(&found, sum);
    }
}

/// Multiples 0 to 128 of one point with Z = 1, the same in all lanes.
pub(super) struct FixedMultiples(Vec<FixedRow>);

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct FixedRow([[u64; 8]; 2]);

impl FixedMultiples {
    /// # Correctness
    /// The limbs are those of canonical values, so they are tight.
    pub(super) fn new(point: &Point) -> FixedMultiples {
        let entries = edwards25519::Affine::multiples(point, 128);
        let row = |entry: &edwards25519::Affine| {
            let (p, m) = (entry.y_plus_x.canonical(), entry.y_minus_x.canonical());
            let t = entry.xy2d.canonical();
            FixedRow([
                [p[0], p[1], p[2], p[3], p[4], m[0], m[1], m[2]],
                [m[3], m[4], t[0], t[1], t[2], t[3], t[4], 0],
            ])
        };
        FixedMultiples(entries.iter().map(row).collect())
    }

    /// The digits' multiples; digits are from -128 to 128.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    fn lookup(&self, digits: &Digits) -> Affine {
        let zero = _mm512_setzero_si512();
        let (mut a, mut b) = ([zero; 8], [zero; 8]);
        for lane in 0..8 {
            let row = &self.0[digits.magnitudes[lane] as usize].0;
            a[lane] = load(&row[0]);
            b[lane] = load(&row[1]);
        }
        let (a, b) = (transpose(&a), transpose(&b));
        let plus = Fe8([a[0], a[1], a[2], a[3], a[4]]);
        let minus = Fe8([a[5], a[6], a[7], b[0], b[1]]);
        Affine {
            y_plus_x: plus.or_where(digits.negative, &minus),
            y_minus_x: minus.or_where(digits.negative, &plus),
            xy2d: Fe8([b[2], b[3], b[4], b[5], b[6]]).negate_loose_where(digits.negative),
        }
    }

    /// The sum of `p` and the digits' multiples.
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(super) fn add_to(&self, p: &Augend, digits: &Digits, sum: &mut Completed) {
        p.add_affine(&self.lookup(digits), sum);
    }
}
