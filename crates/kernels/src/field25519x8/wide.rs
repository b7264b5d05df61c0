//! Products before their carries, and how they are computed: the module above says why this way.

use super::{Fe8, carry, debug_assert_at_most, limb_of, splat};
use core::arch::x86_64::*;

/// Eight products, or sums of them, before their carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide(pub(crate) [__m512i; 5]);

/// 2^10 p, limb by limb: larger than any limb of a [`Wide`] product, and below 2^61.
const BIAS: [u64; 2] = [((1 << 51) - 19) << 10, ((1 << 51) - 1) << 10];

// Multiplications are macros where points are computed: the compiler will not inline functions of this
// length everywhere, and calls cost a tenth.

/// The product, before its carry.
///
/// # Correctness
/// Of the nine columns i + j = k, column k has n = 1, 2, 3, 4, 5, 4, 3, 2, 1 products. Loose
/// operands are below 2^52, so each product's low and high part is, and column k of z is below
/// (n[k] + 2 n[k-1])·2^52: 1, 4, 7, 10, 13, 14, 11, 8, 5, 2 times 2^52. The fold adds 19 times the
/// upper five to the lower five; the largest is (1 + 19·14)·2^52 = 267·2^52 < 2^61.
macro_rules! mul_wide {
    ($a:expr, $b:expr) => {{
        use core::arch::x86_64::*;
        use $crate::field25519x8::{LOOSE, Wide, debug_assert_at_most, fold};
        let (a, b) = (&$a.0, &$b.0);
        debug_assert_at_most(a, LOOSE);
        debug_assert_at_most(b, LOOSE);
        let zero = _mm512_setzero_si512();
        let (mut z, mut h) = ([zero; 10], [zero; 10]);
        for k in (4..9usize).rev() {
            for i in k - 4..5 {
                h[k + 1] = _mm512_madd52hi_epu64(h[k + 1], a[i], b[k - i]);
            }
        }
        for k in 0..4usize {
            for i in 0..=k {
                h[k + 1] = _mm512_madd52hi_epu64(h[k + 1], a[i], b[k - i]);
            }
        }
        for k in (5..9usize).rev() {
            for i in k - 4..5 {
                z[k] = _mm512_madd52lo_epu64(z[k], a[i], b[k - i]);
            }
        }
        for k in 0..10 {
            z[k] = _mm512_add_epi64(z[k], _mm512_add_epi64(h[k], h[k]));
        }
        for k in 0..5usize {
            for i in 0..=k {
                z[k] = _mm512_madd52lo_epu64(z[k], a[i], b[k - i]);
            }
        }
        Wide::checked(fold(&z))
    }};
}

/// The square, before its carry.
///
/// # Correctness
/// As for the product; a product of two different limbs is computed once and counted twice. With
/// S the sums of its low parts, C of its high parts and D of the parts of limbs' squares, column k
/// is 2 (S[k] + 2 C[k-1] + Dhi[k-1]) + Dlo[k].
macro_rules! square_wide {
    ($a:expr) => {{
        use core::arch::x86_64::*;
        use $crate::field25519x8::{LOOSE, Wide, debug_assert_at_most, fold};
        let a = &$a.0;
        debug_assert_at_most(a, LOOSE);
        let zero = _mm512_setzero_si512();
        let mut z = [zero; 10];
        for i in 0..5 {
            for j in i + 1..5 {
                z[i + j + 1] = _mm512_madd52hi_epu64(z[i + j + 1], a[i], a[j]);
            }
        }
        for column in &mut z[2..9] {
            *column = _mm512_add_epi64(*column, *column);
        }
        for i in 0..5 {
            z[2 * i + 1] = _mm512_madd52hi_epu64(z[2 * i + 1], a[i], a[i]);
            for j in i + 1..5 {
                z[i + j] = _mm512_madd52lo_epu64(z[i + j], a[i], a[j]);
            }
        }
        for column in &mut z[1..] {
            *column = _mm512_add_epi64(*column, *column);
        }
        for i in 3..5 {
            z[2 * i] = _mm512_madd52lo_epu64(z[2 * i], a[i], a[i]);
        }
        let mut r = fold(&z);
        for i in 0..3 {
            r[2 * i] = _mm512_madd52lo_epu64(r[2 * i], a[i], a[i]);
        }
        Wide::checked(r)
    }};
}

pub(crate) use {mul_wide, square_wide};

impl Wide {
    /// # Correctness
    /// The limbs must be below 2^61, which the callers prove.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn checked(limbs: [__m512i; 5]) -> Wide {
        debug_assert_at_most(&limbs, (1 << 61) - 1);
        Wide(limbs)
    }

    /// The sum of two products.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add(&self, other: &Wide) -> Fe8 {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm512_add_epi64(r[i], other.0[i]);
        }
        carry(r)
    }

    /// The difference of two products.
    ///
    /// # Correctness
    /// Limbs of products are at most 267·2^52 (see `Fe8::mul_wide`), and those of 2^10 p at least
    /// 2^61 - 2^15: nothing goes below zero.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn sub(&self, other: &Wide) -> Fe8 {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm512_add_epi64(r[i], _mm512_sub_epi64(limb_of(BIAS, i), other.0[i]));
        }
        carry(r)
    }

    /// Twice this product, plus a second, minus a third.
    ///
    /// # Correctness
    /// As for [`Wide::sub`]; the sum is below 4·2^61 = 2^63.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn twice_add_sub(&self, plus: &Wide, minus: &Wide) -> Fe8 {
        let mut r = self.0;
        for i in 0..5 {
            let difference = _mm512_sub_epi64(limb_of(BIAS, i), minus.0[i]);
            let twice = _mm512_add_epi64(r[i], r[i]);
            r[i] = _mm512_add_epi64(_mm512_add_epi64(twice, plus.0[i]), difference);
        }
        carry(r)
    }

    /// Twice this product.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn twice(&self) -> Fe8 {
        self.add(self)
    }

    /// The product itself.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn reduce(&self) -> Fe8 {
        carry(self.0)
    }

    /// Twice a tight element, as if it were a product.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn twice_of(a: &Fe8) -> Wide {
        let mut r = a.0;
        for limb in &mut r {
            *limb = _mm512_add_epi64(*limb, *limb);
        }
        Wide(r)
    }
}

/// 19 times the upper five columns on the lower five.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(crate) fn fold(z: &[__m512i; 10]) -> [__m512i; 5] {
    let mut r = [_mm512_setzero_si512(); 5];
    for k in 0..5 {
        r[k] = _mm512_add_epi64(z[k], _mm512_mullo_epi64(z[k + 5], splat(19)));
    }
    r
}
