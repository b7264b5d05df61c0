//! Threshold ECDSA (DKLs23) as state machines without sockets, clocks or global randomness.

pub mod dkls23;
pub mod engine;
pub mod keys;
pub(crate) mod machine;
pub(crate) mod oracle;
pub mod sim;
pub(crate) mod wire;

pub use dkls23::{keygen, sign};
