//! A worker: one thread that squares, one challenge after another.

use super::job::{Challenge, Status};
use super::store::{Entry, Store, cancelled};
use crate::failure::Failure;
use std::time::{Duration, Instant};
use tetralith_vdf::{Checkpoint, Error, Evaluation, Next, Options, Progress, Prover, Residue};

/// How a worker works.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Between two times that the state is saved.
    pub(super) save_every: Duration,
    pub(super) options: Options,
}

/// Between two progress reports.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Works until the daemon stops.
pub(super) fn run(store: &Store, settings: Settings) {
    while let Some(entry) = store.next() {
        let start = Instant::now();
        let result = Watch::new(store, &entry, settings.save_every).work(settings.options);
        let (status, proof) = match result {
            // Stopped: the state is kept, and the next daemon goes on.
            Err(Error::Cancelled) if !entry.is_cancelled() => return,
            Err(Error::Cancelled) => {
                store.leave(&entry, cancelled());
                continue;
            }
            // The machine's trouble, not the challenge's: what is saved stays, and the next daemon goes on.
            Err(error @ (Error::Io(_) | Error::Faulty(_))) => {
                let Failure { code, message, .. } = Failure::from(error);
                store.leave(&entry, Status::Failed { code: code.into(), message });
                continue;
            }
            Err(error) => {
                let Failure { code, message, .. } = Failure::from(error);
                (Status::Failed { code: code.into(), message }, None)
            }
            Ok((y, proof)) => {
                let seconds = start.elapsed().as_secs_f64();
                let proof_bytes = proof.as_ref().map_or(0, |proof| proof.len() as u64);
                (Status::Done { y: y.to_string(), proof_bytes, seconds }, proof)
            }
        };
        if let Err(failure) = store.end(&entry, status, proof.as_deref()) {
            let Failure { code, message, .. } = failure;
            store.leave(&entry, Status::Failed { code: code.into(), message });
        }
    }
}

/// Tells of progress, and says when to save and when to stop.
struct Watch<'a> {
    store: &'a Store,
    entry: &'a Entry,
    save_every: Duration,
    start: Instant,
    from: Option<u64>,
    told: Instant,
    saved: Instant,
}

impl<'a> Watch<'a> {
    fn new(store: &'a Store, entry: &'a Entry, save_every: Duration) -> Self {
        let now = Instant::now();
        Self { store, entry, save_every, start: now, from: None, told: now, saved: now }
    }

    /// y and the encoded proof, if one is wanted.
    fn work(&mut self, options: Options) -> Result<(Residue, Option<Vec<u8>>), Error> {
        let Challenge { modulus, x, iterations, proof, .. } = &self.entry.challenge;
        let kept = self.entry.challenge.kept(self.store.jobs());
        let Some(system) = proof.system() else {
            return Ok((self.evaluate(&kept)?, None));
        };
        let mut prover = Prover::new(system, modulus, x, *iterations, options)?;
        let (y, proof) = prover.run_kept(Some(&kept), &mut |progress| self.next(progress))?;
        Ok((y, Some(proof.to_bytes())))
    }

    fn evaluate(&mut self, kept: &std::path::Path) -> Result<Residue, Error> {
        let Challenge { modulus, x, iterations, .. } = &self.entry.challenge;
        let mut evaluation = match Checkpoint::load(kept)? {
            Some((checkpoint, _)) => {
                checkpoint.expect(modulus, x, *iterations)?;
                Evaluation::resume(&checkpoint)?
            }
            None => Evaluation::new(modulus, x, *iterations)?,
        };
        loop {
            if let Some(y) = evaluation.result() {
                return Ok(y);
            }
            let next = self.next(evaluation.advance(tetralith_vdf::eval::CHECK_EVERY)?);
            if next != Next::GoOn {
                evaluation.checkpoint()?.0.save(kept)?;
            }
            if next == Next::Stop {
                return Err(Error::Cancelled);
            }
        }
    }

    fn next(&mut self, progress: Progress) -> Next {
        let from = *self.from.get_or_insert(progress.done);
        if self.told.elapsed() >= TELL_EVERY {
            self.told = Instant::now();
            let new = progress.done.saturating_sub(from) as f64;
            let per_second = new / self.start.elapsed().as_secs_f64().max(1e-9);
            self.entry.set(Status::Running { done: progress.done, per_second });
        }
        if self.store.is_stopping() || self.entry.is_cancelled() {
            return Next::Stop;
        }
        if self.saved.elapsed() < self.save_every {
            return Next::GoOn;
        }
        self.saved = Instant::now();
        Next::Save
    }
}
