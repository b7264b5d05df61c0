//! A run under way: its segments are squared one after another, and proved meanwhile.

use super::job::{Job, Stop};
use super::{Next, Options, Plan, Prover};
use crate::checkpoint::kept::{self, Run, TapeFile};
use crate::eval::{self, Evaluation, Fault, Progress, Trouble};
use crate::proof::{Body, Segment};
use crate::tape::Tape;
use crate::transcript::{Statement, System};
use crate::wesolowski::{Unproved, Watch};
use crate::{Checkpoint, Element, Error, Proof, Residue, wesolowski};
use std::path::Path;

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

impl<'a> Course<'a> {
    /// A run that has not squared yet.
    pub(super) fn begun(prover: &Prover) -> Run {
        let Prover { system, modulus, x, iterations, .. } = prover;
        Run {
            system: *system,
            modulus: modulus.clone(),
            x: x.clone(),
            iterations: *iterations,
            stages: prover.stages(),
            finished: Vec::new(),
        }
    }

    /// Takes up what is kept, or begins.
    pub(super) fn new(prover: &Prover, kept: Option<&'a Path>) -> Result<Self, Error> {
        let run = Self::begun(prover);
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
        let plan = prover.plan_of(&self.run.stages[i], false)?;
        let statement = self.statement(prover, i);
        match &self.run.finished[i].1 {
            Some(proof) if wesolowski::verify(System::Segmented, &statement, proof).is_ok() => {
                Ok(Job::Done(proof.clone()))
            }
            _ => {
                let tape = self.kept_tape(prover, i, &plan)?;
                Ok(Job::new(plan, tape, statement, &prover.options, &self.stop))
            }
        }
    }

    /// What is claimed of a finished segment.
    fn statement(&self, prover: &Prover, i: usize) -> Statement {
        let y = self.run.finished[i].0.residue();
        prover.statement_of(self.start(i), self.run.stages[i].iterations, y)
    }

    /// All values of a finished segment, from its file.
    fn kept_tape(&self, prover: &Prover, i: usize, plan: &Plan) -> Result<Tape, Error> {
        let mut tape = plan.tape(&prover.modulus);
        if let Some(path) = self.kept {
            let (name, x) = (kept::tape_path(path, i), self.start(i));
            TapeFile::open(&name, &prover.modulus, &x, &self.run.stages[i], &mut tape)?;
        }
        if tape.room() > 0 {
            return Err(Error::CheckpointDamaged("values of a finished segment are missing"));
        }
        Ok(tape)
    }

    /// Squarings of the segments before one.
    fn before(&self, i: usize) -> u64 {
        self.run.stages[..i].iter().map(|stage| stage.iterations).sum()
    }

    /// The input of a segment: each begins at the representative of the one before, whose squares are
    /// the same.
    pub(super) fn start(&self, i: usize) -> Residue {
        self.run.start(i)
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
            let before = self.before(i);
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
        let before = self.before(i);
        let whole = self.run.iterations;
        loop {
            if let Some(y) = evaluation.result() {
                // Nobody should wait for that before the last proof, which is saved when it is stopped.
                if i + 1 < self.run.stages.len() {
                    self.save(evaluation, file)?;
                }
                return Ok(y);
            }
            let progress = evaluation.advance(eval::CHECK_EVERY)?;
            let next = watch(progress.of_part(before, whole));
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
            let (job, proof) = job.poll();
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
        self.jobs.push(Job::new(plan, tape, statement, options, &self.stop));
        Ok(())
    }

    /// Prepares that a segment whose proof came out wrong is squared again: first from what is on disk, then
    /// without that.
    pub(super) fn begin_again(&self, i: usize, times: u32) -> Result<(), Error> {
        if times >= MAX_WRONG {
            return Err(Error::Faulty(times));
        }
        match self.kept {
            Some(path) if times > 1 => kept::remove_segment(path, i),
            _ => Ok(()),
        }
    }

    /// Tells that the proof of a segment came out wrong, and from where in it that is squared again.
    pub(super) fn report_fault(
        &self,
        i: usize,
        back_to: u64,
        watch: &mut dyn FnMut(Progress) -> Next,
    ) -> Result<(), Error> {
        let before = self.before(i);
        let (done, iterations) = (before + back_to, self.run.iterations);
        let found_at = before + self.run.stages[i].iterations;
        let fault = Some(Fault { found_at, back_to: done });
        match watch(Progress { done, iterations, proving: false, fault, trouble: None }) {
            Next::Stop => Err(Error::Cancelled),
            Next::GoOn | Next::Save => Ok(()),
        }
    }

    /// The proof of a finished segment that came out wrong: from its values on disk, else squared again.
    fn proved_again(
        &self,
        prover: &Prover,
        i: usize,
        watch: &mut dyn FnMut(Progress) -> Next,
    ) -> Result<Element, Error> {
        let plan = prover.plan_of(&self.run.stages[i], true)?;
        let mut statement = self.statement(prover, i);
        // The error may lie in the modulus's tables, where it would stay.
        statement.modulus = statement.modulus.rebuilt();
        for times in 1..=MAX_WRONG {
            let kept = self.kept.filter(|_| times == 1);
            let mut tape = match kept.map(|_| self.kept_tape(prover, i, &plan)) {
                Some(Ok(tape)) => {
                    self.report_fault(i, statement.iterations, watch)?;
                    tape
                }
                _ => self.recorded_again(&plan, &statement, i, watch)?,
            };
            let now = Progress::proving(self.run.iterations);
            let go_on = &mut || watch(now) != Next::Stop;
            let company = Watch { on_thread: prover.options.on_thread, go_on };
            match plan.prove(&mut tape, System::Segmented, &statement, company) {
                Ok(mut proof) => return Ok(proof.swap_remove(0)),
                Err(Unproved::Stopped) => return Err(Error::Cancelled),
                Err(Unproved::Wrong) => {}
            }
        }
        Err(Error::Faulty(MAX_WRONG))
    }

    /// The values of a finished segment, by squaring it again.
    fn recorded_again(
        &self,
        plan: &Plan,
        statement: &Statement,
        i: usize,
        watch: &mut dyn FnMut(Progress) -> Next,
    ) -> Result<Tape, Error> {
        let Statement { modulus, x, iterations, y } = statement;
        let before = self.before(i);
        let mut evaluation = Evaluation::new(modulus, x, *iterations)?;
        evaluation.record(plan.tape(modulus));
        self.report_fault(i, 0, watch)?;
        while evaluation.result().is_none() {
            let progress = evaluation.advance(eval::CHECK_EVERY)?;
            if watch(progress.of_part(before, self.run.iterations)) == Next::Stop {
                return Err(Error::Cancelled);
            }
        }
        let again = evaluation.result().expect("the evaluation is done");
        if again.element(modulus) != *y {
            return Err(Error::CheckpointDamaged("the value at the end of a segment is wrong"));
        }
        Ok(evaluation.take_tape().expect("the tape was put in before"))
    }

    /// The whole proof.
    pub(super) fn finish(
        &mut self,
        prover: &Prover,
        y: &Residue,
        last: Vec<Element>,
        watch: &mut dyn FnMut(Progress) -> Next,
    ) -> Result<Proof, Error> {
        let statement = prover.statement_of(self.run.x.clone(), self.run.iterations, y);
        let body = match (prover.system, &last[..]) {
            (System::Pietrzak, _) => Body::Pietrzak(last),
            (System::Wesolowski, [proof]) => Body::Wesolowski(proof.clone()),
            (_, [proof]) => {
                let mut segments = Vec::new();
                for (i, job) in std::mem::take(&mut self.jobs).into_iter().enumerate() {
                    let proof = match job.proof() {
                        Ok(proof) => proof,
                        Err(Unproved::Stopped) => return Err(Error::Cancelled),
                        Err(Unproved::Wrong) => self.proved_again(prover, i, watch)?,
                    };
                    let known = &mut self.run.finished[i];
                    known.1 = Some(proof.clone());
                    let iterations = self.run.stages[i].iterations;
                    segments.push(Segment { iterations, y: known.0.clone(), proof });
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
