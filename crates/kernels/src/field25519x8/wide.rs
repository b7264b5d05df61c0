//! Products before their carries, and how they are computed: the module above says why this way.

use super::{Fe8, carry, debug_assert_at_most, limb_of, splat};
use core::arch::x86_64::*;

/// Eight products, or sums of them, before their carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide(pub(crate) [__m512i; 5]);

/// 2^10 p, limb by limb: larger than any limb of a [`Wide`] product, and below 2^61.
const BIAS: [u64; 2] = [((1 << 51) - 19) << 10, ((1 << 51) - 1) << 10];

/// Parts of the limbs of [`BIAS`]: the whole, a half and a quarter.
pub(crate) const BIAS_PARTS: [[u64; 2]; 3] =
    [BIAS, [BIAS[0] / 2, BIAS[1] / 2], [BIAS[0] / 4, BIAS[1] / 4]];

/// [`Wide`] plus 2^10 p: something can be subtracted from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Biased(pub(crate) [__m512i; 5]);

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
        let zero = _mm512_setzero_si512();
        $crate::field25519x8::Wide::checked($crate::field25519x8::mul_from!(
            $a, $b, zero, [zero; 5]
        ))
    }};
}

/// The product, before its carry, plus 2^10 p. That costs nothing, because the lower columns start from
/// it: the first from the whole, the others, which are doubled, from a half.
macro_rules! mul_biased {
    ($a:expr, $b:expr) => {{
        use $crate::field25519x8::{BIAS_PARTS, Biased, splat};
        let half = splat(BIAS_PARTS[1][1]);
        Biased($crate::field25519x8::mul_from!($a, $b, splat(BIAS_PARTS[0][0]), [half; 5]))
    }};
}

/// The product, before its carry, plus what its columns start from: `first`, and twice the rest.
macro_rules! mul_from {
    ($a:expr, $b:expr, $first:expr, $rest:expr) => {{
        use core::arch::x86_64::*;
        use $crate::field25519x8::{LOOSE, debug_assert_at_most, fold};
        let (a, b) = (&$a.0, &$b.0);
        debug_assert_at_most(a, LOOSE);
        debug_assert_at_most(b, LOOSE);
        let zero = _mm512_setzero_si512();
        let (mut z, mut h) = ([zero; 10], [zero; 10]);
        z[0] = $first;
        h[1..5].copy_from_slice(&$rest[1..]);
        for i in 0..5usize {
            for j in 0..5usize {
                h[i + j + 1] = _mm512_madd52hi_epu64(h[i + j + 1], a[i], b[j]);
            }
        }
        for i in 1..5usize {
            for j in 5 - i..5 {
                z[i + j] = _mm512_madd52lo_epu64(z[i + j], a[i], b[j]);
            }
        }
        for k in 1..10 {
            z[k] = _mm512_add_epi64(z[k], _mm512_add_epi64(h[k], h[k]));
        }
        for i in 0..5usize {
            for j in 0..5 - i {
                z[i + j] = _mm512_madd52lo_epu64(z[i + j], a[i], b[j]);
            }
        }
        fold(&z)
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
        let zero = _mm512_setzero_si512();
        $crate::field25519x8::Wide::checked($crate::field25519x8::square_from!($a, [zero; 2]))
    }};
}

/// The square, before its carry, plus 2^10 p. Columns 1 to 4 start from a half of it, or a quarter where
/// they are doubled twice.
macro_rules! square_biased {
    ($a:expr) => {{
        use $crate::field25519x8::{BIAS_PARTS, Biased, splat};
        let (half, quarter) = (splat(BIAS_PARTS[1][1]), splat(BIAS_PARTS[2][1]));
        let mut r = $crate::field25519x8::square_from!($a, [half, quarter]);
        r[0] = _mm512_add_epi64(r[0], splat(BIAS_PARTS[0][0]));
        Biased(r)
    }};
}

/// The square, before its carry, plus what its columns start from: twice the first of `$start` in
/// column 1, four times the second in columns 2 to 4.
macro_rules! square_from {
    ($a:expr, $start:expr) => {{
        use core::arch::x86_64::*;
        use $crate::field25519x8::{LOOSE, debug_assert_at_most, fold};
        let a = &$a.0;
        debug_assert_at_most(a, LOOSE);
        let zero = _mm512_setzero_si512();
        let mut z = [zero; 10];
        z[1] = $start[0];
        z[2..5].copy_from_slice(&[$start[1]; 3]);
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
        r
    }};
}

pub(crate) use {mul_biased, mul_from, mul_wide, square_biased, square_from, square_wide};

impl Biased {
    /// The sum of two products.
    ///
    /// # Correctness
    /// Limbs of products are at most 267·2^52 (see `Fe8::mul_wide`), and those of 2^10 p between
    /// 2^61 - 2^15 and 2^61: sums and differences are at least 0 and below 2^62.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add(&self, other: &Wide) -> Fe8 {
        Wide(self.0).add(other)
    }

    /// The difference of two products.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn sub(&self, other: &Wide) -> Fe8 {
        carry(self.minus(other).0)
    }

    /// The difference of two products, plus 2^10 p still.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn minus(&self, other: &Wide) -> Biased {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm512_sub_epi64(r[i], other.0[i]);
        }
        Biased(r)
    }

    /// Twice this product, minus a difference of two.
    ///
    /// # Correctness
    /// 2^11 p is larger than a difference with 2^10 p, which is below 2^62 - 2^15, and all is below
    /// 4·2^61 = 2^63.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn twice_sub(&self, difference: &Biased) -> Fe8 {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm512_sub_epi64(_mm512_add_epi64(r[i], r[i]), difference.0[i]);
        }
        carry(r)
    }

    /// The value itself.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn reduce(&self) -> Fe8 {
        carry(self.0)
    }
}

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
