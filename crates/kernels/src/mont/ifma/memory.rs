//! The memory that the generated code works on, and the calls of that code.

use super::quotient_blocks;
use crate::mont::elements::Line;
use crate::mont::exact::bits_from;
use core::arch::asm;
use zeroize::{Zeroize, Zeroizing};

/// The memory is whole pages, so that where the allocator puts it makes no difference to the speed.
#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct Page([Line; 64]);

pub(super) const DIGIT: u64 = (1 << 52) - 1;
/// Two pages hold the constants C, K, N (v lines each), N' (m), five masks and the spilled registers.
const CONSTANTS: usize = 128;
/// A page holds a workspace.
const WORKSPACE: usize = 64;

/// The first line of B in a workspace: after A (v), Low (l), High (h), P (m), q (m), two sums.
const fn second(v: usize) -> usize {
    2 * v + quotient_blocks(v) + 2
}

/// Which values of a chain are copied, and where to.
pub(super) struct Record {
    /// Squarings to the next of them.
    pub(super) left: u64,
    /// Squarings from one to the next.
    pub(super) every: u64,
    /// Where the next one goes; those after it follow.
    pub(super) to: *mut Line,
}

impl Record {
    /// None.
    pub(super) fn nothing() -> Self {
        Self { left: u64::MAX, every: u64::MAX, to: core::ptr::null_mut() }
    }
}

/// The line of a workspace that the code is given: the middle of those in use.
const fn middle(v: usize) -> usize {
    (second(v) + v) / 2
}

/// Constants, spilled registers and two workspaces, as the generated code expects them.
#[derive(Clone)]
pub(super) struct Memory {
    v: usize,
    pages: Box<[Page; 4]>,
}

impl Memory {
    /// The memory for numbers of v blocks; C, K, N and N' are still to be set.
    pub(super) fn new(v: usize) -> Self {
        let mut pages = Box::new([Page([Line([0; 8]); 64]); 4]);
        let lines = &mut pages[0].0;
        let masks = 3 * v + quotient_blocks(v);
        lines[masks] = Line([DIGIT; 8]);
        lines[masks + 1] = last_lane(u64::MAX, DIGIT);
        lines[masks + 2] = last_lane(DIGIT, u64::MAX);
        lines[masks + 3] = last_lane(512, 0);
        lines[masks + 4] = Line([!DIGIT; 8]);
        Memory { v, pages }
    }

    /// Sets C, K, N or N', the constant of that index, of so many blocks.
    pub(super) fn set_constant(&mut self, index: usize, blocks: usize, limbs: &[u64]) {
        let mut digits = Zeroizing::new(vec![0; 8 * blocks]);
        to_digits(&mut digits, limbs);
        self.write(index * self.v, &digits);
    }

    /// Overwrites everything.
    pub(super) fn zeroize(&mut self) {
        for page in &mut *self.pages {
            page.0.iter_mut().for_each(|line| line.0.zeroize());
        }
    }

    fn write(&mut self, line: usize, digits: &[u64]) {
        let lines = &mut self.pages[line / 64].0[line % 64..];
        for (line, digits) in lines.iter_mut().zip(digits.chunks_exact(8)) {
            line.0.copy_from_slice(digits);
        }
    }

    fn read(&self, digits: &mut [u64], line: usize) {
        let lines = &self.pages[line / 64].0[line % 64..];
        for (digits, line) in digits.chunks_exact_mut(8).zip(lines) {
            digits.copy_from_slice(&line.0);
        }
    }

    /// Squares `a` up to `count` > 0 times; returns how many times are left, because the next guess
    /// would be wrong. Writes the values that `record` asks for.
    ///
    /// # Safety
    /// `record` has room for each of them, and that is not borrowed.
    pub(super) unsafe fn square(&mut self, a: &mut [u64], count: u64, record: &mut Record) -> u64 {
        debug_assert!(are_digits(a));
        self.write(CONSTANTS, a);
        let (second, left) = match self.v {
            // SAFETY: there is such a memory only where the CPU has the features (`Ifma::new`); the
            // caller vouches for the room.
            3 => unsafe { squarings_3(&mut self.pages, count, record) },
            // SAFETY: as above.
            5 => unsafe { squarings_5(&mut self.pages, count, record) },
            // SAFETY: as above.
            8 => unsafe { squarings_8(&mut self.pages, count, record) },
            // SAFETY: as above.
            10 => unsafe { squarings_10(&mut self.pages, count, record) },
            _ => unreachable!("`blocks` names no other class"),
        };
        self.read(a, CONSTANTS + usize::from(second) * WORKSPACE);
        debug_assert!(are_digits(a), "a digit left the kernel unchecked");
        left
    }

    /// Multiplies `a` by `b`, and says whether the guesses were right; else `a` is as it was.
    pub(super) fn multiply(&mut self, a: &mut [u64], b: &[u64]) -> bool {
        debug_assert!(are_digits(a) && are_digits(b));
        self.write(CONSTANTS, a);
        self.write(CONSTANTS + second(self.v), b);
        let right = match self.v {
            // SAFETY: as in `square`.
            3 => unsafe { product_3(&mut self.pages) },
            // SAFETY: as above.
            5 => unsafe { product_5(&mut self.pages) },
            // SAFETY: as above.
            8 => unsafe { product_8(&mut self.pages) },
            // SAFETY: as above.
            10 => unsafe { product_10(&mut self.pages) },
            _ => unreachable!("`blocks` names no other class"),
        };
        if right {
            self.read(a, CONSTANTS + WORKSPACE);
            debug_assert!(are_digits(a), "a digit left the kernel unchecked");
        }
        right
    }
}

fn last_lane(last: u64, others: u64) -> Line {
    let mut line = Line([others; 8]);
    line.0[7] = last;
    line
}

/// Says whether all are below 2^52.
fn are_digits(digits: &[u64]) -> bool {
    digits.iter().all(|&digit| digit <= DIGIT)
}

/// Digits of 52 bits of a number of 64-bit limbs, which is not longer.
pub(super) fn to_digits(digits: &mut [u64], limbs: &[u64]) {
    for (i, digit) in digits.iter_mut().enumerate() {
        *digit = bits_from(limbs, 52 * i) & DIGIT;
    }
}

/// The number of those digits, in so many 64-bit limbs.
pub(super) fn from_digits(digits: &[u64], limbs: usize) -> Vec<u64> {
    let mut out = vec![0; limbs + 1];
    for (i, &digit) in digits.iter().enumerate() {
        let placed = u128::from(digit) << (52 * i % 64);
        out[52 * i / 64] |= placed as u64;
        out[(52 * i / 64 + 1).min(limbs)] |= (placed >> 64) as u64;
    }
    debug_assert_eq!(out[limbs], 0);
    out.truncate(limbs);
    out
}

/// The generated code with its registers: all of AVX-512, and those that are named.
macro_rules! generated {
    ($kind:literal, $v:literal, $($registers:tt)*) => {
        asm!(
            include_str!(concat!(env!("OUT_DIR"), "/ifma_", $kind, "_", $v, ".s")),
            $($registers)*,
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
        )
    };
}

macro_rules! kernels {
    ($squarings:ident, $product:ident, $v:literal) => {
        /// Squares what is in the first workspace, `left` > 0 times or until a guess is wrong; returns
        /// whether the result is in the second workspace, and how many times are left.
        ///
        /// # Safety
        /// As [`Memory::square`].
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        unsafe fn $squarings(
            pages: &mut [Page; 4],
            mut left: u64,
            record: &mut Record,
        ) -> (bool, u64) {
            const { assert!(second($v) + $v <= WORKSPACE) }
            assert!(left > 0);
            let lines: *mut Line = pages.as_mut_ptr().cast();
            let first = lines.wrapping_add(CONSTANTS + middle($v));
            let mut place = first;
            // SAFETY: the text reads and writes the constants' lines at rdi and the workspaces' at
            // rsi and rdx, which point to the middle of theirs, all in `pages` by the assertion (and
            // the generator's), and writes where `record` has room, past the caches but before a fence; it
            // ends, for rcx counts down; it changes the registers named and the flags.
            unsafe {
                generated!("squarings", $v,
                    in("rdi") lines,
                    inout("rsi") place,
                    inout("rdx") first.wrapping_add(WORKSPACE) => _,
                    inout("rcx") left,
                    inout("r8") record.left,
                    inout("r9") record.to,
                    in("r10") record.every)
            }
            (place != first, left)
        }

        /// Multiplies A and B of the first workspace into the second; says whether it counts.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
        fn $product(pages: &mut [Page; 4]) -> bool {
            let lines: *mut Line = pages.as_mut_ptr().cast();
            let first = lines.wrapping_add(CONSTANTS + middle($v));
            let beyond: u64;
            // SAFETY: as above; there is no loop.
            unsafe {
                generated!("product", $v,
                    in("rdi") lines,
                    in("rsi") first,
                    in("rdx") first.wrapping_add(WORKSPACE),
                    out("rcx") beyond)
            }
            beyond == 0
        }
    };
}

kernels!(squarings_3, product_3, 3);
kernels!(squarings_5, product_5, 5);
kernels!(squarings_8, product_8, 8);
kernels!(squarings_10, product_10, 10);

#[cfg(test)]
mod tests {
    use crate::cpu::{Family, has};
    use crate::mont::Ring;
    use crate::mont::ifma::Ifma;
    use crate::mont::test_moduli::{Words, reduced};

    #[test]
    fn nothing_is_left_of_a_wiped_modulus() {
        if !has(Family::Avx512) {
            return;
        }
        let mut words = Words(12);
        for v in [3, 5, 8, 10] {
            let ring = Ring::new(&words.modulus(416 * v - 10)).unwrap();
            let mut ifma = Ifma::of_blocks(&ring, v);
            let mut a = ifma.enter(&reduced(&ring, &words.modulus(416 * v - 11)));
            let b = a.clone();
            ifma.square(&mut a, 3);
            ifma.multiply(&mut a, &b);
            ifma.zeroize();
            let mut lines = ifma.memory.pages.iter().flat_map(|page| &page.0);
            assert!(lines.all(|line| line.0 == [0; 8]) && ifma.exact.is_wiped());
        }
    }
}
