//! How a proof will be computed: block size, and which values of the chain are recorded for it.

use super::power::Space;
use crate::tape::Tape;
use crate::{Error, Modulus};
use tetralith_kernels::mont::{Elements, Schedule, Term};

/// κ, γ, and what they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// κ: bits of a block.
    pub(super) bits: u32,
    /// γ: blocks between two recorded values.
    pub(super) stride: u64,
    pub(super) iterations: u64,
    pub(super) threads: usize,
}

/// Bits of the quotient that are computed at once.
pub(super) const EXPANDED: u64 = 192;

/// What recording a value costs, in sixteenths of a squaring: the kernel is left and entered again.
const RECORDING: u64 = 1;

impl Plan {
    /// The cheapest plan whose recorded values, digits and schedule fit `memory` bytes.
    pub(crate) fn new(modulus: &Modulus, iterations: u64, memory: u64, threads: usize) -> Self {
        let element = Elements::bytes_of_one(modulus.fast()) as u64;
        let threads = threads.max(1);
        let plans = (1..=20).flat_map(move |bits| {
            // A recorded value has a term in each of the blocks that are expanded, and its place in a
            // schedule.
            let term = size_of::<Term>() as u64;
            let value = element + term * (EXPANDED / u64::from(bits)) + 4;
            let fixed = Schedule::bytes(0, 1 << bits) + 100 * element * threads as u64;
            let room = memory.saturating_sub(fixed) / value;
            let least = iterations.div_ceil(room.saturating_sub(1).max(1) * u64::from(bits)).max(1);
            let fits = room > 1;
            let strides = (0..6).map(move |more| least.saturating_add(more));
            let plan = move |stride| Plan { bits, stride, iterations, threads };
            strides.filter(move |_| fits).map(plan)
        });
        let smallest = Plan { bits: 1, stride: iterations.max(1), iterations, threads: 1 };
        plans.min_by_key(Plan::cost).unwrap_or(smallest)
    }

    /// The parameters that say which values are recorded: κ and γ.
    pub(crate) fn parameters(&self) -> [u64; 2] {
        [u64::from(self.bits), self.stride]
    }

    /// How many values such parameters record; none where no plan has them.
    pub(crate) fn values([bits, stride]: [u64; 2], iterations: u64) -> Option<u64> {
        Some(iterations.div_ceil(bits.checked_mul(stride).filter(|&interval| interval > 0)?))
    }

    /// The plan of such parameters.
    ///
    /// # Errors
    /// [`Error::CheckpointDamaged`] for those that no plan has.
    pub(crate) fn with_parameters(
        [bits, stride]: [u64; 2],
        iterations: u64,
        threads: usize,
    ) -> Result<Self, Error> {
        if !(1..=20).contains(&bits) || stride == 0 || stride > iterations.max(1) {
            return Err(Error::CheckpointDamaged("its plan is none of ours"));
        }
        Ok(Plan { bits: bits as u32, stride, iterations, threads: threads.max(1) })
    }

    /// What proof and recording cost, in multiplications.
    fn cost(&self) -> u64 {
        self.multiplications().saturating_add(self.blocks() / self.stride * RECORDING / 16)
    }

    /// One multiplication for each block, and one for each digit that there is.
    pub(super) fn multiplications(&self) -> u64 {
        self.blocks().saturating_add(self.stride.saturating_mul(1 << self.bits))
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
        u64::from(self.bits) * self.stride
    }

    /// The empty tape to record on.
    pub(crate) fn tape(&self, modulus: &Modulus) -> Tape {
        let count = self.iterations.div_ceil(self.interval()).max(1);
        let tape = Tape::every(modulus, self.interval(), count as usize, Space::new(self));
        // Of the modulus alone, and so not for after the last squaring.
        super::check::ring_of(&tape, modulus).prepare_products();
        tape
    }
}
