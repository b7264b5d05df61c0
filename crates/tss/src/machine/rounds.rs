//! A protocol as the driver sees it: what it takes and gives in each round.

use zeroize::Zeroizing;

use super::HASH;
use crate::engine::{Abort, PartyId};

/// Which of a round's two messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Broadcast,
    Direct,
}

/// What a party sends in one round.
pub(crate) struct Letters {
    /// For all.
    pub(crate) broadcast: Vec<u8>,
    /// For each peer, in the order of the parties; empty if the round has no direct messages.
    pub(crate) direct: Vec<Zeroizing<Vec<u8>>>,
}

/// What a party received in one round.
pub(crate) struct Inbox {
    /// One entry for each peer, in the order of the parties.
    pub(crate) letters: Vec<Letter>,
    /// The hash of all broadcasts of the round, this party's own among them.
    pub(crate) digest: [u8; HASH],
}

/// One peer's messages of a round, without headers and echo.
pub(crate) struct Letter {
    pub(crate) from: PartyId,
    pub(crate) broadcast: Vec<u8>,
    pub(crate) direct: Zeroizing<Vec<u8>>,
}

/// What follows a round.
pub(crate) enum Step<Output> {
    Send(Letters),
    Done(Output),
}

/// A protocol as steps between rounds.
///
/// A step replaces the state, which moves it and leaves a copy of its bytes: a state has its secrets in
/// boxes and vectors, which wipe themselves, and the elements of a vector are not moved out of it.
pub(crate) trait Rounds: Send {
    type Output: Send;
    /// Number of rounds.
    const ROUNDS: u8;

    /// The protocol's number in message headers.
    fn protocol(&self) -> u8;

    /// The length of a payload without its echo; `None` if the round has no such message.
    fn payload_len(&self, round: u8, kind: Kind) -> Option<usize>;

    /// Computes what follows `round`.
    fn advance(&mut self, round: u8, inbox: Inbox) -> Result<Step<Self::Output>, Abort>;
}
