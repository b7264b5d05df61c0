//! x^⌊2^T/ℓ⌋ from the recorded values.
//!
//! For each j the C_m are raised to their digits and multiplied. Threads share the work by digits: each
//! takes those of a range, of all j, and combines its products from the highest j down.

use super::Watch;
use super::digits::Digits;
use super::plan::Plan;
use crate::tape::Tape;
use std::ops::Range;
use tetralith_kernels::mont::{Exponents, FastRing, Schedule, Term};

/// x^⌊2^T/ℓ⌋ for any odd ℓ of 256 bits, a number below the modulus of `ring`, of which the values on the
/// tape are elements; none where it was stopped.
pub(super) fn power(
    plan: &Plan,
    tape: &mut Tape,
    ring: &FastRing,
    prime: &[u64; 4],
    watch: &mut Watch<'_>,
) -> Option<Vec<u64>> {
    let digits = Digits::new(*plan, prime);
    let Space { digits: mut filled, schedules } = tape.take_space();
    let mut workers = workers(plan, ring, schedules);
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
        let [mine, others @ ..] = &mut workers[..] else { unreachable!("a plan has a thread") };
        let on_thread = watch.on_thread;
        std::thread::scope(|scope| {
            for worker in others {
                scope.spawn(|| {
                    on_thread();
                    worker.run(plan.bits, tape, lists);
                });
            }
            mine.run(plan.bits, tape, lists);
        });
    }
    let [first, others @ ..] = &mut workers[..] else { unreachable!("a plan has a thread") };
    others.iter().for_each(|other| first.ring.mul_assign(&mut first.out, &other.out));
    Some(ring.leave(&first.out))
}

/// The memory of a computation: asked for, and touched, before the last squaring, after which there is no
/// time for that.
#[derive(Default)]
pub(crate) struct Space {
    digits: Vec<Term>,
    /// One for each thread.
    schedules: Vec<Schedule>,
}

impl Space {
    /// What a plan needs.
    pub(super) fn new(plan: &Plan) -> Self {
        let (values, threads) = (plan.used_values(), parts(plan) as usize);
        let mut digits = vec![Term { value: 1, digit: 1 }; values * plan.group() as usize];
        digits.clear();
        let room = || Schedule::with_room(values.div_ceil(threads), (1 << plan.bits) / threads);
        Self { digits, schedules: (0..threads).map(|_| room()).collect() }
    }
}

/// So many multiplications are worth a thread, which takes some ten microseconds to start.
const WORTH_THREAD: u64 = 1000;

/// Parts of the digits 1 to 2^κ − 1, one for each thread that is worth it.
fn parts(plan: &Plan) -> u32 {
    let worth = (plan.multiplications() / WORTH_THREAD).clamp(1, plan.threads as u64);
    u32::try_from(worth).unwrap_or(u32::MAX).min((1 << plan.bits) - 1)
}

/// One for each part.
fn workers(plan: &Plan, ring: &FastRing, schedules: Vec<Schedule>) -> Vec<Worker> {
    let (most, parts) = ((1u64 << plan.bits) - 1, parts(plan));
    let end = |i: u32| 1 + (most * u64::from(i) / u64::from(parts)) as u32;
    let ranges = (0..parts).map(|i| end(i)..end(i + 1));
    let schedules = schedules.into_iter().chain(std::iter::repeat_with(Schedule::new));
    ranges.zip(schedules).map(|(range, schedule)| Worker::new(ring, range, schedule)).collect()
}

/// The schedule of a range of digits.
struct Worker {
    ring: FastRing,
    range: Range<u32>,
    schedule: Schedule,
    /// The result for all j so far.
    out: Vec<u64>,
}

impl Worker {
    fn new(ring: &FastRing, range: Range<u32>, schedule: Schedule) -> Self {
        Self { out: ring.one(), ring: ring.clone(), range, schedule }
    }

    /// Takes in the digits of some j, given by rising j.
    fn run(&mut self, bits: u32, tape: &Tape, lists: &[&[Term]]) {
        let Self { ring, range, schedule, out } = self;
        for digits in lists.iter().rev() {
            let terms = (*digits, Exponents::Digits);
            let product =
                ring.product_of_powers_vartime(tape.values(), terms, range.clone(), schedule);
            ring.square_assign(out, u64::from(bits));
            ring.mul_assign(out, &product);
        }
    }
}
