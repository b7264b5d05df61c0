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
//! Exponentiations take several elements, because one squaring after another waits for its own
//! result most of the time. Eight lanes are one *group*.
//!
//! Nothing branches on, or indexes by, an element; lanes do not influence each other.

// Each function is entered from one with the same features, so that it can be inlined; the only
// entries from other code are those of `edwards25519x8`, once for a whole batch.

mod power;

pub(crate) use power::{Roots, invert_all, sqrt_ratio_all};

use crate::field25519::{Fe, MASK51};
use core::arch::x86_64::*;

/// Eight elements of the field.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Fe8(pub(crate) [__m512i; 5]);

/// Eight products, or sums of them, before their carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide(pub(crate) [__m512i; 5]);

/// 2^10 p, limb by limb: larger than any limb of a [`Wide`] product, and below 2^61.
const BIAS: [u64; 2] = [((1 << 51) - 19) << 10, ((1 << 51) - 1) << 10];
/// 2 p, limb by limb: not less than any tight limb, and below 2^52.
const TWICE_P: [u64; 2] = [((1 << 51) - 19) << 1, ((1 << 51) - 1) << 1];

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn limb_of(constant: [u64; 2], i: usize) -> __m512i {
    splat(constant[usize::from(i != 0)])
}

/// Reads eight lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load(lanes: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
}

/// Writes eight lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store(lanes: &mut [u64; 8], v: __m512i) {
    // SAFETY: the reference is to 64 writable bytes, and the instruction asks for no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), v) }
}

/// Reads four lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_half(lanes: &[u64; 4]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

/// Writes four lanes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_half(lanes: &mut [u64; 4], v: __m256i) {
    // SAFETY: the reference is to 32 writable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), v) }
}

/// The lanes of a vector.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn lanes(v: __m512i) -> [u64; 8] {
    let mut out = [0; 8];
    store(&mut out, v);
    out
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

/// `low` shifted right by R, with `high` shifted left by L above it.
#[inline]
#[target_feature(enable = "avx512f")]
fn joined<const R: u32, const L: u32>(low: __m512i, high: __m512i) -> __m512i {
    _mm512_or_si512(_mm512_srli_epi64::<R>(low), _mm512_slli_epi64::<L>(high))
}

/// Transposes eight rows of eight words.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose(rows: &[__m512i; 8]) -> [__m512i; 8] {
    let mut pairs = *rows; // (r0[k], r1[k]) for even k in pairs[0], for odd k in pairs[1], ...
    for i in 0..4 {
        pairs[2 * i] = _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    }
    let mut quads = pairs; // two columns of rows 0..4 or 4..8 in each
    for half in 0..2 {
        for odd in 0..2 {
            let (a, b) = (pairs[4 * half + odd], pairs[4 * half + 2 + odd]);
            let even_of = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let odd_of = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            quads[4 * half + odd] = _mm512_permutex2var_epi64(a, even_of, b);
            quads[4 * half + 2 + odd] = _mm512_permutex2var_epi64(a, odd_of, b);
        }
    }
    let mut out = quads;
    for k in 0..4 {
        out[k] = _mm512_shuffle_i64x2::<0x44>(quads[k], quads[4 + k]);
        out[k + 4] = _mm512_shuffle_i64x2::<0xee>(quads[k], quads[4 + k]);
    }
    out
}

/// Transposes the 4 x 4 words of the lower halves and those of the upper halves: between four columns
/// of eight lanes, and four rows of lanes 0 to 3 with those of lanes 4 to 7 beside them.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose_halves(rows: &[__m512i; 4]) -> [__m512i; 4] {
    let even_of = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    let odd_of = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    let (a, b) = (_mm512_unpacklo_epi64(rows[0], rows[1]), _mm512_unpackhi_epi64(rows[0], rows[1]));
    let (c, d) = (_mm512_unpacklo_epi64(rows[2], rows[3]), _mm512_unpackhi_epi64(rows[2], rows[3]));
    [
        _mm512_permutex2var_epi64(a, even_of, c),
        _mm512_permutex2var_epi64(b, even_of, d),
        _mm512_permutex2var_epi64(a, odd_of, c),
        _mm512_permutex2var_epi64(b, odd_of, d),
    ]
}

/// The little-endian 64-bit words of eight encodings.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn words(bytes: &[[u8; 32]; 8]) -> [__m512i; 4] {
    let mut rows = [[0u64; 8]; 4];
    for (lane, encoding) in bytes.iter().enumerate() {
        for (row, chunk) in rows.iter_mut().zip(encoding.chunks_exact(8)) {
            row[lane] = u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes"));
        }
    }
    [load(&rows[0]), load(&rows[1]), load(&rows[2]), load(&rows[3])]
}

#[cfg(test)]
mod tests;
