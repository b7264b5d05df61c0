//! The file in which a result is made before it gets its name.
//!
//! It is `.NAME.new`, one for each target, so that what a killed command left, which may hold a secret, is
//! found by people and replaced by the next run. It is locked while its maker lives.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use tetralith_xmss::state::is_at;

/// Makes the file for a target, readable by its owner only unless everyone is to read it.
pub(super) fn create(target: &Path, everyone: bool) -> Result<tempfile::NamedTempFile> {
    let path = aside(target)?;
    for _ in 0..ATTEMPTS {
        match options(everyone).create_new(true).open(&path) {
            Ok(file) if is_free(&file) && is_at(&file, &path) => {
                let path = tempfile::TempPath::try_from_path(path)?;
                return Ok(tempfile::NamedTempFile::from_parts(file, path));
            }
            // Another took it for one that was left, in the instant before the lock.
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => remove_left(&path)?,
            Err(error) => return Err(error),
        }
    }
    Err(Error::new(ErrorKind::ResourceBusy, "other processes write to it"))
}

fn aside(target: &Path) -> Result<PathBuf> {
    let name =
        target.file_name().ok_or(Error::new(ErrorKind::InvalidInput, "not a file's name"))?;
    let mut aside = std::ffi::OsString::from(".");
    aside.push(name);
    aside.push(".new");
    Ok(target.with_file_name(aside))
}

fn options(everyone: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if everyone { 0o666 } else { 0o600 });
    let _ = everyone;
    options
}

/// Deletes a file whose maker has ended.
fn remove_left(path: &Path) -> Result<()> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Ok(found) if found.is_file() => {}
        _ => return Err(Error::new(ErrorKind::AlreadyExists, "what is beside it is no file")),
    }
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    match is_free(&file) {
        true if is_at(&file, path) => std::fs::remove_file(path),
        true => Ok(()),
        false => Err(Error::new(ErrorKind::ResourceBusy, "another process writes to it")),
    }
}

/// Locks a file, unless another process has; where there are no locks, none has.
fn is_free(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

const ATTEMPTS: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_replaced_and_what_is_at_work_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let (target, left) = (folder.path().join("key"), folder.path().join(".key.new"));
        std::fs::write(&left, "of a run that was killed").expect("written");
        let ours = create(&target, false).expect("made");
        assert_eq!(std::fs::read(&left).expect("read"), b"");
        let busy = create(&target, false).expect_err("held");
        assert_eq!(busy.kind(), ErrorKind::ResourceBusy);
        drop(ours);
        assert!(!left.exists());
        drop(create(&target, true).expect("made"));
    }
}
