//! Why a ceremony ended without a result, who is blamed, and whom a new attempt leaves out.

use crate::ceremony::join::clip;
use crate::ceremony::suspects::SuspectSet;
use crate::log::{Basis, BlameRecord, ReceiptRecord};
use crate::proof::Proof;
use crate::wire::{Accused, Cause, Envelope, Fail};
use libp2p::PeerId;

/// The end of a ceremony without a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fault {
    /// One sentence.
    pub(crate) reason: String,
    /// What is stored.
    pub(crate) blames: Vec<BlameRecord>,
    /// Sets of nodes of which each has one at fault: a new attempt takes none of them whole.
    pub(crate) suspects: Vec<SuspectSet>,
    /// What those that refused to join gave as the reason, where it has a code.
    pub(crate) codes: Box<[(PeerId, u8)]>,
    /// What the others are told that this node's own blames do not say.
    pub(crate) told: Told,
}

/// What a node tells beside its own blames.
#[derive(Clone, Debug, Default)]
pub(crate) enum Told {
    /// Nothing: it blames, or it has trouble of its own.
    #[default]
    Nothing,
    /// A check failed that names nobody; these are the signed broadcasts that it compared.
    Unattributed(Vec<Vec<u8>>),
    /// Another node's signed word.
    Heard(Vec<u8>),
}

impl Fault {
    /// A fault that nobody else is blamed for.
    pub(crate) fn own(reason: impl ToString) -> Self {
        Fault { reason: reason.to_string(), ..Fault::default() }
    }

    /// A fault of `peer`, found by `reporter`, which trusts itself.
    pub(crate) fn of(
        peer: PeerId,
        reporter: PeerId,
        round: u8,
        fault: &str,
        evidence: Basis,
        name: &str,
    ) -> Self {
        Fault {
            reason: format!("{name}: {fault}"),
            blames: vec![blame(peer, reporter, round, fault, evidence)],
            suspects: vec![SuspectSet::from([peer])],
            ..Fault::default()
        }
    }

    /// Adds what another finding says.
    pub(crate) fn merge(&mut self, other: Fault) {
        let joint = if self.reason.is_empty() { "" } else { "; " };
        self.reason += &format!("{joint}{}", other.reason);
        for blame in other.blames {
            let known = |b: &BlameRecord| (&b.peer, &b.reporter) == (&blame.peer, &blame.reporter);
            if !self.blames.iter().any(known) {
                self.blames.push(blame);
            }
        }
        self.suspects.extend(other.suspects);
    }

    /// What `me` tells the other participants.
    pub(crate) fn fail(&self, me: PeerId) -> Fail {
        let me = me.to_string();
        let own = self.blames.iter().filter(|blame| blame.reporter == me);
        let accused: Vec<_> = own.filter_map(accused).collect();
        let cause = match &self.told {
            Told::Heard(envelope) => Cause::Heard(envelope.clone().into()),
            _ if !accused.is_empty() => Cause::Accusation(accused),
            Told::Unattributed(broadcasts) => {
                Cause::Unattributed(broadcasts.iter().map(|b| b.clone().into()).collect())
            }
            Told::Nothing => Cause::Own,
        };
        Fail { reason: clip(&self.reason), cause }
    }
}

fn accused(blame: &BlameRecord) -> Option<Accused> {
    let peer: PeerId = blame.peer.parse().ok()?;
    let proof = blame.proof.as_ref().map(Proof::envelopes).unwrap_or_default();
    Some(Accused {
        peer: peer.to_bytes().into(),
        round: blame.round,
        check: clip(&blame.fault),
        absent: blame.evidence == Basis::Absence,
        proof: proof.into_iter().map(Into::into).collect(),
    })
}

/// What a peer signed, with the payload where that is worth keeping.
pub(crate) fn receipt(envelope: &Envelope, with_payload: bool) -> ReceiptRecord {
    ReceiptRecord {
        to: envelope.to.map(|id| id.to_string()),
        round: envelope.round,
        payload_hash: hex::encode(envelope.receipt.payload_hash),
        payload: with_payload.then(|| hex::encode(envelope.payload())),
        signature: hex::encode(envelope.receipt.signature),
    }
}

/// A blame without receipts or proof.
pub(crate) fn blame(
    peer: PeerId,
    reporter: PeerId,
    round: u8,
    fault: &str,
    evidence: Basis,
) -> BlameRecord {
    BlameRecord {
        peer: peer.to_string(),
        round,
        fault: fault.to_owned(),
        evidence,
        reporter: reporter.to_string(),
        receipts: Vec::new(),
        proof: None,
    }
}
