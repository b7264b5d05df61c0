//! The computation of a finished segment's proof.

use super::{Options, Plan};
use crate::Element;
use crate::tape::Tape;
use crate::transcript::{Statement, System};
use crate::wesolowski::{Unproved, Watch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Tells other threads that nobody waits for them any more, once it is dropped.
#[derive(Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The computation of one segment's proof, on another thread or done at once.
pub(super) enum Job {
    Running(JoinHandle<Result<Element, Unproved>>),
    Done(Element),
    Wrong,
}

impl Job {
    pub(super) fn new(
        plan: Plan,
        mut tape: Tape,
        statement: Statement,
        options: &Options,
        stop: &Stop,
    ) -> Self {
        let Options { threads, on_thread, .. } = *options;
        let stop = stop.0.clone();
        let mut work = move || {
            let go_on = &mut || !stop.load(Ordering::Relaxed);
            let company = Watch { on_thread, go_on };
            let proof = plan.prove(&mut tape, System::Segmented, &statement, company)?;
            Ok(proof.into_iter().next().expect("a Wesolowski proof is one element"))
        };
        if threads < 2 {
            return Job::of(work());
        }
        Job::Running(std::thread::spawn(move || {
            on_thread();
            work()
        }))
    }

    /// What came out of a computation that nobody stopped.
    fn of(result: Result<Element, Unproved>) -> Self {
        result.map_or(Job::Wrong, Job::Done)
    }

    /// The proof where it is there; else the computation goes on, or was in vain.
    pub(super) fn poll(self) -> (Self, Option<Element>) {
        match self {
            Job::Running(thread) if !thread.is_finished() => (Job::Running(thread), None),
            ready => match Job::of(ready.proof()) {
                Job::Done(proof) => (Job::Done(proof.clone()), Some(proof)),
                other => (other, None),
            },
        }
    }

    /// The proof, once it is there.
    pub(super) fn proof(self) -> Result<Element, Unproved> {
        match self {
            Job::Running(thread) => thread.join().expect("a prover's thread does not panic"),
            Job::Done(proof) => Ok(proof),
            Job::Wrong => Err(Unproved::Wrong),
        }
    }
}
