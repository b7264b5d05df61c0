//! Runs of squarings with AVX-512 IFMA, for moduli of up to 1238, 2070, 3318 and 4150 bits.
//!
//! Numbers are v blocks (3, 5, 8 or 10) of 8 digits of 52 bits, one register a block. With
//! b = 2^416 (one block), l = ⌈v/3⌉ and h = v − 2·l, constants C = b^−l mod N, K = b^(v+l) mod N
//! and N' = −N^−1 mod b^l, one squaring is
//!
//! ```text
//! T = A²                              2·v blocks
//! Low, Mid, High = T's l lowest blocks, the middle, its h highest
//! P = Mid + Low·C + High·K            ≡ T·b^−l (mod N), v + l blocks
//! q = P·N' mod b^l
//! A = (P + q·N) / b^l                 ≡ T·b^(−2·l) (mod N), v blocks
//! ```
//!
//! so that half of what is to go goes in one step that waits for no quotient, and the rest in one
//! Montgomery reduction with a single quotient. Every value is kept as A = a·b^(2·l), which squaring
//! preserves. The code is generated: `build/squaring.rs` writes these steps as instructions, in an
//! order (`build/orders.rs`) that keeps the multipliers busy while results are on their way.
//!
//! # Correctness
//! *Any odd N below b^v / 2^10 will do.* The lines above hold for every N; size matters only in that
//! all must fit. Digits are at most 2^52 − 1, so A < b^v, T < b^(2·v), High < b^h, Low < b^l, and
//! P + q·N < b^(v+l) + b^l·N + b^h·N + b^l·N, hence the new A < b^v + 3·N. Whether it is below b^v is
//! not known beforehand: a number of v blocks has no room for b^v, so its last digit, which is not
//! masked, would come out above 52 bits. That is one case of the next paragraph.
//!
//! *Carries are guessed, and checked.* Sums of columns are made digits by one round: the low 52 bits of
//! each sum plus what the sum below has above them, for all digits at once. That preserves the value,
//! and leaves a digit of more than 52 bits where a sum of low bits and carry overflows: about once in
//! 2^30 squarings. Multiplication would ignore the bits above. So the digits of Low, High, P, q and of
//! the new A are or-ed, and the squaring counts only if no bit above 52 is found. All digits that a
//! multiplication reads are among them (A's were checked by the squaring that made them, or made here)
//! so a missed carry never goes unnoticed. A squaring that does not count is repeated from its A, which
//! is still there, by [`Chain::square_exactly`].
//!
//! *No sum overflows.* The generator follows the greatest value of every lane and refuses sums of
//! 511·2^52 or more.
//!
//! *Nothing is lost at the edges.* T < b^(2·v), so no carry leaves the last digit of High. Low's last
//! carry is added to P. q is wanted modulo b^l only.
//!
//! *The half that vanishes.* P + q·N ≡ 0 (mod b^l), and only what its l low blocks carry upwards is
//! needed. Let s be the sum of their last column and k what the columns below carry into it; k is an
//! integer, since those columns are ≡ 0 modulo their own size, and k ≤ 511 by the bound on sums. Then
//! s + k is a multiple of 2^52, so (s + 512) >> 52 is (s + k) >> 52: the carry, without the columns
//! below.
//!
//! # What was tried
//! On a Zen 5, cycles a squaring at 2048 bits: these steps in C with intrinsics, 430; the same order
//! as assembly, 481 without and 392 with some hundred seconds of search for a better one; the next
//! squaring's first steps moved into the loop: 368. 673 multiplications need 337. Multipliers that are
//! broadcast by the multiplication (`{1to8}`) make it slower here (447), and are needed at 4096 bits,
//! where the code otherwise outgrows the instruction cache (1480 instead of 3650). Spilling some
//! seventy registers costs less than any order without spills.
//!
//! # Security
//! Not constant time: rare squarings take longer. For public values.

use super::{Ring, portable};
use core::arch::asm;

/// A block of digits, or 64 bytes of whatever the kernel needs.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(super) struct Line(pub(super) [u64; 8]);

pub(super) const ZERO: Line = Line([0; 8]);
const DIGIT: u64 = (1 << 52) - 1;
const BLOCK_BITS: usize = 416;
/// Lines for spilled registers; the generator checks that they are enough.
const SPILL_LINES: usize = 32;

/// How many blocks the size class for a modulus of so many bits has.
pub(super) fn blocks(bits: usize) -> Option<usize> {
    [3, 5, 8, 10].into_iter().find(|blocks| bits + 10 <= BLOCK_BITS * blocks)
}

/// A number that is squared again and again.
pub(super) struct Chain {
    /// Blocks of a number, and lowest blocks that are folded.
    v: usize,
    l: usize,
    memory: Memory,
    /// Which of the two workspaces holds the number.
    current: usize,
    exact: Exact,
    /// How many squarings had to be repeated exactly.
    redone: u64,
}

/// Constants, spilled registers and two workspaces, as the generated code expects them.
struct Memory {
    lines: Vec<Line>,
    /// First lines of the workspaces.
    workspaces: [usize; 2],
    workspace_lines: usize,
}

impl Memory {
    /// # Shapes
    /// Constants: C, K, N (v lines each), N' (l), five masks, [`SPILL_LINES`]. A workspace: A (v),
    /// Low (l), High (h), P (l), q (l), two sums.
    fn new(v: usize, l: usize) -> Self {
        let constants = 3 * v + l + 5 + SPILL_LINES;
        let workspace_lines = 2 * v + l + 2;
        let mut lines = vec![ZERO; constants + 2 * workspace_lines];
        lines[3 * v + l] = Line([DIGIT; 8]);
        lines[3 * v + l + 1] = last_lane(u64::MAX, DIGIT);
        lines[3 * v + l + 2] = last_lane(DIGIT, u64::MAX);
        lines[3 * v + l + 3] = last_lane(512, 0);
        lines[3 * v + l + 4] = Line([!DIGIT; 8]);
        Memory { lines, workspaces: [constants, constants + workspace_lines], workspace_lines }
    }

    fn write(&mut self, line: usize, blocks: usize, limbs: &[u64]) {
        write_digits(&mut self.lines[line..line + blocks], limbs);
    }

    fn read(&self, line: usize, blocks: usize, limbs: usize) -> Vec<u64> {
        read_digits(&self.lines[line..line + blocks], limbs)
    }
}

/// Splits a number into digits.
pub(super) fn write_digits(lines: &mut [Line], limbs: &[u64]) {
    for i in 0..8 * lines.len() {
        lines[i / 8].0[i % 8] = bits_at(limbs, 52 * i) & DIGIT;
    }
}

/// The number of so many limbs that the digits make.
pub(super) fn read_digits(lines: &[Line], limbs: usize) -> Vec<u64> {
    let mut out = vec![0; limbs + 1];
    for i in 0..8 * lines.len() {
        let digit = lines[i / 8].0[i % 8];
        debug_assert!(digit <= DIGIT, "a digit left the kernel unchecked");
        let (limb, shift) = (52 * i / 64, 52 * i % 64);
        let placed = u128::from(digit) << shift;
        out[limb] |= placed as u64;
        if limb < limbs {
            out[limb + 1] |= (placed >> 64) as u64;
        }
    }
    out.truncate(limbs);
    out
}

fn last_lane(last: u64, others: u64) -> Line {
    let mut line = Line([others; 8]);
    line.0[7] = last;
    line
}

/// 64 bits of a number from bit `at` on.
fn bits_at(limbs: &[u64], at: usize) -> u64 {
    let limb = |i: usize| u128::from(limbs.get(i).copied().unwrap_or(0));
    ((limb(at / 64) | limb(at / 64 + 1) << 64) >> (at % 64)) as u64
}

/// The same ring with 64-bit limbs, as long as v blocks: N has zeros on top.
#[derive(Clone)]
pub(super) struct Exact {
    n: Vec<u64>,
    n0: u64,
    /// R·b^(2·l), R·b^(−2·l) and R²·b^(−2·l) mod N, where R = 2^(64·limbs).
    entering: Vec<u64>,
    leaving: Vec<u64>,
    squaring: Vec<u64>,
}

impl Exact {
    pub(super) fn new(ring: &Ring, v: usize, l: usize) -> Self {
        let limbs = (BLOCK_BITS * v).div_ceil(64);
        let mut n = ring.modulus().to_vec();
        n.resize(limbs, 0);
        let (r, shift) = (64 * limbs, 2 * BLOCK_BITS * l);
        let power = |e| {
            let mut power = power_of_two(ring, e);
            power.resize(limbs, 0);
            power
        };
        Exact {
            n0: portable::neg_inverse(n[0]),
            n,
            entering: power(r + shift),
            leaving: power(r - shift),
            squaring: power(2 * r - shift),
        }
    }

    /// The number of limbs of v blocks.
    pub(super) fn len(&self) -> usize {
        self.n.len()
    }

    /// C, K, N (v lines each) and N' (l), as the kernels expect them.
    pub(super) fn constants(&self, ring: &Ring, v: usize, l: usize) -> Vec<Line> {
        let mut lines = vec![ZERO; 3 * v + l];
        write_digits(&mut lines[..v], &inverse_power_of_two(ring, BLOCK_BITS * l));
        write_digits(&mut lines[v..2 * v], &power_of_two(ring, BLOCK_BITS * (v + l)));
        write_digits(&mut lines[2 * v..3 * v], &self.n);
        let inverse = self.negative_inverse((BLOCK_BITS * l).div_ceil(64));
        write_digits(&mut lines[3 * v..], &inverse);
        lines
    }

    /// A = a·b^(2·l) mod N of an a < N.
    pub(super) fn enter(&self, a: &[u64]) -> Vec<u64> {
        let mut a = a.to_vec();
        a.resize(self.n.len(), 0);
        self.mul(&a, &self.entering)
    }

    /// a = A·b^(−2·l) mod N, canonical, in as many limbs, of any A < b^v.
    pub(super) fn leave(&self, a: &[u64], limbs: usize) -> Vec<u64> {
        let mut a = self.mul(a, &self.leaving);
        a.truncate(limbs);
        a
    }

    /// a·c·b^(−2·l) mod N, canonical, of any a, c < b^v; see [`Exact::square`].
    pub(super) fn product(&self, a: &[u64], c: &[u64]) -> Vec<u64> {
        self.mul(&self.mul(a, c), &self.squaring)
    }

    /// a·b/R mod N; canonical where `a` or `b` is below N, else below R.
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut wide = vec![0; 2 * self.n.len()];
        portable::mul_wide(&mut wide, a, b);
        let mut out = vec![0; self.n.len()];
        portable::redc(&mut out, &mut wide, &self.n, self.n0);
        out
    }

    /// a²·b^(−2·l) mod N, canonical, of any a < b^v.
    ///
    /// # Correctness
    /// a² may be above N·R, so its reduction is not canonical. It is below b^v + N and, with N
    /// subtracted where it does not fit its limbs, below R; the product that follows makes it so.
    fn square(&self, a: &[u64]) -> Vec<u64> {
        let mut wide = vec![0; 2 * self.n.len()];
        portable::sqr_wide(&mut wide, a);
        let mut reduced = vec![0; self.n.len()];
        portable::redc(&mut reduced, &mut wide, &self.n, self.n0);
        self.mul(&reduced, &self.squaring)
    }

    /// −N^−1 mod 2^(64·limbs): Montgomery's quotient of one.
    fn negative_inverse(&self, limbs: usize) -> Vec<u64> {
        let mut rest = vec![0u64; limbs + 1];
        rest[0] = 1;
        (0..limbs)
            .map(|i| {
                let q = rest[i].wrapping_mul(self.n0);
                let mut carry = 0;
                for (rest, &n) in rest[i..].iter_mut().zip(&self.n) {
                    let sum = u128::from(*rest) + u128::from(q) * u128::from(n) + carry;
                    *rest = sum as u64;
                    carry = sum >> 64;
                }
                q
            })
            .collect()
    }
}

/// 2^e mod N.
fn power_of_two(ring: &Ring, e: usize) -> Vec<u64> {
    let mut two = ring.one().to_vec();
    ring.double(&mut two);
    ring.leave(&ring.pow_vartime(&two, &[e as u64]))
}

/// 2^−e mod N.
fn inverse_power_of_two(ring: &Ring, e: usize) -> Vec<u64> {
    let limbs = e.div_ceil(64);
    let mut power = ring.inverse_power(limbs);
    (e..64 * limbs).for_each(|_| ring.double(&mut power));
    power
}

impl Chain {
    /// Makes a chain of the value one; `None` where the modulus is too long or the CPU lacks IFMA.
    pub(super) fn new(ring: &Ring, bits: usize) -> Option<Self> {
        let v = blocks(bits)?;
        crate::cpu::allowed(crate::cpu::Family::Avx512).then(|| Self::of_blocks(ring, v))
    }

    fn of_blocks(ring: &Ring, v: usize) -> Self {
        let l = v.div_ceil(3);
        let exact = Exact::new(ring, v, l);
        let mut memory = Memory::new(v, l);
        memory.lines[..3 * v + l].copy_from_slice(&exact.constants(ring, v, l));
        let mut chain = Chain { v, l, memory, current: 0, exact, redone: 0 };
        chain.set(&[1]);
        chain
    }

    /// Sets the value, which is below N.
    pub(super) fn set(&mut self, a: &[u64]) {
        let a = self.exact.enter(a);
        self.memory.write(self.memory.workspaces[self.current], self.v, &a);
    }

    /// The value, canonical, in as many limbs.
    pub(super) fn value(&self, limbs: usize) -> Vec<u64> {
        self.exact.leave(&self.number(), limbs)
    }

    /// A, as the digits of v blocks.
    pub(super) fn digits(&self) -> Vec<u64> {
        let line = self.memory.workspaces[self.current];
        self.memory.lines[line..line + self.v].iter().flat_map(|line| line.0).collect()
    }

    /// A, as 64-bit limbs.
    fn number(&self) -> Vec<u64> {
        self.memory.read(self.memory.workspaces[self.current], self.v, self.exact.n.len())
    }

    /// Squares the value `count` times.
    pub(super) fn square(&mut self, count: u64) {
        let mut left = count;
        while left > 0 {
            left = self.run(left);
            if left > 0 {
                self.square_exactly();
                self.redone += 1;
                left -= 1;
            }
        }
    }

    /// Squares once, in plain Rust.
    fn square_exactly(&mut self) {
        let a = self.exact.square(&self.number());
        self.memory.write(self.memory.workspaces[self.current], self.v, &a);
    }

    /// Squares `count` times, or until a carry was guessed wrong; returns how many times are left.
    fn run(&mut self, count: u64) -> u64 {
        let (v, memory, current) = (self.v, &mut self.memory, &mut self.current);
        debug_assert_eq!(memory.workspace_lines, 2 * v + self.l + 2);
        match v {
            // SAFETY: a chain is made only where the CPU has these features (`Chain::new`).
            3 => unsafe { squares_3(memory, current, count) },
            // SAFETY: as above.
            5 => unsafe { squares_5(memory, current, count) },
            // SAFETY: as above.
            8 => unsafe { squares_8(memory, current, count) },
            // SAFETY: as above.
            10 => unsafe { squares_10(memory, current, count) },
            _ => unreachable!("`blocks` names no other class"),
        }
    }
}

/// The kernel of a size class: squares what is in workspace `current`, `count` > 0 times, as long as
/// guesses are right, and returns how many times are left.
macro_rules! kernel {
    ($name:ident, $v:literal) => {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn $name(memory: &mut Memory, current: &mut usize, mut left: u64) -> u64 {
            const V: usize = $v;
            const L: usize = V.div_ceil(3);
            const CONSTANTS: usize = 3 * V + L + 5 + SPILL_LINES;
            const WORKSPACE: usize = 2 * V + L + 2;
            assert!(memory.workspaces == [CONSTANTS, CONSTANTS + WORKSPACE]);
            assert!(memory.lines.len() == CONSTANTS + 2 * WORKSPACE && left > 0);
            let middle = |workspace: usize| CONSTANTS + workspace * WORKSPACE + WORKSPACE / 2;
            let (now, next) = (middle(*current), middle(1 - *current));
            let lines = memory.lines.as_mut_ptr();
            let mut place = lines.wrapping_add(now);
            // SAFETY: the text reads and writes the constants' lines at rdi and the workspaces' at
            // rsi and rdx, which point to the middle of theirs, all inside `memory` by the assertions;
            // it ends, for rcx counts down; it changes the registers named here and the flags.
            unsafe {
                asm!(
                    include_str!(concat!(env!("OUT_DIR"), "/ifma_", $v, ".s")),
                    in("rdi") lines,
                    inout("rsi") place,
                    inout("rdx") lines.wrapping_add(next) => _,
                    inout("rcx") left,
                    out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                    out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
                    out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _,
                    out("zmm12") _, out("zmm13") _, out("zmm14") _, out("zmm15") _,
                    out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                    out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _,
                    out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _,
                    out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
                    out("k1") _,
                    options(nostack, raw),
                );
            }
            if place != lines.wrapping_add(now) {
                *current = 1 - *current;
            }
            left
        }
    };
}

kernel!(squares_3, 3);
kernel!(squares_5, 5);
kernel!(squares_8, 8);
kernel!(squares_10, 10);

#[cfg(test)]
mod tests;
