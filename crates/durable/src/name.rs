//! Names: what a path stands for, and making a name durable.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};

/// The folder of a path, `.` for a bare name.
#[must_use]
pub fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// The file that a symbolic link names, or the path itself. The file need not exist.
#[must_use]
pub fn resolved(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = folder(&path).join(link),
            Err(_) => break,
        }
    }
    path
}

/// A path with `suffix` appended to its last part.
#[must_use]
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the names in a path's folder durable.
///
/// # Errors
/// The folder cannot be opened or synced.
pub fn sync_folder(path: &Path) -> Result<()> {
    // Only Unix can open a folder for syncing. Elsewhere the rename itself is durable.
    if cfg!(unix) { fs::File::open(folder(path))?.sync_all() } else { Ok(()) }
}

/// Deletes a file, durably. A missing file is no error.
///
/// # Errors
/// The file cannot be deleted, or its folder not synced.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed.and_then(|()| sync_folder(path)),
    }
}

/// Symbolic links that are followed, as many as Linux follows.
const MAX_LINKS: u32 = 40;
