//! With whom a sharing of a key must not be used again.
//!
//! A failed check of the oblivious transfers may have told the cheater a bit of the pairwise setup.
//! The pair is retired at once: in memory, then in the share's file, and only then does anybody hear
//! of the failure. All other runs with that peer and key stop.

use crate::ceremony::agreement::Agreement;
use crate::ceremony::{Shared, lock};
use crate::error::Error;
use crate::log::Log;
use crate::shares::{KeyId, Shares, SharingId};
use libp2p::PeerId;
use rand_core::CryptoRng;
use std::collections::HashSet;
use std::sync::Mutex;
use tetralith_tss::engine::Blame;
use tokio::sync::watch;

/// The retired pairwise setups of all keys.
#[derive(Debug)]
pub(crate) struct Retired {
    pairs: Mutex<HashSet<(SharingId, PeerId)>>,
    changed: watch::Sender<()>,
}

impl Retired {
    /// Begins with what the shares' files say.
    pub(crate) fn new(pairs: impl IntoIterator<Item = (SharingId, PeerId)>) -> Self {
        let pairs = Mutex::new(pairs.into_iter().collect());
        Retired { pairs, changed: watch::Sender::new(()) }
    }

    /// Begins with what the shares' files say, and takes over what an earlier version kept in the log.
    ///
    /// # Errors
    /// A retirement of the log cannot be written to its share's file.
    pub(crate) fn open(
        shares: &Shares,
        log: &Log,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        let mut pairs = shares.retired().to_vec();
        for (key, peer) in log.retired_before()? {
            let (Some(key), Ok(peer)) = (KeyId::from_hex(&key), peer.parse()) else { continue };
            let first = SharingId { key, number: 0 };
            if shares.sharing(&first).is_some() && !pairs.contains(&(first, peer)) {
                shares.retire(&first, &peer, rng)?;
                pairs.push((first, peer));
            }
        }
        Ok(Self::new(pairs))
    }

    /// Says whether the setup with `peer` must not be used with this key again.
    pub(crate) fn has(&self, key: &SharingId, peer: &PeerId) -> bool {
        lock(&self.pairs).contains(&(*key, *peer))
    }

    /// With whom this key must not be used again.
    pub(crate) fn of(&self, key: &SharingId) -> Vec<PeerId> {
        let pairs = lock(&self.pairs);
        pairs.iter().filter(|(of, _)| of == key).map(|(_, peer)| *peer).collect()
    }

    /// Tells of each retirement from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Retires the setup with `cheater`, unless one with a peer of `peers` is retired already: then
    /// that peer is the error, and what the run found must not be told.
    ///
    /// `write` makes the retirement durable. Everybody else waits for it: nobody sees an effect of
    /// a retirement that a crash could undo.
    pub(crate) fn settle(
        &self,
        key: SharingId,
        peers: impl IntoIterator<Item = PeerId>,
        cheater: Option<PeerId>,
        write: impl FnOnce(&PeerId) -> Result<(), Error>,
    ) -> Result<(), PeerId> {
        let mut pairs = lock(&self.pairs);
        if let Some(peer) = peers.into_iter().find(|peer| pairs.contains(&(key, *peer))) {
            return Err(peer);
        }
        if let Some(cheater) = cheater {
            pairs.insert((key, cheater));
            if let Err(error) = write(&cheater) {
                // Until it stops this node remembers it; then nobody would.
                tracing::error!(event = "retirement_not_stored", key = %key.key, peer = %cheater, %error);
            }
            drop(pairs);
            self.changed.send_replace(());
        }
        Ok(())
    }
}

impl Shared {
    /// Settles what one step of a run found: goes on, or retires the setup with whom `found` blames;
    /// the error is a participant whose setup is retired already. Takes the time of a durable write.
    pub(crate) fn settle(
        &self,
        key: Option<SharingId>,
        agreement: &Agreement,
        found: Option<&Blame>,
    ) -> Result<(), PeerId> {
        let Some(key) = key else { return Ok(()) };
        let cheater = found.filter(|blame| blame.retires_setup());
        let cheater = cheater.and_then(|blame| agreement.peer(blame.party));
        let write = |peer: &PeerId| self.shares.retire(&key, peer, &mut self.fresh_rng());
        self.retired.settle(key, agreement.peers(), cheater, write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    const KEY: SharingId = SharingId { key: KeyId([1; 16]), number: 0 };

    fn peers() -> [PeerId; 3] {
        [1, 2, 3].map(|seed| Identity::from_seed(&[seed; 32]).id())
    }

    /// Of several runs that find a failed check of one peer, one tells of it.
    #[test]
    fn one_failed_check_is_seen_and_no_more() {
        let peers = peers();
        let retired = Retired::new([]);
        let mut changes = retired.changes();
        let write = |_: &PeerId| Ok(());
        assert_eq!(retired.settle(KEY, peers, None, write), Ok(()));
        assert!(!changes.has_changed().unwrap());
        assert_eq!(retired.settle(KEY, peers, Some(peers[1]), write), Ok(()));
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        for found in [None, Some(peers[1]), Some(peers[2])] {
            assert_eq!(retired.settle(KEY, peers, found, write), Err(peers[1]));
        }
        assert!(!changes.has_changed().unwrap());
        // Other sharings, and runs without the cheater, go on.
        let other = SharingId { number: 1, ..KEY };
        assert_eq!(retired.settle(other, peers, None, write), Ok(()));
        assert_eq!(retired.settle(KEY, [peers[0], peers[2]], None, write), Ok(()));
        assert_eq!((retired.of(&KEY), retired.of(&other)), (vec![peers[1]], vec![]));
    }

    #[test]
    fn a_file_that_cannot_be_written_retires_nobody_less() {
        let peers = peers();
        let retired = Retired::new([(KEY, peers[0])]);
        assert!(retired.has(&KEY, &peers[0]) && !retired.has(&KEY, &peers[1]));
        let fails = |_: &PeerId| Err(Error::Stopping);
        assert_eq!(retired.settle(KEY, [peers[1]], Some(peers[1]), fails), Ok(()));
        assert!(retired.has(&KEY, &peers[1]));
    }
}
