//! The side of the node that is asked by its API: propose, gather joins, start, try again.

use crate::Error;
use crate::ceremony::agreement::{Agreement, Plan, Proposed, threshold_of};
use crate::ceremony::fault::{blame, receipt};
use crate::ceremony::join::{BUSY, clip};
use crate::ceremony::mailbox::Mailbox;
use crate::ceremony::suspects::{MOST_RUNS, SuspectSet, Suspects};
use crate::ceremony::{Fault, Finished, Shared, new_record, rounds};
use crate::codec::Frame;
use crate::identity::sorted;
use crate::log::{Basis, BlameRecord, CeremonyRecord, ReceiptRecord, State};
use crate::shares::{Key, KeyId};
use crate::transport::SendError;
use crate::wire::{
    Body, Cause, CeremonyId, Envelope, Fail, Job, Join, Proposal, Start, VERSION, refusal,
};
use libp2p::PeerId;
use minicbor::bytes::ByteVec;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};

/// What the API asks for.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// A new key among `parties`, of which any `threshold` sign.
    Keygen { threshold: u8, parties: Vec<PeerId> },
    /// A signature by some of `candidates`, or without them by some of the key's parties.
    Sign { key: KeyId, digest: [u8; 32], candidates: Option<Vec<PeerId>> },
    /// A new sharing of a key among `parties`, of which any `threshold` sign.
    Reshare { key: KeyId, threshold: u8, parties: Vec<PeerId> },
}

/// Why a request has no result.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The request cannot be met by anybody.
    Invalid(String),
    /// This node cannot begin now.
    Busy(String),
    /// The last ceremony ended without a result.
    Failed(Box<Failed>),
    /// The approval hook denies it.
    Denied(String),
    /// This node's own trouble.
    Internal(Error),
}

/// A ceremony that ended without a result.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) record: CeremonyRecord,
    /// What those that refused gave as the reason, where it has a code.
    pub(crate) codes: HashMap<PeerId, u8>,
}

impl Failed {
    /// Says whether the same request may have a result a moment later: some had no place for a
    /// ceremony, and nobody is blamed.
    pub(crate) fn is_busy(&self) -> bool {
        self.record.blames.is_empty() && self.has(refusal::BUSY)
    }

    /// Says whether somebody refused with this code.
    pub(super) fn has(&self, code: u8) -> bool {
        self.codes.values().any(|given| *given == code)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Internal(error)
    }
}

impl Shared {
    /// Holds ceremonies until one ends with a result, or until too few unblamed nodes are left.
    ///
    /// Not cancel safe: dropping the future leaves the ceremony without an end in the log until the
    /// next start.
    pub(crate) async fn fulfil(
        self: Arc<Self>,
        request: Request,
    ) -> Result<CeremonyRecord, Refusal> {
        let asked = request.clone();
        if let Some(reason) = self.blocking(move |shared| shared.hook_denies(&asked)).await? {
            return Err(Refusal::Denied(reason));
        }
        match request {
            Request::Keygen { threshold, parties } => {
                let job = Job::Keygen { threshold };
                self.once(&job, &sorted(parties)).await
            }
            Request::Sign { key, digest, candidates } => self.sign(key, digest, candidates).await,
            Request::Reshare { key, threshold, parties } => {
                self.reshare(key, threshold, sorted(parties)).await
            }
        }
    }

    /// Holds one ceremony in which all candidates take part.
    pub(super) async fn once(
        self: &Arc<Self>,
        job: &Job,
        candidates: &[PeerId],
    ) -> Result<CeremonyRecord, Refusal> {
        self.check(job, candidates, None)?;
        let Attempt { record, codes, .. } =
            self.attempt(job, candidates, &Suspects::default()).await?;
        match record.state {
            State::Done => Ok(record),
            _ => Err(Refusal::Failed(Box::new(Failed { record, codes }))),
        }
    }

    /// Signs with the sharing in use, and where others have replaced that, with the one that follows.
    ///
    /// A resharing that this node did not see end may have ended elsewhere: then the old sharing is
    /// refused, and all have the new one. It may also end while this signature is made.
    async fn sign(
        self: &Arc<Self>,
        key: KeyId,
        digest: [u8; 32],
        named: Option<Vec<PeerId>>,
    ) -> Result<CeremonyRecord, Refusal> {
        let mut end = Err(Refusal::Invalid(format!("this node has no share of key {key}")));
        for held in self.shares.sharings(&key) {
            let parties = held.key.parties.iter();
            let may_sign = |id: &&PeerId| named.as_ref().is_none_or(|named| named.contains(id));
            let candidates = parties.filter(may_sign).copied().collect();
            end = self.sign_with(&held.key, digest, candidates).await;
            match &end {
                Err(Refusal::Failed(failed)) if !failed.is_busy() => {}
                _ => return end,
            }
        }
        end
    }

    async fn sign_with(
        self: &Arc<Self>,
        key: &Key,
        digest: [u8; 32],
        candidates: Vec<PeerId>,
    ) -> Result<CeremonyRecord, Refusal> {
        let sharing = Some(key.number).filter(|number| *number > 0);
        let job = Job::Sign { key: key.id.0.into(), digest: digest.into(), sharing };
        let mut candidates = self.without_retired(key, candidates);
        let mut suspects = Suspects::default();
        let mut runs = 0;
        loop {
            runs += 1;
            candidates = sorted(candidates);
            self.check(&job, &candidates, Some(key))?;
            let Attempt { record, found, codes } =
                self.attempt(&job, &candidates, &suspects).await?;
            let failed = Err(Refusal::Failed(Box::new(Failed { record: record.clone(), codes })));
            if record.state == State::Done {
                return Ok(record);
            }
            let lasting: Vec<_> = found.iter().filter(|set| lasts(&record, set)).cloned().collect();
            self.suspects.add(key.id, &lasting, Instant::now());
            if found.is_empty() || runs == MOST_RUNS || *self.stop.borrow() {
                return failed;
            }
            suspects.extend(found);
            candidates = self.without_retired(key, candidates);
            candidates.retain(|id| !suspects.condemns(id));
            let others: Vec<_> =
                candidates.iter().filter(|id| **id != self.me()).copied().collect();
            if suspects.choose(&others, usize::from(key.threshold) - 1).is_none() {
                return failed;
            }
            tracing::info!(event = "ceremony_again", after = %record.id, left = candidates.len());
        }
    }

    fn check(&self, job: &Job, candidates: &[PeerId], key: Option<&Key>) -> Result<(), Refusal> {
        let me = self.me();
        let knows = |id: &PeerId| *id == me || self.config.peers.iter().any(|peer| peer.id == *id);
        if let Some(stranger) = candidates.iter().find(|id| !knows(id)) {
            return Err(Refusal::Invalid(format!("{stranger} is not a configured peer")));
        }
        if !candidates.contains(&me) {
            return Err(Refusal::Invalid("this node must be among the parties".into()));
        }
        match job {
            Job::Keygen { threshold } => {
                threshold_of(*threshold, candidates.len()).map_err(Refusal::Invalid)?;
            }
            Job::Reshare(asked) => drop(Plan::check(asked).map_err(Refusal::Invalid)?),
            Job::Sign { .. } => {}
        }
        let needed = super::needed(job, candidates.len(), key);
        if candidates.len() < needed {
            let reason = format!("{} parties can sign, {needed} are needed", candidates.len());
            return Err(Refusal::Invalid(reason));
        }
        Ok(())
    }

    /// Leaves out those with whom this node must not use the key again.
    fn without_retired(&self, key: &Key, mut candidates: Vec<PeerId>) -> Vec<PeerId> {
        candidates.retain(|peer| !self.retired.has(&key.sharing(), peer));
        candidates
    }

    /// Holds one ceremony.
    async fn attempt(
        self: &Arc<Self>,
        job: &Job,
        candidates: &[PeerId],
        suspects: &Suspects,
    ) -> Result<Attempt, Refusal> {
        let nonce = *self.fresh();
        let id = CeremonyId::new(&self.me(), &nonce);
        let mailbox = self
            .mailboxes
            .open(id, None, candidates)
            .map_err(|full| Refusal::Busy(full.to_string()))?;
        let mut record = new_record(id, job, self.me(), candidates);
        self.begin(&record).await?;
        let mut stop = self.stop.clone();
        let end = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => Err(Fault::own("the node is stopping")),
            end = self.hold(id, nonce, job, candidates, suspects, mailbox, &mut record) => end,
        };
        let fault = end.as_ref().err();
        let found = fault.map(|fault| fault.suspects.clone()).unwrap_or_default();
        let codes = fault.iter().flat_map(|fault| fault.codes.iter().copied()).collect();
        Ok(Attempt { record: self.end(record, end).await?, found, codes })
    }

    /// Proposes, gathers joins, starts and runs the protocol.
    #[expect(clippy::too_many_arguments, reason = "all of one ceremony's, used here only")]
    async fn hold(
        self: &Arc<Self>,
        id: CeremonyId,
        drawn: [u8; 32],
        job: &Job,
        candidates: &[PeerId],
        suspects: &Suspects,
        mut mailbox: Mailbox,
        record: &mut CeremonyRecord,
    ) -> Result<Finished, Fault> {
        let proposal = Proposal {
            job: job.clone(),
            candidates: candidates.iter().map(|id| id.to_bytes().into()).collect(),
            nonce: drawn.into(),
            speaks: Some(VERSION),
        };
        let frame = self.seal(id, None, 0, &Body::Propose(proposal.clone()));
        let envelope = Envelope::open(&frame).map_err(Fault::own)?;
        let key = |id| self.shares.sharing(&id);
        let proposed =
            Proposed::check(&envelope, &proposal, self.me(), |_| true, key).map_err(Fault::own)?;
        let nonce = *self.fresh();
        let (given, proposal) = (nonce.into(), proposed.hash.into());
        let join = Join::Accept { nonce: given, proposal, without: Vec::new() };
        let own = self.seal(id, Some(self.me()), 0, &Body::Join(join)).to_vec();
        let mut gathering = Gathering::new(self, &proposed, own, suspects);
        let chosen = gathering.run(self, frame, &mut mailbox).await;
        record.blames = gathering.blames(self);
        let early = core::mem::take(&mut gathering.early);
        let Ok(start) = chosen else {
            let fail = Fail { reason: "too few joined".into(), cause: Cause::Own };
            let frame = self.seal(id, None, 0, &Body::Fail(fail));
            self.tell(&gathering.reached(self.me()), &frame);
            return Err(gathering.fault(self, proposed.needed()));
        };
        let frame = self.seal(id, None, 0, &Body::Start(start));
        self.tell(&gathering.reached(self.me()), &frame);
        let start = Envelope::open(&frame).map_err(Fault::own)?;
        let agreement = Agreement::check(proposed, start, self.me(), &nonce)
            .map_err(Fault::own)?
            .ok_or_else(|| Fault::own("this node is not among the participants"))?;
        record.participants = agreement.peers().map(|id| id.to_string()).collect();
        rounds::run(self, &agreement, mailbox, early).await
    }

    /// Sends the same message to several, without waiting for it.
    fn tell(self: &Arc<Self>, to: &[PeerId], frame: &Frame) {
        let until = Instant::now() + self.config.timeouts.join();
        for peer in to {
            let (shared, peer, frame) = (self.clone(), *peer, frame.clone());
            tokio::spawn(async move { shared.deliver(peer, frame, until).await });
        }
    }
}

/// How one ceremony ended.
struct Attempt {
    record: CeremonyRecord,
    /// The suspect sets that it found.
    found: Vec<SuspectSet>,
    codes: HashMap<PeerId, u8>,
}

/// Says whether a suspect set is remembered for later requests: absence and trouble pass.
fn lasts(record: &CeremonyRecord, set: &SuspectSet) -> bool {
    let about = |blame: &&BlameRecord| {
        let names = |peer: &PeerId| {
            let peer = peer.to_string();
            blame.peer == peer || blame.reporter == peer
        };
        set.iter().all(names)
    };
    match record.blames.iter().find(about) {
        Some(blame) => blame.evidence != Basis::Absence,
        None => set.len() > 1,
    }
}

/// The answers to one proposal.
struct Gathering {
    me: PeerId,
    /// SHA-256 of what was proposed.
    proposal: [u8; 32],
    needed: usize,
    /// All candidates, the preferred first.
    order: Vec<PeerId>,
    joins: HashMap<PeerId, Vec<u8>>,
    refusals: HashMap<PeerId, String>,
    /// Those whose refusal has a code.
    codes: HashMap<PeerId, u8>,
    /// Joins that nobody could accept; whoever sent one is in `refusals` too.
    wrong: HashMap<PeerId, ReceiptRecord>,
    unreachable: HashMap<PeerId, SendError>,
    /// Those that stayed away a short time ago: they are waited for last.
    late: HashSet<PeerId>,
    /// What this request's failed runs found, and which pairs do not sign together.
    suspects: Suspects,
    /// The same, with what earlier requests found.
    remembered: Suspects,
    early: Vec<Envelope>,
    /// When the proposal was made.
    begun: Instant,
    /// The time to answer is up.
    expired: bool,
}

/// Too few joined.
struct NoQuorum;

impl Gathering {
    fn new(shared: &Shared, proposed: &Proposed, own: Vec<u8>, suspects: &Suspects) -> Self {
        let order = proposed.order(|id| shared.was_absent(id));
        let key = proposed.key.as_ref().map(|key| key.id);
        let mut remembered =
            key.map(|key| shared.suspects.of(&key, Instant::now())).unwrap_or_default();
        remembered.merge(suspects);
        let others: Vec<_> = order.iter().filter(|id| **id != shared.me()).copied().collect();
        if let Some(key) = key
            && remembered.choose(&others, proposed.needed() - 1).is_none()
        {
            // They cannot all be right any more: somebody was repaired, or a line was cut for a while.
            shared.suspects.forget(&key);
            remembered = suspects.clone();
        }
        Gathering {
            me: shared.me(),
            proposal: proposed.hash,
            needed: proposed.needed(),
            late: order.iter().filter(|id| shared.was_absent(id)).copied().collect(),
            suspects: suspects.clone(),
            remembered,
            order,
            joins: HashMap::from([(shared.me(), own)]),
            refusals: HashMap::new(),
            codes: HashMap::new(),
            wrong: HashMap::new(),
            unreachable: HashMap::new(),
            early: Vec::new(),
            begun: Instant::now(),
            expired: false,
        }
    }

    /// Sends the proposal and waits until it is clear who takes part.
    async fn run(
        &mut self,
        shared: &Arc<Shared>,
        frame: Frame,
        mailbox: &mut Mailbox,
    ) -> Result<Start, NoQuorum> {
        let until = self.begun + shared.config.timeouts.join();
        let (told, mut news) = mpsc::channel(self.order.len().max(1));
        let mut asking = JoinSet::new();
        // Those that have the proposal, and have not ended since.
        let mut delivered = HashSet::new();
        for peer in self.order.iter().filter(|id| **id != shared.me()) {
            asking.spawn(ask(shared.clone(), *peer, frame.clone(), told.clone()));
        }
        loop {
            if let Some(chosen) = self.chosen(false) {
                return chosen;
            }
            let unheard = |id: &&PeerId| !self.answered(id);
            let unheard: Vec<_> = delivered.iter().filter(unheard).copied().collect();
            let waited = timeout_at(until, async {
                tokio::select! {
                    gone = shared.transport.gone(&unheard, self.begun) => {
                        delivered.remove(&gone);
                        self.unreachable.insert(gone, SendError::Unreachable);
                    }
                    envelope = mailbox.next() => if let Some(envelope) = envelope {
                        self.take(envelope);
                    },
                    Some((peer, sent)) = news.recv() => match sent {
                        Ok(()) => {
                            delivered.insert(peer);
                            self.unreachable.remove(&peer);
                        }
                        Err(error) => drop(self.unreachable.insert(peer, error)),
                    },
                }
            });
            if waited.await.is_err() {
                self.expired = true;
                return self.chosen(true).unwrap_or(Err(NoQuorum));
            }
        }
    }

    fn take(&mut self, envelope: Envelope) {
        match &envelope.body {
            // A second join changes nothing: it may have been sent again.
            Body::Join(_) if self.joins.contains_key(&envelope.from) => {}
            Body::Join(_) if self.refusals.contains_key(&envelope.from) => {}
            Body::Join(Join::Accept { proposal, without, .. }) => {
                // The others check it too, and would blame who passed it on.
                if <[u8; 32]>::from(*proposal) == self.proposal && envelope.to == Some(self.me) {
                    self.part(envelope.from, without);
                    self.joins.insert(envelope.from, envelope.to_bytes());
                } else {
                    self.refusals.insert(envelope.from, WRONG_JOIN.to_owned());
                    self.wrong.insert(envelope.from, receipt(&envelope, true));
                }
            }
            Body::Join(Join::Refuse(reason, code)) => {
                let before = || (reason == BUSY).then_some(refusal::BUSY);
                if let Some(code) = code.or_else(before) {
                    self.codes.insert(envelope.from, code);
                }
                self.refusals.insert(envelope.from, clip(reason));
            }
            Body::Protocol(_) => self.early.push(envelope),
            _ => {}
        }
    }

    /// Keeps apart a node and those with whom it does not sign.
    fn part(&mut self, from: PeerId, without: &[ByteVec]) {
        for peer in without.iter().filter_map(|bytes| crate::wire::peer(bytes).ok()) {
            let pair: SuspectSet =
                [from, peer].into_iter().filter(|peer| *peer != self.me).collect();
            self.suspects.add(pair.clone());
            self.remembered.add(pair);
        }
    }

    /// The participants, once nobody preferred to them can still join; `None` before that.
    fn chosen(&self, timeout: bool) -> Option<Result<Start, NoQuorum>> {
        if self.order.len() - self.refusals.len() < self.needed {
            return Some(Err(NoQuorum));
        }
        let joined = |id: &PeerId| self.joins.contains_key(id);
        let may_join = |id: &PeerId| {
            !timeout && !self.refusals.contains_key(id) && !self.unreachable.contains_key(id)
        };
        let possible: Vec<PeerId> = self
            .order
            .iter()
            .filter(|id| **id != self.me && (joined(id) || may_join(id)))
            .copied()
            .collect();
        let prompt: Vec<PeerId> =
            possible.iter().filter(|id| joined(id) || !self.late.contains(id)).copied().collect();
        let others = self.needed - 1;
        let answered = |id: &PeerId| joined(id) || self.refusals.contains_key(id);
        let over = timeout || self.order.iter().all(answered);
        let signers = self
            .remembered
            .choose(&prompt, others)
            .or_else(|| self.remembered.choose(&possible, others))
            .or_else(|| over.then(|| self.suspects.choose(&possible, others)).flatten());
        let Some(mut signers) = signers else {
            // Those that cannot be reached are asked again until the time is up.
            return over.then_some(Err(NoQuorum));
        };
        if !signers.iter().all(joined) {
            return None;
        }
        signers.push(self.me);
        let joins = sorted(signers).iter().map(|id| self.joins[id].clone().into()).collect();
        Some(Ok(Start { joins }))
    }

    /// Those that may know of the proposal.
    fn reached(&self, me: PeerId) -> Vec<PeerId> {
        let reached = |id: &&PeerId| **id != me && !self.unreachable.contains_key(*id);
        self.order.iter().filter(reached).copied().collect()
    }

    /// Who did not answer before it was clear who takes part; they are remembered.
    fn blames(&self, shared: &Shared) -> Vec<BlameRecord> {
        let mut blames = Vec::new();
        // The last that was chosen: nobody waited for those after it, whether or not some joined.
        let joined = self.order.iter().enumerate().filter(|(_, id)| self.joins.contains_key(*id));
        let last = joined.map(|(rank, _)| rank).nth(self.needed.saturating_sub(1)).unwrap_or(0);
        let short = self.joins.len() < self.needed;
        let trouble = self.expired && shared.own_trouble(self.begun).is_some();
        for (rank, id) in self.order.iter().enumerate() {
            if self.answered(id) || (rank > last && !short) || trouble || !self.is_absent(id) {
                continue;
            }
            shared.note_absent(*id);
            let fault = shared.absence(id, self.begun, &self.absence(id));
            blames.push(blame(*id, shared.me(), 0, &fault, Basis::Absence));
        }
        blames.extend(self.wrong_joins());
        blames
    }

    /// The blame of those whose joins nobody could accept. It is an accusation: only this node knows
    /// what it proposed to them.
    fn wrong_joins(&self) -> impl Iterator<Item = BlameRecord> {
        self.order.iter().filter_map(|id| {
            let mut blame = blame(*id, self.me, 0, WRONG_JOIN, Basis::Accusation);
            blame.receipts.push(self.wrong.get(id)?.clone());
            Some(blame)
        })
    }

    fn answered(&self, id: &PeerId) -> bool {
        self.joins.contains_key(id) || self.refusals.contains_key(id)
    }

    /// Says whether a node that has not answered is absent: its time is up, or it cannot be reached.
    ///
    /// Refusals may end the gathering long before; then the others could still have answered. A node
    /// that says that it is busy is there.
    fn is_absent(&self, id: &PeerId) -> bool {
        match self.unreachable.get(id) {
            Some(SendError::Busy | SendError::Backlog) => false,
            Some(_) => true,
            None => self.expired,
        }
    }

    fn absence(&self, id: &PeerId) -> String {
        match self.unreachable.get(id) {
            Some(error) => error.to_string(),
            None if self.expired => "did not answer the proposal".to_owned(),
            None => "had not answered yet".to_owned(),
        }
    }

    /// Why there was no quorum; the blames are in the record already.
    fn fault(&self, shared: &Shared, needed: usize) -> Fault {
        let mut reasons = Vec::new();
        for id in &self.order {
            if let Some(reason) = self.refusals.get(id) {
                reasons.push(format!("{} refused: {reason}", shared.name(id)));
            } else if !self.joins.contains_key(id) {
                reasons.push(format!("{} {}", shared.name(id), self.absence(id)));
            }
        }
        if self.expired {
            reasons.extend(shared.own_trouble(self.begun));
        }
        let joined = self.joins.len();
        let mut reason = format!("{joined} of {needed} needed nodes joined");
        if joined >= needed {
            let names: Vec<_> = self.joins.keys().map(|id| shared.name(id)).collect();
            reason += &format!(
                "; no {needed} of {} sign together, because a pairwise setup is retired or a run of \
                 them failed",
                names.join(", ")
            );
        }
        reasons.iter().for_each(|why| reason += &format!("; {why}"));
        let suspects = self.wrong.keys().map(|id| SuspectSet::from([*id])).collect();
        let codes = self.codes.iter().map(|(&peer, &code)| (peer, code)).collect();
        Fault { suspects, codes, ..Fault::own(reason) }
    }
}

/// What a node is blamed for that joins something else than was proposed to it.
const WRONG_JOIN: &str = "joined another proposal, or sent its join to somebody else";

/// Asks one candidate until it has the proposal, and tells each time what became of it.
///
/// Cancel safe: dropping the future stops asking.
async fn ask(
    shared: Arc<Shared>,
    peer: PeerId,
    frame: Frame,
    told: mpsc::Sender<(PeerId, Result<(), SendError>)>,
) {
    loop {
        shared.metrics.sent(&peer, frame.len());
        let sent = shared.transport.send(peer, frame.clone()).await;
        let again = sent.as_ref().is_err_and(SendError::is_passing);
        if told.send((peer, sent)).await.is_err() || !again {
            return;
        }
        sleep(Duration::from_millis(200)).await;
    }
}

#[cfg(test)]
mod tests;
