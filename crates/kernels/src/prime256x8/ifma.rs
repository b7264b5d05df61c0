//! The kernel with AVX-512 IFMA: eight numbers, or eight bases, side by side.
//!
//! # Correctness
//! Numbers have five digits of 52 bits, and products are Montgomery's with R = 2^260. The lowest three digits of
//! a product vanish by multiples of M = n·(−n^(−1) mod 2^52) < 2^308, which is −1 modulo 2^52: what to add is the
//! digit itself, times M + 1, of which the lowest digit is zero. That needs no quotient to be multiplied out, and
//! so less waiting. With M for the last two as well, more than five digits would be left: there it is n.
//!
//! Operands are below 4·n + ε with ε < 2^214. Then a product is below
//! ((4·n + ε)² + 2^156·M + R·n) / R < 2·n + ε/2 + 2^205, for n < R/16; it may be doubled, and is below
//! 4·n + ε + 2^206: after 256 operations ε has grown from nothing to 2^214, as was said. That is below 2^259, so
//! no digit has more than 52 bits. A column has at most ten halves of products of the operands and ten of what is
//! added, each below 2^52, twice where it is doubled, and a carry: below 2^57.
//!
//! A product with one leaves Montgomery's form, with n for all digits. It is at most
//! (4·n + ε + (R − 1)·n) / R, hence at most n, and n only for a multiple of n.
//!
//! *Powers of two.* 2^(n − 1) ≡ 1 where 2^−(n − 1) is, and −(n − 1) = B − u·2^248 with 0 ≤ B < 2^248 and
//! 4 ≤ 260 − u < 256. So 2^(260 − u), a small number, is 2^−u in Montgomery's form, without ado; and after 248
//! squarings, each followed by a doubling where B has a bit, it is 2^−(n − 1).
//!
//! # What was tried
//! On a Zen 5, in cycles of one vector's squaring, whose 80 multiplications take 40: with n for all digits, a
//! multiplication that makes each vanish, and two vectors interleaved, 67; with M, one vector after another, so
//! that the processor itself works on several, 47 (two moduli in turn) and 52 (four vectors of bases); two
//! interleaved there, which then spill registers, 60. An order of the columns from the lowest up, held against the
//! compiler, 65.
//!
//! # Security
//! For public numbers.

use super::subtract;
use crate::lanes8::Lanes8;
use core::arch::x86_64::*;

/// As [`super::fermat_x16`].
pub(super) fn fermat_x16(_: Lanes8, n: &[[u64; 4]; 16]) -> [bool; 16] {
    // SAFETY: the token shows that the CPU has the features.
    let mask = unsafe { fermat(n) };
    core::array::from_fn(|lane| mask >> lane & 1 == 1)
}

/// As [`super::strong_x32`].
pub(super) fn strong_x32(_: Lanes8, n: &[u64; 4], bases: &[[u64; 4]; 32]) -> bool {
    let (eights, _) = bases.as_chunks();
    // SAFETY: the token shows that the CPU has the features.
    unsafe { strong(n, core::array::from_fn(|k| &eights[k])) }
}

const DIGIT: u64 = (1 << 52) - 1;

/// Eight numbers.
type Digits = [__m512i; 5];

/// Digits of a number of four limbs.
fn digits(a: &[u64; 4]) -> [u64; 5] {
    [
        a[0] & DIGIT,
        (a[0] >> 52 | a[1] << 12) & DIGIT,
        (a[1] >> 40 | a[2] << 24) & DIGIT,
        (a[2] >> 28 | a[3] << 36) & DIGIT,
        a[3] >> 16,
    ]
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn row(words: &[u64; 8]) -> __m512i {
    // SAFETY: eight words are 64 readable bytes.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline(never)]
fn rows_of(numbers: &[[u64; 4]; 8]) -> Digits {
    let mut rows = [[0; 8]; 5];
    for (lane, number) in numbers.iter().enumerate() {
        for (row, digit) in rows.iter_mut().zip(digits(number)) {
            row[lane] = digit;
        }
    }
    rows.each_ref().map(|words| row(words))
}

/// One number in all lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn rows_of_one(number: &[u64; 4]) -> Digits {
    digits(number).map(|digit| _mm512_set1_epi64(digit as i64))
}

/// The number one.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn ones() -> Digits {
    rows_of_one(&[1, 0, 0, 0])
}

/// Carries all of the columns, from the lowest up; what leaves the last stays there.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn carried<const N: usize>(mut columns: [__m512i; N]) -> [__m512i; N] {
    let mask = _mm512_set1_epi64(DIGIT as i64);
    for i in 0..N - 1 {
        columns[i + 1] = _mm512_add_epi64(columns[i + 1], _mm512_srli_epi64::<52>(columns[i]));
        columns[i] = _mm512_and_si512(columns[i], mask);
    }
    columns
}

/// Eight moduli.
struct Moduli {
    n: Digits,
    /// −n^(−1) mod 2^52.
    n0: __m512i,
    /// The digits of M + 1 above the lowest, which is zero.
    m: Digits,
}

impl Moduli {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    fn new(n: Digits) -> Self {
        let (zero, two) = (_mm512_setzero_si512(), _mm512_set1_epi64(2));
        // n is its own inverse mod 8; each step doubles the right bits.
        let mut inverse = n[0];
        for _ in 0..5 {
            let product = _mm512_madd52lo_epu64(zero, n[0], inverse);
            inverse = _mm512_madd52lo_epu64(zero, inverse, _mm512_sub_epi64(two, product));
        }
        let n0 = _mm512_sub_epi64(zero, inverse);
        let mut product = [_mm512_set1_epi64(1), zero, zero, zero, zero, zero];
        for j in 0..5 {
            product[j] = _mm512_madd52lo_epu64(product[j], n[j], n0);
            product[j + 1] = _mm512_madd52hi_epu64(product[j + 1], n[j], n0);
        }
        let [_, m @ ..] = carried(product);
        Self { n, n0, m }
    }

    /// The columns of a product, divided by R: those from 5 on, and their carries; doubled in the lanes of a
    /// mask. The lowest `FAST` digits vanish by multiples of M.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    fn reduce<const FAST: usize>(&self, mut t: [__m512i; 10], double: __mmask8) -> Digits {
        let mask = _mm512_set1_epi64(DIGIT as i64);
        for i in 0..5 {
            // Multiplications take no notice of what is above 52 bits.
            let (q, carry) = if i < FAST {
                (t[i], _mm512_srli_epi64::<52>(t[i]))
            } else {
                // The lowest 52 bits vanish, and carry one unless they were zero.
                let carry = _mm512_srli_epi64::<52>(_mm512_add_epi64(t[i], mask));
                (_mm512_madd52lo_epu64(_mm512_setzero_si512(), t[i], self.n0), carry)
            };
            if i < FAST {
                t[i + 1] = _mm512_add_epi64(t[i + 1], carry);
                for j in 1..6 {
                    t[i + j] = _mm512_madd52lo_epu64(t[i + j], q, self.m[j - 1]);
                    t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], q, self.m[j - 1]);
                }
            } else {
                // Two sums, for the next digit waits for them.
                t[i + 1] = _mm512_madd52hi_epu64(t[i + 1], q, self.n[0]);
                t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_madd52lo_epu64(carry, q, self.n[1]));
                t[i + 2] = _mm512_madd52hi_epu64(t[i + 2], q, self.n[1]);
                for j in 2..5 {
                    t[i + j] = _mm512_madd52lo_epu64(t[i + j], q, self.n[j]);
                    t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], q, self.n[j]);
                }
            }
        }
        let [.., a, b, c, d, e] = t;
        carried([a, b, c, d, e].map(|column| _mm512_mask_add_epi64(column, double, column, column)))
    }

    /// a² / R, doubled in the lanes of a mask.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    fn square(&self, a: &Digits, double: __mmask8) -> Digits {
        let mut t = [_mm512_setzero_si512(); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                t[i + j] = _mm512_madd52lo_epu64(t[i + j], a[i], a[j]);
                t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a[i], a[j]);
            }
        }
        for i in 0..5 {
            let (low, high) = (t[2 * i], t[2 * i + 1]);
            let (low, high) = (_mm512_add_epi64(low, low), _mm512_add_epi64(high, high));
            t[2 * i] = _mm512_madd52lo_epu64(low, a[i], a[i]);
            t[2 * i + 1] = _mm512_madd52hi_epu64(high, a[i], a[i]);
        }
        self.reduce::<3>(t, double)
    }

    /// a·b / R.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    fn mul(&self, a: &Digits, b: &Digits) -> Digits {
        let mut t = [_mm512_setzero_si512(); 10];
        for i in 0..5 {
            for j in 0..5 {
                t[i + j] = _mm512_madd52lo_epu64(t[i + j], a[i], b[j]);
                t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a[i], b[j]);
            }
        }
        self.reduce::<3>(t, 0)
    }

    /// a / R: out of Montgomery's form, and below n unless it is a multiple of n.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline(never)]
    fn leave(&self, a: &Digits) -> Digits {
        let [a, b, c, d, e] = *a;
        let zero = _mm512_setzero_si512();
        self.reduce::<0>([a, b, c, d, e, zero, zero, zero, zero, zero], 0)
    }
}

/// Lanes in which two numbers are the same.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn equal(a: &Digits, b: &Digits) -> __mmask8 {
    (0..5).fold(0xff, |mask, i| mask & _mm512_cmpeq_epi64_mask(a[i], b[i]))
}

/// 2^260 mod n.
fn power_of_two(n: &[u64; 4]) -> [u64; 4] {
    // 2^256 − n is below n, whose highest bit is set.
    let mut a = subtract(&[0; 4], n);
    for _ in 0..4 {
        let doubled = [0, 1, 2, 3].map(|i| a[i] << 1 | if i > 0 { a[i - 1] >> 63 } else { 0 });
        let less = subtract(&doubled, n);
        let below = doubled.iter().rev().lt(n.iter().rev());
        a = if a[3] >> 63 == 1 || !below { less } else { doubled };
    }
    a
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
fn fermat(n: &[[u64; 4]; 16]) -> u16 {
    debug_assert!(n.iter().all(|n| n[0] & 1 == 1 && n[3] >> 63 == 1));
    let halves = n.as_chunks::<8>().0;
    let moduli = [0, 1].map(|k| Moduli::new(rows_of(&halves[k])));
    // −(n − 1) mod 2^256, the highest eight bits of which are 256 − u.
    let exponents = n.map(|n| subtract(&[1, 0, 0, 0], &n));
    let limbs = [0, 1].map(|k| {
        [0, 1, 2, 3].map(|i| row(&core::array::from_fn(|lane| exponents[8 * k + lane][i])))
    });
    let start = exponents.map(|exponent| {
        let at = 4 + (exponent[3] >> 56) as usize;
        let mut power = [0; 4];
        power[at / 64] = 1 << (at % 64);
        power
    });
    let mut powers = [0, 1].map(|k| rows_of(&start.as_chunks::<8>().0[k]));
    for bit in (0..248).rev() {
        let probe = _mm512_set1_epi64((1u64 << (bit % 64)) as i64);
        for k in 0..2 {
            let double = _mm512_test_epi64_mask(limbs[k][bit / 64], probe);
            powers[k] = moduli[k].square(&powers[k], double);
        }
    }
    let half = |k: usize| u16::from(equal(&moduli[k].leave(&powers[k]), &ones()));
    half(0) | half(1) << 8
}

/// Vectors of bases.
const WIDE: usize = 4;

/// A round with each base.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
fn strong(n: &[u64; 4], bases: [&[[u64; 4]; 8]; WIDE]) -> bool {
    debug_assert!(n[0] & 1 == 1 && n[3] >> 63 == 1);
    let moduli = Moduli::new(rows_of_one(n));
    let minus_one = rows_of_one(&[n[0] - 1, n[1], n[2], n[3]]);
    // R² / R = 2^260 in Montgomery's form: 260 = 4·65.
    let mut square = [rows_of_one(&power_of_two(n))];
    for bit in [1u32, 0, 0, 0, 0, 0, 1, 0, 0] {
        moduli.square_all(&mut square, 1);
        if bit == 1 {
            square[0] = carried(square[0].map(|digit| _mm512_add_epi64(digit, digit)));
        }
    }
    let harmless = |base| if base == [0; 4] || base == *n { [1, 0, 0, 0] } else { base };
    let mut powers = bases.map(|eight| rows_of(&eight.map(harmless)));
    moduli.multiply_all(&mut powers, &[square[0]; WIDE]);
    // n − 1 = odd·2^twos, and twos is at least 1.
    let bit = |i: usize| (n[i / 64] >> (i % 64)) as usize & usize::from(i > 0);
    let twos = (1..256).find(|&i| bit(i) & 1 == 1).unwrap_or(255);
    moduli.power(&mut powers, |i| bit(i + twos) & 1, 256 - twos);
    let mut passed = [0; WIDE];
    for i in 0..twos {
        for k in 0..WIDE {
            let value = moduli.leave(&powers[k]);
            passed[k] |= equal(&value, &minus_one);
            if i == 0 {
                passed[k] |= equal(&value, &ones());
            }
        }
        moduli.square_all(&mut powers, 1);
    }
    passed == [0xff; WIDE]
}

/// Bits of a window.
const WINDOW: usize = 4;

impl Moduli {
    /// Squares all, so many times.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline(never)]
    fn square_all(&self, all: &mut [Digits], count: usize) {
        for _ in 0..count {
            for a in all.iter_mut() {
                *a = self.square(a, 0);
            }
        }
    }

    /// Multiplies each by its factor.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline(never)]
    fn multiply_all(&self, all: &mut [Digits], factors: &[Digits]) {
        for (a, b) in all.iter_mut().zip(factors) {
            *a = self.mul(a, b);
        }
    }

    /// Raises to the odd exponent of so many bits, by sliding windows.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    fn power<const WIDE: usize>(
        &self,
        a: &mut [Digits; WIDE],
        bit: impl Fn(usize) -> usize,
        bits: usize,
    ) {
        // The odd powers.
        let mut squares = *a;
        self.square_all(&mut squares, 1);
        let mut table = [*a; 1 << (WINDOW - 1)];
        for i in 1..table.len() {
            table[i] = table[i - 1];
            self.multiply_all(&mut table[i], &squares);
        }
        let mut top = bits;
        let mut first = true;
        while top > 0 {
            if bit(top - 1) == 0 {
                self.square_all(a, 1);
                top -= 1;
                continue;
            }
            // The longest window from here that ends in a one.
            let low = (top.saturating_sub(WINDOW)..top).find(|&i| bit(i) == 1).unwrap_or(top - 1);
            let window = (low..top).rev().fold(0, |window, i| window << 1 | bit(i));
            if first {
                *a = table[window / 2];
                first = false;
            } else {
                self.square_all(a, top - low);
                self.multiply_all(a, &table[window / 2]);
            }
            top = low;
        }
    }
}
