//! What nodes tell each other of a request that each of their clients posts to its own node.
//!
//! The envelope's ceremony is the request's name: a hash of all that its nodes must agree on.

use minicbor::bytes::{ByteArray, ByteVec};
use minicbor::{Decode, Encode};

/// Where the sender stands with a request.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum Said {
    /// Its client asks for it, and the sender takes part.
    #[n(1)]
    Here,
    /// It holds the ceremonies.
    #[n(2)]
    Began,
    /// What became of them.
    #[n(3)]
    Ended(#[n(0)] Outcome),
    /// Its client waits no more.
    #[n(4)]
    Left,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum Outcome {
    /// The signatures, in the order of the request's digests.
    #[n(1)]
    Signed(
        #[n(0)]
        #[cbor(decode_with = "super::list")]
        Vec<ByteVec>,
    ),
    /// The identity of the new key.
    #[n(2)]
    Made(#[n(0)] ByteArray<16>),
    /// No result.
    #[n(3)]
    Failed(#[n(0)] Failed),
}

/// Why a request has no result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub(crate) struct Failed {
    /// One sentence.
    #[n(0)]
    pub(crate) reason: String,
    /// Whom the sender blames.
    #[n(1)]
    #[cbor(decode_with = "super::list")]
    pub(crate) blamed: Vec<Blamed>,
}

/// One blamed node.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub(crate) struct Blamed {
    #[n(0)]
    pub(crate) peer: ByteVec,
    #[n(1)]
    pub(crate) round: u8,
    #[n(2)]
    pub(crate) fault: String,
    /// It sent nothing in time.
    #[n(3)]
    pub(crate) absent: bool,
}
