//! The plain-file store, for small devices.
//!
//! A commit writes a new file beside the old one, syncs it, renames it over the old one and syncs the
//! folder: a crash leaves the old record or the new one, whole.

use super::lock::{self, Lock};
use super::{Glance, Holder, Record, Seen, StateError, StateStore};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

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
        Ok(Self { path: path.to_owned(), lock: Lock::take(path, holder)? })
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
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // Of another file, however long it is, no more is read than shows that it is none of ours.
        file => file?.take(super::record::MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?,
    };
    Record::from_bytes(&bytes).map(Some)
}

/// Writes a file so that after a crash the path holds the old bytes or the new.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// As [`replace`], with the bytes written by `write`.
pub(crate) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let mut file = File::create(&aside)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    drop(file);
    if let Err(error) = written.and_then(|()| fs::rename(&aside, path)) {
        // Half a file is of no use, and may be what fills the disk.
        let _ = fs::remove_file(&aside);
        return Err(error);
    }
    sync_folder(path)
}

/// Makes a file's name durable.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Folders cannot be opened for syncing elsewhere; there the rename itself is durable.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

impl StateStore for FileStore {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        read(&self.path)
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        if read(&self.path)?.map(|record| record.epoch) != expected {
            return Err(StateError::Conflict { expected });
        }
        replace(&self.path, &record.to_bytes())?;
        self.lock.note(record);
        Ok(())
    }

    fn place(&self) -> [u8; 32] {
        self.lock.place()
    }

    fn seen(&self) -> Seen {
        self.lock.seen()
    }
}
