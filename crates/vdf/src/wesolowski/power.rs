//! x^⌊2^T/ℓ⌋ from the recorded values.
//!
//! With windows, it is one product of powers. With blocks, for each j the C_m are raised to their digits and
//! multiplied. Threads share the work by digits: each takes those of a range, of all j, and combines its
//! products from the highest j down.

use super::Watch;
use super::digits::Digits;
use super::plan::Plan;

use super::windows::{self, Quotient};
use crate::tape::Tape;
use std::ops::Range;
use tetralith_kernels::mont::{Exponents, FastRing, Schedule, Term};

/// x^⌊2^T/ℓ⌋ for any odd ℓ of 256 bits, a number below the modulus of `ring`, which is that of the plan's tapes;
/// none where it was stopped.
pub(super) fn power(
    plan: &Plan,
    tape: &mut Tape,
    ring: &FastRing,
    prime: &[u64; 4],
    watch: &mut Watch<'_>,
) -> Option<Vec<u64>> {
    let Space { mut bytes, terms: mut filled, mut workers } = tape.take_space();
    if workers.is_empty() {
        workers = self::workers(plan, ring, Schedule::new);
    }
    if plan.slides() {
        if !(watch.go_on)() {
            return None;
        }
        let quotient = Quotient::new(plan.iterations, prime);
        windows::fill(&quotient, (plan.iterations, plan.bits), &mut bytes, &mut filled);
        run_all(&mut workers, plan, tape, &[&filled], watch.on_thread);
    } else {
        run_blocks(&mut workers, plan, tape, prime, filled, watch)?;
    }
    let mut out: Option<Vec<u64>> = None;
    for worker in &mut workers {
        out = match (out, worker.out.take()) {
            (Some(mut out), Some(other)) => {
                worker.ring.mul_assign(&mut out, &other);
                Some(out)
            }
            (out, other) => out.or(other),
        };
    }
    Some(ring.leave(&out.unwrap_or_else(|| ring.one())))
}

/// Takes in the blocks of all j, in groups from the highest down.
fn run_blocks(
    workers: &mut [Worker],
    plan: &Plan,
    tape: &Tape,
    prime: &[u64; 4],
    mut filled: Vec<Term>,
    watch: &mut Watch<'_>,
) -> Option<()> {
    let digits = Digits::new(*plan, prime);
    // A block above the top bit of 2^T is empty, and so are those j beyond the last block.
    let count = plan.stride.min(plan.blocks());
    let (group, len) = (plan.group(), plan.used_values());
    for first in (0..count.div_ceil(group)).rev().map(|i| i * group) {
        if !(watch.go_on)() {
            return None;
        }
        digits.fill(first, &mut filled);
        let lists: Vec<&[Term]> = filled.chunks_exact(len).collect();
        let lists = &lists[..lists.len().min((count - first) as usize)];
        run_all(workers, plan, tape, lists, watch.on_thread);
    }
    Some(())
}

/// Has each worker take in lists of terms, on a thread of its own.
fn run_all(workers: &mut [Worker], plan: &Plan, tape: &Tape, lists: &[&[Term]], on_thread: fn()) {
    let [mine, others @ ..] = workers else { unreachable!("a plan has a thread") };
    std::thread::scope(|scope| {
        for worker in others {
            scope.spawn(|| {
                on_thread();
                worker.run(plan, tape, lists);
            });
        }
        mine.run(plan, tape, lists);
    });
}

/// The memory of a computation: asked for, and touched, before the last squaring, after which there is no
/// time for that.
#[derive(Default)]
pub(crate) struct Space {
    /// Of the quotient.
    bytes: Vec<u8>,
    terms: Vec<Term>,
    /// One for each thread.
    workers: Vec<Worker>,
}

impl Space {
    /// What a plan needs, in the ring of its tapes.
    pub(super) fn new(plan: &Plan, ring: &FastRing) -> Self {
        let threads = parts(plan) as usize;
        let mut bytes = vec![1; if plan.slides() { windows::bytes(plan.iterations) } else { 0 }];
        let mut terms = vec![Term { value: 1, digit: 1 }; plan.terms() as usize];
        bytes.clear();
        terms.clear();
        let digits = plan.digits().len().div_ceil(threads);
        let room = || Schedule::with_room((plan.scheduled() as usize).div_ceil(threads), digits);
        Self { bytes, terms, workers: workers(plan, ring, room) }
    }
}

/// So many multiplications, 0.3 ms of them modulo 2048 bits, are worth a thread: it may take as long to start.
const WORTH_THREAD: u64 = 4000;

/// Parts of the digits, one for each thread that is worth it.
fn parts(plan: &Plan) -> u32 {
    let worth = (plan.multiplications() / WORTH_THREAD).clamp(1, plan.threads as u64);
    u32::try_from(worth).unwrap_or(u32::MAX).min(plan.digits().end - plan.digits().start)
}

/// One for each part.
fn workers(plan: &Plan, ring: &FastRing, schedule: impl Fn() -> Schedule) -> Vec<Worker> {
    let (digits, parts) = (plan.digits(), parts(plan));
    let most = u64::from(digits.end - digits.start);
    let end = |i: u32| digits.start + (most * u64::from(i) / u64::from(parts)) as u32;
    let worker = |i| Worker {
        ring: ring.clone(),
        range: end(i)..end(i + 1),
        schedule: schedule(),
        out: None,
    };
    (0..parts).map(worker).collect()
}

/// The schedule of a range of digits.
struct Worker {
    ring: FastRing,
    range: Range<u32>,
    schedule: Schedule,
    /// The result for all j so far.
    out: Option<Vec<u64>>,
}

impl Worker {
    /// Takes in the terms of some j, given by rising j, or of all windows.
    fn run(&mut self, plan: &Plan, tape: &Tape, lists: &[&[Term]]) {
        let Self { ring, range, schedule, out } = self;
        let exponents = if plan.slides() { Exponents::Odd } else { Exponents::Digits };
        for terms in lists.iter().rev() {
            let terms = (*terms, exponents);
            let product =
                ring.product_of_powers_vartime(tape.values(), terms, range.clone(), schedule);
            match out {
                Some(out) => {
                    ring.square_assign(out, u64::from(plan.bits));
                    ring.mul_assign(out, &product);
                }
                None => *out = Some(product),
            }
        }
    }
}
