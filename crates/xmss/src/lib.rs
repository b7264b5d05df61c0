//! XMSS and XMSS^MT hash-based signatures with a state that cannot be reused.
//!
//! A key signs a fixed number of messages, and must never use one of its indices twice: two
//! signatures of one index allow forgeries. So there is no way to sign but through a [`Signer`], which
//! commits the use of an index to a [`StateStore`](state::StateStore) before a signature exists.
//!
//! Every parameter set of RFC 8391 and SP 800-208 is here ([`Params`]), and the sets and older key
//! derivation of QRL ([`Derivation`], [`qrl`]). Hashes are computed many at a time, by the fastest
//! kernel that the CPU has; RFC 8391's algorithms, one hash at a time, are the oracle of the tests.
//!
//! ```
//! use tetralith_xmss::state::{Holder, Volatile};
//! use tetralith_xmss::{Params, Progress, SecretKey, Signer};
//! # use rand_core::SeedableRng;
//! # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
//! let params = Params::from_name("XMSS-SHA2_10_256")?;
//! let key = SecretKey::generate(params, &mut rng, &Progress::silent())?;
//! let public = key.public_key();
//! // A real signer keeps its state in a file or a database: state::FileStore, state::SqliteStore.
//! let mut store = Volatile::new();
//! let now = 1_700_000_000;
//! tetralith_xmss::state::create(&mut store, &public, 0, [1; 16], now)?;
//! let mut signer = Signer::open(key, store, Holder::new("example"))?;
//! let signature = signer.sign(b"message", now)?;
//! public.verify(b"message", &signature)?;
//! # Ok::<(), tetralith_xmss::Error>(())
//! ```
//!
//! # Security
//! Seeds and chain starts are secret and wiped; work on them is constant time. What a lost or
//! restored state can do is in `docs/xmss-state.md`.

mod address;
#[cfg(feature = "json")]
pub mod aidos;
mod base64;
#[cfg(feature = "file")]
mod cache;
mod error;
mod hash;
mod keys;
mod lanes;
mod params;
#[cfg(feature = "file")]
mod partial;
pub mod pkcs8;
pub mod pkix;
pub mod qrl;
mod seeds;
mod sign;
#[cfg(test)]
mod spec;
pub mod state;
mod tree;
mod verify;
mod wots;

pub use error::Error;
pub use keys::{Derivation, PublicKey, SecretKey};
pub use lanes::kernel_name;
pub use params::{HashFunction, Params, Scheme};
#[cfg(feature = "file")]
pub use partial::{MAX_NOTE, Partial};
pub use seeds::Seeds;
pub use sign::{Signer, StreamSigner};
pub use tree::Progress;
pub use verify::{Item, Signature, StreamVerifier, verify_many};

/// The package's own README, whose example is run like the others.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
