//! Squarings and proofs that go on after a loss of power: their state is in files.

use crate::memory::{clear, hand_out_bytes, handle, text, write};
use crate::progress::{Callback, tetralith_progress};
use crate::status::{Failed, argument, guarded};
use crate::vdf::{Modulus, number, system};
use std::ffi::{c_char, c_void};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tetralith_durable::{beside, is_at, open_regular, resolved, try_lock};
use tetralith_vdf::eval::CHECK_EVERY;
use tetralith_vdf::{Checkpoint, Error, Evaluation, Next, Options, Prover, Residue};

/// A checkpoint's name that is this process's while it runs: `NAME.lock` is locked, holds the number of
/// the process, and goes with the claim. The command keeps to the same.
pub(crate) struct Claim {
    path: PathBuf,
    lock: PathBuf,
    owner: u32,
    saved: Instant,
    _file: File,
}

impl Claim {
    /// Takes a name.
    ///
    /// # Safety
    /// `path` is NULL or a NUL-terminated text.
    pub(crate) unsafe fn of(path: *const c_char) -> Result<Self, Failed> {
        // SAFETY: as the caller vouches.
        let path = unsafe { text("checkpoint", path) }?;
        Self::take(Path::new(path.ok_or_else(|| argument("checkpoint is NULL".into()))?))
    }

    fn take(path: &Path) -> Result<Self, Failed> {
        let path = resolved(path);
        let lock = beside(&path, ".lock");
        let failed = |failed: std::io::Error| {
            Failed::new(3, "io.file", format!("{}: {failed}", lock.display()))
        };
        let refused = |message| Err(Failed::new(4, "state.locked", message));
        for _ in 0..ATTEMPTS {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = open_regular(&lock, &options).map_err(failed)?;
            let locked = try_lock(&file).map_err(failed)?;
            let mut holder = String::new();
            let read = (&file).take(LONGEST + 1).read_to_string(&mut holder);
            if read.is_err() || !is_number(&holder) {
                return refused(format!("{} is a file of something else", lock.display()));
            }
            if !locked {
                let (holder, name) = (holder.trim(), path.display());
                return refused(format!("process {holder} uses the checkpoint {name}"));
            }
            // Its holder may have ended, and removed it, since it was opened.
            if !is_at(&file, &lock) {
                continue;
            }
            let owner = std::process::id();
            let write = file.set_len(0).and_then(|()| file.rewind());
            write.and_then(|()| writeln!(file, "{owner}")).map_err(failed)?;
            return Ok(Self { path, lock, owner, saved: Instant::now(), _file: file });
        }
        refused("other processes take this checkpoint".to_owned())
    }

    /// Whether it is time to save.
    fn is_due(&mut self) -> bool {
        let due = self.saved.elapsed() >= SAVE_EVERY;
        if due {
            self.saved = Instant::now();
        }
        due
    }

    /// Goes on from the checkpoint where there is one, squares to the end, and saves the state every
    /// minute, when it is stopped, and at the end.
    pub(crate) fn square(
        &mut self,
        begin: impl FnOnce() -> Result<Evaluation, Error>,
        fits: impl FnOnce(&Checkpoint) -> Result<(), Error>,
        callback: Callback,
    ) -> Result<Residue, Error> {
        let mut evaluation = match Checkpoint::load(&self.path)? {
            None => begin()?,
            Some((checkpoint, _)) => {
                fits(&checkpoint)?;
                Evaluation::resume(&checkpoint)?
            }
        };
        loop {
            if let Some(y) = evaluation.result() {
                // The result is worth more than the file that would lead to it.
                let _ = evaluation.checkpoint().and_then(|(last, _)| last.save(&self.path));
                return Ok(y);
            }
            let now = evaluation.advance(CHECK_EVERY)?;
            let stopped = callback.step(now.done, now.iterations).is_break();
            if stopped || self.is_due() {
                evaluation.checkpoint()?.0.save(&self.path)?;
            }
            if stopped {
                return Err(Error::Cancelled);
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if std::process::id() == self.owner {
            let _ = std::fs::remove_file(&self.lock);
        }
    }
}

const SAVE_EVERY: Duration = Duration::from_secs(60);
const ATTEMPTS: u32 = 100;
/// Bytes of the longest number of a process and its line's end.
const LONGEST: u64 = 11;

/// Whether this is what a lock holds: nothing, or a number.
fn is_number(text: &str) -> bool {
    text.len() as u64 <= LONGEST && (text.is_empty() || text.trim_end().parse::<u32>().is_ok())
}

/// As `tetralith_vdf_compute`, with the state in the file `checkpoint`, from which a later call with the
/// same arguments goes on.
///
/// The state is written every minute, when `progress` stops the run, and at the end; the file before it
/// stays as `CHECKPOINT.previous`. The command's `vdf eval --checkpoint` reads and writes the same file.
/// `TETRALITH_STATE` where the file is of another run, or another process uses it.
/// `tetralith_vdf_forget` removes it.
///
/// # Safety
/// As `tetralith_vdf_compute`; `checkpoint` is a NUL-terminated text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_compute_resumable(
    modulus: *const Modulus,
    x: *const u8,
    x_len: usize,
    iterations: u64,
    checkpoint: *const c_char,
    progress: tetralith_progress,
    user: *mut c_void,
    y: *mut u8,
    y_len: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let modulus = &unsafe { handle("modulus", modulus) }?.0;
        if y.is_null() || y_len != modulus.width() {
            return Err(argument(format!("y needs {} bytes", modulus.width())));
        }
        // SAFETY: the caller vouches for the bytes.
        let (x, _) = modulus.reduce(unsafe { number("x", x, x_len) }?);
        // SAFETY: the caller vouches for the text.
        let mut claim = unsafe { Claim::of(checkpoint) }?;
        let result = claim.square(
            || Evaluation::new(modulus, &x, iterations),
            |found| found.expect(modulus, &x, iterations),
            Callback(progress, user),
        )?;
        // SAFETY: the caller vouches for the bytes.
        unsafe { write("y", y, y_len, &result.to_bytes()) }
    })
}

/// As `tetralith_vdf_prove`, with the state in files whose names begin with `checkpoint`, from which a
/// later call with the same arguments goes on. See `tetralith_vdf_compute_resumable`; the command's
/// `vdf prove --checkpoint` reads and writes the same files.
///
/// # Safety
/// As `tetralith_vdf_prove`; `checkpoint` is a NUL-terminated text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_prove_resumable(
    modulus: *const Modulus,
    x: *const u8,
    x_len: usize,
    iterations: u64,
    system: i32,
    threads: usize,
    checkpoint: *const c_char,
    progress: tetralith_progress,
    user: *mut c_void,
    y: *mut u8,
    y_len: usize,
    proof: *mut *mut u8,
    proof_len: *mut usize,
) -> i32 {
    // SAFETY: the caller vouches for the pointer.
    unsafe { clear(proof) };
    guarded(|| {
        // SAFETY: the caller vouches for the handle.
        let modulus = &unsafe { handle("modulus", modulus) }?.0;
        if y.is_null() || y_len != modulus.width() || proof.is_null() || proof_len.is_null() {
            return Err(argument(format!("y needs {} bytes, the proof a place", modulus.width())));
        }
        let system = self::system(system)?;
        // SAFETY: the caller vouches for the bytes.
        let (x, _) = modulus.reduce(unsafe { number("x", x, x_len) }?);
        // SAFETY: the caller vouches for the text.
        let mut claim = unsafe { Claim::of(checkpoint) }?;
        let options = Options { threads: threads.max(1), ..Options::default() };
        let mut prover = Prover::new(system, modulus, &x, iterations, options)?;
        let callback = Callback(progress, user);
        let path = claim.path.clone();
        let (result, made) = prover.run_kept(Some(&path), &mut |now| match callback
            .step(now.done, now.iterations)
            .is_break()
        {
            true => Next::Stop,
            false if claim.is_due() => Next::Save,
            false => Next::GoOn,
        })?;
        // SAFETY: the caller vouches for the bytes.
        unsafe { write("y", y, y_len, &result.to_bytes()) }?;
        // SAFETY: the caller vouches for the pointers.
        unsafe { hand_out_bytes("proof", proof, proof_len, made.to_bytes()) }
    })
}

/// Removes the files of a checkpoint, if there are any.
///
/// # Safety
/// `checkpoint` is a NUL-terminated text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tetralith_vdf_forget(checkpoint: *const c_char) -> i32 {
    guarded(|| {
        // SAFETY: the caller vouches for the text.
        let claim = unsafe { Claim::of(checkpoint) }?;
        Ok(Prover::forget(&claim.path)?)
    })
}
