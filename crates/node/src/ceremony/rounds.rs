//! The rounds of a ceremony: carry a session's messages, keep its deadlines, and tell who is at fault.

mod guilt;
mod sharing;
mod watch;

use crate::ceremony::agreement::Agreement;
use crate::ceremony::fault::receipt;
use crate::ceremony::mailbox::Mailbox;
use crate::ceremony::{Fault, Finished, Shared};
use crate::engine::NewKey;
use crate::identity::domain_hash;
use crate::log::{Basis, BlameRecord, ReceiptRecord};
use crate::shares::{Key, KeyId};
use crate::wire::{Body, Cause, Envelope, Job, Message};
use guilt::Word;
use libp2p::PeerId;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use tetralith_tss::engine::{
    Error as TssError, MessageError, Outgoing, PartyId, Recipient, Session,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use zeroize::Zeroizing;

const CONFIRMATION: &str = "tetralith/node/confirmation/1";
/// Broadcasts up to this length are kept whole with their receipts.
const KEPT_PAYLOAD: usize = 1 << 16;

/// Starts that are read from one accusation.
const MOST_SHOWN: usize = 8;
/// Different words of one participant that are kept.
const MOST_WORDS: usize = 2;

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
    shared.tell_started(agreement);
    let mut room = Room::new(shared.clone(), agreement.clone(), mailbox, early);
    let end = room.perform().await;
    if let Err(fault) = &end {
        room.tell_fault(fault);
    }
    // For those that this ceremony's other participants still wait for.
    shared.starts.keep(&agreement.start);
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
    /// The signed broadcasts of each participant, by round.
    broadcasts: HashMap<PeerId, BTreeMap<u8, Vec<u8>>>,
    /// Who has stored its share of what, in its signed words.
    confirmations: HashMap<PeerId, ([u8; 32], Vec<u8>)>,
    /// Who gave up, and why.
    words: Vec<Word>,
    /// Whom this node has shown its start.
    shown: HashSet<PeerId>,
    sends: JoinSet<()>,
    told: bool,
    /// When the protocol began here.
    entered: Instant,
    watched: watch::Watched,
}

type Batch = Vec<(PartyId, Zeroizing<Vec<u8>>)>;

/// What ends the waiting for messages.
enum Interrupt {
    /// Another participant gave up.
    GaveUp(Box<Word>),
    /// A fault is proved.
    Proved(Box<Fault>),
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
            broadcasts: HashMap::new(),
            confirmations: HashMap::new(),
            words: Vec::new(),
            shown: HashSet::new(),
            sends: JoinSet::new(),
            told: false,
            entered: Instant::now(),
            watched: watch::Watched::default(),
        }
    }

    async fn perform(&mut self) -> Result<Finished, Fault> {
        match self.agreement.proposed.job.clone() {
            Job::Keygen { threshold } => self.make_key(threshold).await,
            Job::Reshare(_) => self.make_sharing().await,
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
        let key = key.ok_or_else(|| Fault::own("this node has no share of the key"))?;
        let (sharing, key) = (key.sharing(), key.id);
        let roster = self.agreement.roster.clone();
        let signers: Vec<_> = roster.iter().map(|(_, party)| *party).collect();
        let session = self.agreement.session;
        let begin = move |shared: &Shared| {
            let share = shared.shares.share(&sharing).map_err(Fault::own)?;
            let seed = shared.fresh();
            shared.engine.sign(session, &share, &signers, &digest, &seed).map_err(Fault::own)
        };
        self.admit()?;
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
        self.enter_round(round);
        let mut retired = self.shared.retired.changes();
        self.post(session.outgoing(), until + allowed)?;
        loop {
            if session.round() != round {
                (round, until) = (session.round(), Instant::now() + allowed);
                self.enter_round(round);
            }
            let waiting = self.peers_of(&session.waiting_for());
            let (transport, begun) = (self.shared.transport.clone(), self.entered);
            let next = async {
                tokio::select! {
                    biased;
                    batch = self.next_batch() => batch.map(Some),
                    _ = retired.changed() => Ok(None),
                    peer = transport.gone(&waiting, begun) => Err(Interrupt::Gone(peer)),
                }
            };
            let batch = match timeout_at(until, next).await {
                Ok(Ok(Some(batch))) => batch,
                Ok(Ok(None)) => {
                    self.admit()?;
                    continue;
                }
                Ok(Err(interrupt)) => return Err(self.interrupted(interrupt, round).await),
                Err(_) => return Err(self.timed_out(round, &session.waiting_for()).await),
            };
            let (key, roster) = (self.agreement.proposed.key.clone(), self.agreement.clone());
            let step = move |shared: &Shared| {
                let key = key.as_deref().map(Key::sharing);
                shared.settle(key, &roster, None)?;
                let refused = receive(session.as_mut(), &batch);
                let output = session.take_output();
                // What the step found leaves only if no other run has retired a setup meanwhile: of
                // several runs with one cheater, one failed check is seen and no more.
                match &output {
                    Some(Ok(_)) => {}
                    Some(Err(abort)) => shared.settle(key, &roster, abort.blame())?,
                    None => shared.settle(key, &roster, None)?,
                }
                Ok((session, refused, output))
            };
            let stepped = self.shared.blocking(step).await.map_err(Fault::own)?;
            let (refused, output);
            (session, refused, output) = stepped.map_err(|peer| self.retired(peer))?;
            self.note_refused(refused);
            self.post(session.outgoing(), until + allowed)?;
            match output {
                Some(Ok(output)) => {
                    self.leave_round();
                    return Ok(output);
                }
                Some(Err(abort)) => return Err(self.aborted(&abort).await),
                None => {}
            }
        }
    }

    /// Goes on only if no setup with a participant is retired.
    fn admit(&self) -> Result<(), Fault> {
        let key = self.agreement.proposed.key.as_deref().map(Key::sharing);
        self.shared.settle(key, &self.agreement, None).map_err(|peer| self.retired(peer))
    }

    /// Seals and sends what a session has to say.
    fn post(&mut self, outgoing: Vec<Outgoing>, until: Instant) -> Result<(), Fault> {
        let me = self.shared.me();
        for Outgoing { to, round, mut bytes } in outgoing {
            let recipients: Vec<PeerId> = match to {
                Recipient::All => self.agreement.peers().filter(|id| *id != me).collect(),
                Recipient::One(party) => {
                    let peer = self.agreement.peer(party);
                    vec![peer.ok_or_else(|| Fault::own("the session names an unknown party"))?]
                }
            };
            self.tell_round(me, round);
            let direct = matches!(to, Recipient::One(_)).then(|| recipients[0]);
            let start = self.agreement.start_hash().into();
            let bytes = core::mem::take(&mut *bytes).into();
            let body = Body::Protocol(Message { start, bytes });
            let frame = self.shared.seal(self.agreement.proposed.id, direct, round, &body);
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
        let party = self.agreement.party(&envelope.from);
        match &envelope.body {
            Body::Protocol(message) => {
                if <[u8; 32]>::from(message.start) != self.agreement.start_hash() {
                    self.show_start(envelope.from);
                } else if let Some(party) = party {
                    batch.push((party, Zeroizing::new(message.bytes.to_vec())));
                    self.tell_round(envelope.from, envelope.round);
                    self.keep_receipt(&envelope, message.bytes.len())?;
                }
            }
            Body::Done(hash) if party.is_some() && envelope.to.is_none() => {
                let word = ((*hash).into(), envelope.to_bytes());
                self.confirmations.insert(envelope.from, word);
            }
            Body::Fail(fail) if party.is_some() => {
                if let Cause::Unattributed(broadcasts) = &fail.cause {
                    self.compare(broadcasts)?;
                }
                let word =
                    Word { from: envelope.from, fail: fail.clone(), envelope: envelope.to_bytes() };
                // A liar may say several things; each node is heard so often and no more.
                let said = self.words.iter().filter(|known| known.from == word.from).count();
                if said < MOST_WORDS && !self.words.contains(&word) {
                    self.words.push(word.clone());
                }
                return Err(Interrupt::GaveUp(Box::new(word)));
            }
            // A candidate that takes part after another start has no other voice here.
            Body::Fail(fail) => {
                if let Cause::Accusation(accused) = &fail.cause {
                    let shown = accused.iter().flat_map(|accused| &accused.proof).take(MOST_SHOWN);
                    shown
                        .filter_map(|bytes| Envelope::open(bytes).ok())
                        .try_for_each(|start| self.meet_start(start))?;
                }
            }
            Body::WhichStart => self.show_start(envelope.from),
            Body::Start(_) => return self.meet_start(envelope),
            Body::Started(bytes) => {
                if let Ok(start) = Envelope::open(bytes) {
                    return self.meet_start(start);
                }
            }
            Body::Propose(_) | Body::Join(_) | Body::Done(_) | Body::WhoStored => {}
            Body::Stored(_) | Body::Request(_) => {}
        }
        Ok(())
    }

    /// Shows this node's start, once, to a candidate that missed it or follows another.
    fn show_start(&mut self, peer: PeerId) {
        if self.shown.insert(peer) {
            let id = self.agreement.proposed.id;
            let body = Body::Started(self.agreement.start.to_bytes().into());
            let frame = self.shared.seal(id, Some(peer), 0, &body);
            self.send(peer, frame, Instant::now() + self.shared.config.timeouts.join());
        }
    }

    /// Two signed starts of the proposer end the ceremony.
    fn meet_start(&self, start: Envelope) -> Result<(), Interrupt> {
        match self.agreement.is_contradicted_by(&start) {
            true => Err(Interrupt::Proved(Box::new(self.two_starts(&start)))),
            false => Ok(()),
        }
    }

    /// Keeps what a participant signed; two broadcasts of one round are a proof against it.
    fn keep_receipt(&mut self, envelope: &Envelope, length: usize) -> Result<(), Interrupt> {
        let whole = envelope.to.is_none() && length <= KEPT_PAYLOAD;
        self.receipts.entry(envelope.from).or_default().push(receipt(envelope, whole));
        if !whole {
            return Ok(());
        }
        let bytes = envelope.to_bytes();
        let sent = self.broadcasts.entry(envelope.from).or_default();
        if *sent.entry(envelope.round).or_insert_with(|| bytes.clone()) != bytes {
            self.compare(&[bytes.into()])?;
        }
        Ok(())
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
            number: 0,
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
        self.confirm_to(domain_hash(CONFIRMATION, &parts), &key.parties).await
    }

    /// Tells that this node has stored what the hash names, if it is one of `parties`, and waits until
    /// all others of them have said the same.
    async fn confirm_to(&mut self, hash: [u8; 32], parties: &[PeerId]) -> Result<(), Fault> {
        let until = Instant::now() + self.shared.config.timeouts.round();
        let me = self.shared.me();
        if parties.contains(&me) {
            self.tell(&Body::Done(hash.into()), until);
        }
        loop {
            let others = || parties.iter().copied().filter(|id| *id != me);
            let wrong = |id: &PeerId| {
                self.confirmations.get(id).is_some_and(|(confirmed, _)| *confirmed != hash)
            };
            if let Some(other) = others().find(wrong) {
                return Err(self.of(other, LAST_ROUND, "confirmed another key", Basis::Accusation));
            }
            let missing: Vec<_> =
                others().filter(|id| !self.confirmations.contains_key(id)).collect();
            if missing.is_empty() {
                return Ok(());
            }
            let (transport, begun) = (self.shared.transport.clone(), self.entered);
            let next = async {
                tokio::select! {
                    biased;
                    next = self.mailbox.next() => Ok(next),
                    peer = transport.gone(&missing, begun) => Err(Interrupt::Gone(peer)),
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
            if let Err(interrupt) = sorted {
                return Err(self.interrupted(interrupt, LAST_ROUND).await);
            }
        }
    }

    /// Sends the same message to all other participants, without waiting for it.
    fn tell(&mut self, body: &Body, until: Instant) {
        self.tell_to(self.agreement.peers().collect(), body, until);
    }

    fn tell_to(&mut self, peers: Vec<PeerId>, body: &Body, until: Instant) {
        let frame = self.shared.seal(self.agreement.proposed.id, None, 0, body);
        let me = self.shared.me();
        for peer in peers.into_iter().filter(|id| *id != me) {
            self.send(peer, frame.clone(), until);
        }
    }

    /// Tells the others, once, that this node gave up and whom it blames.
    fn tell_fault(&mut self, fault: &Fault) {
        if core::mem::replace(&mut self.told, true) {
            return;
        }
        let until = Instant::now() + self.shared.config.timeouts.join();
        let fail = Body::Fail(fault.fail(self.shared.me()));
        // A proof about the start concerns all that were asked.
        let start = |blame: &BlameRecord| blame.round == 0 && blame.proof.is_some();
        if fault.blames.iter().any(start) {
            self.tell_to(self.agreement.proposed.candidates.clone(), &fail, until);
        } else {
            self.tell(&fail, until);
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
