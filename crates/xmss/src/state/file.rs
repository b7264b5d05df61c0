//! The plain-file store, for small devices.
//!
//! A commit writes a new file beside the old one, syncs it, renames it over the old one and syncs the
//! folder: a crash leaves the old record or the new one, whole.

use super::lock::{self, Lock};
use super::{Glance, Holder, Record, Seen, StateError, StateStore};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tetralith_durable::{Access, open_regular, replace};

/// A state in a file, locked by this process.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    lock: Lock,
}

impl FileStore {
    /// Opens the store at a path and locks it; the file need not exist yet.
    ///
    /// # Errors
    /// [`StateError::Held`] with the process that holds the lock, or [`StateError::Io`].
    pub fn open(path: &Path, holder: &Holder) -> Result<Self, StateError> {
        Self::open_within(path, holder, Duration::ZERO)
    }

    /// As [`open`](Self::open), waiting as long as `wait` for a process that holds the lock.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_within(path: &Path, holder: &Holder, wait: Duration) -> Result<Self, StateError> {
        // Before the lock is made, which nothing would delete.
        match open_regular(path, OpenOptions::new().read(true)) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                let message = format!("{} is not a regular file", path.display());
                return Err(StateError::Io(message));
            }
            _ => {}
        }
        Ok(Self { path: path.to_owned(), lock: Lock::take(path, holder, wait)? })
    }

    /// Reads the record of a store without locking it: for showing a status.
    ///
    /// # Errors
    /// [`StateError::Missing`], [`StateError::Damaged`] or [`StateError::Io`].
    pub fn peek(path: &Path) -> Result<Record, StateError> {
        read(path)?.ok_or(StateError::Missing)
    }

    /// Reads a store without opening it, and says what a signer would find: for showing a status.
    ///
    /// # Errors
    /// As [`peek`](Self::peek).
    pub fn glance(path: &Path) -> Result<Glance, StateError> {
        lock::glance(path, || Self::peek(path))
    }
}

fn read(path: &Path) -> Result<Option<Record>, StateError> {
    let mut bytes = Vec::new();
    match open_regular(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // Of another file, however long it is, no more is read than shows that it is none of ours.
        file => file?.take(super::record::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?,
    };
    Record::from_bytes(&bytes).map(Some)
}

impl StateStore for FileStore {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        read(&self.path)
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        if read(&self.path)?.map(|record| record.epoch) != expected {
            return Err(StateError::Conflict { expected });
        }
        replace(&self.path, &record.to_bytes(), Access::Public)?;
        Ok(self.lock.note(record)?)
    }

    fn place(&self) -> [u8; 32] {
        self.lock.place()
    }

    fn seen(&self, key_id: &[u8; 32]) -> Seen {
        self.lock.seen(key_id)
    }

    fn check(&self, record: &Record) -> Result<(), StateError> {
        self.lock.check(record)
    }
}
