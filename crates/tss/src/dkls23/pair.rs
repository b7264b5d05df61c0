//! What two parties hold in common after key generation.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::base_ot::{Chosen, Offered};
use super::multiplication::Gadget;
use crate::engine::PartyId;
use crate::oracle::Oracle;

/// One party's side of its setup with one peer.
///
/// The base transfers run against the multiplications: as Alice (extension sender) a party holds
/// what it chose, as Bob (extension receiver) what it offered.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Pair {
    #[zeroize(skip)]
    pub(crate) peer: PartyId,
    /// Drawn by both.
    pub(crate) seed: [u8; 32],
    pub(crate) as_alice: Chosen,
    pub(crate) as_bob: Offered,
}

impl Pair {
    /// The seed of the pair's shares of zero.
    pub(crate) fn zero_seed(&self) -> [u8; 32] {
        Oracle::new("pair/zero").absorb(&self.seed).finish()
    }

    /// The gadget vector of the multiplications in which `alice` is Alice.
    pub(crate) fn gadget(&self, alice: PartyId) -> Gadget {
        let alice = [alice.get()];
        Gadget::new(&Oracle::new("pair/gadget").absorb(&self.seed).absorb(&alice).finish())
    }
}

/// Joins the two parties' contributions to the pair's seed.
pub(crate) fn seed(
    context: &[u8; 32],
    mine: (PartyId, &[u8; 32]),
    theirs: (PartyId, &[u8; 32]),
) -> [u8; 32] {
    let (low, high) = if mine.0 < theirs.0 { (mine, theirs) } else { (theirs, mine) };
    Oracle::new("pair/seed")
        .absorb(context)
        .absorb(&[low.0.get(), high.0.get()])
        .absorb(low.1)
        .absorb(high.1)
        .finish()
}

/// The label of a two-party run inside a session: who is who, and in which session.
pub(crate) fn label(context: &[u8; 32], first: PartyId, second: PartyId) -> [u8; 32] {
    Oracle::new("pair/label").absorb(context).absorb(&[first.get(), second.get()]).finish()
}
