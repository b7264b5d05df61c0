//! Evaluation of y = x^(2^T) mod N: slow on purpose, watched, and resumable.
//!
//! The chain runs modulo N·c, where c is a small prime. What it holds must at any time be
//! x^(2^done) mod c, which is known in no time since 2^done can be reduced mod c − 1: Shamir's check.
//! An error of the machine passes it with a probability of 2/c, about 2^-21. The check is made every
//! [`CHECK_EVERY`] squarings and before anything is handed out; after a failure the chain goes back
//! to the last value that passed.

use crate::checkpoint::Checkpoint;
use crate::error::Count;
use crate::modulus::pow_small;
use crate::tape::Tape;
use crate::{Error, Modulus, Residue, nat};
use std::ops::ControlFlow;
use tetralith_kernels::mont::Squarer;

/// The prime c of Shamir's check: the largest below 2^22 for which (c − 1)/2 is a prime too, so that
/// squaring loses nothing but the sign and a wrong value stays wrong.
pub(crate) const CHECK_PRIME: u64 = 4_194_287;

/// The most squarings between two checks, and so between two calls that tell the progress. WebAssembly
/// squares several times slower, and a page has to be told more often than every three seconds.
pub const CHECK_EVERY: u64 = if cfg!(target_family = "wasm") { 1 << 14 } else { 1 << 18 };

/// The most squarings of an evaluation.
pub const MAX_ITERATIONS: u64 = 1 << 63;

/// An error of the machine: a value that the check found wrong, or a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of squarings after which it was found.
    pub found_at: u64,
    /// The number of squarings at which the chain goes on, from a value that is right.
    pub back_to: u64,
}

impl core::fmt::Display for Fault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Fault { found_at, back_to } = *self;
        let saved = if back_to < found_at { "" } else { " the saved" };
        let (found, back) = (Count(found_at).squarings(), Count(back_to).squarings());
        write!(f, "the machine made an error, found after {found}; resuming from{saved} {back}")
    }
}

/// Where an evaluation stands after a stretch of squarings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Squarings done.
    pub done: u64,
    /// Squarings of the whole evaluation.
    pub iterations: u64,
    /// Whether these are done and the proof is being computed.
    pub proving: bool,
    /// A fault that the check found in this stretch.
    pub fault: Option<Fault>,
    /// What happened to the files of a run that is kept, told once.
    pub trouble: Option<Trouble>,
}

impl Progress {
    /// All is squared, and the proof is being computed.
    pub(crate) fn proving(iterations: u64) -> Self {
        Self { done: iterations, iterations, proving: true, fault: None, trouble: None }
    }

    /// The progress of a part of `iterations` squarings, which begins after `before`.
    pub(crate) fn of_part(self, before: u64, iterations: u64) -> Self {
        let fault = self.fault.map(|Fault { found_at, back_to }| Fault {
            found_at: found_at + before,
            back_to: back_to + before,
        });
        Self { done: self.done + before, iterations, fault, ..self }
    }
}

/// What may happen to the files of a run, and does not end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Some are damaged: the run goes on from the rest.
    Damaged,
}

/// An evaluation under way.
pub struct Evaluation {
    modulus: Modulus,
    x: Residue,
    iterations: u64,
    squarer: Squarer,
    done: u64,
    /// The last value, mod N·c, that passed the check, and its number of squarings.
    good: (u64, Vec<u64>),
    faults_in_a_row: u32,
    tape: Option<Tape>,
}

impl Evaluation {
    /// Starts at x.
    ///
    /// # Errors
    /// [`Error::TooManySquarings`] above 2^63; [`Error::ForeignResidue`] where x is no number modulo N.
    pub fn new(modulus: &Modulus, x: &Residue, iterations: u64) -> Result<Self, Error> {
        modulus.check_residue(x, "x")?;
        let mut start = x.limbs().to_vec();
        start.push(0);
        Self::start(modulus, x, iterations, 0, start)
    }

    /// Goes on from a checkpoint, whose value passed the check when it was read.
    ///
    /// # Errors
    /// As [`Evaluation::new`].
    pub fn resume(checkpoint: &Checkpoint) -> Result<Self, Error> {
        let (modulus, x) = (checkpoint.modulus(), checkpoint.x());
        let value = checkpoint.value().to_vec();
        Self::start(modulus, x, checkpoint.iterations(), checkpoint.done(), value)
    }

    /// Goes on from the last value of a prover's tape, which passed the check before it was kept there.
    pub(crate) fn resume_from(
        modulus: &Modulus,
        x: &Residue,
        iterations: u64,
        tape: &Tape,
    ) -> Result<Self, Error> {
        let Some((done, element)) = tape.last() else { return Self::new(modulus, x, iterations) };
        let mut value = modulus.fast().leave(element);
        value.push(0);
        // The one below N·c with that residue which is right modulo c.
        let n = nat::rem_small(modulus.limbs(), CHECK_PRIME);
        let missing = CHECK_PRIME + expected(x, done) - nat::rem_small(&value, CHECK_PRIME);
        let times =
            missing % CHECK_PRIME * pow_small(n, CHECK_PRIME - 2, CHECK_PRIME) % CHECK_PRIME;
        nat::add(&mut value, &nat::mul(modulus.limbs(), &[times]));
        debug_assert!(passes_check(x, done, &value));
        Self::start(modulus, x, iterations, done, value)
    }

    fn start(
        modulus: &Modulus,
        x: &Residue,
        iterations: u64,
        done: u64,
        value: Vec<u64>,
    ) -> Result<Self, Error> {
        if iterations > MAX_ITERATIONS {
            return Err(Error::TooManySquarings(iterations));
        }
        let squarer = Squarer::of(modulus.checked().clone());
        let mut evaluation = Self {
            modulus: modulus.clone(),
            x: x.clone(),
            iterations,
            squarer,
            done,
            good: (done, value),
            faults_in_a_row: 0,
            tape: None,
        };
        evaluation.load_good();
        Ok(evaluation)
    }

    /// Records values on a tape while squaring, for a prover. The tape has all values before this one.
    pub(crate) fn record(&mut self, mut tape: Tape) {
        tape.rewind(self.done);
        debug_assert!(tape.next().is_none_or(|next| next >= self.done));
        self.tape = Some(tape);
        self.record_here();
    }

    /// The tape so far.
    pub(crate) fn tape(&self) -> Option<&Tape> {
        self.tape.as_ref()
    }

    /// The name of the kernel that squares.
    #[must_use]
    pub fn kernel(&self) -> &'static str {
        self.squarer.kernel().name()
    }

    /// Squarings done so far, checked or not.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Squarings of the whole evaluation.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Squares at most `count` times, and checks where it is due and at the end.
    ///
    /// # Errors
    /// [`Error::Faulty`] after [`MAX_FAULTS`] failures of the check at the same place.
    pub fn advance(&mut self, count: u64) -> Result<Progress, Error> {
        let goal = self.iterations.min(self.done.saturating_add(count));
        let mut fault = None;
        while self.done < goal && fault.is_none() {
            if !self.run_recording(goal) {
                let stop = self.next_stop().min(goal);
                self.squarer.square(stop - self.done);
                self.done = stop;
                self.record_here();
            }
            if self.done - self.good.0 >= CHECK_EVERY || self.done == self.iterations {
                fault = self.check()?;
            }
        }
        let (done, iterations) = (self.done, self.iterations);
        Ok(Progress { done, iterations, proving: false, fault, trouble: None })
    }

    /// Where the kernel must be left next.
    fn next_stop(&self) -> u64 {
        let check = self.good.0 + CHECK_EVERY;
        self.tape.as_ref().and_then(Tape::next).map_or(check, |stop| stop.min(check))
    }

    /// Squares as far as whole intervals of the tape go, which the kernel records on its way; says
    /// whether it could.
    fn run_recording(&mut self, goal: u64) -> bool {
        let end = goal.min(self.good.0 + CHECK_EVERY);
        let Some(tape) = &mut self.tape else { return false };
        let Some((interval, left)) = tape.run(self.done) else { return false };
        let count = ((end - self.done) / interval).min(left) * interval;
        if count == 0 || self.squarer.element_of(self.modulus.fast()).is_none() {
            return false;
        }
        self.squarer.square_recording(count, interval, tape.values_mut());
        self.done += count;
        true
    }

    fn record_here(&mut self) {
        if let Some(tape) = self.tape.as_mut().filter(|tape| tape.next() == Some(self.done)) {
            let ring = self.modulus.fast();
            let element = self.squarer.element_of(ring).unwrap_or_else(|| {
                ring.enter(&nat::rem(&self.squarer.value(), self.modulus.limbs()))
            });
            tape.push(&element);
        }
    }

    /// Makes Shamir's check now: a value that passes is kept, one that fails is given up.
    fn check(&mut self) -> Result<Option<Fault>, Error> {
        let value = self.squarer.value();
        if passes_check(&self.x, self.done, &value) {
            self.good = (self.done, value);
            self.faults_in_a_row = 0;
            return Ok(None);
        }
        self.faults_in_a_row += 1;
        if self.faults_in_a_row >= MAX_FAULTS {
            return Err(Error::Faulty(self.faults_in_a_row));
        }
        let fault = Fault { found_at: self.done, back_to: self.good.0 };
        // The error may lie in the kernel's constants, where it would stay: they are computed again from N.
        self.modulus = self.modulus.rebuilt();
        self.squarer = Squarer::of(self.modulus.checked().clone());
        self.load_good();
        Ok(Some(fault))
    }

    /// Takes up the last good value.
    fn load_good(&mut self) {
        self.done = self.good.0;
        let product = nat::mul(self.modulus.limbs(), &[CHECK_PRIME]);
        let mut value = self.good.1.clone();
        value.resize(product.len(), 0);
        let len = nat::bit_len(&product).div_ceil(64) as usize;
        value.truncate(len);
        self.squarer.set(&value);
        if let Some(tape) = &mut self.tape {
            tape.rewind(self.done);
        }
    }

    /// A checkpoint of the present value, or where that fails the check, of the last good one.
    ///
    /// # Errors
    /// [`Error::Faulty`], as for [`Evaluation::advance`].
    pub fn checkpoint(&mut self) -> Result<(Checkpoint, Option<Fault>), Error> {
        let fault = if self.done == self.good.0 { None } else { self.check()? };
        let (done, value) = &self.good;
        let checkpoint =
            Checkpoint::new(&self.modulus, &self.x, self.iterations, *done, value.clone());
        Ok((checkpoint, fault))
    }

    /// The result, once all squarings are done; `None` before.
    #[must_use]
    pub fn result(&self) -> Option<Residue> {
        let (done, value) = &self.good;
        (*done == self.iterations)
            .then(|| self.modulus.residue(nat::rem(value, self.modulus.limbs())))
    }

    /// The tape that was recorded.
    pub(crate) fn take_tape(&mut self) -> Option<Tape> {
        self.tape.take()
    }

    /// Spoils the constants of the kernel, as failing memory would: it squares modulo another number from
    /// now on. For tests of the check.
    #[doc(hidden)]
    pub fn inject_kernel_fault(&mut self) {
        let value = self.squarer.value();
        let mut product = nat::mul(self.modulus.limbs(), &[CHECK_PRIME]);
        product[0] ^= 1 << 17;
        self.squarer = Squarer::new(&product).expect("an odd number");
        self.squarer.set(&value);
    }

    /// Flips a bit of the running value, as a failing machine would, for tests of the check.
    #[doc(hidden)]
    pub fn inject_fault(&mut self, bit: u32) {
        let mut value = self.squarer.value();
        let i = (bit / 64) as usize % value.len();
        value[i] ^= 1 << (bit % 64);
        let product = nat::mul(self.modulus.limbs(), &[CHECK_PRIME]);
        let mut flipped = nat::rem(&value, &product[..value.len()]);
        flipped.resize(value.len(), 0);
        self.squarer.set(&flipped);
    }
}

/// Failures of the check at one place after which an evaluation gives up.
pub const MAX_FAULTS: u32 = 8;

/// Shamir's check: is the value mod c what x^(2^done) is mod c?
pub(crate) fn passes_check(x: &Residue, done: u64, value: &[u64]) -> bool {
    nat::rem_small(value, CHECK_PRIME) == expected(x, done)
}

/// x^(2^done) mod c.
fn expected(x: &Residue, done: u64) -> u64 {
    // Where c divides x, every power above the zeroth is 0, and so is the formula's.
    let exponent = pow_small(2, done, CHECK_PRIME - 1);
    // An exponent of 0 mod c − 1 stands for c − 1; 2^done is never 0.
    let exponent = if exponent == 0 { CHECK_PRIME - 1 } else { exponent };
    pow_small(nat::rem_small(x.limbs(), CHECK_PRIME), exponent, CHECK_PRIME)
}

/// Computes x^(2^T) mod N in one go; `watch` is called every [`CHECK_EVERY`] squarings and may stop it.
///
/// # Errors
/// [`Error::Cancelled`] where `watch` breaks; else as [`Evaluation::new`] and [`Evaluation::advance`].
pub fn eval(
    modulus: &Modulus,
    x: &Residue,
    iterations: u64,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Residue, Error> {
    let mut evaluation = Evaluation::new(modulus, x, iterations)?;
    run(&mut evaluation, watch)
}

/// Runs an evaluation to its end.
pub(crate) fn run(
    evaluation: &mut Evaluation,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Residue, Error> {
    loop {
        if let Some(result) = evaluation.result() {
            return Ok(result);
        }
        let progress = evaluation.advance(CHECK_EVERY)?;
        if watch(progress).is_break() {
            return Err(Error::Cancelled);
        }
    }
}
