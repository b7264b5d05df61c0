//! The files in which a long run keeps its state: one process uses a name at a time.

use crate::errors::{Kind, error};
use pyo3::prelude::*;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tetralith_durable::{beside, is_at, open_regular, resolved, try_lock};

/// A checkpoint's name that is this process's while it runs. `NAME.lock` is locked, holds the number of
/// the process, and goes with the claim; the command keeps to the same.
pub(crate) struct Kept {
    path: PathBuf,
    lock: PathBuf,
    owner: u32,
    every: Duration,
    saved: Instant,
}

impl Kept {
    /// Takes a name; `every` says how often the state is to be saved.
    pub(crate) fn claim(path: &Path, every: f64) -> PyResult<(Self, File)> {
        let every = Duration::try_from_secs_f64(every).map_err(|_| {
            let message = format!("save_every is {every}, expected seconds from 0");
            crate::errors::malformed("usage.arguments", message, "give a number of seconds")
        })?;
        let path = resolved(path);
        let lock = beside(&path, ".lock");
        let failed = |failed: std::io::Error| {
            error(Kind::Environment, "io.file", format!("{}: {failed}", lock.display()), None)
        };
        let refused =
            |message: String, hint| Err(error(Kind::State, "state.locked", message, Some(hint)));
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = open_regular(&lock, &options).map_err(failed)?;
            let locked = try_lock(&file).map_err(failed)?;
            let mut holder = String::new();
            let read = (&file).take(LONGEST + 1).read_to_string(&mut holder);
            if read.is_err() || !is_number(&holder) {
                let message = format!("{} is a file of something else", lock.display());
                return refused(message, "name another checkpoint");
            }
            if !locked {
                let (holder, name) = (holder.trim(), path.display());
                let message = format!("process {holder} uses the checkpoint {name}");
                return refused(message, "wait for that process, or name another checkpoint");
            }
            // Its holder may have ended, and removed it, since it was opened.
            if !is_at(&file, &lock) {
                continue;
            }
            let number = format!("{}\n", std::process::id());
            let write = file.set_len(0).and_then(|()| file.rewind());
            write.and_then(|()| file.write_all(number.as_bytes())).map_err(failed)?;
            let (owner, saved) = (std::process::id(), Instant::now());
            return Ok((Self { path, lock, owner, every, saved }, file));
        }
        refused("other processes take this checkpoint".into(), "name another checkpoint")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is time to save.
    pub(crate) fn is_due(&mut self) -> bool {
        let due = self.saved.elapsed() >= self.every;
        if due {
            self.saved = Instant::now();
        }
        due
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if std::process::id() == self.owner {
            let _ = std::fs::remove_file(&self.lock);
        }
    }
}

const ATTEMPTS: u32 = 100;
/// Bytes of the longest number of a process and its line's end.
const LONGEST: u64 = 11;

/// Whether this is what a lock holds: nothing, or a number.
fn is_number(text: &str) -> bool {
    text.len() as u64 <= LONGEST && (text.is_empty() || text.trim_end().parse::<u32>().is_ok())
}
