//! Who is at fault where a ceremony does not go on.

use super::{Interrupt, Room};
use crate::ceremony::Fault;
use crate::ceremony::fault::blame;
use crate::ceremony::join::clip;
use crate::log::Basis;
use crate::wire::Fail;
use libp2p::PeerId;
use std::time::Duration;
use tetralith_tss::engine::{Abort, Evidence, PartyId};
use tokio::time::{Instant, timeout_at};

/// The most that is waited, after giving up, for what the others say.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Room {
    /// The session found a fault.
    pub(super) fn aborted(&self, abort: &Abort) -> Fault {
        let Some(found) = abort.blame() else {
            let mut fault = Fault::own(abort);
            if let Abort::Unattributed { suspects, .. } = abort {
                fault.culprits = suspects.iter().filter_map(|p| self.agreement.peer(*p)).collect();
            }
            return fault;
        };
        let Some(peer) = self.agreement.peer(found.party) else { return Fault::own(abort) };
        let basis = match found.evidence {
            Evidence::Proof => Basis::Proof,
            Evidence::Accusation => Basis::Accusation,
        };
        let mut fault = self.of(peer, found.round, &format!("failed {}", found.check), basis);
        if found.retires_setup() {
            fault.retired.push(peer);
        }
        fault
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
        let mut fault = self.missing(round, waiting);
        self.tell_fault(&fault);
        let until = self.last_words();
        let silent = self.agreement.roster.len() - 1 - waiting.len();
        while self.failures.len() < silent {
            let Ok(Some(envelope)) = timeout_at(until, self.mailbox.next()).await else { break };
            let _ = self.sort(envelope, &mut Vec::new());
        }
        let excused = |peer: &PeerId| {
            let words = self.failures.iter().find(|(from, _)| from == peer);
            words.filter(|(_, fail)| excuses(fail, round)).map(|(_, fail)| fail)
        };
        let missing = core::mem::take(&mut fault.culprits);
        for peer in missing {
            match excused(&peer) {
                Some(fail) => {
                    let theirs = self.given_up(peer, fail);
                    fault.culprits.extend(theirs.culprits);
                    fault.blames.extend(theirs.blames);
                }
                None => fault.culprits.push(peer),
            }
        }
        fault
    }

    /// When a phase began whose time is up now.
    pub(super) fn begun(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.shared.config.timeouts.round()).unwrap_or(now)
    }

    /// When to stop listening to what others say.
    fn last_words(&self) -> Instant {
        Instant::now() + LAST_WORDS.min(self.shared.config.timeouts.round() / 4)
    }

    /// The faults of those of which a message is missing.
    fn missing(&self, round: u8, waiting: &[PartyId]) -> Fault {
        let peers: Vec<_> = waiting.iter().filter_map(|p| self.agreement.peer(*p)).collect();
        self.all_of(&peers, round, |party| match self.refused.get(&party) {
            Some(error) => (format!("sent no acceptable message ({error})"), Basis::Accusation),
            None => ("sent no message in time".to_owned(), Basis::Absence),
        })
    }

    /// Another participant gave up while this node waited, in `round`, for `waiting`.
    pub(super) async fn interrupted(
        &mut self,
        interrupt: Interrupt,
        round: u8,
        waiting: &[PartyId],
    ) -> Fault {
        let (from, fail) = match interrupt {
            Interrupt::GaveUp(from, fail) => (from, fail),
            Interrupt::Gone(peer) => return self.lost(round, peer).await,
            Interrupt::Stopping => return Fault::own("the node is stopping"),
        };
        match self.agreement.party(&from) {
            Some(party) if waiting.contains(&party) && !excuses(&fail, round) => {
                self.missing(round, &[party])
            }
            _ => self.named(self.given_up(from, &fail)).await,
        }
    }

    /// The connection to a participant broke while this node waited for it.
    ///
    /// A connection that breaks because the other gave up, and stopped, is no reason to blame it: what it
    /// said last is in the queue already.
    async fn lost(&mut self, round: u8, peer: PeerId) -> Fault {
        while let Some(envelope) = self.mailbox.take() {
            if let Err(Interrupt::GaveUp(from, fail)) = self.sort(envelope, &mut Vec::new()) {
                return self.named(self.given_up(from, &fail)).await;
            }
        }
        if let Some(trouble) = self.shared.own_trouble(self.begun()) {
            return Fault::own(trouble);
        }
        let text = "its connection broke, and it cannot be reached";
        self.all_of(&[peer], round, |_| (text.to_owned(), Basis::Absence))
    }

    /// The fault, or where it names nobody, what the first says who does: a node that was accused, or that heard of
    /// an accusation, gives up as well, and word of that may come before the accusation itself.
    async fn named(&mut self, mut fault: Fault) -> Fault {
        let until = self.last_words();
        while fault.blames.is_empty() && self.failures.len() + 1 < self.agreement.roster.len() {
            let next = match self.early.pop_front() {
                Some(envelope) => Some(envelope),
                None => timeout_at(until, self.mailbox.next()).await.ok().flatten(),
            };
            let Some(envelope) = next else { break };
            if let Err(Interrupt::GaveUp(from, fail)) = self.sort(envelope, &mut Vec::new()) {
                let theirs = self.given_up(from, &fail);
                if !theirs.blames.is_empty() {
                    fault = theirs;
                }
            }
        }
        fault
    }

    /// Another participant gave up.
    fn given_up(&self, from: PeerId, fail: &Fail) -> Fault {
        let me = self.shared.me();
        let name = self.shared.name(&from);
        let mut fault = Fault::own(format!("{name} gave up: {}", clip(&fail.reason)));
        for accused in &fail.accused {
            let Ok(peer) = crate::wire::peer(&accused.peer) else { continue };
            // All that are here joined: there is nothing before the first round to blame them for.
            if accused.round != 0
                && self.agreement.party(&peer).is_some()
                && fault.blames.len() < self.agreement.roster.len()
            {
                let check = clip(&accused.check);
                fault.blames.push(blame(peer, from, accused.round, &check, Basis::Accusation));
                fault.culprits.push(peer);
            }
        }
        // Who accuses this node, or nobody, is left out itself.
        if fault.culprits.iter().all(|peer| *peer == me) {
            fault.culprits = vec![from];
        }
        fault
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
            let one = self.of(*peer, round, &text, basis);
            all.reason +=
                &format!("{}{}", if all.reason.is_empty() { "" } else { "; " }, one.reason);
            all.blames.extend(one.blames);
            all.culprits.extend(one.culprits);
            if basis == Basis::Absence {
                self.shared.note_absent(*peer);
            }
        }
        all
    }
}

/// Says whether a node that gave up may be excused for a message that it owes in `round`: it waited
/// for another in an earlier round. Its own message goes out before it waits in the same round.
fn excuses(fail: &Fail, round: u8) -> bool {
    fail.accused.iter().any(|accused| (1..round).contains(&accused.round))
}
