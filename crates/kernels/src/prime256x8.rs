//! Powers modulo odd numbers of 256 bits, eight of them or of their bases side by side: tests of primes.
//!
//! The portable twin is any arithmetic modulo one number, such as [`Ring`](crate::mont::Ring), whose powers
//! the tests compare: what these functions say of a number does not depend on how they compute it.
//!
//! # Correctness
//! Numbers have five digits of 52 bits, and products are Montgomery's with R = 2^260. Operands are below
//! 4·n, so that a product is below (16·n² + R·n) / R < 2·n, for n < R/16; it may be doubled, and is below
//! 4·n < 2^258 again. A column has at most ten halves of products of the operands and ten of q·n, each
//! below 2^52, twice where it is doubled, and a carry: below 2^57.
//!
//! A product with one leaves Montgomery's form. It is at most (4·n + (R − 1)·n) / R, hence at most n, and
//! n only for a multiple of n.
//!
//! # Security
//! For public numbers.

use crate::lanes8::Lanes8;
use core::arch::x86_64::*;

/// Says of each of sixteen odd numbers of exactly 256 bits whether 2^(n − 1) ≡ 1 (mod n), as for all
/// primes and hardly any other.
#[must_use]
pub fn fermat_x16(_: Lanes8, n: &[[u64; 4]; 16]) -> [bool; 16] {
    // SAFETY: the token shows that the CPU has the features.
    let mask = unsafe { fermat(n) };
    core::array::from_fn(|lane| mask >> lane & 1 == 1)
}

/// Says whether an odd n of exactly 256 bits passes a round of Miller–Rabin with each of sixteen bases,
/// which need not be below n; a multiple of n as base does no harm.
#[must_use]
pub fn strong_x16(_: Lanes8, n: &[u64; 4], bases: &[[u64; 4]; 16]) -> bool {
    // SAFETY: the token shows that the CPU has the features.
    unsafe { strong(n, bases) }
}

const DIGIT: u64 = (1 << 52) - 1;

/// Sixteen numbers: digits of two times eight.
type Digits = [[__m512i; 2]; 5];

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
fn row(words: impl Fn(usize) -> u64) -> [__m512i; 2] {
    let w = |lane: usize| words(lane) as i64;
    [0, 8].map(|l| {
        let (a, b, c, d) = (w(l + 7), w(l + 6), w(l + 5), w(l + 4));
        _mm512_set_epi64(a, b, c, d, w(l + 3), w(l + 2), w(l + 1), w(l))
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn rows_of(numbers: &[[u64; 4]; 16]) -> Digits {
    let numbers = numbers.each_ref().map(digits);
    [0, 1, 2, 3, 4].map(|i| row(|lane| numbers[lane][i]))
}

/// Sixteen moduli.
struct Moduli {
    n: Digits,
    /// −n^(−1) mod 2^52.
    n0: [__m512i; 2],
    /// R mod n.
    one: Digits,
}

impl Moduli {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    fn new(n: &[[u64; 4]; 16]) -> Self {
        debug_assert!(n.iter().all(|n| n[0] & 1 == 1 && n[3] >> 63 == 1));
        let n0 = n.map(|n| {
            // n is its own inverse mod 8; each step doubles the right bits.
            let step = |i: u64, _| i.wrapping_mul(2u64.wrapping_sub(n[0].wrapping_mul(i)));
            (0..5).fold(n[0], step).wrapping_neg() & DIGIT
        });
        let one = n.map(|n| power_of_two(&n));
        Self { n: rows_of(n), n0: row(|lane| n0[lane]), one: rows_of(&one) }
    }

    /// The columns of a product, those from 5 on, and their carries; doubled in the lanes of a mask.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    fn reduce(&self, t: &mut [[__m512i; 2]; 10], double: [__mmask8; 2]) -> Digits {
        let zero = _mm512_setzero_si512();
        for i in 0..5 {
            let mut q = [zero; 2];
            for k in 0..2 {
                q[k] = _mm512_madd52lo_epu64(zero, t[i][k], self.n0[k]);
                t[i][k] = _mm512_madd52lo_epu64(t[i][k], q[k], self.n[0][k]);
                t[i + 1][k] = _mm512_madd52hi_epu64(t[i + 1][k], q[k], self.n[0][k]);
            }
            for j in 1..5 {
                for k in 0..2 {
                    t[i + j][k] = _mm512_madd52lo_epu64(t[i + j][k], q[k], self.n[j][k]);
                    t[i + j + 1][k] = _mm512_madd52hi_epu64(t[i + j + 1][k], q[k], self.n[j][k]);
                }
            }
            for k in 0..2 {
                // The lowest 52 bits have vanished.
                t[i + 1][k] = _mm512_add_epi64(t[i + 1][k], _mm512_srli_epi64::<52>(t[i][k]));
            }
        }
        let mask = _mm512_set1_epi64(DIGIT as i64);
        let mut out = [[zero; 2]; 5];
        for k in 0..2 {
            let mut carry = zero;
            for i in 0..5 {
                let column = t[5 + i][k];
                let sum = _mm512_mask_add_epi64(column, double[k], column, column);
                let sum = _mm512_add_epi64(sum, carry);
                out[i][k] = if i < 4 { _mm512_and_si512(sum, mask) } else { sum };
                carry = _mm512_srli_epi64::<52>(sum);
            }
        }
        out
    }

    /// a² / R, doubled in the lanes of a mask.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline]
    fn square(&self, a: &Digits, double: [__mmask8; 2]) -> Digits {
        let mut t = [[_mm512_setzero_si512(); 2]; 10];
        for i in 0..5 {
            for j in i + 1..5 {
                for k in 0..2 {
                    t[i + j][k] = _mm512_madd52lo_epu64(t[i + j][k], a[i][k], a[j][k]);
                    t[i + j + 1][k] = _mm512_madd52hi_epu64(t[i + j + 1][k], a[i][k], a[j][k]);
                }
            }
        }
        for i in 0..5 {
            for k in 0..2 {
                let (low, high) = (t[2 * i][k], t[2 * i + 1][k]);
                let (low, high) = (_mm512_add_epi64(low, low), _mm512_add_epi64(high, high));
                t[2 * i][k] = _mm512_madd52lo_epu64(low, a[i][k], a[i][k]);
                t[2 * i + 1][k] = _mm512_madd52hi_epu64(high, a[i][k], a[i][k]);
            }
        }
        self.reduce(&mut t, double)
    }

    /// a·b / R.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    #[inline(never)]
    fn mul(&self, a: &Digits, b: &Digits) -> Digits {
        let mut t = [[_mm512_setzero_si512(); 2]; 10];
        for i in 0..5 {
            for j in 0..5 {
                for k in 0..2 {
                    t[i + j][k] = _mm512_madd52lo_epu64(t[i + j][k], a[i][k], b[j][k]);
                    t[i + j + 1][k] = _mm512_madd52hi_epu64(t[i + j + 1][k], a[i][k], b[j][k]);
                }
            }
        }
        self.reduce(&mut t, [0; 2])
    }

    /// Lanes in which a, in Montgomery's form, is this number below n.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    fn equal(&self, a: &Digits, to: &Digits) -> u16 {
        let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi64(1));
        let a = self.mul(a, &[[one; 2], [zero; 2], [zero; 2], [zero; 2], [zero; 2]]);
        let half = |k: usize| {
            (0..5).fold(0xff, |mask, i| mask & _mm512_cmpeq_epi64_mask(a[i][k], to[i][k]))
        };
        u16::from(half(0)) | u16::from(half(1)) << 8
    }
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

/// a − b mod 2^256.
fn subtract(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let mut borrow = false;
    core::array::from_fn(|i| {
        let (d, under) = a[i].overflowing_sub(b[i]);
        let (d, again) = d.overflowing_sub(u64::from(borrow));
        borrow = under | again;
        d
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
fn fermat(n: &[[u64; 4]; 16]) -> u16 {
    let moduli = Moduli::new(n);
    let limbs = [0, 1, 2, 3].map(|i| row(|lane| n[lane][i]));
    let mut power = moduli.one;
    // n − 1 has the bits of n but the lowest. A doubling follows the squaring where a bit is set.
    for bit in (1..256).rev() {
        let probe = _mm512_set1_epi64((1u64 << (bit % 64)) as i64);
        power =
            moduli.square(&power, limbs[bit / 64].map(|limb| _mm512_test_epi64_mask(limb, probe)));
    }
    power = moduli.square(&power, [0; 2]);
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi64(1));
    moduli.equal(&power, &[[one; 2], [zero; 2], [zero; 2], [zero; 2], [zero; 2]])
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
fn strong(n: &[u64; 4], bases: &[[u64; 4]; 16]) -> bool {
    let moduli = Moduli::new(&[*n; 16]);
    let minus_one = rows_of(&[[n[0] - 1, n[1], n[2], n[3]]; 16]);
    let (zero, one) = (_mm512_setzero_si512(), _mm512_set1_epi64(1));
    let plain_one = [[one; 2], [zero; 2], [zero; 2], [zero; 2], [zero; 2]];
    // R² / R = 2^260 in Montgomery's form: 260 = 4·65.
    let mut square = moduli.one;
    for bit in [1u32, 0, 0, 0, 0, 0, 1, 0, 0] {
        square = moduli.square(&square, [if bit == 1 { 0xff } else { 0 }; 2]);
    }
    let multiple = bases.each_ref().map(|base| *base == [0; 4] || base == n);
    let bases: [[u64; 4]; 16] =
        core::array::from_fn(|i| if multiple[i] { [1, 0, 0, 0] } else { bases[i] });
    // n − 1 = odd·2^twos, and twos is at least 1.
    let bit = |i: usize| (n[i / 64] >> (i % 64)) as usize & usize::from(i > 0);
    let twos = (1..256).find(|&i| bit(i) & 1 == 1).unwrap_or(255);
    let mut power =
        moduli.power(&moduli.mul(&rows_of(&bases), &square), |i| bit(i + twos) & 1, 256 - twos);
    let mut passed = moduli.equal(&power, &plain_one) | moduli.equal(&power, &minus_one);
    for _ in 1..twos {
        power = moduli.square(&power, [0; 2]);
        passed |= moduli.equal(&power, &minus_one);
    }
    passed == u16::MAX
}

impl Moduli {
    /// base^e for the e of so many bits, by windows of four of them.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    fn power(&self, base: &Digits, bit: impl Fn(usize) -> usize, bits: usize) -> Digits {
        let mut table = [self.one; 16];
        for i in 1..16 {
            table[i] = self.mul(&table[i - 1], base);
        }
        let window =
            |low: usize| (low..bits.min(low + 4)).rev().fold(0, |window, i| window << 1 | bit(i));
        let top = (bits - 1) / 4;
        let mut out = table[window(4 * top)];
        for i in (0..top).rev() {
            for _ in 0..4 {
                out = self.square(&out, [0; 2]);
            }
            let window = window(4 * i);
            if window > 0 {
                out = self.mul(&out, &table[window]);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mont::Ring;

    fn next(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        match *state >> 60 {
            0 => u64::MAX,
            1 => 0,
            _ => *state ^ *state >> 33,
        }
    }

    fn odd(state: &mut u64) -> [u64; 4] {
        [next(state) | 1, next(state), next(state), next(state) | 1 << 63]
    }

    /// 2^(n − 1), and whether n passes rounds with the bases, by the portable ring.
    fn expected(n: &[u64; 4], bases: &[[u64; 4]; 16]) -> (bool, bool) {
        let ring = Ring::new(n).unwrap();
        let less = [n[0] - 1, n[1], n[2], n[3]];
        let mut two = ring.one().to_vec();
        ring.double(&mut two);
        let fermat = ring.pow_vartime(&two, &less) == ring.one();
        let twos = (0..256).find(|&i| less[i / 64] >> (i % 64) & 1 == 1).unwrap();
        let odd: Vec<u64> = (0..4)
            .map(|i| {
                let limb = |i: usize| u128::from(less.get(i).copied().unwrap_or(0));
                let at = i + twos / 64;
                ((limb(at) | limb(at + 1) << 64) >> (twos % 64)) as u64
            })
            .collect();
        let minus_one = ring.enter(&less);
        let strong = bases.iter().all(|base| {
            let reduced =
                if base.iter().rev().lt(n.iter().rev()) { *base } else { subtract(base, n) };
            let mut power = ring.pow_vartime(&ring.enter(&reduced), &odd);
            let mut passed = reduced == [0; 4] || power == ring.one() || power == minus_one;
            for _ in 1..twos {
                power = ring.mul(&power, &power);
                passed |= power == minus_one;
            }
            passed
        });
        (fermat, strong)
    }

    /// 2^255 + 95, 2^256 − 189, and 2^255 + 2^41 + 1, from which 41 factors of two are taken.
    const PRIMES: [[u64; 4]; 3] = [
        [95, 0, 0, 1 << 63],
        [u64::MAX - 188, u64::MAX, u64::MAX, u64::MAX],
        [1 << 41 | 1, 0, 0, 1 << 63],
    ];

    #[test]
    fn tests_match_the_portable_ring() {
        let Some(token) = Lanes8::detect() else { return };
        let mut state = 5;
        for round in 0..30 {
            let mut n: [[u64; 4]; 16] = core::array::from_fn(|_| odd(&mut state));
            // Every lane has its turn with a prime; and numbers that end in many zeros and a one.
            n[round % 16] = PRIMES[round % 3];
            n[(round + 5) % 16][0] = 1;
            n[(round + 6) % 16] = [u64::MAX; 4];
            n[(round + 7) % 16] = [1, 0, 0, 1 << 63];
            let mut bases: [[u64; 4]; 16] =
                core::array::from_fn(|_| [next(&mut state), next(&mut state), 0, next(&mut state)]);
            bases[round % 16] = [0; 4];
            let got = fermat_x16(token, &n);
            for lane in 0..16 {
                if round % 2 == 1 {
                    bases[(round + 1) % 16] = n[lane];
                }
                let (fermat, strong) = expected(&n[lane], &bases);
                assert_eq!(got[lane], fermat, "{:x?}", n[lane]);
                assert_eq!(strong_x16(token, &n[lane], &bases), strong, "{:x?}", n[lane]);
            }
            assert!(got[round % 16] && expected(&n[round % 16], &bases).1);
        }
    }

    #[test]
    fn one_bad_base_is_enough() {
        let Some(token) = Lanes8::detect() else { return };
        // A square of a prime of 128 bits, of which p + 1 is a base that passes no round, and 1 and
        // n − 1 pass all.
        let p = u128::MAX - 158;
        let ring = Ring::new(&[u64::MAX; 5]).unwrap();
        let limbs = [p as u64, (p >> 64) as u64, 0, 0, 0];
        let square = ring.leave(&ring.mul(&ring.enter(&limbs), &ring.enter(&limbs)));
        let n: [u64; 4] = square[..4].try_into().unwrap();
        let less = [n[0] - 1, n[1], n[2], n[3]];
        for lane in 0..16 {
            let mut bases = [[1, 0, 0, 0], less].repeat(8);
            assert!(strong_x16(token, &n, bases[..].try_into().unwrap()));
            bases[lane] = [limbs[0] + 1, limbs[1], 0, 0];
            assert!(!strong_x16(token, &n, bases[..].try_into().unwrap()), "{lane}");
        }
    }
}
