//! A worker: one thread that squares, one challenge after another.

use crate::error::{Error, Kind, Outcome};
use crate::job::{Challenge, Status};
use crate::log::Log;
use crate::store::{DAMAGED, Entry, Store, cancelled};
use serde_json::{Value, json};
use std::any::Any;
use std::io::ErrorKind::{QuotaExceeded, StorageFull};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use tetralith_vdf as vdf;
use tetralith_vdf::eval::Trouble;
use tetralith_vdf::{Checkpoint, Evaluation, Fault, Next, Options, Progress, Prover, Residue};

/// How a worker works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Between two times that the state is saved.
    pub(crate) save_every: Duration,
    pub(crate) options: Options,
}

/// Between two progress reports.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// Works until the daemon stops.
pub(crate) fn run(log: &Log, store: &Store, settings: Settings) {
    while let Some(entry) = store.next() {
        if entry.has_set_aside() {
            let id = &entry.challenge.id;
            let aside = entry.challenge.aside(store.jobs());
            let text = format!(
                "challenge {id}: the corrupt part of its state was moved to {}; the run resumes without it",
                aside.display()
            );
            log.event("challenge.set_aside", text, json!({ "id": id }));
        }
        let Challenge { id, modulus, .. } = &entry.challenge;
        if modulus.is_factorable() {
            let text = format!("challenge {id}: {}", modulus.caution());
            log.event("vdf.factorable", text, json!({ "id": id }));
        }
        let work = || Watch::new(log, store, &entry, settings.save_every).work(settings.options);
        if !work_on(log, store, &entry, work) {
            return;
        }
    }
}

/// What was computed: y and the encoded proof, if one is wanted.
type Computed = Result<(Residue, Option<Vec<u8>>), vdf::Error>;

/// Computes, and tells how it ended; `false` where the daemon stops.
fn work_on(log: &Log, store: &Store, entry: &Entry, work: impl FnOnce() -> Computed) -> bool {
    let start = Instant::now();
    // A fault of the program is this challenge's end, and not the worker's.
    let computed = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(computed) => computed,
        Err(panic) => {
            let message = format!("the computation panicked: {}", said(&*panic));
            let fields = json!({ "id": entry.challenge.id });
            log.event("challenge.panicked", &message, fields);
            let failure = Error::new(Kind::Environment, "daemon.internal", message);
            let _ = end(store, entry, Status::failed(failure), None);
            return true;
        }
    };
    match computed {
        // Stopped: the state is kept, and the next daemon goes on.
        Err(vdf::Error::Cancelled) if !entry.is_cancelled() => return false,
        Err(vdf::Error::Cancelled) => store.leave(entry, cancelled()),
        // The machine's trouble, not the challenge's: what is saved stays, and the next daemon goes on.
        Err(error @ (vdf::Error::Io(_) | vdf::Error::Faulty(_))) => {
            let failure = explain(error, &entry.challenge.kept(store.jobs()));
            tell_failure(log, entry, &failure);
            store.leave(entry, Status::failed(failure));
        }
        Err(error) => {
            let failure = explain(error, &entry.challenge.kept(store.jobs()));
            tell_failure(log, entry, &failure);
            let _ = end(store, entry, Status::failed(failure), None);
        }
        Ok((y, proof)) => {
            let seconds = start.elapsed().as_secs_f64();
            let proof_bytes = proof.as_ref().map_or(0, |proof| proof.len() as u64);
            let status = Status::Done { y: y.to_string(), proof_bytes, seconds };
            if let Err(failure) = end(store, entry, status, proof.as_deref()) {
                tell_failure(log, entry, &failure);
            }
        }
    }
    true
}

/// Writes how a challenge ended; what cannot be written is its end, until it is submitted again.
fn end(store: &Store, entry: &Entry, status: Status, proof: Option<&[u8]>) -> Outcome {
    store.end(entry, status, proof).map_err(|failure| {
        let failure = failure.hint(AGAIN);
        store.leave(entry, Status::failed(failure.clone()));
        failure
    })
}

const AGAIN: &str =
    "the saved state is intact: free disk space or fix the disk, then submit the challenge again";

/// What ended a run whose state is kept at this name, and what to do next.
fn explain(error: vdf::Error, kept: &Path) -> Error {
    let hint = match &error {
        vdf::Error::Io(error) if matches!(error.kind(), StorageFull | QuotaExceeded) => AGAIN,
        vdf::Error::Io(_) => {
            "repair that and submit the challenge again, or delete it first to start over"
        }
        vdf::Error::Faulty(_) => {
            return Error::from(error).hint(
                "suspected hardware fault: check memory and CPU, then submit the challenge again",
            );
        }
        vdf::Error::CheckpointMemory => {
            "start the daemon with the --memory it had and submit the challenge again, or delete it \
             first to start over"
        }
        vdf::Error::ModulusPublished { .. } => return error.into(),
        // A request was checked when it was taken: this is about the files.
        _ => {
            "submit the challenge again: the corrupt part is set aside, and the run resumes without it"
        }
    };
    let mut failure = Error::from(error);
    if failure.kind == Kind::Usage {
        failure.code = DAMAGED;
    }
    let message = format!("{}: {}", kept.display(), failure.message);
    Error { message, ..failure }.hint(hint)
}

/// Tells the operator how a challenge failed.
fn tell_failure(log: &Log, entry: &Entry, failure: &Error) {
    let id = &entry.challenge.id;
    let Error { code, message, hint, .. } = failure;
    let next = hint.iter().map(|hint| format!("; {hint}")).collect::<String>();
    let text = format!("challenge {id} failed: {message}{next}");
    log.event("challenge.failed", text, json!({ "id": id, "code": code, "hint": hint }));
}

/// An error of the machine while this challenge was computed, in words and as fields.
fn fault_event(entry: &Entry, fault: Fault) -> (String, Value) {
    let id = &entry.challenge.id;
    let fields = json!({ "id": id, "found_at": fault.found_at, "back_to": fault.back_to });
    (format!("challenge {id}: {fault}"), fields)
}

/// What a panic says.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why")
}

/// Tells of progress, and says when to save and when to stop.
struct Watch<'a> {
    log: &'a Log,
    store: &'a Store,
    entry: &'a Entry,
    save_every: Duration,
    start: Instant,
    from: Option<u64>,
    /// Squarings that were done at the last report.
    seen: u64,
    told: Instant,
    saved: Instant,
}

impl<'a> Watch<'a> {
    fn new(log: &'a Log, store: &'a Store, entry: &'a Entry, save_every: Duration) -> Self {
        let now = Instant::now();
        Self {
            log,
            store,
            entry,
            save_every,
            start: now,
            from: None,
            seen: 0,
            told: now,
            saved: now,
        }
    }

    fn work(&mut self, options: Options) -> Computed {
        let Challenge { modulus, x, iterations, proof, .. } = &self.entry.challenge;
        let kept = self.entry.challenge.kept(self.store.jobs());
        // A folder of an older daemon may hold challenges that are refused today.
        if let Err(error @ vdf::Error::ModulusPublished { .. }) = modulus.check_provable() {
            return Err(error);
        }
        let Some(system) = proof.system() else {
            return Ok((self.evaluate(&kept)?, None));
        };
        let mut prover = Prover::new(system, modulus, x, *iterations, options)?;
        let (y, proof) = prover.run_kept(Some(&kept), &mut |progress| self.next(progress))?;
        Ok((y, Some(proof.to_bytes())))
    }

    fn evaluate(&mut self, kept: &Path) -> Result<Residue, vdf::Error> {
        let Challenge { modulus, x, iterations, .. } = &self.entry.challenge;
        let mut evaluation = match Checkpoint::load(kept)? {
            Some((checkpoint, problem)) => {
                if problem.is_some() {
                    self.tell(Trouble::Damaged);
                }
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
                let (checkpoint, fault) = evaluation.checkpoint()?;
                self.tell_fault(fault);
                checkpoint.save(kept)?;
            }
            if next == Next::Stop {
                return Err(vdf::Error::Cancelled);
            }
        }
    }

    /// Tells the operator what happened to the files of a run.
    fn tell(&self, trouble: Trouble) {
        let (event, text) = match trouble {
            Trouble::Damaged => (
                "challenge.repaired",
                "part of its state was corrupt; resuming from the last intact part",
            ),
        };
        self.log.event(event, text, json!({ "id": self.entry.challenge.id }));
    }

    /// Tells the operator that the machine made an error, and in which challenge.
    fn tell_fault(&self, fault: Option<Fault>) {
        if let Some((text, fields)) = fault.map(|fault| fault_event(self.entry, fault)) {
            self.log.event("vdf.fault", text, fields);
        }
    }

    fn next(&mut self, progress: Progress) -> Next {
        progress.trouble.into_iter().for_each(|trouble| self.tell(trouble));
        self.tell_fault(progress.fault);
        let before = self.from.map_or_else(|| self.entry.saved(), |_| self.seen);
        self.store.metrics.squared(progress.done.saturating_sub(before));
        self.seen = progress.done;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Limits;

    #[test]
    fn a_panic_ends_its_challenge_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let limits = Limits { queue: 4, kept: 4, iterations: 1 << 20 };
        let open = || Store::open(folder.path(), limits, |_| ()).expect("opens");
        let store = open();
        let log = &Log::new(std::sync::Arc::new(|_, _, _| ()), false);
        let modulus = "cfa92a1c6559dd55bb75027437309ad3";
        let ask = |x: &str| {
            let asked = json!({ "modulus": modulus, "x": x, "t": 4, "proof": "none" });
            let answer = store.submit(asked).expect("taken");
            store.find(answer["id"].as_str().expect("an id")).expect("there")
        };
        let (first, second) = (ask("3"), ask("5"));
        let entry = store.next().expect("waiting");
        // An error of the machine is told with its challenge.
        let (text, fields) = fault_event(&entry, Fault { found_at: 2048, back_to: 1024 });
        let id = &first.challenge.id;
        assert!(text.starts_with(&format!("challenge {id}: the machine made an error")), "{text}");
        assert_eq!(fields, json!({ "id": id, "found_at": 2048, "back_to": 1024 }));
        assert!(work_on(log, &store, &entry, || panic!("out of {}", "luck")));
        let expected = json!("the computation panicked: out of luck");
        assert_eq!(first.describe()["state"], "failed");
        assert_eq!(first.describe()["message"], expected);
        // The next is worked on, and one that was cancelled meanwhile is removed.
        let entry = store.next().expect("waiting");
        store.cancel(&second.challenge.id).expect("cancelled");
        assert!(work_on(log, &store, &entry, || panic!("again")));
        assert_eq!(second.describe()["code"], "challenge.cancelled");
        assert!(store.find(&second.challenge.id).is_err());
        // The next daemon knows how it ended.
        let store = open();
        let found = store.find(&first.challenge.id).expect("kept");
        assert_eq!(found.describe()["message"], expected);
    }
}
