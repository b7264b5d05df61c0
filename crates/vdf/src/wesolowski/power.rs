//! x^⌊2^T/ℓ⌋ from the recorded values.
//!
//! For each j the C_m are multiplied into buckets by their digits, and the buckets B_b are collected to
//! Π B_b^b. Threads share the buckets: each takes the digits of a range, of all j, and combines its
//! products from the highest j down. Products are given to the kernel in lists, in which few need the
//! one before: its multipliers are then as busy as they can be.

use super::Watch;
use super::digits::Digits;
use super::plan::Plan;
use crate::tape::Tape;
use crate::{Element, Modulus};
use tetralith_kernels::mont::{Elements, FastRing};

/// x^⌊2^T/ℓ⌋ for any odd ℓ of 256 bits; none where it was stopped.
pub(super) fn power(
    plan: &Plan,
    tape: &Tape,
    modulus: &Modulus,
    prime: &[u64; 4],
    watch: &mut Watch<'_>,
) -> Option<Element> {
    let digits = Digits::new(*plan, prime);
    let mut workers = workers(plan, modulus);
    // A block above the top bit of 2^T is empty, and so are those j beyond the last block.
    let count = plan.stride.min(plan.blocks());
    let group = digits.group();
    let mut filled = Vec::new();
    for first in (0..count.div_ceil(group)).rev().map(|i| i * group) {
        if !(watch.go_on)() {
            return None;
        }
        digits.fill(first, &mut filled);
        let lists: Vec<&[u32]> = filled.chunks_exact(digits.len()).collect();
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
    let mut ring = modulus.fast().clone();
    let mut out = ring.one();
    workers.iter().for_each(|worker| ring.mul_assign(&mut out, &worker.out));
    Some(modulus.residue(ring.leave(&out)).element(modulus))
}

/// One for each thread, with an equal part of the digits 1 to 2^κ − 1.
fn workers(plan: &Plan, modulus: &Modulus) -> Vec<Worker> {
    let most = (1usize << plan.bits) - 1;
    let threads = plan.threads.min(most);
    let ends: Vec<usize> = (0..=threads).map(|i| 1 + most * i / threads).collect();
    ends.windows(2).map(|ends| Worker::new(modulus.fast(), ends[0], ends[1] - ends[0])).collect()
}

/// Parts of a worker's range that are collected side by side.
const PARTS: usize = 4;
/// Pairs that are gathered before they are multiplied.
const LIST: usize = 512;

/// The buckets of a range of digits.
struct Worker {
    ring: FastRing,
    /// The buckets; then for each part, the product of its buckets so far, and the product of those.
    table: Elements,
    used: Vec<bool>,
    /// The digit of the first bucket.
    first: usize,
    one: Vec<u64>,
    /// The result for all j so far.
    out: Vec<u64>,
    pairs: Vec<[u32; 2]>,
}

impl Worker {
    fn new(ring: &FastRing, first: usize, count: usize) -> Self {
        let (ring, one) = (ring.clone(), ring.one());
        let mut table = Elements::new(&ring, count + 2 * PARTS);
        table.resize(count + 2 * PARTS, &one);
        let pairs = Vec::with_capacity(LIST);
        Self { table, used: vec![false; count], first, out: one.clone(), one, ring, pairs }
    }

    /// Takes in the digits of some j, given by rising j.
    fn run(&mut self, bits: u32, tape: &Tape, lists: &[&[u32]]) {
        for digits in lists.iter().rev() {
            self.fill(tape, digits);
            let product = self.collect();
            self.ring.square_assign(&mut self.out, u64::from(bits));
            self.ring.mul_assign(&mut self.out, &product);
        }
    }

    /// Bucket b = the product of the recorded values whose digit is b.
    fn fill(&mut self, tape: &Tape, digits: &[u32]) {
        self.used.fill(false);
        for (m, &digit) in digits.iter().enumerate() {
            let bucket = (digit as usize).wrapping_sub(self.first);
            let Some(used) = self.used.get_mut(bucket) else { continue };
            if *used {
                self.pairs.push([bucket as u32, m as u32]);
                if self.pairs.len() == LIST {
                    self.ring.mul_each(&mut self.table, tape.values(), &self.pairs);
                    self.pairs.clear();
                }
            } else {
                *used = true;
                self.table.value_mut(bucket).copy_from_slice(tape.value(m));
            }
        }
        self.ring.mul_each(&mut self.table, tape.values(), &self.pairs);
        self.pairs.clear();
        let empty = self.used.iter().enumerate().filter(|(_, used)| !**used);
        empty.for_each(|(bucket, _)| self.table.value_mut(bucket).copy_from_slice(&self.one));
    }

    /// Π B_b^b over the range.
    ///
    /// A part p of `len` buckets begins at digit o_p. From its top down, R_p becomes the product of the
    /// buckets so far and S_p the product of these, so that the part's own product is S_p·R_p^(o_p);
    /// and o_p = first + p·len.
    fn collect(&mut self) -> Vec<u64> {
        let count = self.used.len();
        let len = count.div_ceil(PARTS);
        let (runs, sums) = (count, count + PARTS);
        (runs..runs + 2 * PARTS).for_each(|i| self.table.value_mut(i).copy_from_slice(&self.one));
        for place in (0..len).rev() {
            let parts = || (0..PARTS).filter(|part| part * len + place < count);
            let pair = |a: usize, b: usize| [a as u32, b as u32];
            self.pairs.extend(parts().map(|part| pair(runs + part, part * len + place)));
            if place > 0 {
                self.pairs.extend(parts().map(|part| pair(sums + part, runs + part)));
            }
            if self.pairs.len() + 2 * PARTS > LIST || place == 0 {
                self.ring.mul_within(&mut self.table, &self.pairs);
                self.pairs.clear();
            }
        }
        // above = R_p·R_(p+1)·…, and offsets = Π R_p^p.
        let (mut above, mut offsets) = (self.one.clone(), self.one.clone());
        for part in (1..PARTS).rev() {
            self.ring.mul_assign(&mut above, self.table.value(runs + part));
            self.ring.mul_assign(&mut offsets, &above);
        }
        self.ring.mul_assign(&mut above, self.table.value(runs));
        let exponents = [[len as u64], [self.first as u64]];
        let terms = [(&offsets[..], &exponents[0][..]), (&above[..], &exponents[1][..])];
        let mut out = self.ring.multi_pow_vartime(&terms);
        for part in 0..PARTS {
            self.ring.mul_assign(&mut out, self.table.value(sums + part));
        }
        out
    }
}
