//! Long runs of squarings modulo one number, on the fastest kernel that fits.

use super::ring::Ring;

/// A way of squaring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// 52-bit digits with AVX-512 IFMA, for moduli of up to 4150 bits.
    Ifma,
    /// 64-bit limbs in plain Rust, for any modulus.
    Portable,
}

impl Kernel {
    /// All kernels, the fastest first.
    pub const ALL: [Kernel; 2] = [Kernel::Ifma, Kernel::Portable];

    /// The kernel's name in reports and benchmarks.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Ifma => "ifma",
            Kernel::Portable => "portable",
        }
    }

    /// Says whether this process may use the kernel, for a modulus of so many bits.
    #[must_use]
    pub fn fits(self, bits: usize) -> bool {
        match self {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kernel::Ifma => {
                let allowed = crate::cpu::allowed(crate::cpu::Family::Avx512);
                allowed && super::ifma::blocks(bits).is_some()
            }
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            Kernel::Ifma => false,
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
    engine: Engine,
}

/// The value, as its kernel keeps it.
enum Engine {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Ifma(super::ifma::Chain),
    /// In the ring's Montgomery form; and space for a product.
    Portable { value: Vec<u64>, wide: Vec<u64> },
}

impl Squarer {
    /// Makes a squarer of the value one for an odd modulus above one, on the fastest kernel allowed.
    ///
    /// Returns `None` where the modulus is even, zero or one.
    #[must_use]
    pub fn new(modulus: &[u64]) -> Option<Self> {
        let bits = bit_len(modulus);
        let kernel = Kernel::ALL.into_iter().find(|kernel| kernel.fits(bits))?;
        Self::with_kernel(kernel, modulus)
    }

    /// Makes a squarer on one kernel; `None` also where that kernel does not fit.
    #[must_use]
    pub fn with_kernel(kernel: Kernel, modulus: &[u64]) -> Option<Self> {
        let ring = Ring::new(modulus)?;
        let engine = match kernel {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kernel::Ifma => Engine::Ifma(super::ifma::Chain::new(&ring, bit_len(modulus))?),
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            Kernel::Ifma => return None,
            Kernel::Portable => {
                let (value, wide) = (ring.one().to_vec(), vec![0; 2 * ring.len()]);
                Engine::Portable { value, wide }
            }
        };
        Some(Self { ring, kernel, engine })
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
        match &mut self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(chain) => chain.set(a),
            Engine::Portable { value, .. } => *value = self.ring.enter(a),
        }
    }

    /// The value, canonical: as long as the modulus, and below it.
    #[must_use]
    pub fn value(&self) -> Vec<u64> {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(chain) => chain.value(self.ring.len()),
            Engine::Portable { value, .. } => self.ring.leave(value),
        }
    }

    /// The value as the digits of its kernel, where [`Group`](super::Group) knows their form.
    pub(super) fn digits(&self) -> Option<Vec<u64>> {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(chain) => Some(chain.digits()),
            Engine::Portable { .. } => None,
        }
    }

    /// Squares the value `count` times.
    pub fn square(&mut self, count: u64) {
        match &mut self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(chain) => chain.square(count),
            Engine::Portable { value, wide } => {
                for _ in 0..count {
                    self.ring.square_assign(value, wide);
                }
            }
        }
    }
}

pub(super) fn bit_len(a: &[u64]) -> usize {
    let top = a.iter().rposition(|&limb| limb != 0);
    top.map_or(0, |top| 64 * top + 64 - a[top].leading_zeros() as usize)
}
