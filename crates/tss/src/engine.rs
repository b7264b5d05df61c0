//! The frame that every threshold protocol runs in: parties, sessions, messages and blame.
//!
//! A protocol run is a value that implements [`Session`]. It has no socket, clock or thread: its
//! owner carries [`Outgoing`] messages to the other parties, hands it what arrives, and takes the
//! output at the end. Work is done inside [`Session::receive`], some milliseconds per peer at the
//! heaviest, so an asynchronous owner calls it where blocking is allowed.
//!
//! What the owner must provide: each message reaches its recipient **authenticated** (the `from`
//! that is given to [`Session::receive`] is the true sender) and, for [`Recipient::One`],
//! **confidential**: such messages carry secret shares. Order, duplicates and delays do not
//! matter; a lost message only shows in [`Session::waiting_for`], and the owner decides how long to
//! wait and whether to send again.
//!
//! Where a protocol's proof assumes broadcast, each party repeats, in its next round, the hashes of
//! all broadcasts that it saw, and everybody compares them before going on (echo broadcast).

mod blame;

pub use blame::{Abort, Blame, Check, Evidence};
use core::fmt;
use core::num::NonZeroU8;

use zeroize::Zeroizing;

/// One of the parties that hold a key, numbered from 1: its evaluation point in Shamir's scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyId(NonZeroU8);

impl PartyId {
    /// Makes the identity of party `index`, counted from 1.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `index` is 0.
    pub fn new(index: u8) -> Result<Self, Error> {
        NonZeroU8::new(index).map(Self).ok_or(Error::InvalidArgument("party 0 does not exist"))
    }

    /// Returns the number, from 1 to 255.
    #[must_use]
    pub fn get(self) -> u8 {
        self.0.get()
    }
}

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many parties there are and how many of them sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Threshold {
    t: u8,
    n: u8,
}

impl Threshold {
    /// Makes a `t`-of-`n` threshold: `t` parties sign, `t - 1` learn nothing.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `2 <= t <= n`.
    pub fn new(t: u8, n: u8) -> Result<Self, Error> {
        if t < 2 {
            return Err(Error::InvalidArgument("a threshold needs at least two signers"));
        }
        if t > n {
            return Err(Error::InvalidArgument("a threshold cannot exceed the number of parties"));
        }
        Ok(Self { t, n })
    }

    /// Number of parties that sign together.
    #[must_use]
    pub fn t(self) -> u8 {
        self.t
    }

    /// Number of parties that hold a share.
    #[must_use]
    pub fn n(self) -> u8 {
        self.n
    }

    /// Says whether `party` is one of the `n`.
    #[must_use]
    pub fn contains(self, party: PartyId) -> bool {
        party.get() <= self.n
    }

    /// All parties in ascending order.
    pub fn parties(self) -> impl Iterator<Item = PartyId> {
        (1..=self.n).filter_map(NonZeroU8::new).map(PartyId)
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-of-{}", self.t, self.n)
    }
}

/// The name of one protocol run, the same for all its parties and never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub [u8; 32]);

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// To every other party of the session, the same bytes for each.
    All,
    /// To one party, over a channel that nobody else can read.
    One(PartyId),
}

/// The most bytes that a message has, up to 255 parties.
pub const MAX_MESSAGE: usize = 65_536;

/// A message to carry.
#[derive(Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Who receives it.
    pub to: Recipient,
    /// The round that it belongs to; each has one message to all, and one to each at most.
    pub round: u8,
    /// The encoded message; it is wiped when dropped.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A direct message carries secrets: only its size is shown.
        write!(f, "Outgoing({:?}, {} bytes)", self.to, self.bytes.len())
    }
}

/// One party's side of a protocol run.
pub trait Session: Send {
    /// What the run yields.
    type Output;

    /// Takes the messages that are ready to be sent; each is returned once.
    fn outgoing(&mut self) -> Vec<Outgoing>;

    /// Takes in one message that `from` sent.
    ///
    /// Messages of a later round are kept until their round begins. When the last message of a
    /// round arrives, the round is computed here; new [`Session::outgoing`] messages or the output
    /// are there on return.
    ///
    /// # Errors
    /// [`Error::Message`] if this message was not accepted; the session goes on unchanged. A fault
    /// that ends the session is not an error of this call but an [`Abort`] in
    /// [`Session::take_output`].
    fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error>;

    /// Number of the round whose messages are awaited, from 1; the last round's when finished.
    fn round(&self) -> u8;

    /// The parties of which a message is missing in this round; empty when finished.
    fn waiting_for(&self) -> Vec<PartyId>;

    /// Takes the result once the run has ended: `None` before that, and after it was taken.
    fn take_output(&mut self) -> Option<Result<Self::Output, Abort>>;
}

/// What goes wrong in this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's argument is refused.
    #[error("invalid argument: {0}")]
    InvalidArgument(&'static str),
    /// A message was not accepted; the session is unchanged.
    #[error("message refused: {0}")]
    Message(MessageError),
    /// An encoded key share or signature does not decode.
    #[error("malformed encoding: {0}")]
    Decode(DecodeError),
    /// An invariant of this crate does not hold.
    #[error("internal error: {0}")]
    Bug(&'static str),
}

impl Error {
    /// The stable, dotted code of this kind of failure, such as `message.refused`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.class().1
    }

    /// The exit code of the command for this kind of failure: 2 for malformed input, 3 for a fault of
    /// this crate.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.class().0
    }

    fn class(&self) -> (u8, &'static str) {
        match self {
            Error::InvalidArgument(_) => (2, "usage.arguments"),
            Error::Message(_) => (2, "message.refused"),
            Error::Decode(_) => (2, "input.malformed"),
            Error::Bug(_) => (3, "internal"),
        }
    }
}

/// Why a message was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The message is shorter than its header.
    #[error("{got} bytes are shorter than the header of {expected}")]
    Short {
        /// Bytes in a header.
        expected: usize,
        /// Bytes received.
        got: usize,
    },
    /// The message is not of the length that its protocol, round and kind have.
    #[error("expected {expected} bytes, got {got}")]
    Length {
        /// Bytes that such a message has.
        expected: usize,
        /// Bytes received.
        got: usize,
    },
    /// The first bytes are not those of a message of this crate.
    #[error("not a threshold-protocol message")]
    Magic,
    /// A version that this crate does not speak.
    #[error("unknown version {0}")]
    Version(u8),
    /// The message belongs to another protocol.
    #[error("message of another protocol ({0})")]
    Protocol(u8),
    /// The message belongs to another session, or to one with other parameters.
    #[error("message of another session")]
    Session,
    /// A round that the protocol does not have.
    #[error("no round {0}")]
    Round(u8),
    /// A kind of message that the round does not have.
    #[error("no message of kind {0} in this round")]
    Kind(u8),
    /// The sender named in the message is not the one it came from, or is no party of the session.
    #[error("wrong sender")]
    Sender,
    /// The message is for another party.
    #[error("wrong recipient")]
    Recipient,
    /// The same message was received before.
    #[error("duplicate")]
    Duplicate,
    /// Another message was received before in this one's place.
    #[error("contradicts an earlier message of the same sender")]
    Conflict,
    /// The session has ended.
    #[error("the session has ended")]
    Finished,
}

/// Why an encoding is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The encoding is not of the length that its header asks for.
    #[error("expected {expected} bytes, got {got}")]
    Length {
        /// Bytes expected.
        expected: usize,
        /// Bytes found.
        got: usize,
    },
    /// The first bytes name another format.
    #[error("wrong format name")]
    Magic,
    /// A version that this crate does not know.
    #[error("unknown version {0}")]
    Version(u8),
    /// The threshold or the party is out of range.
    #[error("invalid threshold or party")]
    Parameters,
    /// A scalar is zero or not reduced.
    #[error("{0} is not a canonical non-zero scalar")]
    Scalar(&'static str),
    /// A point does not decode, or is the identity.
    #[error("{0} is not a point of the curve")]
    Point(&'static str),
    /// Two parts of the encoding contradict each other.
    #[error("{0} does not agree with the rest")]
    Inconsistent(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_checked() {
        for (t, n, ok) in
            [(2, 2, true), (2, 255, true), (30, 30, true), (1, 3, false), (0, 0, false)]
        {
            assert_eq!(Threshold::new(t, n).is_ok(), ok, "{t} of {n}");
        }
        assert!(Threshold::new(4, 3).is_err());
        let four = Threshold::new(3, 4).unwrap();
        assert_eq!(four.parties().map(PartyId::get).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert!(!four.contains(PartyId::new(5).unwrap()));
        assert!(PartyId::new(0).is_err());
    }

    #[test]
    fn aborts_print_plainly() {
        let party = PartyId::new(3).unwrap();
        let blame =
            Blame { party, round: 2, check: Check::Multiplication, evidence: Evidence::Accusation };
        assert_eq!(blame.to_string(), "party 3 failed multiplication in round 2 (accusation)");
        let open = Abort::Unattributed { round: 3, check: Check::Signature, suspects: vec![party] };
        assert_eq!(open.to_string(), "signature failed in round 3, by one of the parties 3");
        assert!(Abort::Blamed(blame).blame().is_some_and(Blame::retires_setup));
    }
}
