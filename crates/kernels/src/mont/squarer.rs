//! Long runs of squarings modulo one number, on the fastest kernel that fits.

use super::ring::Ring;

/// A way of squaring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// 64-bit limbs in plain Rust, for any modulus.
    Portable,
}

impl Kernel {
    /// All kernels, the fastest first.
    pub const ALL: [Kernel; 1] = [Kernel::Portable];

    /// The kernel's name in reports and benchmarks.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Portable => "portable",
        }
    }

    /// Says whether this process may use the kernel, for a modulus of so many bits.
    #[must_use]
    pub fn fits(self, bits: usize) -> bool {
        let _ = bits;
        match self {
            Kernel::Portable => true,
        }
    }
}

/// A number that is squared again and again modulo N.
///
/// [`Squarer::set`] gives it a value, [`Squarer::square`] runs, [`Squarer::value`] reads it.
pub struct Squarer {
    ring: Ring,
    kernel: Kernel,
    /// The value in the ring's Montgomery form.
    value: Vec<u64>,
    wide: Vec<u64>,
}

impl Squarer {
    /// Makes a squarer of the value one for an odd modulus above one, on the fastest kernel allowed.
    ///
    /// Returns `None` where the modulus is even, zero or one.
    #[must_use]
    pub fn new(modulus: &[u64]) -> Option<Self> {
        let bits = 64 * modulus.len();
        let kernel = Kernel::ALL.into_iter().find(|kernel| kernel.fits(bits))?;
        Self::with_kernel(kernel, modulus)
    }

    /// Makes a squarer on one kernel; `None` also where that kernel does not fit.
    #[must_use]
    pub fn with_kernel(kernel: Kernel, modulus: &[u64]) -> Option<Self> {
        let ring = Ring::new(modulus)?;
        let (value, wide) = (ring.one().to_vec(), vec![0; 2 * ring.len()]);
        Some(Self { ring, kernel, value, wide })
    }

    /// The kernel in use.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Sets the value; `a` is as long as the modulus and below it.
    ///
    /// # Panics
    /// `a` is too long, too short, or not below the modulus.
    pub fn set(&mut self, a: &[u64]) {
        assert!(self.ring.is_canonical(a), "a squarer's value is below its modulus");
        self.value = self.ring.enter(a);
    }

    /// The value, canonical: as long as the modulus, and below it.
    #[must_use]
    pub fn value(&self) -> Vec<u64> {
        self.ring.leave(&self.value)
    }

    /// Squares the value `count` times.
    pub fn square(&mut self, count: u64) {
        for _ in 0..count {
            self.ring.square_assign(&mut self.value, &mut self.wide);
        }
    }
}
