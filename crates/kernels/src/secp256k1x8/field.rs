//! Eight elements of the field of secp256k1 at once, p = 2^256 − C with C = 2^32 + 977.
//!
//! An element is five limbs of 52 bits, limb i of all eight lanes one vector. IFMA multiplies the low
//! 52 bits of its operands and drops the rest, and 52 bits is all that a limb has here: before a
//! multiplication every limb must have been carried out. Two bounds are used:
//!
//! - *carried*: limbs 0 to 3 < 2^52, limb 4 ≤ 2^48 + 2^10: any representative below 2^256 + 2^219. All
//!   functions take and return carried elements, unless they say;
//! - [`Raw`]: limbs < 2^62: sums and differences, from which [`carry`] makes an element.
//!
//! The multiplication sums columns of low and high halves, carries the upper five columns to limbs,
//! multiplies these by 16·C = 2^260 mod p into the lower columns, and carries once more from the
//! bottom with what exceeds 2^256 folded in by C before. The chains of carries are sequential: a
//! parallel carry leaves limbs that exceed 52 bits by one. Twelve simple instructions a chain are less than
//! what six limbs of fewer bits would cost in multiplications (36 products for 25).

use core::arch::x86_64::*;

/// Eight elements of the field.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Fe8(pub(super) [__m512i; 5]);

/// Eight sums of elements before their carries.
pub(super) type Raw = [__m512i; 5];

const M52: u64 = (1 << 52) - 1;
const M48: u64 = (1 << 48) - 1;
/// The most that the top limb of an element holds.
const TOP: u64 = (1 << 48) + (1 << 10);
/// 2^256 mod p.
const C: u64 = (1 << 32) + 977;
/// p in limbs.
const P: [u64; 5] = [M52 - (C - 1), M52, M52, M52, M48];

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn splat(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

/// Reads eight lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(lanes: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

/// The lanes of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn lanes(v: __m512i) -> [u64; 8] {
    let mut out = [0; 8];
    // SAFETY: the reference is to 64 writable bytes, and the instruction asks for no alignment.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), v) }
    out
}

/// Says in debug builds that the limbs are carried.
#[inline]
#[target_feature(enable = "avx512f")]
fn checked(limbs: Raw) -> Fe8 {
    if cfg!(debug_assertions) {
        for (i, &limb) in limbs.iter().enumerate() {
            let most = if i < 4 { M52 } else { TOP };
            assert_eq!(_mm512_cmpgt_epu64_mask(limb, splat(most)), 0, "limb {i} exceeds its bound");
        }
    }
    Fe8(limbs)
}

/// Carries from the bottom; the top limb takes what comes.
#[inline]
#[target_feature(enable = "avx512f")]
fn chain(mut t: Raw) -> Raw {
    for i in 0..4 {
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<52>(t[i]));
        t[i] = _mm512_and_si512(t[i], splat(M52));
    }
    t
}

/// Makes an element of a sum.
///
/// # Correctness
/// Limbs below 2^62. What exceeds 2^256 in the top limb is below 2^14 and times C below 2^47: it joins
/// limb 0 without a high half. The carry into the top limb, below 2^48 then, is at most 2^10.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn carry(mut t: Raw) -> Fe8 {
    let over = _mm512_srli_epi64::<48>(t[4]);
    t[4] = _mm512_and_si512(t[4], splat(M48));
    t[0] = _mm512_madd52lo_epu64(t[0], over, splat(C));
    checked(chain(t))
}

/// a + b, not carried.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn plus(a: &Raw, b: &Raw) -> Raw {
    let mut t = *a;
    for i in 0..5 {
        t[i] = _mm512_add_epi64(t[i], b[i]);
    }
    t
}

/// a + 4p − b, not carried.
///
/// # Correctness
/// Limbs of b are at most those of 4p, which are 2^54 − 4C for limb 0, 2^54 − 4 for 1 to 3 and
/// 2^50 − 4 for 4: b may be the sum of three elements, as 3·(2^52 − 1) < 2^54 − 4C and
/// 3·(2^48 + 2^10) < 2^50 − 4.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn minus(a: &Raw, b: &Raw) -> Raw {
    let mut t = *a;
    for i in 0..5 {
        let least = _mm512_sub_epi64(splat(4 * P[i]), b[i]);
        t[i] = _mm512_add_epi64(t[i], least);
    }
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

/// 2^N·a, not carried.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn shift<const N: u32>(a: &Raw) -> Raw {
    let mut t = *a;
    for i in 0..5 {
        t[i] = _mm512_slli_epi64::<N>(a[i]);
    }
    t
}

impl Fe8 {
    /// The same small number in all lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn small(x: u64) -> Fe8 {
        let zero = splat(0);
        Fe8([splat(x), zero, zero, zero, zero])
    }

    /// One element for all lanes, from its limbs.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn broadcast(limbs: &[u64; 5]) -> Fe8 {
        let mut t = [splat(0); 5];
        for i in 0..5 {
            t[i] = splat(limbs[i]);
        }
        Fe8(t)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn add(&self, b: &Fe8) -> Fe8 {
        carry(plus(&self.0, &b.0))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sub(&self, b: &Fe8) -> Fe8 {
        carry(minus(&self.0, &b.0))
    }

    /// The product.
    ///
    /// # Correctness
    /// A column sums at most five low and five high halves: below 10·2^52 < 2^56. See [`reduce`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, b: &Fe8) -> Fe8 {
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
    pub(super) fn sqr(&self) -> Fe8 {
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

    /// −a.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn neg(&self) -> Fe8 {
        carry(minus(&[splat(0); 5], &self.0))
    }

    /// `b` in the lanes of `mask`, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn select(&self, b: &Fe8, mask: __mmask8) -> Fe8 {
        let mut t = self.0;
        for i in 0..5 {
            t[i] = _mm512_mask_blend_epi64(mask, t[i], b.0[i]);
        }
        Fe8(t)
    }

    /// The representative below p.
    ///
    /// # Correctness
    /// What exceeds 2^256 is folded in by the first carry, and what that leaves by the second. x + C reaches 2^256 just
    /// when x ≥ p, and then less 2^256 it is x − p.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn freeze(&self) -> Fe8 {
        let x = carry(carry(self.0).0);
        let mut y = x.0;
        y[0] = _mm512_add_epi64(y[0], splat(C));
        let mut y = chain(y);
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

    /// 2^n squarings of squarings: a^(2^n).
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn sqr_times(&self, n: u32) -> Fe8 {
        let mut x = *self;
        for _ in 0..n {
            x = x.sqr();
        }
        x
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
