//! The queues between the dispatcher and the ceremonies' tasks.
//!
//! A ceremony's queue takes messages of its candidates only, and from each so many and no more: one
//! node cannot crowd out the others, and the memory of a ceremony is bounded.

use crate::ceremony::lock;
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
    most_ceremonies: usize,
    most_bytes: usize,
}

#[derive(Debug)]
struct Slot {
    sender: mpsc::Sender<Envelope>,
    /// What each candidate has left: messages and bytes.
    quotas: HashMap<PeerId, (usize, usize)>,
}

/// The receiving end; dropping it closes the ceremony.
#[derive(Debug)]
pub(crate) struct Mailbox {
    id: CeremonyId,
    receiver: mpsc::Receiver<Envelope>,
    open: Arc<Mutex<HashMap<CeremonyId, Slot>>>,
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
    #[error("as many ceremonies run as are allowed")]
    Limit,
    #[error("this ceremony runs already")]
    Runs,
}

impl Mailboxes {
    /// Queues for at most `most_ceremonies`, of messages of at most `message_bytes`.
    pub(crate) fn new(most_ceremonies: usize, message_bytes: usize) -> Self {
        let most_bytes = message_bytes.saturating_mul(MESSAGES_OF_FULL_LENGTH);
        Mailboxes { open: Arc::default(), most_ceremonies, most_bytes }
    }

    /// Opens the queue of a ceremony.
    pub(crate) fn open(&self, id: CeremonyId, candidates: &[PeerId]) -> Result<Mailbox, Full> {
        let mut open = lock(&self.open);
        if open.contains_key(&id) {
            return Err(Full::Runs);
        }
        if open.len() >= self.most_ceremonies {
            return Err(Full::Limit);
        }
        let quotas: HashMap<_, _> =
            candidates.iter().map(|peer| (*peer, (MESSAGES, self.most_bytes))).collect();
        let (sender, receiver) = mpsc::channel(MESSAGES * quotas.len().max(1));
        open.insert(id, Slot { sender, quotas });
        Ok(Mailbox { id, receiver, open: self.open.clone() })
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

    /// Number of ceremonies that run.
    pub(crate) fn running(&self) -> usize {
        lock(&self.open).len()
    }
}

impl Mailbox {
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
        let mailboxes = Mailboxes::new(2, 1000);
        let mut mailbox = mailboxes.open(CeremonyId([1; 32]), &[a.id(), b.id()]).unwrap();
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
    fn ceremonies_are_bounded_and_closed_by_dropping() {
        let mailboxes = Mailboxes::new(1, 1000);
        let first = mailboxes.open(CeremonyId([1; 32]), &[]).unwrap();
        assert_eq!(mailboxes.open(CeremonyId([1; 32]), &[]).unwrap_err(), Full::Runs);
        assert_eq!(mailboxes.open(CeremonyId([2; 32]), &[]).unwrap_err(), Full::Limit);
        drop(first);
        assert_eq!(mailboxes.running(), 0);
        mailboxes.open(CeremonyId([2; 32]), &[]).unwrap();
    }
}
