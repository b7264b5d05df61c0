//! Multiplication modulo one number on the fastest kernel that fits, for public values.

use super::squarer::{Kernel, Squarer, bit_len};
use super::{Ring, ring};

/// The numbers modulo N, in the form of one kernel.
///
/// Elements are slices of [`Group::len`] words that only the group that made them can read; one number
/// may have several. [`Group::enter`] makes an element, [`Group::leave`] reads it.
#[derive(Clone)]
pub struct Group {
    ring: Ring,
    engine: Engine,
}

#[derive(Clone)]
enum Engine {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Ifma(Box<super::product::Product>),
    Portable,
}

impl Group {
    /// Makes the group of a ring on the fastest kernel allowed.
    #[must_use]
    pub fn new(ring: &Ring) -> Self {
        let kernels = Kernel::ALL.into_iter();
        kernels
            .filter_map(|kernel| Self::with_kernel(kernel, ring))
            .next()
            .unwrap_or_else(|| Self { ring: ring.clone(), engine: Engine::Portable })
    }

    /// Makes the group on one kernel; `None` where that has no products or does not fit.
    #[must_use]
    pub fn with_kernel(kernel: Kernel, ring: &Ring) -> Option<Self> {
        let engine = match kernel {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kernel::Ifma => {
                // The class of N times a number of 22 bits, so that chains modulo such a multiple have
                // digits of the same form.
                let bits = bit_len(ring.modulus()) + SPARE_BITS;
                Engine::Ifma(Box::new(super::product::Product::new(ring, bits)?))
            }
            Kernel::Portable => Engine::Portable,
            #[allow(unreachable_patterns)]
            _ => return None,
        };
        Some(Self { ring: ring.clone(), engine })
    }

    /// The kernel in use.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(_) => Kernel::Ifma,
            Engine::Portable => Kernel::Portable,
        }
    }

    /// The number of words of an element.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // an element has words
    pub fn len(&self) -> usize {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(product) => product.len(),
            Engine::Portable => self.ring.len(),
        }
    }

    /// The element one.
    #[must_use]
    pub fn one(&self) -> Vec<u64> {
        let mut one = vec![0; self.ring.len()];
        one[0] = 1;
        self.enter(&one)
    }

    /// The element of a number below N, as long as N.
    #[must_use]
    pub fn enter(&self, a: &[u64]) -> Vec<u64> {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(product) => product.enter(a),
            Engine::Portable => self.ring.enter(a),
        }
    }

    /// The number of an element, below N and as long as N.
    #[must_use]
    pub fn leave(&self, a: &[u64]) -> Vec<u64> {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(product) => product.leave(a, self.ring.len()),
            Engine::Portable => self.ring.leave(a),
        }
    }

    /// The value of a chain whose modulus is a multiple of N, as an element.
    ///
    /// Cheap where the chain's kernel is the group's and their classes agree: then its digits are the
    /// element.
    #[must_use]
    pub fn adopt(&self, squarer: &Squarer) -> Option<Vec<u64>> {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(product) => {
                squarer.digits().filter(|digits| digits.len() == product.len())
            }
            Engine::Portable => None,
        }
    }

    /// Multiplies `a` by `b` in place; `scratch` is 2·len words.
    pub fn mul_assign(&self, a: &mut [u64], b: &[u64], scratch: &mut [u64]) {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(product) => product.mul_assign(a, b),
            Engine::Portable => self.ring.mul_assign(a, b, scratch),
        }
    }

    /// Squares `a` in place; `scratch` is 2·len words.
    pub fn square_assign(&self, a: &mut [u64], scratch: &mut [u64]) {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(product) => {
                let b = &mut scratch[..a.len()];
                b.copy_from_slice(a);
                product.mul_assign(a, b);
            }
            Engine::Portable => self.ring.square_assign(a, scratch),
        }
    }

    /// The product of two elements.
    #[must_use]
    pub fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (mut out, mut scratch) = (a.to_vec(), vec![0; 2 * self.len()]);
        self.mul_assign(&mut out, b, &mut scratch);
        out
    }

    /// The product of all bases, each raised to its power, little-endian limbs.
    ///
    /// All share one run of squarings (Straus), with a sliding window for each base.
    #[must_use]
    pub fn multi_pow(&self, terms: &[(&[u64], &[u64])]) -> Vec<u64> {
        let mut scratch = vec![0; 2 * self.len()];
        ring::multi_pow(&self.one(), terms, &mut |a, b| match b {
            Some(b) => self.mul_assign(a, b, &mut scratch),
            None => self.square_assign(a, &mut scratch),
        })
    }

    /// An element raised to a power, little-endian limbs.
    #[must_use]
    pub fn pow(&self, base: &[u64], exponent: &[u64]) -> Vec<u64> {
        self.multi_pow(&[(base, exponent)])
    }
}

/// How many bits longer than N the modulus of a chain may be for [`Group::adopt`] to be cheap.
pub(super) const SPARE_BITS: usize = 22;
