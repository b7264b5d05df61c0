//! ⌊2^T/ℓ⌋ by sliding windows: a sum of d·2^p with d odd and below 2^w.
//!
//! From the lowest bit up, each bit that is set begins a window of w bits, and is followed, after that, by one
//! zero more on average: there are T/(w + 1) windows, and 2^(w − 1) values of d.
//!
//! A. Menezes, P. van Oorschot, S. Vanstone, Handbook of Applied Cryptography, 14.6.1 (sliding windows).

use super::quotient;
use tetralith_kernels::mont::Term;

/// 960 bits of the quotient are computed at once.
pub(super) type Quotient = quotient::Quotient<16>;

/// Bytes of an expansion.
const CHUNK: usize = Quotient::EXPANDED as usize / 8;

/// Bits in whole limbs; the quotient has 255 less than 2^T.
fn whole(iterations: u64) -> u64 {
    iterations & !63
}

/// Bytes that hold the bits of a quotient, what is expanded below them, and zeros that are read above them.
pub(super) fn bytes(iterations: u64) -> usize {
    whole(iterations).div_ceil(Quotient::EXPANDED) as usize * CHUNK + 8
}

/// Places from which windows are looked for at the same time: one waits for the end of the one before.
const PLACES: usize = 4;

/// The most windows of so many bits.
pub(super) fn most(iterations: u64, bits: u32) -> u64 {
    iterations.div_ceil(bits.into()) + PLACES as u64
}

/// Writes the windows of the quotient: p is the index of the value, and d = 2·k + 1 has digit k. `bytes` is space
/// for the quotient's bits.
pub(super) fn fill(
    quotient: &Quotient,
    (iterations, bits): (u64, u32),
    bytes: &mut Vec<u8>,
    out: &mut Vec<Term>,
) {
    bytes.clear();
    bytes.resize(self::bytes(iterations), 0);
    let (chunks, _) = bytes.as_chunks_mut::<CHUNK>();
    let (count, step) = (chunks.len() as u64, Quotient::EXPANDED);
    // Bits that are expanded below the lowest.
    let below = count * step - whole(iterations);
    quotient.expand_each(count, (step, step - below), |i, limbs| {
        for (bytes, limb) in chunks[i as usize].chunks_exact_mut(8).zip(&limbs[1..]) {
            bytes.copy_from_slice(&limb.to_le_bytes());
        }
    });
    out.clear();
    slide(&bytes[below as usize / 8..], bits, out);
}

/// Bits that a reading at any bit has for certain: eight bytes, less the bits below in the first of them.
const READ: u32 = 57;

/// Writes the windows of the number in `bytes`, of which the last eight are zero.
fn slide(bytes: &[u8], bits: u32, out: &mut Vec<Term>) {
    debug_assert!(bits < READ / 2);
    let end = 8 * (bytes.len() - 8) as u32;
    let quarter = end.div_ceil(PLACES as u32);
    let ends: [u32; PLACES] = std::array::from_fn(|i| (quarter * (i as u32 + 1)).min(end));
    let mut at: [u32; PLACES] = std::array::from_fn(|i| (quarter * i as u32).min(end));
    loop {
        // So often no place comes to its end.
        let rounds = at.iter().zip(ends).map(|(at, end)| end.saturating_sub(*at) / READ).min();
        let rounds = rounds.unwrap_or(0);
        if rounds == 0 {
            break;
        }
        for _ in 0..rounds {
            at.iter_mut().for_each(|at| out.extend(next_window(bytes, at, bits)));
        }
    }
    for (mut at, end) in at.into_iter().zip(ends) {
        while at < end {
            let Some(Term { value, digit }) = next_window(bytes, &mut at, bits) else { continue };
            if value < end {
                // What reaches beyond belongs to the next place.
                let mask = (1 << (bits.min(end - value) - 1)) - 1;
                out.push(Term { value, digit: digit & mask });
            }
        }
    }
}

/// The window that begins at or above a bit, which goes on to its end; none where only zeros were read. It goes
/// on by [`READ`] bits at most.
#[inline(always)]
fn next_window(bytes: &[u8], at: &mut u32, bits: u32) -> Option<Term> {
    let first = (*at / 8) as usize;
    let word = bytes[first..first + 8].try_into().expect("eight bytes are eight bytes");
    let word = u64::from_le_bytes(word) >> (*at % 8);
    let zeros = word.trailing_zeros();
    if zeros > READ - bits {
        *at += zeros.min(READ);
        return None;
    }
    let value = *at + zeros;
    *at = value + bits;
    let digit = (word >> zeros >> 1) as u32 & ((1 << (bits - 1)) - 1);
    Some(Term { value, digit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nat;

    #[test]
    fn windows_make_the_quotient() {
        let prime = [3, 5, 7, 1 << 63 | 9];
        for iterations in [1, 100, 255, 256, 257, 300, 511, 512, 576, 1029, 2047, 6000] {
            let quotient = Quotient::new(iterations, &prime);
            let (mut bytes, mut windows) = (Vec::new(), Vec::new());
            for bits in 1..=20 {
                fill(&quotient, (iterations, bits), &mut bytes, &mut windows);
                assert!(windows.len() as u64 <= most(iterations, bits));
                let mut sum = vec![0; 100];
                for &Term { value, digit } in &windows {
                    assert!(digit < 1 << (bits - 1) && u64::from(value) < iterations);
                    let mut term = vec![0; 100];
                    term[(value / 64) as usize] = u64::from(2 * digit + 1);
                    if value % 64 > 0 {
                        nat::shl(&mut term, value % 64);
                    }
                    nat::add(&mut sum, &term);
                }
                // sum·ℓ + (2^T mod ℓ) = 2^T
                let mut product = nat::mul(&sum, &prime);
                nat::add(&mut product, &super::super::power_of_two_mod(iterations, &prime));
                let mut power = vec![0; 104];
                power[(iterations / 64) as usize] = 1 << (iterations % 64);
                assert_eq!(product, power, "{bits} {iterations}");
            }
        }
    }

    /// Long runs of zeros, and ones at every place.
    #[test]
    fn windows_of_any_bits() {
        for bits in [1, 7, 20] {
            for gap in [1, 2, 19, 36, 37, 38, 55, 56, 57, 58, 64, 100, 171] {
                let set: Vec<u32> =
                    (0..24).map(|i| i * gap).take_while(|&at| at < 8 * 72).collect();
                let mut bytes = vec![0; 72 + 8];
                set.iter().for_each(|&at| bytes[at as usize / 8] |= 1 << (at % 8));
                let mut windows = Vec::new();
                slide(&bytes, bits, &mut windows);
                let ones = |&Term { value, digit }: &Term| {
                    let odd = 2 * digit + 1;
                    (0..bits).filter(move |i| odd >> i & 1 == 1).map(move |i| value + i)
                };
                let mut got: Vec<u32> = windows.iter().flat_map(ones).collect();
                got.sort_unstable();
                assert_eq!(got, set, "{bits} {gap}");
            }
        }
    }

    /// A window of ones, however far from where it is looked for.
    #[test]
    fn windows_after_any_zeros() {
        for bits in 1..=20 {
            for start in 0..8u32 {
                for zeros in 0..80u32 {
                    let first = start + zeros;
                    let mut bytes = vec![0; 24];
                    (first..first + bits).for_each(|at| bytes[at as usize / 8] |= 1 << (at % 8));
                    let mut at = start;
                    let window = loop {
                        let before = at;
                        let window = next_window(&bytes, &mut at, bits);
                        assert!((before + 1..=before + READ).contains(&at));
                        if let Some(window) = window {
                            break window;
                        }
                    };
                    let ones = Term { value: first, digit: (1 << (bits - 1)) - 1 };
                    assert_eq!((window, at), (ones, first + bits), "{bits} {start} {zeros}");
                }
            }
        }
    }
}
