//! Columns of products, their sums and their carry.

use super::{Fe4, splat};
use crate::field25519::MASK51;
use core::arch::asm;
use core::arch::x86_64::*;

/// Four products, before their carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide(pub(crate) [__m256i; 5]);

/// 3·2^102, whose unit in the last place is 2^51.
const UPPER: f64 = 3.0 * (1u128 << 102) as f64;
/// 3·2^51, whose unit in the last place is 1.
pub(super) const LOWER: f64 = 3.0 * (1u64 << 51) as f64;

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn splat_bits(x: u64) -> __m256i {
    _mm256_set1_epi64x(x as i64)
}

/// What the constants add to the folded columns, where `products[k]` products are added to column k.
const fn offsets(products: [u64; 9]) -> [u64; 5] {
    let (lower, upper) = (LOWER.to_bits(), UPPER.to_bits());
    let mut columns = [0u64; 10];
    let mut k = 0;
    while k < 9 {
        columns[k] = columns[k].wrapping_add(lower.wrapping_mul(products[k]));
        columns[k + 1] = columns[k + 1].wrapping_add(upper.wrapping_mul(products[k]));
        k += 1;
    }
    let mut folded = [0; 5];
    k = 0;
    while k < 5 {
        folded[k] = columns[k].wrapping_add(columns[k + 5].wrapping_mul(19));
        k += 1;
    }
    folded
}

pub(super) const MUL_OFFSETS: [u64; 5] = offsets([1, 2, 3, 4, 5, 4, 3, 2, 1]);
pub(super) const SQUARE_OFFSETS: [u64; 5] = offsets([1, 1, 2, 2, 3, 2, 2, 1, 1]);

/// Makes the compiler take a vector as it is.
#[inline]
#[target_feature(enable = "avx2")]
fn opaque(mut x: __m256i) -> __m256i {
    // SAFETY: the assembly is empty.
    unsafe { asm!("/* {0} */", inout(ymm_reg) x, options(pure, nomem, nostack, preserves_flags)) };
    x
}

/// Adds the halves of `a` times limb j of `g` to columns k and k + 1.
///
/// Assembly keeps the order: from intrinsics the compiler computes all products before their sums and
/// spills them, which takes twice the time.
///
/// # Correctness
/// The product is below 2^102 either way, so that `hi` stays in [2^103, 2^104).
#[inline]
#[target_feature(enable = "avx2,fma")]
pub(super) fn add_product(
    columns: &mut [__m256i; 10],
    k: usize,
    a: __m256d,
    g: &[__m256d; 5],
    j: usize,
) {
    let (upper, both) = (splat(UPPER), splat(UPPER + LOWER));
    // SAFETY: the assembly reads one limb through the reference and writes nothing but registers.
    unsafe {
        asm!(
            "vmovapd {hi}, {upper}",
            "vfmadd231pd {hi}, {a}, [{b}]",
            "vsubpd {lo}, {both}, {hi}",
            "vfmadd231pd {lo}, {a}, [{b}]",
            "vpaddq {high}, {high}, {hi}",
            "vpaddq {low}, {low}, {lo}",
            a = in(ymm_reg) a,
            b = in(reg) &raw const g[j],
            upper = in(ymm_reg) upper,
            both = in(ymm_reg) both,
            low = inout(ymm_reg) columns[k],
            high = inout(ymm_reg) columns[k + 1],
            hi = out(ymm_reg) _,
            lo = out(ymm_reg) _,
            options(nostack, preserves_flags, readonly),
        );
    }
}

/// Adds 19 times the upper five columns to the lower, and takes the constants off.
///
/// # Correctness
/// With factors whose numbers multiply to n a lower half is at most 2^50 and an upper one at most
/// n 2^49 + 1. Column 0, the largest, has 1 + 19·4 lower and 19·5 upper halves: for n = 3 below
/// 220·2^50 < 2^58. Upper halves of squares' doubled products are counted with n = 2, and are half as
/// many as the n = 1 products that they stand for: below 125·2^50 < 2^57.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn fold(columns: &[__m256i; 10], offsets: &[u64; 5]) -> Wide {
    let mut z = [_mm256_setzero_si256(); 5];
    for k in 0..5 {
        let upper = columns[k + 5];
        // In one expression the compiler finds a product of 64 bits, which AVX2 lacks.
        let times_3 = opaque(_mm256_add_epi64(upper, _mm256_add_epi64(upper, upper)));
        let times_19 = _mm256_add_epi64(times_3, _mm256_slli_epi64::<4>(upper));
        let lower = _mm256_sub_epi64(columns[k], splat_bits(offsets[k]));
        z[k] = _mm256_add_epi64(lower, times_19);
    }
    Wide(z)
}

impl Wide {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn zero() -> Wide {
        Wide([_mm256_setzero_si256(); 5])
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn add(&self, b: &Wide) -> Wide {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm256_add_epi64(r[i], b.0[i]);
        }
        Wide(r)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn sub(&self, b: &Wide) -> Wide {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm256_sub_epi64(r[i], b.0[i]);
        }
        Wide(r)
    }

    /// Carries once, all limbs at a time; the carry out of the top returns as 19. At most 1.
    ///
    /// # Correctness
    /// AVX2 shifts no signs in, so columns are made positive: BIAS is 2^61 + 2^50, of which the first
    /// adds 2^10 to the carry, below 2^11, and the second centres what is left of the limb. A limb is at
    /// most 2^50 and its carry 2^10, or 19·2^10 at limb 0, either way: below 2^50 + 2^15. Before 2^52
    /// is taken off, the double is below 2^52 + 2^51 + 19·2^11 < 2^53, so that its unit is 1.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn carry(&self) -> Fe4 {
        const BIAS: u64 = (1 << 61) + (1 << 50);
        const ONE_AT_2_52: u64 = ((1u64 << 52) as f64).to_bits();
        self.debug_assert_in_range();
        let mut over = [_mm256_setzero_si256(); 5];
        let mut limbs = over;
        for i in 0..5 {
            let positive = _mm256_add_epi64(self.0[i], splat_bits(BIAS));
            over[(i + 1) % 5] = _mm256_srli_epi64::<51>(positive);
            let rest = _mm256_and_si256(positive, splat_bits(MASK51));
            limbs[i] = _mm256_or_si256(rest, splat_bits(ONE_AT_2_52));
        }
        over[0] = _mm256_mul_epu32(over[0], splat_bits(19));
        let mut r = [_mm256_setzero_pd(); 5];
        for i in 0..5 {
            let bias: u64 = (1 << 52) + (1 << 50) + if i == 0 { 19 << 10 } else { 1 << 10 };
            let limb = _mm256_castsi256_pd(_mm256_add_epi64(limbs[i], over[i]));
            r[i] = _mm256_sub_pd(limb, splat(bias as f64));
        }
        let r = Fe4(r);
        r.debug_assert_at_most(1);
        r
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn debug_assert_in_range(&self) {
        if cfg!(debug_assertions) {
            for limb in self.0 {
                let above = _mm256_cmpgt_epi64(limb, splat_bits((1 << 61) - 1));
                let below = _mm256_cmpgt_epi64(_mm256_set1_epi64x(1 - (1 << 61)), limb);
                let out = _mm256_movemask_epi8(_mm256_or_si256(above, below));
                assert_eq!(out, 0, "a column exceeds its bound");
            }
        }
    }
}
