//! What nodes say to each other: signed envelopes in canonical CBOR.
//!
//! The sender signs a statement of fixed shape: the ceremony, sender, recipient, kind, round and the
//! SHA-256 of the payload. Whoever keeps a [`Receipt`] can later show that this sender said this,
//! here, without keeping every payload. Nothing in an envelope is secret from its recipient; the
//! connection encrypts it against everyone else.
//!
//! Decoding is strict: an envelope is accepted only if encoding it again gives the same bytes.
//! Formats: `docs/node.md`.

mod request;

use crate::identity::{Identity, domain_hash, verifying_key};
use libp2p::PeerId;
use minicbor::bytes::{ByteArray, ByteVec};
use minicbor::{Decode, Decoder, Encode};
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

pub(crate) use request::{Blamed, Failed, Outcome, Said};

/// The version of the envelope and of everything in it.
pub(crate) const VERSION: u8 = 4;
/// The version before, which is understood and in which its nodes are answered: refusals have no code.
/// What it can say is said in it.
const BEFORE: u8 = 3;
/// The most parties, joins or accused that a message names: as many as a ceremony can have.
const MOST_LISTED: u64 = 255;
const STATEMENT: &str = "tetralith/node/envelope/1";
const CEREMONY: &str = "tetralith/node/ceremony/1";

/// The name of a ceremony: a hash of the node that proposes it and what that node drew for it, so that
/// nobody can give a ceremony the name of another's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CeremonyId(pub(crate) [u8; 32]);

impl CeremonyId {
    /// The name of the ceremony for which `proposer` drew `nonce`.
    pub(crate) fn new(proposer: &PeerId, nonce: &[u8; 32]) -> Self {
        CeremonyId(domain_hash(CEREMONY, &[&proposer.to_bytes(), nonce]))
    }
}

impl core::fmt::Display for CeremonyId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl core::fmt::Debug for CeremonyId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "CeremonyId({self})")
    }
}

/// Why bytes from a peer are not an envelope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WireError {
    #[error("not an envelope: {0}")]
    Malformed(String),
    #[error("not in canonical form")]
    NotCanonical,
    #[error("version {0}, this node speaks versions {BEFORE} and {VERSION}")]
    Version(u8),
    #[error("signed by another node than its sender")]
    Sender,
    #[error("meant for another node")]
    Recipient,
    #[error("the sender is not an Ed25519 identity")]
    Identity,
    #[error("the signature does not verify")]
    Signature,
}

/// What an envelope carries.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum Body {
    /// Asks nodes to take part.
    #[n(1)]
    Propose(#[n(0)] Proposal),
    /// Answers a proposal.
    #[n(2)]
    Join(#[n(0)] Join),
    /// Names the participants, by their own signed joins.
    #[n(3)]
    Start(#[n(0)] Start),
    /// A protocol message of the engine.
    #[n(4)]
    Protocol(#[n(0)] Message),
    /// Tells that the sender has the result and has stored what it must keep.
    #[n(5)]
    Done(#[n(0)] ByteArray<32>),
    /// Tells that the sender gave up, and whom it blames.
    #[n(6)]
    Fail(#[n(0)] Fail),
    /// Passes on the proposer's signed envelope with its [`Start`].
    #[n(7)]
    Started(#[n(0)] ByteVec),
    /// Asks the recipient for the start that it follows.
    #[n(8)]
    WhichStart,
    /// Asks whether the recipient has stored its share of the sharing that this ceremony made.
    #[n(9)]
    WhoStored,
    /// Answers that: the signed envelopes with [`Body::Done`] that the sender has.
    #[n(10)]
    Stored(
        #[n(0)]
        #[cbor(decode_with = "list")]
        Vec<ByteVec>,
    ),
    /// Tells where the sender stands with a request that several nodes are asked for.
    #[n(11)]
    Request(#[n(0)] Said),
}

/// What a ceremony makes.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum Job {
    /// A new key that any `threshold` of the parties sign with.
    #[n(1)]
    Keygen {
        /// How many sign.
        #[n(0)]
        threshold: u8,
    },
    /// A signature of `digest` under a key.
    #[n(2)]
    Sign {
        /// The key's identity.
        #[n(0)]
        key: ByteArray<16>,
        /// What is signed.
        #[n(1)]
        digest: ByteArray<32>,
        /// The number of the sharing whose shares sign; none for the first one, 0.
        #[n(2)]
        sharing: Option<u64>,
    },
    /// A new sharing of a key.
    #[n(3)]
    Reshare(#[n(0)] Resharing),
}

/// What a resharing is to make, and from what.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub(crate) struct Resharing {
    /// The key's identity.
    #[n(0)]
    pub(crate) key: ByteArray<16>,
    /// The number of the sharing of which the dealers have shares.
    #[n(1)]
    pub(crate) from: u64,
    /// The parties of that sharing, sorted by identity.
    #[n(2)]
    #[cbor(decode_with = "list")]
    pub(crate) old: Vec<ByteVec>,
    /// What is public of it, in the engine's encoding.
    #[n(3)]
    pub(crate) public: ByteVec,
    /// Those of its parties that deal, sorted by identity.
    #[n(4)]
    #[cbor(decode_with = "list")]
    pub(crate) dealers: Vec<ByteVec>,
    /// The number of the new sharing.
    #[n(5)]
    pub(crate) number: u64,
    /// How many of its parties sign.
    #[n(6)]
    pub(crate) threshold: u8,
    /// Its parties, sorted by identity.
    #[n(7)]
    #[cbor(decode_with = "list")]
    pub(crate) parties: Vec<ByteVec>,
}

/// A proposal to its candidates.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub(crate) struct Proposal {
    #[n(0)]
    pub(crate) job: Job,
    /// All that are asked, the proposer among them, sorted by identity.
    #[n(1)]
    #[cbor(decode_with = "list")]
    pub(crate) candidates: Vec<ByteVec>,
    /// What the proposer drew for the ceremony's name.
    #[n(2)]
    pub(crate) nonce: ByteArray<32>,
    /// The latest version that the proposer understands; none before version 4.
    #[n(3)]
    pub(crate) speaks: Option<u8>,
}

/// The answer to a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum Join {
    /// Takes part.
    #[n(1)]
    Accept {
        /// Makes the session's name new for this node.
        #[n(0)]
        nonce: ByteArray<32>,
        /// SHA-256 of the proposal's payload that was answered.
        #[n(1)]
        proposal: ByteArray<32>,
        /// The candidates with which the sender does not sign, because their pairwise setup is
        /// retired.
        #[n(2)]
        #[cbor(decode_with = "list")]
        without: Vec<ByteVec>,
    },
    /// Does not take part, and why.
    #[n(2)]
    Refuse(
        #[n(0)] String,
        /// One of [`refusal`]'s, where the proposer can do something about it.
        #[n(1)]
        Option<u8>,
    ),
}

/// What a proposer can do about a refusal. An unknown code means no more than its text.
pub(crate) mod refusal {
    /// No place for another ceremony is free: the same proposal may be accepted a moment later.
    pub(crate) const BUSY: u8 = 1;
    /// The node has no share of the sharing that is named, but of another one of the key.
    pub(crate) const SHARING: u8 = 2;
    /// The node has shares of a sharing with this number or a later one: a resharing needs another.
    pub(crate) const NUMBER: u8 = 3;
}

impl Body {
    /// The oldest version that can say this.
    fn version(&self) -> u8 {
        match self {
            Body::Propose(Proposal { speaks: Some(_), .. })
            | Body::Join(Join::Refuse(_, Some(_)))
            | Body::WhoStored
            | Body::Stored(_)
            | Body::Request(_) => VERSION,
            _ => BEFORE,
        }
    }
}

/// The start of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub(crate) struct Start {
    /// The participants' own envelopes with their accepting [`Join`], sorted by identity.
    #[n(0)]
    #[cbor(decode_with = "list")]
    pub(crate) joins: Vec<ByteVec>,
}

/// A message of the engine, with the start that its sender follows.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub(crate) struct Message {
    /// SHA-256 of the start's payload.
    #[n(0)]
    pub(crate) start: ByteArray<32>,
    #[n(1)]
    pub(crate) bytes: ByteVec,
}

/// A direct message of a key generation holds a share.
impl Drop for Message {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// Why the sender gave up.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub(crate) struct Fail {
    /// One sentence.
    #[n(0)]
    pub(crate) reason: String,
    /// What it rests on.
    #[n(1)]
    pub(crate) cause: Cause,
}

/// What made a node give up.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(crate) enum Cause {
    /// Its own trouble: it cannot go on, and nobody else is at fault.
    #[n(1)]
    Own,
    /// It blames others.
    #[n(2)]
    Accusation(
        #[n(0)]
        #[cbor(decode_with = "list")]
        Vec<Accused>,
    ),
    /// A check failed that names nobody.
    #[n(3)]
    Unattributed(
        /// The signed broadcasts that the check compared, for whoever was sent others.
        #[n(0)]
        #[cbor(decode_with = "list")]
        Vec<ByteVec>,
    ),
    /// Another node gave up, whose signed [`Fail`] this is.
    #[n(4)]
    Heard(#[n(0)] ByteVec),
}

/// One blamed party, as told to the others.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(array)]
pub(crate) struct Accused {
    #[n(0)]
    pub(crate) peer: ByteVec,
    #[n(1)]
    pub(crate) round: u8,
    #[n(2)]
    pub(crate) check: String,
    /// The accused sent nothing in time, as far as the sender knows.
    #[n(3)]
    pub(crate) absent: bool,
    /// The accused's own signed envelopes, if they prove the fault to anybody.
    #[n(4)]
    #[cbor(decode_with = "list")]
    pub(crate) proof: Vec<ByteVec>,
}

/// A message between two nodes, signed by its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) ceremony: CeremonyId,
    pub(crate) from: PeerId,
    /// `None`: to all participants, the same bytes for each.
    pub(crate) to: Option<PeerId>,
    /// The engine's round for protocol messages, 0 for the others.
    pub(crate) round: u8,
    pub(crate) body: Body,
    pub(crate) receipt: Receipt,
}

/// The signed statement that an envelope was sent: all of it but the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) payload_hash: [u8; 32],
    pub(crate) signature: [u8; 64],
}

#[derive(Encode, Decode)]
#[cbor(array)]
struct Outer {
    #[n(0)]
    version: u8,
    #[n(1)]
    ceremony: ByteArray<32>,
    #[n(2)]
    from: ByteVec,
    #[n(3)]
    to: Option<ByteVec>,
    #[n(4)]
    round: u8,
    #[n(5)]
    payload: ByteVec,
    #[n(6)]
    signature: ByteArray<64>,
}

impl Drop for Outer {
    fn drop(&mut self) {
        self.payload.zeroize();
    }
}

impl Envelope {
    /// Signs a message and returns its wire bytes.
    pub(crate) fn seal(
        identity: &Identity,
        ceremony: CeremonyId,
        to: Option<PeerId>,
        round: u8,
        body: &Body,
    ) -> Vec<u8> {
        let payload = to_bytes(body);
        let hash: [u8; 32] = Sha256::digest(&payload).into();
        let from = identity.id();
        let signature = identity.sign(&statement(ceremony, &from, to.as_ref(), round, &hash));
        to_bytes(&Outer {
            version: body.version(),
            ceremony: ceremony.0.into(),
            from: from.to_bytes().into(),
            to: to.map(|id| id.to_bytes().into()),
            round,
            payload: payload.into(),
            signature: signature.into(),
        })
    }

    /// The bytes that [`Self::seal`] returned to its sender.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        to_bytes(&Outer {
            version: self.body.version(),
            ceremony: self.ceremony.0.into(),
            from: self.from.to_bytes().into(),
            to: self.to.map(|id| id.to_bytes().into()),
            round: self.round,
            payload: self.payload().into(),
            signature: self.receipt.signature.into(),
        })
    }

    /// The encoded body, whose hash is in the signed statement.
    pub(crate) fn payload(&self) -> Vec<u8> {
        to_bytes(&self.body)
    }

    /// Reads an envelope and checks its form and its signature, whoever delivered it.
    pub(crate) fn open(bytes: &[u8]) -> Result<Self, WireError> {
        let outer: Outer = from_bytes(bytes)?;
        if !(BEFORE..=VERSION).contains(&outer.version) {
            return Err(WireError::Version(outer.version));
        }
        let from = peer(&outer.from)?;
        let to = outer.to.as_ref().map(peer).transpose()?;
        let ceremony = CeremonyId(outer.ceremony.into());
        let payload_hash: [u8; 32] = Sha256::digest(outer.payload.as_slice()).into();
        let signature: [u8; 64] = outer.signature.into();
        let statement = statement(ceremony, &from, to.as_ref(), outer.round, &payload_hash);
        let key = verifying_key(&from).ok_or(WireError::Identity)?;
        if !key.verify(&statement, &signature) {
            return Err(WireError::Signature);
        }
        let body: Body = from_bytes(&outer.payload)?;
        if outer.version != body.version() {
            return Err(WireError::NotCanonical);
        }
        let receipt = Receipt { payload_hash, signature };
        Ok(Envelope { ceremony, from, to, round: outer.round, body, receipt })
    }

    /// Reads an envelope that `sender`'s connection delivered to `me`.
    pub(crate) fn receive(bytes: &[u8], sender: PeerId, me: PeerId) -> Result<Self, WireError> {
        let envelope = Self::open(bytes)?;
        if envelope.from != sender {
            return Err(WireError::Sender);
        }
        if envelope.to.is_some_and(|to| to != me) {
            return Err(WireError::Recipient);
        }
        Ok(envelope)
    }
}

/// Feeds any bytes to the decoders that a peer reaches: the envelope's, and the body's behind its
/// signature. Says whether one of them accepts. For fuzzing.
#[must_use]
pub fn decodes(bytes: &[u8]) -> bool {
    Envelope::open(bytes).is_ok() | from_bytes::<Body>(bytes).is_ok()
}

/// What a sender signs.
fn statement(
    ceremony: CeremonyId,
    from: &PeerId,
    to: Option<&PeerId>,
    round: u8,
    payload_hash: &[u8; 32],
) -> [u8; 32] {
    let to = to.map(|id| id.to_bytes()).unwrap_or_default();
    domain_hash(STATEMENT, &[&ceremony.0, &from.to_bytes(), &to, &[round], payload_hash])
}

/// Reads a peer identity.
pub(crate) fn peer(bytes: &ByteVec) -> Result<PeerId, WireError> {
    PeerId::from_bytes(bytes).map_err(|error| WireError::Malformed(error.to_string()))
}

/// Encodes into a vector of just the length: one that grows would leave parts of a share behind.
fn to_bytes(value: &impl Encode<()>) -> Vec<u8> {
    let mut length = Length(0);
    minicbor::encode(value, &mut length).expect("a counter takes all bytes");
    let mut bytes = Vec::with_capacity(length.0);
    minicbor::encode(value, &mut bytes).expect("a vector takes all bytes");
    bytes
}

/// Counts what is written.
struct Length(usize);

impl minicbor::encode::Write for &mut Length {
    type Error = core::convert::Infallible;

    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        self.0 += bytes.len();
        Ok(())
    }
}

/// Decodes a list of at most [`MOST_LISTED`], and refuses a longer one before it takes memory for it.
fn list<'b, C, T: Decode<'b, C>>(
    decoder: &mut Decoder<'b>,
    context: &mut C,
) -> Result<Vec<T>, minicbor::decode::Error> {
    use minicbor::decode::Error;
    let len = decoder.array()?.ok_or_else(|| Error::message("a list of indefinite length"))?;
    if len > MOST_LISTED {
        return Err(Error::message("a list of more than 255"));
    }
    (0..len).map(|_| decoder.decode_with(context)).collect()
}

/// Decodes and refuses whatever this module would have encoded otherwise.
fn from_bytes<T: Encode<()> + for<'b> Decode<'b, ()>>(bytes: &[u8]) -> Result<T, WireError> {
    let value: T =
        minicbor::decode(bytes).map_err(|error| WireError::Malformed(error.to_string()))?;
    let again = Zeroizing::new(to_bytes(&value));
    if *again == bytes { Ok(value) } else { Err(WireError::NotCanonical) }
}

#[cfg(test)]
mod tests;
