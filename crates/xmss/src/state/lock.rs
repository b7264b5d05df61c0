//! One process at a time: a locked file beside the store, which names who holds it.

use super::{Holder, StateError};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The lock, held until it is dropped or the process ends.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
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
            Err(TryLockError::WouldBlock) => return Err(StateError::Held(read_holder(&mut file))),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        file.set_len(0)?;
        file.rewind()?;
        write!(file, "{} {}\n", holder.pid, holder.host)?;
        Ok(Self { file, path })
    }

    /// What tells this file from a copy of it: the device and inode of the lock file, which lives as
    /// long as the store and is never replaced. Elsewhere than on Unix, its full path.
    pub(super) fn place(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"tetralith place\n");
        #[cfg(unix)]
        if let Ok(meta) = self.file.metadata() {
            use std::os::unix::fs::MetadataExt;
            hash.update(meta.dev().to_be_bytes());
            hash.update(meta.ino().to_be_bytes());
        }
        #[cfg(not(unix))]
        if let Ok(path) = self.path.canonicalize() {
            hash.update(path.as_os_str().as_encoded_bytes());
        }
        let _ = &self.path;
        hash.finalize().into()
    }
}

fn read_holder(file: &mut File) -> Holder {
    let mut text = String::new();
    // Best effort: the holder may be writing its name at this moment.
    let _ = file.take(128).read_to_string(&mut text);
    let (pid, host) = text.trim_end().split_once(' ').unwrap_or(("0", "an unknown host"));
    Holder { pid: pid.parse().unwrap_or(0), host: host.to_owned() }
}
