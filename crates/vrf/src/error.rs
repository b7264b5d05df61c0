//! What can go wrong.

use crate::Suite;
use core::fmt;
use thiserror::Error;

/// The part of the input that an [`enum@Error`] speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// A secret key.
    SecretKey,
    /// A public key.
    PublicKey,
    /// A whole proof.
    Proof,
    /// The proof's point Γ.
    Gamma,
    /// The proof's scalar s.
    S,
    /// A VRF output.
    Output,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::SecretKey => "secret key",
            Part::PublicKey => "public key",
            Part::Proof => "proof",
            Part::Gamma => "proof's point Gamma",
            Part::S => "proof's scalar s",
            Part::Output => "output",
        })
    }
}

/// An error of this crate.
///
/// Malformed input is described; a well-formed proof that does not verify is [`Error::Invalid`] and
/// nothing more.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is no suite's.
    #[error("no suite is named {0:?}; suites are {names}", names = Suite::names())]
    UnknownSuite(String),
    /// A key or proof of one suite was used with another.
    #[error("{part} of suite {got} where suite {expected} is needed")]
    SuiteMismatch {
        /// What was given.
        part: Part,
        /// The suite it should be of.
        expected: Suite,
        /// The suite it is of.
        got: Suite,
    },
    /// The input is not as long as the suite says.
    #[error("{part} of {got} bytes, expected {expected}")]
    Length {
        /// What was given.
        part: Part,
        /// The suite's length, in bytes.
        expected: usize,
        /// The length given, in bytes.
        got: usize,
    },
    /// A coordinate is not below the field's modulus.
    #[error("{0} is not canonically encoded: its coordinate is not below p")]
    NonCanonicalPoint(Part),
    /// The encoding has x = 0 and the sign bit set.
    #[error("{0} is not canonically encoded: x is zero and its sign bit is set")]
    NegativeZero(Part),
    /// No point of the curve has this coordinate.
    #[error("{0} is not on the curve")]
    NotOnCurve(Part),
    /// The first byte of a compressed point is neither 02 nor 03.
    #[error("{part} starts with byte {tag:02x}, expected 02 or 03")]
    PointTag {
        /// What was given.
        part: Part,
        /// Its first byte.
        tag: u8,
    },
    /// The public key is one of the points of order 1, 2, 4 or 8, for which anybody knows proofs.
    #[error("public key is a point of small order")]
    SmallOrder,
    /// A scalar is not below the group's order.
    #[error("{0} is not below the group's order")]
    NonCanonicalScalar(Part),
    /// The secret scalar is zero.
    #[error("secret key is zero")]
    ZeroSecret,
    /// The secret key carries a public key that is not its own.
    #[error("secret key carries a public key that is not its own")]
    KeyPairMismatch,
    /// Try-and-increment tried 256 times in vain, which no one will ever see.
    #[error("the input has no point on the curve")]
    HashToCurve,
    /// The proof does not verify.
    #[error("the proof is not valid for this public key and input")]
    Invalid,
    /// A Cardano header, key file or parameter is malformed.
    #[error(transparent)]
    Cardano(#[from] crate::cardano::CardanoError),
}

impl Error {
    /// The stable, dotted code of this kind of failure, such as `input.length`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.class().1
    }

    /// The exit code of the command for this kind of failure: 1 where a proof does not verify, 2 for
    /// malformed input.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.class().0
    }

    fn class(&self) -> (u8, &'static str) {
        use crate::cardano::CardanoError::{InvalidProof, OutputMismatch};
        match self {
            Error::Invalid | Error::Cardano(InvalidProof(_) | OutputMismatch(_)) => {
                (1, "verification.failed")
            }
            Error::UnknownSuite(_) | Error::SuiteMismatch { .. } => (2, "input.suite"),
            Error::Length { .. } => (2, "input.length"),
            _ => (2, "input.malformed"),
        }
    }
}
