//! Small files, read within a bound and written whole or not at all.

use crate::error::{Error, Outcome};
use std::io::Read;
use std::path::Path;
use tetralith_durable::{Access, create_new, replace};

/// Writes a file that everyone may read, in place of what is there.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Outcome {
    replace(path, bytes, Access::Public).map_err(|error| Error::file(path, &error))
}

/// Writes a file of the owner's that is not there yet.
pub(crate) fn write_secret(path: &Path, bytes: &[u8]) -> Outcome {
    create_new(path, bytes, Access::Owner).map_err(|error| Error::file(path, &error))
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        .map_err(|error| Error::file(path, &error))?;
    if bytes.len() as u64 > limit {
        let message = format!("{} is longer than the {limit} bytes allowed", path.display());
        return Err(Error::usage("input.too_long", message));
    }
    Ok(bytes)
}
