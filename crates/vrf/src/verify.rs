//! Verifying one proof.

use crate::edwards;
use crate::error::{Error, Part};
use crate::keys::{KeyPoint, PublicKey};
use crate::proof::{Output, Parsed, Proof};
use crate::sec1::{self, K256, P256};
use crate::suite::{Group, Sec1Map, Suite};

impl PublicKey {
    /// Verifies a proof for an input and gives its output.
    ///
    /// # Errors
    /// [`Error::SuiteMismatch`] for another suite's proof; [`Error::Invalid`] for a wrong one.
    ///
    /// # Security
    /// Variable time: keys, inputs and proofs are public.
    ///
    /// RFC 9381 §5.3
    pub fn verify(&self, alpha: &[u8], proof: &Proof) -> Result<Output, Error> {
        if proof.suite() != self.suite() {
            let (expected, got) = (self.suite(), proof.suite());
            return Err(Error::SuiteMismatch { part: Part::Proof, expected, got });
        }
        let (key, bytes) = (self.as_bytes(), proof.as_bytes());
        match (&self.point, &proof.parsed, self.suite().group()) {
            (KeyPoint::Edwards(y), Parsed::Edwards(parsed), Group::Edwards25519(rules)) => {
                let key = edwards::take_32(key, 0);
                let output = edwards::verify(rules, (y, &key), alpha, (parsed, bytes))?;
                return Ok(Output::new(self.suite(), &output));
            }
            (KeyPoint::P256(y), Parsed::P256(parsed), Group::P256(map)) => {
                sec1::verify::<P256>(map, (y, key), alpha, (parsed, bytes))
            }
            (KeyPoint::K256(y), Parsed::K256(parsed), Group::Secp256k1) => {
                sec1::verify::<K256>(Sec1Map::TryAndIncrement, (y, key), alpha, (parsed, bytes))
            }
            _ => Err(Error::Invalid),
        }?;
        Ok(proof.to_hash())
    }
}

/// Decodes, validates and verifies all at once.
///
/// # Errors
/// What is wrong with the key, or else with the proof, or [`Error::Invalid`].
///
/// RFC 9381 §5.3
pub fn verify(
    suite: Suite,
    public_key: &[u8],
    alpha: &[u8],
    proof: &[u8],
) -> Result<Output, Error> {
    if let Group::Edwards25519(rules) = suite.group()
        && public_key.len() == suite.public_key_len()
        && proof.len() == suite.proof_len()
        && let Some(verdict) =
            edwards::verify_encoded(rules, &edwards::take_32(public_key, 0), alpha, proof)
    {
        return verdict.map(|output| Output::new(suite, &output));
    }
    let key = PublicKey::from_bytes(suite, public_key)?;
    let proof = Proof::from_bytes(suite, proof)?;
    key.verify(alpha, &proof)
}

/// Computes the output of an encoded proof without verifying it.
///
/// # Errors
/// As [`Proof::from_bytes`].
///
/// RFC 9381 §5.2
pub fn proof_to_hash(suite: Suite, proof: &[u8]) -> Result<Output, Error> {
    Proof::from_bytes(suite, proof).map(|proof| proof.to_hash())
}
