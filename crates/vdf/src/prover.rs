//! Evaluation and proof in one run.

use crate::checkpoint::kept::{self, Run, Stage, TapeFile};
use crate::eval::{self, Evaluation, Progress, Trouble};
use crate::proof::{Body, Segment};
use crate::tape::Tape;
use crate::transcript::{Statement, System};
use crate::wesolowski::Watch;
use crate::{Checkpoint, Element, Error, Modulus, Proof, Residue, pietrzak, wesolowski};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// What a prover may use.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes for the values recorded while squaring, and for tables.
    pub memory: u64,
    /// Threads that compute the proof. For n-Wesolowski, two or more mean that each segment is proved
    /// while the next one is squared.
    pub threads: usize,
    /// Segments of an n-Wesolowski proof, 1 to [`Proof::MAX_SEGMENTS`]; other systems have none.
    pub segments: usize,
    /// Called first on every thread that is started for a proof, for a thread begins on the cores of the one
    /// that starts it, which may be reserved for squaring.
    pub on_thread: fn(),
}

impl Default for Options {
    fn default() -> Self {
        Self { memory: 256 << 20, threads: 1, segments: 4, on_thread: || () }
    }
}

/// Computes y = x^(2^T) mod N and a proof of it.
pub struct Prover {
    system: System,
    modulus: Modulus,
    x: Residue,
    iterations: u64,
    options: Options,
}

/// What a run does next, as its watcher says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Goes on.
    GoOn,
    /// Writes its state, where it is kept, and goes on.
    Save,
    /// Writes its state, where it is kept, and ends with [`Error::Cancelled`].
    Stop,
}

/// What the squaring loop hands to the computation of a proof.
enum Plan {
    Wesolowski(wesolowski::Plan),
    Pietrzak(pietrzak::Plan),
}

impl Plan {
    fn parameters(&self) -> [u64; 2] {
        match self {
            Plan::Wesolowski(plan) => plan.parameters(),
            Plan::Pietrzak(plan) => [plan.depth(), 0],
        }
    }

    fn tape(&self, modulus: &Modulus) -> Tape {
        match self {
            Plan::Wesolowski(plan) => plan.tape(modulus),
            Plan::Pietrzak(plan) => plan.tape(modulus),
        }
    }

    /// The elements of the proof: of Wesolowski's, one; none where it was stopped.
    fn prove(
        &self,
        tape: &Tape,
        system: System,
        statement: &Statement,
        mut watch: Watch<'_>,
    ) -> Option<Vec<Element>> {
        match self {
            Plan::Wesolowski(plan) => {
                Some(vec![wesolowski::prove(plan, tape, system, statement, &mut watch)?])
            }
            Plan::Pietrzak(plan) => pietrzak::prove(plan, tape, statement, watch.go_on),
        }
    }
}

impl Prover {
    /// Prepares a run. Of no squarings at all, n-Wesolowski makes a plain Wesolowski proof.
    ///
    /// # Errors
    /// [`Error::ModulusSmallFactor`] where a small prime divides N; [`Error::NotUnit`] where x has a factor
    /// in common with N; [`Error::TooManySquarings`] above 2^63.
    pub fn new(
        system: System,
        modulus: &Modulus,
        x: &Residue,
        iterations: u64,
        options: Options,
    ) -> Result<Self, Error> {
        modulus.check_provable()?;
        if !x.is_unit(modulus) {
            return Err(Error::NotUnit { what: "x" });
        }
        if iterations > eval::MAX_ITERATIONS {
            return Err(Error::TooManySquarings(iterations));
        }
        // A segment has a squaring: without one there is nothing to divide.
        let system = match system {
            System::Segmented if iterations == 0 => System::Wesolowski,
            system => system,
        };
        Ok(Self { system, modulus: modulus.clone(), x: x.clone(), iterations, options })
    }

    /// Squares T times and proves; `watch` is called every [`eval::CHECK_EVERY`] squarings, and while the
    /// proof is computed, and may stop the run.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `watch` breaks; [`Error::Faulty`] where the machine keeps failing.
    pub fn run(
        &mut self,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Residue, Proof), Error> {
        self.run_kept(None, &mut |progress| match watch(progress) {
            ControlFlow::Continue(()) => Next::GoOn,
            ControlFlow::Break(()) => Next::Stop,
        })
    }

    /// The same with a state on disk at `kept`, some files that begin with that name: a run that ended
    /// before its time goes on from there, with the memory and the segments that it began with, but for
    /// runs that record more than 1 GiB: those need [`Options::memory`] again. [`Prover::forget`] removes them.
    ///
    /// # Errors
    /// As [`Prover::run`]; [`Error::CheckpointOther`] where the state is of another run,
    /// [`Error::CheckpointDamaged`], [`Error::Io`].
    pub fn run_kept(
        &mut self,
        kept: Option<&Path>,
        watch: &mut dyn FnMut(Progress) -> Next,
    ) -> Result<(Residue, Proof), Error> {
        let mut course = Course::new(self, kept)?;
        let last = course.run.stages.len() - 1;
        loop {
            let i = course.run.finished.len();
            let (stage, x) = (course.run.stages[i], course.start(i));
            let plan = self.plan_of(&stage, i == last)?;
            let (mut evaluation, mut file, damaged) = course.evaluation(i, &x, &plan)?;
            let damaged = std::mem::take(&mut course.damaged) || damaged;
            course.report_start(i, &evaluation, damaged, watch);
            let y = course.square(i, &mut evaluation, &mut file, watch)?;
            let tape = evaluation.take_tape().expect("the tape was put in before");
            let statement = self.statement_of(x, stage.iterations, &y);
            if i == last {
                let iterations = self.iterations;
                let progress = Progress {
                    done: iterations,
                    iterations,
                    proving: true,
                    fault: None,
                    trouble: None,
                };
                let go_on = &mut || watch(progress) != Next::Stop;
                let company = Watch { on_thread: self.options.on_thread, go_on };
                let proof = plan.prove(&tape, self.system, &statement, company);
                let proof = proof.ok_or(Error::Cancelled)?;
                return Ok((y.clone(), course.finish(self, &y, proof)));
            }
            course.end_stage(plan, tape, statement, &self.options)?;
        }
    }

    /// Removes the state that [`Prover::run_kept`] keeps.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn forget(kept: &Path) -> Result<(), Error> {
        kept::remove(kept)
    }

    /// The segments and their plans, as a new run begins.
    fn stages(&self) -> Vec<Stage> {
        let Options { memory, threads, segments, .. } = self.options;
        let lengths = match self.system {
            System::Segmented => segment_lengths(self.iterations, segments),
            _ => vec![self.iterations],
        };
        let plan = |(i, &iterations): (usize, &u64)| {
            let plan = match self.system {
                System::Pietrzak => {
                    Plan::Pietrzak(pietrzak::Plan::new(&self.modulus, iterations, memory))
                }
                System::Wesolowski => Plan::Wesolowski(wesolowski::Plan::new(
                    &self.modulus,
                    iterations,
                    memory,
                    threads,
                )),
                // The tape of one segment may still be in use while the next is recorded.
                System::Segmented => Plan::Wesolowski(wesolowski::Plan::new(
                    &self.modulus,
                    iterations,
                    memory / 2,
                    self.provers(i + 1 == lengths.len()),
                )),
            };
            Stage { iterations, parameters: plan.parameters() }
        };
        lengths.iter().enumerate().map(plan).collect()
    }

    /// Threads that prove a segment: one squares meanwhile, but for the last.
    fn provers(&self, last: bool) -> usize {
        if last { self.options.threads } else { self.options.threads.saturating_sub(1).max(1) }
    }

    fn plan_of(&self, stage: &Stage, last: bool) -> Result<Plan, Error> {
        let Stage { iterations, parameters } = *stage;
        // The file may be anybody's: what it would have recorded is counted before room is made for it.
        let most = self.options.memory.max(LEAST_MEMORY) / self.modulus.width() as u64;
        let values = match self.system {
            System::Pietrzak => 1u64.checked_shl(parameters[0].min(64) as u32),
            _ => wesolowski::Plan::values(parameters, iterations),
        };
        if values.is_none_or(|values| values > most) {
            return Err(Error::CheckpointDamaged("its plan takes more memory than it may"));
        }
        Ok(match self.system {
            System::Pietrzak => {
                Plan::Pietrzak(pietrzak::Plan::with_depth(iterations, parameters[0] as usize))
            }
            _ => Plan::Wesolowski(wesolowski::Plan::with_parameters(
                parameters,
                iterations,
                self.provers(last),
            )?),
        })
    }

    fn statement_of(&self, x: Residue, iterations: u64, y: &Residue) -> Statement {
        let modulus = self.modulus.clone();
        Statement { y: y.element(&modulus), modulus, x, iterations }
    }
}

/// A run under way: what is squared, what is proved, and where that is kept.
struct Course<'a> {
    run: Run,
    /// The computation of each finished segment's proof.
    jobs: Vec<Job>,
    /// Stops those that are under way when the run ends before its time.
    stop: Stop,
    kept: Option<&'a Path>,
    /// Whether the file of the run was damaged, until that is told.
    damaged: bool,
}

/// Tells other threads that nobody waits for them any more, once it is dropped.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<'a> Course<'a> {
    /// Takes up what is kept, or begins.
    fn new(prover: &Prover, kept: Option<&'a Path>) -> Result<Self, Error> {
        let Prover { system, modulus, x, iterations, .. } = prover;
        let run = Run {
            system: *system,
            modulus: modulus.clone(),
            x: x.clone(),
            iterations: *iterations,
            stages: prover.stages(),
            finished: Vec::new(),
        };
        let found = kept.map_or(Ok(None), |path| run.load(path))?;
        if let (Some(path), None) = (kept, &found) {
            run.save(path)?;
        }
        let (run, damaged) = found.unwrap_or((run, false));
        let stop = Stop::default();
        let mut course = Self { run, jobs: Vec::new(), stop, kept, damaged };
        for i in 0..course.run.finished.len() {
            let job = course.job_of(prover, i)?;
            course.jobs.push(job);
        }
        Ok(course)
    }

    /// The proof of a finished segment, or its computation from the recorded values.
    fn job_of(&self, prover: &Prover, i: usize) -> Result<Job, Error> {
        let (y, proof) = &self.run.finished[i];
        if let Some(proof) = proof {
            return Ok(Job::Done(proof.clone()));
        }
        let (stage, x) = (self.run.stages[i], self.start(i));
        let plan = prover.plan_of(&stage, false)?;
        let mut tape = plan.tape(&prover.modulus);
        if let Some(path) = self.kept {
            let path = kept::tape_path(path, i);
            TapeFile::open(&path, &prover.modulus, &x, &stage, &mut tape)?;
        }
        if tape.room() > 0 {
            return Err(Error::CheckpointDamaged("values of a finished segment are missing"));
        }
        let statement = prover.statement_of(x, stage.iterations, y.residue());
        Ok(Job::new(plan, tape, statement, &prover.options, &self.stop))
    }

    /// The input of a segment: each begins at the representative of the one before, whose squares are
    /// the same.
    fn start(&self, i: usize) -> Residue {
        match i.checked_sub(1) {
            Some(before) => self.run.finished[before].0.residue().clone(),
            None => self.run.x.clone(),
        }
    }

    /// The evaluation of a segment, from its checkpoint where that and the values before it are there, else
    /// from the last value recorded; and whether some of it was damaged.
    fn evaluation(
        &self,
        i: usize,
        x: &Residue,
        plan: &Plan,
    ) -> Result<(Evaluation, Option<TapeFile>, bool), Error> {
        let (modulus, stage) = (&self.run.modulus, &self.run.stages[i]);
        let mut tape = plan.tape(modulus);
        let mut evaluation = Evaluation::new(modulus, x, stage.iterations)?;
        let (mut file, mut damaged) = (None, false);
        if let Some(path) = self.kept {
            let name = kept::tape_path(path, i);
            file = Some(TapeFile::open(&name, modulus, x, stage, &mut tape)?);
            // The checkpoint of a segment before this one is no damage: this one was not saved yet.
            let usable = |checkpoint: &Checkpoint| {
                let ours = checkpoint.expect(modulus, x, stage.iterations).is_ok();
                if ours && !tape.reaches(checkpoint.done()) {
                    return Err(Error::CheckpointDamaged("values recorded before it are missing"));
                }
                Ok(ours)
            };
            let (checkpoint, trouble) = Checkpoint::load_where(path, usable)?;
            damaged = trouble;
            evaluation = match checkpoint {
                Some(checkpoint) => Evaluation::resume(&checkpoint)?,
                None => Evaluation::resume_from(modulus, x, stage.iterations, &tape)?,
            };
        }
        evaluation.record(tape);
        Ok((evaluation, file, damaged))
    }

    /// Tells the watcher where a run is taken up.
    fn report_start(
        &self,
        i: usize,
        evaluation: &Evaluation,
        damaged: bool,
        watch: &mut dyn FnMut(Progress) -> Next,
    ) {
        if evaluation.done() > 0 || damaged {
            let before: u64 = self.run.stages[..i].iter().map(|stage| stage.iterations).sum();
            let (done, iterations) = (before + evaluation.done(), self.run.iterations);
            let trouble = damaged.then_some(Trouble::Damaged);
            watch(Progress { done, iterations, proving: false, fault: None, trouble });
        }
    }

    /// Squares to the end of a segment.
    fn square(
        &mut self,
        i: usize,
        evaluation: &mut Evaluation,
        file: &mut Option<TapeFile>,
        watch: &mut dyn FnMut(Progress) -> Next,
    ) -> Result<Residue, Error> {
        let before: u64 = self.run.stages[..i].iter().map(|stage| stage.iterations).sum();
        let whole = self.run.iterations;
        loop {
            if let Some(y) = evaluation.result() {
                // The proof is worth more than the files that would lead to it.
                if let Err(error) = self.save(evaluation, file) {
                    let Error::Io(_) = error else { return Err(error) };
                    let (done, trouble) = (before + evaluation.done(), Some(Trouble::Unsaved));
                    let proving = false;
                    watch(Progress { done, iterations: whole, proving, fault: None, trouble });
                }
                return Ok(y);
            }
            let mut progress = evaluation.advance(eval::CHECK_EVERY)?;
            progress.done += before;
            progress.iterations = whole;
            if let Some(fault) = &mut progress.fault {
                fault.found_at += before;
                fault.back_to += before;
            }
            let next = watch(progress);
            if next != Next::GoOn {
                self.save(evaluation, file)?;
            }
            if next == Next::Stop {
                return Err(Error::Cancelled);
            }
        }
    }

    /// Values first, then the checkpoint that counts on them, then which proofs are ready.
    fn save(
        &mut self,
        evaluation: &mut Evaluation,
        file: &mut Option<TapeFile>,
    ) -> Result<(), Error> {
        let (Some(path), Some(file)) = (self.kept, file) else { return Ok(()) };
        let (checkpoint, _) = evaluation.checkpoint()?;
        let tape = evaluation.tape().expect("a prover's evaluation has a tape");
        file.append(&self.run.modulus, tape)?;
        checkpoint.save(path)?;
        let ready = |run: &Run| run.finished.iter().filter(|(_, proof)| proof.is_some()).count();
        let before = ready(&self.run);
        let polled = std::mem::take(&mut self.jobs).into_iter().map(Job::poll);
        for ((job, proof), (_, known)) in polled.zip(&mut self.run.finished) {
            self.jobs.push(job);
            *known = proof;
        }
        if ready(&self.run) > before { self.run.save(path) } else { Ok(()) }
    }

    /// Takes in a segment that is squared, and has it proved.
    fn end_stage(
        &mut self,
        plan: Plan,
        tape: Tape,
        statement: Statement,
        options: &Options,
    ) -> Result<(), Error> {
        self.run.finished.push((statement.y.clone(), None));
        if let Some(path) = self.kept {
            self.run.save(path)?;
        }
        self.jobs.push(Job::new(plan, tape, statement, options, &self.stop));
        Ok(())
    }

    /// The whole proof.
    fn finish(self, prover: &Prover, y: &Residue, last: Vec<Element>) -> Proof {
        let statement = prover.statement_of(self.run.x.clone(), self.run.iterations, y);
        let body = match (prover.system, &last[..]) {
            (System::Pietrzak, _) => Body::Pietrzak(last),
            (System::Wesolowski, [proof]) => Body::Wesolowski(proof.clone()),
            (_, [proof]) => {
                let mut segments = Vec::new();
                let finished = self.run.finished.into_iter().zip(self.jobs);
                for (stage, ((y, _), job)) in self.run.stages.iter().zip(finished) {
                    segments.push(Segment { iterations: stage.iterations, y, proof: job.proof() });
                }
                let iterations = self.run.stages[segments.len()].iterations;
                let (y, proof) = (statement.y.clone(), proof.clone());
                segments.push(Segment { iterations, y, proof });
                Body::Segmented(segments)
            }
            _ => unreachable!("a Wesolowski proof is one element"),
        };
        Proof { statement, body }
    }
}

/// What holds while the course is there.
const NOT_STOPPED: &str = "a course that goes on stops none of its threads";

/// The computation of one segment's proof, on another thread or done at once.
enum Job {
    Running(JoinHandle<Option<Element>>),
    Done(Element),
}

impl Job {
    fn new(plan: Plan, tape: Tape, statement: Statement, options: &Options, stop: &Stop) -> Self {
        let Options { threads, on_thread, .. } = *options;
        let stop = stop.0.clone();
        let work = move || {
            let go_on = &mut || !stop.load(Ordering::Relaxed);
            let company = Watch { on_thread, go_on };
            Some(plan.prove(&tape, System::Segmented, &statement, company)?.swap_remove(0))
        };
        if threads < 2 {
            return Job::Done(work().expect(NOT_STOPPED));
        }
        Job::Running(std::thread::spawn(move || {
            on_thread();
            work()
        }))
    }

    /// The proof where it is there; else the computation goes on.
    fn poll(self) -> (Self, Option<Element>) {
        match self {
            Job::Running(thread) if !thread.is_finished() => (Job::Running(thread), None),
            ready => {
                let proof = ready.proof();
                (Job::Done(proof.clone()), Some(proof))
            }
        }
    }

    /// The proof, once it is there.
    fn proof(self) -> Element {
        match self {
            Job::Running(thread) => {
                let proof = thread.join().expect("a prover's thread does not panic");
                proof.expect(NOT_STOPPED)
            }
            Job::Done(proof) => proof,
        }
    }
}

/// What the values of a run that is taken up may have, where it began with more memory than it has now.
const LEAST_MEMORY: u64 = 1 << 30;

/// Splits T so that each segment is two thirds of what is left: the proof that is computed after the last
/// squaring is of a short stretch. A proof takes a tenth to a fifth of its squarings' time, so that even a
/// slow second core has one ready before the next segment ends.
fn segment_lengths(iterations: u64, segments: usize) -> Vec<u64> {
    let mut lengths = Vec::new();
    let mut left = iterations;
    for _ in 1..segments.clamp(1, Proof::MAX_SEGMENTS) {
        if left < 2 {
            break;
        }
        let rest = (left / 3).max(1);
        lengths.push(left - rest);
        left = rest;
    }
    lengths.push(left);
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_add_up() {
        assert_eq!(segment_lengths(1000, 4), [667, 222, 74, 37]);
        assert_eq!(segment_lengths(7, 64), [5, 1, 1]);
        assert_eq!(segment_lengths(1, 4), [1]);
        for t in 1..200 {
            assert_eq!(segment_lengths(t, 5).iter().sum::<u64>(), t);
            assert!(!segment_lengths(t, 5).contains(&0));
        }
    }
}
