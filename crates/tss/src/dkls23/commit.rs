//! Commitments: the hash of the message and of 32 random bytes.
//!
//! Binding and hiding while SHA-256 is a random oracle. The label names session, committer and
//! purpose, so that nobody can present another's commitment as its own.

use rand_core::CryptoRng;
use subtle::ConstantTimeEq;

use crate::engine::Check;
use crate::oracle::Oracle;
use crate::wire::holds;

/// Bytes of a commitment, and of the randomness that opens it.
pub(crate) const COMMITMENT: usize = 32;

/// Draws the randomness of a commitment.
pub(crate) fn blind(rng: &mut impl CryptoRng) -> [u8; COMMITMENT] {
    let mut blind = [0; COMMITMENT];
    rng.fill_bytes(&mut blind);
    blind
}

/// Commits to `message` under `label`.
pub(crate) fn commit(label: &[u8], message: &[u8], blind: &[u8; COMMITMENT]) -> [u8; COMMITMENT] {
    Oracle::new("commitment").absorb(label).absorb(message).absorb(blind).finish()
}

/// Checks an opening.
pub(crate) fn open(
    commitment: &[u8],
    label: &[u8],
    message: &[u8],
    blind: &[u8; COMMITMENT],
) -> Result<(), Check> {
    let opened = commit(label, message, blind).ct_eq(commitment);
    if holds(opened) { Ok(()) } else { Err(Check::Commitment) }
}
