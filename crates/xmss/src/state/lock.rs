//! One process at a time: a locked file beside the store, which names who holds it.

use super::process::Process;
use super::seen::{MAX_TEXT, Seen};
use super::{Holder, Record, StateError};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

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
}

impl Lock {
    /// Takes the lock of a store.
    ///
    /// The operating system frees it when the process dies, so no stale lock is left behind.
    pub(super) fn take(store: &Path, holder: &Holder) -> Result<Self, StateError> {
        let mut path = store.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StateError::Held(read_text(&mut file).1)),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let seen = read_text(&mut file).0;
        let mut lock =
            Self { file, path, holder: holder.clone(), process: Process::current(), seen };
        lock.write()?;
        Ok(lock)
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
        let mut hash = Sha256::new();
        hash.update(b"tetralith place\n");
        #[cfg(unix)]
        if let Ok(meta) = self.file.metadata() {
            use std::os::unix::fs::MetadataExt;
            hash.update(meta.dev().to_be_bytes());
            hash.update(meta.ino().to_be_bytes());
            // A file that was put back may get the old inode; its time of birth nobody can set.
            let born = meta.created().ok();
            let born = born.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            hash.update(born.map_or(0, |since| since.as_nanos()).to_be_bytes());
        }
        #[cfg(not(unix))]
        if let Ok(path) = self.path.canonicalize() {
            hash.update(path.as_os_str().as_encoded_bytes());
        }
        let _ = &self.path;
        hash.finalize().into()
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
}
