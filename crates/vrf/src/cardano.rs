//! Cardano's use of the VRF: what is proved for a slot, block headers, and who leads a slot.
//!
//! From Babbage on (Praos), one proof a block with the input blake2b-256(slot ‖ epoch nonce); the
//! leader value and the block's share of the next nonce are hashes of its output with `L` and `N`
//! put before it. From Shelley to Alonzo (TPraos), two proofs a block: the same hash combined by
//! exclusive or with a constant for each, and the outputs as they are.
//!
//! cardano-ledger, `Cardano.Protocol.Praos.VRF` and `Cardano.Protocol.TPraos.BlockHeader`

mod cbor;
mod era;
mod error;
mod fixed;
mod header;
mod leader;
mod network;
mod wrapper;

pub use era::Era;
pub use error::CardanoError;
pub use header::{CertifiedVrf, Header, HeaderVrf, OperationalCertificate, VrfUse, verify_headers};
pub use leader::{LeaderCheck, Ratio, leader_slots};
pub use network::Network;
pub use wrapper::{Chunk, ChunkBlock, Form};

use crate::{Error, Output, SecretKey, Suite};
use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};

/// What is proved for a slot: blake2b-256 of the slot, big-endian, and the epoch nonce.
///
/// Praos.VRF, `mkInputVRF`
#[must_use]
pub fn slot_input(slot: u64, nonce: &[u8; 32]) -> [u8; 32] {
    blake2b_256(&[&slot.to_be_bytes(), nonce])
}

/// What is proved for a slot before Babbage, for the next nonce or for leadership: the hash of
/// [`slot_input`] xor blake2b-256 of 0, or of 1, as eight bytes.
///
/// TPraos.BlockHeader, `mkSeed` with `seedEta` or `seedL`
#[must_use]
pub fn tpraos_input(leader: bool, slot: u64, nonce: &[u8; 32]) -> [u8; 32] {
    let constant = blake2b_256(&[&u64::from(leader).to_be_bytes()]);
    let input = slot_input(slot, nonce);
    core::array::from_fn(|i| input[i] ^ constant[i])
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

/// The hash of a VRF key, which a pool's registration has.
#[must_use]
pub fn vrf_key_hash(public_key: &[u8]) -> [u8; 32] {
    blake2b_256(&[public_key])
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
