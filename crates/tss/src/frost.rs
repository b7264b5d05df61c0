//! FROST: threshold Ed25519 in two rounds (RFC 9591, ciphersuite FROST(Ed25519, SHA-512)).
//!
//! [`sign`] is RFC 9591 §5, in which every signer is a coordinator too: all broadcast, and all get the
//! signature, which any verifier of RFC 8032 accepts. [`keygen`] makes the key without a dealer, as
//! RFC 9591 leaves it open: Feldman's sharing with committed broadcast and proofs of knowledge, as in
//! the ECDSA of this crate. Whoever sends a wrong signature share is named with proof.

pub(crate) mod ciphersuite;
pub mod keygen;
pub mod keys;
pub mod sign;
