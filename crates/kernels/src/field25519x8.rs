//! Eight elements of the field of 2^255 - 19 at once, one in each 64-bit lane, with AVX-512 IFMA.
//!
//! An element is five limbs of 51 bits as in [`crate::field25519`]; limb i of all eight lanes is one
//! vector. IFMA multiplies the low 52 bits of its operands and silently drops the rest, so what a
//! limb may hold matters more than in the portable twin. Three bounds are used:
//!
//! - *tight*: every limb <= 2^51 + 2^18. Every function returns tight elements, unless it says.
//! - *loose*: every limb < 2^52. Multiplications take loose elements; all else takes tight ones.
//! - [`Wide`]: every limb < 2^61. Products before their carries, which may still be added.
//!
//! The multiplication is
//!
//! ```text
//! for i, j in 0..5:  h[i+j+1] += floor(a[i] b[j] / 2^52)      (IFMA "hi", weight 2^52 = 2·2^51)
//!                    l[i+j]   += a[i] b[j] mod 2^52           (IFMA "lo")
//! z = l + 2h;  z[k] += 19 z[k+5]
//! ```
//!
//! with these deviations:
//!
//! 1. Of the lower five columns, the sums h are taken first, doubled, and are what the sums l start
//!    from: no additions join them. The upper five, which are waited for, have their own sums l. (All
//!    columns one way or the other are slower: the former wait longer, the latter are more work.)
//! 2. The fold multiplies by 19 with one instruction; shifts and additions are slower.
//! 3. A carry is one step, all limbs at once: the carry out of the top limb returns as 19 times it.
//! 4. Sums and differences of products are taken before the carry, one carry for several products.
//!
//! Tried and lost, in cycles of Zen 5 for a doubling of eight points in each of two sums that alternate:
//! 189 as it is, where the multiplier's two ports would allow 166; 195 with (X + Y)^2 in place of 2 X Y,
//! whose carry costs what the multiplications save; 176 with both sums' instructions scheduled by a
//! program, which is 2 % of a verification and a second source; 230 with one sum alone. The instructions
//! of a product without their dependencies run at 166: what is lost is waiting.
//!
//! Exponentiations take several elements, because one squaring after another waits for its own
//! result most of the time. Eight lanes are one *group*.
//!
//! Nothing branches on, or indexes by, an element; lanes do not influence each other.

// Each function is entered from one with the same features, so that it can be inlined; the only
// entries from other code are those of `edwards25519x8`, once for a whole batch.

mod memory;
mod power;
mod wide;

use memory::joined;
pub(crate) use memory::{
    lanes, load, load_half, store, store_half, transpose, transpose_halves, words,
};
pub(crate) use power::{Roots, fourth_powers, invert_all, sqrt_ratio_all};
pub(crate) use wide::{
    BIAS_PARTS, Biased, Wide, fold, mul_biased, mul_from, mul_wide, square_biased, square_from,
    square_wide,
};

use crate::field25519::{Fe, MASK51};
use core::arch::x86_64::*;

/// Eight elements of the field.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Fe8(pub(crate) [__m512i; 5]);

/// 2 p, limb by limb: not less than any tight limb, and below 2^52.
const TWICE_P: [u64; 2] = [((1 << 51) - 19) << 1, ((1 << 51) - 1) << 1];

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn splat(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn limb_of(constant: [u64; 2], i: usize) -> __m512i {
    splat(constant[usize::from(i != 0)])
}

/// Says in debug builds that no limb of any lane exceeds `most`.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn debug_assert_at_most(limbs: &[__m512i; 5], most: u64) {
    if cfg!(debug_assertions) {
        for &limb in limbs {
            assert_eq!(_mm512_cmpgt_epu64_mask(limb, splat(most)), 0, "a limb exceeds its bound");
        }
    }
}

const TIGHT: u64 = (1 << 51) + (1 << 18);
pub(crate) const LOOSE: u64 = (1 << 52) - 1;

/// Carries once, all limbs at a time; the carry out of the top returns as 19.
///
/// # Correctness
/// Limbs below 2^63 give carries below 2^12, so limbs come out below 2^51 + 19·2^12 < 2^51 + 2^18.
/// Carries are below 2^52, so IFMA multiplies them whole.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn carry(t: [__m512i; 5]) -> Fe8 {
    debug_assert_at_most(&t, (1 << 63) - 1);
    let mask = splat(MASK51);
    let mut r = t;
    for limb in &mut r {
        *limb = _mm512_and_si512(*limb, mask);
    }
    r[0] = _mm512_madd52lo_epu64(r[0], _mm512_srli_epi64::<51>(t[4]), splat(19));
    for i in 1..5 {
        r[i] = _mm512_add_epi64(r[i], _mm512_srli_epi64::<51>(t[i - 1]));
    }
    Fe8(r)
}

impl Fe8 {
    /// The same element in all lanes; a constant, whose limbs are below 2^51.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn splat(a: &Fe) -> Fe8 {
        debug_assert!(a.0.iter().all(|&limb| limb <= MASK51));
        let mut r = [_mm512_setzero_si512(); 5];
        for i in 0..5 {
            r[i] = splat(a.0[i]);
        }
        Fe8(r)
    }

    /// One element for each lane.
    ///
    /// # Correctness
    /// Portable limbs are below 2^52; the carry makes them tight.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn from_lanes(elements: &[Fe; 8]) -> Fe8 {
        let mut r = [_mm512_setzero_si512(); 5];
        for i in 0..5 {
            r[i] = load(&elements.map(|a| a.0[i]));
        }
        carry(r)
    }

    /// One lane's element; tight limbs are within the portable code's bounds.
    #[target_feature(enable = "avx512f")]
    pub(crate) fn lane(&self, lane: usize) -> Fe {
        let mut limbs = [0; 5];
        for i in 0..5 {
            limbs[i] = lanes(self.0[i])[lane];
        }
        Fe(limbs)
    }

    /// Takes 255 bits for each lane, little-endian; top bits are ignored.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn from_bytes(bytes: &[[u8; 32]; 8]) -> Fe8 {
        let w = words(bytes);
        let mask = splat(MASK51);
        Fe8([
            _mm512_and_si512(w[0], mask),
            _mm512_and_si512(joined::<51, 13>(w[0], w[1]), mask),
            _mm512_and_si512(joined::<38, 26>(w[1], w[2]), mask),
            _mm512_and_si512(joined::<25, 39>(w[2], w[3]), mask),
            _mm512_and_si512(_mm512_srli_epi64::<12>(w[3]), mask),
        ])
    }

    /// Gives the canonical encodings, top bits clear.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn to_bytes(self) -> [[u8; 32]; 8] {
        let t = self.canonical().0;
        let w = [
            _mm512_or_si512(t[0], _mm512_slli_epi64::<51>(t[1])),
            joined::<13, 38>(t[1], t[2]),
            joined::<26, 25>(t[2], t[3]),
            joined::<39, 12>(t[3], t[4]),
        ];
        let mut out = [[0; 32]; 8];
        for (i, word) in w.into_iter().enumerate() {
            for (lane, value) in lanes(word).into_iter().enumerate() {
                out[lane][8 * i..8 * i + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
        out
    }

    /// The limbs of the values in 0..p, each below 2^51.
    ///
    /// # Correctness
    /// After two carries limbs are at most 2^51 + 18 and the value is below 2p, so at most one p is
    /// to be taken off; q is the carry out of x + 19, which is 1 exactly when x >= p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn canonical(&self) -> Fe8 {
        let mut t = carry(carry(self.0).0).0;
        let mut q = splat(19);
        for limb in t {
            q = _mm512_srli_epi64::<51>(_mm512_add_epi64(limb, q));
        }
        t[0] = _mm512_madd52lo_epu64(t[0], q, splat(19));
        for i in 0..4 {
            t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<51>(t[i]));
            t[i] = _mm512_and_si512(t[i], splat(MASK51));
        }
        t[4] = _mm512_and_si512(t[4], splat(MASK51));
        Fe8(t)
    }

    /// The sum.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add(&self, b: &Fe8) -> Fe8 {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm512_add_epi64(r[i], b.0[i]);
        }
        carry(r)
    }

    /// Twice the element.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn twice(&self) -> Fe8 {
        self.add(self)
    }

    /// The difference.
    ///
    /// # Correctness
    /// Tight limbs are below those of 2p, so nothing goes below zero.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn sub(&self, b: &Fe8) -> Fe8 {
        let mut r = b.neg_loose().0;
        for i in 0..5 {
            r[i] = _mm512_add_epi64(r[i], self.0[i]);
        }
        carry(r)
    }

    /// The negative.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn neg(&self) -> Fe8 {
        carry(self.neg_loose().0)
    }

    /// The negative, loose: fit only for being multiplied.
    ///
    /// # Correctness
    /// 2p - b for tight b: from 0 to 2^52 - 2 in each limb.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn neg_loose(&self) -> Fe8 {
        debug_assert_at_most(&self.0, TIGHT);
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm512_sub_epi64(limb_of(TWICE_P, i), r[i]);
        }
        Fe8(r)
    }

    /// Negates the lanes of `mask`, loosely: the result is fit only for being multiplied.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn negate_loose_where(&self, mask: u8) -> Fe8 {
        debug_assert_at_most(&self.0, TIGHT);
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm512_mask_sub_epi64(r[i], mask, limb_of(TWICE_P, i), r[i]);
        }
        Fe8(r)
    }

    /// Negates the lanes of `mask`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn negate_where(&self, mask: u8) -> Fe8 {
        carry(self.negate_loose_where(mask).0)
    }

    /// `other` in the lanes of `mask`, `self` in the rest.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn or_where(&self, mask: u8, other: &Fe8) -> Fe8 {
        let mut r = self.0;
        for i in 0..5 {
            r[i] = _mm512_mask_mov_epi64(r[i], mask, other.0[i]);
        }
        Fe8(r)
    }

    /// The product.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(crate) fn mul(&self, other: &Fe8) -> Fe8 {
        mul_wide!(self, other).reduce()
    }

    /// The square.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(crate) fn square(&self) -> Fe8 {
        self.square_wide().reduce()
    }

    /// The product, before its carry; see [`mul_wide!`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(crate) fn mul_wide(&self, other: &Fe8) -> Wide {
        mul_wide!(self, other)
    }

    /// The square, before its carry; see [`square_wide!`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma,avx512dq")]
    pub(crate) fn square_wide(&self) -> Wide {
        square_wide!(self)
    }

    /// The lanes whose canonical value is odd, which RFC 8032 calls negative.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn negative(&self) -> u8 {
        _mm512_test_epi64_mask(self.canonical().0[0], splat(1))
    }

    /// The lanes whose value is zero.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn zero(&self) -> u8 {
        let t = self.canonical().0;
        let mut all = t[0];
        for limb in &t[1..] {
            all = _mm512_or_si512(all, *limb);
        }
        _mm512_testn_epi64_mask(all, all)
    }

    /// The lanes in which the limbs are equal; of canonical elements, those of equal value.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn same_limbs(&self, other: &Fe8) -> u8 {
        let mut same = 0xff;
        for i in 0..5 {
            same &= _mm512_cmpeq_epi64_mask(self.0[i], other.0[i]);
        }
        same
    }
}

#[cfg(test)]
mod tests;
