//! Verifying one proof.

// A new kind of suite must be decided on here, not fall into an arm for the rest.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::edwards;
use crate::error::{Error, Part};
use crate::keys::{KeyPoint, PublicKey};
use crate::proof::{Output, Parsed, Proof};
use crate::sec1::{self, K256, P256};
use crate::suite::{Group, Suite};

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
        let (expected, got) = (self.suite(), proof.suite());
        let mismatch = Err(Error::SuiteMismatch { part: Part::Proof, expected, got });
        if expected != got {
            return mismatch;
        }
        let (key, bytes) = (self.as_bytes(), proof.as_bytes());
        // Equal suites have equal kinds of points, so no `else` below is ever taken.
        match &self.point {
            KeyPoint::Edwards(rules, y) => {
                let Parsed::Edwards(_, parsed) = &proof.parsed else { return mismatch };
                let key = edwards::take_32(key, 0);
                let output = edwards::verify(rules, (y, &key), alpha, (parsed, bytes))?;
                return Ok(Output::new(self.suite(), &output));
            }
            KeyPoint::P256(map, y) => {
                let Parsed::P256(_, parsed) = &proof.parsed else { return mismatch };
                sec1::verify::<P256>(*map, (y, key), alpha, (parsed, bytes))?;
            }
            KeyPoint::K256(map, y) => {
                let Parsed::K256(_, parsed) = &proof.parsed else { return mismatch };
                sec1::verify::<K256>(*map, (y, key), alpha, (parsed, bytes))?;
            }
        }
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
