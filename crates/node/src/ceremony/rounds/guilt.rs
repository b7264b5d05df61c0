//! Who is at fault where a ceremony does not go on.
//!
//! A node believes its own checks, and a proof that anybody can check. Another node's word alone
//! convicts nobody: of accuser and accused at least one is at fault, and that pair is the suspect
//! set ([`crate::ceremony::suspects`]).

use super::{Interrupt, Room};
use crate::ceremony::Fault;
use crate::ceremony::fault::{Told, blame};
use crate::ceremony::join::clip;
use crate::ceremony::suspects::SuspectSet;
use crate::log::Basis;
use crate::proof::Proof;
use crate::wire::{Accused, Body, Cause, Envelope, Fail};
use libp2p::PeerId;
use minicbor::bytes::ByteVec;
use std::time::Duration;
use tetralith_tss::engine::{Abort, Blame, Check, Evidence, PartyId};
use tokio::time::{Instant, timeout_at};

/// The most that is waited, after giving up, for what the others say.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A participant's signed word that it gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) from: PeerId,
    pub(super) fail: Fail,
    /// As it was signed.
    pub(super) envelope: Vec<u8>,
}

impl Word {
    /// The word in an envelope, if it is one.
    pub(super) fn of(envelope: &Envelope) -> Option<Self> {
        let Body::Fail(fail) = &envelope.body else { return None };
        Some(Word { from: envelope.from, fail: fail.clone(), envelope: envelope.to_bytes() })
    }
}

impl Room {
    /// The session found a fault.
    pub(super) async fn aborted(&mut self, abort: &Abort) -> Fault {
        let fault = match abort {
            Abort::Blamed(found) => self.found(found),
            Abort::Unattributed { round, check, suspects } => {
                self.unattributed(*round, *check, suspects)
            }
            other => Fault::own(other),
        };
        if let Told::Unattributed(broadcasts) = &fault.told
            && !broadcasts.is_empty()
        {
            // Somebody sent two versions of a broadcast: the others may show the other one.
            self.tell_fault(&fault);
            return self.listen(|_| false).await.unwrap_or(fault);
        }
        fault
    }

    /// The session blames one participant.
    fn found(&self, found: &Blame) -> Fault {
        let Some(peer) = self.agreement.peer(found.party) else { return Fault::own(found) };
        let text = format!("failed {}", found.check);
        let mut fault = self.of(peer, found.round, &text, Basis::Accusation);
        if found.evidence == Evidence::Proof {
            let broadcasts = self.broadcasts.get(&peer).into_iter().flatten();
            let broadcasts = broadcasts.filter(|(round, _)| **round <= found.round);
            let proof = Proof::new(broadcasts.map(|(_, bytes)| bytes.as_slice()));
            if self.proves(&proof, peer) {
                fault.blames.iter_mut().for_each(|blame| {
                    blame.evidence = Basis::Proof;
                    blame.proof = Some(proof.clone());
                });
            }
        }
        fault
    }

    /// A check failed that says only that one of several is at fault.
    fn unattributed(&self, round: u8, check: Check, suspects: &[PartyId]) -> Fault {
        let peers: Vec<_> = suspects.iter().filter_map(|p| self.agreement.peer(*p)).collect();
        let names: Vec<_> = peers.iter().map(|peer| self.shared.name(peer)).collect();
        let shown = match check {
            // The echo of this round compares the broadcasts of the round before.
            Check::Broadcast => {
                let sent = |peer| self.broadcasts.get(peer)?.get(&(round - 1)).cloned();
                peers.iter().filter_map(sent).collect()
            }
            _ => Vec::new(),
        };
        Fault {
            reason: format!(
                "failed {check} in round {round}: at fault is one of {}",
                names.join(", ")
            ),
            suspects: vec![peers.into_iter().collect()],
            told: Told::Unattributed(shown),
            ..Fault::default()
        }
    }

    /// A round's time is up: tells the others at once, hears what they say, and blames.
    ///
    /// Who waits for a node that itself waits for another learns it here.
    pub(super) async fn timed_out(&mut self, round: u8, waiting: &[PartyId]) -> Fault {
        if let Some(trouble) = self.shared.own_trouble(self.begun()) {
            // The others give up now instead of at their own deadlines.
            let fault = Fault::own(trouble);
            self.tell_fault(&fault);
            return fault;
        }
        let missing = self.missing(round, waiting);
        self.tell_fault(&missing);
        let all_spoke = |room: &Self| {
            let spoke = |party: &PartyId| {
                room.agreement
                    .peer(*party)
                    .is_some_and(|peer| room.words_of(&peer).next().is_some())
            };
            waiting.iter().all(spoke)
        };
        if let Some(proved) = self.listen(all_spoke).await {
            return proved;
        }
        let mut fault = Fault::default();
        for party in waiting {
            let peer = self.agreement.peer(*party);
            let excuse = peer.and_then(|peer| self.excuse(&peer, round));
            match excuse {
                Some(word) => fault.merge(self.judge(&word)),
                None => fault.merge(self.missing(round, &[*party])),
            }
        }
        fault
    }

    /// When a phase began whose time is up now.
    pub(super) fn begun(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.shared.config.timeouts.round()).unwrap_or(now)
    }

    /// The faults of those of which a message is missing.
    fn missing(&self, round: u8, waiting: &[PartyId]) -> Fault {
        let peers: Vec<_> = waiting.iter().filter_map(|p| self.agreement.peer(*p)).collect();
        self.all_of(&peers, round, |party| match self.refused.get(&party) {
            Some(error) => (format!("sent no acceptable message ({error})"), Basis::Accusation),
            None => (ABSENT.to_owned(), Basis::Absence),
        })
    }

    /// The waiting in `round` ended because of what another node said, or did.
    pub(super) async fn interrupted(&mut self, interrupt: Interrupt, round: u8) -> Fault {
        let first = match interrupt {
            Interrupt::Stopping => return Fault::own("the node is stopping"),
            Interrupt::Proved(fault) => return *fault,
            Interrupt::GaveUp(word) => *word,
            Interrupt::Gone(peer) => match self.lost(round, peer) {
                Ok(word) => *word,
                Err(fault) => return fault,
            },
        };
        let Some(word) = self.unfolded(&first) else { return self.judge(&first) };
        let mut fault = Fault { told: Told::Heard(word.envelope.clone()), ..self.judge(&word) };
        // Whom it accuses of silence may have a reason, and whoever compared broadcasts may hold
        // one of two versions: the others tell.
        let open = match &word.fail.cause {
            Cause::Accusation(accused) => accused.iter().any(|accused| accused.absent),
            Cause::Unattributed(broadcasts) => !broadcasts.is_empty(),
            Cause::Own | Cause::Heard(_) => false,
        };
        if open {
            self.tell_fault(&fault);
            if let Some(proved) = self.listen(|_| false).await {
                return proved;
            }
        }
        let told = fault.told;
        fault = Fault::default();
        for word in core::iter::once(&first).chain(self.words.iter().filter(|w| **w != first)) {
            fault.merge(self.judge(word));
        }
        if fault.suspects.is_empty() {
            // Every word excuses another: still somebody is at fault.
            fault.suspects.push(self.others().collect());
        }
        Fault { told, ..fault }
    }

    /// The connection to a participant broke while this node waited for it.
    ///
    /// A connection that breaks because the other gave up, and stopped, is no reason to blame it: what it
    /// said last is in the queue already, and is returned.
    fn lost(&mut self, round: u8, peer: PeerId) -> Result<Box<Word>, Fault> {
        while let Some(envelope) = self.mailbox.take() {
            match self.sort(envelope, &mut Vec::new()) {
                Err(Interrupt::GaveUp(word)) => return Ok(word),
                Err(Interrupt::Proved(fault)) => return Err(*fault),
                _ => {}
            }
        }
        if let Some(trouble) = self.shared.own_trouble(self.begun()) {
            return Err(Fault::own(trouble));
        }
        let text = "its connection broke, and it cannot be reached";
        Err(self.all_of(&[peer], round, |_| (text.to_owned(), Basis::Absence)))
    }

    /// Takes in what the others say until all have spoken, `enough` holds or the time is up; returns
    /// a fault that they help to prove.
    async fn listen(&mut self, enough: impl Fn(&Self) -> bool) -> Option<Fault> {
        let until = Instant::now() + LAST_WORDS.min(self.shared.config.timeouts.round() / 4);
        let all_spoke =
            |room: &Self| room.others().all(|peer| room.words.iter().any(|word| word.from == peer));
        while !all_spoke(self) && !enough(self) {
            let next = match self.early.pop_front() {
                Some(envelope) => Some(envelope),
                None => timeout_at(until, self.mailbox.next()).await.ok().flatten(),
            };
            // What is said is kept in `words`.
            if let Err(Interrupt::Proved(fault)) = self.sort(next?, &mut Vec::new()) {
                return Some(*fault);
            }
        }
        None
    }

    /// All participants but this node.
    fn others(&self) -> impl Iterator<Item = PeerId> {
        let me = self.shared.me();
        self.agreement.peers().filter(move |peer| *peer != me)
    }

    /// What a participant said, from itself or passed on by others.
    fn words_of(&self, peer: &PeerId) -> impl Iterator<Item = Word> {
        let unfolded = self.words.iter().filter_map(|word| self.unfolded(word));
        let own = self.words.iter().filter(|word| word.from == *peer).cloned();
        own.chain(unfolded.filter(|word| word.from == *peer).collect::<Vec<_>>())
    }

    /// The word itself, or the one that it passes on; `None` where it passes on nothing.
    fn unfolded(&self, word: &Word) -> Option<Word> {
        let Cause::Heard(bytes) = &word.fail.cause else { return Some(word.clone()) };
        let envelope = Envelope::open(bytes).ok()?;
        let inner = Word::of(&envelope)?;
        let here = envelope.ceremony == self.agreement.proposed.id
            && self.agreement.party(&inner.from).is_some();
        (here && !matches!(inner.fail.cause, Cause::Heard(_))).then_some(inner)
    }

    /// Why a participant may owe its message of `round`: it gave up because of another before. Its
    /// own message goes out before it waits in the same round.
    fn excuse(&self, peer: &PeerId, round: u8) -> Option<Word> {
        let blames = |accused: &Accused| crate::wire::peer(&accused.peer).ok() == Some(*peer);
        self.words_of(peer).find(|word| match &word.fail.cause {
            Cause::Own | Cause::Unattributed(_) => true,
            Cause::Accusation(accused) => accused.iter().any(|a| (1..round).contains(&a.round)),
            // It heard of a fault that is not its own silence.
            Cause::Heard(_) => self.unfolded(word).is_some_and(|heard| {
                let of_it = |list: &Vec<Accused>| list.iter().any(blames);
                heard.from != self.shared.me()
                    && !matches!(&heard.fail.cause, Cause::Accusation(list) if of_it(list))
            }),
        })
    }

    /// What follows from a participant's word.
    fn judge(&self, word: &Word) -> Fault {
        let name = self.shared.name(&word.from);
        let mut fault = Fault::own(format!("{name} gave up: {}", clip(&word.fail.reason)));
        match &word.fail.cause {
            Cause::Heard(_) => match self.unfolded(word) {
                // This node's own word says nothing new.
                Some(inner) if inner.from == self.shared.me() => return fault,
                Some(inner) => return self.judge(&inner),
                None => {}
            },
            Cause::Own => {}
            Cause::Unattributed(_) => fault.suspects.push(self.others().collect()),
            Cause::Accusation(accused) => {
                let accused = accused.iter().take(self.agreement.roster.len());
                let excused = accused.filter(|one| self.weigh(&mut fault, word.from, one)).count();
                if excused > 0 {
                    return fault;
                }
            }
        }
        if fault.suspects.is_empty() {
            fault.suspects.push(SuspectSet::from([word.from]));
        }
        fault
    }

    /// Weighs one accusation by `from`; says whether the accused is excused by another's fault.
    fn weigh(&self, fault: &mut Fault, from: PeerId, accused: &Accused) -> bool {
        let (me, check) = (self.shared.me(), clip(&accused.check));
        let Ok(peer) = crate::wire::peer(&accused.peer) else { return false };
        if !accused.proof.is_empty() {
            self.weigh_proof(fault, from, peer, accused);
            return false;
        }
        let basis = if accused.absent { Basis::Absence } else { Basis::Accusation };
        // All that are here joined: there is nothing before the first round to blame them for.
        if accused.round == 0 || self.agreement.party(&peer).is_none() || peer == from {
            return false;
        }
        if peer == me {
            let text = clip(&format!("accused this node: {check}"));
            fault.blames.push(blame(from, me, accused.round, &text, basis));
            fault.suspects.push(SuspectSet::from([from]));
            return false;
        }
        if accused.absent && self.excuse(&peer, accused.round).is_some() {
            return true;
        }
        fault.blames.push(blame(peer, from, accused.round, &check, basis));
        fault.suspects.push(SuspectSet::from([from, peer]));
        false
    }

    /// An accusation with a proof convicts the accused, or else the accuser.
    fn weigh_proof(&self, fault: &mut Fault, from: PeerId, peer: PeerId, accused: &Accused) {
        let proof = Proof::new(accused.proof.iter().map(|bytes| bytes.as_slice()));
        if self.proves(&proof, peer) {
            let check = clip(&accused.check);
            let mut blame = blame(peer, from, accused.round, &check, Basis::Proof);
            blame.proof = Some(proof);
            fault.blames.push(blame);
            fault.suspects.push(SuspectSet::from([peer]));
        } else {
            let text = "showed a proof that proves nothing";
            fault.merge(self.of(from, accused.round, text, Basis::Accusation));
        }
    }

    /// Says whether a proof shows a fault of `peer` in this ceremony.
    fn proves(&self, proof: &Proof, peer: PeerId) -> bool {
        let found = proof.verify(self.shared.engine.as_ref());
        found.is_ok_and(|found| {
            found.peer == peer.to_string()
                && found.ceremony == self.agreement.proposed.id.to_string()
        })
    }

    /// Compares broadcasts that others were sent with what was sent here.
    pub(super) fn compare(&self, broadcasts: &[ByteVec]) -> Result<(), Interrupt> {
        for shown in broadcasts.iter().take(self.agreement.roster.len()) {
            let Ok(Envelope { from, round, .. }) = Envelope::open(shown) else { continue };
            let mine = self.broadcasts.get(&from).and_then(|sent| sent.get(&round));
            let Some(mine) = mine else { continue };
            let proof = Proof::new([mine.as_slice(), shown.as_slice()]);
            if self.proves(&proof, from) {
                let text = "sent two different broadcasts";
                return Err(Interrupt::Proved(Box::new(self.proven(from, round, text, proof))));
            }
        }
        Ok(())
    }

    /// The proposer signed another start than this node's.
    pub(super) fn two_starts(&self, other: &Envelope) -> Fault {
        let proof = [self.agreement.start.to_bytes(), other.to_bytes()];
        let proof = Proof::new(proof.iter().map(Vec::as_slice));
        let proposer = self.agreement.proposed.proposer;
        self.proven(proposer, 0, "sent two different starts", proof)
    }

    fn proven(&self, peer: PeerId, round: u8, text: &str, proof: Proof) -> Fault {
        let mut fault = self.of(peer, round, text, Basis::Proof);
        fault.blames.iter_mut().for_each(|blame| blame.proof = Some(proof.clone()));
        fault
    }

    /// The pairwise setup with a participant was retired while this ceremony ran.
    pub(super) fn retired(&self, peer: PeerId) -> Fault {
        self.of(peer, FIRST_ROUND, RETIRED, Basis::Accusation)
    }

    /// A fault of one participant, with what it signed.
    pub(super) fn of(&self, peer: PeerId, round: u8, text: &str, basis: Basis) -> Fault {
        let name = self.shared.name(&peer);
        let mut fault = Fault::of(peer, self.shared.me(), round, text, basis, &name);
        for blame in &mut fault.blames {
            blame.receipts = self.receipts.get(&peer).cloned().unwrap_or_default();
        }
        fault
    }

    /// Faults of several participants.
    pub(super) fn all_of(
        &self,
        peers: &[PeerId],
        round: u8,
        text: impl Fn(PartyId) -> (String, Basis),
    ) -> Fault {
        let mut all = Fault::default();
        for peer in peers {
            let Some(party) = self.agreement.party(peer) else { continue };
            let (mut text, basis) = text(party);
            if basis == Basis::Absence {
                text = self.shared.absence(peer, self.begun(), &text);
            }
            all.merge(self.of(*peer, round, &text, basis));
            if basis == Basis::Absence {
                self.shared.note_absent(*peer);
            }
        }
        all
    }
}

const ABSENT: &str = "sent no message in time";
/// What a node says that runs no further with a cheater.
const RETIRED: &str = "the pairwise setup with it is retired";
const FIRST_ROUND: u8 = 1;
