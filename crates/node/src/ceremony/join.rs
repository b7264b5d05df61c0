//! The side of those that are asked: answer a proposal, await the start, take part.

use crate::ceremony::agreement::{Agreement, Proposed};
use crate::ceremony::mailbox::{Full, Mailbox};
use crate::ceremony::{Caller, Fault, Finished, Shared, new_record, rounds};
use crate::config::SignPolicy;
use crate::log::Basis;
use crate::shares::{KeyId, SharingId};
use crate::wire::{Body, Envelope, Job, Join, Proposal, VERSION, refusal};
use libp2p::PeerId;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

/// The longest reason that is sent or kept, in bytes.
pub(crate) const MAX_REASON: usize = 300;

/// What nodes that speak version 3 say instead of [`refusal::BUSY`].
pub(crate) const BUSY: &str = "no place for another ceremony is free";

/// Why a proposal is refused.
#[derive(Debug)]
pub(super) struct Unwilling {
    pub(super) reason: String,
    /// One of [`refusal`]'s.
    pub(super) code: Option<u8>,
}

impl Unwilling {
    fn busy() -> Self {
        Unwilling { reason: BUSY.into(), code: Some(refusal::BUSY) }
    }
}

impl<T: ToString> From<T> for Unwilling {
    fn from(reason: T) -> Self {
        Unwilling { reason: reason.to_string(), code: None }
    }
}

impl Shared {
    /// Answers a proposal and takes part in its ceremony to the end; `permit` counts it meanwhile.
    ///
    /// A refusal is sent once, if one of `refusals` is free: a proposer that acknowledges none misses
    /// its own refusals only.
    ///
    /// Not cancel safe: dropping the future leaves the ceremony without an end in the log until the
    /// next start.
    pub(crate) async fn participate(
        self: Arc<Self>,
        envelope: Envelope,
        proposal: Proposal,
        permit: OwnedSemaphorePermit,
        refusals: Arc<Semaphore>,
    ) {
        let until = Instant::now() + self.config.timeouts.join();
        let coded = proposal.speaks.is_some_and(|version| version >= VERSION);
        match self.accept(&envelope, &proposal).await {
            Ok((proposed, mailbox)) => self.take_part(proposed, mailbox, until).await,
            Err(Unwilling { reason, .. }) if reason == Full::Runs.to_string() => {
                tracing::debug!(event = "proposal_repeated", ceremony = %envelope.ceremony);
            }
            Err(Unwilling { reason, code }) => {
                // The refusal has a bound of its own.
                drop(permit);
                let Ok(_refusing) = refusals.try_acquire() else { return };
                tracing::info!(event = "proposal_refused", ceremony = %envelope.ceremony, reason);
                let body = Body::Join(Join::Refuse(clip(&reason), code.filter(|_| coded)));
                let frame = self.seal(envelope.ceremony, Some(envelope.from), 0, &body);
                let _ = self.deliver(envelope.from, frame, until).await;
            }
        }
    }

    /// Checks a proposal against what this node knows and agrees to, and enters it in the log.
    async fn accept(
        self: &Arc<Self>,
        envelope: &Envelope,
        proposal: &Proposal,
    ) -> Result<(Proposed, Mailbox), Unwilling> {
        let knows = |id: &_| self.config.peers.iter().any(|peer| peer.id == *id);
        self.has_sharing(&proposal.job)?;
        let key = |id| self.shares.sharing(&id);
        let proposed = Proposed::check(envelope, proposal, self.me(), knows, key)?;
        let mut mailbox = self
            .mailboxes
            .open(proposed.id, Some(proposed.proposer), &proposed.candidates)
            .map_err(|full| if full == Full::Peer { Unwilling::busy() } else { full.into() })?;
        if let Some(plan) = &proposed.resharing {
            let alone = self.resharings.begin(plan.from.key);
            mailbox.keep_alone(alone.ok_or_else(Unwilling::busy)?);
        }
        // What the proposer says meanwhile is in the mailbox. It still has half of its time afterwards.
        let caller = Caller::Peer(proposed.proposer);
        let turn = self.turns.take(caller, self.config.limits.ceremonies_per_peer);
        let turn = timeout(self.config.timeouts.join() / 2, turn).await;
        mailbox.hold(turn.ok().and_then(Result::ok).ok_or_else(Unwilling::busy)?);
        let (asked, proposer) = (proposed.clone(), proposed.proposer);
        let agrees = move |shared: &Self| {
            let refused = shared.agrees(&asked)?;
            Ok(refused.or_else(|| shared.hook_refuses(&asked).map(Unwilling::from)))
        };
        self.blocking(agrees)
            .await
            .and_then(|agreed| agreed)
            .map_or_else(|error| Err(error.into()), |refused| refused.map_or(Ok(()), Err))?;
        let record = new_record(proposed.id, &proposed.job, proposer, &proposed.candidates);
        match self.begin(&record).await {
            Ok(true) => Ok((proposed, mailbox)),
            Ok(false) => Err("a ceremony of this name was held before".into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses a signature with a sharing that this node has replaced, or does not have yet.
    fn has_sharing(&self, job: &Job) -> Result<(), Unwilling> {
        let Job::Sign { key, sharing, .. } = job else { return Ok(()) };
        let id = SharingId { key: KeyId((*key).into()), number: sharing.unwrap_or_default() };
        match self.shares.key(&id.key) {
            Some(current) if self.shares.sharing(&id).is_none() => Err(Unwilling {
                reason: format!(
                    "its share is of sharing {} of the key, the proposer's of sharing {}; refresh \
                     the key at a node with the later one",
                    current.number, id.number
                ),
                code: Some(refusal::SHARING),
            }),
            _ => Ok(()),
        }
    }

    /// Says why this node does not agree to a job, if it does not.
    fn agrees(&self, proposed: &Proposed) -> Result<Option<Unwilling>, crate::Error> {
        let proposer = proposed.proposer;
        let digest: [u8; 32] = match &proposed.job {
            Job::Keygen { threshold } => {
                return Ok(self.agrees_to_a_key(proposer, *threshold).map(Unwilling::from));
            }
            Job::Reshare(_) => {
                let plan = proposed.resharing.as_deref();
                return plan.map_or(Ok(None), |plan| self.agrees_to_reshare(plan, proposer));
            }
            Job::Sign { digest, .. } => (*digest).into(),
        };
        let Some(key) = &proposed.key else { return Ok(None) };
        if self.retired.has(&key.sharing(), &proposer) {
            let reason = "the pairwise setup with the proposer is retired; refresh the key";
            return Ok(Some(reason.into()));
        }
        let free = self.config.policy.sign == SignPolicy::Peers;
        if !free && !self.log.is_approved(&key.id, &digest)? {
            return Ok(Some("this node has not approved the digest".into()));
        }
        Ok(None)
    }

    pub(super) fn agrees_to_a_key(&self, proposer: PeerId, threshold: u8) -> Option<&'static str> {
        if threshold < self.config.policy.least_threshold {
            return Some("the threshold is below this node's policy.least_threshold");
        }
        if !self.config.policy.keygen.allows(&self.config.peer_name(&proposer)) {
            return Some("this node makes no keys that this peer proposes");
        }
        let free = self.keygens.take(proposer, Instant::now());
        (!free).then_some("this peer has proposed as many keys as it may in an hour")
    }

    async fn take_part(self: Arc<Self>, proposed: Proposed, mailbox: Mailbox, until: Instant) {
        let mut record =
            new_record(proposed.id, &proposed.job, proposed.proposer, &proposed.candidates);
        let mut stop = self.stop.clone();
        let participants = &mut record.participants;
        let end = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => Err(Fault::own("the node is stopping")),
            end = self.joined(proposed, mailbox, until, participants) => end,
        };
        if let Err(error) = self.end(record, end).await {
            tracing::error!(event = "log_failed", %error);
        }
    }

    /// Sends the join, awaits the start and runs the protocol.
    async fn joined(
        self: &Arc<Self>,
        proposed: Proposed,
        mut mailbox: Mailbox,
        until: Instant,
        participants: &mut Vec<String>,
    ) -> Result<Finished, Fault> {
        let proposer = proposed.proposer;
        let nonce = *self.fresh();
        let without =
            proposed.key.as_ref().map(|key| self.retired.of(&key.sharing())).unwrap_or_default();
        let join = Join::Accept {
            nonce: nonce.into(),
            proposal: proposed.hash.into(),
            without: without.iter().map(|peer| peer.to_bytes().into()).collect(),
        };
        let frame = self.seal(proposed.id, Some(proposer), 0, &Body::Join(join));
        let (begun, proposing) = (Instant::now(), [proposer]);
        let blamed = |fault: &str, basis| {
            if basis == Basis::Absence
                && let Some(trouble) = self.own_trouble(begun)
            {
                return Fault::own(trouble);
            }
            Fault::of(proposer, self.me(), 0, fault, basis, &self.name(&proposer))
        };
        if self.deliver(proposer, frame, until).await.is_err() {
            return Err(blamed("could not be reached for the join", Basis::Absence));
        }
        // The proposer waits for others up to its own timeout, which began a little earlier.
        let until = until + self.config.timeouts.join();
        let mut early = Vec::new();
        let mut asked = HashSet::new();
        let start = loop {
            let next = async {
                tokio::select! {
                    biased;
                    next = mailbox.next() => next,
                    _ = self.transport.gone(&proposing, begun) => None,
                }
            };
            let Ok(Some(envelope)) = timeout_at(until, next).await else {
                return Err(blamed("did not start the ceremony", Basis::Absence));
            };
            match &envelope.body {
                Body::Start(_) if proposed.is_start(&envelope) => break envelope,
                // Whoever passes it on need not be trusted: the proposer signed it.
                Body::Started(bytes) => match Envelope::open(bytes) {
                    Ok(start) if proposed.is_start(&start) => break start,
                    _ => {}
                },
                Body::Fail(_) if envelope.from == proposer => return Ok(Finished::Released),
                // Others may have been told of the start before this node, or instead of it.
                Body::Protocol(_) | Body::Fail(_) => {
                    if matches!(envelope.body, Body::Protocol(_)) && asked.insert(envelope.from) {
                        self.ask_start(&proposed, envelope.from);
                    }
                    early.push(envelope);
                }
                _ => {}
            }
        };
        let released = Arc::new(start.clone());
        match Agreement::check(proposed, start, self.me(), &nonce) {
            Ok(Some(agreement)) => {
                *participants = agreement.peers().map(|id| id.to_string()).collect();
                rounds::run(self, &agreement, mailbox, early).await
            }
            Ok(None) => {
                // Who was told of another start may wait for this node.
                self.starts.keep(&released);
                Ok(Finished::Released)
            }
            Err(reason) => Err(blamed(&format!("malformed start: {reason}"), Basis::Accusation)),
        }
    }

    /// Asks a participant that has begun for the start.
    fn ask_start(self: &Arc<Self>, proposed: &Proposed, of: PeerId) {
        let frame = self.seal(proposed.id, Some(of), 0, &Body::WhichStart);
        let (shared, until) = (self.clone(), Instant::now() + self.config.timeouts.join());
        tokio::spawn(async move { shared.deliver(of, frame, until).await });
    }
}

/// Cuts a text to what is sent, at a character's border.
pub(crate) fn clip(text: &str) -> String {
    text.char_indices()
        .take_while(|(at, c)| at + c.len_utf8() <= MAX_REASON)
        .map(|(_, c)| c)
        .collect()
}
