//! Products of blocks of B digits, eight side by side, and what becomes of them in products of two blocks by two.
//!
//! Columns are in units of 2^52; that none overflows is shown in [`super::product`].

use crate::mont::ifma::memory::DIGIT;
use core::arch::x86_64::*;

/// A digit of each of eight numbers, or a column.
pub(super) type Row = __m512i;

/// Repeats a block for i = 0, 1, …, as a constant.
macro_rules! unrolled {
    ($i:ident < $count:expr, $body:block) => {
        unrolled!(@ $i, $count, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
    };
    (@ $i:ident, $count:expr, $body:block, $($n:literal)*) => {
        $( if $n < $count { const $i: usize = $n; $body } )*
    };
}

/// The greatest B, so far does `unrolled` count.
const MOST: usize = 20;

/// The columns of a product of blocks, by Karatsuba's method. `$rows` gives the digits I and B/2 + I of one
/// factor, and I of the sum of its halves, whose carry is `$ka`. The three products are made side by side:
/// alone, one has too few columns to keep the multipliers busy.
macro_rules! block_product {
    ($b:ident, ($sb:ident, $kb:expr), $ka:expr, $i:ident, $rows:expr) => {{
        let zero = _mm512_setzero_si512();
        let (mut low, mut high, mut mid) = ([zero; MOST], [zero; MOST], [zero; MOST]);
        unrolled!($i < B / 2, {
            let (x, y, _) = $rows;
            for j in 0..B / 2 {
                low[$i + j] = _mm512_madd52lo_epu64(low[$i + j], x, $b[j]);
            }
            for j in 0..B / 2 {
                high[$i + j] = _mm512_madd52lo_epu64(high[$i + j], y, $b[B / 2 + j]);
            }
            for j in 0..B / 2 {
                low[$i + j + 1] = _mm512_madd52hi_epu64(low[$i + j + 1], x, $b[j]);
            }
            for j in 0..B / 2 {
                high[$i + j + 1] = _mm512_madd52hi_epu64(high[$i + j + 1], y, $b[B / 2 + j]);
            }
        });
        for i in 0..B / 2 {
            let difference = _mm512_sub_epi64(low[B / 2 + i], high[i]);
            mid[i] = _mm512_sub_epi64(difference, low[i]);
            let less = _mm512_add_epi64(difference, high[B / 2 + i]);
            mid[B / 2 + i] = _mm512_sub_epi64(zero, less);
        }
        unrolled!($i < B / 2, {
            let (_, _, z) = $rows;
            let start = _mm512_maskz_mov_epi64($ka, $sb[$i]);
            let start = _mm512_mask_add_epi64(start, $kb, start, z);
            mid[B / 2 + $i] = _mm512_add_epi64(mid[B / 2 + $i], start);
            for j in 0..B / 2 {
                mid[$i + j] = _mm512_madd52lo_epu64(mid[$i + j], z, $sb[j]);
            }
            for j in 0..B / 2 {
                mid[$i + j + 1] = _mm512_madd52hi_epu64(mid[$i + j + 1], z, $sb[j]);
            }
        });
        let mut columns = [zero; 2 * MOST];
        for i in 0..B / 2 {
            columns[i] = low[i];
            columns[B / 2 + i] = mid[i];
            columns[B + i] = mid[B / 2 + i];
            columns[B + B / 2 + i] = high[B / 2 + i];
        }
        let both = $ka & $kb;
        let one = _mm512_set1_epi64(1);
        columns[B + B / 2] =
            _mm512_mask_add_epi64(columns[B + B / 2], both, columns[B + B / 2], one);
        columns
    }};
}

/// [`sum_of_halves`] of a block.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn inner_sum<const B: usize>(x: &[Row; B], seen: &mut Row) -> ([Row; MOST], __mmask8) {
    let mut sum = [_mm512_setzero_si512(); MOST];
    let carry = sum_of_halves(&mut sum[..B / 2], &x[..B / 2], &x[B / 2..], seen);
    (sum, carry)
}

/// out[..2B] = a·b of B digits each.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline(never)]
pub(super) fn mul<const B: usize>(out: &mut [Row], a: &[Row], b: &[Row], seen: &mut Row) {
    let (out, a, b) = (&mut out[..2 * B], rows_of::<B>(a), rows_of::<B>(b));
    let ((sa, ka), (sb, kb)) = (inner_sum(a, seen), inner_sum(b, seen));
    let columns = block_product!(b, (sb, kb), ka, I, (a[I], a[B / 2 + I], sa[I]));
    out.copy_from_slice(&columns[..2 * B]);
}

/// B digits of a constant, and the sum of their halves, whose carry is the same for all lanes.
#[derive(Clone)]
pub(super) struct Block {
    digits: Vec<u64>,
    sum: Vec<u64>,
    carry: __mmask8,
}

impl Block {
    pub(super) fn new(digits: &[u64]) -> Self {
        let (sum, carry) = halves_of(digits);
        Self { digits: digits.to_vec(), sum, carry }
    }
}

/// The sum of both halves of a constant, and its carry for all lanes.
fn halves_of(digits: &[u64]) -> (Vec<u64>, __mmask8) {
    let (low, high) = digits.split_at(digits.len() / 2);
    let mut carry = 0;
    let add = |(a, b)| {
        let sum = a + b + carry;
        carry = sum >> 52;
        sum & DIGIT
    };
    let sum = low.iter().zip(high).map(add).collect();
    (sum, if carry > 0 { 0xff } else { 0 })
}

/// The columns of a constant times a block.
macro_rules! constant_product {
    ($a:ident, $b:ident, $seen:ident) => {{
        let (digits, sum) = (&$a.digits[..B], &$a.sum[..B / 2]);
        let (sb, kb) = inner_sum($b, $seen);
        let row = |digit: u64| _mm512_set1_epi64(digit as i64);
        block_product!($b, (sb, kb), $a.carry, I, {
            (row(digits[I]), row(digits[B / 2 + I]), row(sum[I]))
        })
    }};
}

/// out[..2B] = a·b, or with `ADD` += a·b, with one a for all lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline(never)]
pub(super) fn mul_constant<const B: usize, const ADD: bool>(
    out: &mut [Row],
    a: &Block,
    b: &[Row],
    seen: &mut Row,
) {
    let (out, b) = (&mut out[..2 * B], rows_of::<B>(b));
    let columns = constant_product!(a, b, seen);
    for (out, column) in out.iter_mut().zip(columns) {
        *out = if ADD { _mm512_add_epi64(*out, column) } else { column };
    }
}

#[inline(always)]
fn rows_of<const B: usize>(rows: &[Row]) -> &[Row; B] {
    rows[..B].try_into().expect("B rows are B rows")
}

/// out[..B] += the B lowest columns of a·b + c·d, or with `HIGH` those from B on; then also returns what is
/// added to `last` by the column below these.
///
/// Two products at once, for each by itself has too few columns to keep the multipliers busy.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline(never)]
pub(super) fn mul_halves<const B: usize, const HIGH: bool>(
    out: &mut [Row],
    [a, c]: [&[u64]; 2],
    [b, d]: [&[Row]; 2],
    last: Row,
) -> Row {
    let (out, a, c) = (&mut out[..B], &a[..B], &c[..B]);
    let (b, d) = (rows_of::<B>(b), rows_of::<B>(d));
    let zero = _mm512_setzero_si512();
    let (mut acc, mut other) = ([zero; MOST], [zero; MOST]);
    acc[..B].copy_from_slice(out);
    // The column below, in four sums, which do not wait for each other.
    let mut below = [last, zero, zero, zero];
    unrolled!(I < B, {
        let x = _mm512_set1_epi64(a[I] as i64);
        let y = _mm512_set1_epi64(c[I] as i64);
        // Digits j whose low half, or whose high half, falls into a column that counts.
        let (low, high, edge) =
            if HIGH { (B - I..B, B - I - 1..B, B) } else { (0..B - I, 0..B - I - 1, 0) };
        if HIGH {
            below[0] = _mm512_madd52lo_epu64(below[0], x, b[B - 1 - I]);
            below[1] = _mm512_madd52lo_epu64(below[1], y, d[B - 1 - I]);
        }
        for j in low.clone() {
            acc[I + j - edge] = _mm512_madd52lo_epu64(acc[I + j - edge], x, b[j]);
        }
        for j in low {
            other[I + j - edge] = _mm512_madd52lo_epu64(other[I + j - edge], y, d[j]);
        }
        if HIGH && I + 1 < B {
            below[2] = _mm512_madd52hi_epu64(below[2], x, b[B - 2 - I]);
            below[3] = _mm512_madd52hi_epu64(below[3], y, d[B - 2 - I]);
        }
        for j in high.clone() {
            acc[I + j + 1 - edge] = _mm512_madd52hi_epu64(acc[I + j + 1 - edge], x, b[j]);
        }
        for j in high {
            other[I + j + 1 - edge] = _mm512_madd52hi_epu64(other[I + j + 1 - edge], y, d[j]);
        }
    });
    for k in 0..B {
        out[k] = _mm512_add_epi64(acc[k], other[k]);
    }
    let [s, t, u, v] = below;
    _mm512_add_epi64(_mm512_add_epi64(s, t), _mm512_add_epi64(u, v))
}

/// The sum of two halves, as digits, and of each lane whether it has one more bit.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
pub(super) fn sum_of_halves(
    out: &mut [Row],
    low: &[Row],
    high: &[Row],
    seen: &mut Row,
) -> __mmask8 {
    let mask = _mm512_set1_epi64(DIGIT as i64);
    let mut carry = _mm512_setzero_si512();
    for ((out, &a), &b) in out.iter_mut().zip(low).zip(high) {
        let sum = _mm512_add_epi64(a, b);
        *out = _mm512_add_epi64(_mm512_and_si512(sum, mask), carry);
        *seen = _mm512_or_si512(*seen, *out);
        carry = _mm512_srli_epi64::<52>(sum);
    }
    _mm512_test_epi64_mask(carry, carry)
}

/// A sum of halves with its carries.
pub(super) type Sum<'a> = (&'a [Row], __mmask8);

/// Karatsuba's middle: adds to the middle of `out` the product of the sums, `mid`, less both outer
/// products, and what the sums' carries bring. Four parts of `width` columns.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
pub(super) fn add_middle(
    out: &mut [Row],
    width: usize,
    mid: &[Row],
    (sa, ka): Sum<'_>,
    (sb, kb): Sum<'_>,
) {
    let (low, rest) = out[..4 * width].split_at_mut(width);
    let (upper, rest) = rest.split_at_mut(width);
    let (lower, high) = rest.split_at_mut(width);
    let (mid, mid_high) = mid[..2 * width].split_at(width);
    let (sa, sb) = (&sa[..width], &sb[..width]);
    for i in 0..width {
        let difference = _mm512_sub_epi64(upper[i], lower[i]);
        upper[i] = _mm512_add_epi64(difference, _mm512_sub_epi64(mid[i], low[i]));
        let more = _mm512_sub_epi64(_mm512_sub_epi64(mid_high[i], high[i]), difference);
        let more = _mm512_mask_add_epi64(more, ka, more, sb[i]);
        lower[i] = _mm512_mask_add_epi64(more, kb, more, sa[i]);
    }
    high[0] = _mm512_mask_add_epi64(high[0], ka & kb, high[0], _mm512_set1_epi64(1));
}

/// Karatsuba's middle: adds to the middle of `out` the product of the sums less both outer products, and
/// what the sums' carries bring. Four parts of B columns.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline(never)]
pub(super) fn mul_middle<const B: usize>(
    out: &mut [Row],
    (sa, ka): Sum<'_>,
    (sb, kb): Sum<'_>,
    seen: &mut Row,
) {
    let (a, b) = (rows_of::<B>(sa), rows_of::<B>(sb));
    let ((inner_a, inner_ka), (inner_b, inner_kb)) = (inner_sum(a, seen), inner_sum(b, seen));
    let mid =
        block_product!(b, (inner_b, inner_kb), inner_ka, I, { (a[I], a[B / 2 + I], inner_a[I]) });
    add_middle(out, B, &mid, (a, ka), (b, kb));
}

/// 2·B digits of a constant, and their sum of halves.
#[derive(Clone)]
pub(super) struct Half {
    pub(super) low: Block,
    pub(super) high: Block,
    pub(super) sum: Block,
    /// The sum's carry, the same for all lanes.
    pub(super) carry: __mmask8,
}

impl Half {
    pub(super) fn new(digits: &[u64]) -> Self {
        let (low, high) = digits.split_at(digits.len() / 2);
        let (sum, carry) = halves_of(digits);
        Self { low: Block::new(low), high: Block::new(high), sum: Block::new(&sum), carry }
    }
}

/// t[..2B] = a·b, and also out[..B] += its lower half, or with `HIGH` its upper half.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline(never)]
pub(super) fn mul_outer<const B: usize, const HIGH: bool>(
    t: &mut [Row],
    out: &mut [Row],
    a: &Block,
    b: &[Row],
    seen: &mut Row,
) {
    let (t, out, b) = (&mut t[..2 * B], &mut out[..B], rows_of::<B>(b));
    let columns = constant_product!(a, b, seen);
    t.copy_from_slice(&columns[..2 * B]);
    let half = if HIGH { &columns[B..] } else { &columns };
    for i in 0..B {
        out[i] = _mm512_add_epi64(out[i], half[i]);
    }
}

/// Adds the middle product, of `sa` and c's sum, less the outer products `t`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline(never)]
pub(super) fn add_middle_of_half<const B: usize>(
    out: &mut [Row],
    t: &[Row],
    (sa, ka): Sum<'_>,
    c: &Half,
    seen: &mut Row,
) {
    let (out, t, b) = (&mut out[..2 * B], &t[..4 * B], rows_of::<B>(sa));
    let (sum, digits) = (&c.sum, &c.sum.digits[..B]);
    let columns = constant_product!(sum, b, seen);
    for i in 0..B {
        let difference = _mm512_sub_epi64(t[B + i], t[2 * B + i]);
        let more = _mm512_sub_epi64(_mm512_add_epi64(columns[i], difference), t[i]);
        out[i] = _mm512_add_epi64(out[i], more);
        let less = _mm512_add_epi64(difference, t[3 * B + i]);
        let more = _mm512_sub_epi64(columns[B + i], less);
        let more = _mm512_mask_add_epi64(more, c.carry, more, b[i]);
        let digit = _mm512_set1_epi64(digits[i] as i64);
        let more = _mm512_mask_add_epi64(more, ka, more, digit);
        out[B + i] = _mm512_add_epi64(out[B + i], more);
    }
}
