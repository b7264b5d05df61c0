//! Elliptic-curve verifiable random functions (RFC 9381 and the deployed drafts).
//!
//! A [`Suite`] is a value; keys, proofs and outputs know theirs, and refuse to be mixed.
//!
//! ```
//! use tetralith_vrf::{PublicKey, SecretKey, Suite};
//!
//! let suite = Suite::Edwards25519Ell2;
//! let secret = SecretKey::from_bytes(suite, &[7; 32])?;
//! let proof = secret.prove(b"epoch 12")?;
//!
//! let public = PublicKey::from_bytes(suite, secret.public_key().as_bytes())?;
//! let output = public.verify(b"epoch 12", &proof)?;
//! assert_eq!(output, proof.to_hash());
//! assert!(public.verify(b"epoch 13", &proof).is_err());
//! # Ok::<(), tetralith_vrf::Error>(())
//! ```
//!
//! Secret: seeds, scalars and nonces, handled in constant time and cleared after use. Public keys,
//! inputs and proofs are public, and verification takes time by them.

mod edwards;
mod error;
mod hash_to_curve;
mod keys;
mod many;
mod nonce;
mod proof;
mod prove;
mod sec1;
mod suite;
mod verify;

pub mod cardano;

pub use error::{Error, Part};
pub use hash_to_curve::encode_to_curve;
pub use keys::{PublicKey, SecretKey, validate_key};
pub use many::{Row, kernel, output_many, prove_kernel, prove_many, verify_many, verify_mixed};
pub use proof::{Output, Proof};
pub use suite::Suite;
pub use verify::{proof_to_hash, verify};

/// The package's own README, whose example is run like the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
