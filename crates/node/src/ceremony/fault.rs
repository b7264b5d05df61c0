//! Why a ceremony ended without a result, who is blamed, and whom a new attempt leaves out.

use crate::log::{Basis, BlameRecord, ReceiptRecord};
use crate::wire::Envelope;
use libp2p::PeerId;

/// The end of a ceremony without a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fault {
    /// One sentence.
    pub(crate) reason: String,
    /// What is stored.
    pub(crate) blames: Vec<BlameRecord>,
    /// Whom a new attempt leaves out.
    pub(crate) culprits: Vec<PeerId>,
    /// Whose pairwise setup with this node must not be used again.
    pub(crate) retired: Vec<PeerId>,
}

impl Fault {
    /// A fault that nobody else is blamed for.
    pub(crate) fn own(reason: impl ToString) -> Self {
        Fault { reason: reason.to_string(), ..Fault::default() }
    }

    /// A fault of `peer`, found by `reporter`.
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
            culprits: vec![peer],
            retired: Vec::new(),
        }
    }
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

/// A blame without receipts.
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
    }
}
