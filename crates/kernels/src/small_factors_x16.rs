//! Small prime factors of sixteen numbers of 256 bits side by side.
//!
//! A lane has 32 bits, and a number eight words w_t, two halves of 16 bits each. With p a prime,
//! Σ h_i·(2^(16·i) mod p) over the halves is ≡ n (mod p), and instructions that multiply two pairs of signed
//! halves in each lane and add both products make that sum eight times as fast as a division of all words.
//!
//! # Correctness
//! Halves are taken less 2^15, which makes them signed, and factors nearest to zero, of at most p/2 in size. So
//! each product is at most 2^14·p, and the sum of sixteen at most 2^18·p, in size. It begins at what was taken
//! away, 2^15·Σ 2^(16·i) mod p, plus 2^18·p, so that x, what comes out, is not negative, and below 2^19·p + p,
//! which is below 2^32 for p < 2^12.
//!
//! p divides x just where x·p^(−1) mod 2^32 is at most (2^32 − 1)/p: multiplication by p^(−1) maps the multiples
//! of p below 2^32, and no other number, to these.
//!
//! T. Granlund and P. L. Montgomery, Division by invariant integers using multiplication, PLDI 1994, §9 (the
//! test for divisibility)
//!
//! # Security
//! For public numbers.

#[cfg(target_arch = "x86_64")]
use crate::lanes8::Lanes8;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

/// The odd primes below this are looked for.
pub const LIMIT: u32 = 512;

/// Says in bit l whether an odd prime below [`LIMIT`] divides number l, of which word t, the highest first, is
/// `words[t][l]`.
#[must_use]
pub fn have_small_factor_x16(words: &[[u32; 16]; 8]) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if Lanes8::detect().is_some() {
        // SAFETY: the token shows that the CPU has the features.
        return unsafe { have_factor(words) };
    }
    have_factor_portable(words)
}

/// The portable twin: the same sums and tests, one lane after another.
fn have_factor_portable(words: &[[u32; 16]; 8]) -> u16 {
    let composite = |lane: usize| {
        DIVISORS.iter().any(|divisor| {
            let half = |bits: u32| i32::from(bits as u16 as i16);
            let sum =
                words.iter().zip(divisor.factors).fold(divisor.start, |sum, (row, factor)| {
                    let word = row[lane] ^ 0x8000_8000;
                    let product = half(word) * half(factor) + half(word >> 16) * half(factor >> 16);
                    sum.wrapping_add_signed(product)
                });
            sum.wrapping_mul(divisor.inverse) <= divisor.most
        })
    };
    (0..16).fold(0, |found, lane| found | u16::from(composite(lane)) << lane)
}

/// What belongs to a prime.
struct Divisor {
    /// The factors of the halves of each word.
    factors: [u32; 8],
    /// What a sum begins with.
    start: u32,
    /// p^(−1) mod 2^32, and ⌊(2^32 − 1)/p⌋.
    inverse: u32,
    most: u32,
}

impl Divisor {
    const fn new(p: u32) -> Self {
        let (mut factors, mut start, mut power) = ([0; 8], 0, 1);
        let mut i = 0;
        while i < 16 {
            start = (start + (power << 15)) % p;
            let near = if power > p / 2 { power.wrapping_sub(p) } else { power };
            factors[7 - i / 2] |= (near & 0xffff) << (16 * (i % 2));
            power = (power << 16) % p;
            i += 1;
        }
        // p is its own inverse mod 8; each step doubles the right bits.
        let (mut inverse, mut step) = (p, 0);
        while step < 4 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(p.wrapping_mul(inverse)));
            step += 1;
        }
        Self { factors, start: start + (p << 18), inverse, most: u32::MAX / p }
    }
}

const fn is_prime(n: u32) -> bool {
    let mut d = 2;
    while d * d <= n {
        if n.is_multiple_of(d) {
            return false;
        }
        d += 1;
    }
    true
}

const COUNT: usize = {
    let (mut count, mut n) = (0, 3);
    while n < LIMIT {
        count += is_prime(n) as usize;
        n += 2;
    }
    count
};

static DIVISORS: [Divisor; COUNT] = {
    let mut divisors = [const { Divisor::new(3) }; COUNT];
    let (mut count, mut n) = (0, 3);
    while n < LIMIT {
        if is_prime(n) {
            divisors[count] = Divisor::new(n);
            count += 1;
        }
        n += 2;
    }
    divisors
};

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn have_factor(words: &[[u32; 16]; 8]) -> u16 {
    let signs = _mm512_set1_epi32(0x8000_8000u32.cast_signed());
    let rows = words.each_ref().map(|row| {
        // SAFETY: a row is 64 readable bytes.
        let row = unsafe { _mm512_loadu_si512(row.as_ptr().cast()) };
        _mm512_xor_si512(row, signs)
    });
    let set1 = |word: u32| _mm512_set1_epi32(word.cast_signed());
    let mut found = 0;
    for divisor in &DIVISORS {
        let product = |t: usize| _mm512_madd_epi16(rows[t], set1(divisor.factors[t]));
        let pair = |t: usize| _mm512_add_epi32(product(t), product(t + 1));
        let halves = [_mm512_add_epi32(pair(0), pair(2)), _mm512_add_epi32(pair(4), pair(6))];
        let sum = _mm512_add_epi32(halves[0], _mm512_add_epi32(halves[1], set1(divisor.start)));
        let quotient = _mm512_mullo_epi32(sum, set1(divisor.inverse));
        found |= _mm512_cmple_epu32_mask(quotient, set1(divisor.most));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words, the highest first, modulo d.
    fn rest(words: [u32; 8], d: u32) -> u64 {
        words.iter().fold(0, |rest, &word| (rest << 32 | u64::from(word)) % u64::from(d))
    }

    #[test]
    fn factors_are_found_as_by_division() {
        let mut state = 3u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            match state >> 60 {
                0 => u32::MAX,
                1 => 0,
                2 => 0x8000_7fff,
                _ => (state >> 24) as u32,
            }
        };
        let primes: Vec<u32> = (3..LIMIT).filter(|&n| is_prime(n) && n % 2 == 1).collect();
        assert_eq!(primes.len(), COUNT);
        let mut seen = [0; 2];
        for round in 0..2000 {
            let mut words: [[u32; 16]; 8] =
                core::array::from_fn(|_| core::array::from_fn(|_| next()));
            let number = |words: &[[u32; 16]; 8], lane: usize| words.map(|row| row[lane]);
            // A multiple of one prime in each round: what is above is taken off the lowest word.
            let p = primes[round % COUNT];
            let over = rest(number(&words, round % 16), p) as u32;
            let low = &mut words[7][round % 16];
            *low = if *low >= over { *low - over } else { *low + (p - over) };
            let found = have_small_factor_x16(&words);
            assert_eq!(found, have_factor_portable(&words));
            assert_eq!(found >> (round % 16) & 1, 1, "{p}");
            for lane in 0..16 {
                let expected = primes.iter().any(|&p| rest(number(&words, lane), p) == 0);
                assert_eq!(found >> lane & 1 == 1, expected, "{lane}");
                seen[usize::from(expected)] += 1;
            }
        }
        assert!(seen.iter().all(|&count| count > 1000), "{seen:?}");
    }
}
