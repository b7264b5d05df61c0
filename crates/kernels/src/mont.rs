//! Modular multiplication and long runs of squarings for any odd modulus.
//!
//! Numbers are little-endian slices of 64-bit limbs. [`Ring`] is arithmetic in Montgomery form with
//! R = 2^(64·L), where L is the number of limbs of the modulus: the portable oracle, and what
//! keeps secrets. [`Group`] is the same for public numbers, on the fastest kernel that the CPU has.
//! [`Squarer`] runs the job of a delay function, `count` squarings entered once.
//!
//! # Security
//! The running time of [`Ring`]'s operations depends on the modulus's length and, where a name does
//! not end in `_vartime`, on nothing else. A [`Group`] and a [`Squarer`] work on public values.

mod group;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod ifma;
mod portable;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod product;
mod ring;
mod squarer;

pub use group::Group;
pub use ring::Ring;
pub use squarer::{Kernel, Squarer};
