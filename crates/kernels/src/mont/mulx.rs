//! Squarings and products with MULX and ADX, for x86 and moduli of any length.
//!
//! The multipliers of doubles ([`super::fma`]) are faster where they fit: 1285 cycles at 2048 bits, and
//! 1894 here.
//!
//! Numbers are k ≥ 2 blocks of 8 limbs of 64 bits, and one limb more, the tail, where N is just longer
//! than that: Shamir's N·c is. N has zeros on top. With R = 2^(64·limbs), one squaring is Montgomery's:
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
//! R + N: it carries out one bit at most, and with N subtracted in that case it is below R again. With a
//! tail, N < R/8 and elements are below 2·N: T + q·N < 4·N² + R·N, so what is left is below 1.5·N.
//! *Every sum fits.* A block's product, plus two blocks, fits two blocks. Above a block of T that
//! takes a window there is only what carried out of the block below, one bit, and it is kept; with a
//! tail, that and the top limb of q·(N's tail), below 2^62. Twice a tail fits a limb.
//!
//! # What was tried
//! On a Zen 5, in cycles: MULX alone takes 0.67, with one addition 0.74, with its two 1.1 (the adders
//! share its ports), so the 1584 products of 2048 bits take 1700 and more. One limb of the quotient at
//! a time: 1960 a squaring; two at a time, which halves the wait: 1920; a zero in memory instead of
//! clearing a register, 1905; doubling A²'s products block by block instead of at the end, a first row of
//! blocks that adds to nothing, 1894. Quotients that wait for nothing (and are wrong) gain 17 more. The
//! eight products of a row take 9.3, for additions with carry have four ports, three of them the
//! multipliers'. Three squares of half the length (Karatsuba) save 120 products and lose as much on the
//! carries between; doubling by shifts and a row's last carry by SETO are slower by 10.
//!
//! # Security
//! Constant time but for the number of limbs; used for public values.

use super::exact::{padded, power_of_two};
use super::{Ring, portable, ring::bit_len};
use crate::wipe::wipe;
use core::arch::asm;
use zeroize::{Zeroize, Zeroizing};

/// Words of the frame that the code is given; the quotient's limbs are its last eight.
const FRAME: usize = 25;

/// Arithmetic modulo one number. Elements are limbs, below R, of a number a·R mod N.
#[derive(Clone)]
pub(super) struct Mulx {
    /// N with zeros on top, as long as all elements.
    n: Vec<u64>,
    /// −N^−1 mod 2^128.
    inverse: [u64; 2],
    /// R² mod N.
    entering: Vec<u64>,
    /// Frame, A, B, N, zeros (k + 1 blocks each), T (twice that).
    memory: Vec<u64>,
}

/// How many limbs elements have, for a modulus of so many bits: whole blocks, or one limb more.
fn limbs(bits: usize) -> usize {
    let blocks = bits.div_ceil(512).max(2);
    if blocks > 2 && bits + 3 <= 512 * (blocks - 1) + 64 { 8 * blocks - 7 } else { 8 * blocks }
}

/// Limbs that a number takes in memory.
fn part(limbs: usize) -> usize {
    (limbs / 8 + 1) * 8
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
        let limbs = limbs(bit_len(ring.modulus()));
        let n = padded(ring.modulus(), limbs);
        let entering = padded(&Zeroizing::new(power_of_two(ring, 128 * limbs)), limbs);
        let mut memory = vec![0; FRAME + 6 * part(limbs)];
        memory[FRAME + 2 * part(limbs)..][..limbs].copy_from_slice(&n);
        let inverse = negative_inverse(n[0], n[1]);
        Mulx { inverse, n, entering, memory }
    }

    /// Overwrites all that came from N.
    pub(super) fn zeroize(&mut self) {
        self.inverse.zeroize();
        self.n.zeroize();
        self.entering.zeroize();
        wipe(&mut self.memory);
    }

    /// The number of words of an element.
    pub(super) fn len(&self) -> usize {
        self.n.len()
    }

    /// The element of a number below N.
    pub(super) fn enter(&self, a: &[u64]) -> Vec<u64> {
        let mut wide = Zeroizing::new(vec![0; 2 * self.len()]);
        portable::mul_wide(&mut wide, &self.entering, a);
        self.reduced(&mut wide)
    }

    /// The number of an element, canonical, in so many limbs.
    pub(super) fn leave(&self, a: &[u64], limbs: usize) -> Vec<u64> {
        let mut wide = Zeroizing::new(padded(a, 2 * self.len()));
        let mut number = self.reduced(&mut wide);
        number.truncate(limbs);
        number
    }

    fn reduced(&self, wide: &mut [u64]) -> Vec<u64> {
        let mut out = vec![0; self.len()];
        portable::redc(&mut out, wide, &self.n, self.inverse[0]);
        out
    }

    /// Squares `a` so many times.
    pub(super) fn square(&mut self, a: &mut [u64], count: u64) {
        if count > 0 {
            self.memory[FRAME..][..a.len()].copy_from_slice(a);
            let frame = self.frame(count);
            match a.len() % 8 {
                // SAFETY: the CPU has the instructions (`Mulx::new`), and the frame is just made.
                0 => unsafe { squarings(frame) },
                // SAFETY: as above.
                _ => unsafe { squarings_tail(frame) },
            }
            a.copy_from_slice(&self.memory[FRAME..][..a.len()]);
        }
    }

    /// Multiplies `a` by `b`.
    pub(super) fn multiply(&mut self, a: &mut [u64], b: &[u64]) {
        self.memory[FRAME..][..a.len()].copy_from_slice(a);
        self.memory[FRAME + part(a.len())..][..a.len()].copy_from_slice(b);
        let frame = self.frame(1);
        match a.len() % 8 {
            // SAFETY: as in `square`.
            0 => unsafe { product(frame) },
            // SAFETY: as above.
            _ => unsafe { product_tail(frame) },
        }
        a.copy_from_slice(&self.memory[FRAME..][..a.len()]);
    }

    /// Fills the frame: A, B and N and the ends of their blocks, T, where its upper half begins, the
    /// zeros, the number of bytes in blocks, −N^−1, the count, zero; the rest is the code's.
    fn frame(&mut self, count: u64) -> *mut u64 {
        let (limbs, part) = (self.len(), part(self.len()));
        let blocks = limbs / 8 * 8;
        assert!(blocks >= 16 && limbs - blocks <= 1 && self.memory.len() == FRAME + 6 * part);
        let base = self.memory.as_mut_ptr();
        let at = |limb: usize| base.wrapping_add(FRAME + limb) as u64;
        let fields = [
            at(0),
            at(blocks),
            at(part),
            at(part + blocks),
            at(2 * part),
            at(2 * part + blocks),
            at(4 * part),
            at(4 * part + blocks),
            at(3 * part),
            8 * blocks as u64,
            self.inverse[0],
            self.inverse[1],
            count,
            0,
        ];
        self.memory[..fields.len()].copy_from_slice(&fields);
        base
    }
}

/// −(n0 + n1·2^64)^−1 mod 2^128.
fn negative_inverse(n0: u64, n1: u64) -> [u64; 2] {
    let n = u128::from(n0) | u128::from(n1) << 64;
    let mut inverse = u128::from(portable::neg_inverse(n0)).wrapping_neg();
    // Right in its lower half; one Newton step doubles that.
    inverse = inverse.wrapping_mul(2u128.wrapping_sub(n.wrapping_mul(inverse)));
    let negative = inverse.wrapping_neg();
    [negative as u64, (negative >> 64) as u64]
}

/// A text of the generator as a function of the frame.
macro_rules! generated {
    ($name:ident, $file:literal, $doc:literal) => {
        #[doc = $doc]
        ///
        /// # Safety
        /// `frame` is what [`Mulx::frame`] returned last, of numbers with a tail where the name says so,
        /// and its memory is not borrowed otherwise.
        #[target_feature(enable = "avx,bmi2,adx")]
        unsafe fn $name(frame: *mut u64) {
            // SAFETY: the text reads and writes what the frame points to, whole blocks from begin to
            // end, and tails; `rbx` and `rbp` are put back, all else that it changes is named.
            unsafe {
                asm!(
                    include_str!(concat!(env!("OUT_DIR"), "/", $file)),
                    inout("rdi") frame => _,
                    out("rax") _, out("rcx") _, out("rdx") _, out("rsi") _,
                    out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                    out("r12") _, out("r13") _, out("r14") _, out("r15") _,
                    out("xmm0") _,
                    options(raw),
                );
            }
        }
    };
}

generated!(squarings, "mulx_squarings.s", "Squares A COUNT > 0 times.");
generated!(squarings_tail, "mulx_squarings_tail.s", "Squares A COUNT > 0 times.");
generated!(product, "mulx_product.s", "Multiplies A by B.");
generated!(product_tail, "mulx_product_tail.s", "Multiplies A by B.");

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
        for bits in [2, 64, 900, 1024, 1025, 1085, 1086, 1536, 2048, 2070, 2109, 2110, 3072, 4118] {
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
        for bits in [1000, 1085, 2048, 2070, 2109, 3000] {
            let ring = Ring::new(&words.modulus(bits)).unwrap();
            let mut mulx = Mulx::prepared(&ring);
            let mut a = vec![u64::MAX; mulx.len()];
            if mulx.len() % 8 == 1 {
                // With a tail, the most is 2·N − 1.
                a.clone_from(&mulx.n);
                a[0] -= 1;
                portable_double(&mut a);
                a[0] += 1;
            }
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

    #[test]
    fn nothing_is_left_of_a_wiped_modulus() {
        if !has(Family::Avx2) {
            return;
        }
        let mut words = Words(8);
        for bits in [1024, 1085] {
            let ring = Ring::new(&words.modulus(bits)).unwrap();
            let mut mulx = Mulx::prepared(&ring);
            let mut a = mulx.enter(&reduced(&ring, &words.modulus(bits)));
            let b = a.clone();
            mulx.square(&mut a, 3);
            mulx.multiply(&mut a, &b);
            mulx.zeroize();
            assert_eq!(mulx.memory, vec![0; FRAME + 6 * part(b.len())]);
            let Mulx { n, inverse, entering, memory: _ } = mulx;
            assert_eq!((n, inverse, entering), (vec![], [0; 2], vec![]));
        }
    }

    fn portable_double(a: &mut [u64]) {
        for i in (1..a.len()).rev() {
            a[i] = a[i] << 1 | a[i - 1] >> 63;
        }
        a[0] <<= 1;
    }
}
