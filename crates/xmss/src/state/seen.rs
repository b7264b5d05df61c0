//! What is noted beside a store or a key: how far the state was when it was last seen.
//!
//! A note reveals a record that was put back from a backup. It is written after the commit, so it may
//! lag behind and never runs ahead. It has a checksum and one length: a note is always replaced in
//! place, within one sector of the disk, so that a power failure leaves the old note or the new one.

use super::{Record, StateError};
#[cfg(feature = "file")]
use sha2::{Digest, Sha256};

/// How far the state of a key was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seen {
    /// Whose state, as [`Record::key_id`]; a note about another key says nothing.
    pub key_id: [u8; 32],
    /// Which state of the key, as [`Record::store_id`]; epochs of another one say nothing.
    pub store_id: [u8; 16],
    /// Its epoch.
    pub epoch: u64,
    /// The first index that was not leased. This holds for every state of the key.
    pub next: u64,
}

impl Seen {
    /// The later of this and a record.
    #[must_use]
    pub fn with(self, record: &Record) -> Self {
        let (key_id, store_id) = (record.key_id, record.store_id);
        let own = self.of(&key_id);
        let epoch = if own.store_id == store_id { own.epoch } else { 0 };
        Self { key_id, store_id, epoch: epoch.max(record.epoch), next: own.next.max(record.next) }
    }

    /// Refuses a record that is from before this was seen. Of another key's record it says nothing.
    ///
    /// # Errors
    /// [`StateError::RolledBack`].
    pub fn check(&self, record: &Record) -> Result<(), StateError> {
        let later = self.with(record);
        if record.epoch < later.epoch {
            return Err(StateError::RolledBack {
                what: "epoch",
                found: record.epoch,
                seen: later.epoch,
            });
        }
        if record.next < later.next {
            return Err(StateError::RolledBack {
                what: "index",
                found: record.next,
                seen: later.next,
            });
        }
        Ok(())
    }

    /// This, if it is about that key.
    pub(super) fn of(self, key_id: &[u8; 32]) -> Self {
        if self.key_id == *key_id { self } else { Self::default() }
    }

    /// As text of [`TEXT`] characters, with a checksum.
    #[cfg(feature = "file")]
    pub(super) fn to_text(self) -> String {
        let (high, low) = self.key_id.split_at(16);
        let (high, low, store) = (number(high), number(low), number(&self.store_id));
        let body =
            format!("{:020} {:020} {store:032x} {high:032x} {low:032x}", self.next, self.epoch);
        let sum = checksum(&body);
        format!("{body} {sum:032x}")
    }

    /// What the first [`TEXT`] characters say; `None` unless they are what [`to_text`](Self::to_text) writes.
    #[cfg(feature = "file")]
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let text = text.get(..TEXT)?;
        let mut parts = text.split(' ');
        let (next, epoch) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let mut id = || Some(u128::from_str_radix(parts.next()?, 16).ok()?.to_be_bytes());
        let store_id = id()?;
        let mut key_id = [0; 32];
        key_id[..16].copy_from_slice(&id()?);
        key_id[16..].copy_from_slice(&id()?);
        let seen = Self { key_id, store_id, epoch, next };
        (seen.to_text() == text).then_some(seen)
    }
}

#[cfg(feature = "file")]
fn number(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |all, byte| all << 8 | u128::from(*byte))
}

#[cfg(feature = "file")]
fn checksum(body: &str) -> u128 {
    let hash = Sha256::new_with_prefix("tetralith xmss seen 1\n").chain_update(body).finalize();
    number(&hash[..16])
}

/// Characters of a note's checked part: two numbers, a store, a key in two halves, a checksum.
#[cfg(feature = "file")]
pub(super) const TEXT: usize = 20 + 21 + 4 * 33;
/// Bytes of a whole note: one sector.
#[cfg(feature = "file")]
pub(super) const NOTE_BYTES: usize = 512;
