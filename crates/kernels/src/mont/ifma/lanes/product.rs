//! The product of eight pairs modulo N, a row of eight digits at a time.
//!
//! A number has 4·B digits, in four blocks of B. With X = 2^(52·2·B), half of a number, Montgomery's reduction
//! is taken with R = X² − 1 instead of a power of two: products modulo X − 1 and X + 1 are cheaper than the
//! lower half of a product. With K = −N^−1 mod R, a product is
//!
//! ```text
//! T = A·B                    8·B columns, of nine products of blocks (Karatsuba, twice)
//! m = T·K mod R              by T modulo Y − 1, Y + 1 and X + 1, where Y² = X: one, one and three products
//! V = (T + m·N) / R          one product of blocks and the halves of two for each half of V, see below
//! ```
//!
//! V ≡ A·B / (X² − 1) (mod N). T itself is never put together: what is wanted of it are these remainders, its
//! lowest quarter and its highest. That is 16 products of blocks and the halves of four. A block's product is
//! made of three of half the size, side by side: 355 multiplications a number at B = 10, against
//! 840 for one number at a time ([`FastRing::mul_assign`](crate::mont::FastRing::mul_assign)), and 425 where
//! half of T is folded and the rest reduced modulo X.
//!
//! *m from remainders.* Half of m modulo X − 1, say p, and modulo X + 1, say n, make m = (p + n) + X·(p − n):
//! that is 2·p modulo X − 1 and 2·n modulo X + 1. Likewise p = (e + f) + Y·(e − f) from a half of p modulo
//! Y − 1 and Y + 1. The halves are in the constants. All of that is done with columns, for it is linear.
//!
//! *V from the ends of U = T + m·N.* As V·(X² − 1) = U, V's lower half is −U modulo X. And V/X = U/X³ + V/X³,
//! so that the upper half is U/X³ less the fraction V_low/X: with S the columns of U from X³ on, and w what
//! the columns below amount to, in units of X³, it is S + (w − V_low/X). That is a whole number but for V/X³,
//! which is less than 1/X, so it is enough to know w from its last column and V_low from its last digit, and
//! to round.
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
//! fixed-up carries, less the outer two. So a block's are within 2·B + 2 and those of two blocks by two within
//! 8·B + 10. T modulo X + 1 adds ten of these, 80·B + 102 ≤ 1702, which is less than the 2^11 that fit; modulo
//! Y − 1 and Y + 1 it is four. Columns of m are ten of a block's, 20·B + 22 or less. U's add to those of two
//! blocks by two a block's and at most 4·B: what is known of a column below X³ is within 48·B + 60.
//!
//! *The sum of halves* may have a bit more than its B or 2·B digits. That bit is kept as a mask of lanes,
//! and adds the other sum B (2·B) columns higher.
//!
//! *Remainders.* A round of carries modulo 2^(52·k) − 1 brings the last carry to the lowest digit, and modulo
//! 2^(52·k) + 1 it takes it away there. What then is no digit is noticed like all other wrong guesses.
//!
//! *The size.* A, B < X² and m < X², hence U < X⁴ + X²·N and V < X² + N + 2. Whether it fits its digits is
//! seen by the last, which is not masked.
//!
//! *The rounding.* Let s be U's column below X³ and d the last digit of V_low. The columns below s amount to
//! less than 2^12 units of it, and so do V/X³ and what follows d. S + (s − d)/2^52 is a whole number up to
//! these: adding a half and cutting off makes it that.
//!
//! *Which N.* K exists where N has no factor in common with X² − 1 = 2^(416·v) − 1. That has many small
//! factors, 3 and 5 among them; a product of two large primes meets one of its factors by design only.

use super::blocks::{
    Block, Carries, Half, Row, digits_of_m, mul, mul_halves, mul_middle, sum_of_halves,
};
use crate::mont::elements::{Line, fetch};
use crate::mont::ifma::memory::DIGIT;
use core::arch::x86_64::*;

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

/// Four blocks of rows.
#[inline(always)]
fn quarters<const B: usize>(rows: &[Row]) -> [&[Row; B]; 4] {
    [0, 1, 2, 3].map(|i| rows[i * B..(i + 1) * B].try_into().expect("B rows are B rows"))
}

/// The columns of T = A·B as low + X·(mid − low − high) + X²·high, 4·B each, without what the carries of the
/// sums add to mid: the other one's `sums`, in the lanes of a mask, from column 2·B on.
struct Wide<'a> {
    low: &'a [Row],
    high: &'a [Row],
    mid: &'a [Row],
    sums: [&'a [Row]; 2],
    carries: [__mmask8; 2],
}

impl Wide<'_> {
    /// T's digits modulo Y − 1 (B of them), Y + 1 (B) and X + 1 (2·B), and the sum of the halves of these.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    fn remainders<const B: usize>(
        &self,
        [e, f, n, sums]: [&mut [Row]; 4],
        seen: &mut Row,
    ) -> __mmask8 {
        let [low, high, mid] = [self.low, self.high, self.mid].map(quarters::<B>);
        let [sa, sb] = self.sums.map(|sum| [&sum[..B], &sum[B..2 * B]]);
        let [ka, kb] = self.carries;
        let zero = _mm512_setzero_si512();
        // Column k·B + i of T modulo X − 1 and X + 1.
        macro_rules! folded {
            ($k:literal, $i:expr) => {{
                let (k, i) = ($k, $i);
                let upper = _mm512_mask_add_epi64(mid[2 + k][i], ka, mid[2 + k][i], sb[k][i]);
                let upper = _mm512_mask_add_epi64(upper, kb, upper, sa[k][i]);
                let of_low = _mm512_sub_epi64(low[k][i], low[2 + k][i]);
                let outer = _mm512_add_epi64(of_low, _mm512_sub_epi64(high[k][i], high[2 + k][i]));
                let less = _mm512_sub_epi64(upper, mid[k][i]);
                let sum = _mm512_add_epi64(mid[k][i], upper);
                [sum, _mm512_add_epi64(_mm512_add_epi64(outer, outer), less)]
            }};
        }
        // Column i modulo Y − 1 and Y + 1, and columns B + i and i modulo X + 1.
        macro_rules! columns {
            ($i:expr) => {{
                let ([a, low], [b, high]) = (folded!(0, $i), folded!(1, $i));
                [_mm512_add_epi64(a, b), _mm512_sub_epi64(a, b), high, low]
            }};
        }
        let (e, f, sums) = (&mut e[..B], &mut f[..B], &mut sums[..B]);
        let (n_low, n_high) = n[..2 * B].split_at_mut(B);
        let last = columns!(B - 1).map(|column| _mm512_srai_epi64::<52>(column));
        // X² = 1: what goes beyond mid counts for the lowest column.
        let one = _mm512_maskz_mov_epi64(ka & kb, _mm512_set1_epi64(1));
        let mut of_e = Carries::from(_mm512_add_epi64(one, last[0]));
        let mut of_f = Carries::from(_mm512_sub_epi64(one, last[1]));
        let mut of_high = Carries::from(last[3]);
        let mut of_low = Carries::from(_mm512_sub_epi64(zero, _mm512_add_epi64(one, last[2])));
        let mut of_sum = Carries::from(zero);
        for i in 0..B {
            let [c, d, h, l] = columns!(i);
            let (c, d, h, l) = (of_e.digit(c), of_f.digit(d), of_high.digit(h), of_low.digit(l));
            (e[i], f[i], n_high[i], n_low[i]) = (c, d, h, l);
            sums[i] = of_sum.digit(_mm512_add_epi64(h, l));
            let some = _mm512_ternarylogic_epi64::<0xfe>(c, d, h);
            let others = _mm512_ternarylogic_epi64::<0xfe>(l, sums[i], some);
            *seen = _mm512_or_si512(*seen, others);
        }
        _mm512_test_epi64_mask(of_sum.carry, of_sum.carry)
    }

    /// The column of T below X³.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    fn below_highest<const B: usize>(&self) -> Row {
        let ([sa, sb], [ka, kb]) = (self.sums.map(|sum| sum[2 * B - 1]), self.carries);
        let outer = _mm512_add_epi64(self.low[4 * B - 1], self.high[4 * B - 1]);
        let more = _mm512_sub_epi64(self.high[2 * B - 1], outer);
        let more = _mm512_add_epi64(self.mid[4 * B - 1], more);
        let more = _mm512_mask_add_epi64(more, ka, more, sb);
        _mm512_mask_add_epi64(more, kb, more, sa)
    }
}

/// K and N of a modulus.
#[derive(Clone)]
pub(super) struct Constants {
    /// A quarter of K modulo Y − 1 and Y + 1, and a half of it modulo X + 1.
    e: Block,
    f: Block,
    half: Half,
    n: Vec<u64>,
    /// Of N's four blocks the first and the last.
    lowest: Block,
    highest: Block,
}

impl Constants {
    /// Of the digits of N and K, 4·B each; `None` where one of K's remainders has no such digits, being −1
    /// modulo Y + 1 or X + 1.
    pub(super) fn new(n: Vec<u64>, k: &[u64]) -> Option<Self> {
        let b = n.len() / 4;
        let halved = |sign: i64, digits| halved(sign, digits).and_then(|half| halved(sign, half));
        Some(Constants {
            e: Block::new(&halved(1, folded(1, b, k)?)?)?,
            f: Block::new(&halved(-1, folded(-1, b, k)?)?)?,
            half: Half::new(&self::halved(-1, folded(-1, 2 * b, k)?)?)?,
            lowest: Block::new(&n[..b])?,
            highest: Block::new(&n[3 * b..])?,
            n,
        })
    }
}

/// The digits of a number modulo 2^(52·len) − sign, where it has as many.
fn folded(sign: i64, len: usize, number: &[u64]) -> Option<Vec<u64>> {
    let mut digits = vec![0i64; len];
    for (i, block) in number.chunks(len).enumerate() {
        let sign = if i % 2 == 1 { sign } else { 1 };
        digits.iter_mut().zip(block).for_each(|(digit, &more)| *digit += sign * more as i64);
    }
    // The first round brings a carry of a few units to the lowest digit, and others hardly ever any.
    for _ in 0..4 {
        let mut carry = 0;
        for digit in &mut digits {
            let sum = *digit + carry;
            (*digit, carry) = (sum & DIGIT as i64, sum >> 52);
        }
        if carry == 0 {
            return Some(digits.into_iter().map(|digit| digit as u64).collect());
        }
        digits[0] += sign * carry;
    }
    None
}

/// Half of a number modulo 2^(52·len) − sign, where that has as many digits.
fn halved(sign: i64, mut digits: Vec<u64>) -> Option<Vec<u64>> {
    let odd = digits[0] & 1;
    if odd == 1 {
        // Plus the modulus, whose highest bit comes in from above.
        if sign > 0 {
            digits[0] -= 1;
        } else {
            let small = digits.iter().position(|&digit| digit < DIGIT)?;
            digits[small] += 1;
            digits[..small].fill(0);
        }
    }
    digits.iter_mut().rev().fold(odd, |above, digit| {
        let below = *digit & 1;
        *digit = *digit >> 1 | above << 51;
        below
    });
    Some(digits)
}

/// Rows that [`product`] needs for its work.
pub(super) const fn scratch_rows(b: usize) -> usize {
    // Low, high and mid, two sums, e, f, n and its sum.
    12 * b + 4 * b + 5 * b
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

/// out = a·b / (X² − 1) mod N for eight pairs of 4·B digits; returns the lanes in which that does not count.
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
    let (low, scratch) = scratch.split_at_mut(4 * B);
    let (high, scratch) = scratch.split_at_mut(4 * B);
    let (mid, scratch) = scratch.split_at_mut(4 * B);
    let (sa, scratch) = scratch.split_at_mut(half);
    let (sb, t) = scratch.split_at_mut(half);
    let ka = sum_of_halves(sa, &a[..half], &a[half..], &mut seen);
    let kb = sum_of_halves(sb, &b[..half], &b[half..], &mut seen);
    ahead.fetch_one();
    mul_two::<B>(low, &a[..half], &b[..half], t, &mut seen);
    ahead.fetch_one();
    mul_two::<B>(high, &a[half..], &b[half..], t, &mut seen);
    ahead.fetch_one();
    mul_two::<B>(mid, sa, sb, t, &mut seen);
    ahead.fetch_one();
    let wide = Wide { low, high, mid, sums: [sa, sb], carries: [ka, kb] };
    let (e, rest) = t.split_at_mut(B);
    let (f, rest) = rest.split_at_mut(B);
    let (n, sums) = rest.split_at_mut(half);
    let more = wide.remainders::<B>([e, f, n, sums], &mut seen);
    let last = wide.below_highest::<B>();
    let one = _mm512_set1_epi64(1);
    high[half] = _mm512_mask_add_epi64(high[half], ka & kb, high[half], one);
    ahead.fetch_one();
    let m = mid;
    mul::<B>(sa, constants.e.rows(), e, &mut seen);
    mul::<B>(sb, constants.f.rows(), f, &mut seen);
    ahead.fetch_one();
    mul::<B>(m, constants.half.low.rows(), n, &mut seen);
    mul::<B>(&mut m[half..], constants.half.high.rows(), &n[B..], &mut seen);
    digits_of_m::<B>(m, [sa, sb], (sums, more), &constants.half, &mut seen);
    ahead.fetch_one();
    let last = ends_of_u::<B>([low, sa], [&mut high[half..], sb], m, constants, last, &mut seen);
    ahead.fetch_one();
    result::<B>(out, [low, sa], [&high[half..], sb], last, &mut seen);
    _mm512_test_epi64_mask(seen, _mm512_set1_epi64(!DIGIT as i64))
}

/// The columns of U = T + m·N below X, and those from X³ on, in two parts each; returns the one below these,
/// from T's.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn ends_of_u<const B: usize>(
    [low, more_low]: [&mut [Row]; 2],
    [high, more_high]: [&mut [Row]; 2],
    m: &[Row],
    constants: &Constants,
    last: Row,
    seen: &mut Row,
) -> Row {
    let zero = _mm512_setzero_si512();
    let (half, m, n) = (2 * B, &m[..4 * B], &constants.n[..4 * B]);
    mul::<B>(more_low, constants.lowest.rows(), m, seen);
    mul_halves::<B, false>(&mut low[B..], [n, &n[B..]], [&m[B..], m], zero);
    let tops = [&n[half + B..], &n[half..]];
    let mut last = mul_halves::<B, true>(high, tops, [&m[half..], &m[half + B..]], last);
    // What other blocks bring to that column.
    for (i, j) in [(half - 1, 4 * B - 1), (half + B - 1, half + B - 1), (4 * B - 1, half - 1)] {
        last = _mm512_madd52hi_epu64(last, m[i], _mm512_set1_epi64(n[j] as i64));
    }
    mul::<B>(more_high, constants.highest.rows(), &m[3 * B..], seen);
    last
}

/// The result's digits: of −U modulo X, and of U's highest columns less the fraction; the last of them whole.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn result<const B: usize>(
    out: &mut [Row],
    [low, more_low]: [&[Row]; 2],
    [high, more_high]: [&[Row]; 2],
    last: Row,
    seen: &mut Row,
) {
    let zero = _mm512_setzero_si512();
    let (out_low, out_high) = out[..4 * B].split_at_mut(2 * B);
    let (low, high) = (&low[..2 * B], &high[..2 * B]);
    let (more_low, more_high) = (&more_low[..2 * B], &more_high[..2 * B]);
    let mut carries = Carries::from(zero);
    for i in 0..2 * B {
        let column = _mm512_add_epi64(low[i], more_low[i]);
        out_low[i] = carries.digit(_mm512_sub_epi64(zero, column));
        *seen = _mm512_or_si512(*seen, out_low[i]);
    }
    let whole = _mm512_sub_epi64(last, out_low[2 * B - 1]);
    let round = _mm512_add_epi64(whole, _mm512_set1_epi64(1 << 51));
    let mut carries = Carries::from(_mm512_srai_epi64::<52>(round));
    for i in 0..2 * B {
        let column = _mm512_add_epi64(high[i], more_high[i]);
        out_high[i] = if i + 1 < 2 * B {
            carries.digit(column)
        } else {
            _mm512_add_epi64(column, carries.carry)
        };
        *seen = _mm512_or_si512(*seen, out_high[i]);
    }
}
