//! Constant-time multiplications by secret scalars with AVX2, four points at a time.
//!
//! A scalar is made odd by adding L, the order of the points, where it is even. An odd k below 2^256 is
//! a sum of ±2^i over all i below 256, without a zero: bit i of (k - 1)/2 + 2^255 says whether the sign
//! is plus. The 256 signs form 32 columns of eight teeth, 32 places apart. Two tables for each point
//! hold the sums of four teeth with every choice of signs but the last tooth's, which is the whole
//! entry's:
//!
//! ```text
//! teeth of the lower table:  P, 2^32 P, 2^64 P, 2^96 P;  of the upper: 2^128 P, ..., 2^224 P
//! entry u:                   t3 ± t2 ± t1 ± t0, plus where bit i of u is set
//! ```
//!
//! The teeth take 224 doublings, which all scalars of a point share, and a scalar 32 more and 64
//! additions. Windows of four bits would take 252 doublings a scalar.
//!
//! A lookup reads its whole table.
//!
//! Bounds of limbs are those of [`crate::field25519x4`]: an element is at most n.

use super::avx2::{Affine, Cached, Points};
use crate::edwards25519::{self, Point, base, radix_16};
use crate::field25519x4::{Fe4, balanced};
use core::arch::x86_64::*;
use std::sync::LazyLock;
use zeroize::{Zeroize, Zeroizing};

/// L, the order of the base point, as little-endian words. RFC 8032 §5.1
const ORDER: [u64; 4] = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 0x1000_0000_0000_0000];

/// The signs of four scalars: bit j of word w is that of tooth w in column j.
struct Signs([__m256i; 8]);

impl Signs {
    /// Scalars are below 2^253.
    #[target_feature(enable = "avx2,fma")]
    fn new(scalars: &[[u8; 32]; 4]) -> Signs {
        let mut lanes = Zeroizing::new([[0u32; 8]; 4]);
        for (lane, scalar) in lanes.iter_mut().zip(scalars) {
            *lane = signs(scalar);
        }
        let mut words = [_mm256_setzero_si256(); 8];
        for (w, word) in words.iter_mut().enumerate() {
            let [a, b, c, d] = core::array::from_fn(|lane| i64::from(lanes[lane][w]));
            *word = _mm256_setr_epi64x(a, b, c, d);
        }
        Signs(words)
    }

    /// The digits of a column for the lower table, 0, or the upper one, 1.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn digits(&self, table: usize, column: usize) -> Digits {
        let (one, count) = (splat(1), _mm_set_epi64x(0, column as i64));
        let [t0, t1, t2, t3] = core::array::from_fn(|tooth| self.0[4 * table + tooth]);
        let bit = |word: __m256i| _mm256_and_si256(_mm256_srl_epi64(word, count), one);
        let low = _mm256_add_epi64(bit(t0), _mm256_slli_epi64::<1>(bit(t1)));
        let index = _mm256_add_epi64(low, _mm256_slli_epi64::<2>(bit(t2)));
        // With a minus before the last tooth the entry is the negative of that with all signs turned.
        let negative = _mm256_sub_epi64(bit(t3), one);
        let index = _mm256_xor_si256(index, _mm256_and_si256(negative, splat(7)));
        Digits { index, negative }
    }
}

/// The signs of one scalar, 32 to a word.
///
/// # Correctness
/// The scalar is below 2^253 and L below 2^252.1, so k is below 2^254 and nothing is carried out.
fn signs(scalar: &[u8; 32]) -> [u32; 8] {
    let mut k = [0u64; 4];
    for (word, chunk) in k.iter_mut().zip(scalar.chunks_exact(8)) {
        *word = u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes"));
    }
    let even = (k[0] & 1).wrapping_sub(1);
    let mut carry = 0u128;
    for (word, order) in k.iter_mut().zip(ORDER) {
        carry += u128::from(*word) + u128::from(order & even);
        *word = carry as u64;
        carry >>= 64;
    }
    let mut signs = [0u32; 8];
    for i in 0..4 {
        let above = if i == 3 { 1 } else { k[i + 1] };
        let word = k[i] >> 1 | above << 63;
        (signs[2 * i], signs[2 * i + 1]) = (word as u32, (word >> 32) as u32);
    }
    k.zeroize();
    signs
}

/// What is looked up in each lane.
#[derive(Clone, Copy)]
struct Digits {
    /// The entry's number.
    index: __m256i,
    /// All ones where the entry is to be negated.
    negative: __m256i,
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn splat(x: i64) -> __m256i {
    _mm256_set1_epi64x(x)
}

/// A table of one point in each lane.
struct Table([Cached; 8]);

impl Table {
    /// The table of four teeth; twice the first three are given, too.
    #[target_feature(enable = "avx2,fma")]
    fn new(teeth: &[Points; 4], twice: &[Points; 3]) -> Table {
        let mut entries = [teeth[3]; 8];
        for tooth in &teeth[..3] {
            entries[0].add(&tooth.cached().neg());
        }
        for (i, twice) in twice.iter().enumerate() {
            let twice = twice.cached();
            for u in 0..1 << i {
                let mut sum = entries[u];
                sum.add(&twice);
                entries[u | 1 << i] = sum;
            }
        }
        let mut table = Table([entries[0].cached(); 8]);
        for (cached, entry) in table.0[1..].iter_mut().zip(&entries[1..]) {
            *cached = entry.cached();
        }
        table
    }

    /// The digits' entries.
    #[inline(never)]
    #[target_feature(enable = "avx2,fma")]
    fn look_up(&self, digits: Digits) -> Cached {
        let mut here = [_mm256_setzero_pd(); 8];
        for (e, mask) in here.iter_mut().enumerate() {
            *mask = _mm256_castsi256_pd(_mm256_cmpeq_epi64(digits.index, splat(e as i64)));
        }
        let mut found = Cached([Fe4([_mm256_setzero_pd(); 5]); 4]);
        for (c, coordinate) in found.0.iter_mut().enumerate() {
            for (entry, mask) in self.0.iter().zip(here) {
                for i in 0..5 {
                    let limb = _mm256_and_pd(entry.0[c].0[i], mask);
                    coordinate.0[i] = _mm256_or_pd(coordinate.0[i], limb);
                }
            }
        }
        found.negate_where(_mm256_castsi256_pd(digits.negative))
    }
}

/// As [`super::mul_all`].
#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_all<const N: usize>(
    points: &[Point; 4],
    scalars: [&[[u8; 32]; 4]; N],
) -> [[Point; 4]; N] {
    let tables = tables(&Points::new(points));
    let mut products = [[Point::IDENTITY; 4]; N];
    for (product, scalars) in products.iter_mut().zip(scalars) {
        let signs = Signs::new(scalars);
        let mut sum = Points::neutral();
        for column in (0..32).rev() {
            sum.double_times(1);
            for (i, table) in tables.iter().enumerate() {
                sum.add(&table.look_up(signs.digits(i, column)));
            }
        }
        *product = sum.points();
    }
    products
}

#[target_feature(enable = "avx2,fma")]
fn tables(points: &Points) -> [Table; 2] {
    let (mut teeth, mut twice) = ([*points; 8], [*points; 8]);
    for i in 0..8 {
        if i > 0 {
            let mut tooth = twice[i - 1];
            tooth.double_times(31);
            teeth[i] = tooth;
        }
        twice[i] = teeth[i];
        twice[i].double_times(1);
    }
    let half = |of: &[Points; 8], at: usize| [of[at], of[at + 1], of[at + 2], of[at + 3]];
    let table = |at: usize| {
        let [a, b, c, _] = half(&twice, at);
        Table::new(&half(&teeth, at), &[a, b, c])
    };
    [table(0), table(4)]
}

/// An entry of a table of B: y+x, y-x, 2dxy.
type BaseEntry = [[f64; 5]; 3];

/// Multiples 1 to 8 of 256^i B, for i below 32.
static COMB: LazyLock<Vec<[BaseEntry; 8]>> = LazyLock::new(|| {
    let entry = |e: &edwards25519::Affine| -> BaseEntry {
        [e.y_plus_x, e.y_minus_x, e.xy2d].map(|fe| balanced(&fe.canonical()))
    };
    let tables = base().comb().chunks_exact(8);
    tables.map(|table| core::array::from_fn(|j| entry(&table[j]))).collect()
});

/// The digits' multiples of a table of B; digits are from -8 to 8.
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn look_up_base(table: &[BaseEntry; 8], digits: [i8; 4]) -> Affine {
    let [a, b, c, d] = digits.map(i64::from);
    let digits = _mm256_setr_epi64x(a, b, c, d);
    let negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), digits);
    let index = _mm256_sub_epi64(_mm256_xor_si256(digits, negative), negative);
    let mut found = Affine([Fe4([_mm256_setzero_pd(); 5]); 3]);
    // For 0 it is the neutral element: y + x and y - x are 1.
    let neutral = _mm256_castsi256_pd(_mm256_cmpeq_epi64(index, splat(0)));
    for coordinate in &mut found.0[..2] {
        coordinate.0[0] = _mm256_and_pd(_mm256_set1_pd(1.0), neutral);
    }
    for (e, entry) in table.iter().enumerate() {
        let here = _mm256_castsi256_pd(_mm256_cmpeq_epi64(index, splat(e as i64 + 1)));
        for (coordinate, constant) in found.0.iter_mut().zip(entry) {
            for i in 0..5 {
                let limb = _mm256_and_pd(_mm256_set1_pd(constant[i]), here);
                coordinate.0[i] = _mm256_or_pd(coordinate.0[i], limb);
            }
        }
    }
    found.negate_where(_mm256_castsi256_pd(negative))
}

/// As [`super::mul_base_all`].
#[target_feature(enable = "avx2,fma")]
pub(super) fn mul_base_all(scalars: &[[u8; 32]; 4]) -> [Point; 4] {
    let digits = Zeroizing::new(scalars.map(|scalar| radix_16(&scalar)));
    let mut sum = Points::neutral();
    for odd in [1, 0] {
        for (i, table) in COMB.iter().enumerate() {
            let of = |lane: usize| digits[lane][2 * i + odd];
            sum.add_affine(&look_up_base(table, [of(0), of(1), of(2), of(3)]));
        }
        if odd == 1 {
            sum.double_times(4);
        }
    }
    sum.points()
}
