//! x^⌊2^T/ℓ⌋ from the recorded values.
//!
//! With windows, it is one product of powers. With blocks, for each j the C_m are raised to their digits and
//! multiplied, from the highest j down. Threads share each of these products by digits: each lays out the steps
//! for those of a range, in groups, and works them off; then it takes groups that are left of others, as cores
//! are seldom equally quick.

use super::Watch;
use super::digits::Digits;
use super::plan::Plan;
use super::windows::{self, Quotient};
use crate::tape::Tape;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
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
        workers = self::workers(plan, ring, Default::default);
    }
    let out = if plan.slides() {
        if !(watch.go_on)() {
            return None;
        }
        let quotient = Quotient::new(plan.iterations, prime);
        windows::fill(&quotient, (plan.iterations, plan.bits), &mut bytes, &mut filled);
        product(&mut workers, tape, (&filled, Exponents::Odd), watch.on_thread)
    } else {
        of_blocks(&mut workers, plan, tape, prime, filled, watch)?
    };
    Some(ring.leave(&out))
}

/// Takes in the blocks of all j, in groups from the highest down.
fn of_blocks(
    workers: &mut [Worker],
    plan: &Plan,
    tape: &Tape,
    prime: &[u64; 4],
    mut filled: Vec<Term>,
    watch: &mut Watch<'_>,
) -> Option<Vec<u64>> {
    let digits = Digits::new(*plan, prime);
    let mut out: Option<Vec<u64>> = None;
    // A block above the top bit of 2^T is empty, and so are those j beyond the last block.
    let count = plan.stride.min(plan.blocks());
    let (group, len) = (plan.group(), plan.used_values());
    for first in (0..count.div_ceil(group)).rev().map(|i| i * group) {
        if !(watch.go_on)() {
            return None;
        }
        digits.fill(first, &mut filled);
        let lists = filled.chunks_exact(len).take((count - first) as usize);
        for terms in lists.rev() {
            let product = product(workers, tape, (terms, Exponents::Digits), watch.on_thread);
            out = Some(match out {
                Some(mut out) => {
                    let ring = &mut workers[0].ring;
                    ring.square_assign(&mut out, u64::from(plan.bits));
                    ring.mul_assign(&mut out, &product);
                    out
                }
                None => product,
            });
        }
    }
    Some(out.unwrap_or_else(|| workers[0].ring.one()))
}

/// Groups that a thread cuts its part into, so that others may take some.
const GROUPS: usize = 6;

/// The part of a thread: its steps once they are laid out, the next group of these, and what it made in the end.
#[derive(Default)]
struct Part {
    schedule: OnceLock<Schedule>,
    next: AtomicUsize,
    out: OnceLock<Vec<u64>>,
}

/// The product of the powers of these terms, each worker on a thread of its own.
fn product(
    workers: &mut [Worker],
    tape: &Tape,
    terms: (&[Term], Exponents),
    on_thread: fn(),
) -> Vec<u64> {
    let [mine, others @ ..] = workers else { unreachable!("a plan has a thread") };
    if others.is_empty() {
        let Worker { ring, range, schedule, .. } = mine;
        return ring.product_of_powers_vartime(tape.values(), terms, range.clone(), schedule);
    }
    let parts: Vec<Part> = (0..=others.len()).map(|_| Part::default()).collect();
    std::thread::scope(|scope| {
        for (i, worker) in others.iter_mut().enumerate() {
            let parts = &parts[..];
            scope.spawn(move || {
                on_thread();
                worker.run(tape, terms, (parts, i + 1));
            });
        }
        mine.run(tape, terms, (&parts, 0));
        // All are waited for, but not joined: until a thread is gone takes as long as until it began.
    });
    // Their space is for the next product.
    let mut out = workers[0].ring.one();
    for (i, part) in parts.into_iter().enumerate() {
        workers[i].schedule = part.schedule.into_inner().unwrap_or_default();
        let more = part.out.into_inner().expect("each worker has made something");
        workers[0].ring.mul_assign(&mut out, &more);
    }
    out
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
        let mut bytes = vec![1; if plan.slides() { windows::bytes(plan.iterations) } else { 0 }];
        let mut terms = vec![Term { value: 1, digit: 1 }; plan.terms() as usize];
        bytes.clear();
        terms.clear();
        let parts = parts(plan) as usize;
        let each = (plan.scheduled() as usize).div_ceil(parts);
        let digits = plan.digits().len().div_ceil(parts);
        let room = || {
            let copies = if parts > 1 { each + ROOM } else { 0 };
            let terms = vec![Term { value: 1, digit: 1 }; copies];
            (Schedule::with_room(each, digits), terms)
        };
        Self { bytes, terms, workers: workers(plan, ring, room) }
    }
}

/// Terms that a part may have above the mean, as a rule.
const ROOM: usize = 512;

/// So many multiplications, 0.3 ms of them modulo 2048 bits, are worth a thread: it may take as long to start.
const WORTH_THREAD: u64 = 4000;

/// Parts of the digits, one for each thread that is worth it.
fn parts(plan: &Plan) -> u32 {
    // They share the work of one j.
    let multiplications = plan.multiplications() / plan.stride.max(1);
    let worth = (multiplications / WORTH_THREAD).clamp(1, plan.threads as u64);
    u32::try_from(worth).unwrap_or(u32::MAX).min(plan.digits().end - plan.digits().start)
}

/// One for each part.
fn workers(plan: &Plan, ring: &FastRing, room: impl Fn() -> (Schedule, Vec<Term>)) -> Vec<Worker> {
    let (digits, parts) = (plan.digits(), parts(plan));
    let most = u64::from(digits.end - digits.start);
    let end = |i: u32| digits.start + (most * u64::from(i) / u64::from(parts)) as u32;
    let worker = |i| {
        let (schedule, terms) = room();
        Worker { ring: ring.clone(), range: end(i)..end(i + 1), terms, schedule }
    };
    (0..parts).map(worker).collect()
}

/// The schedule of a range of digits.
struct Worker {
    ring: FastRing,
    range: Range<u32>,
    /// Space for the terms with these digits, where there are others.
    terms: Vec<Term>,
    schedule: Schedule,
}

impl Worker {
    /// Lays out the part of that index, and multiplies the groups of it and of others that are left.
    fn run(&mut self, tape: &Tape, terms: (&[Term], Exponents), (parts, me): (&[Part], usize)) {
        let mut schedule = std::mem::take(&mut self.schedule);
        let taken = self.take_terms(terms.0);
        let own = (&self.terms[..taken], terms.1);
        schedule.lay_out(own, &self.range, tape.values().len(), GROUPS);
        parts[me].schedule.get_or_init(|| schedule);
        let mut out = self.ring.one();
        let (before, from_mine) = parts.split_at(me);
        for Part { schedule, next, .. } in from_mine.iter().chain(before) {
            // Who has not laid out anything yet will do it all.
            let Some(schedule) = schedule.get() else { continue };
            loop {
                let group = next.fetch_add(1, Ordering::Relaxed);
                if group >= schedule.groups() {
                    break;
                }
                let product = self.ring.product_of_group_vartime(tape.values(), schedule, group);
                self.ring.mul_assign(&mut out, &product);
            }
        }
        parts[me].out.get_or_init(|| out);
    }

    /// Copies the terms with digits of the range, without jumps, for nothing foretells which these are; returns
    /// their number.
    fn take_terms(&mut self, terms: &[Term]) -> usize {
        let (own, mut taken) = (&mut self.terms, 0);
        for term in terms {
            if taken == own.len() {
                own.resize(taken + taken / 8 + ROOM, Term::default());
            }
            own[taken] = *term;
            taken += usize::from(self.range.contains(&term.digit));
        }
        taken
    }
}
