//! The blocks of ⌊2^T/ℓ⌋.

use super::plan::Plan;
use super::quotient::Quotient;
use tetralith_kernels::mont::Term;

/// Bits of the quotient that are computed at once.
pub(super) const EXPANDED: u64 = Quotient::<4>::EXPANDED;

/// A source of digits for one plan and one ℓ.
pub(super) struct Digits {
    plan: Plan,
    quotient: Quotient<4>,
    /// Recorded values whose blocks, all of them, are expanded at once.
    values: u64,
}

impl Digits {
    pub(super) fn new(plan: Plan, prime: &[u64; 4]) -> Self {
        let all = plan.group() == plan.stride;
        let values = if all { EXPANDED / plan.interval() } else { 1 }.max(1);
        Self { plan, quotient: Quotient::new(plan.iterations, prime), values }
    }

    /// The digits of blocks m·γ + j for j from `first` on, a group or what is left of one: those of
    /// each j together, by rising m, which is the index of the value.
    pub(super) fn fill(&self, first: u64, out: &mut Vec<Term>) {
        let Plan { bits: width, stride, .. } = self.plan;
        let (bits, values) = (u64::from(width), self.values);
        let count = self.plan.group().min(stride - first);
        let len = self.plan.used_values() as u64;
        out.clear();
        out.resize((count * len) as usize, Term::default());
        // Blocks of one expansion, and from one expansion to the next.
        let (blocks, step) = (count + (values - 1) * stride, values * stride);
        // Where blocks above T are expanded, which are empty, so are the others: 2^T/ℓ has 255 bits less than 2^T.
        const { assert!(EXPANDED <= 255) }
        let places = (bits * step, bits * (first + blocks));
        self.quotient.expand_each(len.div_ceil(values), places, |chunk, limbs| {
            let mut expansion = [0; 32];
            for (bytes, limb) in expansion.chunks_exact_mut(8).zip(&limbs[1..]) {
                bytes.copy_from_slice(&limb.to_le_bytes());
            }
            let mut place = (EXPANDED - bits * blocks) as u32;
            let lowest = chunk * values;
            for m in lowest..len.min(lowest + values) {
                for j in 0..count {
                    let digit = digit(&expansion, place + width * j as u32, width);
                    out[(j * len + m) as usize] = Term { value: m as u32, digit };
                }
                // Of no use after the last value, where it may not fit.
                place = place.wrapping_add((bits * stride) as u32);
            }
        });
    }
}

/// So many bits, at most 25, from bit `at` on, of little-endian bytes.
fn digit(expansion: &[u8; 32], at: u32, bits: u32) -> u32 {
    let first = (at / 8) as usize;
    let bytes = expansion[first..first + 4].try_into().expect("four bytes are four bytes");
    u32::from_le_bytes(bytes) >> (at % 8) & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nat;

    #[test]
    fn digits_make_the_quotient() {
        let prime = [3, 5, 7, 1 << 63 | 9];
        for (bits, stride, iterations) in [
            (1, 1, 300),
            (3, 2, 511),
            (7, 3, 512),
            (12, 5, 1029),
            (20, 1, 2000),
            (13, 31, 2047),
            (5, 1, 100),
            (9, 700, 2000),
        ] {
            let plan = Plan { bits, stride, iterations, threads: 1, memory: 0 };
            let digits = Digits::new(plan, &prime);
            let (mut sum, mut filled) = (vec![0; 40], Vec::new());
            for first in (0..stride).step_by(plan.group() as usize) {
                digits.fill(first, &mut filled);
                for (i, &Term { value, digit }) in filled.iter().enumerate() {
                    let (j, m) =
                        (first + (i / plan.used_values()) as u64, (i % plan.used_values()) as u64);
                    let at = u64::from(bits) * (m * stride + j);
                    if digit == 0 {
                        continue;
                    }
                    assert_eq!(u64::from(value), m);
                    let mut term = vec![0; 40];
                    term[(at / 64) as usize] = u64::from(digit);
                    if at % 64 > 0 {
                        nat::shl(&mut term, (at % 64) as u32);
                    }
                    nat::add(&mut sum, &term);
                }
            }
            // sum·ℓ + (2^T mod ℓ) = 2^T
            let mut product = nat::mul(&sum, &prime);
            nat::add(&mut product, &super::super::power_of_two_mod(iterations, &prime));
            let mut power = vec![0; 44];
            power[(iterations / 64) as usize] = 1 << (iterations % 64);
            assert_eq!(product, power, "{bits} {stride} {iterations}");
        }
    }
}
