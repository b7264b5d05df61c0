//! Four elements of the field of secp256k1 at once with AVX2, p = 2^256 − 2^32 − 977.
//!
//! An element is nine limbs of 29 bits, limb i of all four lanes one vector: the widest product of AVX2 is that
//! of 32 bits, nine limbs take 81 of them where ten take 100, and a column of 29-bit limbs' products leaves
//! room for a factor of six. Limbs may be larger than 29 bits; two bounds are used:
//!
//! - an element is *at most n* if its limbs are at most n (2^29 + 2^18), and its top limb, of 24 bits, at most
//!   n (2^24 + 2^10). *Carried* is at most 1. Functions take and return carried elements, unless they say;
//! - the factors of a product may be larger, as long as the product of their bounds, or the sum of both
//!   products' bounds, is at most 6.

pub(super) use super::words::{
    L, Mask, V, blend, differ, equal, load, mask, mask_bits, negative, pack, splat, store, unpack,
};
use super::words::{M24, M29};
use crate::secp256k1::powers::secp256k1_powers;
use core::arch::x86_64::*;

/// Four elements.
#[derive(Clone, Copy)]
pub(super) struct Fe(pub(super) [V; 9]);

/// p in limbs.
const P: [u64; 9] = [M29 - 976, M29 - 8, M29, M29, M29, M29, M29, M29, M24];

/// Says in debug builds that the factors of one or two products are within their bounds.
#[inline]
#[target_feature(enable = "avx2")]
fn debug_assert_factors(factors: &[&Fe]) {
    if cfg!(debug_assertions) {
        let mut bounds = Vec::new();
        for factor in factors {
            let mut bound = 0;
            for (i, &limb) in factor.0.iter().enumerate() {
                let one = if i < 8 { (1 << 29) + (1 << 18) } else { (1 << 24) + (1 << 10) };
                bound = store(limb).into_iter().fold(bound, |n, x: u64| n.max(x.div_ceil(one)));
            }
            bounds.push(bound);
        }
        let sum: u64 = bounds.chunks(2).map(|pair| pair.iter().product::<u64>()).sum();
        assert!(sum <= 6, "factors at most {bounds:?}");
    }
}

/// Carries every limb once, side by side.
///
/// # Correctness
/// Limbs are below 2^36 and the top one is below 2^31: carries are below 2^7 each, and what exceeds 2^256 times
/// 2^32 + 977 adds less than 2^17 to limb 0 and 2^10 to limb 1. So the result is carried.
#[inline]
#[target_feature(enable = "avx2")]
fn carry(t: [V; 9]) -> Fe {
    if cfg!(debug_assertions) {
        for (i, &limb) in t.iter().enumerate() {
            let bits = if i < 8 { 36 } else { 31 };
            assert!(store(limb).into_iter().all(|x| x >> bits == 0), "limb {i} exceeds its bound");
        }
    }
    let over = _mm256_srli_epi64::<24>(t[8]);
    let mut r = t;
    for i in 0..8 {
        r[i] = _mm256_and_si256(t[i], splat(M29));
    }
    r[8] = _mm256_and_si256(t[8], splat(M24));
    for i in 0..8 {
        r[i + 1] = _mm256_add_epi64(r[i + 1], _mm256_srli_epi64::<29>(t[i]));
    }
    r[0] = _mm256_add_epi64(r[0], _mm256_mul_epu32(over, splat(977)));
    r[1] = _mm256_add_epi64(r[1], _mm256_slli_epi64::<3>(over));
    Fe(r)
}

/// Adds one limb's products to the columns from `$i` on. Indices are literals: the compiler does not unroll two
/// nested loops over arrays, and columns in memory take twice the time.
macro_rules! row {
    ($t:ident, $a:expr, $b:expr, $i:literal; $($j:literal)*) => {{
        let limb = $a[$i];
        $($t[$i + $j] = _mm256_add_epi64($t[$i + $j], _mm256_mul_epu32(limb, $b[$j]));)*
    }};
}

/// Adds the products of two elements' limbs to columns, row after row: nine columns and a limb stay in registers.
macro_rules! add_products {
    ($t:ident, $a:expr, $b:expr) => {
        add_products!($t, $a, $b; 0 1 2 3 4 5 6 7 8)
    };
    ($t:ident, $a:expr, $b:expr; $($i:literal)*) => {
        $(row!($t, $a, $b, $i; 0 1 2 3 4 5 6 7 8);)*
    };
}

/// Reduces the columns of a product.
///
/// # Correctness
/// Columns are at most 9·6·(2^29 + 2^18)^2 < 2^63.76, so that a carry is below 2^34.8 and leaves them below
/// 2^64. Columns 9 to 16 become limbs of 29 bits, in two chains that do not wait for each other: limb 14 alone
/// exceeds them, by less than 2^7. The product is at most 6·2^513, so that what follows column 16 is below
/// 2^23. Limb 9 + k counts 2^261 = 2^5 (2^32 + 977) mod p times for limb k: 31264 times for limb k and 2^8
/// times for limb k + 1, and what is due to limb 9 comes back once more. Columns 0 to 8 grow by less than
/// 2^46, and the top one is below 2^39 when it is folded: `over` is below 2^15. Then limb 0 is carried once
/// more: limbs 1 and 5 exceed 29 bits by less than 2^18 and 2^7, the top one is below 2^24 + 2^10.
///
/// A macro, like the products: a function that is called with 17 columns gets them through memory.
macro_rules! reduce {
    ($t:ident) => {{
        carry_columns!($t; 8 12 9 13 10 14 11 15 12);
        let top = _mm256_srli_epi64::<29>($t[16]);
        $t[16] = _mm256_and_si256($t[16], splat(M29));
        carry_columns!($t; 13);
        let (low, high) = (splat(31264), splat(31264 << 8));
        fold_columns!($t, low; 0 1 2 3 4 5 6 7);
        $t[8] = _mm256_add_epi64($t[8], _mm256_mul_epu32(top, low));
        $t[0] = _mm256_add_epi64($t[0], _mm256_mul_epu32(top, high));
        $t[1] = _mm256_add_epi64($t[1], _mm256_slli_epi64::<16>(top));
        carry_columns!($t; 0 4 1 5 2 6 3 7 4);
        let over = _mm256_srli_epi64::<24>($t[8]);
        $t[8] = _mm256_and_si256($t[8], splat(M24));
        $t[0] = _mm256_add_epi64($t[0], _mm256_mul_epu32(over, splat(977)));
        $t[1] = _mm256_add_epi64($t[1], _mm256_slli_epi64::<3>(over));
        carry_columns!($t; 0);
        [$t[0], $t[1], $t[2], $t[3], $t[4], $t[5], $t[6], $t[7], $t[8]]
    }};
}

macro_rules! carry_columns {
    ($t:ident; $($i:literal)*) => {$(
        $t[$i + 1] = _mm256_add_epi64($t[$i + 1], _mm256_srli_epi64::<29>($t[$i]));
        $t[$i] = _mm256_and_si256($t[$i], splat(M29));
    )*};
}

macro_rules! fold_columns {
    ($t:ident, $low:ident; $($k:literal)*) => {$(
        $t[$k] = _mm256_add_epi64($t[$k], _mm256_mul_epu32($t[9 + $k], $low));
        $t[$k + 1] = _mm256_add_epi64($t[$k + 1], _mm256_slli_epi64::<8>($t[9 + $k]));
    )*};
}

impl Fe {
    /// The same small number in all lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn small(x: u64) -> Fe {
        let mut t = [splat(0); 9];
        t[0] = splat(x);
        Fe(t)
    }

    /// Two limbs in each word. The element is carried, so that limbs are below 2^32.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn packed(&self) -> [V; 5] {
        let mut words = [self.0[8]; 5];
        for k in 0..4 {
            let high = _mm256_slli_epi64::<32>(self.0[2 * k + 1]);
            words[k] = _mm256_or_si256(self.0[2 * k], high);
        }
        words
    }

    /// The element that was packed.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn unpacked(words: &[V; 5]) -> Fe {
        let mut t = [words[4]; 9];
        for k in 0..4 {
            t[2 * k] = _mm256_and_si256(words[k], splat(0xffff_ffff));
            t[2 * k + 1] = _mm256_srli_epi64::<32>(words[k]);
        }
        Fe(t)
    }

    /// a + b, not carried: the bounds add up.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn sum(&self, b: &Fe) -> Fe {
        let mut t = self.0;
        for i in 0..9 {
            t[i] = _mm256_add_epi64(t[i], b.0[i]);
        }
        Fe(t)
    }

    /// 2a, at most 2.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn twice(&self) -> Fe {
        self.sum(self)
    }

    /// −a as 2p − a, at most 2.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn negative(&self) -> Fe {
        let mut t = self.0;
        for i in 0..9 {
            t[i] = _mm256_sub_epi64(splat(2 * P[i]), t[i]);
        }
        Fe(t)
    }

    /// An element at most 6, carried.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn reduced(&self) -> Fe {
        carry(self.0)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add(&self, b: &Fe) -> Fe {
        carry(self.sum(b).0)
    }

    /// −a.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn neg(&self) -> Fe {
        carry(self.negative().0)
    }

    /// a − b − c, by 4p.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn less(&self, b: &Fe, c: &Fe) -> Fe {
        let mut t = self.0;
        for i in 0..9 {
            let least = _mm256_sub_epi64(splat(4 * P[i]), _mm256_add_epi64(b.0[i], c.0[i]));
            t[i] = _mm256_add_epi64(t[i], least);
        }
        carry(t)
    }

    /// a − 3b, by 4p.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn less_thrice(&self, b: &Fe) -> Fe {
        self.less(&b.twice(), b)
    }

    /// a times a number, at most 21.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn small_multiple(&self, n: u64) -> Fe {
        let mut t = self.0;
        for limb in &mut t {
            *limb = _mm256_mul_epu32(*limb, splat(n));
        }
        carry(t)
    }

    /// (a + b) times a number, at most 21.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn sum_small_multiple(&self, b: &Fe, n: u64) -> Fe {
        self.sum(b).small_multiple(n)
    }

    /// The product; the bounds' product is at most 6.
    ///
    /// Products are called, not inlined, and write where their result stays: to copy an element of nine
    /// vectors is a call of `memmove`, which waits for the stores before it.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn mul(&self, b: &Fe) -> Fe {
        debug_assert_factors(&[self, b]);
        let mut t = [splat(0); 17];
        add_products!(t, self.0, b.0);
        Fe(reduce!(t))
    }

    /// The same product, written to `out`.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn mul_to(&self, b: &Fe, out: &mut Fe) {
        debug_assert_factors(&[self, b]);
        let mut t = [splat(0); 17];
        add_products!(t, self.0, b.0);
        out.0 = reduce!(t);
    }

    /// a b + c d, written to `out`; the bounds' products are at most 6 together.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn mul2_to(a: &Fe, b: &Fe, c: &Fe, d: &Fe, out: &mut Fe) {
        debug_assert_factors(&[a, b, c, d]);
        let mut t = [splat(0); 17];
        add_products!(t, a.0, b.0);
        add_products!(t, c.0, d.0);
        out.0 = reduce!(t);
    }

    /// The square of an element at most 2: products of two different limbs once, with one of them doubled.
    ///
    /// # Correctness
    /// The product's columns, so that its bounds hold; a doubled limb is below 2^32.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn sqr(&self) -> Fe {
        debug_assert_factors(&[self, self]);
        let (a, twice) = (&self.0, &self.twice().0);
        let mut t = [splat(0); 17];
        macro_rules! squares {
            ($($i:literal)*) => {$(
                t[2 * $i] = _mm256_add_epi64(t[2 * $i], _mm256_mul_epu32(a[$i], a[$i]));
            )*};
        }
        squares!(0 1 2 3 4 5 6 7 8);
        row!(t, twice, a, 0; 1 2 3 4 5 6 7 8);
        row!(t, twice, a, 1; 2 3 4 5 6 7 8);
        row!(t, twice, a, 2; 3 4 5 6 7 8);
        row!(t, twice, a, 3; 4 5 6 7 8);
        row!(t, twice, a, 4; 5 6 7 8);
        row!(t, twice, a, 5; 6 7 8);
        row!(t, twice, a, 6; 7 8);
        row!(t, twice, a, 7; 8);
        Fe(reduce!(t))
    }

    /// a^(2^n).
    #[target_feature(enable = "avx2")]
    fn sqr_times(&self, n: u32) -> Fe {
        let mut x = *self;
        for _ in 0..n {
            x = x.sqr();
        }
        x
    }

    /// Takes `b` in the lanes of the mask.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn assign_where(&mut self, b: &Fe, here: Mask) {
        for i in 0..9 {
            self.0[i] = blend(self.0[i], b.0[i], here);
        }
    }

    /// `b` in the lanes of the mask, `self` in the others.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn select(&self, b: &Fe, here: Mask) -> Fe {
        let mut t = self.0;
        for i in 0..9 {
            t[i] = blend(t[i], b.0[i], here);
        }
        Fe(t)
    }
}

secp256k1_powers!(#[target_feature(enable = "avx2")]);

#[cfg(test)]
mod tests;
