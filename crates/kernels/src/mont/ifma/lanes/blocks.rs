//! Products of blocks of B digits, eight side by side, and what becomes of them in products of two blocks by two.
//!
//! Columns are in units of 2^52; that none overflows is shown in [`super::product`].

use crate::mont::elements::Line;
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

/// The columns of a product of blocks, by Karatsuba's method. Two of the three products are made side by
/// side: alone, one has too few columns to keep the multipliers busy.
macro_rules! block_product {
    ($a:ident, $b:ident, $seen:ident) => {{
        let zero = _mm512_setzero_si512();
        let (mut low, mut high, mut mid) = ([zero; MOST], [zero; MOST], [zero; MOST]);
        unrolled!(I < B / 2, {
            let (x, y) = ($a[I], $a[B / 2 + I]);
            for j in 0..B / 2 {
                low[I + j] = _mm512_madd52lo_epu64(low[I + j], x, $b[j]);
            }
            for j in 0..B / 2 {
                high[I + j] = _mm512_madd52lo_epu64(high[I + j], y, $b[B / 2 + j]);
            }
            for j in 0..B / 2 {
                low[I + j + 1] = _mm512_madd52hi_epu64(low[I + j + 1], x, $b[j]);
            }
            for j in 0..B / 2 {
                high[I + j + 1] = _mm512_madd52hi_epu64(high[I + j + 1], y, $b[B / 2 + j]);
            }
        });
        for i in 0..B / 2 {
            let difference = _mm512_sub_epi64(low[B / 2 + i], high[i]);
            mid[i] = _mm512_sub_epi64(difference, low[i]);
            let less = _mm512_add_epi64(difference, high[B / 2 + i]);
            mid[B / 2 + i] = _mm512_sub_epi64(zero, less);
        }
        let ((sa, ka), (sb, kb)) = (inner_sum($a, $seen), inner_sum($b, $seen));
        unrolled!(I < B / 2, {
            let z = sa[I];
            let start = _mm512_maskz_mov_epi64(ka, sb[I]);
            let start = _mm512_mask_add_epi64(start, kb, start, z);
            mid[B / 2 + I] = _mm512_add_epi64(mid[B / 2 + I], start);
            for j in 0..B / 2 {
                mid[I + j] = _mm512_madd52lo_epu64(mid[I + j], z, sb[j]);
            }
            for j in 0..B / 2 {
                mid[I + j + 1] = _mm512_madd52hi_epu64(mid[I + j + 1], z, sb[j]);
            }
        });
        let mut columns = [zero; 2 * MOST];
        for i in 0..B / 2 {
            columns[i] = low[i];
            columns[B / 2 + i] = mid[i];
            columns[B + i] = mid[B / 2 + i];
            columns[B + B / 2 + i] = high[B / 2 + i];
        }
        let both = ka & kb;
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
    let columns = block_product!(a, b, seen);
    out.copy_from_slice(&columns[..2 * B]);
}

/// B digits of a constant, the same in all lanes.
#[derive(Clone)]
pub(super) struct Block(Vec<Line>);

impl Block {
    /// `None` where the sum of their halves is not made by one round of carries: products would never count.
    pub(super) fn new(digits: &[u64]) -> Option<Self> {
        let (low, high) = digits.split_at(digits.len() / 2);
        let mut carry = 0;
        let plain = low.iter().zip(high).all(|(a, b)| {
            let sum = ((a + b) & DIGIT) + carry;
            carry = (a + b) >> 52;
            sum <= DIGIT
        });
        plain.then(|| Self(digits.iter().map(|&digit| Line([digit; 8])).collect()))
    }

    pub(super) fn rows(&self) -> &[Row] {
        super::rows(&self.0)
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

/// A round of carries, one column after the other.
pub(super) struct Carries {
    mask: Row,
    /// What the last column carries.
    pub(super) carry: Row,
}

impl Carries {
    /// With what comes into the first column.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    pub(super) fn from(carry: Row) -> Self {
        Self { mask: _mm512_set1_epi64(DIGIT as i64), carry }
    }

    /// The digit of the next column.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    pub(super) fn digit(&mut self, column: Row) -> Row {
        let digit = _mm512_add_epi64(_mm512_and_si512(column, self.mask), self.carry);
        self.carry = _mm512_srai_epi64::<52>(column);
        digit
    }
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
    let mid = block_product!(a, b, seen);
    let (low, rest) = out[..4 * B].split_at_mut(B);
    let (upper, rest) = rest.split_at_mut(B);
    let (lower, high) = rest.split_at_mut(B);
    for i in 0..B {
        let difference = _mm512_sub_epi64(upper[i], lower[i]);
        upper[i] = _mm512_add_epi64(difference, _mm512_sub_epi64(mid[i], low[i]));
        let more = _mm512_sub_epi64(_mm512_sub_epi64(mid[B + i], high[i]), difference);
        let more = _mm512_mask_add_epi64(more, ka, more, b[i]);
        lower[i] = _mm512_mask_add_epi64(more, kb, more, a[i]);
    }
    high[0] = _mm512_mask_add_epi64(high[0], ka & kb, high[0], _mm512_set1_epi64(1));
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
    /// `None` as in [`Block::new`].
    pub(super) fn new(digits: &[u64]) -> Option<Self> {
        let (low, high) = digits.split_at(digits.len() / 2);
        let mut carry = 0;
        let add = |(a, b)| {
            let sum = a + b + carry;
            carry = sum >> 52;
            sum & DIGIT
        };
        let sum: Vec<u64> = low.iter().zip(high).map(add).collect();
        let (low, high, sum) = (Block::new(low)?, Block::new(high)?, Block::new(&sum)?);
        Some(Self { low, high, sum, carry: if carry > 0 { 0xff } else { 0 } })
    }
}

/// m's digits, m[..4B], from the products E and F modulo Y − 1 and Y + 1 and, by Karatsuba's method, n modulo
/// X + 1: its lower and upper products are in `m`, the middle one is of `sa` and c's sum.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline(never)]
pub(super) fn digits_of_m<const B: usize>(
    m: &mut [Row],
    [e, f]: [&[Row]; 2],
    (sa, ka): Sum<'_>,
    c: &Half,
    seen: &mut Row,
) {
    let (a, b) = (rows_of::<B>(c.sum.rows()), rows_of::<B>(sa));
    let ([e0, e1], [f0, f1]) = ([&e[..B], &e[B..2 * B]], [&f[..B], &f[B..2 * B]]);
    let (low, rest) = m[..4 * B].split_at_mut(B);
    let (high, rest) = rest.split_at_mut(B);
    let (less_low, less_high) = rest.split_at_mut(B);
    let mid = block_product!(a, b, seen);
    // Columns i, B + i, 2·B + i and 3·B + i.
    macro_rules! columns {
        ($i:expr) => {{
            let i = $i;
            let (e, f) = (_mm512_add_epi64(e0[i], e1[i]), _mm512_sub_epi64(f0[i], f1[i]));
            let (p, q) = (_mm512_add_epi64(e, f), _mm512_sub_epi64(e, f));
            // n is low + Y·(mid − low − high) + Y²·high, and Y² = −1.
            let sum = _mm512_add_epi64(low[i], less_high[i]);
            let rest = _mm512_sub_epi64(high[i], less_low[i]);
            let upper = _mm512_mask_add_epi64(mid[B + i], c.carry, mid[B + i], b[i]);
            let upper = _mm512_mask_add_epi64(upper, ka, upper, a[i]);
            let l = _mm512_sub_epi64(_mm512_add_epi64(sum, rest), upper);
            let h = _mm512_add_epi64(_mm512_sub_epi64(rest, sum), mid[i]);
            [
                _mm512_add_epi64(p, l),
                _mm512_add_epi64(q, h),
                _mm512_sub_epi64(p, l),
                _mm512_sub_epi64(q, h),
            ]
        }};
    }
    let one = _mm512_maskz_mov_epi64(ka & c.carry, _mm512_set1_epi64(1));
    let [a0, a1, a2, a3] = columns!(B - 1).map(|column| _mm512_srai_epi64::<52>(column));
    let [mut of_low, mut of_less] = [a3, a1].map(|carry| Carries::from(carry));
    let mut of_high = Carries::from(_mm512_sub_epi64(a0, one));
    let mut of_last = Carries::from(_mm512_add_epi64(a2, one));
    for i in 0..B {
        let [a, b, c, d] = columns!(i);
        let (a, b) = (of_low.digit(a), of_high.digit(b));
        let (c, d) = (of_less.digit(c), of_last.digit(d));
        (low[i], high[i], less_low[i], less_high[i]) = (a, b, c, d);
        let some = _mm512_ternarylogic_epi64::<0xfe>(a, b, c);
        *seen = _mm512_ternarylogic_epi64::<0xfe>(*seen, some, d);
    }
}
