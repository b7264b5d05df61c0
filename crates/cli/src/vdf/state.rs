//! The files in which a long run keeps its state: one process uses a name, and no result takes it.

use crate::failure::{Exit, Failure, Outcome};
use crate::io::{self, Output};
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use tetralith_durable::is_at;

/// A name that is this process's while it runs: `NAME.lock` is locked, and goes with it.
pub(super) struct State<'a> {
    pub(super) path: &'a Path,
    lock: PathBuf,
    /// Held, and known again by.
    file: File,
}

impl<'a> State<'a> {
    /// Takes a name, where files can be made, which is not that of the result.
    ///
    /// A file `NAME.lock` of somebody else's stays as it is, and is told of.
    pub(super) fn claim(path: &'a Path, output: Option<&Output>) -> Outcome<Self> {
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let message =
                format!("{} is a device or a pipe: no state can be kept there", path.display());
            return Err(Failure::usage("usage.checkpoint", message)
                .hint("name a file, which need not exist, as --checkpoint"));
        }
        io::check_place(path)?;
        let mut lock = OsString::from(path);
        lock.push(".lock");
        let lock = PathBuf::from(lock);
        let failed = |error: std::io::Error| Failure::file(&lock, &error);
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = options.open(&lock).map_err(failed)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Err(held(path, &file)),
                // Where there are no locks, nobody has one.
                Err(TryLockError::Error(_)) => {}
                // Its holder may have ended, and removed it, since it was opened.
                Ok(()) if !is_at(&file, &lock) => continue,
                Ok(()) => {}
            }
            let mut holder = String::new();
            let read = (&file).take(LONGEST + 1).read_to_string(&mut holder);
            if lock.is_symlink() || read.is_err() || !is_number(&holder) {
                let message = format!("{} is a file of something else", lock.display());
                return Err(Failure::new(Exit::State, "state.locked", message)
                    .hint("name another checkpoint"));
            }
            let number = format!("{}\n", std::process::id());
            // From here on the lock is removed with the value, also where the disk is full.
            let mut state = Self { path, lock, file };
            let write = state.file.set_len(0).and_then(|()| state.file.rewind());
            write
                .and_then(|()| state.file.write_all(number.as_bytes()))
                .map_err(|error| Failure::file(&state.lock, &error))?;
            return match output.filter(|output| belongs_to(&output.output, &state.file)) {
                None => Ok(state),
                Some(output) => {
                    let message = format!("{} is a file of the state", output.output.display());
                    Err(Failure::usage("usage", message)
                        .hint("give the result a name that does not begin with the checkpoint's"))
                }
            };
        }
        Err(Failure::new(Exit::State, "state.locked", "other processes take this checkpoint"))
    }
}

impl Drop for State<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.lock);
    }
}

const ATTEMPTS: u32 = 100;

/// Bytes of the longest number of a process and its line's end.
const LONGEST: u64 = 11;

/// Whether this is what a lock holds: nothing, or a number.
fn is_number(text: &str) -> bool {
    text.len() as u64 <= LONGEST && (text.is_empty() || text.trim_end().parse::<u32>().is_ok())
}

fn held(path: &Path, file: &File) -> Failure {
    let mut holder = String::new();
    let _ = file.take(LONGEST).read_to_string(&mut holder);
    let holder = match holder.trim().parse::<u32>() {
        Ok(number) => format!("process {number}"),
        Err(_) => "another process".into(),
    };
    let message = format!("{holder} uses the checkpoint {}", path.display());
    Failure::new(Exit::State, "state.locked", message).hint("wait for it, or name another")
}

/// Whether a result would be one of the state's files: its name, or that with a dot and something after it.
///
/// Asked of the file system, which alone knows which names are the same: where the part before one of the
/// dots is the state's name, that with `.lock` after it is the lock that is held.
fn belongs_to(output: &Path, lock: &File) -> bool {
    let output = io::target(output);
    let Some(name) = output.file_name() else { return false };
    let name = name.to_string_lossy();
    let dots = name.match_indices('.').map(|(dot, _)| dot);
    dots.chain([name.len()])
        .any(|end| is_at(lock, &output.with_file_name(format!("{}.lock", &name[..end]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_user() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        let state = State::claim(&path, None).expect("free");
        let Err(failure) = State::claim(&path, None) else { panic!("taken twice") };
        let expected = format!("process {} uses", std::process::id());
        assert!(failure.message.starts_with(&expected), "{}", failure.message);
        drop(state);
        assert!(!folder.path().join("run.lock").exists());
        // What a killed process left is no lock, and what is another's stays.
        std::fs::write(folder.path().join("run.lock"), "1\n").expect("written");
        drop(State::claim(&path, None).expect("free"));
        for other in ["[[package]]\nname = 1\n", "seven\n"] {
            std::fs::write(folder.path().join("run.lock"), other).expect("written");
            assert!(State::claim(&path, None).is_err());
            assert_eq!(
                std::fs::read_to_string(folder.path().join("run.lock")).expect("read"),
                other
            );
        }
    }

    #[test]
    fn results_beside_a_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("src")).expect("made");
        std::fs::write(at("src/run.lock"), "").expect("written");
        let path = at("a.run");
        let state = State::claim(&path, None).expect("free");
        // So does a file system look that takes capital and small letters for the same.
        #[cfg(unix)]
        std::fs::hard_link(at("a.run.lock"), at("A.Run.lock")).expect("linked");
        #[cfg(unix)]
        std::os::unix::fs::symlink("a.run.proof", at("link")).expect("linked");
        for (result, refused) in [
            ("a.run", true),
            ("src/../a.run", true),
            ("a.run.tape0", true),
            ("a.run.lock", true),
            ("a.run.proof", true),
            ("A.Run", cfg!(unix)),
            ("A.Run.proof", cfg!(unix)),
            ("link", cfg!(unix)),
            ("a", false),
            ("a.runner", false),
            ("proof", false),
            ("src/a.run", false),
            ("src/run", false),
        ] {
            assert_eq!(belongs_to(&at(result), &state.file), refused, "{result}");
        }
    }
}
