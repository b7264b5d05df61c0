//! What can go wrong.

use crate::params::Scheme;

/// An error of this crate.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No parameter set has this identifier.
    #[error("no {scheme:?} parameter set has the identifier {oid:#010x}")]
    UnknownOid {
        /// The scheme whose identifiers were searched.
        scheme: Scheme,
        /// What was found.
        oid: u32,
    },
    /// No parameter set has this name.
    #[error("no parameter set is called {0:?}")]
    UnknownParams(String),
    /// An encoding has the wrong length; trailing bytes are never ignored.
    #[error("a {what} has {expected} bytes, not {actual}")]
    Length {
        /// What was being decoded.
        what: &'static str,
        /// The length that the parameter set asks for.
        expected: usize,
        /// The length of the input.
        actual: usize,
    },
    /// A signature's index lies past the last leaf.
    #[error("index {index} is not below {limit}")]
    IndexOutOfRange {
        /// The index found.
        index: u64,
        /// How many leaves there are.
        limit: u64,
    },
    /// An encoding breaks a rule of its format.
    #[error("malformed {what}: {why}")]
    Malformed {
        /// What was being decoded.
        what: &'static str,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// The signature is not valid for this message and key.
    #[error("the signature does not verify")]
    Verification,
    /// A signature that was made does not verify: memory or a processor failed, or was attacked. It was
    /// not released, and its index is spent.
    #[error("the signature that was made does not verify; it is withheld, and its index is spent")]
    Fault,
    /// The work was cancelled by its caller.
    #[error("cancelled")]
    Cancelled,
    /// The node cache cannot be read or written; it can be made again.
    #[error("node cache: {0}")]
    Cache(String),
    /// The file of an interrupted computation cannot be used.
    #[error("partial key: {0}")]
    Partial(String),
    /// The state store refused.
    #[error(transparent)]
    State(#[from] crate::state::StateError),
}
