//! Verifiable delay: sequential squaring, Wesolowski and Pietrzak proofs, time-lock encryption.
//!
//! y = x^(2^T) mod N takes T squarings, one after the other, of anyone who does not know the factors of
//! N. [`eval()`] computes it, checked and resumable; [`Prover`] computes it together with a [`Proof`]
//! that anyone checks in about a millisecond; [`timelock`] hides a file for as long as T squarings
//! take.
//!
//! ```
//! use tetralith_vdf::{Expected, Input, Modulus, Options, Proof, Prover, System};
//!
//! let modulus = Modulus::rsa2048();
//! let x = modulus.hash_to_element(1000, b"a public seed");
//! let mut prover = Prover::new(System::Wesolowski, &modulus, &x, 1000, Options::default())?;
//! let (y, proof) = prover.run(&mut |_| std::ops::ControlFlow::Continue(()))?;
//!
//! let input = Input::Seed(b"a public seed");
//! let expected = Expected { modulus: &modulus, input, iterations: 1000 };
//! assert_eq!(Proof::verify_encoded(&proof.to_bytes(), &expected)?, y.element(&modulus));
//! # Ok::<(), tetralith_vdf::Error>(())
//! ```
//!
//! # Security
//! Values, proofs and checkpoints are public and the code that handles them takes variable time. The
//! secret factors of a time-lock are handled in constant time, apart from how many candidates their
//! search throws away.

mod checkpoint;
mod error;
pub mod eval;
mod field256;
mod modulus;
mod nat;
mod pietrzak;
mod prime;
mod proof;
mod prover;
mod tape;
pub mod timelock;
mod transcript;
mod wesolowski;

pub use checkpoint::Checkpoint;
pub use error::{Count, Error};
pub use eval::{Evaluation, Fault, Progress, eval};
pub use modulus::{Element, Modulus, Residue, parse_hex};
pub use proof::{Expected, Input, Proof};
pub use prover::{Next, Options, Prover};
pub use transcript::{Statement, System};

/// The package's own README, whose example is run like the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
