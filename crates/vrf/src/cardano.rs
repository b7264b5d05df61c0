//! Cardano's use of the VRF: what is proved for a slot, block headers, and who leads a slot.
//!
//! From Babbage on (Praos), one proof a block with the input blake2b-256(slot ‖ epoch nonce); the
//! leader value and the block's share of the next nonce are hashes of its output with `L` and `N`
//! put before it.
//!
//! Ouroboros.Consensus.Protocol.Praos.VRF; cardano-ledger, `eras/babbage/impl/cddl-files`

mod fixed;
mod header;
mod leader;

pub use header::Header;
pub use leader::{LeaderCheck, Ratio, leader_slots};

use crate::{Error, Output, SecretKey, Suite};
use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};
use thiserror::Error as ThisError;

/// What is wrong with a Cardano header, key or parameter.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum CardanoError {
    /// The bytes are not the CBOR that is expected there.
    #[error("header's field {field}: {reason}")]
    Cbor {
        /// The field being read.
        field: &'static str,
        /// What the decoder says.
        reason: String,
    },
    /// An array has another number of elements.
    #[error("header's {field} has {got} elements, expected {expected}")]
    Elements {
        /// The array.
        field: &'static str,
        /// How many it should have.
        expected: u64,
        /// How many it has.
        got: u64,
    },
    /// A byte string has another length.
    #[error("header's {field} is {got} bytes long, expected {expected}")]
    Length {
        /// The byte string.
        field: &'static str,
        /// How long it should be.
        expected: usize,
        /// How long it is.
        got: usize,
    },
    /// The header has two VRF proofs and flat fields, as from Shelley to Alonzo.
    #[error(
        "header is of an era before Babbage (15 fields, two VRF proofs), which is not supported"
    )]
    OlderEra,
    /// Bytes follow the header.
    #[error("{0} bytes follow the header")]
    TrailingBytes(usize),
    /// The proof is valid and the header states another output.
    #[error("header states a VRF output that is not its proof's")]
    OutputMismatch,
    /// A ratio is not between 0 and 1, or not a number.
    #[error("{0:?} is not a ratio between 0 and 1, such as 0.05 or 1/20")]
    Ratio(String),
    /// The active slot coefficient is zero.
    #[error("the active slot coefficient is zero")]
    ZeroCoefficient,
    /// The bytes are not the CBOR of a VRF signing key: 5840, a seed, its public key.
    #[error("not a VRF signing key: {0}")]
    SigningKey(&'static str),
}

/// What is proved for a slot: blake2b-256 of the slot, big-endian, and the epoch nonce.
///
/// Praos.VRF, `mkInputVRF`
#[must_use]
pub fn slot_input(slot: u64, nonce: &[u8; 32]) -> [u8; 32] {
    blake2b_256(&[&slot.to_be_bytes(), nonce])
}

/// The number below 2^256, big-endian, that decides whether the prover leads the slot.
///
/// Praos.VRF, `vrfLeaderValue`
#[must_use]
pub fn leader_value(output: &Output) -> [u8; 32] {
    blake2b_256(&[b"L", output.as_bytes()])
}

/// What the block gives to the next epoch's nonce.
///
/// Praos.VRF, `vrfNonceValue`
#[must_use]
pub fn nonce_value(output: &Output) -> [u8; 32] {
    blake2b_256(&[&blake2b_256(&[b"N", output.as_bytes()])])
}

/// Reads the CBOR of a cardano-cli VRF signing key (`VrfSigningKey_PraosVRF`): a byte string of a
/// seed and its public key.
///
/// # Errors
/// Says what is wrong; a public key that is not the seed's is [`Error::KeyPairMismatch`].
///
/// # Security
/// The bytes are secret; the caller clears them.
pub fn signing_key_from_cbor(suite: Suite, cbor: &[u8]) -> Result<SecretKey, Error> {
    let bad = |reason| Error::Cardano(CardanoError::SigningKey(reason));
    let Some(pair) = cbor.strip_prefix(&[0x58, 0x40]) else {
        return Err(bad("its CBOR is not a byte string of 64 bytes"));
    };
    if pair.len() != 64 {
        return Err(bad("its CBOR is not a byte string of 64 bytes"));
    }
    if !matches!(suite, Suite::Draft03Cardano | Suite::Draft13BatchCompat) {
        return Err(bad("its suite is not one of Cardano's"));
    }
    let (seed, public_key) = pair.split_at(32);
    let key = SecretKey::from_bytes(suite, seed)?;
    if key.public_key_bytes() != public_key {
        return Err(Error::KeyPairMismatch);
    }
    Ok(key)
}

fn blake2b_256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Blake2b::<U32>::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}
