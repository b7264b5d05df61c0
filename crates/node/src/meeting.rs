//! Meetings: requests that each of several nodes is asked for by a client of its own.
//!
//! go-tss has no proposer whom a client could choose: every party posts the same request to its own
//! node. So the nodes must agree who proposes. A request has a name, the hash of all that it says. Each
//! node tells the others when its client asks ([`Said::Here`]). The leader is the node with the lowest
//! hash of the request's name and its identity. Once enough nodes are here, it holds the ceremonies and
//! tells all what became of them; the others check that and answer their own clients with it.
//!
//! A leader is replaced by the next one if its client has not asked within one timeout (`join_ms`), if
//! it does not begin within one timeout, if its connection breaks, if it takes longer than `result_ms`,
//! or if it reports a failure or a result that does not check. So one node that lies or stays away does
//! not decide for all. Two leaders at once are possible, and harmless: each has a valid result.

mod table;

use crate::ceremony::{Shared, lock};
use crate::identity::domain_hash;
use crate::wire::{Body, CeremonyId, Failed, Outcome, Said};
use libp2p::PeerId;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
pub(crate) use table::SYNC_FAIL;
use table::{Presence, Table};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

const ORDER: &str = "tetralith/node/leader/1";
/// Nodes that lead one request at most.
const MOST_LEADERS: usize = 3;
/// How long a leader with a quorum waits for the others: with more nodes it can replace a bad one.
const GATHER: Duration = Duration::from_millis(100);
/// How often connections are looked at meanwhile.
const LOOK: Duration = Duration::from_millis(200);

/// What this node knows of requests.
#[derive(Debug)]
pub(crate) struct Meetings {
    table: Mutex<Table>,
    changed: watch::Sender<()>,
}

impl Default for Meetings {
    fn default() -> Self {
        Meetings { table: Mutex::default(), changed: watch::Sender::new(()) }
    }
}

/// A request that is to be met.
pub(crate) struct Asked {
    pub(crate) id: CeremonyId,
    /// All nodes whose clients ask.
    pub(crate) nodes: Vec<PeerId>,
    /// How many of them must be here.
    pub(crate) needed: usize,
}

/// The times of a meeting.
#[derive(Clone, Copy)]
struct Times {
    join: Duration,
    party: Duration,
    result: Duration,
}

/// What a node does next.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// Holds the ceremonies with these nodes.
    Lead(Vec<PeerId>),
    Wait(Instant),
    /// Gives up: too few are here.
    Short,
    /// Gives up: those that led have failed.
    Failed,
}

impl Meetings {
    /// Takes what a node says of a request.
    pub(crate) fn hear(&self, id: CeremonyId, from: PeerId, said: Said) {
        lock(&self.table).hear(id, from, said, Instant::now());
        self.changed.send_replace(());
    }

    fn present(&self, id: CeremonyId) -> HashMap<PeerId, Presence> {
        lock(&self.table).present(id)
    }
}

impl Shared {
    /// Meets a request together with the other nodes: leads it, or waits for who does.
    ///
    /// `checks` says whether a result is one of this request; `hold` holds the ceremonies among the given
    /// nodes. A request that has a result already is answered with it.
    ///
    /// Not cancel safe: dropping the future leaves the others waiting for this node.
    pub(crate) async fn meet<F: Future<Output = Outcome> + Send>(
        self: &Arc<Self>,
        asked: &Asked,
        party: Duration,
        result: Duration,
        checks: impl Fn(&Outcome) -> bool + Send,
        hold: impl Fn(Vec<PeerId>) -> F + Send,
    ) -> Result<Outcome, Failed> {
        let times = Times { join: self.config.timeouts.join(), party, result };
        let order = order(asked.id, &asked.nodes);
        let mut changed = self.meetings.changed.subscribe();
        let mut stop = self.stop.clone();
        let found = |present: &HashMap<PeerId, Presence>| {
            let ended = order.iter().filter_map(|id| present.get(id)?.ended.as_ref());
            ended.into_iter().find(|outcome| checks(outcome)).cloned()
        };
        if let Some(outcome) = found(&self.meetings.present(asked.id)) {
            return Ok(outcome);
        }
        let since = Instant::now();
        let mut full = None;
        // Those that came and gave up before this node did are not the ones that are missing.
        let mut seen = HashSet::new();
        self.say(asked, Said::Here);
        loop {
            changed.borrow_and_update();
            let present = self.meetings.present(asked.id);
            if let Some(outcome) = found(&present) {
                return Ok(outcome);
            }
            seen.extend(present.keys().copied());
            let now = Instant::now();
            if full.is_none() && present.len() >= asked.needed {
                full = Some(now);
            }
            let mut connected = self.transport.connected();
            connected.insert(self.me());
            let look = Look { order: &order, needed: asked.needed, present: &present, since, full };
            match look.next(self.me(), &connected, &times, now) {
                Step::Lead(nodes) => {
                    self.say(asked, Said::Began);
                    let outcome = hold(nodes).await;
                    self.say(asked, Said::Ended(outcome));
                }
                Step::Wait(until) => {
                    let until = until.min(now + LOOK);
                    tokio::select! {
                        _ = changed.changed() => {}
                        () = sleep_until(until) => {}
                        _ = stop.wait_for(|stop| *stop) => {
                            let reason = "the node is stopping".into();
                            return Err(Failed { reason, blamed: Vec::new() });
                        }
                    }
                }
                Step::Short => {
                    let missing = order.iter().filter(|id| !seen.contains(id));
                    let failed = table::short(missing, present.len(), asked.needed);
                    self.say(asked, Said::Left);
                    return Err(failed);
                }
                Step::Failed => {
                    let failed = table::last_failure(&order, &present);
                    self.say(asked, Said::Left);
                    return Err(failed);
                }
            }
        }
    }

    /// Notes where this node stands, and tells the others.
    fn say(self: &Arc<Self>, asked: &Asked, said: Said) {
        self.meetings.hear(asked.id, self.me(), said.clone());
        let frame = self.seal(asked.id, None, 0, &Body::Request(said));
        // Nodes that come later still hear of it.
        let until = Instant::now() + 2 * self.config.timeouts.join();
        for peer in asked.nodes.iter().filter(|id| **id != self.me()) {
            let (shared, peer, frame) = (self.clone(), *peer, frame.clone());
            tokio::spawn(async move { shared.deliver(peer, frame, until).await });
        }
    }
}

/// The nodes in the order in which they lead.
fn order(id: CeremonyId, nodes: &[PeerId]) -> Vec<PeerId> {
    let mut order = crate::identity::sorted(nodes.to_vec());
    order.sort_by_cached_key(|node| domain_hash(ORDER, &[&id.0, &node.to_bytes()]));
    order
}

/// A request as one node sees it.
struct Look<'a> {
    order: &'a [PeerId],
    needed: usize,
    present: &'a HashMap<PeerId, Presence>,
    /// When this node's client asked.
    since: Instant,
    /// When enough nodes were here.
    full: Option<Instant>,
}

impl Look<'_> {
    fn next(&self, me: PeerId, connected: &HashSet<PeerId>, times: &Times, now: Instant) -> Step {
        // A leader's time, and whether it is worth waiting for.
        let runs = |id: &PeerId| {
            let presence = self.present.get(id)?;
            let until = presence.began? + times.result;
            let alive = presence.ended.is_none() && until > now && connected.contains(id);
            alive.then_some(until)
        };
        if let Some(until) = self.order.iter().find_map(runs) {
            return Step::Wait(until);
        }
        let led = |id: &&PeerId| self.present.get(*id).is_some_and(|p| p.began.is_some());
        if self.order.iter().filter(led).count() >= MOST_LEADERS {
            return Step::Failed;
        }
        let Some(full) = self.full.filter(|_| self.present.len() >= self.needed) else {
            let until = self.since + times.party;
            return if until > now { Step::Wait(until) } else { Step::Short };
        };
        // Each that could lead and stays silent costs one timeout, from the end of the one before.
        let ends = self.present.values().filter_map(|presence| presence.ended_at);
        let mut turn = ends.fold(full, Instant::max);
        for id in self.order.iter().filter(|id| !led(id)) {
            let here = self.present.contains_key(id);
            if !here && !connected.contains(id) {
                continue;
            }
            if here && *id == me {
                let awaited =
                    |id: &&PeerId| !self.present.contains_key(*id) && connected.contains(id);
                let gathered = full + GATHER;
                if gathered > now && self.order.iter().any(|id| awaited(&id)) {
                    return Step::Wait(gathered);
                }
                let here = |id: &&PeerId| self.present.contains_key(id) && connected.contains(id);
                return Step::Lead(self.order.iter().filter(here).copied().collect());
            }
            turn += times.join;
            if turn > now {
                return Step::Wait(turn);
            }
        }
        Step::Failed
    }
}

#[cfg(test)]
mod tests;
