//! Ceremonies: several nodes agree to run one protocol together, and each ends with a result or with
//! stored blame.
//!
//! Any node may propose. Those asked answer with a signed join; the proposer then names the
//! participants by their joins, so that each sees that the others agreed to the same proposal. For a
//! signature exactly as many take part as the key needs, chosen by a fixed order among those that
//! answered, so that no one waits for a node that is not needed. The session's name binds the
//! proposal and a fresh nonce of every participant: it is new as long as one of them is honest.
//!
//! | phase | file | ends after |
//! |---|---|---|
//! | proposal and joins | [`propose`], [`join`] | the joins that suffice, or `join_ms` |
//! | rounds | [`rounds`] | the protocol's last message, or `round_ms` for a round |
//! | confirmation of a new share | [`rounds`] | everybody's word, or `round_ms` |
//!
//! A node that stays away costs one timeout. A failed signature is proposed again with other
//! signers, which are chosen by what the failed runs showed ([`suspects`]), as long as an honest set
//! of them can be left.

mod agreement;
mod fault;
mod join;
mod mailbox;
mod news;
mod propose;
mod quota;
mod retired;
mod rounds;
mod settle;
mod starts;
mod suspects;
mod turns;

pub(crate) use agreement::{Proposed, threshold_of};
pub(crate) use fault::Fault;
#[cfg(test)]
pub(crate) use fault::blame;
pub(crate) use mailbox::Mailboxes;
pub(crate) use propose::{Refusal, Request};
pub(crate) use quota::KeygenQuota;
pub(crate) use retired::Retired;
pub(crate) use settle::{Resharings, Words, approval};
pub(crate) use starts::{Starts, Stray};
pub(crate) use suspects::Memory;
pub(crate) use turns::{Caller, Turn, Turns};

use crate::budget::Budgets;
use crate::codec::Frame;
use crate::config::Config;
use crate::disk::Disk;
use crate::engine::Engine;
use crate::error::Error;
use crate::events::Events;
use crate::identity::{Identity, domain_hash};
use crate::log::{CeremonyRecord, Log, State};
use crate::meeting::Meetings;
use crate::metrics::Metrics;
use crate::shares::{Key, KeyId, Shares};
use crate::stall::Stalls;
use crate::transport::{SendError, Transport};
use crate::wire::{Body, CeremonyId, Envelope, Job};
use chacha20::ChaCha20Rng;
use libp2p::PeerId;
use rand_core::{Rng, SeedableRng};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use zeroize::Zeroizing;

const FRESH: &str = "tetralith/node/fresh/1";
/// How long a node that stayed away is asked last.
const MEMORY_OF_ABSENCE: Duration = Duration::from_secs(60);

/// The part of a deadline that this node may sleep through and still blame others: one in so many.
const OWN_PART: u32 = 4;

/// What all tasks of a node share.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) identity: Identity,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) transport: Transport,
    pub(crate) shares: Shares,
    pub(crate) log: Log,
    pub(crate) mailboxes: Mailboxes,
    pub(crate) metrics: Metrics,
    pub(crate) events: Events,
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) rng: Mutex<ChaCha20Rng>,
    pub(crate) absent: Mutex<HashMap<PeerId, Instant>>,
    pub(crate) keygens: KeygenQuota,
    pub(crate) retired: Retired,
    pub(crate) budgets: Budgets,
    pub(crate) stalls: Stalls,
    pub(crate) turns: Turns,
    pub(crate) disk: Disk,
    pub(crate) starts: Starts,
    pub(crate) suspects: Memory,
    pub(crate) words: Words,
    pub(crate) resharings: Resharings,
    pub(crate) meetings: Meetings,
}

impl Shared {
    /// This node.
    pub(crate) fn me(&self) -> PeerId {
        self.identity.id()
    }

    /// Draws 32 fresh bytes: a hash of this node's own generator and of the system's.
    ///
    /// The own generator was seeded at the start. A copy of a running machine has the same state, and
    /// would draw the same nonces; only the system's generator tells the two apart.
    pub(crate) fn fresh(&self) -> Zeroizing<[u8; 32]> {
        let mut drawn = Zeroizing::new([0; 64]);
        lock(&self.rng).fill_bytes(&mut drawn[..32]);
        getrandom::fill(&mut drawn[32..]).expect("the system's generator answered at the start");
        Zeroizing::new(domain_hash(FRESH, &[drawn.as_slice()]))
    }

    /// A generator of its own for one job.
    pub(crate) fn fresh_rng(&self) -> ChaCha20Rng {
        ChaCha20Rng::from_seed(*self.fresh())
    }

    /// What people call a node.
    pub(crate) fn name(&self, id: &PeerId) -> String {
        if *id == self.me() { self.config.name.clone() } else { self.config.peer_name(id) }
    }

    /// Runs blocking work, such as a session's step or a write, off the asynchronous threads.
    ///
    /// Cancel safe: dropping the future lets the work finish unseen.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let shared = self.clone();
        tokio::task::spawn_blocking(move || work(&shared)).await.map_err(|_| Error::Stopping)
    }

    /// Signs a message of a ceremony.
    pub(crate) fn seal(
        &self,
        ceremony: CeremonyId,
        to: Option<PeerId>,
        round: u8,
        body: &Body,
    ) -> Frame {
        Envelope::seal(&self.identity, ceremony, to, round, body).into()
    }

    /// Sends until the peer has the message, the failure is final, or `until` has passed.
    ///
    /// Cancel safe: dropping the future stops sending; the message may have arrived.
    pub(crate) async fn deliver(
        &self,
        to: PeerId,
        frame: Frame,
        until: Instant,
    ) -> Result<(), SendError> {
        let mut pause = Duration::from_millis(50);
        loop {
            self.metrics.sent(&to, frame.len());
            let sent = timeout_at(until, self.transport.send(to, frame.clone())).await;
            match sent.unwrap_or(Err(SendError::Timeout)) {
                Err(error) if error.is_passing() && Instant::now() + pause < until => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(1));
                }
                other => return other,
            }
        }
    }

    /// Remembers that a node stayed away.
    pub(crate) fn note_absent(&self, peer: PeerId) {
        lock(&self.absent).insert(peer, Instant::now());
    }

    /// Says whether a node stayed away a short time ago.
    pub(crate) fn was_absent(&self, peer: &PeerId) -> bool {
        lock(&self.absent).get(peer).is_some_and(|when| when.elapsed() < MEMORY_OF_ABSENCE)
    }

    /// Says why nobody can be called absent who did not answer since an instant: this node itself did
    /// not run for a good part of the time, or has lost all its connections.
    pub(crate) fn own_trouble(&self, since: Instant) -> Option<String> {
        let stalled = self.stalls.since(since);
        if stalled > since.elapsed() / OWN_PART {
            return Some(format!("this node did not run for {} ms", stalled.as_millis()));
        }
        let alone = self.config.peers.len() > 1 && self.transport.connected().is_empty();
        alone.then(|| "this node is connected to none of its peers".to_owned())
    }

    /// What a peer is told to have failed that did not answer since an instant.
    pub(crate) fn absence(&self, peer: &PeerId, since: Instant, fault: &str) -> String {
        if self.budgets.dropped_since(peer, since) {
            return format!("{fault} (this node dropped some of its messages: too many at once)");
        }
        fault.to_owned()
    }

    /// Enters a ceremony's beginning; `false` if its name was used before.
    pub(crate) async fn begin(self: &Arc<Self>, record: &CeremonyRecord) -> Result<bool, Error> {
        let kept = record.clone();
        let is_new = self.blocking(move |shared| shared.log.begin(&kept)).await??;
        if is_new {
            self.tell_proposed(record);
        }
        Ok(is_new)
    }

    /// Enters a ceremony's end, and tells of it.
    pub(crate) async fn end(
        self: &Arc<Self>,
        mut record: CeremonyRecord,
        end: Result<Finished, Fault>,
    ) -> Result<CeremonyRecord, Error> {
        record.ended_ms = Some(now_ms());
        match end {
            Ok(Finished::Result { key, bytes }) => {
                record.state = State::Done;
                record.key = Some(key.to_string());
                record.result = Some(hex::encode(bytes));
            }
            Ok(Finished::Released) => record.state = State::Released,
            Err(fault) => {
                record.state = State::Failed;
                record.reason = Some(fault.reason);
                record.blames.extend(fault.blames);
            }
        }
        self.metrics.ended(&record);
        tracing::info!(
            event = "ceremony_ended",
            ceremony = %record.id,
            kind = %record.kind,
            state = ?record.state,
            reason = record.reason,
            ms = record.ended_ms.unwrap_or_default().saturating_sub(record.started_ms),
        );
        let kept = record.clone();
        self.blocking(move |shared| shared.log.end(&kept)).await??;
        self.tell_ended(&record);
        Ok(record)
    }
}

/// How a ceremony ended well for this node.
pub(crate) enum Finished {
    /// With a public key or a signature.
    Result { key: KeyId, bytes: Vec<u8> },
    /// It was not among the chosen.
    Released,
}

/// The beginning of a log entry.
pub(crate) fn new_record(
    id: CeremonyId,
    job: &Job,
    proposer: PeerId,
    candidates: &[PeerId],
) -> CeremonyRecord {
    let (kind, key, digest) = match job {
        Job::Keygen { .. } => ("keygen", None, None),
        Job::Reshare(plan) => ("reshare", Some(KeyId(plan.key.into()).to_string()), None),
        Job::Sign { key, digest, .. } => {
            let digest: [u8; 32] = (*digest).into();
            ("sign", Some(KeyId((*key).into()).to_string()), Some(hex::encode(digest)))
        }
    };
    CeremonyRecord {
        id: id.to_string(),
        kind: kind.into(),
        key,
        digest,
        proposer: proposer.to_string(),
        participants: candidates.iter().map(PeerId::to_string).collect(),
        state: State::Running,
        started_ms: now_ms(),
        ended_ms: None,
        result: None,
        reason: None,
        blames: Vec::new(),
    }
}

/// How many of `candidates` a job needs.
pub(crate) fn needed(job: &Job, candidates: usize, key: Option<&Key>) -> usize {
    match job {
        Job::Keygen { .. } | Job::Reshare(_) => candidates,
        Job::Sign { .. } => key.map_or(usize::MAX, |key| usize::from(key.threshold)),
    }
}

/// Milliseconds since 1970, for people; nothing is decided by it.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Locks, also when another thread panicked while it held the lock: the values stay meaningful.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
