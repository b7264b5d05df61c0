//! Four elements of the field of 2^255 - 19 at once, one in each 64-bit lane, with AVX2.
//!
//! An element is ten limbs of 26 and 25 bits in turn, because the widest product of AVX2 is that of
//! 32 bits: x = x0 + 2^26 x1 + 2^51 x2 + 2^77 x3 + ... Limbs may be larger; two bounds are used:
//!
//! - *tight*: limbs at most 2^26 + 2^18, or 2^25 + 2^18 at odd places. Products are tight.
//! - *loose*: at most three times that. Factors may be loose; sums and differences of two tight
//!   elements are.
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

/// Says in debug builds that no limb exceeds the loose bound.
#[inline]
#[target_feature(enable = "avx2")]
fn debug_assert_loose(limbs: &[__m256i; 10]) {
    if cfg!(debug_assertions) {
        for (i, &limb) in limbs.iter().enumerate() {
            let most = splat(3 * ((1 << bits(i)) + (1 << 18)));
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

/// Carries once, all limbs at a time; the carry out of the top returns as 19.
///
/// # Correctness
/// Limbs below 2^63.7 give carries below 2^38.7, and 19 times one is below 2^43.
#[inline]
#[target_feature(enable = "avx2")]
fn carry(t: [__m256i; 10]) -> [__m256i; 10] {
    let mut r = t;
    let mut c = t;
    for i in 0..10 {
        c[i] =
            if i % 2 == 0 { _mm256_srli_epi64::<26>(t[i]) } else { _mm256_srli_epi64::<25>(t[i]) };
        r[i] = _mm256_and_si256(t[i], splat((1 << bits(i)) - 1));
    }
    let top = c[9];
    let top17 = _mm256_add_epi64(_mm256_slli_epi64::<4>(top), top);
    let top19 = _mm256_add_epi64(top17, _mm256_add_epi64(top, top));
    r[0] = _mm256_add_epi64(r[0], top19);
    for i in 1..10 {
        r[i] = _mm256_add_epi64(r[i], c[i - 1]);
    }
    r
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

impl Fe4 {
    /// One element for each lane.
    #[target_feature(enable = "avx2")]
    pub(super) fn from_lanes(elements: &[Fe; 4]) -> Fe4 {
        let mut words = [[0u64; 4]; 10];
        for (lane, fe) in elements.iter().enumerate() {
            let t = fe.canonical();
            for k in 0..5 {
                words[2 * k][lane] = t[k] & ((1 << 26) - 1);
                words[2 * k + 1][lane] = t[k] >> 26;
            }
        }
        let mut r = [_mm256_setzero_si256(); 10];
        for i in 0..10 {
            let w = words[i].map(|word| word as i64);
            r[i] = _mm256_setr_epi64x(w[0], w[1], w[2], w[3]);
        }
        Fe4(r)
    }

    /// The lanes' elements.
    ///
    /// # Correctness
    /// Two limbs make one of the portable code: below 2^52 for tight limbs.
    #[target_feature(enable = "avx2")]
    pub(super) fn to_lanes(self) -> [Fe; 4] {
        let t = carry(carry(self.0));
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

    /// The sum of tight elements; loose.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn add(&self, b: &Fe4) -> Fe4 {
        let mut r = self.0;
        for i in 0..10 {
            r[i] = _mm256_add_epi64(r[i], b.0[i]);
        }
        Fe4(r)
    }

    /// The difference of tight elements, as a + 2p - b; loose.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn sub(&self, b: &Fe4) -> Fe4 {
        let mut r = self.0;
        for i in 0..10 {
            r[i] = _mm256_add_epi64(r[i], _mm256_sub_epi64(splat(twice_p(i)), b.0[i]));
        }
        Fe4(r)
    }

    /// The same, tight.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn reduce(&self) -> Fe4 {
        Fe4(carry(self.0))
    }

    /// The product.
    ///
    /// # Correctness
    /// Loose limbs f <= 3 (2^26 + 2^18) and 19 g < 2^31.9; a column is at most ten products, five of
    /// them of odd places, where f is doubled and half as large: below 10·2^27.6·2^31.9 < 2^63.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn mul(&self, other: &Fe4) -> Fe4 {
        let (f, g) = (&self.0, &other.0);
        debug_assert_loose(f);
        debug_assert_loose(g);
        let mut f2 = *f;
        for limb in &mut f2 {
            *limb = _mm256_add_epi64(*limb, *limb);
        }
        let g19 = times(g, 19);
        let columns = [
            column!(
                (f[0], g[0]),
                (f2[1], g19[9]),
                (f[2], g19[8]),
                (f2[3], g19[7]),
                (f[4], g19[6]),
                (f2[5], g19[5]),
                (f[6], g19[4]),
                (f2[7], g19[3]),
                (f[8], g19[2]),
                (f2[9], g19[1])
            ),
            column!(
                (f[0], g[1]),
                (f[1], g[0]),
                (f[2], g19[9]),
                (f[3], g19[8]),
                (f[4], g19[7]),
                (f[5], g19[6]),
                (f[6], g19[5]),
                (f[7], g19[4]),
                (f[8], g19[3]),
                (f[9], g19[2])
            ),
            column!(
                (f[0], g[2]),
                (f2[1], g[1]),
                (f[2], g[0]),
                (f2[3], g19[9]),
                (f[4], g19[8]),
                (f2[5], g19[7]),
                (f[6], g19[6]),
                (f2[7], g19[5]),
                (f[8], g19[4]),
                (f2[9], g19[3])
            ),
            column!(
                (f[0], g[3]),
                (f[1], g[2]),
                (f[2], g[1]),
                (f[3], g[0]),
                (f[4], g19[9]),
                (f[5], g19[8]),
                (f[6], g19[7]),
                (f[7], g19[6]),
                (f[8], g19[5]),
                (f[9], g19[4])
            ),
            column!(
                (f[0], g[4]),
                (f2[1], g[3]),
                (f[2], g[2]),
                (f2[3], g[1]),
                (f[4], g[0]),
                (f2[5], g19[9]),
                (f[6], g19[8]),
                (f2[7], g19[7]),
                (f[8], g19[6]),
                (f2[9], g19[5])
            ),
            column!(
                (f[0], g[5]),
                (f[1], g[4]),
                (f[2], g[3]),
                (f[3], g[2]),
                (f[4], g[1]),
                (f[5], g[0]),
                (f[6], g19[9]),
                (f[7], g19[8]),
                (f[8], g19[7]),
                (f[9], g19[6])
            ),
            column!(
                (f[0], g[6]),
                (f2[1], g[5]),
                (f[2], g[4]),
                (f2[3], g[3]),
                (f[4], g[2]),
                (f2[5], g[1]),
                (f[6], g[0]),
                (f2[7], g19[9]),
                (f[8], g19[8]),
                (f2[9], g19[7])
            ),
            column!(
                (f[0], g[7]),
                (f[1], g[6]),
                (f[2], g[5]),
                (f[3], g[4]),
                (f[4], g[3]),
                (f[5], g[2]),
                (f[6], g[1]),
                (f[7], g[0]),
                (f[8], g19[9]),
                (f[9], g19[8])
            ),
            column!(
                (f[0], g[8]),
                (f2[1], g[7]),
                (f[2], g[6]),
                (f2[3], g[5]),
                (f[4], g[4]),
                (f2[5], g[3]),
                (f[6], g[2]),
                (f2[7], g[1]),
                (f[8], g[0]),
                (f2[9], g19[9])
            ),
            column!(
                (f[0], g[9]),
                (f[1], g[8]),
                (f[2], g[7]),
                (f[3], g[6]),
                (f[4], g[5]),
                (f[5], g[4]),
                (f[6], g[3]),
                (f[7], g[2]),
                (f[8], g[1]),
                (f[9], g[0])
            ),
        ];
        Fe4(carry(carry(columns)))
    }

    /// The square.
    ///
    /// # Correctness
    /// The product's columns, with equal products taken once and counted twice; 38 times an odd limb
    /// is as small as 19 times an even one.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn square(&self) -> Fe4 {
        let f = &self.0;
        debug_assert_loose(f);
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
        Fe4(carry(carry(columns)))
    }
}

/// Squares several vectors n times, so that one does not wait for another.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn square_times<const N: usize>(x: &[Fe4; N], n: u32) -> [Fe4; N] {
    let mut r = *x;
    for _ in 0..n {
        for e in &mut r {
            *e = e.square();
        }
    }
    r
}

#[inline(never)]
#[target_feature(enable = "avx2")]
fn mul_all<const N: usize>(a: &[Fe4; N], b: &[Fe4; N]) -> [Fe4; N] {
    let mut r = *a;
    for i in 0..N {
        r[i] = a[i].mul(&b[i]);
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
