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
#[path = "../../field52x8.rs"]
mod shared;

use crate::secp256k1::powers::secp256k1_powers;
use core::arch::x86_64::*;
pub(super) use lanes as store;
pub(crate) use shared::{Fe8, Raw, carry, lanes, load, minus, plus, shift, splat};
use shared::{M48, M52, chain, checked};

/// Lanes.
pub(in crate::secp256k1) const L: usize = 8;
/// A word of each lane.
pub(super) type V = __m512i;
/// The chosen lanes.
pub(super) type Mask = __mmask8;
/// Eight elements, as the formulas call them.
pub(super) type Fe = Fe8;
/// The number below 2^256 of limbs of 52 bits, big-endian.
pub(super) use crate::limbs52::join as unpack;
/// A number, big-endian, as limbs.
pub(in crate::secp256k1) use crate::limbs52::split as pack;

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

/// A number, at most 21, times a, not carried. One that the compiler knows becomes shifts and additions.
///
/// # Correctness
/// The limbs stay below 2^62, a being at most the sum of two elements.
#[inline]
#[target_feature(enable = "avx512f")]
fn times(a: &Raw, n: u64) -> Raw {
    let mut t = *a;
    for limb in &mut t {
        let (one, two) = (*limb, _mm512_slli_epi64::<1>(*limb));
        let (four, sixteen) = (_mm512_slli_epi64::<2>(one), _mm512_slli_epi64::<4>(one));
        *limb = match n {
            3 => _mm512_add_epi64(one, two),
            8 => _mm512_slli_epi64::<3>(one),
            21 => _mm512_add_epi64(_mm512_add_epi64(one, four), sixteen),
            _ => unreachable!("the formulas have no other multiple"),
        };
    }
    t
}

impl Fe8 {
    /// The same small number in all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn small(x: u64) -> Fe8 {
        let zero = splat(0);
        Fe8([splat(x), zero, zero, zero, zero])
    }

    /// The representative below p.
    ///
    /// # Correctness
    /// What exceeds 2^256 is folded in by the first carry, and what that leaves by the second. x + C reaches 2^256 just
    /// when x ≥ p, and then less 2^256 it is x − p.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn freeze(&self) -> Fe8 {
        let x = carry(carry(self.0).0);
        let mut y = chain(fold(x.0, splat(1)));
        let over = _mm512_cmpgt_epu64_mask(y[4], splat(M48));
        y[4] = _mm512_and_si512(y[4], splat(M48));
        x.select(&Fe8(y), over)
    }

    /// The lanes that hold zero.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn is_zero(&self) -> __mmask8 {
        let frozen = self.freeze().0;
        let mut any = frozen[0];
        for i in 1..5 {
            any = _mm512_or_si512(any, frozen[i]);
        }
        _mm512_cmpeq_epi64_mask(any, splat(0))
    }

    /// The product, written to `out`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul_to(&self, b: &Fe8, out: &mut Fe8) {
        *out = self.mul(b);
    }

    /// a b + c d, written to `out`.
    ///
    /// # Correctness
    /// The columns are below 2^57; see `reduce`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul2_to(a: &Fe8, b: &Fe8, c: &Fe8, d: &Fe8, out: &mut Fe8) {
        let mut t = [splat(0); 10];
        for (x, y) in [(a, b), (c, d)] {
            for i in 0..5 {
                for j in 0..5 {
                    t[i + j] = _mm512_madd52lo_epu64(t[i + j], x.0[i], y.0[j]);
                    t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], x.0[i], y.0[j]);
                }
            }
        }
        *out = reduce(t);
    }

    /// As it is stored.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn packed(&self) -> [V; 5] {
        self.0
    }

    /// The element that was stored.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn unpacked(words: &[V; 5]) -> Fe8 {
        Fe8(*words)
    }

    /// a + b, fit for a product.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sum(&self, b: &Fe8) -> Fe8 {
        self.add(b)
    }

    /// 2a, fit for a product.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn twice(&self) -> Fe8 {
        carry(shift::<1>(&self.0))
    }

    /// −a, fit for a product.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn negative(&self) -> Fe8 {
        self.neg()
    }

    /// The same: here, what is fit for a product is carried.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn reduced(&self) -> Fe8 {
        *self
    }

    /// a − b − c.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn less(&self, b: &Fe8, c: &Fe8) -> Fe8 {
        carry(minus::<0>(&self.0, &plus(&b.0, &c.0)))
    }

    /// a − 3b.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn less_thrice(&self, b: &Fe8) -> Fe8 {
        carry(minus::<0>(&self.0, &plus(&plus(&b.0, &b.0), &b.0)))
    }

    /// a times a number, at most 21.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn small_multiple(&self, n: u64) -> Fe8 {
        carry(times(&self.0, n))
    }

    /// (a + b) times a number, at most 21.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sum_small_multiple(&self, b: &Fe8, n: u64) -> Fe8 {
        carry(times(&plus(&self.0, &b.0), n))
    }

    /// Takes `b` in the lanes of the mask.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn assign_where(&mut self, b: &Fe8, here: Mask) {
        *self = self.select(b, here);
    }

    /// The lanes in which two elements are equal.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn equal(&self, b: &Fe8) -> Mask {
        self.sub(b).is_zero()
    }

    /// The lanes whose number is odd, of frozen elements.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn odd(&self) -> u8 {
        _mm512_test_epi64_mask(self.0[0], splat(1))
    }
}

secp256k1_powers!(#[target_feature(enable = "avx512f,avx512ifma")]);

/// The lanes in which two words are equal.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn equal(a: V, b: V) -> Mask {
    _mm512_cmpeq_epi64_mask(a, b)
}

/// The lanes in which two words differ.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn differ(a: V, b: V) -> Mask {
    _mm512_cmpneq_epi64_mask(a, b)
}

/// `b` in the lanes of the mask, `a` in the others.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn blend(a: V, b: V, here: Mask) -> V {
    _mm512_mask_blend_epi64(here, a, b)
}

/// Magnitudes of signed words, and the lanes of the negative ones.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn negative(digits: V) -> (V, Mask) {
    (_mm512_abs_epi64(digits), _mm512_cmplt_epi64_mask(digits, splat(0)))
}

/// The mask with these lanes.
pub(super) fn mask(bits: u8) -> Mask {
    bits
}

/// The lanes of a mask.
pub(super) fn mask_bits(here: Mask) -> u8 {
    here
}

/// Reduces the ten columns of a product.
///
/// # Correctness
/// Columns are below 2^57. The factors of one or two products are below 2^257, their sum below 2^515: once
/// carried, the upper columns 5 to 9 (without what column 4 still owes them) are a number below 2^255, so the
/// limbs fit 52 bits, and the last, below 2^47, needs no carry. Each is multiplied by 16·C < 2^37; the high half that
/// leaves column 4, `rest`, is below 2^47·2^37/2^52 = 2^32. Columns 0 to 4 stay below 2^58. What is
/// above 2^256, (t4 >> 48) + 16·rest < 2^10 + 2^36 < 2^37, times C has a low half for limb 0 and a high
/// one for limb 1. The chain then ends in a top limb of at most 2^48 + 2^7.
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

#[cfg(test)]
mod tests;
