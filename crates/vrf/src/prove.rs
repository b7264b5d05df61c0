//! Proving.

use crate::error::Error;
use crate::keys::{Secret, SecretKey};
use crate::proof::{Output, Proof};
use crate::sec1::{K256, P256};
use crate::suite::{Group, Sec1Map};

impl SecretKey {
    /// Proves the output of an input; the proof is deterministic.
    ///
    /// # Errors
    /// [`Error::HashToCurve`], which no one will ever see.
    ///
    /// # Security
    /// Constant time in the secret; try-and-increment suites take time by the input.
    ///
    /// RFC 9381 §5.1
    pub fn prove(&self, alpha: &[u8]) -> Result<Proof, Error> {
        let bytes = match (&self.secret, self.suite.group()) {
            (Secret::Edwards(secret), Group::Edwards25519(rules)) => {
                secret.prove(rules, alpha)?.to_bytes(rules.format)
            }
            (Secret::Sec1(secret), Group::P256(map)) => {
                secret.prove::<P256>(map, alpha)?.proof.to_vec()
            }
            (Secret::Sec1(secret), _) => {
                secret.prove::<K256>(Sec1Map::TryAndIncrement, alpha)?.proof.to_vec()
            }
            (Secret::Edwards(_), _) => return Err(Error::Invalid),
        };
        Proof::from_bytes(self.suite, &bytes)
    }

    /// Proves, and gives the output with the proof.
    ///
    /// # Errors
    /// As [`SecretKey::prove`].
    pub fn evaluate(&self, alpha: &[u8]) -> Result<(Output, Proof), Error> {
        let proof = self.prove(alpha)?;
        Ok((proof.to_hash(), proof))
    }
}
