//! Threshold ECDSA (DKLs23) as state machines without sockets, clocks or global randomness.

pub mod engine;
