//! Threshold ECDSA (DKLs23) as state machines without sockets, clocks or global randomness.
//!
//! n parties make a secp256k1 key that none of them holds, and any t of them sign with it; fewer
//! learn nothing, and whoever cheats is found out. [`keygen::Keygen`] and [`sign::Sign`] are one
//! party's side of a run, a [`engine::Session`]; the owner carries their messages.
//!
//! ```
//! use tetralith_tss::engine::{PartyId, SessionId, Threshold};
//! use tetralith_tss::sim::{Network, rng};
//! use tetralith_tss::{keygen::Keygen, sign::Sign};
//!
//! // Three parties in one process, joined by the simulated network of the tests.
//! let threshold = Threshold::new(2, 3)?;
//! let mut rng = rng(1);
//! let mut parties = Vec::new();
//! for me in threshold.parties() {
//!     parties.push((me, Keygen::new(SessionId([1; 32]), me, threshold, &mut rng)?));
//! }
//! let shares = Network::new(1).run(parties).outputs();
//!
//! let digest = [7; 32];
//! let signers = [PartyId::new(1)?, PartyId::new(3)?];
//! let mut parties = Vec::new();
//! for share in [&shares[0], &shares[2]] {
//!     let sign = Sign::new(SessionId([2; 32]), share, &signers, digest, &mut rng)?;
//!     parties.push((share.me(), sign));
//! }
//! let signature = Network::new(2).run(parties).outputs()[0];
//! assert!(signature.verify(&shares[0].public().group_key(), &digest));
//! # Ok::<(), tetralith_tss::engine::Error>(())
//! ```
//!
//! # Security
//! Secrets are handled in constant time and wiped when dropped: a test searches the freed memory of
//! every protocol for them. What the compiler leaves on the stack is not wiped, and an owner wipes its
//! own copies of [`engine::Outgoing`] messages. Encrypted and authenticated channels are the owner's
//! duty as well. Protocol and formats: `docs/tss-protocol.md`.

pub mod dkls23;
pub mod engine;
pub mod frost;
pub mod keys;
pub(crate) mod machine;
pub(crate) mod oracle;
pub(crate) mod signature;
pub mod sim;
#[cfg(test)]
mod wiped;
pub(crate) mod wire;

pub use dkls23::{keygen, refresh, reshare, sign};
