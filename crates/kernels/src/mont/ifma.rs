//! Squarings and products with AVX-512 IFMA, for moduli of up to 1238, 2070, 3318 and 4150 bits.
//!
//! Numbers are v blocks (3, 5, 8 or 10) of 8 digits of 52 bits, one register a block. With
//! b = 2^416 (one block), block counts l + h + m = v (l = m = ⌈v/3⌉, but l = h = 0 in the smallest
//! class), and constants C = b^−l mod N, K = b^(v+m) mod N and N' = −N^−1 mod b^m, one squaring is
//!
//! ```text
//! T = A²                              2·v blocks
//! Low, Mid, High = T's l lowest blocks, the middle, its h highest
//! P = Mid + Low·C + High·K            ≡ T·b^−l (mod N), v + m blocks
//! q = P·N' mod b^m
//! A = (P + q·N) / b^m                 ≡ T·b^−(l+m) (mod N), v blocks
//! ```
//!
//! so that most of what is to go goes in one step that waits for no quotient, and the rest in one
//! Montgomery reduction with a single quotient. Every value is kept as A = a·b^(l+m), which squaring
//! preserves. A product of A and B is the same with T = A·B. The code is generated:
//! `build/squaring.rs` writes these steps as instructions, in an order (`build/orders.rs`) that keeps
//! the multipliers busy while results are on their way.
//!
//! # Correctness
//! *Any odd N below b^v / 2^10 will do.* The lines above hold for every N; size matters only in that
//! all must fit. Digits are at most 2^52 − 1, so A < b^v, T < b^(2·v), High < b^h, Low < b^l, and
//! P + q·N < b^(v+m) + (b^l + b^h + b^m)·N, hence the new A < b^v + 3·N, for l and h are at most m.
//! Whether it is below b^v is not known beforehand: a number of v blocks has no room for b^v, so its
//! last digit, which is not masked, would come out above 52 bits. That is one case of the next
//! paragraph. (N at the limit makes it happen once in some 500 squarings, shorter ones hardly ever.)
//!
//! *Carries are guessed, and checked.* Sums of columns are made digits by one round: the low 52 bits of
//! each sum plus what the sum below has above them, for all digits at once. That preserves the value,
//! and leaves a digit of more than 52 bits where a sum of low bits and carry overflows: about once in
//! 2^30 squarings. Multiplication would ignore the bits above. So the digits of Low, High, P, q and of
//! the new A are or-ed, and the squaring counts only if no bit above 52 is found. All digits that a
//! multiplication reads are among them (A's were checked by the squaring that made them, or made here)
//! so a missed carry never goes unnoticed. A squaring that does not count is repeated from its A, which
//! is still there, in plain Rust ([`Exact`]).
//!
//! *No sum overflows.* A column is at most 16·(v + l + h + m) = 32·v ≤ 320 halves of products, each
//! below 2^52, and a carry. The generator also follows the greatest value of every lane and refuses
//! sums of 511·2^52 or more.
//!
//! *Nothing is lost at the edges.* T < b^(2·v), so no carry leaves the last digit of High. Low's last
//! carry is added to P. q is wanted modulo b^m only.
//!
//! *The part that vanishes.* P + q·N ≡ 0 (mod b^m), and only what its m low blocks carry upwards is
//! needed. Let s be the sum of their last column and k what the columns below carry into it; k is an
//! integer, since those columns are ≡ 0 modulo their own size, and k ≤ 321 by the bound on sums. Then
//! s + k is a multiple of 2^52, so (s + 512) >> 52 is (s + k) >> 52: the carry, without the columns
//! below.
//!
//! # What was tried
//! On a Zen 5, in cycles a squaring at 2048 bits: these steps in C with intrinsics, 430; the plain
//! order as assembly, 481; orders found by search, 372, of which the 671 multiplications need 336.
//! Multipliers that are broadcast by the multiplication itself (`{1to8}`) make it slower here (447), and
//! are needed at 4096 bits, where the code otherwise outgrows the instruction cache (1480, not 3650).
//! Spilling some seventy registers costs less than any order without spills. At 1024 bits, with folds
//! 236; without them, one wait less, 205. At 2048 bits, folding one block from below and two from above
//! ends at the same speed.
//!
//! # Security
//! Not constant time: rare squarings take longer. For public values.

mod lanes;
mod memory;

use super::exact::{Exact, power_of_two};
use super::{Elements, Ring};
use lanes::Lanes;
use memory::{Memory, Record, from_digits, to_digits};
use std::sync::{Arc, OnceLock};
use zeroize::Zeroizing;

const BLOCK_BITS: usize = 416;

/// l, the blocks that are folded from below.
const fn low_blocks(v: usize) -> usize {
    if v == 3 { 0 } else { v.div_ceil(3) }
}

/// m, the blocks of the quotient.
const fn quotient_blocks(v: usize) -> usize {
    if v == 3 { v } else { v.div_ceil(3) }
}

/// The bits of b^(l+m).
const fn shift(v: usize) -> usize {
    BLOCK_BITS * (low_blocks(v) + quotient_blocks(v))
}

/// How many blocks the size class for a modulus of so many bits has.
pub(super) fn blocks(bits: usize) -> Option<usize> {
    [3, 5, 8, 10].into_iter().find(|blocks| bits + 10 <= BLOCK_BITS * blocks)
}

/// Says whether this process may use the kernels, for a modulus of so many bits.
///
/// Below 450 bits plain Rust is faster than the smallest class.
pub(super) fn fits(bits: usize) -> bool {
    bits >= 450 && blocks(bits).is_some() && crate::cpu::allowed(crate::cpu::Family::Avx512)
}

/// Arithmetic modulo one number. Elements are 8·v digits of a number a·b^(l+m) mod N, not canonical.
#[derive(Clone)]
pub(super) struct Ifma {
    v: usize,
    memory: Memory,
    exact: Exact,
    /// Once they are needed.
    lanes: Arc<OnceLock<Option<lanes::Constants>>>,
    /// How many operations had to be repeated exactly.
    redone: u64,
}

impl Ifma {
    /// Prepares a modulus of so many bits; `None` where it does not fit, or the CPU lacks IFMA.
    pub(super) fn new(ring: &Ring, bits: usize) -> Option<Self> {
        let v = blocks(bits)?;
        crate::cpu::allowed(crate::cpu::Family::Avx512).then(|| Self::of_blocks(ring, v))
    }

    fn of_blocks(ring: &Ring, v: usize) -> Self {
        let (l, m) = (low_blocks(v), quotient_blocks(v));
        let exact = Exact::new(ring, BLOCK_BITS * v, shift(v));
        let mut memory = Memory::new(v);
        let c = Zeroizing::new(ring.inverse_power_of_two(BLOCK_BITS * l));
        let k = Zeroizing::new(power_of_two(ring, BLOCK_BITS * (v + m)));
        let inverse = Zeroizing::new(exact.negative_inverse((BLOCK_BITS * m).div_ceil(64)));
        memory.set_constant(0, v, &c);
        memory.set_constant(1, v, &k);
        memory.set_constant(2, v, exact.modulus());
        memory.set_constant(3, m, &inverse);
        Ifma { v, memory, exact, lanes: Arc::default(), redone: 0 }
    }

    /// Eight numbers side by side: for public moduli, for [`Ifma::zeroize`] does not reach there. `None` for
    /// moduli that cannot.
    pub(super) fn lanes(&self, ring: &Ring) -> Option<Lanes<'_>> {
        let constants = self.lanes.get_or_init(|| lanes::Constants::new(ring, self.v, &self.exact));
        constants.as_ref().map(|constants| Lanes::new(self.v, constants, &self.exact))
    }

    /// The number of words of an element.
    pub(super) fn len(&self) -> usize {
        8 * self.v
    }

    /// The element of a number below N.
    pub(super) fn enter(&self, a: &[u64]) -> Vec<u64> {
        self.digits(&Zeroizing::new(self.exact.enter(a)))
    }

    /// The number of an element, canonical, in so many limbs.
    pub(super) fn leave(&self, a: &[u64], limbs: usize) -> Vec<u64> {
        self.exact.leave(&Zeroizing::new(self.limbs(a)), limbs)
    }

    fn digits(&self, limbs: &[u64]) -> Vec<u64> {
        let mut digits = vec![0; self.len()];
        to_digits(&mut digits, limbs);
        digits
    }

    fn limbs(&self, digits: &[u64]) -> Vec<u64> {
        from_digits(digits, self.exact.modulus().len())
    }

    /// Overwrites all that came from the modulus.
    pub(super) fn zeroize(&mut self) {
        self.memory.zeroize();
        self.exact.zeroize();
    }

    /// Squares `a` so many times.
    pub(super) fn square(&mut self, a: &mut [u64], count: u64) {
        self.square_on(a, count, &mut Record::nothing());
    }

    /// Squares `a` so many times and appends every `every`th value, counted from here, to `table`.
    pub(super) fn square_recording(
        &mut self,
        a: &mut [u64],
        count: u64,
        every: u64,
        table: &mut Elements,
    ) {
        let more = usize::try_from(count / every).expect("what is recorded fits memory");
        let (to, width) = table.reserve(more);
        assert_eq!(width, self.v, "the table is of this class");
        assert_eq!(a.len(), self.len(), "the value is of this class");
        self.square_on(a, count, &mut Record { left: every, every, to });
        // SAFETY: the kernel, or `square_on`, has written so many elements.
        unsafe { table.grow(more) };
    }

    /// The caller has made room for what is recorded.
    fn square_on(&mut self, a: &mut [u64], count: u64, record: &mut Record) {
        let mut left = count;
        while left > 0 {
            // SAFETY: there is room, see above.
            left = unsafe { self.memory.square(a, left, record) };
            if left > 0 {
                self.square_exactly(a);
                self.redone += 1;
                left -= 1;
                record.left -= 1;
                if record.left == 0 {
                    let words: *mut u64 = record.to.cast();
                    // SAFETY: as above, for one more element of as many words.
                    unsafe { words.copy_from_nonoverlapping(a.as_ptr(), a.len()) };
                    record.to = record.to.wrapping_add(self.v);
                    record.left = record.every;
                }
            }
        }
    }

    fn square_exactly(&self, a: &mut [u64]) {
        let number = Zeroizing::new(self.limbs(a));
        to_digits(a, &Zeroizing::new(self.exact.product(&number, &number)));
    }

    /// Multiplies `a` by `c`.
    pub(super) fn multiply(&mut self, a: &mut [u64], c: &[u64]) {
        if !self.memory.multiply(a, c) {
            self.redone += 1;
            let [x, y] = [&*a, c].map(|digits| Zeroizing::new(self.limbs(digits)));
            to_digits(a, &Zeroizing::new(self.exact.product(&x, &y)));
        }
    }
}

#[cfg(test)]
mod tests;
