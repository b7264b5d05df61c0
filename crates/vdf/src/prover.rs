//! Evaluation and proof in one run.

mod course;
mod job;

use crate::checkpoint::kept::{self, Stage};
use crate::eval::{self, Progress};
use crate::tape::Tape;
use crate::transcript::{Statement, System};
use crate::wesolowski::{Unproved, Watch};
use crate::{Checkpoint, Element, Error, Modulus, Proof, Residue, pietrzak, wesolowski};
use course::Course;
use std::ops::ControlFlow;
use std::path::Path;

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
    /// The segment of which a recorded value will be spoiled, for tests.
    spoiled: Option<usize>,
    /// What the last run recorded: to give that much memory back takes time, for which no proof shall wait.
    spent: Option<Tape>,
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

    /// The elements of the proof, which was checked: of Wesolowski's, one.
    fn prove(
        &self,
        tape: &mut Tape,
        system: System,
        statement: &Statement,
        mut watch: Watch<'_>,
    ) -> Result<Vec<Element>, Unproved> {
        match self {
            Plan::Wesolowski(plan) => {
                Ok(vec![wesolowski::prove(plan, tape, system, statement, &mut watch)?])
            }
            Plan::Pietrzak(plan) => {
                let proof = pietrzak::prove(plan, tape, statement, watch.go_on);
                let proof = proof.ok_or(Unproved::Stopped)?;
                pietrzak::verify(statement, &proof).map_err(|_| Unproved::Wrong)?;
                Ok(proof)
            }
        }
    }
}

impl Prover {
    /// Prepares a run. Of no squarings at all, n-Wesolowski makes a plain Wesolowski proof.
    ///
    /// # Errors
    /// As [`Modulus::check_provable`]; [`Error::ForeignResidue`] where x is no number modulo N;
    /// [`Error::NotUnit`] where it has a factor in common with N; [`Error::TooManySquarings`] above 2^63.
    pub fn new(
        system: System,
        modulus: &Modulus,
        x: &Residue,
        iterations: u64,
        options: Options,
    ) -> Result<Self, Error> {
        modulus.check_provable()?;
        modulus.check_residue(x, "x")?;
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
        let (modulus, x) = (modulus.clone(), x.clone());
        Ok(Self { system, modulus, x, iterations, options, spoiled: None, spent: None })
    }

    /// Flips a bit of a value that the next run records in a segment, as failing memory would, for tests.
    #[doc(hidden)]
    pub fn inject_fault(&mut self, segment: usize) {
        self.spoiled = Some(segment);
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
        self.spent = None;
        let mut course = Course::new(self, kept)?;
        let last = course.run.stages.len() - 1;
        let mut wrong = 0;
        loop {
            let i = course.run.finished.len();
            let (stage, x) = (course.run.stages[i], course.start(i));
            let plan = self.plan_of(&stage, i == last)?;
            let (mut evaluation, mut file, damaged) = course.evaluation(i, &x, &plan)?;
            let damaged = std::mem::take(&mut course.damaged) || damaged && wrong == 0;
            if wrong > 0 {
                course.report_fault(i, evaluation.done(), watch)?;
            } else {
                course.report_start(i, &evaluation, damaged, watch);
            }
            let y = course.square(i, &mut evaluation, &mut file, watch)?;
            let mut tape = evaluation.take_tape().expect("the tape was put in before");
            if self.spoiled.take_if(|spoiled| *spoiled == i).is_some() {
                tape.spoil();
            }
            let statement = self.statement_of(x, stage.iterations, &y);
            if i < last {
                course.end_stage(plan, tape, statement, &self.options)?;
                continue;
            }
            let now = Progress::proving(self.iterations);
            let go_on = &mut || watch(now) != Next::Stop;
            let company = Watch { on_thread: self.options.on_thread, go_on };
            let finished = match plan.prove(&mut tape, self.system, &statement, company) {
                Ok(proof) => course.finish(self, &y, proof, watch),
                Err(Unproved::Stopped) => Err(Error::Cancelled),
                Err(Unproved::Wrong) => {
                    wrong += 1;
                    course.begin_again(i, wrong)?;
                    // The error may lie in the modulus's tables, where it would stay.
                    self.modulus = self.modulus.rebuilt();
                    course.run.modulus = self.modulus.clone();
                    continue;
                }
            };
            if let Err(Error::Cancelled) = finished {
                evaluation.record(tape);
                course.save(&mut evaluation, &mut file)?;
            } else {
                self.spent = Some(tape);
            }
            return Ok((y, finished?));
        }
    }

    /// How many squarings the state at `kept` holds; 0 where there is none, or it is of another run or damaged.
    #[must_use]
    pub fn kept(&self, kept: &Path) -> u64 {
        let Ok(Some((run, _))) = Course::begun(self).load(kept) else { return 0 };
        let finished = run.finished.len();
        let before: u64 = run.stages[..finished].iter().map(|stage| stage.iterations).sum();
        let (stage, x) = (run.stages[finished], run.start(finished));
        let ours = |checkpoint: &Checkpoint| {
            Ok(checkpoint.expect(&self.modulus, &x, stage.iterations).is_ok())
        };
        let checkpoint = Checkpoint::load_where(kept, ours).ok().and_then(|(found, _)| found);
        before + checkpoint.map_or(0, |checkpoint| checkpoint.done())
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
                System::Wesolowski => Plan::Wesolowski(wesolowski::Plan::quickest(
                    &self.modulus,
                    iterations,
                    memory,
                    threads,
                )),
                // The tape of one segment may still be in use while the next is recorded. Memory that is
                // touched between two segments would delay the squarings more than it helps the proofs.
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
            return Err(Error::CheckpointMemory);
        }
        Ok(match self.system {
            System::Pietrzak => {
                Plan::Pietrzak(pietrzak::Plan::with_depth(iterations, parameters[0] as usize))
            }
            _ => Plan::Wesolowski(wesolowski::Plan::with_parameters(
                parameters,
                iterations,
                self.provers(last),
                self.options.memory,
            )?),
        })
    }

    fn statement_of(&self, x: Residue, iterations: u64, y: &Residue) -> Statement {
        let modulus = self.modulus.clone();
        Statement { y: y.element(&modulus), modulus, x, iterations }
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

    /// An error in the tables of the modulus stays until they are computed again.
    #[test]
    fn wrong_tables_cost_no_proof() {
        let right = Modulus::rsa2048();
        let x = right.hash_to_element(3000, b"tables");
        for system in [System::Wesolowski, System::Segmented, System::Pietrzak] {
            let options = Options { segments: 2, ..Options::default() };
            let mut prover = Prover::new(system, &right, &x, 3000, options).unwrap();
            prover.modulus = right.with_wrong_tables();
            let mut faults = 0;
            let (y, proof) = prover
                .run(&mut |progress| {
                    faults += usize::from(progress.fault.is_some());
                    ControlFlow::Continue(())
                })
                .unwrap();
            assert!(faults > 0, "{system:?}");
            let expected = eval::eval(&right, &x, 3000, &mut |_| ControlFlow::Continue(()));
            assert_eq!(y, expected.unwrap(), "{system:?}");
            Proof::from_bytes(&proof.to_bytes()).unwrap().verify().unwrap();
        }
    }

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
