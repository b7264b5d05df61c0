//! A ring on the fastest kernel of the CPU.

use super::Elements;
use super::ring::{Digit, Ring, bit_len, digits, select, window_bits};
use core::iter::Peekable;
use core::slice::Iter;
use zeroize::{Zeroize, Zeroizing};

/// A way of multiplying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// 52-bit digits with AVX-512 IFMA, for moduli of 450 to 4150 bits.
    Ifma,
    /// 52-bit digits in doubles with FMA and AVX2, for moduli of 513 to 26,620 bits.
    Fma,
    /// 64-bit limbs with MULX and ADX, for moduli of 800 bits and more.
    Mulx,
    /// 64-bit limbs in plain Rust, for any modulus.
    Portable,
}

impl Kernel {
    /// All kernels, the fastest first.
    pub const ALL: [Kernel; 4] = [Kernel::Ifma, Kernel::Fma, Kernel::Mulx, Kernel::Portable];

    /// The kernel's name in reports and benchmarks.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Ifma => "ifma",
            Kernel::Fma => "fma",
            Kernel::Mulx => "mulx",
            Kernel::Portable => "portable",
        }
    }

    /// Says whether this process may use the kernel, for a modulus of so many bits.
    #[must_use]
    pub fn fits(self, bits: usize) -> bool {
        match self {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kernel::Ifma => super::ifma::fits(bits),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kernel::Fma => super::fma::fits(bits),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kernel::Mulx => super::mulx::fits(bits),
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            Kernel::Ifma | Kernel::Fma | Kernel::Mulx => {
                let _ = bits;
                false
            }
            Kernel::Portable => true,
        }
    }
}

/// The integers modulo an odd N, for public values and many operations.
///
/// The same as [`Ring`], except that what an element's words mean is the kernel's business: they come
/// from [`FastRing::enter`] and [`FastRing::one`] of the same modulus and kernel, and equal numbers may
/// have different words.
///
/// # Security
/// Not constant time; but see [`FastRing::pow`].
#[derive(Clone)]
pub struct FastRing {
    pub(super) ring: Ring,
    pub(super) engine: Engine,
}

#[derive(Clone)]
pub(super) enum Engine {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Ifma(super::ifma::Ifma),
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Fma(super::fma::Fma),
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    Mulx(super::mulx::Mulx),
    /// Space for a product; elements are the ring's, in Montgomery form.
    Portable(Vec<u64>),
}

impl FastRing {
    /// Prepares a ring on the fastest kernel that this process may use.
    #[must_use]
    pub fn new(ring: &Ring) -> Self {
        let bits = bit_len(ring.modulus());
        let fastest = Kernel::ALL.into_iter().filter(|kernel| kernel.fits(bits));
        fastest
            .filter_map(|kernel| Self::with_kernel(kernel, ring))
            .next()
            .expect("the portable kernel fits all")
    }

    /// Prepares a ring on one kernel; `None` where that does not fit or the CPU lacks it.
    #[must_use]
    pub fn with_kernel(kernel: Kernel, ring: &Ring) -> Option<Self> {
        let engine = match kernel {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kernel::Ifma => Engine::Ifma(super::ifma::Ifma::new(ring, bit_len(ring.modulus()))?),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kernel::Fma => Engine::Fma(super::fma::Fma::new(ring)?),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Kernel::Mulx => Engine::Mulx(super::mulx::Mulx::new(ring)?),
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            Kernel::Ifma | Kernel::Fma | Kernel::Mulx => return None,
            Kernel::Portable => Engine::Portable(vec![0; 2 * ring.len()]),
        };
        Some(Self { ring: ring.clone(), engine })
    }

    /// The kernel in use.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        match self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(_) => Kernel::Ifma,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Fma(_) => Kernel::Fma,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Mulx(_) => Kernel::Mulx,
            Engine::Portable(_) => Kernel::Portable,
        }
    }

    /// The same ring in plain Rust.
    #[must_use]
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// The number of words of an element.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a modulus has at least one limb
    pub fn len(&self) -> usize {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(ifma) => ifma.len(),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Fma(fma) => fma.len(),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Mulx(mulx) => mulx.len(),
            Engine::Portable(_) => self.ring.len(),
        }
    }

    /// Says whether this ring's elements are also those of a ring whose modulus divides this one's.
    ///
    /// With IFMA, the element of a is any number of 8·v digits that is ≡ a·b^(2·l), and b and l depend
    /// on v alone. With FMA, it is any of 4·v digits, of limited size, that is ≡ a·R, and so does R.
    #[must_use]
    pub fn shares_elements_with(&self, divisor: &FastRing) -> bool {
        match (&self.engine, &divisor.engine) {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            (Engine::Ifma(ifma), Engine::Ifma(other)) => ifma.len() == other.len(),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            (Engine::Fma(fma), Engine::Fma(other)) => fma.len() == other.len(),
            _ => false,
        }
    }

    /// The element one.
    #[must_use]
    pub fn one(&self) -> Vec<u64> {
        self.enter(&self.ring.leave(self.ring.one()))
    }

    /// The element of a canonical number: as many 64-bit limbs as N, and below it.
    #[must_use]
    pub fn enter(&self, a: &[u64]) -> Vec<u64> {
        debug_assert!(self.ring.is_canonical(a));
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(ifma) => ifma.enter(a),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Fma(fma) => fma.enter(a),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Mulx(mulx) => mulx.enter(a),
            Engine::Portable(_) => self.ring.enter(a),
        }
    }

    /// The number of an element, canonical.
    #[must_use]
    pub fn leave(&self, a: &[u64]) -> Vec<u64> {
        match &self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(ifma) => ifma.leave(a, self.ring.len()),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Fma(fma) => fma.leave(a, self.ring.len()),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Mulx(mulx) => mulx.leave(a, self.ring.len()),
            Engine::Portable(_) => self.ring.leave(a),
        }
    }

    /// Multiplies `a` by `b` in place.
    pub fn mul_assign(&mut self, a: &mut [u64], b: &[u64]) {
        match &mut self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(ifma) => ifma.multiply(a, b),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Fma(fma) => fma.multiply(a, b),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Mulx(mulx) => mulx.multiply(a, b),
            Engine::Portable(wide) => self.ring.mul_assign(a, b, wide),
        }
    }

    /// Squares `a` in place, `count` times.
    pub fn square_assign(&mut self, a: &mut [u64], count: u64) {
        match &mut self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(ifma) => ifma.square(a, count),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Fma(fma) => fma.square(a, count),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Mulx(mulx) => mulx.square(a, count),
            Engine::Portable(wide) => {
                for _ in 0..count {
                    self.ring.square_assign(a, wide);
                }
            }
        }
    }

    /// Squares `a` in place `count` times, and appends every `every`th value, counted from here, to
    /// `table`.
    ///
    /// # Panics
    /// `every` is zero.
    pub fn square_recording(
        &mut self,
        a: &mut [u64],
        count: u64,
        every: u64,
        table: &mut Elements,
    ) {
        match &mut self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(ifma) => ifma.square_recording(a, count, every, table),
            _ => {
                for _ in 0..count / every {
                    self.square_assign(a, every);
                    table.push(a);
                }
                self.square_assign(a, count % every);
            }
        }
    }

    /// Raises an element to a public power, little-endian limbs.
    #[must_use]
    pub fn pow_vartime(&mut self, base: &[u64], exponent: &[u64]) -> Vec<u64> {
        self.multi_pow_vartime(&[(base, exponent)])
    }

    /// Raises an element to a power that should not show, little-endian limbs.
    ///
    /// # Security
    /// The sequence of operations and of memory accesses depends on the lengths of `exponent` and of the
    /// modulus alone; but with IFMA, an operation whose guess is wrong takes longer, about one in 2^30.
    #[must_use]
    pub fn pow(&mut self, base: &[u64], exponent: &[u64]) -> Vec<u64> {
        let len = self.len();
        let mut out = self.one();
        let mut table = Zeroizing::new(vec![0; 16 * len]);
        table[..len].copy_from_slice(&out);
        for i in 1..16 {
            let (done, rest) = table.split_at_mut(i * len);
            let power = &mut rest[..len];
            power.copy_from_slice(&done[(i - 1) * len..]);
            self.mul_assign(power, base);
        }
        let mut pick = Zeroizing::new(vec![0; len]);
        for &limb in exponent.iter().rev() {
            for shift in (0..16).rev() {
                self.square_assign(&mut out, 4);
                select(&mut pick, &table, limb >> (4 * shift) & 15);
                self.mul_assign(&mut out, &pick);
            }
        }
        out
    }

    /// Overwrites the modulus and all that came from it, where the modulus is a secret.
    pub fn zeroize(&mut self) {
        self.ring.zeroize();
        match &mut self.engine {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Ifma(ifma) => ifma.zeroize(),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Fma(fma) => fma.zeroize(),
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            Engine::Mulx(mulx) => mulx.zeroize(),
            Engine::Portable(wide) => wide.zeroize(),
        }
    }

    /// The product of all bases, each raised to its public power.
    ///
    /// All share one run of squarings (Straus), with a sliding window for each base.
    #[must_use]
    pub fn multi_pow_vartime(&mut self, terms: &[(&[u64], &[u64])]) -> Vec<u64> {
        let tables: Vec<(Vec<Vec<u64>>, Vec<Digit>)> = terms
            .iter()
            .map(|(base, exponent)| {
                let window = window_bits(bit_len(exponent));
                (self.odd_powers(base, 1 << (window - 1)), digits(exponent, window))
            })
            .collect();
        let mut pending: Vec<Peekable<_>> =
            tables.iter().map(|(_, digits)| digits.iter().rev().peekable()).collect();
        let mut out: Option<Vec<u64>> = None;
        let mut at = 0;
        while let Some(shift) = highest(&mut pending) {
            if let Some(out) = &mut out {
                self.square_assign(out, (at - shift) as u64);
            }
            at = shift;
            for ((powers, _), pending) in tables.iter().zip(&mut pending) {
                while let Some(digit) = pending.next_if(|digit| digit.shift == shift) {
                    let power = &powers[digit.odd / 2];
                    match &mut out {
                        Some(out) => self.mul_assign(out, power),
                        None => out = Some(power.clone()),
                    }
                }
            }
        }
        let mut out = out.unwrap_or_else(|| self.one());
        self.square_assign(&mut out, at as u64);
        out
    }

    /// The first `count` odd powers of `base`.
    fn odd_powers(&mut self, base: &[u64], count: usize) -> Vec<Vec<u64>> {
        let mut powers = vec![base.to_vec()];
        let mut square = base.to_vec();
        self.square_assign(&mut square, u64::from(count > 1));
        while powers.len() < count {
            let mut next = powers[powers.len() - 1].clone();
            self.mul_assign(&mut next, &square);
            powers.push(next);
        }
        powers
    }
}

/// The highest position at which a window digit is still to be taken.
fn highest(pending: &mut [Peekable<core::iter::Rev<Iter<'_, Digit>>>]) -> Option<usize> {
    pending.iter_mut().filter_map(|digits| digits.peek()).map(|digit| digit.shift).max()
}
