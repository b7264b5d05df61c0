//! The product of eight pairs modulo N, a row of eight digits at a time.
//!
//! A number has 4·B digits, in four blocks of B. With X = 2^(52·2·B), half of a number, and constants
//! C = X^−1 mod N and N' = −N^−1 mod X, a product is
//!
//! ```text
//! T = A·B                          8·B columns, of nine products of blocks (Karatsuba, twice)
//! P = T / X + Low·C                Low = T's 2·B lowest digits; six products of blocks
//! q = P·N' mod X                   one product of blocks and the lower parts of two
//! R = (P + q·N) / X                of q times N's lower half the upper columns, of the upper half all
//! ```
//!
//! R ≡ A·B / X² (mod N). Half-way folding costs what Montgomery's reduction does, but is a full product,
//! which Karatsuba's method makes cheaper. That is 20 products of blocks and the halves of four. A block's
//! product is made of three of half the size, side by side: 17 B² multiplications for each half of a digit's
//! product, 425 a number at B = 10, against 840 for one number at a time
//! ([`FastRing::mul_assign`](crate::mont::FastRing::mul_assign)).
//!
//! # Correctness
//! *Carries are guessed, and checked*, as in [the module above](super::super): one round of carries makes
//! digits of columns, all digits that are multiplied or handed out are or-ed, and lanes in which one has a
//! bit above 52 do not count. Rounds of carries preserve the value whatever the columns are, also
//! negative ones, for the carry is an arithmetic shift. A negative digit has its highest bit set and is
//! noticed too.
//!
//! *No column overflows.* In units of 2^52, a product of B/2 by B/2 digits has columns from 0 to B. By
//! Karatsuba's method, from products whose columns are between −u and v those of the double size have columns
//! between −(2·u + 2·v) and 2·u + 2·v + 2 at most: the lower or upper product, the middle one with its two
//! fixed-up carries, less the outer two. So a block's are within 2·B + 2, those of two blocks by two within
//! 8·B + 10, and four by four 32·B + 42. Each of the two folded products adds 8·B + 10 to a column, at most
//! two of them to one; q times N's upper half as much, the other parts of q·N at most 6·B + 2. Together below
//! 62·B + 74 ≤ 1314, which is less than the 2^11 that fit.
//!
//! *The sum of halves* may have a bit more than its B or 2·B digits. That bit is kept as a mask of lanes,
//! and adds the other sum B (2·B) columns higher.
//!
//! *The size.* A, B < 2^(52·4·B), hence P < 2^(52·6·B) + X·N and R < 2^(52·4·B) + 2·N. Whether it fits
//! its digits is seen by the last, which is not masked.
//!
//! *The part that vanishes.* P + q·N ≡ 0 (mod X). As in the module above, with s the sum of the last
//! column below X and k ≤ 4·B + 1 what those below carry into it, s + k is a multiple of 2^52, and
//! (s + 512) >> 52 the carry.

use super::blocks::{
    Block, Half, Row, Sum, add_middle, add_middle_of_half, mul, mul_constant, mul_halves,
    mul_middle, mul_outer, sum_of_halves,
};
use crate::mont::elements::{Line, fetch};
use crate::mont::ifma::memory::DIGIT;
use core::arch::x86_64::*;

/// Digits of 2·B columns, and [`sum_of_halves`] of these; also what the last column carries.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn digits_and_sums<const B: usize>(
    out: &mut [Row],
    sums: &mut [Row],
    columns: &[Row],
    seen: &mut Row,
) -> (Row, __mmask8) {
    let mask = _mm512_set1_epi64(DIGIT as i64);
    let zero = _mm512_setzero_si512();
    let (columns, highs) = columns[..2 * B].split_at(B);
    let (out, high_out) = out[..2 * B].split_at_mut(B);
    let sums = &mut sums[..B];
    let (mut carry, mut high_carry) = (zero, _mm512_srai_epi64::<52>(columns[B - 1]));
    let mut sum_carry = zero;
    for i in 0..B {
        let a = _mm512_add_epi64(_mm512_and_si512(columns[i], mask), carry);
        let b = _mm512_add_epi64(_mm512_and_si512(highs[i], mask), high_carry);
        carry = _mm512_srai_epi64::<52>(columns[i]);
        high_carry = _mm512_srai_epi64::<52>(highs[i]);
        (out[i], high_out[i]) = (a, b);
        let sum = _mm512_add_epi64(a, b);
        sums[i] = _mm512_add_epi64(_mm512_and_si512(sum, mask), sum_carry);
        sum_carry = _mm512_srli_epi64::<52>(sum);
        let any = _mm512_ternarylogic_epi64::<0xfe>(a, b, sums[i]);
        *seen = _mm512_or_si512(*seen, any);
    }
    (high_carry, _mm512_test_epi64_mask(sum_carry, sum_carry))
}

/// Digits of columns, and what the last column carries.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn digits(out: &mut [Row], columns: &[Row], seen: &mut Row) -> Row {
    let mask = _mm512_set1_epi64(DIGIT as i64);
    let mut carry = _mm512_setzero_si512();
    for (out, &sum) in out.iter_mut().zip(columns) {
        *out = _mm512_add_epi64(_mm512_and_si512(sum, mask), carry);
        *seen = _mm512_or_si512(*seen, *out);
        carry = _mm512_srai_epi64::<52>(sum);
    }
    carry
}

/// The result's digits, the last of them whole.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn last_digits(out: &mut [Row], columns: &[Row], seen: &mut Row) {
    let last = columns.len() - 1;
    let carry = digits(out, &columns[..last], seen);
    out[last] = _mm512_add_epi64(columns[last], carry);
    *seen = _mm512_or_si512(*seen, out[last]);
}

/// out[..4B] = a·b of 2·B digits each; `sums`: space for 2·B rows.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn mul_two<const B: usize>(
    out: &mut [Row],
    a: &[Row],
    b: &[Row],
    sums: &mut [Row],
    seen: &mut Row,
) {
    let (a0, a1) = a[..2 * B].split_at(B);
    let (b0, b1) = b[..2 * B].split_at(B);
    let (sa, sb) = sums[..2 * B].split_at_mut(B);
    let (ka, kb) = (sum_of_halves(sa, a0, a1, seen), sum_of_halves(sb, b0, b1, seen));
    mul::<B>(out, a0, b0, seen);
    mul::<B>(&mut out[2 * B..], a1, b1, seen);
    mul_middle::<B>(out, (sa, ka), (sb, kb), seen);
}

/// out[..4B] += a·c, where `sa` is a's sum of halves; t: space for 4·B rows.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn mul_half<const B: usize>(
    out: &mut [Row],
    a: &[Row],
    sa: Sum<'_>,
    c: &Half,
    t: &mut [Row],
    seen: &mut Row,
) {
    let (low, rest) = out[..4 * B].split_at_mut(B);
    let (middle, high) = rest.split_at_mut(2 * B);
    let (t_low, t_high) = t[..4 * B].split_at_mut(2 * B);
    mul_outer::<B, false>(t_low, low, &c.low, a, seen);
    mul_outer::<B, true>(t_high, high, &c.high, &a[B..], seen);
    let both = sa.1 & c.carry;
    high[0] = _mm512_mask_add_epi64(high[0], both, high[0], _mm512_set1_epi64(1));
    add_middle_of_half::<B>(middle, t, sa, c, seen);
}

/// C, N and N' of a modulus.
#[derive(Clone)]
pub(super) struct Constants {
    fold: [Half; 2],
    n: Vec<u64>,
    /// Of N's four blocks the second.
    n_second: Block,
    n_high: Half,
    inverse: Vec<u64>,
    inverse_low: Block,
}

impl Constants {
    /// Of the digits of C (4·B), N (4·B) and N' (2·B).
    pub(super) fn new(fold: &[u64], n: Vec<u64>, inverse: Vec<u64>) -> Self {
        let (half, b) = (n.len() / 2, n.len() / 4);
        Constants {
            fold: [Half::new(&fold[..half]), Half::new(&fold[half..])],
            n_second: Block::new(&n[b..half]),
            n_high: Half::new(&n[half..]),
            n,
            inverse_low: Block::new(&inverse[..b]),
            inverse,
        }
    }
}

/// Rows that [`product`] needs for its work.
pub(super) const fn scratch_rows(b: usize) -> usize {
    // T, two sums, and the middle of T with its sums.
    8 * b + 2 * b + 2 * b + 4 * b + 4 * b
}

/// Elements of V lines that will be factors soon, brought near one at a time between products of blocks.
pub(super) struct Ahead<'a, const V: usize>(core::slice::Iter<'a, &'a [Line; V]>);

impl<'a, const V: usize> Ahead<'a, V> {
    pub(super) fn new(elements: &'a [&'a [Line; V]]) -> Self {
        Self(elements.iter())
    }

    /// Asks for the next one.
    #[inline(always)]
    fn fetch_one(&mut self) {
        if let Some(&lines) = self.0.next() {
            fetch(lines);
        }
    }
}

/// out = a·b / X² mod N for eight pairs of 4·B digits; returns the lanes in which that does not count.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
pub(super) fn product<const B: usize, const V: usize>(
    out: &mut [Row],
    a: &[Row],
    b: &[Row],
    constants: &Constants,
    scratch: &mut [Row],
    ahead: &mut Ahead<'_, V>,
) -> __mmask8 {
    let mut seen = _mm512_setzero_si512();
    let half = 2 * B;
    let (wide, scratch) = scratch.split_at_mut(8 * B);
    let (sa, scratch) = scratch.split_at_mut(half);
    let (sb, scratch) = scratch.split_at_mut(half);
    let (mid, t) = scratch.split_at_mut(4 * B);
    let ka = sum_of_halves(sa, &a[..half], &a[half..], &mut seen);
    let kb = sum_of_halves(sb, &b[..half], &b[half..], &mut seen);
    ahead.fetch_one();
    mul_two::<B>(wide, &a[..half], &b[..half], t, &mut seen);
    ahead.fetch_one();
    mul_two::<B>(&mut wide[4 * B..], &a[half..], &b[half..], t, &mut seen);
    ahead.fetch_one();
    mul_two::<B>(mid, sa, sb, t, &mut seen);
    add_middle(wide, half, mid, (sa, ka), (sb, kb));
    ahead.fetch_one();
    reduce::<B, V>(wide, constants, [sa, sb, mid, t], &mut seen, ahead);
    last_digits(out, &wide[4 * B..], &mut seen);
    _mm512_test_epi64_mask(seen, _mm512_set1_epi64(!DIGIT as i64))
}

/// The columns of R, from 4·B on in those of T.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn reduce<const B: usize, const V: usize>(
    wide: &mut [Row],
    constants: &Constants,
    [part, q, columns, t]: [&mut [Row]; 4],
    seen: &mut Row,
    ahead: &mut Ahead<'_, V>,
) {
    let half = 2 * B;
    // P = T / X + Low·C, with Low in `part` and its sum in `q`.
    let (low, rest) = wide.split_at_mut(half);
    let (carry, more) = digits_and_sums::<B>(part, q, low, seen);
    rest[0] = _mm512_add_epi64(rest[0], carry);
    mul_half::<B>(rest, part, (q, more), &constants.fold[0], t, seen);
    ahead.fetch_one();
    mul_half::<B>(&mut rest[half..], part, (q, more), &constants.fold[1], t, seen);
    // q = P·N' mod X.
    let (low, rest) = rest.split_at_mut(half);
    let carry = digits(part, low, seen);
    rest[0] = _mm512_add_epi64(rest[0], carry);
    let inverse = &constants.inverse[..half];
    ahead.fetch_one();
    mul_constant::<B, false>(columns, &constants.inverse_low, part, seen);
    let zero = _mm512_setzero_si512();
    mul_halves::<B, false>(&mut columns[B..], [inverse, &inverse[B..]], [&part[B..], part], zero);
    let last = part[half - 1];
    let sums = part;
    let (_, more) = digits_and_sums::<B>(q, sums, columns, seen);
    ahead.fetch_one();
    // R = (P + q·N) / X.
    let n = &constants.n[..half];
    let last = mul_halves::<B, true>(rest, [&n[B..], n], [q, &q[B..]], last);
    // What the lower blocks by themselves bring to that column.
    let last = _mm512_madd52hi_epu64(last, q[B - 1], _mm512_set1_epi64(n[B - 1] as i64));
    let last = _mm512_add_epi64(last, _mm512_set1_epi64(512));
    rest[0] = _mm512_add_epi64(rest[0], _mm512_srli_epi64::<52>(last));
    mul_constant::<B, true>(rest, &constants.n_second, &q[B..], seen);
    ahead.fetch_one();
    mul_half::<B>(rest, q, (sums, more), &constants.n_high, t, seen);
}
