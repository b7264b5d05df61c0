//! With whom a key must not be used again.

use crate::ceremony::lock;
use crate::error::Error;
use crate::log::Log;
use crate::shares::KeyId;
use crate::wire::CeremonyId;
use libp2p::PeerId;
use std::collections::HashSet;
use std::sync::Mutex;

/// The retired pairwise setups: in the log, and in memory for where the log fails.
#[derive(Debug, Default)]
pub(crate) struct Retired(Mutex<HashSet<(KeyId, PeerId)>>);

impl Retired {
    /// Keeps that the setup with `peer` must not be used with this key again: in memory, whatever becomes
    /// of the log, and then in the log.
    ///
    /// # Errors
    /// It could not be written: a restart would forget it.
    pub(crate) fn add(
        &self,
        log: &Log,
        key: &KeyId,
        peer: &PeerId,
        by: CeremonyId,
    ) -> Result<(), Error> {
        lock(&self.0).insert((*key, *peer));
        log.retire(key, peer, by)
    }

    /// Says whether the setup with `peer` must not be used with this key again.
    ///
    /// # Errors
    /// The log cannot be read: then nobody knows, and the key is not used.
    pub(crate) fn has(&self, log: &Log, key: &KeyId, peer: &PeerId) -> Result<bool, Error> {
        Ok(lock(&self.0).contains(&(*key, *peer)) || log.is_retired(key, peer)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    #[test]
    fn a_log_that_cannot_be_written_retires_nobody_less() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.db");
        let log = Log::open(&path).unwrap();
        let full =
            "CREATE TRIGGER full BEFORE INSERT ON retired BEGIN SELECT RAISE(ABORT, 'x'); END";
        rusqlite::Connection::open(&path).unwrap().execute(full, []).unwrap();
        let (key, other) = (KeyId([1; 16]), KeyId([2; 16]));
        let (peer, by) = (Identity::from_seed(&[1; 32]).id(), CeremonyId([3; 32]));
        let retired = Retired::default();
        assert!(!retired.has(&log, &key, &peer).unwrap());
        assert!(retired.add(&log, &key, &peer, by).is_err());
        assert!(retired.has(&log, &key, &peer).unwrap());
        assert!(!retired.has(&log, &other, &peer).unwrap());
        // A log that cannot be read answers for nobody.
        rusqlite::Connection::open(&path).unwrap().execute("DROP TABLE retired", []).unwrap();
        assert!(retired.has(&log, &other, &peer).is_err());
    }
}
