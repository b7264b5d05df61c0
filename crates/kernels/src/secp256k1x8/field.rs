//! Eight elements of the field of secp256k1 at once, p = 2^256 − C with C = 2^32 + 977.
//!
//! An element is five limbs of 52 bits, limb i of all eight lanes one vector. IFMA multiplies the low
//! 52 bits of its operands and drops the rest, and 52 bits is all that a limb has here: before a
//! multiplication every limb must have been carried out. Two bounds are used:
//!
//! - *carried*: limbs 0 to 3 < 2^52, limb 4 ≤ 2^48 + 2^10: any representative below 2^256 + 2^219. All
//!   functions take and return carried elements, unless they say;
//! - `Raw`: limbs < 2^62: sums and differences, from which `carry` makes an element.
//!
//! The multiplication sums columns of low and high halves, carries the upper five columns to limbs,
//! multiplies these by 16·C = 2^260 mod p into the lower columns, and carries once more from the
//! bottom with what exceeds 2^256 folded in by C before. The chains of carries are sequential: a
//! parallel carry leaves limbs that exceed 52 bits by one. Twelve simple instructions a chain are less than
//! what six limbs of fewer bits would cost in multiplications (36 products for 25).

#[allow(clippy::duplicate_mod)] // compiled once for each curve
#[path = "../field52x8.rs"]
mod shared;

use core::arch::x86_64::*;
pub(super) use shared::{Fe8, Raw, carry, lanes, load, minus, plus, shift, splat};
use shared::{M48, M52, chain, checked};

/// The most that the top limb of an element holds.
const TOP: u64 = (1 << 48) + (1 << 10);
/// 2^256 mod p.
const C: u64 = (1 << 32) + 977;
/// p in limbs.
const P: [u64; 5] = [M52 - (C - 1), M52, M52, M52, M48];
/// 4p. Limbs are 2^54 − 4C, 2^54 − 4 and, at the top, 2^50 − 4, and 3·(2^52 − 1) < 2^54 − 4C and
/// 3·(2^48 + 2^10) < 2^50 − 4.
const MULTIPLE: [u64; 5] = [4 * P[0], 4 * P[1], 4 * P[2], 4 * P[3], 4 * P[4]];

/// Adds `over` times C.
///
/// # Correctness
/// With `over` below 2^14, that is below 2^47: it joins limb 0 without a high half. The carry into the top
/// limb, below 2^48 then, is at most 2^10.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn fold(mut t: Raw, over: __m512i) -> Raw {
    t[0] = _mm512_madd52lo_epu64(t[0], over, splat(C));
    t
}

/// 21·a, not carried; 21 is 3·b of the curve's equation.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn times_21(a: &Raw) -> Raw {
    let mut t = *a;
    for i in 0..5 {
        let sum = _mm512_add_epi64(_mm512_slli_epi64::<4>(a[i]), _mm512_slli_epi64::<2>(a[i]));
        t[i] = _mm512_add_epi64(t[i], sum);
    }
    t
}

/// 3·a, not carried.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn times_3(a: &Raw) -> Raw {
    plus(&plus(a, a), a)
}

impl Fe8 {
    /// The same small number in all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn small(x: u64) -> Fe8 {
        let zero = splat(0);
        Fe8([splat(x), zero, zero, zero, zero])
    }

    /// The representative below p.
    ///
    /// # Correctness
    /// What exceeds 2^256 is folded in by the first carry, and what that leaves by the second. x + C reaches 2^256 just
    /// when x ≥ p, and then less 2^256 it is x − p.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn freeze(&self) -> Fe8 {
        let x = carry(carry(self.0).0);
        let mut y = chain(fold(x.0, splat(1)));
        let over = _mm512_cmpgt_epu64_mask(y[4], splat(M48));
        y[4] = _mm512_and_si512(y[4], splat(M48));
        x.select(&Fe8(y), over)
    }

    /// The lanes that hold zero.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn is_zero(&self) -> __mmask8 {
        let frozen = self.freeze().0;
        let mut any = frozen[0];
        for i in 1..5 {
            any = _mm512_or_si512(any, frozen[i]);
        }
        _mm512_cmpeq_epi64_mask(any, splat(0))
    }

    /// Powers common to inversion and square root: a^(2^2 − 1), a^(2^22 − 1), a^(2^223 − 1).
    ///
    /// p − 2 and (p + 1)/4 have the same first 246 bits: 223 ones, a zero, 22 ones (the chain of
    /// libsecp256k1).
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn ladder(&self) -> [Fe8; 3] {
        let x2 = self.sqr().mul(self);
        let x3 = x2.sqr().mul(self);
        let x6 = x3.sqr_times(3).mul(&x3);
        let x9 = x6.sqr_times(3).mul(&x3);
        let x11 = x9.sqr_times(2).mul(&x2);
        let x22 = x11.sqr_times(11).mul(&x11);
        let x44 = x22.sqr_times(22).mul(&x22);
        let x88 = x44.sqr_times(44).mul(&x44);
        let x176 = x88.sqr_times(88).mul(&x88);
        let x220 = x176.sqr_times(44).mul(&x44);
        let x223 = x220.sqr_times(3).mul(&x3);
        [x2, x22, x223]
    }

    /// 1/a; 0 for 0.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn invert(&self) -> Fe8 {
        let [x2, x22, x223] = self.ladder();
        let t = x223.sqr_times(23).mul(&x22);
        let t = t.sqr_times(5).mul(self);
        let t = t.sqr_times(3).mul(&x2);
        t.sqr_times(2).mul(self)
    }

    /// a^((p+1)/4): a square root of a if it has one.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sqrt_candidate(&self) -> Fe8 {
        let [x2, x22, x223] = self.ladder();
        let t = x223.sqr_times(23).mul(&x22);
        t.sqr_times(6).mul(&x2).sqr_times(2)
    }
}

/// Reduces the ten columns of a product.
///
/// # Correctness
/// Columns are below 2^56. Both factors are below 2^257, the product below 2^514: once carried, the
/// upper columns 5 to 9 (without what column 4 still owes them) are a number below 2^254, so the limbs
/// fit 52 bits, and the last, below 2^46, needs no carry. Each is multiplied by 16·C < 2^37; the high half that
/// leaves column 4, `rest`, is below 2^46·2^37/2^52 = 2^31. Columns 0 to 4 stay below 2^57. What is
/// above 2^256, (t4 >> 48) + 16·rest < 2^9 + 2^35 < 2^36, times C has a low half for limb 0 and a high
/// one for limb 1. The chain then ends in a top limb of at most 2^48 + 2^6.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn reduce(t: [__m512i; 10]) -> Fe8 {
    let mut low = [t[0], t[1], t[2], t[3], t[4]];
    let high = chain([t[5], t[6], t[7], t[8], t[9]]);
    let fold = splat(C << 4);
    let mut rest = splat(0);
    for k in 0..5 {
        low[k] = _mm512_madd52lo_epu64(low[k], high[k], fold);
    }
    for k in 0..4 {
        low[k + 1] = _mm512_madd52hi_epu64(low[k + 1], high[k], fold);
    }
    rest = _mm512_madd52hi_epu64(rest, high[4], fold);
    let over = _mm512_add_epi64(_mm512_srli_epi64::<48>(low[4]), _mm512_slli_epi64::<4>(rest));
    low[4] = _mm512_and_si512(low[4], splat(M48));
    low[0] = _mm512_madd52lo_epu64(low[0], over, splat(C));
    low[1] = _mm512_madd52hi_epu64(low[1], over, splat(C));
    checked(chain(low))
}
