//! How a proof will be computed: by blocks or windows, of what size, and from which recorded values of the
//! chain.

use super::digits::EXPANDED;
use super::power::Space;
use super::windows;
use crate::tape::Tape;
use crate::{Error, Modulus};
use std::ops::Range;
use tetralith_kernels::mont::{Elements, Kernel, Schedule, Term};

/// κ, γ, and what they are for; or w.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// κ: bits of a block; or w: of a window.
    pub(super) bits: u32,
    /// γ: blocks between two recorded values. Zero where all are recorded, for windows.
    pub(super) stride: u64,
    pub(super) iterations: u64,
    pub(super) threads: usize,
    /// Bytes that may be touched before they are needed.
    pub(super) memory: u64,
}

/// The most bits of a block or window.
const MOST_BITS: u32 = 20;

/// So many values are recorded in the time of a squaring, where the kernel is left and entered again for each.
const RECORDED: u64 = 16;

/// The same where the kernel writes them on its way, to memory that was touched: 1.1 % at 2048 bits on a Zen 5.
const RECORDED_IN_KERNEL: u64 = 90;

/// The most bytes of values where all are recorded. With more of them, 84 MB at 2^18 squarings modulo 2048 bits,
/// proofs are a twelfth quicker than with blocks; but to be given that memory takes as long as a sixth of the
/// squarings.
const MOST_RECORDED: u64 = 48 << 20;

impl Plan {
    /// The cheapest plan that fits `memory` bytes, of blocks or of windows, for which all values are recorded.
    pub(crate) fn quickest(
        modulus: &Modulus,
        iterations: u64,
        memory: u64,
        threads: usize,
    ) -> Self {
        let blocks = Self::new(modulus, iterations, memory, threads);
        let element = Elements::bytes_of_one(modulus.fast()) as u64;
        if iterations > MOST_RECORDED / element || !records_in_kernel(modulus) {
            return blocks;
        }
        (1..=MOST_BITS)
            .map(|bits| Plan { bits, stride: 0, ..blocks })
            .filter(|plan| plan.bytes(element) <= memory && plan.cost() < blocks.cost())
            .min_by_key(Plan::cost)
            .unwrap_or(blocks)
    }

    /// The cheapest plan of blocks whose recorded values, digits and schedule fit `memory` bytes.
    pub(crate) fn new(modulus: &Modulus, iterations: u64, memory: u64, threads: usize) -> Self {
        let element = Elements::bytes_of_one(modulus.fast()) as u64;
        let threads = threads.max(1);
        let plans = (1..=MOST_BITS).flat_map(move |bits| {
            // A recorded value has a term in each of the blocks that are expanded, a copy of one where there
            // are threads, and its place in a schedule.
            let term = size_of::<Term>() as u64;
            let value = element + term * (EXPANDED / u64::from(bits) + u64::from(threads > 1)) + 4;
            let fixed = Schedule::bytes(0, 1 << bits) + 100 * element * threads as u64;
            let room = memory.saturating_sub(fixed) / value;
            let least = iterations.div_ceil(room.saturating_sub(1).max(1) * u64::from(bits)).max(1);
            let fits = room > 1;
            let strides = (0..6).map(move |more| least.saturating_add(more));
            let plan = move |stride| Plan { bits, stride, iterations, threads, memory };
            strides.filter(move |_| fits).map(plan)
        });
        let stride = iterations.max(1);
        let smallest = Plan { bits: 1, stride, iterations, threads: 1, memory };
        plans.min_by_key(Plan::cost).unwrap_or(smallest)
    }

    /// The parameters that say which values are recorded: κ and γ, or w and zero.
    pub(crate) fn parameters(&self) -> [u64; 2] {
        [u64::from(self.bits), self.stride]
    }

    /// How many values such parameters record; none where no plan has them.
    pub(crate) fn values([bits, stride]: [u64; 2], iterations: u64) -> Option<u64> {
        let interval = if stride == 0 { 1 } else { bits.checked_mul(stride)? };
        (interval > 0).then(|| iterations.div_ceil(interval))
    }

    /// The plan of such parameters, which may touch `memory` bytes.
    ///
    /// # Errors
    /// [`Error::CheckpointDamaged`] for those that no plan has.
    pub(crate) fn with_parameters(
        [bits, stride]: [u64; 2],
        iterations: u64,
        threads: usize,
        memory: u64,
    ) -> Result<Self, Error> {
        let fits = stride <= iterations.max(1) && (stride > 0 || iterations < MOST_TERMS);
        if !(1..=MOST_BITS.into()).contains(&bits) || !fits {
            return Err(Error::CheckpointDamaged("its plan is none of ours"));
        }
        Ok(Plan { bits: bits as u32, stride, iterations, threads: threads.max(1), memory })
    }

    /// Says whether all values are recorded, and the quotient is written by windows.
    pub(super) fn slides(&self) -> bool {
        self.stride == 0
    }

    /// What proof and recording cost, in multiplications.
    fn cost(&self) -> u64 {
        let recording = match self.stride {
            0 => self.iterations / RECORDED_IN_KERNEL,
            stride => self.blocks() / stride / RECORDED,
        };
        self.multiplications().saturating_add(recording)
    }

    /// One multiplication for each block or window, and one for each digit that there is.
    pub(super) fn multiplications(&self) -> u64 {
        let digits = u64::from(self.digits().end - self.digits().start);
        match self.stride {
            0 => self.iterations / u64::from(self.bits + 1) + digits,
            stride => self.blocks().saturating_add(stride.saturating_mul(digits + 1)),
        }
    }

    /// The digits that need a multiplication: of a block, b > 0; of a window d = 2·k + 1, k.
    pub(super) fn digits(&self) -> Range<u32> {
        if self.slides() { 0..1 << (self.bits - 1) } else { 1..1 << self.bits }
    }

    /// The most terms that are made at once.
    pub(super) fn terms(&self) -> u64 {
        if self.slides() {
            windows::most(self.iterations, self.bits)
        } else {
            (self.used_values() as u64).saturating_mul(self.group())
        }
    }

    /// The most terms of a schedule.
    pub(super) fn scheduled(&self) -> u64 {
        if self.slides() { self.terms() } else { self.used_values() as u64 }
    }

    /// Bytes of the recorded values, each of which takes `element`, and of what is computed from them.
    fn bytes(&self, element: u64) -> u64 {
        let values = self.iterations.div_ceil(self.interval()).max(1);
        let tables = values.saturating_add(100 * self.threads as u64).saturating_mul(element);
        let copies = if self.threads > 1 { self.scheduled() } else { 0 };
        let terms = self.terms().saturating_add(copies).saturating_mul(size_of::<Term>() as u64);
        let bits = if self.slides() { windows::bytes(self.iterations) as u64 } else { 0 };
        let digits = u64::from(self.digits().end);
        let schedule = Schedule::bytes(self.scheduled(), digits);
        [terms, bits, schedule].into_iter().fold(tables, u64::saturating_add)
    }

    /// Whole blocks; what is left above them is the upper end of 2^T/ℓ, which is zero.
    pub(super) fn blocks(&self) -> u64 {
        self.iterations / u64::from(self.bits)
    }

    /// Recorded values that have a block for some j.
    pub(super) fn used_values(&self) -> usize {
        self.blocks().div_ceil(self.stride) as usize
    }

    /// Values of j whose digits are computed at once.
    pub(super) fn group(&self) -> u64 {
        self.stride.min(EXPANDED / u64::from(self.bits))
    }

    /// Squarings between two recorded values.
    pub(super) fn interval(&self) -> u64 {
        if self.slides() { 1 } else { u64::from(self.bits) * self.stride }
    }

    /// The empty tape to record on, and the space to compute in: the system has given that space when this returns,
    /// and the tape's where all is recorded, if the plan keeps to what may be touched.
    pub(crate) fn tape(&self, modulus: &Modulus) -> Tape {
        let count = self.iterations.div_ceil(self.interval()).max(1);
        // What is of the modulus alone is not for after the last squaring.
        let ring = super::check::ring_of(modulus);
        ring.prepare_products();
        let fits = self.bytes(Elements::bytes_of_one(ring) as u64) <= self.memory;
        let space = if fits { Space::new(self, ring) } else { Space::default() };
        let mut tape = Tape::every(modulus, self.interval(), count as usize, space);
        if fits && self.slides() {
            tape.values_mut().touch();
        }
        tape
    }
}

/// Says whether the kernel that squares records values as it goes: the others are left and entered again for
/// each.
fn records_in_kernel(modulus: &Modulus) -> bool {
    let chain = modulus.checked();
    chain.kernel() == Kernel::Ifma && chain.shares_elements_with(modulus.fast())
}

/// Fewer terms than this are numbered by 32 bits.
const MOST_TERMS: u64 = 1 << 31;
