//! What can be wrong with Cardano's headers, blocks, keys and parameters.

use super::era::Era;
use super::header::VrfUse;
use thiserror::Error;

/// What is wrong with a Cardano header, block, key or parameter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CardanoError {
    /// The bytes are not the CBOR that is expected there.
    #[error("header field {field}: {reason}")]
    Cbor {
        /// The field being read.
        field: &'static str,
        /// What the decoder says.
        reason: String,
    },
    /// An array has another number of elements.
    #[error("header field {field} has {got} elements, expected {expected}")]
    Elements {
        /// The array.
        field: &'static str,
        /// How many it should have.
        expected: u64,
        /// How many it has.
        got: u64,
    },
    /// An array of indefinite length goes on after its last element.
    #[error("header field {field} has more than {expected} elements")]
    MoreElements {
        /// The array.
        field: &'static str,
        /// How many it should have.
        expected: u64,
    },
    /// The array has an indefinite length where the ledger wants a definite one.
    #[error("header field {0} is an array of indefinite length, which the ledger refuses here")]
    IndefiniteLength(&'static str),
    /// A byte string has another length.
    #[error("header field {field} is {got} bytes long, expected {expected}")]
    Length {
        /// The byte string.
        field: &'static str,
        /// How long it should be.
        expected: usize,
        /// How long it is.
        got: usize,
    },
    /// Bytes follow the header or block.
    #[error("{0} bytes follow the header or block")]
    TrailingBytes(usize),
    /// The bytes are neither a header nor a block.
    #[error("neither a block header nor a block: {0}")]
    Form(&'static str),
    /// The bytes are not one whole CBOR item.
    #[error("malformed CBOR at byte {at}: {reason}")]
    Item {
        /// Where, from the first byte on.
        at: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// The number of an era that is not known.
    #[error("unknown era number {0}")]
    UnknownEra(u64),
    /// Byron has no VRF.
    #[error("a Byron header has no VRF proof")]
    Byron,
    /// The header is of another family of eras than its wrapper says.
    #[error("the wrapper says {era}, the header has {proofs} VRF proofs")]
    EraMismatch {
        /// The era of the wrapper.
        era: Era,
        /// How many VRF proofs the header has.
        proofs: u8,
    },
    /// The header has the fields of Leios.
    #[error("header of the Leios protocol (12 fields), which is not supported")]
    Leios,
    /// A proof does not verify.
    #[error("the header's {0} is not valid for its VRF key, its slot and this nonce")]
    InvalidProof(VrfUse),
    /// The proof is valid and the header states another output.
    #[error("the header states a VRF output that is not its {0}'s")]
    OutputMismatch(VrfUse),
    /// A ratio is not between 0 and 1, or not a number.
    #[error("{0:?} is not a ratio between 0 and 1, such as 0.05 or 1/20")]
    Ratio(String),
    /// A genesis file's numbers are zero or too large.
    #[error("start, epoch length and slot length of the network are zero or too large")]
    Network,
    /// The active slot coefficient is zero.
    #[error("the active slot coefficient is zero")]
    ZeroCoefficient,
    /// The bytes are not the CBOR of a VRF signing key: 5840, a seed, its public key.
    #[error("not a VRF signing key: {0}")]
    SigningKey(&'static str),
}
