//! Proofs and outputs.

// A new kind of suite must be decided on here, not fall into an arm for the rest.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::edwards;
use crate::error::{Error, Part};
use crate::keys::{expect_len, hex};
use crate::sec1::{self, K256, P256, Sec1};
use crate::suite::{EdwardsRules, Group, Sec1Map, Suite};
use core::fmt;
use subtle::ConstantTimeEq;

/// A decoded proof of a suite; it need not be valid.
#[derive(Clone, Copy)]
pub struct Proof {
    suite: Suite,
    bytes: [u8; 128],
    pub(crate) parsed: Parsed,
}

#[derive(Clone, Copy)]
pub(crate) enum Parsed {
    Edwards(&'static EdwardsRules, edwards::Parsed),
    P256(Sec1Map, sec1::Parsed<<P256 as Sec1>::Public>),
    K256(Sec1Map, sec1::Parsed<<K256 as Sec1>::Public>),
}

impl Proof {
    /// Decodes a proof.
    ///
    /// # Errors
    /// Says which: length, Γ's encoding, Γ not on the curve, or s too large where the suite says so.
    ///
    /// RFC 9381 §5.4.4
    pub fn from_bytes(suite: Suite, bytes: &[u8]) -> Result<Proof, Error> {
        expect_len(Part::Proof, bytes, suite.proof_len())?;
        let parsed = match suite.group() {
            Group::Edwards25519(rules) => {
                Parsed::Edwards(rules, edwards::decode_proof(rules, bytes)?)
            }
            Group::P256(map) => Parsed::P256(map, sec1::decode_proof::<P256>(bytes)?),
            Group::Secp256k1(map) => Parsed::K256(map, sec1::decode_proof::<K256>(bytes)?),
        };
        Ok(Proof::new(suite, bytes, parsed))
    }

    pub(crate) fn new(suite: Suite, bytes: &[u8], parsed: Parsed) -> Proof {
        let padded = core::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0));
        Proof { suite, bytes: padded, parsed }
    }

    /// The suite.
    #[must_use]
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// The encoding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.suite.proof_len()]
    }

    /// The output that the proof is of. It means nothing until the proof has been verified.
    ///
    /// RFC 9381 §5.2
    #[must_use]
    pub fn to_hash(&self) -> Output {
        let gamma = &self.bytes[..33]; // as a suite on P-256 or secp256k1 encodes it
        match &self.parsed {
            Parsed::Edwards(rules, parsed) => {
                Output::new(self.suite, &edwards::proof_to_hash(rules, &parsed.gamma))
            }
            Parsed::P256(map, _) => {
                Output::new(self.suite, &sec1::proof_to_hash::<P256>(*map, gamma))
            }
            Parsed::K256(map, _) => {
                Output::new(self.suite, &sec1::proof_to_hash::<K256>(*map, gamma))
            }
        }
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proof({}, ", self.suite)?;
        hex(self.as_bytes(), f)?;
        f.write_str(")")
    }
}

impl PartialEq for Proof {
    fn eq(&self, other: &Proof) -> bool {
        self.suite == other.suite && self.bytes == other.bytes
    }
}

impl Eq for Proof {}

/// A VRF output, beta in the standards.
#[derive(Clone, Copy)]
pub struct Output {
    suite: Suite,
    bytes: [u8; 64],
}

impl Output {
    pub(crate) fn new(suite: Suite, bytes: &[u8]) -> Output {
        debug_assert_eq!(bytes.len(), suite.output_len());
        let bytes = core::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0));
        Output { suite, bytes }
    }

    /// Takes an output that somebody states, to compare a proof's with.
    ///
    /// # Errors
    /// It is not as long as the suite says.
    pub fn from_bytes(suite: Suite, bytes: &[u8]) -> Result<Output, Error> {
        expect_len(Part::Output, bytes, suite.output_len())?;
        Ok(Output::new(suite, bytes))
    }

    /// The suite.
    #[must_use]
    pub fn suite(&self) -> Suite {
        self.suite
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.suite.output_len()]
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Output({}, ", self.suite)?;
        hex(self.as_bytes(), f)?;
        f.write_str(")")
    }
}

impl PartialEq for Output {
    fn eq(&self, other: &Output) -> bool {
        self.suite == other.suite && bool::from(self.bytes.ct_eq(&other.bytes))
    }
}

impl Eq for Output {}
