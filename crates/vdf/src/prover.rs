//! Evaluation and proof in one run.

use crate::eval::{self, Evaluation, Progress};
use crate::proof::{Body, Segment};
use crate::tape::Tape;
use crate::transcript::{Statement, System};
use crate::{Element, Error, Modulus, Proof, Residue, pietrzak, wesolowski};
use std::ops::ControlFlow;
use std::thread::JoinHandle;

/// What a prover may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes for the values recorded while squaring, and for tables.
    pub memory: u64,
    /// Threads that compute the proof. For n-Wesolowski, two or more mean that each segment is proved
    /// while the next one is squared.
    pub threads: usize,
    /// Segments of an n-Wesolowski proof, 1 to [`Proof::MAX_SEGMENTS`]; other systems have none.
    pub segments: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { memory: 256 << 20, threads: 1, segments: 4 }
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

/// What the squaring loop hands to the computation of a proof.
enum Plan {
    Wesolowski(wesolowski::Plan),
    Pietrzak(pietrzak::Plan),
}

impl Prover {
    /// Prepares a run.
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
        Ok(Self { system, modulus: modulus.clone(), x: x.clone(), iterations, options })
    }

    /// Squares T times and proves; `watch` is called every [`eval::CHECK_EVERY`] squarings and may stop
    /// the run.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `watch` breaks; [`Error::Faulty`] where the machine keeps failing.
    pub fn run(
        &mut self,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Residue, Proof), Error> {
        if self.system == System::Segmented && self.iterations > 0 {
            return self.run_segments(watch);
        }
        let plan = self.plan();
        let tape = match &plan {
            Plan::Wesolowski(plan) => plan.tape(&self.modulus),
            Plan::Pietrzak(plan) => plan.tape(&self.modulus),
        };
        let mut evaluation = Evaluation::new(&self.modulus, &self.x, self.iterations)?;
        evaluation.record(tape);
        let y = eval::run(&mut evaluation, watch)?;
        let tape = evaluation.take_tape().expect("the tape was put in above");
        let statement = self.statement(&y);
        let body = match &plan {
            Plan::Wesolowski(plan) => {
                Body::Wesolowski(wesolowski::prove(plan, &tape, System::Wesolowski, &statement))
            }
            Plan::Pietrzak(plan) => Body::Pietrzak(pietrzak::prove(plan, &tape, &statement)),
        };
        Ok((y, Proof { statement, body }))
    }

    fn plan(&self) -> Plan {
        let Options { memory, threads, .. } = self.options;
        match self.system {
            System::Pietrzak => {
                Plan::Pietrzak(pietrzak::Plan::new(&self.modulus, self.iterations, memory))
            }
            _ => Plan::Wesolowski(wesolowski::Plan::new(
                &self.modulus,
                self.iterations,
                memory,
                threads,
            )),
        }
    }

    fn statement(&self, y: &Residue) -> Statement {
        Statement {
            modulus: self.modulus.clone(),
            x: self.x.clone(),
            iterations: self.iterations,
            y: y.element(&self.modulus),
        }
    }

    /// Each segment begins at the representative of the one before: its squares are the same.
    fn run_segments(
        &mut self,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Residue, Proof), Error> {
        let lengths = segment_lengths(self.iterations, self.options.segments);
        let helpers = self.options.threads.saturating_sub(1);
        let mut jobs = Vec::new();
        let (mut x, mut before) = (self.x.clone(), 0);
        let mut y = x.clone();
        for (i, &iterations) in lengths.iter().enumerate() {
            let last = i + 1 == lengths.len();
            let threads = if last { self.options.threads } else { helpers };
            // The tape of one segment may still be in use while the next is recorded.
            let memory = self.options.memory / 2;
            let plan = wesolowski::Plan::new(&self.modulus, iterations, memory, threads);
            let mut evaluation = Evaluation::new(&self.modulus, &x, iterations)?;
            evaluation.record(plan.tape(&self.modulus));
            let whole = self.iterations;
            y = eval::run(&mut evaluation, &mut |progress| {
                let fault = progress.fault.map(|fault| eval::Fault {
                    found_at: before + fault.found_at,
                    back_to: before + fault.back_to,
                });
                watch(Progress { done: before + progress.done, iterations: whole, fault })
            })?;
            let statement = Statement {
                modulus: self.modulus.clone(),
                x,
                iterations,
                y: y.element(&self.modulus),
            };
            let tape = evaluation.take_tape().expect("the tape was put in above");
            x = statement.y.residue().clone();
            before += iterations;
            jobs.push(Job::new(plan, tape, statement, helpers > 0 && !last));
        }
        let segments = jobs.into_iter().map(Job::finish).collect();
        Ok((y.clone(), Proof { statement: self.statement(&y), body: Body::Segmented(segments) }))
    }
}

/// The computation of one segment's proof, on another thread or put off.
enum Job {
    Running(Statement, JoinHandle<Element>),
    Done(Statement, Element),
}

impl Job {
    fn new(plan: wesolowski::Plan, tape: Tape, statement: Statement, apart: bool) -> Self {
        if apart {
            let about = statement.clone();
            let work = move || wesolowski::prove(&plan, &tape, System::Segmented, &about);
            Job::Running(statement, std::thread::spawn(work))
        } else {
            let proof = wesolowski::prove(&plan, &tape, System::Segmented, &statement);
            Job::Done(statement, proof)
        }
    }

    fn finish(self) -> Segment {
        let (statement, proof) = match self {
            Job::Running(statement, thread) => {
                (statement, thread.join().expect("a prover's thread does not panic"))
            }
            Job::Done(statement, proof) => (statement, proof),
        };
        Segment { iterations: statement.iterations, y: statement.y, proof }
    }
}

/// Splits T so that each segment is half of what is left, and the last two are equal: the proof that
/// is computed after the last squaring is then of a short stretch.
fn segment_lengths(iterations: u64, segments: usize) -> Vec<u64> {
    let mut lengths = Vec::new();
    let mut left = iterations;
    for _ in 1..segments.clamp(1, Proof::MAX_SEGMENTS) {
        if left < 2 {
            break;
        }
        lengths.push(left / 2);
        left -= left / 2;
    }
    lengths.push(left);
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_add_up() {
        assert_eq!(segment_lengths(1000, 4), [500, 250, 125, 125]);
        assert_eq!(segment_lengths(7, 64), [3, 2, 1, 1]);
        assert_eq!(segment_lengths(1, 4), [1]);
        for t in 1..200 {
            assert_eq!(segment_lengths(t, 5).iter().sum::<u64>(), t);
            assert!(!segment_lengths(t, 5).contains(&0));
        }
    }
}
