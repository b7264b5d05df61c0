//! Proving.

// A new kind of suite must be decided on here, not fall into an arm for the rest.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::edwards;
use crate::error::Error;
use crate::keys::{Secret, SecretKey};
use crate::proof::{Output, Parsed, Proof};
use crate::sec1::{K256, P256};

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
        let proof = match &self.secret {
            Secret::Edwards(rules, secret) => {
                let proven = secret.prove(rules, alpha)?;
                let bytes = proven.to_bytes(rules.format);
                let parsed = edwards::Parsed { gamma: proven.gamma_point, s: proven.s };
                return Ok(Proof::new(self.suite, &bytes, Parsed::Edwards(rules, parsed)));
            }
            Secret::P256(map, secret) => secret.prove::<P256>(*map, alpha)?.proof,
            Secret::K256(map, secret) => secret.prove::<K256>(*map, alpha)?.proof,
        };
        Proof::from_bytes(self.suite, &proof)
    }

    /// Proves, and gives the output with the proof.
    ///
    /// # Errors
    /// As [`SecretKey::prove`].
    pub fn evaluate(&self, alpha: &[u8]) -> Result<(Output, Proof), Error> {
        let proof = self.prove(alpha)?;
        Ok((proof.to_hash(), proof))
    }

    /// Computes the output alone, without a proof.
    ///
    /// # Errors
    /// As [`SecretKey::prove`].
    ///
    /// # Security
    /// As [`SecretKey::prove`].
    pub fn output(&self, alpha: &[u8]) -> Result<Output, Error> {
        match &self.secret {
            Secret::Edwards(rules, secret) => {
                Ok(Output::new(self.suite, &secret.output(rules, alpha)?))
            }
            Secret::P256(..) | Secret::K256(..) => Ok(self.prove(alpha)?.to_hash()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;
    use serde_json::Value;

    /// The intermediate values that RFC 9381's examples print.
    #[test]
    fn rfc9381_examples_step_by_step() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vrf/rfc9381/ecvrf_vectors.json");
        let text = std::fs::read_to_string(path).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        for example in json["vectors"].as_array().unwrap() {
            let name = example["suite"].as_str().unwrap().to_ascii_lowercase();
            let suite: Suite = name.replace("ecvrf-", "rfc9381-").parse().unwrap();
            let field = |name: &str| example[name].as_str().unwrap().to_owned();
            let secret_key = hex::decode(field("SK")).unwrap();
            let key = SecretKey::from_bytes(suite, &secret_key).unwrap();
            let alpha = hex::decode(field("alpha")).unwrap();
            let got = match &key.secret {
                Secret::Edwards(rules, secret) => {
                    let p = secret.prove(rules, &alpha).unwrap();
                    [hex::encode(p.h), hex::encode(*p.k), hex::encode(p.u), hex::encode(p.v)]
                }
                Secret::P256(map, secret) => {
                    let p = secret.prove::<P256>(*map, &alpha).unwrap();
                    let [h, u, v] = p.huv.map(hex::encode);
                    [h, hex::encode(*p.k), u, v]
                }
                Secret::K256(..) => panic!("RFC 9381 has no suite on secp256k1: {suite}"),
            };
            assert_eq!(got, ["H", "k", "U", "V"].map(field), "{suite}");
        }
    }
}
