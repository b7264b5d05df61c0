//! Long runs of squarings modulo one number, on the fastest kernel that fits.

use super::Elements;
use super::fast::{FastRing, Kernel};
use super::ring::Ring;

/// A number that is squared again and again modulo N.
///
/// [`Squarer::set`] gives it a value, [`Squarer::square`] runs, [`Squarer::value`] reads it.
pub struct Squarer {
    ring: FastRing,
    value: Vec<u64>,
}

impl Squarer {
    /// Makes a squarer of the value one for an odd modulus above one, on the fastest kernel allowed.
    ///
    /// Returns `None` where the modulus is even, zero or one.
    #[must_use]
    pub fn new(modulus: &[u64]) -> Option<Self> {
        Some(Self::of(FastRing::new(&Ring::new(modulus)?)))
    }

    /// Makes a squarer on one kernel; `None` also where that kernel does not fit.
    #[must_use]
    pub fn with_kernel(kernel: Kernel, modulus: &[u64]) -> Option<Self> {
        Some(Self::of(FastRing::with_kernel(kernel, &Ring::new(modulus)?)?))
    }

    /// Makes a squarer of the value one in a ring that is there.
    #[must_use]
    pub fn of(ring: FastRing) -> Self {
        Self { value: ring.one(), ring }
    }

    /// The kernel in use.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        self.ring.kernel()
    }

    /// Sets the value; `a` is as long as the modulus and below it.
    ///
    /// # Panics
    /// `a` is too long, too short, or not below the modulus.
    pub fn set(&mut self, a: &[u64]) {
        assert!(self.ring.ring().is_canonical(a), "a squarer's value is below its modulus");
        self.value = self.ring.enter(a);
    }

    /// The value, canonical: as long as the modulus, and below it.
    #[must_use]
    pub fn value(&self) -> Vec<u64> {
        self.ring.leave(&self.value)
    }

    /// The value as an element of `ring`, whose modulus divides this one's, without leaving the form
    /// of the kernel; `None` where the forms differ.
    ///
    /// A chain modulo a small multiple of N is so read cheaply modulo N.
    #[must_use]
    pub fn element_of(&self, ring: &FastRing) -> Option<Vec<u64>> {
        self.ring.shares_elements_with(ring).then(|| self.value.clone())
    }

    /// Squares the value `count` times and appends every `every`th value, counted from here, to `table`,
    /// as elements of this ring or of one that [`Squarer::element_of`] knows.
    ///
    /// # Panics
    /// `every` is zero.
    pub fn square_recording(&mut self, count: u64, every: u64, table: &mut Elements) {
        self.ring.square_recording(&mut self.value, count, every, table);
    }

    /// Squares the value `count` times.
    pub fn square(&mut self, count: u64) {
        self.ring.square_assign(&mut self.value, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mont::test_moduli::multiple;

    /// N times a number of 22 bits squares in the class of N, and its value is read modulo N.
    #[test]
    fn chains_modulo_a_multiple_are_read_modulo_the_divisor() {
        for limbs in [16, 32, 48, 64, 70] {
            chain(Kernel::Ifma, limbs, limbs < 70);
            // 1024 bits end a class of this kernel, and 70 limbs are in the middle of one.
            chain(Kernel::Fma, limbs, limbs > 16);
            chain(Kernel::Portable, limbs, false);
        }
    }

    fn chain(kernel: Kernel, limbs: usize, shared: bool) {
        let mut n = vec![0x9e37_79b9_7f4a_7c15; limbs];
        n[0] |= 1;
        let multiple = multiple(&n, 4_194_287);
        let made = |n: &[u64]| Squarer::with_kernel(kernel, n);
        // A kernel that the CPU lacks, or that has no class of the size.
        let (Some(mut long), Some(mut short)) = (made(&multiple), made(&n)) else { return };
        let ring = FastRing::with_kernel(kernel, &Ring::new(&n).unwrap()).unwrap();
        let mut start = vec![0; limbs];
        start[0] = 7;
        short.set(&start);
        start.push(0);
        long.set(&start);
        let mut table = Elements::new(&ring, 0);
        for round in 0..50 {
            if round % 2 == 1 && long.element_of(&ring).is_some() {
                long.square_recording(5, 2, &mut table);
                for i in [2, 1] {
                    short.square(2);
                    let element = table.value(table.len() - i);
                    assert_eq!(ring.leave(element), short.value(), "{limbs}");
                }
                short.square(1);
            } else {
                long.square(5);
                short.square(5);
            }
            match long.element_of(&ring) {
                Some(element) => assert_eq!(ring.leave(&element), short.value(), "{limbs}"),
                None => assert!(!shared, "{kernel:?} {limbs}"),
            }
        }
    }
}
