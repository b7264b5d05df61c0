//! Who has said what of which request: bounded for each node, and forgotten after a while.

use crate::wire::{Blamed, CeremonyId, Failed, Outcome, Said};
use libp2p::PeerId;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// Requests that are remembered of each node; the oldest goes first.
const MOST_OF_NODE: usize = 512;
/// How long a result is kept for clients that ask again.
const MEMORY: Duration = Duration::from_secs(600);

/// Where one node stands with one request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Presence {
    pub(super) began: Option<Instant>,
    pub(super) ended: Option<Outcome>,
    pub(super) ended_at: Option<Instant>,
}

/// All requests.
#[derive(Debug, Default)]
pub(super) struct Table {
    requests: HashMap<CeremonyId, HashMap<PeerId, Presence>>,
    /// What each node spoke of, the oldest first.
    spoken: HashMap<PeerId, VecDeque<(CeremonyId, Instant)>>,
}

impl Table {
    pub(super) fn hear(&mut self, id: CeremonyId, from: PeerId, said: Said, now: Instant) {
        self.forget(from, now);
        if said == Said::Left {
            self.remove(id, from);
            return;
        }
        let presences = self.requests.entry(id).or_default();
        if !presences.contains_key(&from) {
            self.spoken.entry(from).or_default().push_back((id, now));
        }
        let presence = presences.entry(from).or_default();
        match said {
            // Whoever asks again forgets what became of it before.
            Said::Here => *presence = Presence::default(),
            Said::Began => presence.began = Some(now),
            Said::Ended(outcome) => {
                presence.ended = Some(outcome);
                presence.ended_at = Some(now);
            }
            Said::Left => {}
        }
    }

    pub(super) fn present(&self, id: CeremonyId) -> HashMap<PeerId, Presence> {
        self.requests.get(&id).cloned().unwrap_or_default()
    }

    /// Forgets what is old, and what is too much.
    fn forget(&mut self, from: PeerId, now: Instant) {
        let Some(spoken) = self.spoken.get_mut(&from) else { return };
        let mut gone = Vec::new();
        while let Some((id, when)) = spoken.front().copied() {
            if spoken.len() < MOST_OF_NODE && now.duration_since(when) < MEMORY {
                break;
            }
            spoken.pop_front();
            gone.push(id);
        }
        gone.into_iter().for_each(|id| self.drop_presence(id, from));
    }

    fn remove(&mut self, id: CeremonyId, from: PeerId) {
        if let Some(spoken) = self.spoken.get_mut(&from) {
            spoken.retain(|(other, _)| *other != id);
        }
        self.drop_presence(id, from);
    }

    fn drop_presence(&mut self, id: CeremonyId, from: PeerId) {
        if let Some(presences) = self.requests.get_mut(&id) {
            presences.remove(&from);
            if presences.is_empty() {
                self.requests.remove(&id);
            }
        }
    }
}

/// What go-tss says where too few nodes were asked for the same in time.
pub(crate) const SYNC_FAIL: &str = "signers fail to sync before keygen/keysign";

/// The failure of a request for which too few nodes are here.
pub(super) fn short<'a>(
    missing: impl Iterator<Item = &'a PeerId>,
    here: usize,
    needed: usize,
) -> Failed {
    let fault = "its client did not ask for the same in time".to_owned();
    let blamed = missing.map(|id| Blamed {
        peer: id.to_bytes().into(),
        round: 0,
        fault: fault.clone(),
        absent: true,
    });
    let reason = format!("{SYNC_FAIL}: {here} of {needed} needed nodes");
    Failed { reason, blamed: blamed.collect() }
}

/// What the last leader said that failed, or that the leaders said nothing.
pub(super) fn last_failure(order: &[PeerId], present: &HashMap<PeerId, Presence>) -> Failed {
    let led = order.iter().rev().filter_map(|id| Some((id, present.get(id)?)));
    let mut silent = Vec::new();
    for (id, presence) in led.filter(|(_, presence)| presence.began.is_some()) {
        match &presence.ended {
            Some(Outcome::Failed(failed)) => return failed.clone(),
            Some(_) => silent.push((id, "its result is wrong")),
            None => silent.push((id, "did not tell the result in time")),
        }
    }
    let blamed = silent.into_iter().map(|(id, fault)| Blamed {
        peer: id.to_bytes().into(),
        round: 0,
        fault: fault.into(),
        absent: fault.starts_with("did not"),
    });
    Failed { reason: "no node brought the request to an end".into(), blamed: blamed.collect() }
}
