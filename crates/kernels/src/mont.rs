//! Modular multiplication and long runs of squarings for any odd modulus.
//!
//! Numbers are little-endian slices of 64-bit limbs. [`Ring`] is arithmetic in Montgomery form with
//! R = 2^(64·L), where L is the number of limbs of the modulus: the portable oracle, and what proofs
//! use. [`Squarer`] runs the job of a delay function, `count` squarings entered once, on the fastest
//! kernel that the CPU has.
//!
//! # Security
//! The running time of [`Ring`]'s operations depends on the modulus's length and, where a name does
//! not end in `_vartime`, on nothing else. A [`Squarer`] works on public values.

mod each;
mod elements;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod exact;
mod fast;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod fma;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod ifma;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod mulx;
mod portable;
mod powers;
mod ring;
mod squarer;
#[cfg(test)]
mod test_moduli;

pub use each::TwoPowers;
pub use elements::Elements;
pub use fast::{FastRing, Kernel};
pub use powers::{Exponents, Schedule, Term};
pub use ring::Ring;
pub use squarer::Squarer;
