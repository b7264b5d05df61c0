//! What is noted beside a store or a key: how far the state was when it was last seen.
//!
//! It finds out a record that was put back from a backup. The note is written after the commit and not
//! synced: it may lag behind, never run ahead.

use super::{Record, StateError};

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

    /// Refuses a record that is from before this was seen.
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

    /// As text of one length.
    #[cfg(feature = "file")]
    pub(super) fn to_text(self) -> String {
        let (high, low) = self.key_id.split_at(16);
        let part =
            |bytes: &[u8]| bytes.iter().fold(0u128, |all, byte| all << 8 | u128::from(*byte));
        let (high, low, store) = (part(high), part(low), part(&self.store_id));
        format!("{:020} {:020} {store:032x} {high:032x} {low:032x}", self.next, self.epoch)
    }

    /// What can be read of a text: best effort, for its writer may be at it.
    #[cfg(feature = "file")]
    pub(super) fn from_text(text: &str) -> Self {
        let mut parts = text.split_ascii_whitespace();
        let mut number = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        let (next, epoch) = (number(), number());
        let mut id = || {
            let id = parts.next().and_then(|part| u128::from_str_radix(part, 16).ok());
            id.unwrap_or(0).to_be_bytes()
        };
        let store_id = id();
        let mut key_id = [0; 32];
        key_id[..16].copy_from_slice(&id());
        key_id[16..].copy_from_slice(&id());
        Self { key_id, store_id, epoch, next }
    }
}

/// A note in a file of its own, for stores that are elsewhere: several processes may keep it at once.
#[cfg(any(feature = "postgres", feature = "etcd"))]
#[derive(Debug)]
pub(super) struct Note {
    path: Option<std::path::PathBuf>,
    seen: Seen,
}

#[cfg(any(feature = "postgres", feature = "etcd"))]
impl Note {
    /// Reads the note at a path, making an empty one where there is none.
    pub(super) fn open(path: Option<&std::path::Path>) -> Result<Self, StateError> {
        let mut note = Self { path: path.map(ToOwned::to_owned), seen: Seen::default() };
        note.update(None)?;
        Ok(note)
    }

    /// Reads it again: another process may have seen more.
    pub(super) fn refresh(&mut self) -> Result<(), StateError> {
        Ok(self.update(None)?)
    }

    /// What was seen by this process, and by others when it was last read.
    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    /// Notes a record that is in the store. That it fails is no reason to fail: it guards against
    /// mistakes, and the record is committed.
    pub(super) fn take(&mut self, record: &Record) {
        self.seen = self.seen.with(record);
        let _ = self.update(Some(record));
    }

    fn update(&mut self, record: Option<&Record>) -> std::io::Result<()> {
        use std::io::{Read, Seek, Write};
        let Some(path) = &self.path else { return Ok(()) };
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        let mut text = String::new();
        (&mut file).take(MAX_TEXT).read_to_string(&mut text)?;
        let found = Seen::from_text(&text);
        // A file that was put back says less than this process knows.
        let mut seen = record.map_or(found, |record| found.with(record));
        if seen.key_id == self.seen.key_id {
            seen.next = seen.next.max(self.seen.next);
        }
        if seen != found {
            file.rewind()?;
            file.write_all(format!("{}\n", seen.to_text()).as_bytes())?;
        }
        self.seen = seen;
        Ok(())
    }
}

/// More than a note has.
#[cfg(feature = "file")]
pub(super) const MAX_TEXT: u64 = 512;
