//! Squarings and products with MULX and ADX, for x86 without AVX-512 and moduli of any length.
//!
//! Numbers are L limbs of 64 bits, L a multiple of 8 and at least 16; N has zeros on top. With
//! R = 2^(64·L), one squaring is Montgomery's:
//!
//! ```text
//! T = A²                        each product of two limbs once, doubled, plus the squares
//! for each of T's lower blocks: q = −block·N^−1 mod 2^512, T += q·N at that block
//! A = T / R, minus N where that is R or more
//! ```
//!
//! The code is generated (`build/mulx.rs`): products of blocks of 8 limbs, whose 8 upper limbs stay in
//! registers from one block to the next while the two carry chains of ADX add low and high halves.
//!
//! # Correctness
//! *Elements are below R,* not always below N. T < R², and T + q·N < R² + R·N, so what is left is below
//! R + N: it carries out one bit at most, and with N subtracted in that case it is below R again.
//! *Every sum fits.* A block's product, plus two blocks, fits two blocks. Above a block of T that
//! takes a window there is only what carried out of the block below, one bit, and it is kept.
//!
//! # What was tried
//! MULX alone takes 0.67 cycles here (Zen 5), with one addition 0.74, with its two 1.07, so the 1584
//! products of 2048 bits cannot take less than 1700 cycles.
//!
//! # Security
//! Constant time but for the number of limbs; used for public values.

use super::{Ring, portable};
use core::arch::asm;

/// Words of the frame that the code is given; the quotient's limbs are its last eight.
const FRAME: usize = 22;

/// Arithmetic modulo one number. Elements are L limbs, below R, of a number a·R mod N.
#[derive(Clone)]
pub(super) struct Mulx {
    /// N with zeros on top; its length is L.
    n: Vec<u64>,
    n0: u64,
    /// R² mod N.
    entering: Vec<u64>,
    /// Frame, A, B, N, zeros (L each), T (2·L).
    memory: Vec<u64>,
}

/// Says whether this process may use the kernel, for a modulus of so many bits.
///
/// Below 800 bits plain Rust is faster than the 16 limbs that are the least here.
pub(super) fn fits(bits: usize) -> bool {
    bits >= 800 && crate::cpu::allowed(crate::cpu::Family::Avx2)
}

impl Mulx {
    /// Prepares a modulus; `None` where the CPU lacks the instructions.
    pub(super) fn new(ring: &Ring) -> Option<Self> {
        crate::cpu::allowed(crate::cpu::Family::Avx2).then(|| Self::prepared(ring))
    }

    fn prepared(ring: &Ring) -> Self {
        let limbs = ring.len().next_multiple_of(8).max(16);
        let mut n = ring.modulus().to_vec();
        n.resize(limbs, 0);
        let mut two = ring.one().to_vec();
        ring.double(&mut two);
        let mut entering = ring.leave(&ring.pow_vartime(&two, &[128 * limbs as u64]));
        entering.resize(limbs, 0);
        let mut memory = vec![0; FRAME + 6 * limbs];
        memory[FRAME + 2 * limbs..][..limbs].copy_from_slice(&n);
        Mulx { n0: portable::neg_inverse(n[0]), n, entering, memory }
    }

    /// The number of words of an element.
    pub(super) fn len(&self) -> usize {
        self.n.len()
    }

    /// The element of a number below N.
    pub(super) fn enter(&self, a: &[u64]) -> Vec<u64> {
        let mut wide = vec![0; 2 * self.len()];
        portable::mul_wide(&mut wide, &self.entering, a);
        self.reduced(&mut wide)
    }

    /// The number of an element, canonical, in so many limbs.
    pub(super) fn leave(&self, a: &[u64], limbs: usize) -> Vec<u64> {
        let mut wide = a.to_vec();
        wide.resize(2 * self.len(), 0);
        let mut number = self.reduced(&mut wide);
        number.truncate(limbs);
        number
    }

    fn reduced(&self, wide: &mut [u64]) -> Vec<u64> {
        let mut out = vec![0; self.len()];
        portable::redc(&mut out, wide, &self.n, self.n0);
        out
    }

    /// Squares `a` so many times.
    pub(super) fn square(&mut self, a: &mut [u64], count: u64) {
        if count > 0 {
            self.memory[FRAME..][..a.len()].copy_from_slice(a);
            let frame = self.frame(count);
            // SAFETY: the CPU has the instructions (`Mulx::new`), and the frame was made just now.
            unsafe { squarings(frame) };
            a.copy_from_slice(&self.memory[FRAME..][..a.len()]);
        }
    }

    /// Multiplies `a` by `b`.
    pub(super) fn multiply(&mut self, a: &mut [u64], b: &[u64]) {
        let limbs = self.len();
        self.memory[FRAME..][..limbs].copy_from_slice(a);
        self.memory[FRAME + limbs..][..limbs].copy_from_slice(b);
        let frame = self.frame(1);
        // SAFETY: as in `square`.
        unsafe { product(frame) };
        a.copy_from_slice(&self.memory[FRAME..][..limbs]);
    }

    /// Fills the frame: ends of A, B and N, T, its middle, the zeros, the number of bytes, n0, count.
    fn frame(&mut self, count: u64) -> *mut u64 {
        let limbs = self.len();
        assert!(limbs >= 16 && limbs.is_multiple_of(8) && self.memory.len() == FRAME + 6 * limbs);
        let base = self.memory.as_mut_ptr();
        let at = |part: usize| base.wrapping_add(FRAME + part * limbs) as u64;
        let fields = [
            at(0),
            at(1), // A
            at(1),
            at(2), // B
            at(2),
            at(3), // N
            at(4),
            at(5), // T and its middle
            at(3), // zeros
            8 * limbs as u64,
            self.n0,
            count,
        ];
        self.memory[..fields.len()].copy_from_slice(&fields);
        base
    }
}

/// Squares COUNT > 0 times.
///
/// # Safety
/// `frame` is what [`Mulx::frame`] returned last, and its memory is not borrowed otherwise.
#[target_feature(enable = "avx,bmi2,adx")]
unsafe fn squarings(frame: *mut u64) {
    // SAFETY: the text reads and writes what the frame points to, whole blocks from begin to end;
    // `rbx` and `rbp` are put back, all else that it changes is named.
    unsafe {
        asm!(
            include_str!(concat!(env!("OUT_DIR"), "/mulx_squarings.s")),
            inout("rdi") frame => _,
            out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            out("xmm0") _,
            options(raw),
        );
    }
}

/// Multiplies A by B.
///
/// # Safety
/// As for [`squarings`].
#[target_feature(enable = "avx,bmi2,adx")]
unsafe fn product(frame: *mut u64) {
    // SAFETY: as in `squarings`.
    unsafe {
        asm!(
            include_str!(concat!(env!("OUT_DIR"), "/mulx_product.s")),
            inout("rdi") frame => _,
            out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
            out("xmm0") _,
            options(raw),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Family, has};
    use crate::mont::test_moduli::{Words, reduced};
    use crate::mont::{Kernel, Squarer};

    #[test]
    fn matches_the_portable_ring() {
        if !has(Family::Avx2) {
            return;
        }
        let mut words = Words(6);
        for bits in [2, 64, 900, 1023, 1024, 1025, 1536, 2047, 2048, 2070, 3072, 4096, 5000] {
            for round in 0..4 {
                let mut n = words.modulus(bits);
                if round == 0 {
                    let top = n.len() - 1;
                    let last = n[top].leading_zeros();
                    n.fill(u64::MAX);
                    n[top] >>= last;
                }
                let ring = Ring::new(&n).unwrap();
                let mut mulx = Mulx::prepared(&ring);
                let mut portable = Squarer::with_kernel(Kernel::Portable, &n).unwrap();
                let start = reduced(&ring, &words.modulus(bits + 7));
                portable.set(&start);
                let mut a = mulx.enter(&start);
                for count in [0, 1, 2, 50] {
                    mulx.square(&mut a, count);
                    portable.square(count);
                    assert_eq!(mulx.leave(&a, n.len()), portable.value(), "{bits} {count}");
                }
                let b = mulx.enter(&start);
                mulx.multiply(&mut a, &b);
                let want = ring.mul(&ring.enter(&portable.value()), &ring.enter(&start));
                assert_eq!(mulx.leave(&a, n.len()), ring.leave(&want), "{bits}");
            }
        }
    }

    /// Elements between N and R, which only sums make: every limb full.
    #[test]
    fn elements_above_n() {
        if !has(Family::Avx2) {
            return;
        }
        let mut words = Words(7);
        for bits in [1000, 2048, 3000] {
            let ring = Ring::new(&words.modulus(bits)).unwrap();
            let mut mulx = Mulx::prepared(&ring);
            let mut a = vec![u64::MAX; mulx.len()];
            let plain = mulx.leave(&a, ring.len());
            let b = a.clone();
            mulx.multiply(&mut a, &b);
            let mut square = b;
            mulx.square(&mut square, 1);
            let want = ring.mul(&ring.enter(&plain), &ring.enter(&plain));
            assert_eq!(mulx.leave(&a, ring.len()), ring.leave(&want));
            assert_eq!(mulx.leave(&square, ring.len()), ring.leave(&want));
        }
    }
}
