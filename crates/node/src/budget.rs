//! What each peer may ask of this node: one token bucket for each peer and kind of message.
//!
//! A bucket that is empty costs its own peer a message and nobody else anything. A peer that keeps on
//! sending far beyond its budgets is disconnected for a while.

use crate::ceremony::lock;
use crate::config::Limits;
use libp2p::PeerId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// What is counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any message, before it is looked at.
    Message = 0,
    /// A proposal, each of which costs a look into the log and an answer.
    Proposal = 1,
    /// A message that does not decode or is not signed by its sender.
    Invalid = 2,
}

/// Invalid messages that an honest peer never reaches; versions that differ cause a few.
const INVALID_PER_SECOND: f64 = 5.0;
const INVALID_AT_ONCE: f64 = 50.0;
/// Messages beyond a budget that are forgiven before the peer is disconnected.
const STRIKES_PER_SECOND: f64 = 20.0;
const STRIKES: f64 = 1000.0;
/// How long a peer that was disconnected for its excess is not accepted again.
pub(crate) const BARRED: Duration = Duration::from_secs(30);

/// The budgets of all peers; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Budgets(Arc<HashMap<PeerId, Mutex<Account>>>);

/// One peer's budgets.
#[derive(Debug)]
struct Account {
    buckets: [Bucket; 3],
    strikes: Bucket,
    /// When a message of this peer was last dropped, and how many were.
    last_drop: Option<Instant>,
    drops: u64,
}

impl Budgets {
    /// Full buckets for `peers`.
    pub(crate) fn new(peers: impl IntoIterator<Item = PeerId>, limits: &Limits) -> Self {
        let now = Instant::now();
        let second = |count: usize| Bucket::new(count as f64, count as f64, now);
        let account = || Account {
            buckets: [
                second(limits.messages_per_second),
                second(limits.proposals_per_second),
                Bucket::new(INVALID_PER_SECOND, INVALID_AT_ONCE, now),
            ],
            strikes: Bucket::new(STRIKES_PER_SECOND, STRIKES, now),
            last_drop: None,
            drops: 0,
        };
        Budgets(Arc::new(peers.into_iter().map(|peer| (peer, Mutex::new(account()))).collect()))
    }

    /// Takes one of a kind; `false`: the peer has used up its budget, and the message is counted as
    /// dropped.
    pub(crate) fn take(&self, peer: &PeerId, kind: Kind, now: Instant) -> bool {
        let Some(account) = self.0.get(peer) else { return false };
        let mut account = lock(account);
        if account.buckets[kind as usize].take(now) {
            return true;
        }
        account.strikes.take(now);
        account.note_drop(now);
        false
    }

    /// Counts a message that was dropped because this node's queue for the peer is full.
    pub(crate) fn note_drop(&self, peer: &PeerId, now: Instant) {
        if let Some(account) = self.0.get(peer) {
            lock(account).note_drop(now);
        }
    }

    /// Says whether a peer has gone so far beyond its budgets that it is to be disconnected; asking
    /// forgives it.
    pub(crate) fn is_excessive(&self, peer: &PeerId, now: Instant) -> bool {
        let Some(account) = self.0.get(peer) else { return false };
        let mut account = lock(account);
        let excessive = account.strikes.is_empty(now);
        if excessive {
            account.strikes = Bucket::new(STRIKES_PER_SECOND, STRIKES, now);
        }
        excessive
    }

    /// Says whether this node dropped a message of the peer since an instant.
    pub(crate) fn dropped_since(&self, peer: &PeerId, since: Instant) -> bool {
        let account = self.0.get(peer).map(lock);
        account.is_some_and(|account| account.last_drop.is_some_and(|last| last >= since))
    }

    /// How many messages of the peer were dropped for its budgets or a full queue.
    pub(crate) fn drops(&self, peer: &PeerId) -> u64 {
        self.0.get(peer).map_or(0, |account| lock(account).drops)
    }
}

impl Account {
    fn note_drop(&mut self, now: Instant) {
        self.last_drop = Some(now);
        self.drops += 1;
    }
}

/// A token bucket: so many at once, and so many a second.
#[derive(Debug)]
pub(crate) struct Bucket {
    per_second: f64,
    most: f64,
    left: f64,
    at: Instant,
}

impl Bucket {
    pub(crate) fn new(per_second: f64, most: f64, now: Instant) -> Self {
        Bucket { per_second, most, left: most, at: now }
    }

    fn refill(&mut self, now: Instant) {
        let gained = now.saturating_duration_since(self.at).as_secs_f64() * self.per_second;
        self.left = (self.left + gained).min(self.most);
        self.at = now;
    }

    pub(crate) fn take(&mut self, now: Instant) -> bool {
        self.refill(now);
        let enough = self.left >= 1.0;
        if enough {
            self.left -= 1.0;
        }
        enough
    }

    /// Says whether nothing was taken lately.
    pub(crate) fn is_full(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.left >= self.most
    }

    fn is_empty(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.left < 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    fn budgets(messages: usize) -> (Budgets, PeerId, PeerId) {
        let (a, b) = (Identity::from_seed(&[1; 32]).id(), Identity::from_seed(&[2; 32]).id());
        let limits = Limits { messages_per_second: messages, ..Limits::default() };
        (Budgets::new([a, b], &limits), a, b)
    }

    #[test]
    fn a_flood_uses_up_its_senders_budget_alone() {
        let (budgets, a, b) = budgets(10);
        let now = Instant::now();
        let taken = (0..1000).filter(|_| budgets.take(&a, Kind::Message, now)).count();
        assert_eq!(taken, 10);
        assert!(budgets.take(&b, Kind::Message, now));
        assert!(budgets.take(&a, Kind::Proposal, now), "another kind has its own budget");
        assert_eq!((budgets.drops(&a), budgets.drops(&b)), (990, 0));
        assert!(budgets.dropped_since(&a, now) && !budgets.dropped_since(&b, now));
        let later = now + Duration::from_millis(500);
        let taken = (0..1000).filter(|_| budgets.take(&a, Kind::Message, later)).count();
        assert_eq!(taken, 5);
        assert!(!budgets.dropped_since(&a, later + Duration::from_millis(1)));
    }

    #[test]
    fn only_a_long_excess_is_excessive() {
        let (budgets, a, b) = budgets(10);
        let now = Instant::now();
        let flood = |count| (0..count).filter(|_| budgets.take(&a, Kind::Message, now)).count();
        assert_eq!(flood(900), 10);
        assert!(!budgets.is_excessive(&a, now));
        assert_eq!(flood(200), 0);
        assert!(budgets.is_excessive(&a, now) && !budgets.is_excessive(&b, now));
        assert!(!budgets.is_excessive(&a, now), "it is forgiven once");
    }

    #[test]
    fn a_stranger_has_no_budget() {
        let (budgets, ..) = budgets(10);
        let stranger = Identity::from_seed(&[3; 32]).id();
        assert!(!budgets.take(&stranger, Kind::Message, Instant::now()));
    }
}
