//! The driver of all protocols: message headers, rounds, duplicates, and the echo of broadcasts.
//!
//! A protocol is a [`Rounds`]: pure steps from one round's messages to the next. [`Machine`] does
//! the rest. A message is
//!
//! | bytes | |
//! |---|---|
//! | 4 | `TTSS` |
//! | 1 | version, 1 |
//! | 1 | protocol |
//! | 1 | round |
//! | 1 | sender |
//! | 1 | recipient, 0 for a broadcast |
//! | 32 | context: the hash of the session's name and of all its parameters |
//! | … | payload, of exactly the length that the protocol gives for this round and kind |
//!
//! Every round has one broadcast, and may have a direct message to each peer. If the round before
//! had a broadcast with content, the payload of this round's begins with the hashes of all of them
//! in order of the parties, which must agree with those that the receiver saw.

mod rounds;

use core::mem;

use tetralith_kernels::ct;
use zeroize::Zeroizing;

use crate::engine::{
    Abort, Blame, Check, Error, Evidence, MessageError, Outgoing, PartyId, Recipient,
};
use crate::oracle::Oracle;
pub(crate) use rounds::{Inbox, Kind, Letter, Letters, Rounds, Step};

/// Bytes before a message's payload.
pub(crate) const HEADER: usize = 41;
pub(crate) const MAGIC: [u8; 4] = *b"TTSS";
pub(crate) const VERSION: u8 = 1;
pub(crate) const HASH: usize = 32;

/// A session of the protocol `P`.
///
/// The protocol's state lies in a box: where a session is moved, no copy of its secrets stays behind.
pub(crate) struct Machine<P: Rounds> {
    rounds: Option<Box<P>>,
    protocol: u8,
    me: PartyId,
    parties: Vec<PartyId>,
    context: [u8; 32],
    round: u8,
    /// For each round from the current one on, and for each party, what arrived.
    slots: Vec<Vec<Slot>>,
    /// The hashes of the last finished round's broadcasts, or nothing if they had no content.
    echo: Vec<[u8; HASH]>,
    own_broadcast: Vec<u8>,
    outbox: Vec<Outgoing>,
    /// In a box: what an empty place has no use for is left as it was on the stack.
    result: Option<Box<Result<P::Output, Abort>>>,
}

#[derive(Default)]
struct Slot {
    broadcast: Option<Vec<u8>>,
    direct: Option<Zeroizing<Vec<u8>>>,
}

impl<P: Rounds> Machine<P> {
    /// Begins a session whose first messages are `letters`. `parties` is ascending and has `me`.
    pub(crate) fn new(
        rounds: P,
        me: PartyId,
        parties: Vec<PartyId>,
        context: [u8; 32],
        letters: Letters,
    ) -> Self {
        let slots = (0..P::ROUNDS).map(|_| parties.iter().map(|_| Slot::default()).collect());
        let slots = slots.collect();
        let mut machine = Self {
            protocol: rounds.protocol(),
            rounds: Some(Box::new(rounds)),
            me,
            parties,
            context,
            round: 1,
            slots,
            echo: Vec::new(),
            own_broadcast: Vec::new(),
            outbox: Vec::new(),
            result: None,
        };
        machine.post(letters);
        machine
    }

    /// The protocol's state, if the session has not ended, for tests of wiping.
    #[cfg(test)]
    pub(crate) fn rounds(&self) -> Option<&P> {
        self.rounds.as_deref()
    }

    /// The protocol's state, for tests of lying parties.
    #[cfg(test)]
    pub(crate) fn rounds_mut(&mut self) -> &mut P {
        self.rounds.as_deref_mut().expect("the session has not ended")
    }

    pub(crate) fn outgoing(&mut self) -> Vec<Outgoing> {
        mem::take(&mut self.outbox)
    }

    pub(crate) fn round(&self) -> u8 {
        self.round
    }

    pub(crate) fn take_output(&mut self) -> Option<Result<P::Output, Abort>> {
        self.result.take().map(|result| *result)
    }

    pub(crate) fn waiting_for(&self) -> Vec<PartyId> {
        if self.rounds.is_none() {
            return Vec::new();
        }
        let missing = |k: &usize| !self.is_complete(*k);
        self.peers().filter(missing).map(|k| self.parties[k]).collect()
    }

    pub(crate) fn receive(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), Error> {
        self.file(from, bytes).map_err(Error::Message)?;
        while self.rounds.is_some() && self.peers().all(|k| self.is_complete(k)) {
            self.advance();
        }
        Ok(())
    }

    /// Checks a message's header and keeps its payload.
    fn file(&mut self, from: PartyId, bytes: &[u8]) -> Result<(), MessageError> {
        let rounds = self.rounds.as_ref().ok_or(MessageError::Finished)?;
        let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
            return Err(MessageError::Short { expected: HEADER, got: bytes.len() });
        };
        if header[..4] != MAGIC {
            return Err(MessageError::Magic);
        }
        let [version, protocol, round, sender, recipient] =
            [header[4], header[5], header[6], header[7], header[8]];
        if version != VERSION {
            return Err(MessageError::Version(version));
        }
        if protocol != self.protocol {
            return Err(MessageError::Protocol(protocol));
        }
        if header[9..] != self.context {
            return Err(MessageError::Session);
        }
        if sender != from.get() || from == self.me {
            return Err(MessageError::Sender);
        }
        let place = self.parties.binary_search(&from).map_err(|_| MessageError::Sender)?;
        if round == 0 || round > P::ROUNDS {
            return Err(MessageError::Round(round));
        }
        let kind = match recipient {
            0 => Kind::Broadcast,
            id if id == self.me.get() => Kind::Direct,
            _ => return Err(MessageError::Recipient),
        };
        let echo = match kind {
            Kind::Broadcast => self.echo_len(rounds, round),
            Kind::Direct => 0,
        };
        let expected = rounds.payload_len(round, kind).ok_or(MessageError::Kind(recipient))? + echo;
        if payload.len() != expected {
            return Err(MessageError::Length { expected, got: payload.len() });
        }
        if round < self.round {
            return Err(MessageError::Duplicate);
        }
        self.slots[usize::from(round - 1)][place].fill(kind, payload)
    }

    /// The length of the echo before the broadcast of `round`.
    fn echo_len(&self, rounds: &P, round: u8) -> usize {
        let before = match round {
            1 => None,
            _ => rounds.payload_len(round - 1, Kind::Broadcast),
        };
        if before.is_some_and(|len| len > 0) { self.parties.len() * HASH } else { 0 }
    }

    fn peers(&self) -> impl Iterator<Item = usize> + use<P> {
        let me = self.parties.binary_search(&self.me).ok();
        (0..self.parties.len()).filter(move |&k| Some(k) != me)
    }

    /// Says whether all messages of the current round came from the party at `place`.
    fn is_complete(&self, place: usize) -> bool {
        let Some(rounds) = &self.rounds else { return false };
        let slot = &self.slots[usize::from(self.round - 1)][place];
        slot.broadcast.is_some()
            && (slot.direct.is_some() || rounds.payload_len(self.round, Kind::Direct).is_none())
    }

    /// Ends the current round.
    fn advance(&mut self) {
        let step = self.take_inbox().and_then(|inbox| match &mut self.rounds {
            Some(rounds) => rounds.advance(self.round, inbox),
            None => unreachable_abort(self.round),
        });
        match step {
            Ok(Step::Send(letters)) if self.round < P::ROUNDS => {
                self.round += 1;
                self.post(letters);
            }
            Ok(Step::Send(_)) => self.finish(unreachable_abort(self.round)),
            Ok(Step::Done(output)) => self.finish(Ok(output)),
            Err(abort) => self.finish(Err(abort)),
        }
    }

    fn finish(&mut self, result: Result<P::Output, Abort>) {
        self.rounds = None;
        self.slots = Vec::new();
        self.result = Some(Box::new(result));
    }

    /// Takes the round's messages, and compares their echoes with the broadcasts of the round
    /// before.
    fn take_inbox(&mut self) -> Result<Inbox, Abort> {
        let slots = mem::take(&mut self.slots[usize::from(self.round - 1)]);
        let mut hashes = Vec::with_capacity(slots.len());
        let mut letters = Vec::with_capacity(slots.len());
        for (place, slot) in slots.into_iter().enumerate() {
            let from = self.parties[place];
            let mut broadcast = slot.broadcast.unwrap_or_default();
            if from == self.me {
                hashes.push(self.hash(from, &self.own_broadcast));
                continue;
            }
            hashes.push(self.hash(from, &broadcast));
            let content = broadcast.split_off(self.echo.len() * HASH);
            self.compare_echo(from, &broadcast)?;
            let direct = slot.direct.unwrap_or_default();
            letters.push(Letter { from, broadcast: content, direct });
        }
        let digest = hashes
            .iter()
            .fold(Oracle::new("round").absorb(&self.context), |oracle, hash| oracle.absorb(hash))
            .finish();
        self.echo = hashes;
        Ok(Inbox { letters, digest })
    }

    /// Compares what `from` says it received with what came here.
    fn compare_echo(&self, from: PartyId, echo: &[u8]) -> Result<(), Abort> {
        for ((hash, ours), &sender) in echo.chunks_exact(HASH).zip(&self.echo).zip(&self.parties) {
            if hash == ours {
                continue;
            }
            let (round, check) = (self.round, Check::Broadcast);
            // Whoever misreports its own broadcast, or this party's, is at fault itself.
            return Err(if sender == from || sender == self.me {
                let evidence = Evidence::Accusation;
                Abort::Blamed(Blame { party: from, round, check, evidence })
            } else {
                Abort::Unattributed { round, check, suspects: vec![sender, from] }
            });
        }
        Ok(())
    }

    fn hash(&self, from: PartyId, broadcast: &[u8]) -> [u8; HASH] {
        Oracle::new("broadcast")
            .absorb(&self.context)
            .absorb(&[self.protocol, self.round, from.get()])
            .absorb(broadcast)
            .finish()
    }

    /// Puts this party's messages of the current round into the outbox.
    fn post(&mut self, letters: Letters) {
        let Some(rounds) = &self.rounds else { return };
        let echoes = self.echo_len(rounds, self.round) > 0;
        debug_assert_eq!(
            rounds.payload_len(self.round, Kind::Broadcast),
            Some(letters.broadcast.len())
        );
        if !echoes {
            self.echo.clear();
        }
        let mut payload = self.echo.concat();
        payload.extend_from_slice(&letters.broadcast);
        ct::public_bytes(&mut payload); // everybody gets it now
        self.outbox.push(self.letter(Recipient::All, &payload));
        self.own_broadcast = payload;
        let peers = self.peers().map(|k| self.parties[k]);
        for (peer, direct) in peers.zip(&letters.direct) {
            debug_assert_eq!(rounds.payload_len(self.round, Kind::Direct), Some(direct.len()));
            self.outbox.push(self.letter(Recipient::One(peer), direct));
        }
    }

    fn letter(&self, to: Recipient, payload: &[u8]) -> Outgoing {
        let recipient = match to {
            Recipient::All => 0,
            Recipient::One(party) => party.get(),
        };
        let mut bytes = Zeroizing::new(Vec::with_capacity(HEADER + payload.len()));
        bytes.extend_from_slice(&MAGIC);
        bytes.extend([VERSION, self.protocol, self.round, self.me.get(), recipient]);
        bytes.extend_from_slice(&self.context);
        bytes.extend_from_slice(payload);
        ct::public_bytes(&mut bytes); // the recipient gets it now, over a channel that hides it
        Outgoing { to, round: self.round, bytes }
    }
}

impl Slot {
    /// Keeps a payload if there is none yet.
    fn fill(&mut self, kind: Kind, payload: &[u8]) -> Result<(), MessageError> {
        let present = match kind {
            Kind::Broadcast => self.broadcast.as_deref(),
            Kind::Direct => self.direct.as_deref().map(Vec::as_slice),
        };
        match present {
            Some(old) if old == payload => return Err(MessageError::Duplicate),
            Some(_) => return Err(MessageError::Conflict),
            None => {}
        }
        match kind {
            Kind::Broadcast => self.broadcast = Some(payload.to_vec()),
            Kind::Direct => self.direct = Some(Zeroizing::new(payload.to_vec())),
        }
        Ok(())
    }
}

/// The answer to a state that the callers' structure excludes.
fn unreachable_abort<T>(round: u8) -> Result<T, Abort> {
    debug_assert!(false, "a finished session was advanced");
    Err(Abort::Internal { round })
}

/// Implements [`crate::engine::Session`] for a public type that wraps a [`Machine`].
macro_rules! session {
    ($name:ident, $output:ty) => {
        impl $crate::engine::Session for $name {
            type Output = $output;

            fn outgoing(&mut self) -> Vec<$crate::engine::Outgoing> {
                self.0.outgoing()
            }

            fn receive(
                &mut self,
                from: $crate::engine::PartyId,
                bytes: &[u8],
            ) -> Result<(), $crate::engine::Error> {
                self.0.receive(from, bytes)
            }

            fn round(&self) -> u8 {
                self.0.round()
            }

            fn waiting_for(&self) -> Vec<$crate::engine::PartyId> {
                self.0.waiting_for()
            }

            fn take_output(&mut self) -> Option<Result<$output, $crate::engine::Abort>> {
                self.0.take_output()
            }
        }
    };
}
pub(crate) use session;
