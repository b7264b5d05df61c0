//! Random shares of zero without messages.
//!
//! Each pair of parties shares a seed from key generation; party i adds the pair's pseudorandom
//! value for the session if it is the lower of the two and subtracts it otherwise. The sum over all
//! parties is zero, and the shares of honest parties look random to everybody else (DKLs23 §3,
//! F_Zero, after Cramer, Damgård and Ishai, TCC 2005).

use k256::Scalar;

use crate::engine::PartyId;
use crate::oracle::Oracle;

/// This party's share of zero in the session `label`; `seeds` has each other party of the session.
pub(crate) fn share<'a>(
    label: &[u8; 32],
    me: PartyId,
    seeds: impl Iterator<Item = (PartyId, &'a [u8; 32])>,
) -> Scalar {
    seeds.fold(Scalar::ZERO, |sum, (party, seed)| {
        let value = Oracle::new("zero-share").absorb(seed).absorb(label).scalar();
        if me < party { sum + value } else { sum - value }
    })
}
