//! Opening files that other processes may replace, delete or exchange for a pipe.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Opens a regular file, and refuses anything else without waiting: opening a named pipe would block
/// until somebody opens its other end.
///
/// # Errors
/// As [`OpenOptions::open`], and [`ErrorKind::InvalidInput`] for a folder, a pipe, a device or a socket.
pub fn open_regular(path: &Path, options: &OpenOptions) -> Result<File> {
    #[cfg(unix)]
    let file = {
        use std::os::unix::fs::OpenOptionsExt;
        let nonblock = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        options.clone().custom_flags(nonblock).open(path)
    };
    #[cfg(not(unix))]
    let file = options.open(path);
    let not_regular = || Error::new(ErrorKind::InvalidInput, "it is not a regular file");
    match file {
        // Writing to a pipe without a reader, and to a folder, fails before its kind can be seen.
        Err(error) => match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => Err(not_regular()),
            _ => Err(error),
        },
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(not_regular()),
    }
}

/// Whether an open file is still the one of that name, neither deleted nor replaced.
///
/// A lock on a file means something only then. On systems other than Unix: whether a file of that name
/// exists, because an open file cannot be deleted there.
#[must_use]
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

/// Locks a file for this process; `false` where another process holds the lock.
///
/// # Errors
/// The file system has no locks, or fails.
pub fn try_lock(file: &File) -> Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_means_something_only_at_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let file = File::create(&path).expect("made");
        assert!(is_at(&file, &path));
        std::fs::remove_file(&path).expect("deleted");
        assert!(!is_at(&file, &path));
        let other = File::create(&path).expect("made again");
        assert!(is_at(&other, &path));
        #[cfg(unix)]
        assert!(!is_at(&file, &path));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_without_waiting() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        for write in [false, true] {
            let mut options = OpenOptions::new();
            options.read(!write).write(write);
            for path in [&path, &folder.path().to_owned()] {
                let refused = open_regular(path, &options).expect_err("no file");
                assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{write} {refused}");
            }
        }
        let missing = folder.path().join("missing");
        let refused = open_regular(&missing, OpenOptions::new().read(true)).expect_err("none");
        assert_eq!(refused.kind(), ErrorKind::NotFound);
    }
}
