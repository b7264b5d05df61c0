//! Why a ceremony ended without a result, who is blamed, and whom a new attempt leaves out.

use crate::log::{Basis, BlameRecord};
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
