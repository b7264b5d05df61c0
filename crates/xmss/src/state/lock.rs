//! One process at a time: a locked file beside the store, which names who holds it.

use super::create::settle;
use super::process::Process;
use super::seen::{MAX_TEXT, Seen};
use super::{Glance, Holder, Record, StateError};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    seen: Seen,
    /// The file was not there before.
    made: bool,
}

impl Lock {
    /// Takes the lock of a store.
    ///
    /// The operating system frees it when the process dies, so no stale lock is left behind. Who looks
    /// at the store has it for an instant, which is waited for.
    pub(super) fn take(store: &Path, holder: &Holder) -> Result<Self, StateError> {
        let path = lock_path(store);
        let mut held = Holder { pid: 0, host: "an unknown host".into() };
        for _ in 0..PATIENCE {
            let (mut file, made) = open_or_make(&path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => {
                    let (seen, holder) = (read_text(&mut file).0, holder.clone());
                    let process = Process::current();
                    let mut lock = Self { file, path, holder, process, seen, made };
                    lock.write()?;
                    return Ok(lock);
                }
                // Taken back by its maker since it was opened.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => held = read_text(&mut file).1,
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(StateError::Held(held))
    }

    /// Deletes the file, where this made it: there is no store that it belongs to.
    pub(super) fn withdraw(self) {
        if self.made && self.process.is_current() {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// What was noted.
    pub(super) fn seen(&self) -> Seen {
        self.seen
    }

    /// Notes a record that was committed. That the note fails is no reason to fail: it guards against
    /// mistakes, and the commit is done.
    pub(super) fn note(&mut self, record: &Record) {
        self.seen = self.seen.with(record);
        let _ = self.write();
    }

    fn write(&mut self) -> std::io::Result<()> {
        let text = format!("{} {} {}\n", self.seen.to_text(), self.holder.pid, self.holder.host);
        self.file.rewind()?;
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(text.len() as u64)
    }

    /// What tells this file from a copy of it: the device, inode and birth of the lock file, which lives as
    /// long as the store and is never replaced. Elsewhere than on Unix, its full path.
    pub(super) fn place(&self) -> [u8; 32] {
        place(&self.file, &self.path)
    }
}

fn place(file: &File, path: &Path) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"tetralith place\n");
    #[cfg(unix)]
    if let Ok(meta) = file.metadata() {
        use std::os::unix::fs::MetadataExt;
        hash.update(meta.dev().to_be_bytes());
        hash.update(meta.ino().to_be_bytes());
        // A file that was put back may get the old inode; its time of birth nobody can set.
        let born = meta.created().ok();
        let born = born.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        hash.update(born.map_or(0, |since| since.as_nanos()).to_be_bytes());
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
    let path = lock_path(store);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        // A state whose lock file is gone is taken for a copy; who cannot read it knows nothing.
        Err(error) => {
            let gone = error.kind() == ErrorKind::NotFound;
            return Ok(Glance { record: read()?, refused: gone.then_some(StateError::Copied) });
        }
    };
    // Shared, and only while this reads.
    let free = file.try_lock_shared().is_ok();
    // The note lags behind the record, so it is read first.
    let seen = read_text(&mut file).0;
    let record = read();
    let _ = file.unlock();
    let mut record = record?;
    let refused = match record.place == place(&file, &path) {
        true => seen.check(&record).err(),
        false => Some(StateError::Copied),
    };
    if free && refused.is_none() {
        settle(&mut record, |_| Some(0));
    }
    Ok(Glance { record, refused })
}

fn lock_path(store: &Path) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(".lock");
    PathBuf::from(path)
}

/// Opens the file, and says whether it was made.
fn open_or_make(path: &Path) -> std::io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match options.clone().create_new(true).open(path) {
        Ok(file) => Ok((file, true)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Ok((options.create(true).truncate(false).open(path)?, false))
        }
        Err(error) => Err(error),
    }
}

/// Says whether an open file is still the one of that name, and was neither deleted nor replaced.
///
/// A lock on a file is worth something only then. Elsewhere than on Unix, whether there is a file of that
/// name: no open file is deleted there.
pub fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let known = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
        let (held, named) = (file.metadata().map(known), std::fs::metadata(path).map(known));
        held.is_ok_and(|held| named.is_ok_and(|named| named == held))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
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

/// The note and the holder's name; best effort, for the holder may be writing at this moment.
fn read_text(file: &mut File) -> (Seen, Holder) {
    let mut text = String::new();
    let _ = file.rewind();
    let _ = file.take(MAX_TEXT).read_to_string(&mut text);
    let mut parts = text.trim_end().splitn(7, ' ').skip(5);
    let mut part = |otherwise| parts.next().unwrap_or(otherwise);
    let (pid, host) = (part("0"), part("an unknown host"));
    let holder = Holder { pid: pid.parse().unwrap_or(0), host: host.to_owned() };
    (Seen::from_text(&text), holder)
}

/// Attempts to take a lock, 5 ms apart.
const PATIENCE: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// A child between fork and exec has the parent's files open, whatever their flags.
    #[test]
    fn a_dropped_lock_is_free_though_the_file_is_open_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (store, holder) = (folder.path().join("state"), Holder::new("test"));
        let lock = Lock::take(&store, &holder).unwrap();
        let inherited = lock.file.try_clone().unwrap();
        assert_eq!(Lock::take(&store, &holder).unwrap_err(), StateError::Held(holder.clone()));
        drop(lock);
        drop(Lock::take(&store, &holder).unwrap());
        drop(inherited);
    }

    #[test]
    fn a_lock_that_was_withdrawn_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (store, holder) = (folder.path().join("state"), Holder::new("test"));
        Lock::take(&store, &holder).unwrap().withdraw();
        assert!(!lock_path(&store).exists());
        let kept = Lock::take(&store, &holder).unwrap();
        drop(kept);
        // Who did not make it leaves it.
        Lock::take(&store, &holder).unwrap().withdraw();
        assert!(lock_path(&store).exists());
    }
}
