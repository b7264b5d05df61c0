//! All challenges: on disk, in the queue, and under way.

use crate::error::{Error, Kind, Outcome};
use crate::files;
use crate::job::{Challenge, REQUEST, Status, describe};
use crate::metrics::{Change, Metrics};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tetralith_vdf::Prover;
use tokio::sync::watch;

/// Bounds of a daemon.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Challenges that wait.
    pub(crate) queue: usize,
    /// Challenges in the folder, whatever their state.
    pub(crate) kept: usize,
    /// Squarings of a challenge.
    pub(crate) iterations: u64,
}

/// The challenges of one folder.
pub(crate) struct Store {
    jobs: PathBuf,
    limits: Limits,
    state: Mutex<State>,
    /// Rings when there is work or the daemon stops.
    bell: Condvar,
    /// Rings when a challenge is written.
    arrived: Condvar,
    pub(crate) metrics: Metrics,
    stopping: AtomicBool,
}

#[derive(Default)]
struct State {
    sequence: u64,
    all: BTreeMap<String, Arc<Entry>>,
    queue: VecDeque<Arc<Entry>>,
    /// Those that are written to their folders; the lock is not held meanwhile.
    arriving: BTreeSet<String>,
    /// Those that were cancelled, until their workers notice and their folders are removed.
    leaving: BTreeSet<String>,
}

/// A challenge and its listeners; a slow one sees only the latest status.
pub(crate) struct Entry {
    pub(crate) challenge: Challenge,
    status: watch::Sender<Status>,
    cancelled: AtomicBool,
    /// Whether files of its run were damaged and are set aside.
    set_aside: AtomicBool,
    /// Squarings that were done when its state was last read.
    saved: AtomicU64,
}

impl Entry {
    fn new(challenge: Challenge, status: Status) -> Arc<Self> {
        let (status, _) = watch::channel(status);
        let (cancelled, set_aside) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Self { challenge, status, cancelled, set_aside, saved: AtomicU64::new(0) })
    }

    pub(crate) fn listen(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    pub(crate) fn describe(&self) -> Value {
        self.tell(&self.status.borrow())
    }

    fn tell(&self, status: &Status) -> Value {
        let mut value = describe(&self.challenge, status);
        let saved = self.saved();
        if *status == Status::Queued && saved > 0 {
            value["done"] = saved.into();
        }
        if self.has_set_aside() {
            value["set_aside"] = true.into();
        }
        value
    }

    /// The status that a listener sees now, and whether it is the last.
    pub(crate) fn heard(&self, listener: &mut watch::Receiver<Status>) -> (Value, bool) {
        let status = listener.borrow_and_update();
        (self.tell(&status), status.is_final())
    }

    /// The code with which it failed.
    fn failure(&self) -> Option<String> {
        match &*self.status.borrow() {
            Status::Failed { code, .. } => Some(code.clone()),
            _ => None,
        }
    }

    pub(crate) fn has_set_aside(&self) -> bool {
        self.set_aside.load(Ordering::Relaxed)
    }

    /// Squarings that were done when its state was last read.
    pub(crate) fn saved(&self) -> u64 {
        self.saved.load(Ordering::Relaxed)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, status: Status) {
        self.status.send_replace(status);
    }
}

/// The codes of a run that cannot go on from what is kept: that is damaged, or of another run.
pub(crate) const DAMAGED: &str = "checkpoint.damaged";
pub(crate) const OTHER: &str = "state.checkpoint";

/// The end of a challenge that nobody asks for any more.
pub(crate) fn cancelled() -> Status {
    let (code, message) = ("challenge.cancelled".into(), "cancelled".into());
    Status::Failed { code, message, hint: None }
}

/// The end of a challenge, as it lies in its folder.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ended {
    y: Option<String>,
    proof_bytes: u64,
    seconds: f64,
    code: Option<String>,
    message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Store {
    /// Reads the folder; what was not ended is queued again, in the order of its arrival.
    pub(crate) fn open(
        folder: &Path,
        limits: Limits,
        mut damaged: impl FnMut(Error),
    ) -> Outcome<Self> {
        let jobs = folder.join("challenges");
        let failed = |error: std::io::Error| Error::file(&jobs, &error);
        std::fs::create_dir_all(&jobs).map_err(failed)?;
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&jobs).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if is_left_over(&path) {
                std::fs::remove_dir_all(&path).map_err(failed)?;
                continue;
            }
            match Challenge::load(&path) {
                Ok(challenge) => found.push(challenge),
                Err(failure) => damaged(failure),
            }
        }
        found.sort_by_key(|(sequence, _)| *sequence);
        let mut state = State::default();
        for (sequence, challenge) in found {
            state.sequence = sequence.saturating_add(1);
            let status = ended(&jobs.join(&challenge.id)).unwrap_or(Status::Queued);
            let queued = !status.is_final();
            let entry = Entry::new(challenge, status);
            entry.set_aside.store(entry.challenge.aside(&jobs).exists(), Ordering::Relaxed);
            if queued {
                entry.saved.store(entry.challenge.saved(&jobs), Ordering::Relaxed);
            }
            state.all.insert(entry.challenge.id.clone(), entry.clone());
            if queued {
                state.queue.push_back(entry);
            }
        }
        let [bell, arrived] = [(); 2].map(|()| Condvar::new());
        let (stopping, metrics) = (AtomicBool::new(false), Metrics::default());
        Ok(Self { jobs, limits, state: Mutex::new(state), bell, arrived, metrics, stopping })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What a panicking thread leaves behind is whole: each change is one insertion or removal.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn jobs(&self) -> &Path {
        &self.jobs
    }

    /// Takes a challenge, and answers its client.
    pub(crate) fn submit(&self, request: Value) -> Outcome<Value> {
        let (challenge, reduced) = Challenge::from_request(request, self.limits.iterations)?;
        let mut answer = self.take(challenge)?.describe();
        if reduced {
            answer["reduced"] = true.into();
        }
        Ok(answer)
    }

    /// The state, once nobody writes this challenge's folder.
    fn settled(&self, id: &str) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while state.arriving.contains(id) {
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Takes a challenge; one that is here already is not taken twice, but tried again where it failed.
    fn take(&self, challenge: Challenge) -> Outcome<Arc<Entry>> {
        let mut state = self.settled(&challenge.id);
        let known = state.all.get(&challenge.id).cloned();
        if let Some(entry) = known.iter().find(|entry| entry.failure().is_none()) {
            return Ok(entry.clone());
        }
        self.check_room(&state, &challenge.id, known.is_some())?;
        let sequence = state.sequence;
        state.sequence = state.sequence.saturating_add(1);
        state.arriving.insert(challenge.id.clone());
        drop(state); // a slow disk must not keep anybody from asking
        let written = self.write(&challenge, sequence, known.as_ref());
        let mut state = self.lock();
        state.arriving.remove(&challenge.id);
        self.arrived.notify_all();
        written?;
        let entry = known.unwrap_or_else(|| Entry::new(challenge, Status::Queued));
        entry.set(Status::Queued);
        state.all.insert(entry.challenge.id.clone(), entry.clone());
        state.queue.push_back(entry.clone());
        self.metrics.challenge(Change::Taken);
        self.bell.notify_one();
        Ok(entry)
    }

    /// Refuses one challenge more where there is no room, those that are being written counted.
    fn check_room(&self, state: &State, id: &str, known: bool) -> Outcome {
        let busy = |code, message: String| Err(Error::new(Kind::State, code, message));
        if state.leaving.contains(id) {
            return busy("daemon.busy", "this challenge is being cancelled".into());
        }
        let waiting = state.queue.len() + state.arriving.len();
        if waiting >= self.limits.queue {
            return busy("daemon.busy", format!("{waiting} challenges wait already"));
        }
        let kept = state.all.len() + state.arriving.len();
        if !known && kept >= self.limits.kept {
            return busy("daemon.full", format!("{kept} challenges are kept; delete some"));
        }
        Ok(())
    }

    /// Writes a challenge's folder; of one that failed before, what was damaged is set aside.
    fn write(&self, challenge: &Challenge, sequence: u64, known: Option<&Arc<Entry>>) -> Outcome {
        let not_taken =
            "the challenge was not taken: make room or repair that, and submit it again";
        challenge.store(&self.jobs, sequence).map_err(|failure| failure.hint(not_taken))?;
        let Some(entry) = known else { return Ok(()) };
        let code = entry.failure().unwrap_or_default();
        if [DAMAGED, OTHER].contains(&&code[..])
            && challenge.set_aside(&self.jobs, code == OTHER)?
        {
            entry.set_aside.store(true, Ordering::Relaxed);
        }
        // How it ended before counts no more; there is no such file where it could not be written.
        let _ = std::fs::remove_file(self.jobs.join(&challenge.id).join(RESULT));
        entry.saved.store(challenge.saved(&self.jobs), Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn find(&self, id: &str) -> Outcome<Arc<Entry>> {
        found(&self.lock(), id)
    }

    /// At most `limit` challenges whose identifiers follow `after`, in the order of identifiers, and the
    /// identifier after which there are more.
    pub(crate) fn list(&self, after: Option<&str>, limit: usize) -> (Vec<Value>, Option<String>) {
        let from = after.map_or(Bound::Unbounded, |id| Bound::Excluded(id.to_owned()));
        let mut found: Vec<Arc<Entry>> = {
            let state = self.lock();
            let rest = state.all.range((from, Bound::Unbounded));
            rest.map(|(_, entry)| entry.clone()).take(limit + 1).collect()
        };
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|entry| entry.challenge.id.clone());
        (found.iter().map(|entry| entry.describe()).collect(), next)
    }

    /// The page for Prometheus.
    pub(crate) fn metrics_page(&self) -> String {
        let mut states = [("queued", 0), ("running", 0), ("done", 0), ("failed", 0)];
        for entry in self.lock().all.values() {
            let state = match &*entry.status.borrow() {
                Status::Queued => 0,
                Status::Running { .. } => 1,
                Status::Done { .. } => 2,
                Status::Failed { .. } => 3,
            };
            states[state].1 += 1;
        }
        self.metrics.page(states)
    }

    /// The proof's bytes, once there is one.
    pub(crate) fn proof(&self, entry: &Entry) -> Outcome<Vec<u8>> {
        if !matches!(&*entry.status.borrow(), Status::Done { proof_bytes, .. } if *proof_bytes > 0)
        {
            return Err(Error::usage("challenge.no_proof", "there is no proof of this challenge"));
        }
        files::read(&self.jobs.join(&entry.challenge.id).join("proof"), MAX_PROOF)
    }

    /// Forgets a challenge, and stops it where it runs.
    pub(crate) fn cancel(&self, id: &str) -> Outcome {
        let mut state = self.settled(id);
        let entry = found(&state, id)?;
        entry.cancelled.store(true, Ordering::Relaxed);
        state.queue.retain(|queued| queued.challenge.id != id);
        state.all.remove(id);
        // Nobody may take it up anew before its folder is gone; a worker's removes it when the worker notices.
        state.leaving.insert(id.to_owned());
        let running = matches!(*entry.status.borrow(), Status::Running { .. });
        drop(state); // a slow disk must not keep anybody from asking
        self.metrics.challenge(Change::Cancelled);
        let folder = self.jobs.join(id);
        let removed = if running {
            // Without its request the folder is no challenge, should the daemon end before its worker.
            removed(&folder.join(REQUEST), |request| std::fs::remove_file(request))
        } else {
            let removed = removed(&folder, |folder| std::fs::remove_dir_all(folder));
            self.lock().leaving.remove(id);
            removed
        };
        entry.status.send_if_modified(|status| {
            let open = !status.is_final() && !running;
            if open {
                *status = cancelled();
            }
            open
        });
        removed
    }

    /// Tells how a challenge's work ended; one that was cancelled meanwhile is removed instead.
    pub(crate) fn leave(&self, entry: &Entry, status: Status) {
        let id = &entry.challenge.id;
        let state = self.lock();
        if !state.leaving.contains(id) {
            // Under the lock, so that whoever cancels sees whether a worker will still come by here.
            self.metrics.challenge(match status {
                Status::Done { .. } => Change::Done,
                _ => Change::Failed,
            });
            entry.set(status);
            return;
        }
        drop(state);
        // What cannot be removed is found by the next daemon, and can be cancelled there.
        let _ = std::fs::remove_dir_all(self.jobs.join(id));
        self.lock().leaving.remove(id);
        entry.set(cancelled());
    }

    /// The next challenge to work on; `None` when the daemon stops.
    pub(crate) fn next(&self) -> Option<Arc<Entry>> {
        let mut state = self.lock();
        loop {
            if self.is_stopping() {
                return None;
            }
            if let Some(entry) = state.queue.pop_front() {
                let done = entry.saved();
                entry.set(Status::Running { done, per_second: 0.0 });
                return Some(entry);
            }
            state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Writes the end of a challenge, removes the state of its run, then tells it.
    pub(crate) fn end(&self, entry: &Entry, status: Status, proof: Option<&[u8]>) -> Outcome {
        let folder = self.jobs.join(&entry.challenge.id);
        if let Some(proof) = proof {
            files::write(&folder.join("proof"), proof)?;
        }
        let ended = match &status {
            Status::Done { y, proof_bytes, seconds } => Ended {
                y: Some(y.clone()),
                proof_bytes: *proof_bytes,
                seconds: *seconds,
                code: None,
                message: None,
                hint: None,
            },
            Status::Failed { code, message, hint } => Ended {
                y: None,
                proof_bytes: 0,
                seconds: 0.0,
                code: Some(code.clone()),
                message: Some(message.clone()),
                hint: hint.clone(),
            },
            Status::Queued | Status::Running { .. } => return Ok(()),
        };
        let text = serde_json::to_vec(&ended).unwrap_or_default();
        files::write(&folder.join(RESULT), &text)?;
        // What failed may be tried again from there, and is removed with the challenge.
        if matches!(status, Status::Done { .. }) {
            // Only room on the disk.
            let _ = Prover::forget(&entry.challenge.kept(&self.jobs));
            let _ = std::fs::remove_dir_all(entry.challenge.aside(&self.jobs));
            entry.set_aside.store(false, Ordering::Relaxed);
        }
        self.leave(entry, status);
        Ok(())
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Taken so that no worker is between its look at the flag and its sleep.
        drop(self.lock());
        self.bell.notify_all();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// Removes something; that it is gone already is no failure.
fn removed(path: &Path, remove: impl FnOnce(&Path) -> std::io::Result<()>) -> Outcome {
    match remove(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::file(path, &error))
        }
        _ => Ok(()),
    }
}

fn found(state: &State, id: &str) -> Outcome<Arc<Entry>> {
    let unknown = || Error::usage("challenge.unknown", "no such challenge is here");
    state.all.get(id).cloned().ok_or_else(unknown)
}

/// Whether a folder is of a challenge that was cancelled, or not yet taken, when a daemon ended.
fn is_left_over(folder: &Path) -> bool {
    let is_id = |name: &str| name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit());
    folder.file_name().and_then(|name| name.to_str()).is_some_and(is_id)
        && folder.is_dir()
        && !folder.join(REQUEST).exists()
}

/// The file that says how a challenge ended.
const RESULT: &str = "result.json";

/// The longest proof, of 64 segments or 55 halvings for the largest modulus.
const MAX_PROOF: u64 = 1 << 20;

/// How the challenge of a folder ended, if it did.
fn ended(folder: &Path) -> Option<Status> {
    let text = files::read(&folder.join(RESULT), 1 << 16).ok()?;
    let ended: Ended = serde_json::from_slice(&text).ok()?;
    let Ended { y, proof_bytes, seconds, code, message, hint } = ended;
    match (y, code, message) {
        (Some(y), None, None) => Some(Status::Done { y, proof_bytes, seconds }),
        (None, Some(code), Some(message)) => Some(Status::Failed { code, message, hint }),
        _ => None,
    }
}
