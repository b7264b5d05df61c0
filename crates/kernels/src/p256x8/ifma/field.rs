//! Eight elements of the field of P-256 at once, p = 2^256 − 2^224 + 2^192 + 2^96 − 1.
//!
//! An element is five limbs of 52 bits, limb i of all eight lanes one vector, and stands for x R mod p
//! with R = 2^260. IFMA multiplies the low 52 bits of its operands and drops the rest: before a
//! multiplication every limb must have been carried out. Two bounds are used:
//!
//! - *carried*: limbs 0 to 3 < 2^52, limb 4 ≤ 2^48 + 2^46: a representative below 1.25·2^256 + 2^208. All
//!   functions take and return carried elements, unless they say;
//! - `Raw`: limbs < 2^62: sums and differences, from which `carry` makes an element.
//!
//! Montgomery's reduction takes its quotients for nothing, −1/p mod 2^52 being 1, and p has three limbs
//! besides the lowest, which it clears.

#[allow(clippy::duplicate_mod)] // compiled once for each curve
#[path = "../../field52x8.rs"]
mod shared;

use core::arch::x86_64::*;
pub(crate) use shared::{Fe8, Raw, carry, lanes, load, minus, plus, shift, splat};
use shared::{M48, M52, chain, checked};

/// The most that the top limb of an element holds.
const TOP: u64 = (1 << 48) + (1 << 46);
/// p in limbs.
const P: [u64; 5] = [M52, (1 << 44) - 1, 0, 1 << 36, (1 << 48) - (1 << 16)];
/// 8p, each limb at least thrice what an element's is: limbs 1 to 3 have borrowed from the next.
const MULTIPLE: [u64; 5] =
    [8 * M52, 8 * P[1] + (1 << 54), (1 << 54) - 4, 8 * P[3] + (1 << 54) - 4, 8 * P[4] - 4];
/// R mod p.
pub(crate) const ONE: [u64; 5] =
    [0x10, 0xf_0000_0000_0000, 0xf_ffff_ffff_ffff, 0xf_feff_ffff_ffff, 0xf_ffff];
/// R^2 mod p.
const R2: [u64; 5] =
    [0x300, 0xf_ffff_fff0_0000, 0xf_fffe_ffff_fffb, 0xf_dfff_ffff_ffff, 0x4ff_ffff];
/// b R mod p.
pub(crate) const B: [u64; 5] = [
    0xd_f622_9c4b_ddfd,
    0xc_a884_3090_d89c,
    0x2_12ed_6acf_005c,
    0x8_3415_a220_abf7,
    0xc300_61dd_4874,
];
/// The generator's coordinates, times R mod p.
pub(crate) const GENERATOR: [[u64; 5]; 2] = [
    [
        0x3_0d41_8a91_43c1,
        0xc_4fed_b601_79e7,
        0x6_2251_075b_a95f,
        0x5_c669_fb73_2b77,
        0x8905_f76b_5375,
    ],
    [
        0x5_357c_e955_60a8,
        0x4_3a19_e45c_ddf2,
        0x2_1f32_58b4_ab8e,
        0xd_8552_e886_88dd,
        0x571f_f18a_5885,
    ],
];

/// Adds `over` times 2^256 − p = 2^224 − 2^192 − 2^96 + 1.
///
/// # Correctness
/// With `over` below 2^14, limbs 1 and 3 are above −2^58, and the number is not negative: the chain ends in a
/// top limb of at most 2^48 + 2^30 + 2^10.
#[inline]
#[target_feature(enable = "avx512f")]
fn fold(mut t: Raw, over: __m512i) -> Raw {
    t[0] = _mm512_add_epi64(t[0], over);
    t[1] = _mm512_sub_epi64(t[1], _mm512_slli_epi64::<44>(over));
    t[3] = _mm512_sub_epi64(t[3], _mm512_slli_epi64::<36>(over));
    t[4] = _mm512_add_epi64(t[4], _mm512_slli_epi64::<16>(over));
    t
}

impl Fe8 {
    /// The element for the number of 260 bits that each lane has.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn from_limbs(numbers: &[[u64; 5]; 8]) -> Fe8 {
        let mut t = [splat(0); 5];
        for i in 0..5 {
            t[i] = load(&numbers.map(|limbs| limbs[i]));
        }
        Fe8(t).mul(&Fe8::broadcast(&R2))
    }

    /// The number that each lane's element stands for, below p.
    ///
    /// # Correctness
    /// Reducing the element itself divides by R and leaves at most p. x + 2^256 − p reaches 2^256 just when
    /// x ≥ p, and then less 2^256 it is x − p.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn numbers(&self) -> Raw {
        let zero = splat(0);
        let [a, b, c, d, e] = self.0;
        let x = reduce([a, b, c, d, e, zero, zero, zero, zero, zero]);
        let mut y = chain(fold(x.0, splat(1)));
        let over = _mm512_cmpgt_epu64_mask(y[4], splat(M48));
        y[4] = _mm512_and_si512(y[4], splat(M48));
        x.select(&Fe8(y), over).0
    }

    /// The lanes that hold zero.
    ///
    /// # Correctness
    /// An element is below 2p, so that zero is 0 or p.
    #[target_feature(enable = "avx512f")]
    pub(crate) fn is_zero(&self) -> __mmask8 {
        let (mut zero, mut p) = (0xff, 0xff);
        for i in 0..5 {
            zero &= _mm512_cmpeq_epi64_mask(self.0[i], splat(0));
            p &= _mm512_cmpeq_epi64_mask(self.0[i], splat(P[i]));
        }
        zero | p
    }

    /// a^(2^n − 1) for n = 2, 30 and 32, and a^((2^32 − 1) 2^32 + 1).
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn ladder(&self) -> [Fe8; 4] {
        let x2 = self.sqr().mul(self);
        let x3 = x2.sqr().mul(self);
        let x6 = x3.sqr_times(3).mul(&x3);
        let x12 = x6.sqr_times(6).mul(&x6);
        let x15 = x12.sqr_times(3).mul(&x3);
        let x30 = x15.sqr_times(15).mul(&x15);
        let x32 = x30.sqr_times(2).mul(&x2);
        [x2, x30, x32, x32.sqr_times(32).mul(self)]
    }

    /// 1/a; 0 for 0. p − 2 is ((((2^32−1) 2^32 + 1) 2^128 + 2^32−1) 2^32 + 2^32−1) 2^32 + 2^32−3.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn invert(&self) -> Fe8 {
        let [_, x30, x32, high] = self.ladder();
        let high = high.sqr_times(128).mul(&x32).sqr_times(32).mul(&x32);
        high.sqr_times(30).mul(&x30).sqr_times(2).mul(self)
    }

    /// a^((p+1)/4), a square root of a if it has one: (p+1)/4 is (((2^32−1) 2^32 + 1) 2^96 + 1) 2^94.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(crate) fn sqrt_candidate(&self) -> Fe8 {
        let [_, _, _, high] = self.ladder();
        high.sqr_times(96).mul(self).sqr_times(94)
    }
}

/// The ten columns of a product, over R.
///
/// # Correctness
/// Columns are below 2^56. Step i adds q p 2^(52 i) with q the low 52 bits of column i: q·(2^96 − 1) clears
/// them and leaves q·2^44 for column i + 1; the rest of p is limbs 3 and 4. Columns grow by at most six
/// halves and a carry: below 2^57. Factors are below 1.25·2^256 + 2^208, so the result is below
/// 1.6·2^512/2^260 + p < 2^256 + 2^253: its top limb is at most 2^48 + 2^45.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn reduce(mut t: [__m512i; 10]) -> Fe8 {
    let (p1, p3, p4) = (splat(1 << 44), splat(P[3]), splat(P[4]));
    for i in 0..5 {
        let q = _mm512_and_si512(t[i], splat(M52));
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<52>(t[i]));
        t[i + 1] = _mm512_madd52lo_epu64(t[i + 1], q, p1);
        t[i + 2] = _mm512_madd52hi_epu64(t[i + 2], q, p1);
        t[i + 3] = _mm512_madd52lo_epu64(t[i + 3], q, p3);
        t[i + 4] = _mm512_madd52hi_epu64(t[i + 4], q, p3);
        t[i + 4] = _mm512_madd52lo_epu64(t[i + 4], q, p4);
        t[i + 5] = _mm512_madd52hi_epu64(t[i + 5], q, p4);
    }
    checked(chain([t[5], t[6], t[7], t[8], t[9]]))
}
