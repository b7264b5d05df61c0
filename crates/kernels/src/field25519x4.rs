//! Four elements of the field of 2^255 - 19 at once, one in each 64-bit lane, with AVX2 and FMA.
//!
//! An element is five limbs of radix 2^51, x = x0 + 2^51 x1 + ... + 2^204 x4. A limb is an integer
//! held in a double, and may be negative. FMA rounds once, after the addition, so that two of them
//! give a product's both halves exactly:
//!
//! ```text
//! hi = a b + C                       C = 3·2^102: rounds a b to a multiple of 2^51
//! lo = a b + ((C + 3·2^51) - hi)     the rest, at most 2^50 either way, plus 3·2^51
//! ```
//!
//! The bits of `hi`, read as an integer, are those of C plus the upper half in units of 2^51; those of
//! `lo` are the bits of 3·2^51 plus the lower half. Columns add these bits as integers modulo 2^64 and
//! subtract what the constants have contributed at the end. AVX2's own multiplication has factors of
//! 32 bits, so that it needs ten limbs: 100 products against 25 pairs here, and additions that carry
//! or widen, against one instruction a limb. With ten limbs a proof took 42.8 µs to verify on Zen 4,
//! with these 28.1. A product takes 56 cycles there and a square 44, for four elements.
//!
//! Two kinds of numbers are used:
//!
//! - [`Fe4`] is *at most n* if no limb exceeds n (2^50 + 2^15) either way. The numbers of two factors
//!   may multiply to 3. Carries leave 1; sums and differences have no carry and add the numbers up.
//! - [`Wide`] holds columns of products before their carry, signed integers below 2^61 either way. Its
//!   numbers count 2^57: a product is at most 2, a square at most 1, and 15 is the most.
//!
//! Nothing branches on, or indexes by, an element; lanes do not influence each other. Doubles are
//! integers and never subnormal, so that the CPU's time does not depend on them. Rounding is to the
//! nearest. In another mode lower halves would be up to 2^51, for which columns have room.
//!
//! `mont::fma` splits products in the same way, with digits of 52 bits. Emmart, Zheng, Weems, "Faster
//! Modular Exponentiation Using Double Precision Floating Point Arithmetic on the GPU", ARITH 2018

mod power;
mod wide;

pub(crate) use power::pow_p58;
pub(crate) use wide::Wide;
use wide::{LOWER, MUL_OFFSETS, SQUARE_OFFSETS, add_product, fold, splat_bits};

use crate::field25519::{Fe, MASK51};
use core::arch::x86_64::*;

/// Four elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fe4(pub(crate) [__m256d; 5]);

/// What no limb that is at most 1 exceeds.
const TIGHT: f64 = ((1u64 << 50) + (1 << 15)) as f64;

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn splat(x: f64) -> __m256d {
    _mm256_set1_pd(x)
}

impl Fe4 {
    /// The same element in all lanes.
    #[target_feature(enable = "avx2")]
    pub(crate) fn splat(element: &Fe) -> Fe4 {
        Fe4::from_lanes(&[*element; 4])
    }

    /// One element for each lane, at most 1.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn from_lanes(elements: &[Fe; 4]) -> Fe4 {
        let mut z = [_mm256_setzero_si256(); 5];
        for i in 0..5 {
            let [a, b, c, d] = elements.map(|element| element.0[i] as i64);
            z[i] = _mm256_setr_epi64x(a, b, c, d);
        }
        Wide(z).carry()
    }

    /// The lanes' elements; this one is at most 1.
    ///
    /// # Correctness
    /// With 2p added limbs are positive and below 2^53, as the portable code takes them; its addition
    /// carries.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn to_lanes(self) -> [Fe; 4] {
        let wide = self.wide().0;
        let mut limbs = [[0u64; 5]; 4];
        for k in 0..5 {
            let twice_p = if k == 0 { (MASK51 - 18) << 1 } else { MASK51 << 1 };
            let limb = _mm256_add_epi64(wide[k], splat_bits(twice_p));
            limbs[0][k] = _mm256_extract_epi64::<0>(limb) as u64;
            limbs[1][k] = _mm256_extract_epi64::<1>(limb) as u64;
            limbs[2][k] = _mm256_extract_epi64::<2>(limb) as u64;
            limbs[3][k] = _mm256_extract_epi64::<3>(limb) as u64;
        }
        limbs.map(|limbs| Fe(limbs).add(&Fe::ZERO))
    }

    /// The limbs as integers; this one is at most 1.
    ///
    /// # Correctness
    /// 3·2^51 and a limb below 2^51 either way make a double in [2^52, 2^53), whose unit is 1.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn wide(&self) -> Wide {
        self.debug_assert_at_most(1);
        let mut z = [_mm256_setzero_si256(); 5];
        for i in 0..5 {
            let bits = _mm256_castpd_si256(_mm256_add_pd(self.0[i], splat(LOWER)));
            z[i] = _mm256_sub_epi64(bits, splat_bits(LOWER.to_bits()));
        }
        Wide(z)
    }

    /// The sum: bounds add up.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn add(&self, b: &Fe4) -> Fe4 {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm256_add_pd(r[i], b.0[i]);
        }
        Fe4(r)
    }

    /// The difference: bounds add up.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn sub(&self, b: &Fe4) -> Fe4 {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm256_sub_pd(r[i], b.0[i]);
        }
        Fe4(r)
    }

    /// The negatives in the lanes of a mask of all ones or zeros; the bound stays.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn negate_where(&self, mask: __m256d) -> Fe4 {
        let sign = _mm256_and_pd(mask, splat(-0.0));
        let mut r = self.0;
        for limb in &mut r {
            *limb = _mm256_xor_pd(*limb, sign);
        }
        Fe4(r)
    }

    /// `other` in the lanes of a mask, `self` in the rest.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn or_where(&self, mask: __m256d, other: &Fe4) -> Fe4 {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm256_blendv_pd(r[i], other.0[i], mask);
        }
        Fe4(r)
    }

    /// The product, before its carry: at most 2, or at most 1 of factors that are at most 1.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn mul_wide(&self, other: &Fe4) -> Wide {
        self.debug_assert_multiplies(other);
        let mut columns = [_mm256_setzero_si256(); 10];
        macro_rules! row {
            ($i:literal: $($j:literal)+) => {$(
                add_product(&mut columns, $i + $j, self.0[$i], &other.0, $j);
            )+};
        }
        row!(0: 0 1 2 3 4);
        row!(1: 0 1 2 3 4);
        row!(2: 0 1 2 3 4);
        row!(3: 0 1 2 3 4);
        row!(4: 0 1 2 3 4);
        fold(&columns, &MUL_OFFSETS)
    }

    /// The square of an element at most 1, before its carry: at most 1.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn square_wide(&self) -> Wide {
        self.debug_assert_at_most(1);
        let mut columns = [_mm256_setzero_si256(); 10];
        macro_rules! row {
            ($i:literal: $($j:literal)*) => {
                add_product(&mut columns, 2 * $i, self.0[$i], &self.0, $i);
                let _twice = _mm256_add_pd(self.0[$i], self.0[$i]);
                $(add_product(&mut columns, $i + $j, _twice, &self.0, $j);)*
            };
        }
        row!(0: 1 2 3 4);
        row!(1: 2 3 4);
        row!(2: 3 4);
        row!(3: 4);
        row!(4:);
        fold(&columns, &SQUARE_OFFSETS)
    }

    /// The product, at most 1.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn mul(&self, other: &Fe4) -> Fe4 {
        self.mul_wide(other).carry()
    }

    /// The square of an element at most 1, at most 1.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    pub(crate) fn square(&self) -> Fe4 {
        self.square_wide().carry()
    }

    /// Says in debug builds that an element is at most n.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn debug_assert_at_most(&self, n: u64) {
        if cfg!(debug_assertions) {
            assert!(self.number() <= n as f64, "a limb exceeds its bound");
        }
    }

    /// Says in debug builds that two elements may be multiplied.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn debug_assert_multiplies(&self, other: &Fe4) {
        if cfg!(debug_assertions) {
            assert!(self.number() * other.number() <= 3.0, "a product exceeds its bound");
        }
    }

    /// The least n, not rounded up, that the element is at most.
    #[target_feature(enable = "avx2")]
    fn number(&self) -> f64 {
        let mut most = _mm256_setzero_pd();
        for limb in self.0 {
            most = _mm256_max_pd(most, _mm256_andnot_pd(splat(-0.0), limb));
        }
        let halves = _mm_max_pd(_mm256_castpd256_pd128(most), _mm256_extractf128_pd::<1>(most));
        _mm_cvtsd_f64(_mm_max_sd(halves, _mm_unpackhi_pd(halves, halves))) / TIGHT
    }
}

/// Limbs of the portable code, below 2^54, as those of an element at most 1.
pub(crate) fn balanced(limbs: &[u64; 5]) -> [f64; 5] {
    let mut z = limbs.map(|limb| limb as i64);
    for i in [0, 1, 2, 3, 4, 0] {
        let over = (z[i] + (1 << 50)) >> 51;
        z[i] -= over << 51;
        z[(i + 1) % 5] += if i == 4 { 19 * over } else { over };
    }
    z.map(|limb| limb as f64)
}

#[cfg(test)]
mod tests;
