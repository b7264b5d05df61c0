//! The queues between the dispatcher and the ceremonies' tasks.
//!
//! A ceremony's queue takes messages of its candidates only, and from each so many and no more: one
//! node cannot crowd out the others, and the memory of a ceremony is bounded.

use crate::ceremony::lock;
use crate::ceremony::settle::Alone;
use crate::ceremony::turns::Turn;
use crate::config::Limits;
use crate::wire::{CeremonyId, Envelope};
use libp2p::PeerId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

/// Messages that one candidate may send in one ceremony.
const MESSAGES: usize = 64;
/// Bytes that one candidate may send in one ceremony, in whole messages of the configured limit.
const MESSAGES_OF_FULL_LENGTH: usize = 8;

/// Where each running ceremony receives.
#[derive(Clone, Debug)]
pub(crate) struct Mailboxes {
    open: Arc<Mutex<HashMap<CeremonyId, Slot>>>,
    most_of_a_peer: usize,
    most_bytes: usize,
}

#[derive(Debug)]
struct Slot {
    sender: mpsc::Sender<Envelope>,
    /// Who proposed it, if this node did not.
    proposer: Option<PeerId>,
    /// What each candidate has left: messages and bytes.
    quotas: HashMap<PeerId, (usize, usize)>,
}

/// The receiving end; dropping it closes the ceremony.
#[derive(Debug)]
pub(crate) struct Mailbox {
    id: CeremonyId,
    receiver: mpsc::Receiver<Envelope>,
    open: Arc<Mutex<HashMap<CeremonyId, Slot>>>,
    /// The place that the ceremony runs on, once it has one.
    turn: Option<Turn>,
    /// For a resharing, what keeps others of the key away.
    alone: Option<Alone>,
}

/// Why a message was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Dropped {
    #[error("no such ceremony runs here")]
    NoCeremony,
    #[error("the sender has no part in this ceremony")]
    NoPart,
    #[error("the sender has sent more than a ceremony needs")]
    Quota,
}

/// Why a ceremony cannot begin here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    #[error("the proposer has reached its limit of ceremonies")]
    Peer,
    #[error("this ceremony runs already")]
    Runs,
}

impl Mailboxes {
    /// Queues for as many ceremonies, of messages as long, as the limits allow.
    pub(crate) fn new(limits: &Limits) -> Self {
        Mailboxes {
            open: Arc::default(),
            // As many may wait for a turn as may run.
            most_of_a_peer: limits.ceremonies_per_peer.saturating_mul(2),
            most_bytes: limits.message_bytes.saturating_mul(MESSAGES_OF_FULL_LENGTH),
        }
    }

    /// Opens the queue of a ceremony that a peer proposed, or, with `None`, this node.
    pub(crate) fn open(
        &self,
        id: CeremonyId,
        proposer: Option<PeerId>,
        candidates: &[PeerId],
    ) -> Result<Mailbox, Full> {
        let mut open = lock(&self.open);
        if open.contains_key(&id) {
            return Err(Full::Runs);
        }
        let of_proposer = open.values().filter(|slot| slot.proposer == proposer).count();
        if proposer.is_some() && of_proposer >= self.most_of_a_peer {
            return Err(Full::Peer);
        }
        let quotas: HashMap<_, _> =
            candidates.iter().map(|peer| (*peer, (MESSAGES, self.most_bytes))).collect();
        let (sender, receiver) = mpsc::channel(MESSAGES * quotas.len().max(1));
        open.insert(id, Slot { sender, proposer, quotas });
        Ok(Mailbox { id, receiver, open: self.open.clone(), turn: None, alone: None })
    }

    /// Hands a message to its ceremony.
    pub(crate) fn put(&self, message: Envelope, bytes: usize) -> Result<(), Dropped> {
        let mut open = lock(&self.open);
        let slot = open.get_mut(&message.ceremony).ok_or(Dropped::NoCeremony)?;
        let (messages, left) = slot.quotas.get_mut(&message.from).ok_or(Dropped::NoPart)?;
        if *messages == 0 || *left < bytes {
            return Err(Dropped::Quota);
        }
        *messages -= 1;
        *left -= bytes;
        // The queue holds as many as all quotas together.
        slot.sender.try_send(message).map_err(|_| Dropped::NoCeremony)
    }

    /// Says whether a ceremony runs here.
    pub(crate) fn is_open(&self, id: CeremonyId) -> bool {
        lock(&self.open).contains_key(&id)
    }

    /// Number of ceremonies that run.
    pub(crate) fn running(&self) -> usize {
        lock(&self.open).len()
    }
}

impl Mailbox {
    /// Keeps the ceremony's place until the mailbox is closed.
    pub(crate) fn hold(&mut self, turn: Turn) {
        self.turn = Some(turn);
    }

    /// Keeps other resharings of the key away until the mailbox is closed.
    pub(crate) fn keep_alone(&mut self, alone: Alone) {
        self.alone = Some(alone);
    }

    /// Waits for the next message; `None` never comes while the mailbox is open.
    ///
    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<Envelope> {
        self.receiver.recv().await
    }

    /// Takes a message that is there already.
    pub(crate) fn take(&mut self) -> Option<Envelope> {
        self.receiver.try_recv().ok()
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        lock(&self.open).remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use crate::wire::Body;

    fn boxes(ceremonies_per_peer: usize) -> Mailboxes {
        let limits = Limits { ceremonies_per_peer, message_bytes: 1000, ..Limits::default() };
        Mailboxes::new(&limits)
    }

    fn message(ceremony: u8, from: &Identity) -> Envelope {
        let body = Body::Done([0; 32].into());
        let bytes = Envelope::seal(from, CeremonyId([ceremony; 32]), None, 0, &body);
        Envelope::open(&bytes).unwrap()
    }

    #[test]
    fn one_sender_cannot_crowd_out_another() {
        let (a, b, c) = (
            Identity::from_seed(&[1; 32]),
            Identity::from_seed(&[2; 32]),
            Identity::from_seed(&[3; 32]),
        );
        let mailboxes = boxes(2);
        let mut mailbox = mailboxes.open(CeremonyId([1; 32]), None, &[a.id(), b.id()]).unwrap();
        for _ in 0..MESSAGES {
            mailboxes.put(message(1, &a), 1).unwrap();
        }
        assert_eq!(mailboxes.put(message(1, &a), 1), Err(Dropped::Quota));
        assert_eq!(mailboxes.put(message(1, &b), 8001), Err(Dropped::Quota));
        mailboxes.put(message(1, &b), 8000).unwrap();
        assert_eq!(mailboxes.put(message(1, &c), 1), Err(Dropped::NoPart));
        assert_eq!(mailboxes.put(message(2, &a), 1), Err(Dropped::NoCeremony));
        assert_eq!(core::iter::from_fn(|| mailbox.take()).count(), MESSAGES + 1);
    }

    #[test]
    fn ceremonies_are_closed_by_dropping() {
        let mailboxes = boxes(1);
        let open = |id| mailboxes.open(CeremonyId([id; 32]), None, &[]);
        let first = open(1).unwrap();
        assert_eq!(open(1).unwrap_err(), Full::Runs);
        drop(first);
        assert_eq!(mailboxes.running(), 0);
        open(2).unwrap();
    }

    #[test]
    fn one_proposer_cannot_take_all_ceremonies() {
        let (a, b) = (Identity::from_seed(&[1; 32]).id(), Identity::from_seed(&[2; 32]).id());
        let mailboxes = boxes(1);
        let open = |id, proposer| mailboxes.open(CeremonyId([id; 32]), proposer, &[]);
        let first = open(1, Some(a)).unwrap();
        let _second = open(2, Some(a)).unwrap();
        assert_eq!(open(3, Some(a)).unwrap_err(), Full::Peer);
        let _others = (open(3, Some(b)).unwrap(), open(4, None).unwrap(), open(5, None).unwrap());
        drop(first);
        assert!(open(6, Some(a)).is_ok());
    }
}
