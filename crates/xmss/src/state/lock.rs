//! One process at a time: a locked file beside the store, which names who holds it.

use super::create::settle;
use super::note::padded;
use super::process::Process;
use super::seen::{NOTE_BYTES, Seen};
use super::{Glance, Holder, Record, StateError};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tetralith_durable::{beside, is_at, open_regular, sync_folder};

/// The lock, held until it is dropped or the process ends.
///
/// Dropping it unlocks by name: closing the file would not, while a child that was just forked has it open.
///
/// The file also notes how far the state was, so that a store put back from a backup is found out.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
    holder: Holder,
    process: Process,
    /// What the file noted; `None` where it was empty or damaged.
    seen: Option<Seen>,
    /// The file was not there before.
    made: bool,
}

impl Lock {
    /// Takes the lock of a store, waiting for it as long as `wait`.
    ///
    /// The operating system frees it when the process dies, so no stale lock is left behind. A process
    /// that only looks at the store holds it for an instant, which is always waited for.
    pub(super) fn take(store: &Path, holder: &Holder, wait: Duration) -> Result<Self, StateError> {
        let path = beside(store, ".lock");
        let end = Instant::now() + wait.max(LEAST_WAIT);
        let mut pause = Duration::from_millis(5);
        loop {
            let opened = open_or_make(&path);
            let (file, made) = opened.map_err(|error| named(&path, &error))?;
            let held = match Self::of(file, &path, made, holder)? {
                Ok(lock) => return Ok(lock),
                Err(held) => held,
            };
            if Instant::now() >= end {
                return Err(StateError::Held(held));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    }

    /// Takes the lock by an open file, or says who has it.
    fn of(
        mut file: File,
        path: &Path,
        made: bool,
        holder: &Holder,
    ) -> Result<Result<Self, Holder>, StateError> {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(Err(read(&mut file).1)),
            Err(TryLockError::Error(error)) => Err(error.into()),
            // Withdrawn by its maker since it was opened: a lock that nobody else would meet.
            Ok(()) if !is_at(&file, path) => Ok(Err(unknown())),
            Ok(()) => {
                let (seen, process) = (read(&mut file).0, Process::current());
                let (holder, path) = (holder.clone(), path.to_owned());
                let mut lock = Self { file, path, holder, process, seen, made };
                match lock.write() {
                    Ok(()) => Ok(Ok(lock)),
                    Err(error) => {
                        let failed = named(&lock.path, &error);
                        lock.withdraw();
                        Err(failed)
                    }
                }
            }
        }
    }

    /// Deletes the file, where this made it: there is no store that it belongs to.
    pub(super) fn withdraw(self) {
        if self.made && self.process.is_current() {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// What was noted about a key.
    pub(super) fn seen(&self, key_id: &[u8; 32]) -> Seen {
        self.seen.unwrap_or_default().of(key_id)
    }

    /// Refuses a record that the note shows to be old, and one whose note is lost: a state is noted with
    /// its second commit at the latest.
    pub(super) fn check(&self, record: &Record) -> Result<(), StateError> {
        check(self.seen, &self.path, record)
    }

    /// Notes a record that was committed.
    pub(super) fn note(&mut self, record: &Record) -> std::io::Result<()> {
        let seen = self.seen.unwrap_or_default();
        self.seen = Some(seen.with(record));
        self.write()?;
        if seen.key_id == record.key_id {
            return Ok(());
        }
        // Later notes are written over this one, within its sector.
        self.file.sync_all()?;
        sync_folder(&self.path)
    }

    fn write(&mut self) -> std::io::Result<()> {
        let Holder { pid, host } = &self.holder;
        let text = padded(&format!("{} {pid} {host}", self.seen.unwrap_or_default().to_text()));
        self.file.rewind()?;
        self.file.write_all(&text)?;
        self.file.set_len(text.len() as u64)
    }

    /// What tells this file from a copy of it: the file system, inode and birth of the lock file, which lives as
    /// long as the store and is never replaced. Elsewhere than on Unix, its full path.
    pub(super) fn place(&self) -> [u8; 32] {
        place(&self.file, &self.path)
    }
}

fn check(seen: Option<Seen>, path: &Path, record: &Record) -> Result<(), StateError> {
    let noted = seen.filter(|seen| seen.key_id == record.key_id);
    match noted {
        None if record.epoch > 1 => Err(StateError::Unnoted { path: path.display().to_string() }),
        None => Ok(()),
        Some(seen) => seen.check(record),
    }
}

/// What the lock file at a path notes, of whichever key; `None` where it is no lock file, or damaged.
#[must_use]
pub fn noted_by(path: &Path) -> Option<Seen> {
    let mut file = open_regular(path, OpenOptions::new().read(true)).ok()?;
    read(&mut file).0.filter(|seen| *seen != Seen::default())
}

fn place(file: &File, path: &Path) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"tetralith place\n");
    #[cfg(unix)]
    if let Ok(identity) = tetralith_durable::identity(file) {
        hash.update(identity);
    }
    #[cfg(not(unix))]
    if let Ok(path) = path.canonicalize() {
        hash.update(path.as_os_str().as_encoded_bytes());
    }
    let _ = (file, path);
    hash.finalize().into()
}

/// Reads a store without opening it: what its lock says of it, and whether anybody holds it.
pub(super) fn glance(
    store: &Path,
    read: impl FnOnce() -> Result<Record, StateError>,
) -> Result<Glance, StateError> {
    let path = beside(store, ".lock");
    let mut file = match open_regular(&path, OpenOptions::new().read(true)) {
        Ok(file) => file,
        // A state whose lock file is gone is taken for a copy; who cannot read it knows nothing.
        Err(error) => {
            let gone = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput);
            return Ok(Glance { record: read()?, refused: gone.then_some(StateError::Copied) });
        }
    };
    // Shared, and only while this reads.
    let free = file.try_lock_shared().is_ok();
    // The note lags behind the record, so it is read first.
    let mut seen = self::read(&mut file).0;
    for _ in 0..if free { 0 } else { MAX_TORN } {
        // Its holder may be writing at this moment.
        seen = seen.or_else(|| self::read(&mut file).0);
    }
    let record = read();
    let _ = file.unlock();
    let mut record = record?;
    let refused = match record.place == place(&file, &path) {
        true => check(seen, &path, &record).err(),
        false => Some(StateError::Copied),
    };
    if free && refused.is_none() {
        settle(&mut record, |_| Some(0));
    }
    Ok(Glance { record, refused })
}

/// Opens the file, and says whether it was made.
fn open_or_make(path: &Path) -> std::io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match open_regular(path, options.clone().create_new(true)) {
        Ok(file) => Ok((file, true)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Ok((open_regular(path, options.create(true).truncate(false))?, false))
        }
        Err(error) => Err(error),
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The lock belongs to the process that took it: a forked child leaves it alone.
        if self.process.is_current() {
            let _ = self.file.unlock();
        }
    }
}

/// The note and the holder's name; the holder may be writing at this moment.
fn read(file: &mut File) -> (Option<Seen>, Holder) {
    let mut bytes = Vec::new();
    let _ = file.rewind();
    let _ = file.take(NOTE_BYTES as u64).read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap_or_default();
    let mut parts = text.trim_end().splitn(8, ' ').skip(6);
    let holder = parts
        .next()
        .and_then(|pid| Some(Holder { pid: pid.parse().ok()?, host: parts.next()?.to_owned() }));
    (Seen::from_text(&text), holder.unwrap_or_else(unknown))
}

fn named(path: &Path, error: &std::io::Error) -> StateError {
    StateError::Io(format!("{}: {error}", path.display()))
}

fn unknown() -> Holder {
    Holder { pid: 0, host: "an unknown host".into() }
}

/// A lock is always waited for as long: a process that looks at the store has it for an instant.
const LEAST_WAIT: Duration = Duration::from_millis(50);
/// Readings of a note while its holder writes.
const MAX_TORN: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn take(store: &Path, holder: &Holder) -> Result<Lock, StateError> {
        Lock::take(store, holder, Duration::ZERO)
    }

    /// A process opens the file, another one deletes it, and only then the first one locks it.
    #[cfg(unix)]
    #[test]
    fn a_deleted_file_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let (store, holder) = (folder.path().join("state"), Holder::new("test"));
        let path = beside(&store, ".lock");
        let (opened, made) = open_or_make(&path).unwrap();
        assert!(made);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(Lock::of(opened, &path, made, &holder).unwrap().unwrap_err(), unknown());
        let (opened, made) = open_or_make(&path).unwrap();
        let lock = Lock::of(opened, &path, made, &holder).unwrap().unwrap();
        assert_eq!(take(&store, &holder).unwrap_err(), StateError::Held(holder));
        drop(lock);
    }

    /// A child between fork and exec has the parent's files open, whatever their flags.
    #[test]
    fn a_dropped_lock_is_free_though_the_file_is_open_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (store, holder) = (folder.path().join("state"), Holder::new("test"));
        let lock = take(&store, &holder).unwrap();
        let inherited = lock.file.try_clone().unwrap();
        assert_eq!(take(&store, &holder).unwrap_err(), StateError::Held(holder.clone()));
        drop(lock);
        drop(take(&store, &holder).unwrap());
        drop(inherited);
    }

    #[test]
    fn a_lock_that_was_withdrawn_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (store, holder) = (folder.path().join("state"), Holder::new("test"));
        take(&store, &holder).unwrap().withdraw();
        assert!(!beside(&store, ".lock").exists());
        let kept = take(&store, &holder).unwrap();
        drop(kept);
        // Who did not make it leaves it.
        take(&store, &holder).unwrap().withdraw();
        assert!(beside(&store, ".lock").exists());
    }
}
