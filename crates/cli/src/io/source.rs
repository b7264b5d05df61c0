//! Input that is read once, in parts, and never held whole.

use crate::failure::{Exit, Failure, Outcome};
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file, or standard input for `-`, that is open and not yet read.
pub(crate) struct Source {
    path: PathBuf,
    input: Box<dyn Read>,
    /// The file once more, where it can be said whether it changes.
    watched: Option<(File, Stamp)>,
}

/// What changes when a file is written to: its length and the time of the last change.
#[derive(PartialEq, Eq)]
struct Stamp(u64, Option<SystemTime>);

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Stamp(found.len(), found.modified().ok())
    }
}

impl Source {
    /// Opens it, so that what cannot be read shows before an index is spent on it.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let failed = |error: std::io::Error| Failure::file(path, &error);
        if path == Path::new("-") {
            let input = Box::new(std::io::stdin().lock());
            return Ok(Self { path: path.to_owned(), input, watched: None });
        }
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if found.is_dir() {
            let message = format!("{} is a folder", path.display());
            return Err(Failure::new(Exit::Environment, "io.file", message));
        }
        let watched = match found.is_file() {
            true => Some((file.try_clone().map_err(failed)?, Stamp::of(&found))),
            false => None,
        };
        Ok(Self { path: path.to_owned(), input: Box::new(file), watched })
    }

    /// Hands out all of it, part by part, as [`unchanged`](Self::unchanged) allows.
    pub(crate) fn read(mut self, mut take: impl FnMut(&[u8])) -> Outcome {
        let mut part = vec![0; PART];
        loop {
            match Read::read(&mut self, &mut part) {
                Ok(0) => break,
                Ok(len) => take(&part[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::file(&self.path, &error)),
            }
        }
        self.unchanged()
    }

    /// Fails where the file changed since it was opened: what was read is then perhaps neither its old
    /// content nor its new one.
    pub(crate) fn unchanged(&self) -> Outcome {
        let Some((file, before)) = &self.watched else { return Ok(()) };
        let found = file.metadata().map_err(|error| Failure::file(&self.path, &error))?;
        if Stamp::of(&found) == *before {
            return Ok(());
        }
        let message = format!("{} changed while it was read", self.path.display());
        Err(Failure::new(Exit::Environment, "input.changed", message)
            .hint("wait until nothing writes to the file, then run the command again"))
    }

    /// The file's length, where there is one.
    pub(crate) fn len(&self) -> Option<u64> {
        self.watched.as_ref().map(|(_, Stamp(len, _))| *len)
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.input.read(out)
    }
}

/// Bytes that are read at once.
const PART: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_while_it_is_read_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let long = vec![7; 3 * PART + 5];
        std::fs::write(&path, &long).expect("written");
        let mut read = Vec::new();
        let source = Source::open(&path).expect("opens");
        source.read(|part| read.extend_from_slice(part)).expect("reads");
        assert_eq!(read, long);
        // Cut, longer, and as long as before with another time.
        for len in [PART, 4 * PART, 3 * PART + 5] {
            std::fs::write(&path, &long).expect("written");
            let source = Source::open(&path).expect("opens");
            let mut parts = 0;
            let refused = source.read(|_| {
                if parts == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    let file = File::options().write(true).open(&path).expect("opens");
                    file.set_len(len as u64).expect("set");
                    std::os::unix::fs::FileExt::write_all_at(&file, b"x", 9).expect("written");
                }
                parts += 1;
            });
            assert_eq!(refused.expect_err("changed").code, "input.changed", "{len}");
        }
        assert_eq!(Source::open(folder.path()).err().expect("a folder").code, "io.file");
    }
}
