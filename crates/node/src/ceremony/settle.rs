//! Resharing: what this node proposes and agrees to, and how a sharing is settled after a crash.
//!
//! A sharing is *settled* at a node that has the signed words of all its parties that they have stored
//! their shares. A node that has a share of an unsettled sharing keeps the old share too, and asks the
//! others for their words from time to time, until it has all. Nobody's word makes it delete the new
//! share: a party that lies about what it has could otherwise split the others.

use crate::ceremony::agreement::Plan;
use crate::ceremony::join::Unwilling;
use crate::ceremony::propose::{Failed, Refusal};
use crate::ceremony::{Shared, lock};
use crate::error::Error;
use crate::identity::domain_hash;
use crate::log::CeremonyRecord;
use crate::shares::{Held, Key, KeyId, MOST_UNSETTLED, SharingId};
use crate::wire::{Body, CeremonyId, Envelope, Job, Resharing, refusal};
use libp2p::PeerId;
use minicbor::bytes::ByteVec;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const STORED: &str = "tetralith/node/stored/1";
const APPROVAL: &str = "tetralith/node/reshare/1";
/// How often the others are asked for their words.
const ASK_AGAIN: Duration = Duration::from_secs(5);
const ASK_FIRST: Duration = Duration::from_secs(1);
/// Numbers that are tried for a new sharing: others may have shares of one that this node missed.
const MOST_NUMBERS: u64 = 16;

/// The words about unsettled sharings that have arrived, by the resharing.
#[derive(Debug, Default)]
pub(crate) struct Words(Mutex<HashMap<CeremonyId, HashMap<PeerId, Vec<u8>>>>);

/// The keys that are being shared anew at this node: one resharing of a key at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resharings(Arc<Mutex<HashSet<KeyId>>>);

/// The only resharing of a key that runs at this node.
#[derive(Debug)]
pub(crate) struct Alone {
    key: KeyId,
    all: Resharings,
}

impl Resharings {
    /// Begins one, unless one of this key runs.
    pub(super) fn begin(&self, key: KeyId) -> Option<Alone> {
        lock(&self.0).insert(key).then(|| Alone { key, all: self.clone() })
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        lock(&self.all.0).remove(&self.key);
    }
}

impl Key {
    /// What a party of this sharing says that it has stored.
    pub(crate) fn stored_hash(&self, made: &CeremonyId) -> [u8; 32] {
        let parties: Vec<_> = self.parties.iter().map(|id| id.to_bytes()).collect();
        let (number, threshold) = (self.number.to_be_bytes(), [self.threshold]);
        let mut parts: Vec<&[u8]> = vec![&made.0, &self.id.0, self.scheme.as_bytes()];
        parts.extend([&self.public_key[..], &number, &threshold]);
        parts.extend(parties.iter().map(Vec::as_slice));
        domain_hash(STORED, &parts)
    }
}

/// What an operator approves who lets a key be shared anew among others.
pub(crate) fn approval(from: &SharingId, threshold: u8, parties: &[PeerId]) -> [u8; 32] {
    let parties: Vec<_> = parties.iter().map(|id| id.to_bytes()).collect();
    let (number, threshold) = (from.number.to_be_bytes(), [threshold]);
    let mut parts: Vec<&[u8]> = vec![&from.key.0, &number, &threshold];
    parts.extend(parties.iter().map(Vec::as_slice));
    domain_hash(APPROVAL, &parts)
}

impl Shared {
    /// Shares a key anew: this node chooses the dealers, and others where one of them cannot deal.
    pub(super) async fn reshare(
        self: &Arc<Self>,
        key: KeyId,
        threshold: u8,
        parties: Vec<PeerId>,
    ) -> Result<CeremonyRecord, Refusal> {
        let busy = || Refusal::Busy("another resharing of the key runs at this node".into());
        let _alone = self.resharings.begin(key).ok_or_else(busy)?;
        let unknown = || Refusal::Invalid(format!("this node has no share of key {key}"));
        let old = self.shares.key(&key).ok_or_else(unknown)?;
        let from = old.sharing();
        // Who asks a node's own API has approved it there.
        let digest = approval(&from, threshold, &parties);
        self.blocking(move |shared| shared.log.approve_reshare(&key, &digest)).await??;
        let public = move |shared: &Self| {
            let share = shared.shares.share(&from)?;
            shared.engine.public(&share).map_err(Error::Engine)
        };
        let public = self.blocking(public).await??;
        let mut number = self.shares.sharings(&key).last().map_or(0, |held| held.key.number) + 1;
        let last = number + MOST_NUMBERS;
        let mut unable = HashSet::new();
        loop {
            let dealers = self.dealers(&old, &parties, &unable)?;
            let bytes = |ids: &[PeerId]| ids.iter().map(|id| id.to_bytes().into()).collect();
            let asked = Resharing {
                key: key.0.into(),
                from: from.number,
                old: bytes(&old.parties),
                public: public.clone().into(),
                dealers: bytes(&dealers),
                number,
                threshold,
                parties: bytes(&parties),
            };
            let plan = Plan::check(&asked).map_err(Refusal::Invalid)?;
            let end = self.once(&Job::Reshare(asked), &plan.candidates()).await;
            let Err(Refusal::Failed(failed)) = &end else { return end };
            if failed.has(refusal::NUMBER) && number < last {
                number += 1;
            } else {
                let known = unable.len();
                unable.extend(cannot_deal(failed, &dealers, &parties));
                if unable.len() == known {
                    return end;
                }
            }
            tracing::info!(event = "resharing_again", %key, number, unable = unable.len());
        }
    }

    /// As many parties of the old sharing as it needs, this node among them; those that stay come first.
    fn dealers(
        &self,
        old: &Key,
        parties: &[PeerId],
        unable: &HashSet<PeerId>,
    ) -> Result<Vec<PeerId>, Refusal> {
        let mut able: Vec<PeerId> =
            old.parties.iter().filter(|id| !unable.contains(id)).copied().collect();
        let rank = |id: &PeerId| (*id != self.me(), !parties.contains(id), self.was_absent(id));
        able.sort_by_key(rank);
        let needed = usize::from(old.threshold);
        if able.len() < needed {
            let reason =
                format!("{} nodes have a share to deal from, {needed} are needed", able.len());
            return Err(Refusal::Invalid(reason));
        }
        able.truncate(needed);
        Ok(crate::identity::sorted(able))
    }

    /// Says why this node does not take part in a resharing, if it does not.
    ///
    /// Whoever deals from its share decides who has the key from then on. The same parties with the
    /// same threshold get nothing new; everything else needs this node's approval.
    pub(super) fn agrees_to_reshare(
        &self,
        plan: &Plan,
        proposer: PeerId,
    ) -> Result<Option<Unwilling>, Error> {
        let refuse = |reason: &str| Ok(Some(Unwilling::from(reason)));
        if !plan.old.contains(&proposer) {
            return refuse("the proposer has no share of the key");
        }
        let (public_key, old) = match self.engine.sharing(&plan.public) {
            Ok(sharing) => sharing,
            Err(error) => return refuse(&format!("the old sharing cannot be read: {error}")),
        };
        if KeyId::of(self.engine.scheme(), &public_key) != plan.from.key
            || usize::from(old.n()) != plan.old.len()
            || usize::from(old.t()) != plan.dealers.len()
        {
            return refuse("the old sharing is not one of this key with these parties");
        }
        if let Some(unwilling) = self.contradicts(plan, old.t()) {
            return Ok(Some(unwilling));
        }
        // Refreshes that never settle must not keep a change of the nodes away that ends them.
        let most = if plan.is_refresh(old.t()) { MOST_UNSETTLED } else { 2 * MOST_UNSETTLED };
        if plan.parties.contains(&self.me())
            && let Some(reason) = self.shares.refuses(&plan.sharing(), most)
        {
            return Ok(Some(Unwilling { reason, code: Some(refusal::NUMBER) }));
        }
        if plan.dealers.contains(&self.me()) {
            if let Some(reason) = self.cannot_deal(plan) {
                return Ok(Some(Unwilling { reason, code: Some(refusal::SHARING) }));
            }
            let digest = approval(&plan.from, plan.threshold.t(), &plan.parties);
            if !plan.is_refresh(old.t())
                && !self.log.is_reshare_approved(&plan.from.key, &digest)?
            {
                return refuse("this node has not approved these parties with this threshold");
            }
        }
        if plan.is_refresh(old.t()) {
            let free = self.keygens.take(proposer, Instant::now());
            let reason = "this peer has proposed as many keys as it may in an hour";
            return if free { Ok(None) } else { refuse(reason) };
        }
        Ok(self.agrees_to_a_key(proposer, plan.threshold.t()).map(Unwilling::from))
    }

    /// Says why a resharing cannot be right, by what this node itself knows of the key, if it cannot.
    ///
    /// A node with a share has something to lose: it deletes that share in the end. Two nodes could invent
    /// an old sharing that they alone deal from, and a threshold that the others do not reach together;
    /// then the checks of the protocol would pass. So the old sharing must be the one that this node
    /// knows; where it missed some, parties and threshold must be those that it knows.
    fn contradicts(&self, plan: &Plan, old: u8) -> Option<Unwilling> {
        let refuse = |reason: &str| Some(Unwilling::from(reason));
        if let Some(held) = self.shares.sharing(&plan.from) {
            let share = self.shares.share(&plan.from).ok();
            let public = share.and_then(|share| self.engine.public(&share).ok());
            let same = held.parties == plan.old && held.threshold == old;
            return match same && public.is_none_or(|public| public == plan.public) {
                true => None,
                false => refuse("this node has a share of another sharing with that number"),
            };
        }
        let held = self.shares.key(&plan.from.key)?;
        if held.number > plan.from.number {
            let (number, from) = (held.number, plan.from.number);
            let reason =
                format!("its share is of sharing {number}, the dealers' of sharing {from}");
            return Some(Unwilling { reason, code: Some(refusal::SHARING) });
        }
        match held.parties == plan.parties && held.threshold == plan.threshold.t() {
            true => None,
            false => refuse(
                "this node knows the key with other parties or another threshold, and nothing of \
                 the sharing that is to be replaced; delete its share first",
            ),
        }
    }

    /// Says why this node cannot deal, if it cannot.
    fn cannot_deal(&self, plan: &Plan) -> Option<String> {
        if self.shares.sharing(&plan.from).is_none() {
            return Some(format!("this node has no share of sharing {}", plan.from.number));
        }
        let unreadable = self.shares.share(&plan.from).is_err();
        unreadable.then(|| "this node's share cannot be read".to_owned())
    }

    /// Keeps the words of all parties, with this node's own, and deletes the older shares.
    pub(super) fn commit(
        &self,
        key: &Key,
        made: CeremonyId,
        mut words: Vec<Vec<u8>>,
    ) -> Result<(), Error> {
        words.push(self.own_word(key, made));
        self.shares.commit(&key.sharing(), words, &mut self.fresh_rng())?;
        self.log.confirm(&key.id)?;
        lock(&self.words.0).remove(&made);
        tracing::info!(event = "sharing_settled", key = %key.id, number = key.number);
        Ok(())
    }

    /// Deletes this node's shares of the sharings before one in which it has no part.
    pub(super) fn leave(&self, new: &SharingId) -> Result<(), Error> {
        self.log.forget(&new.key)?;
        self.shares.leave(new)?;
        tracing::info!(event = "key_left", key = %new.key);
        Ok(())
    }

    fn own_word(&self, key: &Key, made: CeremonyId) -> Vec<u8> {
        let body = Body::Done(key.stored_hash(&made).into());
        Envelope::seal(&self.identity, made, None, 0, &body)
    }

    /// Asks the other parties of unsettled sharings for their words, until the node stops.
    ///
    /// Cancel safe.
    pub(crate) async fn settle_sharings(self: Arc<Self>) {
        sleep(ASK_FIRST).await;
        loop {
            for Held { key, made, .. } in self.shares.unsettled() {
                let Some(made) = made else { continue };
                if self.mailboxes.is_open(made) {
                    continue;
                }
                let has = |id: &PeerId| {
                    lock(&self.words.0).get(&made).is_some_and(|words| words.contains_key(id))
                };
                for peer in key.parties.iter().filter(|id| **id != self.me() && !has(id)) {
                    let frame = self.seal(made, Some(*peer), 0, &Body::WhoStored);
                    let (shared, peer) = (self.clone(), *peer);
                    let until = Instant::now() + self.config.timeouts.join();
                    tokio::spawn(async move { shared.deliver(peer, frame, until).await });
                }
            }
            sleep(ASK_AGAIN).await;
        }
    }

    /// Answers who has stored its share, as far as this node knows.
    pub(crate) fn tell_stored(self: &Arc<Self>, made: CeremonyId, to: PeerId) {
        let Some(Held { key, stored, .. }) = self.shares.made_by(&made) else { return };
        if !key.parties.contains(&to) {
            return;
        }
        let shared = self.clone();
        tokio::spawn(async move {
            let sharing = key.sharing();
            // A word for a share that is damaged or lost would be a lie.
            let there = shared.blocking(move |shared| shared.shares.share(&sharing).is_ok()).await;
            if !there.unwrap_or(false) {
                return;
            }
            let mut words = stored;
            if words.is_empty() {
                words.push(shared.own_word(&key, made));
            }
            let words: Vec<ByteVec> = words.into_iter().map(Into::into).collect();
            let frame = shared.seal(made, Some(to), 0, &Body::Stored(words));
            let until = Instant::now() + shared.config.timeouts.join();
            let _ = shared.deliver(to, frame, until).await;
        });
    }

    /// Takes the words about an unsettled sharing; with all of them it is settled.
    pub(crate) fn hear_stored(self: &Arc<Self>, made: CeremonyId, words: &[ByteVec]) {
        let Some(held) = self.shares.made_by(&made).filter(|held| !held.is_settled()) else {
            return;
        };
        let (key, hash) = (held.key.clone(), held.key.stored_hash(&made));
        let complete = {
            let mut all = lock(&self.words.0);
            let heard = all.entry(made).or_default();
            for word in words.iter().take(key.parties.len()) {
                let Ok(envelope) = Envelope::open(word) else { continue };
                let said = matches!(&envelope.body, Body::Done(said) if **said == hash);
                let is_word = said && envelope.ceremony == made && envelope.to.is_none();
                if is_word && key.parties.contains(&envelope.from) {
                    heard.insert(envelope.from, word.to_vec());
                }
            }
            heard.remove(&self.me());
            (heard.len() + 1 == key.parties.len())
                .then(|| heard.values().cloned().collect::<Vec<_>>())
        };
        let Some(words) = complete else { return };
        let shared = self.clone();
        tokio::spawn(async move {
            let commit = move |shared: &Self| shared.commit(&key, made, words);
            if let Err(error) = shared.blocking(commit).await.and_then(|committed| committed) {
                tracing::error!(event = "sharing_not_settled", %error);
            }
        });
    }
}

/// The dealers that another dealer can stand in for: those that have no share to deal from, and those
/// that leave and do not answer.
fn cannot_deal(failed: &Failed, dealers: &[PeerId], parties: &[PeerId]) -> Vec<PeerId> {
    let absent = |id: &PeerId| {
        let id = id.to_string();
        failed.record.blames.iter().any(|blame| blame.peer == id)
    };
    let shareless = |id: &PeerId| failed.codes.get(id) == Some(&refusal::SHARING);
    let cannot = |id: &&PeerId| shareless(id) || (!parties.contains(id) && absent(id));
    dealers.iter().filter(cannot).copied().collect()
}
