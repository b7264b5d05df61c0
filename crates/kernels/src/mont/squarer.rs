//! Long runs of squarings modulo one number, on the fastest kernel that fits.

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

    fn of(ring: FastRing) -> Self {
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

    /// Squares the value `count` times.
    pub fn square(&mut self, count: u64) {
        self.ring.square_assign(&mut self.value, count);
    }
}
