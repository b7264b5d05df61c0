//! What the fields of P-256 and of secp256k1 in eight lanes share: compiled once for each, into `field`
//! of `p256x8` and of `secp256k1x8`, because functions for certain instructions cannot be a trait's.
//!
//! The module around it says what limbs are, and has:
//!
//! - `TOP`: the most that the top limb of an element holds;
//! - `MULTIPLE`: a multiple of p whose limbs are at least thrice what an element's are;
//! - `fold`: adds a number of lanes, below 2^14, times 2^256 mod p;
//! - `reduce`: makes an element of the ten columns of a product.

use super::{MULTIPLE, TOP, fold, reduce};
pub(crate) use crate::field25519x8::{lanes, load, splat};
use core::arch::x86_64::*;

/// Eight elements of the field.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Fe8(pub(crate) [__m512i; 5]);

/// Eight sums of elements before their carries.
pub(crate) type Raw = [__m512i; 5];

pub(super) const M52: u64 = (1 << 52) - 1;
pub(super) const M48: u64 = (1 << 48) - 1;

/// Says in debug builds that the limbs are carried.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn checked(limbs: Raw) -> Fe8 {
    if cfg!(debug_assertions) {
        for (i, &limb) in limbs.iter().enumerate() {
            let most = if i < 4 { M52 } else { TOP };
            assert_eq!(_mm512_cmpgt_epu64_mask(limb, splat(most)), 0, "limb {i} exceeds its bound");
        }
    }
    Fe8(limbs)
}

/// Carries from the bottom, with signs; the top limb takes what comes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn chain(mut t: Raw) -> Raw {
    for i in 0..4 {
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srai_epi64::<52>(t[i]));
        t[i] = _mm512_and_si512(t[i], splat(M52));
    }
    t
}

/// Makes an element of a sum.
///
/// # Correctness
/// Limbs below 2^62, so that what exceeds 2^256 in the top limb is below 2^14; `fold` says what the chain
/// ends in.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn carry(mut t: Raw) -> Fe8 {
    let over = _mm512_srli_epi64::<48>(t[4]);
    t[4] = _mm512_and_si512(t[4], splat(M48));
    checked(chain(fold(t, over)))
}

/// a + b, not carried.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn plus(a: &Raw, b: &Raw) -> Raw {
    let mut t = *a;
    for i in 0..5 {
        t[i] = _mm512_add_epi64(t[i], b[i]);
    }
    t
}

/// a + 2^N (M − b), not carried, with M the multiple of p.
///
/// # Correctness
/// b may be the sum of three elements, N at most 3.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn minus<const N: u32>(a: &Raw, b: &Raw) -> Raw {
    let mut t = *a;
    for i in 0..5 {
        let least = _mm512_sub_epi64(splat(MULTIPLE[i]), b[i]);
        t[i] = _mm512_add_epi64(t[i], _mm512_slli_epi64::<N>(least));
    }
    t
}

/// 2^N·a, not carried.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn shift<const N: u32>(a: &Raw) -> Raw {
    let mut t = *a;
    for limb in &mut t {
        *limb = _mm512_slli_epi64::<N>(*limb);
    }
    t
}

impl Fe8 {
    /// One element for all lanes, from its limbs.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn broadcast(limbs: &[u64; 5]) -> Fe8 {
        let mut t = [splat(0); 5];
        for i in 0..5 {
            t[i] = splat(limbs[i]);
        }
        Fe8(t)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn add(&self, b: &Fe8) -> Fe8 {
        carry(plus(&self.0, &b.0))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn sub(&self, b: &Fe8) -> Fe8 {
        carry(minus::<0>(&self.0, &b.0))
    }

    /// −a.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn neg(&self) -> Fe8 {
        carry(minus::<0>(&[splat(0); 5], &self.0))
    }

    /// The product.
    ///
    /// # Correctness
    /// A column sums at most five low and five high halves: below 10·2^52 < 2^56. See `reduce`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn mul(&self, b: &Fe8) -> Fe8 {
        let mut t = [splat(0); 10];
        for i in 0..5 {
            for j in 0..5 {
                t[i + j] = _mm512_madd52lo_epu64(t[i + j], self.0[i], b.0[j]);
                t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], self.0[i], b.0[j]);
            }
        }
        reduce(t)
    }

    /// The square: the products of two different limbs once, doubled.
    ///
    /// # Correctness
    /// As for the product, of whose columns these are the same sums.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn sqr(&self) -> Fe8 {
        let a = &self.0;
        let mut t = [splat(0); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                t[i + j] = _mm512_madd52lo_epu64(t[i + j], a[i], a[j]);
                t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a[i], a[j]);
            }
        }
        for column in &mut t {
            *column = _mm512_add_epi64(*column, *column);
        }
        for i in 0..5 {
            t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], a[i], a[i]);
            t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], a[i], a[i]);
        }
        reduce(t)
    }

    /// `b` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn select(&self, b: &Fe8, mask: __mmask8) -> Fe8 {
        let mut t = self.0;
        for i in 0..5 {
            t[i] = _mm512_mask_blend_epi64(mask, t[i], b.0[i]);
        }
        Fe8(t)
    }

    /// a^(2^n).
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn sqr_times(&self, n: u32) -> Fe8 {
        let mut x = *self;
        for _ in 0..n {
            x = x.sqr();
        }
        x
    }
}
