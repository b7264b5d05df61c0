//! How a session ends without an output: which check failed, who is to blame, and what shows it.

use super::PartyId;
use core::fmt;

/// A check that a peer can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Check {
    /// The message does not decode: a wrong length, a non-canonical scalar, a point off the curve.
    Encoding,
    /// An opening does not match its commitment.
    Commitment,
    /// A proof of knowledge of a discrete logarithm does not verify.
    ProofOfKnowledge,
    /// A secret share does not lie on the dealer's committed polynomial.
    VerifiableShare,
    /// The echoed hash of a broadcast differs from what was received.
    Broadcast,
    /// The answer that shows that a base oblivious transfer was performed is wrong.
    BaseTransfer,
    /// The correlation check of the oblivious-transfer extension failed.
    TransferExtension,
    /// The integrity check of a two-party multiplication failed.
    Multiplication,
    /// A multiplication's input does not agree with the party's public nonce.
    NonceConsistency,
    /// A multiplication's input does not agree with the party's public key share.
    KeyConsistency,
    /// The parties' public key shares do not add up to the group key.
    GroupKey,
    /// The nonce or the inverse's mask is zero.
    Degenerate,
    /// The assembled signature does not verify.
    Signature,
    /// A party finished with another result.
    Confirmation,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encoding => "encoding",
            Self::Commitment => "commitment",
            Self::ProofOfKnowledge => "proof of knowledge",
            Self::VerifiableShare => "verifiable share",
            Self::Broadcast => "broadcast consistency",
            Self::BaseTransfer => "base oblivious transfer",
            Self::TransferExtension => "oblivious-transfer extension",
            Self::Multiplication => "multiplication",
            Self::NonceConsistency => "nonce consistency",
            Self::KeyConsistency => "key-share consistency",
            Self::GroupKey => "group key",
            Self::Degenerate => "degenerate value",
            Self::Signature => "signature",
            Self::Confirmation => "confirmation",
        })
    }
}

/// How much a blame is worth to somebody who was not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// The party's broadcast alone shows the fault: kept with the sender's signature over it, it
    /// convinces anybody.
    Proof,
    /// Only the accuser's secrets show the fault: a third party sees one word against another.
    Accusation,
}

/// The finding that a party departed from the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blame {
    /// Who is blamed.
    pub party: PartyId,
    /// The round whose message failed.
    pub round: u8,
    /// What failed.
    pub check: Check,
    /// Whether others can be convinced.
    pub evidence: Evidence,
}

impl Blame {
    /// Says whether the oblivious-transfer setup with this party must not be used again.
    ///
    /// A failed check of these kinds may be an attempt to learn bits of the long-lived correlation;
    /// each further attempt would tell more. The owner records the party and refuses it until the
    /// key is refreshed or made anew.
    #[must_use]
    pub fn retires_setup(&self) -> bool {
        matches!(self.check, Check::TransferExtension | Check::Multiplication)
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.evidence {
            Evidence::Proof => "proof",
            Evidence::Accusation => "accusation",
        };
        write!(f, "party {} failed {} in round {} ({kind})", self.party, self.check, self.round)
    }
}

/// Why a session ended without output.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Abort {
    /// One party is at fault.
    Blamed(Blame),
    /// A check failed that says only that one of `suspects` is at fault.
    Unattributed {
        /// The round whose messages failed.
        round: u8,
        /// What failed.
        check: Check,
        /// The parties among which the fault lies, as this party sees it.
        suspects: Vec<PartyId>,
    },
    /// An invariant of this crate did not hold; nobody else is at fault.
    Internal {
        /// The round in which it was found.
        round: u8,
    },
}

impl Abort {
    /// The blame, if one party is found at fault.
    #[must_use]
    pub fn blame(&self) -> Option<&Blame> {
        match self {
            Self::Blamed(blame) => Some(blame),
            Self::Unattributed { .. } | Self::Internal { .. } => None,
        }
    }

    /// The parties among which the fault lies; none where it lies in this crate.
    #[must_use]
    pub fn suspects(&self) -> Vec<PartyId> {
        match self {
            Self::Blamed(blame) => vec![blame.party],
            Self::Unattributed { suspects, .. } => suspects.clone(),
            Self::Internal { .. } => Vec::new(),
        }
    }

    /// The stable, dotted code of this kind of failure: `peers.aborted` where a party is at fault.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.class().1
    }

    /// The exit code of the command for it: 5 where a party is at fault, 3 for a fault of this crate.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.class().0
    }

    fn class(&self) -> (u8, &'static str) {
        match self {
            Self::Blamed(_) | Self::Unattributed { .. } => (5, "peers.aborted"),
            Self::Internal { .. } => (3, "internal"),
        }
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blamed(blame) => blame.fmt(f),
            Self::Internal { round } => write!(f, "internal error in round {round}"),
            Self::Unattributed { round, check, suspects } => {
                write!(f, "{check} failed in round {round}, by one of the parties")?;
                for (k, party) in suspects.iter().enumerate() {
                    write!(f, "{} {party}", if k == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

impl core::error::Error for Abort {}
