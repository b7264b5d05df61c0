//! A run under way: its segments are squared one after another, and proved meanwhile.

use super::{Next, Options, Plan, Prover};
use crate::checkpoint::kept::{self, Run, TapeFile};
use crate::eval::{self, Evaluation, Fault, Progress, Trouble};
use crate::proof::{Body, Segment};
use crate::tape::Tape;
use crate::transcript::{Statement, System};
use crate::wesolowski::{Unproved, Watch};
use crate::{Checkpoint, Element, Error, Proof, Residue};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A run under way: what is squared, what is proved, and where that is kept.
pub(super) struct Course<'a> {
    pub(super) run: Run,
    /// The computation of each finished segment's proof.
    jobs: Vec<Job>,
    /// Stops those that are under way when the run ends before its time.
    stop: Stop,
    kept: Option<&'a Path>,
    /// Whether the file of the run was damaged, until that is told.
    pub(super) damaged: bool,
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
    pub(super) fn new(prover: &Prover, kept: Option<&'a Path>) -> Result<Self, Error> {
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
            kept::check_name(path)?;
            run.save(path)?;
        }
        let (run, damaged) = found.unwrap_or((run, false));
        let stop = Stop::default();
        let mut course = Self { run, jobs: Vec::new(), stop, kept, damaged };
        for i in 0..course.run.finished.len() {
            match course.job_of(prover, i) {
                Ok(job) => course.jobs.push(job),
                // It is squared again from its last whole value; what was recorded after it still counts.
                Err(Error::CheckpointDamaged(_)) => {
                    course.run.finished.truncate(i);
                    course.damaged = true;
                    break;
                }
                Err(error) => return Err(error),
            }
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
        Job::new(plan, tape, statement, &prover.options, &self.stop)
    }

    /// The input of a segment: each begins at the representative of the one before, whose squares are
    /// the same.
    pub(super) fn start(&self, i: usize) -> Residue {
        match i.checked_sub(1) {
            Some(before) => self.run.finished[before].0.residue().clone(),
            None => self.run.x.clone(),
        }
    }

    /// The evaluation of a segment, from its checkpoint where that and the values before it are there, else
    /// from the last value recorded; and whether some of it was damaged.
    pub(super) fn evaluation(
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
    pub(super) fn report_start(
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
    pub(super) fn square(
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
                // Nobody should wait for that before the last proof, which is saved when it is stopped.
                if i + 1 < self.run.stages.len() {
                    self.save(evaluation, file)?;
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
    pub(super) fn save(
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
        let jobs = std::mem::take(&mut self.jobs).into_iter();
        for (job, (_, known)) in jobs.zip(&mut self.run.finished) {
            let (job, proof) = job.poll()?;
            self.jobs.push(job);
            *known = proof;
        }
        if ready(&self.run) > before { self.run.save(path) } else { Ok(()) }
    }

    /// Takes in a segment that is squared, and has it proved.
    pub(super) fn end_stage(
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
        self.jobs.push(Job::new(plan, tape, statement, options, &self.stop)?);
        Ok(())
    }

    /// Gives up the values of a segment whose proof came out wrong, and tells: it is squared again.
    pub(super) fn begin_again(
        &self,
        i: usize,
        times: u32,
        watch: &mut dyn FnMut(Progress) -> Next,
    ) -> Result<(), Error> {
        if times >= MAX_WRONG {
            return Err(Error::Faulty(times));
        }
        if let Some(path) = self.kept {
            kept::remove_tape(path, i)?;
        }
        let back_to = self.run.stages[..i].iter().map(|stage| stage.iterations).sum();
        let (done, iterations) = (back_to, self.run.iterations);
        let fault = Some(Fault { found_at: back_to + self.run.stages[i].iterations, back_to });
        match watch(Progress { done, iterations, proving: false, fault, trouble: None }) {
            Next::Stop => Err(Error::Cancelled),
            Next::GoOn | Next::Save => Ok(()),
        }
    }

    /// The whole proof.
    pub(super) fn finish(
        self,
        prover: &Prover,
        y: &Residue,
        last: Vec<Element>,
    ) -> Result<Proof, Error> {
        let statement = prover.statement_of(self.run.x.clone(), self.run.iterations, y);
        let body = match (prover.system, &last[..]) {
            (System::Pietrzak, _) => Body::Pietrzak(last),
            (System::Wesolowski, [proof]) => Body::Wesolowski(proof.clone()),
            (_, [proof]) => {
                let mut segments = Vec::new();
                let finished = self.run.finished.into_iter().zip(self.jobs);
                for (stage, ((y, _), job)) in self.run.stages.iter().zip(finished) {
                    segments.push(Segment { iterations: stage.iterations, y, proof: job.proof()? });
                }
                let iterations = self.run.stages[segments.len()].iterations;
                let (y, proof) = (statement.y.clone(), proof.clone());
                segments.push(Segment { iterations, y, proof });
                Body::Segmented(segments)
            }
            _ => unreachable!("a Wesolowski proof is one element"),
        };
        Ok(Proof { statement, body })
    }
}

/// How often a proof may come out wrong.
const MAX_WRONG: u32 = 3;

/// The computation of one segment's proof, on another thread or done at once.
enum Job {
    Running(JoinHandle<Result<Element, Error>>),
    Done(Element),
}

impl Job {
    fn new(
        plan: Plan,
        mut tape: Tape,
        statement: Statement,
        options: &Options,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let Options { threads, on_thread, .. } = *options;
        let stop = stop.0.clone();
        let mut work = move || {
            let go_on = &mut || !stop.load(Ordering::Relaxed);
            for _ in 1..MAX_WRONG {
                let company = Watch { on_thread, go_on };
                match plan.prove(&mut tape, System::Segmented, &statement, company) {
                    Ok(mut proof) => return Ok(proof.swap_remove(0)),
                    Err(Unproved::Stopped) => return Err(Error::Cancelled),
                    Err(Unproved::Wrong) => tape = recorded_again(&plan, &statement, go_on)?,
                }
            }
            Err(Error::Faulty(MAX_WRONG))
        };
        if threads < 2 {
            return Ok(Job::Done(work()?));
        }
        Ok(Job::Running(std::thread::spawn(move || {
            on_thread();
            work()
        })))
    }

    /// The proof where it is there; else the computation goes on.
    fn poll(self) -> Result<(Self, Option<Element>), Error> {
        match self {
            Job::Running(thread) if !thread.is_finished() => Ok((Job::Running(thread), None)),
            ready => {
                let proof = ready.proof()?;
                Ok((Job::Done(proof.clone()), Some(proof)))
            }
        }
    }

    /// The proof, once it is there.
    fn proof(self) -> Result<Element, Error> {
        match self {
            Job::Running(thread) => thread.join().expect("a prover's thread does not panic"),
            Job::Done(proof) => Ok(proof),
        }
    }
}

/// The values of a segment, by squaring it again: those there were are wrong.
fn recorded_again(
    plan: &Plan,
    statement: &Statement,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Tape, Error> {
    let Statement { modulus, x, iterations, .. } = statement;
    let mut evaluation = Evaluation::new(modulus, x, *iterations)?;
    evaluation.record(plan.tape(modulus));
    while evaluation.result().is_none() {
        if !go_on() {
            return Err(Error::Cancelled);
        }
        evaluation.advance(eval::CHECK_EVERY)?;
    }
    Ok(evaluation.take_tape().expect("the tape was put in before"))
}
