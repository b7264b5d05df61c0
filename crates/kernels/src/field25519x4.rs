//! Four elements of the field of 2^255 - 19 at once, one in each 64-bit lane, with AVX2.
//!
//! An element is ten limbs of 26 and 25 bits by turns, because AVX2 multiplies 32 bits by 32:
//! x = x0 + 2^26 x1 + 2^51 x2 + 2^77 x3 + ... Limb i of all four lanes is one vector. With
//! u = 2^26 for even limbs and 2^25 for odd ones:
//!
//! - *tight*: every limb <= u + 2^18. Multiplications and squarings return tight elements.
//! - sums and differences are not carried; the left operand of a multiplication may have limbs of
//!   5u, the right one of 3u (and a little), a square's of u.
//!
//! Nothing branches on, or indexes by, an element.

use crate::field25519::Fe;
use core::arch::x86_64::*;

/// Four elements of the field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fe4(pub(crate) [__m256i; 10]);

/// 2 p, limb by limb: not less than any tight limb.
const TWICE_P: [i64; 10] = {
    let mut limbs = [(1 << 26) - 2; 10];
    let mut i = 0;
    while i < 10 {
        limbs[i] = (1 << 27) - 2;
        i += 2;
    }
    limbs[0] = (1 << 27) - 38;
    limbs
};

/// Says in debug builds that no limb exceeds `times` u and a little.
#[inline]
#[target_feature(enable = "avx2")]
fn debug_assert_at_most(limbs: &[__m256i; 10], times: i64) {
    if cfg!(debug_assertions) {
        for (i, &limb) in limbs.iter().enumerate() {
            let most = (times << (26 - i % 2)) + (times << 18);
            let over = _mm256_cmpgt_epi64(limb, _mm256_set1_epi64x(most));
            assert_eq!(_mm256_movemask_epi8(over), 0, "a limb exceeds its bound");
        }
    }
}

impl Fe4 {
    /// The same element in all lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn splat(a: &Fe) -> Fe4 {
        Fe4::from_lanes(&[*a; 4])
    }

    /// One element for each lane.
    #[target_feature(enable = "avx2")]
    pub(crate) fn from_lanes(elements: &[Fe; 4]) -> Fe4 {
        let limbs = elements.map(|a| a.canonical());
        let mut r = [_mm256_setzero_si256(); 10];
        for i in 0..5 {
            let [a, b, c, d] = limbs.map(|limbs| limbs[i] as i64);
            let both = _mm256_setr_epi64x(a, b, c, d);
            r[2 * i] = _mm256_and_si256(both, _mm256_set1_epi64x((1 << 26) - 1));
            r[2 * i + 1] = _mm256_srli_epi64::<26>(both);
        }
        Fe4(r)
    }

    /// The elements of the lanes.
    ///
    /// # Correctness
    /// Tight limbs join to less than 2^51 + 2^45, which is within the portable code's bounds.
    #[target_feature(enable = "avx2")]
    pub(crate) fn to_lanes(self) -> [Fe; 4] {
        let mut out = [Fe::ZERO; 4];
        for i in 0..5 {
            let odd = _mm256_slli_epi64::<26>(self.0[2 * i + 1]);
            let both = lanes(_mm256_add_epi64(self.0[2 * i], odd));
            for lane in 0..4 {
                out[lane].0[i] = both[lane];
            }
        }
        out
    }

    /// The sum; bounds add up.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn add(&self, b: &Fe4) -> Fe4 {
        let mut r = self.0;
        for i in 0..10 {
            r[i] = _mm256_add_epi64(r[i], b.0[i]);
        }
        Fe4(r)
    }

    /// The difference; `b` is tight, and adds 2u to the bound.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn sub(&self, b: &Fe4) -> Fe4 {
        self.add(&b.neg())
    }

    /// The negative of a tight element; its bound is 2u.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn neg(&self) -> Fe4 {
        debug_assert_at_most(&self.0, 1);
        let mut r = self.0;
        for i in 0..10 {
            r[i] = _mm256_sub_epi64(_mm256_set1_epi64x(TWICE_P[i]), r[i]);
        }
        Fe4(r)
    }

    /// `other` in the lanes of `mask`, which are all ones, `self` in the rest.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn or_where(&self, mask: __m256i, other: &Fe4) -> Fe4 {
        let mut r = self.0;
        for i in 0..10 {
            r[i] = _mm256_blendv_epi8(r[i], other.0[i], mask);
        }
        Fe4(r)
    }

    /// The product.
    ///
    /// # Correctness
    /// Column k is the sum of a[i] b[j] with i + j = k mod 10, twice where i and j are odd, 19 times
    /// where i + j >= 10. 19·3u < 2^32, so every factor fits. Column 0 is the largest:
    /// 5·3·2^52 (1 + 19 (4 + 5/2)) < 2^62.9.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(crate) fn mul(&self, other: &Fe4) -> Fe4 {
        debug_assert_at_most(&self.0, 5);
        debug_assert_at_most(&other.0, 3);
        let (a, b) = (&self.0, &other.0);
        let (mut a2, mut b19) = (*a, *b);
        for i in 0..10 {
            a2[i] = _mm256_add_epi64(a[i], a[i]);
            b19[i] = _mm256_mul_epu32(b[i], _mm256_set1_epi64x(19));
        }
        carry([
            column::<0>(a, &a2, b, &b19),
            column::<1>(a, &a2, b, &b19),
            column::<2>(a, &a2, b, &b19),
            column::<3>(a, &a2, b, &b19),
            column::<4>(a, &a2, b, &b19),
            column::<5>(a, &a2, b, &b19),
            column::<6>(a, &a2, b, &b19),
            column::<7>(a, &a2, b, &b19),
            column::<8>(a, &a2, b, &b19),
            column::<9>(a, &a2, b, &b19),
        ])
    }

    /// The square of a tight element.
    ///
    /// # Correctness
    /// As for the product, with products of different limbs computed once and counted twice; 38 u is
    /// below 2^32.
    #[inline(never)]
    #[target_feature(enable = "avx2")]
    pub(crate) fn square(&self) -> Fe4 {
        debug_assert_at_most(&self.0, 1);
        let a = &self.0;
        let (mut a2, mut a19, mut a38) = (*a, *a, *a);
        for i in 0..10 {
            a2[i] = _mm256_add_epi64(a[i], a[i]);
            a19[i] = _mm256_mul_epu32(a[i], _mm256_set1_epi64x(19));
            a38[i] = _mm256_add_epi64(a19[i], a19[i]);
        }
        let by = [a, &a2, &a19, &a38];
        carry([
            square_column::<0>(by),
            square_column::<1>(by),
            square_column::<2>(by),
            square_column::<3>(by),
            square_column::<4>(by),
            square_column::<5>(by),
            square_column::<6>(by),
            square_column::<7>(by),
            square_column::<8>(by),
            square_column::<9>(by),
        ])
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn column<const K: usize>(
    a: &[__m256i; 10],
    a2: &[__m256i; 10],
    b: &[__m256i; 10],
    b19: &[__m256i; 10],
) -> __m256i {
    let mut sum = _mm256_setzero_si256();
    for i in 0..10 {
        let j = (K + 10 - i) % 10;
        let left = if i % 2 == 1 && j % 2 == 1 { a2[i] } else { a[i] };
        let right = if i > K { b19[j] } else { b[j] };
        sum = _mm256_add_epi64(sum, _mm256_mul_epu32(left, right));
    }
    sum
}

/// One column of a square; `by` is the element times 1, 2, 19 and 38.
#[inline]
#[target_feature(enable = "avx2")]
fn square_column<const K: usize>(by: [&[__m256i; 10]; 4]) -> __m256i {
    let mut sum = _mm256_setzero_si256();
    for i in 0..10 {
        let j = (K + 10 - i) % 10;
        if i <= j {
            let left = by[usize::from(i != j)][i];
            let right = by[usize::from(i % 2 == 1 && j % 2 == 1) + 2 * usize::from(i > K)][j];
            sum = _mm256_add_epi64(sum, _mm256_mul_epu32(left, right));
        }
    }
    sum
}

/// Carries in two chains side by side, then around.
///
/// # Correctness
/// Columns below 2^63 give carries below 2^38; the carry out of the top returns as 19 of them, below
/// 2^43, in limb 0, which passes on less than 2^17. Limb 5, where the first chain ends, has taken
/// less than 2^13 after its own carry.
#[inline]
#[target_feature(enable = "avx2")]
fn carry(mut z: [__m256i; 10]) -> Fe4 {
    for (a, b) in [(0, 4), (1, 5), (2, 6), (3, 7), (4, 8)] {
        pass_on(&mut z, a);
        pass_on(&mut z, b);
    }
    let top = _mm256_srli_epi64::<25>(z[9]);
    z[9] = _mm256_and_si256(z[9], _mm256_set1_epi64x((1 << 25) - 1));
    let three = _mm256_add_epi64(_mm256_add_epi64(top, top), top);
    z[0] = _mm256_add_epi64(z[0], _mm256_add_epi64(three, _mm256_slli_epi64::<4>(top)));
    pass_on(&mut z, 0);
    Fe4(z)
}

/// Carries from limb i to the next.
#[inline]
#[target_feature(enable = "avx2")]
fn pass_on(z: &mut [__m256i; 10], i: usize) {
    let (high, mask) = match i % 2 {
        0 => (_mm256_srli_epi64::<26>(z[i]), (1 << 26) - 1),
        _ => (_mm256_srli_epi64::<25>(z[i]), (1 << 25) - 1),
    };
    z[i + 1] = _mm256_add_epi64(z[i + 1], high);
    z[i] = _mm256_and_si256(z[i], _mm256_set1_epi64x(mask));
}

/// Reads four lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load(lanes: &[u64; 4]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
}

/// Writes four lanes.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn store(lanes: &mut [u64; 4], v: __m256i) {
    // SAFETY: the reference is to 32 writable bytes, and the instruction asks for no alignment.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), v) }
}

/// The lanes of a vector.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn lanes(v: __m256i) -> [u64; 4] {
    let mut out = [0; 4];
    store(&mut out, v);
    out
}

/// Transposes four rows of four words.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn transpose(rows: [__m256i; 4]) -> [__m256i; 4] {
    let (a, b) = (_mm256_unpacklo_epi64(rows[0], rows[1]), _mm256_unpackhi_epi64(rows[0], rows[1]));
    let (c, d) = (_mm256_unpacklo_epi64(rows[2], rows[3]), _mm256_unpackhi_epi64(rows[2], rows[3]));
    [
        _mm256_permute2x128_si256::<0x20>(a, c),
        _mm256_permute2x128_si256::<0x20>(b, d),
        _mm256_permute2x128_si256::<0x31>(a, c),
        _mm256_permute2x128_si256::<0x31>(b, d),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes4::Lanes4;

    /// Elements with extreme and pseudo-random limbs, in every lane.
    fn samples() -> Vec<[Fe; 4]> {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            match state >> 61 {
                0 => 0,
                1 => (1 << 51) - 1,
                2 => 1 << 25,
                3 => (1 << 26) - 1,
                _ => state >> 13,
            }
        };
        (0..200).map(|_| core::array::from_fn(|_| Fe(core::array::from_fn(|_| next())))).collect()
    }

    #[target_feature(enable = "avx2")]
    fn assert_same(a: &Fe4, expected: impl Fn(usize) -> Fe) {
        for (lane, element) in a.to_lanes().iter().enumerate() {
            assert_eq!(element.to_bytes(), expected(lane).to_bytes(), "lane {lane}");
        }
    }

    #[test]
    fn arithmetic_agrees_with_portable() {
        #[target_feature(enable = "avx2")]
        fn test() {
            let all = samples();
            for (pa, pb) in all.iter().zip(all.iter().rev()) {
                let (a, b) = (Fe4::from_lanes(pa), Fe4::from_lanes(pb));
                assert_same(&a.mul(&b), |l| pa[l].mul(&pb[l]));
                assert_same(&a.square(), |l| pa[l].square());
                let (sum, difference) = (a.add(&b), a.sub(&b));
                assert_same(&difference.mul(&sum), |l| pa[l].sub(&pb[l]).mul(&pa[l].add(&pb[l])));
                assert_same(&sum.mul(&difference), |l| pa[l].sub(&pb[l]).mul(&pa[l].add(&pb[l])));
                let five = sum.add(&difference);
                assert_same(&five.mul(&difference), |l| pa[l].add(&pa[l]).mul(&pa[l].sub(&pb[l])));
                let odd = _mm256_setr_epi64x(0, -1, 0, -1);
                let mixed = a.or_where(odd, &a.neg());
                assert_same(&b.mul(&mixed), |l| match l % 2 {
                    0 => pa[l].mul(&pb[l]),
                    _ => pa[l].neg().mul(&pb[l]),
                });
            }
        }
        if Lanes4::detect().is_some() {
            // SAFETY: the token shows that the CPU has AVX2.
            unsafe { test() }
        } else {
            println!("left out: this CPU has no AVX2, or TETRALITH_KERNEL forbids it");
        }
    }

    #[test]
    fn bounds_are_reached_safely() {
        #[target_feature(enable = "avx2")]
        fn test() {
            // Each limb at its largest: `times` u and `times` 2^18.
            let full = |times: i64| {
                let mut limbs = [_mm256_setzero_si256(); 10];
                for (i, limb) in limbs.iter_mut().enumerate() {
                    *limb = _mm256_set1_epi64x((times << (26 - i % 2)) + (times << 18));
                }
                Fe4(limbs)
            };
            let one = full(1).to_lanes()[0];
            let three = one.add(&one).add(&one);
            let five = three.add(&one).add(&one);
            assert_same(&full(5).mul(&full(3)), |_| five.mul(&three));
            assert_same(&full(1).square(), |_| one.square());
            assert_same(&full(1).sub(&full(1)).mul(&full(1)), |_| Fe::ZERO);
            debug_assert_at_most(&full(5).mul(&full(3)).0, 1);
        }
        if Lanes4::detect().is_some() {
            // SAFETY: the token shows that the CPU has AVX2.
            unsafe { test() }
        }
    }
}
