//! Squarings and products with FMA and AVX2, for x86 without AVX-512 and moduli of up to 26,620 bits.
//!
//! Numbers are v blocks of 4 digits of 52 bits, one register a block. Digits are doubles, whole and of
//! either sign, for the multipliers of doubles do twice as much as MULX here. With
//! R = 2^(208·v) and P = −N^−1 mod R, one squaring is Montgomery's with a single quotient:
//!
//! ```text
//! T = A²                        2·v blocks
//! Q = T·P mod R                 v blocks; of T the lower half
//! A = (T + Q·N) / R             v blocks; of T the upper half, of Q·N the upper half and a carry
//! ```
//!
//! Its three lines are triangles of products of blocks, as many as Montgomery's reduction limb by limb
//! would take, and there are two waits instead of one a limb. Only the digits of T's lower half, of Q
//! and of A are made; the upper halves of T and of Q·N are summed together.
//!
//! A product a·b of digits comes in two halves. MXCSR is set to round down, and
//! ```text
//! h = a·b + 1.5·2^104           one FMA: the multiple of 2^52 below, for these doubles are 2^52 apart
//! l = a·b + (1.5·2^104 + 2^52 − h)        exactly: 2^52 and what is above that multiple
//! ```
//! so the low bits of h and l, as integers, are the halves and constants, which are known sums' times
//! a constant ([`biases`]). The code is generated (`build/fma.rs`).
//!
//! # Correctness
//! *Products are split exactly.* Digits are at most D = 2^51 + 2^11 in size, so |a·b| < 2^103, and h is
//! between 2^104 and 2^105, where doubles are 2^52 apart: h = (1.5·2^52 + H)·2^52 with
//! H = ⌊a·b / 2^52⌋. 1.5·2^104 + 2^52 − h is a multiple of 2^52 of no more than 53 bits, and
//! l = 2^52 + L with 0 ≤ L < 2^52. The bits of h and l are those of 1.5·2^104 and 2^52, plus H and L.
//!
//! *No sum overflows.* A column has at most 8·v products' L and H, so it is below
//! 8·v·(2^52 + 2^51) ≤ 2^63 − 2^52 in size, for v ≤ 128; constants wrap and are taken off again.
//!
//! *Digits of sums.* Of a column x, ⌊(x + 2^51) / 2^52⌋ goes to the next one, at most 2^11 in size; what
//! stays is between −2^51 and 2^51. Together: at most D. That keeps the value, needs no second round,
//! and is all that products ask for.
//!
//! *The part that vanishes.* T + Q·N ≡ 0 (mod R), and only what its lower half carries upwards, k, is
//! needed. Let s be the sum of the last column of that half; those below are at most 2^63 in size, so
//! they are worth less than 2^12 of it, and s is less than 2^12 from k·2^52: rounded as above it gives k.
//! So of Q·N's lower half only the block with that column is summed, with the products below it that
//! reach the column.
//!
//! *Elements stay short.* Let N and all elements be below M = 2^(208·v − 4) in size. Q is at most
//! R·(1/2 + 2^−39), so the new A is at most M²/R + N·(1/2 + 2^−39) < M. Its top digit is then below 2^49
//! and carries nothing out. Elements need not be below N: those modulo a multiple of N that has as many
//! blocks are elements modulo N.
//!
//! # What was tried
//! On a Zen 5, in cycles a squaring at 2048 bits: this, 1285, of which the 669 products of a block and a
//! digit take some 1000 (1.5 each: two multiplications, a subtraction, and two integer additions that
//! may take the multipliers' ports) and the digits some 200; MULX and ADX ([`super::mulx`]), 1894.
//! Rounding to nearest would need no change of MXCSR, and one addition more for each product.
//! On paper, integer products of 28-bit digits (VPMULUDQ) need 3.4 times as many multiplications.
//!
//! # Security
//! Constant time but for the number of blocks; used for public values.

use super::Ring;
use super::exact::{Exact, bits_from};
use super::ring::bit_len;
use crate::wipe::wipe;
use core::arch::asm;
use std::sync::OnceLock;
use zeroize::{Zeroize, Zeroizing};

/// Four words, one register.
#[repr(C, align(32))]
#[derive(Clone, Copy, Default)]
struct Block([u64; 4]);

const BLOCK_BITS: usize = 208;
/// The most blocks: no sum overflows, by far.
const MOST_BLOCKS: usize = 128;
/// Blocks of the frame that the code is given.
const FRAME: usize = 14;

/// What the low half of a product is on top of, and the high half.
const LOW: f64 = (1u64 << 52) as f64;
const HIGH: f64 = 1.5 * LOW * LOW;
/// The greatest digit; what carries have on top; MXCSR with all exceptions masked, rounding down.
const MOST: f64 = ((1u64 << 51) + CARRY) as f64;
const CARRY: u64 = 1 << 11;
const ROUND_DOWN: u64 = 0x3f80;

/// Arithmetic modulo one number. Elements are 4·v digits of a number ≡ a·R mod N, as bits of doubles.
#[derive(Clone)]
pub(super) struct Fma {
    v: usize,
    exact: Exact,
    /// A multiple of N, at least M and below 2·M, in 64-bit limbs.
    lift: Vec<u64>,
    /// Frame, A, B, T, Q, N, P (v blocks each), biases.
    memory: Vec<Block>,
}

/// How many blocks elements have, for a modulus of so many bits.
fn blocks(bits: usize) -> usize {
    (bits + 4).div_ceil(BLOCK_BITS).max(2)
}

/// Says whether this process may use the kernel, for a modulus of so many bits.
///
/// Up to 512 bits plain Rust is as fast.
pub(super) fn fits(bits: usize) -> bool {
    bits > 512 && blocks(bits) <= MOST_BLOCKS && allowed()
}

fn allowed() -> bool {
    crate::cpu::allowed(crate::cpu::Family::Avx2) && rounds_down()
}

/// Says whether the rounding mode is obeyed: CPUs do that, and not every emulator.
fn rounds_down() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let limbs: Vec<u64> = (1..8).map(|i| 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(i)).collect();
        let Some(ring) = Ring::new(&limbs) else { return false };
        let mut fma = Fma::prepared(&ring);
        let number = fma.exact.enter(ring.one());
        let mut a = fma.digits(&number);
        fma.run(&mut a, None, 1);
        // An element is a number between −M and M, and so is this.
        are_digits(&a)
            && fma.leave(&a, limbs.len())
                == fma.exact.leave(&fma.exact.product(&number, &number), limbs.len())
    })
}

impl Fma {
    /// Prepares a modulus; `None` where it does not fit, or the CPU lacks the instructions.
    pub(super) fn new(ring: &Ring) -> Option<Self> {
        let fits = blocks(bit_len(ring.modulus())) <= MOST_BLOCKS;
        (fits && allowed()).then(|| Self::prepared(ring))
    }

    fn prepared(ring: &Ring) -> Self {
        let bits = bit_len(ring.modulus());
        let v = blocks(bits);
        let exact = Exact::new(ring, BLOCK_BITS * v, BLOCK_BITS * v);
        let lift = shifted(exact.modulus(), BLOCK_BITS * v - 3 - bits);
        let memory = vec![Block::default(); FRAME + 9 * v + 1];
        let mut fma = Fma { v, exact, lift, memory };
        let p = Zeroizing::new(fma.exact.negative_inverse((BLOCK_BITS * v).div_ceil(64)));
        let (n, p) = (fma.digits(fma.exact.modulus()), fma.digits(&p));
        fma.write(4 * v, &Zeroizing::new(n));
        fma.write(5 * v, &Zeroizing::new(p));
        for (block, bias) in fma.memory[FRAME + 6 * v..].iter_mut().zip(biases(v as u64)) {
            block.0 = bias;
        }
        fma
    }

    /// Overwrites all that came from N.
    pub(super) fn zeroize(&mut self) {
        self.exact.zeroize();
        self.lift.zeroize();
        wipe(&mut self.memory);
    }

    /// The number of words of an element.
    pub(super) fn len(&self) -> usize {
        4 * self.v
    }

    /// The element of a number below N.
    pub(super) fn enter(&self, a: &[u64]) -> Vec<u64> {
        self.digits(&Zeroizing::new(self.exact.enter(a)))
    }

    /// The number of an element, canonical, in so many limbs.
    pub(super) fn leave(&self, a: &[u64], limbs: usize) -> Vec<u64> {
        self.exact.leave(&Zeroizing::new(self.limbs(a)), limbs)
    }

    /// Squares `a` so many times.
    pub(super) fn square(&mut self, a: &mut [u64], count: u64) {
        if count > 0 {
            self.run(a, None, count);
            debug_assert!(are_digits(a));
        }
    }

    /// Multiplies `a` by `b`.
    pub(super) fn multiply(&mut self, a: &mut [u64], b: &[u64]) {
        self.run(a, Some(b), 1);
        debug_assert!(are_digits(a));
    }

    /// Multiplies `a` by `b`, or squares it `count` > 0 times.
    fn run(&mut self, a: &mut [u64], b: Option<&[u64]>, count: u64) {
        debug_assert!(are_digits(a) && b.is_none_or(are_digits));
        self.write(0, a);
        if let Some(b) = b {
            self.write(self.v, b);
            let frame = self.frame(self.v, 1);
            // SAFETY: the CPU has the instructions (`Fma::new`), and the frame is just made.
            unsafe { product(frame) };
        } else {
            assert!(count > 0, "the code ends where a count goes down to zero");
            let frame = self.frame(0, count);
            // SAFETY: as above.
            unsafe { squarings(frame) };
        }
        for (words, block) in a.chunks_exact_mut(4).zip(&self.memory[FRAME..]) {
            words.copy_from_slice(&block.0);
        }
    }

    fn write(&mut self, at: usize, words: &[u64]) {
        for (block, words) in
            self.memory[FRAME + at..][..self.v].iter_mut().zip(words.chunks_exact(4))
        {
            block.0.copy_from_slice(words);
        }
    }

    /// Fills the frame; B is at block `b`.
    fn frame(&mut self, b: usize, count: u64) -> *mut Block {
        let v = self.v;
        assert!((2..=MOST_BLOCKS).contains(&v) && self.memory.len() == FRAME + 9 * v + 1);
        let base = self.memory.as_mut_ptr();
        let at = |block: usize| base.wrapping_add(FRAME + block) as u64;
        let fields = [
            [at(0), at(b), at(2 * v), at(3 * v)],
            [at(4 * v), at(5 * v), 32 * v as u64, at(6 * v)],
            [count, ROUND_DOWN << 32, 0, 0],
            [HIGH.to_bits(); 4],
            [(HIGH + LOW).to_bits(); 4],
            [(1 << 52) - 1; 4],
            [LOW.to_bits(); 4],
            [(2.5 * LOW + CARRY as f64).to_bits(); 4],
            [CARRY; 4],
        ];
        for (block, field) in self.memory.iter_mut().zip(fields) {
            block.0 = field;
        }
        base
    }

    /// The digits of a number modulo R of 64-bit limbs, between −2^51 and 2^51.
    fn digits(&self, limbs: &[u64]) -> Vec<u64> {
        let mut carry = 0;
        let digit = |i: usize| {
            let digit = (bits_from(limbs, 52 * i) as i64 & ((1 << 52) - 1)) + carry;
            carry = i64::from(digit >= 1 << 51);
            ((digit - (carry << 52)) as f64).to_bits()
        };
        (0..self.len()).map(digit).collect()
    }

    /// The number of an element, and a multiple of N that makes it positive: below 3·M, in 64-bit limbs.
    fn limbs(&self, digits: &[u64]) -> Vec<u64> {
        let mut out = vec![0; self.lift.len()];
        let (mut sum, mut filled, mut at) = (0i128, 0, 0);
        for &digit in digits {
            // At most 63 + 52 bits and a carry.
            sum += i128::from(f64::from_bits(digit) as i64) << filled;
            filled += 52;
            while filled >= 64 {
                sum += i128::from(self.lift[at]);
                out[at] = sum as u64;
                sum >>= 64;
                (filled, at) = (filled - 64, at + 1);
            }
        }
        for (out, &lift) in out[at..].iter_mut().zip(&self.lift[at..]) {
            sum += i128::from(lift);
            *out = sum as u64;
            sum >>= 64;
        }
        debug_assert_eq!(sum, 0, "an element is above −M");
        out
    }
}

/// Says whether these are digits of an element: whole, none above the most.
fn are_digits(a: &[u64]) -> bool {
    let whole = |&bits: &u64| {
        let digit = f64::from_bits(bits);
        digit.abs() <= MOST && digit as i64 as f64 == digit
    };
    let top = a.last().map_or(0.0, |&bits| f64::from_bits(bits));
    a.iter().all(whole) && top.abs() <= LOW / 8.0
}

/// a·2^by, in as many limbs.
fn shifted(a: &[u64], by: usize) -> Vec<u64> {
    let limb = |i: usize| i.checked_sub(by / 64).map_or(0, |i| u128::from(a[i]));
    (0..a.len())
        .map(|i| {
            let below = if i > 0 { limb(i - 1) } else { 0 };
            ((limb(i) << 64 | below) << (by % 64) >> 64) as u64
        })
        .collect()
}

/// What the code adds to the four columns of each block that it sums, in that order: takes off what
/// products' halves are on top of, and prepares rounding to a whole carry on top of [`CARRY`].
///
/// Digit r of one factor puts, into the four columns from r on, the low halves with another's digits,
/// and into the next four the high ones.
fn biases(v: u64) -> impl Iterator<Item = [u64; 4]> {
    let (low, high) = (LOW.to_bits(), HIGH.to_bits());
    let rounding = CARRY << 52 | 1 << 51;
    // Of `products` of blocks that begin in this block, and of `below` that begin in the one below.
    let columns = move |products: u64, below: u64| -> [u64; 4] {
        core::array::from_fn(|k| {
            let k = k as u64;
            let lows = products * (k + 1) + below * (3 - k);
            let highs = products * k + below * (4 - k);
            low.wrapping_mul(lows).wrapping_add(high.wrapping_mul(highs)).wrapping_neg()
        })
    };
    let rounded = move |bias: [u64; 4]| bias.map(|bias| bias.wrapping_add(rounding));
    let lower = (0..v).map(move |c| rounded(columns(c + 1, c)));
    // Of the block below only one digit's products are summed; T's sums come with the rounding.
    let mut middle = columns(v, 0);
    for (k, bias) in middle.iter_mut().enumerate() {
        let one = high.wrapping_add(if k < 3 { low } else { 0 });
        *bias = bias.wrapping_sub(one.wrapping_mul(v - 1));
    }
    let upper = (v..2 * v).map(move |c| rounded(columns(2 * (2 * v - 1 - c), 2 * (2 * v - c))));
    lower.clone().chain(lower).chain([middle]).chain(upper)
}

/// A text of the generator as a function of the frame.
macro_rules! generated {
    ($name:ident, $file:literal, $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Safety
        /// `frame` is what [`Fma::frame`] returned last, and its memory is not borrowed otherwise.
        #[target_feature(enable = "avx2,fma")]
        unsafe fn $name(frame: *mut Block) {
            // SAFETY: the text reads and writes the numbers that the frame points to, v ≥ 2 blocks each,
            // reads 3·v + 1 biases and writes the frame; MXCSR is put back, all else that it changes is
            // named.
            unsafe {
                asm!(
                    include_str!(concat!(env!("OUT_DIR"), "/", $file)),
                    in("rdi") frame,
                    out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _,
                    out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                    out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                    out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
                    out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
                    out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
                    out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
                    options(raw, nostack),
                );
            }
        }
    };
}

generated!(squarings, "fma_squarings.s", "Squares A COUNT > 0 times.");
generated!(product, "fma_product.s", "Multiplies A by B.");

#[cfg(test)]
mod tests;
