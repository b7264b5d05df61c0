//! An in-memory network for tests: seeded, with reordering, duplicates, loss and lying parties.
//!
//! Everything happens in one thread and in an order that the seed decides, so a run can be
//! repeated exactly; [`Outcome::transcript`] is the hash of all that was delivered.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

use crate::engine::{Abort, Error, MessageError, Outgoing, PartyId, Recipient, Session};

/// A change of a message on its way: `(from, to, bytes)`; `false` drops the message.
pub type Tamper<'a> = dyn FnMut(PartyId, PartyId, &mut Vec<u8>) -> bool + 'a;

/// How the network behaves.
#[derive(Clone, Debug)]
pub struct Network {
    seed: [u8; 32],
    reorder: bool,
    duplicate_percent: u32,
    loss_percent: u32,
}

/// How a simulated run ended.
pub struct Outcome<T> {
    /// Each party's result, in the order of the parties; `None` if it still waits.
    pub results: Vec<(PartyId, Option<Result<T, Abort>>)>,
    /// For each party, those of which it lacks a message.
    pub waiting: Vec<(PartyId, Vec<PartyId>)>,
    /// The messages that a party did not accept, other than duplicates.
    pub refused: Vec<(PartyId, PartyId, MessageError)>,
    /// The hash of all deliveries in their order.
    pub transcript: [u8; 32],
    /// Bytes delivered.
    pub bytes: usize,
}

impl<T> Outcome<T> {
    /// All outputs in the order of the parties.
    ///
    /// # Panics
    /// If a party has none.
    #[must_use]
    pub fn outputs(self) -> Vec<T> {
        let output = |(party, result): (PartyId, Option<Result<T, Abort>>)| match result {
            Some(Ok(output)) => output,
            Some(Err(abort)) => panic!("party {party} aborted: {abort}"),
            None => panic!("party {party} still waits"),
        };
        self.results.into_iter().map(output).collect()
    }

    /// The aborts, in the order of the parties.
    #[must_use]
    pub fn aborts(&self) -> Vec<(PartyId, &Abort)> {
        self.results
            .iter()
            .filter_map(|(party, result)| Some((*party, result.as_ref()?.as_ref().err()?)))
            .collect()
    }
}

struct Delivery {
    from: PartyId,
    to: PartyId,
    bytes: Vec<u8>,
}

impl Network {
    /// A network that delivers each message once, in the order of sending.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self { seed: bytes, reorder: false, duplicate_percent: 0, loss_percent: 0 }
    }

    /// Delivers in random order.
    #[must_use]
    pub fn reordering(mut self) -> Self {
        self.reorder = true;
        self
    }

    /// Delivers some messages twice.
    #[must_use]
    pub fn duplicating(mut self, percent: u32) -> Self {
        self.duplicate_percent = percent;
        self
    }

    /// Loses some messages.
    #[must_use]
    pub fn losing(mut self, percent: u32) -> Self {
        self.loss_percent = percent;
        self
    }

    /// Runs the sessions until nothing more is to be delivered.
    pub fn run<S: Session>(&self, sessions: Vec<(PartyId, S)>) -> Outcome<S::Output> {
        self.run_with(sessions, &mut |_, _, _| true)
    }

    /// Runs the sessions with `tamper` on the way of every message.
    pub fn run_with<S: Session>(
        &self,
        mut sessions: Vec<(PartyId, S)>,
        tamper: &mut Tamper<'_>,
    ) -> Outcome<S::Output> {
        let mut rng = ChaCha20Rng::from_seed(self.seed);
        let mut transcript = Sha256::new();
        let (mut refused, mut bytes) = (Vec::new(), 0);
        let mut queue = Vec::new();
        for place in 0..sessions.len() {
            self.post(&mut sessions, place, &mut queue, &mut rng);
        }
        while let Some(delivery) = self.next(&mut queue, &mut rng) {
            let Delivery { from, to, bytes: mut message } = delivery;
            if !tamper(from, to, &mut message) {
                continue;
            }
            let Some(place) = sessions.iter().position(|(party, _)| *party == to) else { continue };
            transcript.update([from.get(), to.get()]);
            transcript.update(&message);
            bytes += message.len();
            match sessions[place].1.receive(from, &message) {
                Err(Error::Message(MessageError::Duplicate | MessageError::Finished)) | Ok(()) => {}
                Err(Error::Message(error)) => refused.push((to, from, error)),
                Err(error) => panic!("receive may only refuse messages, got {error}"),
            }
            self.post(&mut sessions, place, &mut queue, &mut rng);
        }
        let waiting =
            sessions.iter().map(|(party, session)| (*party, session.waiting_for())).collect();
        let results =
            sessions.into_iter().map(|(party, mut session)| (party, session.take_output()));
        let transcript = transcript.finalize().into();
        Outcome { results: results.collect(), waiting, refused, transcript, bytes }
    }

    fn next(&self, queue: &mut Vec<Delivery>, rng: &mut ChaCha20Rng) -> Option<Delivery> {
        if queue.is_empty() {
            return None;
        }
        let place = if self.reorder { rng.next_u64() % queue.len() as u64 } else { 0 };
        Some(queue.remove(place as usize))
    }

    /// Takes what a session sends into the queue.
    fn post<S: Session>(
        &self,
        sessions: &mut [(PartyId, S)],
        place: usize,
        queue: &mut Vec<Delivery>,
        rng: &mut ChaCha20Rng,
    ) {
        let from = sessions[place].0;
        for Outgoing { to, bytes, .. } in sessions[place].1.outgoing() {
            let recipients: Vec<PartyId> = match to {
                Recipient::All => sessions.iter().map(|s| s.0).filter(|&p| p != from).collect(),
                Recipient::One(party) => vec![party],
            };
            for to in recipients {
                let mut happens = |percent: u32| rng.next_u32() % 100 < percent;
                if happens(self.loss_percent) {
                    continue;
                }
                let copies = if happens(self.duplicate_percent) { 2 } else { 1 };
                (0..copies).for_each(|_| queue.push(Delivery { from, to, bytes: bytes.to_vec() }));
            }
        }
    }
}

/// A random generator for tests, from a number.
#[must_use]
pub fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}
