//! The rounds of a ceremony: carry a session's messages, keep its deadlines, and tell who is at fault.

mod guilt;

use crate::ceremony::agreement::Agreement;
use crate::ceremony::fault::receipt;
use crate::ceremony::join::clip;
use crate::ceremony::mailbox::Mailbox;
use crate::ceremony::{Fault, Finished, Shared};
use crate::engine::NewKey;
use crate::identity::domain_hash;
use crate::log::{Basis, ReceiptRecord};
use crate::shares::{Key, KeyId};
use crate::wire::{Accused, Body, Envelope, Fail, Job};
use libp2p::PeerId;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use tetralith_tss::engine::{
    Error as TssError, MessageError, Outgoing, PartyId, Recipient, Session,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use zeroize::Zeroize;

const CONFIRMATION: &str = "tetralith/node/confirmation/1";
/// Broadcasts up to this length are kept whole with their receipts.
const KEPT_PAYLOAD: usize = 1 << 16;

/// Runs the agreed protocol to its end and stores what must be kept.
///
/// Not cancel safe: dropping the future drops the session.
pub(crate) async fn run(
    shared: &Arc<Shared>,
    agreement: &Agreement,
    mailbox: Mailbox,
    early: Vec<Envelope>,
) -> Result<Finished, Fault> {
    tracing::info!(
        event = "ceremony_started",
        ceremony = %agreement.proposed.id,
        participants = agreement.roster.len(),
    );
    let mut room = Room::new(shared.clone(), agreement.clone(), mailbox, early);
    let end = room.perform().await;
    if let Err(fault) = &end {
        // First written, then told: nobody may learn of a failed check that this node could forget.
        room.retire(fault).await;
        room.tell_fault(fault);
    }
    // The last messages may still be on their way; each has its own deadline.
    let sends = core::mem::take(&mut room.sends);
    tokio::spawn(sends.join_all());
    end
}

/// One ceremony that runs.
struct Room {
    shared: Arc<Shared>,
    agreement: Agreement,
    mailbox: Mailbox,
    early: VecDeque<Envelope>,
    /// What each participant signed in this ceremony.
    receipts: HashMap<PeerId, Vec<ReceiptRecord>>,
    /// Why the last unaccepted message of a participant was not accepted.
    refused: HashMap<PartyId, MessageError>,
    confirmations: HashMap<PeerId, [u8; 32]>,
    /// Who gave up, and why.
    failures: Vec<(PeerId, Fail)>,
    sends: JoinSet<()>,
    told: bool,
}

type Batch = Vec<(PartyId, Vec<u8>)>;

/// What ends the waiting for messages.
enum Interrupt {
    /// Another participant gave up.
    GaveUp(PeerId, Box<Fail>),
    /// The connection to a participant broke, and it could not be dialed again.
    Gone(PeerId),
    /// This node stops.
    Stopping,
}

impl Room {
    fn new(
        shared: Arc<Shared>,
        agreement: Agreement,
        mailbox: Mailbox,
        early: Vec<Envelope>,
    ) -> Self {
        Room {
            shared,
            agreement,
            mailbox,
            early: early.into(),
            receipts: HashMap::new(),
            refused: HashMap::new(),
            confirmations: HashMap::new(),
            failures: Vec::new(),
            sends: JoinSet::new(),
            told: false,
        }
    }

    async fn perform(&mut self) -> Result<Finished, Fault> {
        match self.agreement.proposed.job.clone() {
            Job::Keygen { threshold } => self.make_key(threshold).await,
            Job::Sign { digest, .. } => self.make_signature(digest.into()).await,
        }
    }

    async fn make_key(&mut self, threshold: u8) -> Result<Finished, Fault> {
        let agreement = self.agreement.clone();
        let parties = agreement.proposed.candidates.len();
        let limits = super::agreement::threshold_of(threshold, parties).map_err(Fault::own)?;
        let me = self.my_number()?;
        let begin = move |shared: &Shared| {
            shared.engine.keygen(agreement.session, me, limits, &shared.fresh())
        };
        let session = self.shared.blocking(begin).await.map_err(Fault::own)?;
        let new_key = self.drive(session.map_err(Fault::own)?).await?;
        let key = self.store(threshold, new_key).await?;
        self.confirm(&key).await?;
        let id = key.id;
        self.shared
            .blocking(move |shared| shared.log.confirm(&id))
            .await
            .and_then(|kept| kept)
            .map_err(Fault::own)?;
        Ok(Finished::Result { key: key.id, bytes: key.public_key.clone() })
    }

    async fn make_signature(&mut self, digest: [u8; 32]) -> Result<Finished, Fault> {
        let key = self.agreement.proposed.key.clone();
        let key = key.ok_or_else(|| Fault::own("this node has no share of the key"))?.id;
        let roster = self.agreement.roster.clone();
        let signers: Vec<_> = roster.iter().map(|(_, party)| *party).collect();
        let session = self.agreement.session;
        let begin = move |shared: &Shared| {
            // Whoever proposed: one more run with a retired setup may cost a bit of it.
            for (peer, _) in &roster {
                if shared.retired.has(&shared.log, &key, peer).map_err(Fault::own)? {
                    let name = shared.name(peer);
                    return Err(Fault::own(format!("the pairwise setup with {name} is retired")));
                }
            }
            let share = shared.shares.share(&key).map_err(Fault::own)?;
            let seed = shared.fresh();
            shared.engine.sign(session, &share, &signers, &digest, &seed).map_err(Fault::own)
        };
        let session = self.shared.blocking(begin).await.map_err(Fault::own)??;
        let bytes = self.drive(session).await?;
        // The signature shows that a quorum has its shares, also where a crash cut the confirmation off.
        let confirm = move |shared: &Shared| shared.log.confirm(&key);
        self.shared.blocking(confirm).await.and_then(|kept| kept).map_err(Fault::own)?;
        Ok(Finished::Result { key, bytes })
    }

    /// Carries messages until the session has its output.
    async fn drive<T: Send + 'static>(
        &mut self,
        mut session: Box<dyn Session<Output = T>>,
    ) -> Result<T, Fault> {
        let allowed = self.shared.config.timeouts.round();
        let (mut round, mut until) = (session.round(), Instant::now() + allowed);
        loop {
            self.post(session.outgoing(), session.round(), until + allowed)?;
            if let Some(output) = session.take_output() {
                return output.map_err(|abort| self.aborted(&abort));
            }
            if session.round() != round {
                (round, until) = (session.round(), Instant::now() + allowed);
            }
            let waiting = self.peers_of(&session.waiting_for());
            let transport = self.shared.transport.clone();
            let next = async {
                tokio::select! {
                    biased;
                    batch = self.next_batch() => batch,
                    peer = transport.gone(&waiting) => Err(Interrupt::Gone(peer)),
                }
            };
            let batch = match timeout_at(until, next).await {
                Ok(Ok(batch)) => batch,
                Ok(Err(interrupt)) => {
                    return Err(self.interrupted(interrupt, round, &session.waiting_for()).await);
                }
                Err(_) => return Err(self.timed_out(round, &session.waiting_for()).await),
            };
            let step = move |_: &Shared| {
                let refused = receive(session.as_mut(), &batch);
                (session, refused)
            };
            let refused;
            (session, refused) = self.shared.blocking(step).await.map_err(Fault::own)?;
            self.note_refused(refused);
        }
    }

    /// Seals and sends what a session has to say.
    fn post(&mut self, outgoing: Vec<Outgoing>, round: u8, until: Instant) -> Result<(), Fault> {
        let me = self.shared.me();
        for Outgoing { to, mut bytes } in outgoing {
            let recipients: Vec<PeerId> = match to {
                Recipient::All => self.agreement.peers().filter(|id| *id != me).collect(),
                Recipient::One(party) => {
                    let peer = self.agreement.peer(party);
                    vec![peer.ok_or_else(|| Fault::own("the session names an unknown party"))?]
                }
            };
            let direct = matches!(to, Recipient::One(_)).then(|| recipients[0]);
            let mut body = Body::Protocol(core::mem::take(&mut *bytes).into());
            let frame = self.shared.seal(self.agreement.proposed.id, direct, round, &body);
            if let Body::Protocol(bytes) = &mut body {
                bytes.zeroize();
            }
            for peer in recipients {
                self.send(peer, frame.clone(), until);
            }
        }
        Ok(())
    }

    fn send(&mut self, peer: PeerId, frame: crate::codec::Frame, until: Instant) {
        let shared = self.shared.clone();
        self.sends.spawn(async move {
            if let Err(error) = shared.deliver(peer, frame, until).await {
                tracing::warn!(event = "message_lost", peer = %shared.name(&peer), %error);
            }
        });
        while self.sends.try_join_next().is_some() {}
    }

    /// Waits for protocol messages and takes all that are there.
    ///
    /// Cancel safe: messages are taken from the queue and handed over without waiting between.
    async fn next_batch(&mut self) -> Result<Batch, Interrupt> {
        loop {
            let mut batch = Vec::new();
            while let Some(envelope) = self.early.pop_front().or_else(|| self.mailbox.take()) {
                self.sort(envelope, &mut batch)?;
            }
            if !batch.is_empty() {
                return Ok(batch);
            }
            let next = self.mailbox.next().await;
            self.early.push_back(next.ok_or(Interrupt::Stopping)?);
        }
    }

    /// Puts a message where it belongs.
    fn sort(&mut self, envelope: Envelope, batch: &mut Batch) -> Result<(), Interrupt> {
        let Some(party) = self.agreement.party(&envelope.from) else { return Ok(()) };
        match &envelope.body {
            Body::Protocol(bytes) => {
                batch.push((party, bytes.to_vec()));
                self.keep_receipt(&envelope, bytes.len());
            }
            Body::Done(hash) => {
                self.confirmations.insert(envelope.from, (*hash).into());
            }
            Body::Fail(fail) => {
                self.failures.push((envelope.from, fail.clone()));
                return Err(Interrupt::GaveUp(envelope.from, Box::new(fail.clone())));
            }
            Body::Propose(_) | Body::Join(_) | Body::Start(_) => {}
        }
        Ok(())
    }

    fn keep_receipt(&mut self, envelope: &Envelope, length: usize) {
        let whole = envelope.to.is_none() && length <= KEPT_PAYLOAD;
        self.receipts.entry(envelope.from).or_default().push(receipt(envelope, whole));
    }

    fn note_refused(&mut self, refused: Vec<(PartyId, MessageError)>) {
        for (party, error) in refused {
            // A message is sent again when its acknowledgement was lost.
            if error != MessageError::Duplicate {
                let peer = self.agreement.peer(party).map(|id| self.shared.name(&id));
                tracing::warn!(event = "message_not_accepted", peer, %error);
                self.refused.insert(party, error);
            }
        }
    }

    /// Stores this node's share of a new key.
    async fn store(&self, threshold: u8, new_key: NewKey) -> Result<Arc<Key>, Fault> {
        let scheme = self.shared.engine.scheme().to_owned();
        let key = Key {
            id: KeyId::of(&scheme, &new_key.public_key),
            scheme,
            public_key: new_key.public_key,
            threshold,
            parties: self.agreement.proposed.candidates.clone(),
        };
        let insert = move |shared: &Shared| {
            shared.shares.insert(key, &new_key.share, &mut shared.fresh_rng())
        };
        let stored = self.shared.blocking(insert).await.and_then(|stored| stored);
        stored.map_err(Fault::own)
    }

    /// Tells that the share is stored, and waits until all others have said the same of this key.
    async fn confirm(&mut self, key: &Key) -> Result<(), Fault> {
        let parties: Vec<_> = key.parties.iter().map(|id| id.to_bytes()).collect();
        let mut parts: Vec<&[u8]> = vec![&key.id.0, key.scheme.as_bytes(), &key.public_key];
        let threshold = [key.threshold];
        parts.push(&threshold);
        parts.extend(parties.iter().map(Vec::as_slice));
        let hash = domain_hash(CONFIRMATION, &parts);
        let until = Instant::now() + self.shared.config.timeouts.round();
        self.tell(&Body::Done(hash.into()), until);
        let me = self.shared.me();
        loop {
            let others = || self.agreement.peers().filter(|id| *id != me);
            if let Some(other) = others()
                .find(|id| self.confirmations.get(id).is_some_and(|confirmed| *confirmed != hash))
            {
                return Err(self.of(other, LAST_ROUND, "confirmed another key", Basis::Accusation));
            }
            let missing: Vec<_> =
                others().filter(|id| !self.confirmations.contains_key(id)).collect();
            if missing.is_empty() {
                return Ok(());
            }
            let transport = self.shared.transport.clone();
            let next = async {
                tokio::select! {
                    biased;
                    next = self.mailbox.next() => Ok(next),
                    peer = transport.gone(&missing) => Err(Interrupt::Gone(peer)),
                }
            };
            let Ok(next) = timeout_at(until, next).await else {
                if let Some(trouble) = self.shared.own_trouble(self.begun()) {
                    return Err(Fault::own(trouble));
                }
                let fault = "did not confirm that it has stored its share";
                return Err(self.all_of(&missing, LAST_ROUND, |_| (fault.into(), Basis::Absence)));
            };
            let sorted = match next {
                Ok(Some(envelope)) => self.sort(envelope, &mut Vec::new()),
                Ok(None) => Err(Interrupt::Stopping),
                Err(gone) => Err(gone),
            };
            let waiting: Vec<_> =
                missing.iter().filter_map(|id| self.agreement.party(id)).collect();
            if let Err(interrupt) = sorted {
                return Err(self.interrupted(interrupt, LAST_ROUND, &waiting).await);
            }
        }
    }

    /// Sends the same message to all other participants, without waiting for it.
    fn tell(&mut self, body: &Body, until: Instant) {
        let frame = self.shared.seal(self.agreement.proposed.id, None, 0, body);
        let me = self.shared.me();
        let others: Vec<_> = self.agreement.peers().filter(|id| *id != me).collect();
        for peer in others {
            self.send(peer, frame.clone(), until);
        }
    }

    /// Tells the others, once, that this node gave up and whom it blames.
    fn tell_fault(&mut self, fault: &Fault) {
        if core::mem::replace(&mut self.told, true) {
            return;
        }
        let me = self.shared.me().to_string();
        let own = fault.blames.iter().filter(|blame| blame.reporter == me);
        let accused = own.filter_map(|blame| {
            let peer: PeerId = blame.peer.parse().ok()?;
            let check = clip(&blame.fault);
            Some(Accused { peer: peer.to_bytes().into(), round: blame.round, check })
        });
        let fail = Fail { reason: clip(&fault.reason), accused: accused.collect() };
        let until = Instant::now() + self.shared.config.timeouts.join();
        self.tell(&Body::Fail(fail), until);
    }

    /// Keeps that the setup with a cheater must not be used again.
    async fn retire(&self, fault: &Fault) {
        let Some(key) = self.agreement.proposed.key.clone() else { return };
        let (id, retired) = (self.agreement.proposed.id, fault.retired.clone());
        let keep = move |shared: &Shared| {
            // Each of them, also after one that could not be written.
            let (kept, log) = (&shared.retired, &shared.log);
            let kept: Vec<_> =
                retired.iter().map(|peer| kept.add(log, &key.id, peer, id)).collect();
            kept.into_iter().collect::<Result<(), _>>()
        };
        if let Err(error) = self.shared.blocking(keep).await.and_then(|kept| kept) {
            // Until it stops this node remembers it; then nobody would.
            tracing::error!(event = "retirement_not_stored", %error);
        }
    }

    fn peers_of(&self, parties: &[PartyId]) -> Vec<PeerId> {
        parties.iter().filter_map(|party| self.agreement.peer(*party)).collect()
    }

    fn my_number(&self) -> Result<PartyId, Fault> {
        let me = self.agreement.party(&self.shared.me());
        me.ok_or_else(|| Fault::own("this node is not among the participants"))
    }
}

/// What the rounds of the confirmation and the joins are called in a blame.
const LAST_ROUND: u8 = u8::MAX;

/// Gives a session its messages; returns those that it did not accept.
fn receive<T>(
    session: &mut dyn Session<Output = T>,
    batch: &Batch,
) -> Vec<(PartyId, MessageError)> {
    let mut refused = Vec::new();
    for (from, bytes) in batch {
        match session.receive(*from, bytes) {
            Ok(()) => {}
            Err(TssError::Message(error)) => refused.push((*from, error)),
            Err(error) => tracing::error!(event = "session_error", %error),
        }
    }
    refused
}
