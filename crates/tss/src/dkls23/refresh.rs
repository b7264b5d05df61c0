//! Refresh: new shares of the same key, and a new pairwise setup.
//!
//! It is key generation in which everybody deals zero; the new shares are the old ones plus what was
//! dealt. Shares from before and after do not go together, so that whoever stole fewer than t shares
//! of one time has nothing. All n parties take part. A party that was refused after a failed check
//! ([`crate::engine::Blame::retires_setup`]) can sign again afterwards.
//!
//! The old share is the owner's to delete, once all parties have the new one: until then a party
//! that missed the end can only sign with the old.

use chacha20::ChaCha20Rng;
use rand_core::{CryptoRng, SeedableRng};
use zeroize::Zeroizing;

use super::keygen::{Given, KeygenRounds, Previous};
use crate::engine::SessionId;
use crate::keys::KeyShare;
use crate::machine::{Machine, session};
use crate::oracle::Oracle;

/// One party's side of a refresh.
pub struct Refresh(pub(crate) Machine<KeygenRounds>);

session!(Refresh, KeyShare);

impl Refresh {
    /// Begins to refresh the key of `share` among all its parties.
    ///
    /// `session`: the same for all parties, and never used before. `rng`: 32 bytes are drawn from it.
    #[must_use]
    pub fn new(session: SessionId, share: &KeyShare, rng: &mut impl CryptoRng) -> Self {
        let public = share.public();
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut seed[..]);
        let rng = ChaCha20Rng::from_seed(*seed);
        let context =
            Oracle::new("context/refresh").absorb(&session.0).absorb(&public.key_id()).finish();
        let previous =
            Previous { secret: *share.secret(), commitments: public.commitments().clone() };
        let given = Given::Sharing(Box::new(previous));
        let (me, threshold) = (share.me(), public.threshold());
        let (rounds, letters) = KeygenRounds::start(context, me, threshold, given, rng);
        let parties = threshold.parties().collect();
        Self(Machine::new(rounds, me, parties, context, letters))
    }
}
