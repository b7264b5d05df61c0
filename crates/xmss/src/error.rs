//! What can go wrong.

use crate::params::{Params, Scheme};

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
    /// The set has no identifier, and so no standard encoding of its keys: one of QRL's.
    #[error("{0} is QRL's own and has no identifier, so that its keys are no SubjectPublicKeyInfo")]
    NoIdentifier(Params),
    /// The key is not one of QRL's.
    #[error("a key of {0} is not one of QRL's")]
    NotQrl(Params),
    /// The key is not one that AidosKuneen/xmss knows.
    #[error("AidosKuneen/xmss has no keys {why}")]
    NotAidos {
        /// What it does not have.
        why: String,
    },
    /// The key's chains are derived in a way that its PKCS#8 form cannot say.
    #[error("only keys of SP 800-208's derivation (prf-keygen) have a PKCS#8 form")]
    NotPkcs8,
    /// Trees of this height are too tall to be computed here.
    #[error("keys of {0} are only verified here: a tree of height {height} is not computed", height = .0.tree_height())]
    TooTall(Params),
    /// A word of a mnemonic is not in the list. Which it is stays untold: it is nearly a secret one.
    #[error("word {position} of the QRL mnemonic is not in the list")]
    Word {
        /// Its place, from 1.
        position: usize,
    },
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

impl Error {
    /// The stable, dotted code of this kind of failure, such as `input.length`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.class().1
    }

    /// The exit code of the command for this kind of failure: 1 where something does not verify, 2 for
    /// malformed input, 3 where the machine or the system failed, 4 where the state refuses.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.class().0
    }

    fn class(&self) -> (u8, &'static str) {
        match self {
            Error::State(state) => (state.exit_code(), state.code()),
            Error::Verification => (1, "verification.failed"),
            Error::UnknownOid { .. } | Error::UnknownParams(_) => (2, "xmss.params"),
            Error::NoIdentifier(_) => (2, "key.no_identifier"),
            Error::NotQrl(_) => (2, "key.not_qrl"),
            Error::NotAidos { .. } => (2, "key.not_aidos"),
            Error::NotPkcs8 => (2, "key.not_pkcs8"),
            Error::TooTall(_) => (2, "xmss.too_tall"),
            Error::Word { .. } => (2, "input.word"),
            Error::Length { .. } => (2, "input.length"),
            Error::IndexOutOfRange { .. } => (2, "input.index"),
            Error::Malformed { .. } => (2, "input.malformed"),
            Error::Fault => (3, "xmss.fault"),
            Error::Cancelled => (3, "interrupted"),
            Error::Cache(_) => (3, "io.cache"),
            Error::Partial(_) => (3, "key.partial"),
        }
    }
}
