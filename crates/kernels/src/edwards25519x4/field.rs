//! Four elements of the field of 2^255 - 19 at once, one in each 64-bit lane, with AVX2.
//!
//! An element is ten limbs of 26 and 25 bits in turn, because the widest product of AVX2 is that of
//! 32 bits: x = x0 + 2^26 x1 + 2^51 x2 + 2^77 x3 + ... Limbs may be larger; two bounds are used:
//!
//! An element is *at most n* if its limbs are at most n (2^26 + 2^18), or n (2^25 + 2^18) at odd
//! places. Products are at most 1; their factors may be at most 5 and 3, in this order, and sums and
//! differences without a carry are counted up to there.
//!
//! A product f[i] g[j] counts for limb i + j, or 19 times for limb i + j - 10, and twice where i and j
//! are odd, for there the weights' exponents are rounded up twice.

use crate::field25519::Fe;
use core::arch::x86_64::*;

/// Four elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fe4(pub(super) [__m256i; 10]);

#[inline]
#[target_feature(enable = "avx2")]
fn splat(x: u64) -> __m256i {
    _mm256_set1_epi64x(x as i64)
}

/// Bits of limb i.
const fn bits(i: usize) -> u32 {
    26 - (i as u32 & 1)
}

/// Limb i of 2p.
const fn twice_p(i: usize) -> u64 {
    if i == 0 { 2 * ((1 << 26) - 19) } else { 2 * ((1 << bits(i)) - 1) }
}

/// Says in debug builds that an element is at most n.
#[inline]
#[target_feature(enable = "avx2")]
fn debug_assert_at_most(n: u64, limbs: &[__m256i; 10]) {
    if cfg!(debug_assertions) {
        for (i, &limb) in limbs.iter().enumerate() {
            let most = splat(n * ((1 << bits(i)) + (1 << 18)));
            let above = _mm256_cmpgt_epi64(limb, most);
            assert_eq!(_mm256_movemask_epi8(above), 0, "a limb exceeds its bound");
        }
    }
}

/// The sum of products of 32 bits.
macro_rules! column {
    (($a0:expr, $b0:expr), $(($a:expr, $b:expr)),+) => {{
        let mut sum = _mm256_mul_epu32($a0, $b0);
        $(sum = _mm256_add_epi64(sum, _mm256_mul_epu32($a, $b));)+
        sum
    }};
}

/// 19 times each lane.
#[inline]
#[target_feature(enable = "avx2")]
fn times_19(x: __m256i) -> __m256i {
    let times_17 = _mm256_add_epi64(_mm256_slli_epi64::<4>(x), x);
    _mm256_add_epi64(times_17, _mm256_add_epi64(x, x))
}

/// Carries in two chains, from limb 0 and from limb 4; the carry out of the top returns as 19.
///
/// # Correctness
/// Limbs may be up to 2^64 - 2^39, the top one up to 2^60. Carries are below 2^39, those out of limbs that
/// were carried before below 2^14; the top one is below 2^36 and 19 times it below 2^41, which leaves
/// limb 0, once more, with a carry below 2^15. So limbs 1 and 5 exceed their bits by less than 2^15, the
/// rest do not: at most 1.
#[inline]
#[target_feature(enable = "avx2")]
fn carry(mut t: [__m256i; 10]) -> [__m256i; 10] {
    macro_rules! chain {
        ($($i:literal)*) => {$(
            let over = match $i % 2 {
                0 => _mm256_srli_epi64::<26>(t[$i]),
                _ => _mm256_srli_epi64::<25>(t[$i]),
            };
            t[$i] = _mm256_and_si256(t[$i], splat((1 << bits($i)) - 1));
            t[$i + 1] = _mm256_add_epi64(t[$i + 1], over);
        )*};
    }
    chain!(0 4 1 5 2 6 3 7 4 8);
    let top = _mm256_srli_epi64::<25>(t[9]);
    t[9] = _mm256_and_si256(t[9], splat((1 << 25) - 1));
    t[0] = _mm256_add_epi64(t[0], times_19(top));
    chain!(0);
    debug_assert_at_most(1, &t);
    t
}

/// Each limb times a small number.
#[inline]
#[target_feature(enable = "avx2")]
fn times(f: &[__m256i; 10], n: u64) -> [__m256i; 10] {
    let mut r = *f;
    for limb in &mut r {
        *limb = _mm256_mul_epu32(*limb, splat(n));
    }
    r
}

/// Canonical limbs of 51 bits, each in two.
pub(super) fn split(limbs: &[u64; 5]) -> [u32; 10] {
    core::array::from_fn(|i| {
        let limb = limbs[i / 2];
        (if i % 2 == 0 { limb & ((1 << 26) - 1) } else { limb >> 26 }) as u32
    })
}

impl Fe4 {
    /// One element for each lane.
    #[target_feature(enable = "avx2")]
    pub(super) fn from_lanes(elements: &[Fe; 4]) -> Fe4 {
        let limbs = elements.map(|element| split(&element.canonical()).map(i64::from));
        let mut r = [_mm256_setzero_si256(); 10];
        for i in 0..10 {
            r[i] = _mm256_setr_epi64x(limbs[0][i], limbs[1][i], limbs[2][i], limbs[3][i]);
        }
        Fe4(r)
    }

    /// One element for all lanes.
    #[target_feature(enable = "avx2")]
    pub(super) fn splat(element: &Fe) -> Fe4 {
        Fe4::from_lanes(&[*element; 4])
    }

    /// The lanes' elements.
    ///
    /// # Correctness
    /// Two limbs make one of the portable code: below 2^52 after a carry.
    #[target_feature(enable = "avx2")]
    pub(super) fn to_lanes(self) -> [Fe; 4] {
        let t = carry(self.0);
        let mut limbs = [[0u64; 5]; 4];
        for k in 0..5 {
            let joined = _mm256_add_epi64(t[2 * k], _mm256_slli_epi64::<26>(t[2 * k + 1]));
            limbs[0][k] = _mm256_extract_epi64::<0>(joined) as u64;
            limbs[1][k] = _mm256_extract_epi64::<1>(joined) as u64;
            limbs[2][k] = _mm256_extract_epi64::<2>(joined) as u64;
            limbs[3][k] = _mm256_extract_epi64::<3>(joined) as u64;
        }
        limbs.map(Fe)
    }

    /// The sum, not carried: bounds add up.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add(&self, b: &Fe4) -> Fe4 {
        let mut r = self.0;
        for i in 0..10 {
            r[i] = _mm256_add_epi64(r[i], b.0[i]);
        }
        Fe4(r)
    }

    /// The difference, as a + 2p - b for b at most 1, not carried: a's bound and 2.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn sub(&self, b: &Fe4) -> Fe4 {
        debug_assert_at_most(1, &b.0);
        let mut r = self.0;
        for i in 0..10 {
            r[i] = _mm256_add_epi64(r[i], _mm256_sub_epi64(splat(twice_p(i)), b.0[i]));
        }
        Fe4(r)
    }

    /// The negatives in the lanes of a mask, for an element at most 1: at most 2.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn negate_where(&self, mask: __m256i) -> Fe4 {
        self.or_where(mask, &Fe4([_mm256_setzero_si256(); 10]).sub(self))
    }

    /// `other` in the lanes of a mask, `self` in the rest.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn or_where(&self, mask: __m256i, other: &Fe4) -> Fe4 {
        let mut r = self.0;
        for i in 0..10 {
            r[i] = _mm256_blendv_epi8(r[i], other.0[i], mask);
        }
        Fe4(r)
    }

    /// The same, at most 1.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn reduce(&self) -> Fe4 {
        Fe4(carry(self.0))
    }

    /// The product: f at most 5 times g at most 3, written where it stays. To return it would copy 320
    /// bytes once more, and such copies took 6 % of the time of a proof.
    ///
    /// Two rows of products are added to the ten columns at a time: limb by limb of g, each loaded
    /// once for both. A column of all products would load two factors for each, and loads are what
    /// the CPU runs out of first. `w` holds 19 g and g on end, so that a row is a run of it.
    ///
    /// # Correctness
    /// 19 g < 2^31.9 at even places and 2^30.9 at odd ones, 2 f < 2^29.4 and 2^28.4: factors are below
    /// 2^32. An even column has at most five products of even places, below 5·2^28.4·2^31.9, and five
    /// of odd ones with f doubled, below 5·2^28.4·2^30.9: below 2^63.3 in all. Odd columns' ten products
    /// are as small. The top column has no factor 19: below 10·2^28.4·2^26.7 < 2^58.5.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(super) fn mul_to(&self, other: &Fe4, out: &mut Fe4) {
        let (f, g) = (&self.0, &other.0);
        debug_assert_at_most(5, f);
        debug_assert_at_most(3, g);
        let zero = _mm256_setzero_si256();
        let mut w = [zero; 20];
        for j in 0..10 {
            (w[j], w[10 + j]) = (_mm256_mul_epu32(g[j], splat(19)), g[j]);
        }
        let mut t = [zero; 10];
        for i in 0..5 {
            let (a, b) = (f[2 * i], f[2 * i + 1]);
            let b2 = _mm256_add_epi64(b, b);
            // w[k + 1] is what f[2 i] is multiplied with for column k, f[2 i + 1] for column k + 1.
            let w: &[__m256i; 11] = w[9 - 2 * i..].first_chunk().expect("eleven are left");
            t[0] = _mm256_add_epi64(t[0], _mm256_mul_epu32(b2, w[0]));
            macro_rules! columns {
                ($($k:literal $b:ident),*) => {$(
                    t[$k] = _mm256_add_epi64(t[$k], _mm256_mul_epu32(a, w[$k + 1]));
                    t[$k + 1] = _mm256_add_epi64(t[$k + 1], _mm256_mul_epu32($b, w[$k + 1]));
                )*};
            }
            columns!(0 b, 1 b2, 2 b, 3 b2, 4 b, 5 b2, 6 b, 7 b2, 8 b);
            t[9] = _mm256_add_epi64(t[9], _mm256_mul_epu32(a, w[10]));
        }
        out.0 = carry(t);
    }

    /// The product, under the same bounds.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn mul(&self, other: &Fe4) -> Fe4 {
        let mut product = Fe4([_mm256_setzero_si256(); 10]);
        self.mul_to(other, &mut product);
        product
    }

    /// The square of an element at most 3.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn square(&self) -> Fe4 {
        let mut square = Fe4([_mm256_setzero_si256(); 10]);
        self.square_to(&mut square);
        square
    }

    /// The square of an element at most 3, written where it stays, as by [`Fe4::mul_to`].
    ///
    /// # Correctness
    /// The product's columns, with equal products taken once and counted twice; 38 times an odd limb
    /// is as small as 19 times an even one.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn square_to(&self, out: &mut Fe4) {
        let f = &self.0;
        debug_assert_at_most(3, f);
        let mut f2 = *f;
        for limb in &mut f2 {
            *limb = _mm256_add_epi64(*limb, *limb);
        }
        let (f19, f38) = (times(f, 19), times(f, 38));
        let columns = [
            column!(
                (f[0], f[0]),
                (f2[1], f38[9]),
                (f2[2], f19[8]),
                (f2[3], f38[7]),
                (f2[4], f19[6]),
                (f[5], f38[5])
            ),
            column!(
                (f2[0], f[1]),
                (f2[2], f19[9]),
                (f2[3], f19[8]),
                (f2[4], f19[7]),
                (f2[5], f19[6])
            ),
            column!(
                (f2[0], f[2]),
                (f[1], f2[1]),
                (f2[3], f38[9]),
                (f2[4], f19[8]),
                (f2[5], f38[7]),
                (f[6], f19[6])
            ),
            column!(
                (f2[0], f[3]),
                (f2[1], f[2]),
                (f2[4], f19[9]),
                (f2[5], f19[8]),
                (f2[6], f19[7])
            ),
            column!(
                (f2[0], f[4]),
                (f2[1], f2[3]),
                (f[2], f[2]),
                (f2[5], f38[9]),
                (f2[6], f19[8]),
                (f[7], f38[7])
            ),
            column!((f2[0], f[5]), (f2[1], f[4]), (f2[2], f[3]), (f2[6], f19[9]), (f2[7], f19[8])),
            column!(
                (f2[0], f[6]),
                (f2[1], f2[5]),
                (f2[2], f[4]),
                (f[3], f2[3]),
                (f2[7], f38[9]),
                (f[8], f19[8])
            ),
            column!((f2[0], f[7]), (f2[1], f[6]), (f2[2], f[5]), (f2[3], f[4]), (f2[8], f19[9])),
            column!(
                (f2[0], f[8]),
                (f2[1], f2[7]),
                (f2[2], f[6]),
                (f2[3], f2[5]),
                (f[4], f[4]),
                (f[9], f38[9])
            ),
            column!((f2[0], f[9]), (f2[1], f[8]), (f2[2], f[7]), (f2[3], f[6]), (f2[4], f[5])),
        ];
        out.0 = carry(columns);
    }
}

/// Squares several vectors n times, so that one does not wait for another; to and fro between two places.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn square_times<const N: usize>(x: &[Fe4; N], n: u32) -> [Fe4; N] {
    let (mut r, mut other) = (*x, *x);
    for _ in 0..n / 2 {
        square_all(&r, &mut other);
        square_all(&other, &mut r);
    }
    if n % 2 == 1 {
        square_all(&r, &mut other);
        return other;
    }
    r
}

#[inline]
#[target_feature(enable = "avx2")]
fn square_all<const N: usize>(x: &[Fe4; N], out: &mut [Fe4; N]) {
    for i in 0..N {
        x[i].square_to(&mut out[i]);
    }
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn mul_all<const N: usize>(a: &[Fe4; N], b: &[Fe4; N]) -> [Fe4; N] {
    let mut r = *a;
    for i in 0..N {
        a[i].mul_to(&b[i], &mut r[i]);
    }
    r
}

/// x^((p-5)/8) of each, by the portable code's chain.
#[target_feature(enable = "avx2")]
pub(super) fn pow_p58<const N: usize>(x: &[Fe4; N]) -> [Fe4; N] {
    let x2 = square_times(x, 1);
    let x9 = mul_all(&square_times(&x2, 2), x);
    let x11 = mul_all(&x9, &x2);
    let e5 = mul_all(&square_times(&x11, 1), &x9);
    let e10 = mul_all(&square_times(&e5, 5), &e5);
    let e20 = mul_all(&square_times(&e10, 10), &e10);
    let e40 = mul_all(&square_times(&e20, 20), &e20);
    let e50 = mul_all(&square_times(&e40, 10), &e10);
    let e100 = mul_all(&square_times(&e50, 50), &e50);
    let e200 = mul_all(&square_times(&e100, 100), &e100);
    let e250 = mul_all(&square_times(&e200, 50), &e50);
    mul_all(&square_times(&e250, 2), x)
}
