//! Products of many elements raised to small powers.
//!
//! Π v_m^(e_m) takes one multiplication a value and one for each exponent in use or not. With
//! R_e = Π v_m over those m with e_m ≥ e, it is R_1·R_2·…: the values are taken by falling exponent,
//!
//! ```text
//! for e = highest … lowest:  run ·= v_m for each m with e_m = e;  sum ·= run
//! ```
//!
//! Eight ranges of exponents, cut so that they have equally much to do, are worked off at a time. A step
//! multiplies each run by its next value, or its sum by its run: with IFMA in lanes (`ifma/lanes.rs`), else
//! one by one. The steps are laid out beforehand, so that values, which are met in an order that no cache
//! foresees, are fetched from memory while the products before them are made.
//!
//! # What was tried
//! Buckets, each a product of its own, and collected afterwards, need as many multiplications (a bucket's
//! first product is a copy, but it takes two to be collected). Eight buckets with equally many values were
//! filled side by side; but the buckets' way through memory cost a tenth, and their pages as much again
//! when they were touched first.

use super::elements::fetch;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::fast::Engine;
use super::{Elements, FastRing};
use core::ops::Range;

/// What each of eight runs is to be multiplied by: the index of an element, or [`SUM`], or [`ONE`].
pub(super) type Step = [u32; 8];

/// By its sum, which becomes the product, while the run stays as it is.
pub(super) const SUM: u32 = u32::MAX;
/// By nothing.
pub(super) const ONE: u32 = u32::MAX - 1;
/// A step that does nothing.
pub(super) const NO_STEP: Step = [ONE; 8];

/// Eight runs and eight sums.
///
/// Products may be smaller by a factor g, see [`FastRing::product_of_powers_vartime`].
pub(super) trait Eights {
    /// Takes steps, whose indexes are those of elements there; meanwhile those of later steps are sent for.
    fn take(&mut self, values: &Elements, steps: &[Step]);

    /// Writes the runs, then the sums, to an empty table.
    fn finish(self, to: &mut Elements);
}

/// Elements of any kernel, multiplied one by one.
struct OneByOne<'a> {
    ring: &'a mut FastRing,
    runs: Elements,
    sums: Elements,
}

impl<'a> OneByOne<'a> {
    fn new(ring: &'a mut FastRing) -> Self {
        let mut ones = Elements::new(ring, 8);
        ones.resize(8, &ring.one());
        Self { ring, runs: ones.clone(), sums: ones }
    }
}

impl Eights for OneByOne<'_> {
    fn take(&mut self, values: &Elements, steps: &[Step]) {
        for (at, step) in steps.iter().enumerate() {
            let ahead = steps.get(at + AHEAD).unwrap_or(&NO_STEP);
            for (i, (&m, &ahead)) in step.iter().zip(ahead).enumerate() {
                if ahead < ONE {
                    fetch(values.lines(ahead as usize));
                }
                match m {
                    SUM => self.ring.mul_assign(self.sums.value_mut(i), self.runs.value(i)),
                    ONE => {}
                    m => self.ring.mul_assign(self.runs.value_mut(i), values.value(m as usize)),
                }
            }
        }
    }

    fn finish(self, to: &mut Elements) {
        (0..8).for_each(|i| to.push(self.runs.value(i)));
        (0..8).for_each(|i| to.push(self.sums.value(i)));
    }
}

/// The steps of a product of powers, kept as space for the next one's.
#[derive(Default)]
pub struct Schedule {
    steps: Vec<Step>,
    /// The lowest exponent of each eighth, highest first.
    lowest: [u32; 8],
    /// The number of values with each exponent; then where in `steps` the next one goes.
    places: Vec<u32>,
    /// The sum of the exponents in the range.
    sum: u64,
}

/// Steps that the longest of eight parts may have above the mean, as a rule: the values of one exponent.
const ROOM: usize = 64;

/// How many steps before its use a value is sent for: one is too late where memory is far.
pub(super) const AHEAD: usize = 2;

impl Schedule {
    /// No steps yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Space for so many values and different exponents, which the system has given when this returns.
    #[must_use]
    pub fn with_room(values: usize, exponents: usize) -> Self {
        let steps = vec![NO_STEP; (values + exponents).div_ceil(8) + ROOM];
        let places = vec![1; exponents];
        let mut schedule = Self { steps, places, ..Self::default() };
        schedule.steps.clear();
        schedule.places.clear();
        schedule
    }

    /// Bytes that the steps for so many values and different exponents take, about.
    #[must_use]
    pub fn bytes(values: u64, exponents: u64) -> u64 {
        values.saturating_add(exponents.saturating_mul(2)).saturating_mul(4).saturating_add(1024)
    }

    /// Lays out the steps for those of the exponents that are in `range`.
    fn lay_out(&mut self, exponents: &[u32], range: &Range<u32>) {
        let index = |exponent: u32| exponent.wrapping_sub(range.start) as usize;
        self.places.clear();
        self.places.resize(range.len(), 0);
        for &exponent in exponents {
            if let Some(number) = self.places.get_mut(index(exponent)) {
                *number += 1;
            }
        }
        let all: usize = self.places.iter().map(|&number| number as usize + 1).sum();
        let eighth = all.div_ceil(8);
        self.steps.clear();
        self.lowest = [range.end; 8];
        self.sum = 0;
        let (mut lane, mut at, mut done) = (0, 0, 0);
        for (i, place) in self.places.iter_mut().enumerate().rev() {
            let number = core::mem::replace(place, (8 * at + lane) as u32) as usize;
            at += number;
            done += number + 1;
            self.lowest[lane] = range.start + i as u32;
            self.sum += number as u64 * u64::from(self.lowest[lane]);
            if self.steps.len() < at + 1 {
                self.steps.resize(at + 1, NO_STEP);
            }
            if done >= (lane + 1) * eighth {
                // The lowest exponent of an eighth needs no sum; see `weighted`.
                (lane, at) = (lane + 1, 0);
                self.lowest[lane.min(7)] = range.start + i as u32;
            } else if i > 0 {
                self.steps[at][lane] = SUM;
                at += 1;
            }
        }
        let steps = self.steps.as_flattened_mut();
        for (m, &exponent) in exponents.iter().enumerate() {
            if let Some(place) = self.places.get_mut(index(exponent)) {
                steps[*place as usize] = m as u32;
                *place += 8;
            }
        }
    }
}

/// So many steps are worth the preparation of lanes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const WORTH_LANES: usize = 32;

impl FastRing {
    /// Prepares what products of powers take from the modulus; otherwise the first of them does.
    pub fn prepare_products(&self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if let Engine::Ifma(ifma) = &self.engine {
            drop(ifma.lanes(&self.ring));
        }
    }

    /// The product of `values`, each raised to its exponent, over those with an exponent in `range`.
    ///
    /// It takes one multiplication a value and one for each number in `range`. Several threads take a
    /// range each. `space` is used again from one product to the next.
    ///
    /// # Panics
    /// There are fewer values than exponents.
    #[must_use]
    pub fn product_of_powers_vartime(
        &mut self,
        values: &Elements,
        exponents: &[u32],
        range: Range<u32>,
        space: &mut Schedule,
    ) -> Vec<u64> {
        assert!(exponents.len() <= values.len(), "each exponent has a value");
        space.lay_out(exponents, &range);
        let mut ends = Elements::new(self, 16);
        let factors = self.take_steps(space, values, &mut ends);
        // Of each eighth, sum·run^lowest.
        let lowest = space.lowest.map(|lowest| [u64::from(lowest)]);
        // A product of n values in lanes is g^(n − 1) times too small, and so are its powers.
        let made: u64 = lowest.iter().map(|[lowest]| lowest + 1).sum();
        let missing = i128::from(space.sum) - i128::from(made);
        let exponent = missing.unsigned_abs();
        let exponent = [exponent as u64, (exponent >> 64) as u64];
        let scale = factors.map(|factors| self.enter(&factors[usize::from(missing < 0)]));
        let scale = scale.as_ref().map(|base| (&base[..], &exponent[..]));
        let terms = (0..8).map(|lane| (ends.value(lane), &lowest[lane][..]));
        let terms: Vec<_> = terms.chain(scale).collect();
        let mut out = self.multi_pow_vartime(&terms);
        (0..8).for_each(|lane| self.mul_assign(&mut out, ends.value(8 + lane)));
        out
    }

    /// Takes the steps on the engine's best way; returns g and 1/g, canonical, where products are too small by that.
    fn take_steps(
        &mut self,
        space: &Schedule,
        values: &Elements,
        to: &mut Elements,
    ) -> Option<[Vec<u64>; 2]> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if let (Engine::Ifma(ifma), true) = (&self.engine, space.steps.len() >= WORTH_LANES)
            && let Some(mut lanes) = ifma.lanes(&self.ring)
        {
            lanes.take(values, &space.steps);
            let factors = lanes.factors().clone();
            lanes.finish(to);
            return Some(factors);
        }
        let mut each = OneByOne::new(self);
        each.take(values, &space.steps);
        each.finish(to);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mont::ring::bit_len;
    use crate::mont::test_moduli::{Words, reduced};
    use crate::mont::{Kernel, Ring};

    /// Exponents of one kind: any, few different ones, all the same, none in the range.
    fn exponents(words: &mut Words, count: usize, kind: usize) -> Vec<u32> {
        let exponent = |_| match kind {
            0 => words.next() as u32 & 0x7f,
            1 => [3, 20, 99][words.next() as usize % 3],
            2 => 17,
            _ => 0,
        };
        (0..count).map(exponent).collect()
    }

    #[test]
    fn products_of_powers_match_single_powers() {
        let mut words = Words(11);
        let rough = [500, 1238, 2048, 2070, 3318, 4150, 4200].map(|bits| words.rough_modulus(bits));
        // 2^512 − 1 has factors in common with what products in lanes divide by.
        for modulus in rough.into_iter().chain([vec![u64::MAX; 8]]) {
            let bits = bit_len(&modulus);
            let ring = Ring::new(&modulus).unwrap();
            let numbers: Vec<Vec<u64>> =
                (0..300).map(|_| reduced(&ring, &words.modulus(bits))).collect();
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.fits(bits)) {
                let mut fast = FastRing::with_kernel(kernel, &ring).unwrap();
                let mut values = Elements::new(&fast, 300);
                numbers.iter().for_each(|number| values.push(&fast.enter(number)));
                let mut space = Schedule::new();
                for (count, kind, range) in [
                    (300, 0, 1..128),
                    (300, 0, 40..77),
                    (200, 1, 1..100),
                    (90, 2, 17..18),
                    (90, 2, 1..20),
                    (9, 0, 1..128),
                    (300, 3, 1..90),
                    (0, 0, 1..2),
                    // Few values and many sums: the power of two that is missing is negative.
                    (300, 3, 1..400),
                    (9, 0, 1..400),
                ] {
                    let exponents = exponents(&mut words, count, kind);
                    let got = fast.product_of_powers_vartime(
                        &values,
                        &exponents,
                        range.clone(),
                        &mut space,
                    );
                    let mut want = fast.one();
                    for (m, &exponent) in exponents.iter().enumerate() {
                        if range.contains(&exponent) {
                            let power = fast.pow_vartime(values.value(m), &[u64::from(exponent)]);
                            fast.mul_assign(&mut want, &power);
                        }
                    }
                    assert_eq!(fast.leave(&got), fast.leave(&want), "{bits} {kernel:?} {kind}");
                }
            }
        }
    }

    #[test]
    fn eighths_have_equally_much_to_do() {
        let mut words = Words(12);
        let exponents: Vec<u32> = (0..5000).map(|_| words.next() as u32 & 0x3ff).collect();
        let mut schedule = Schedule::new();
        schedule.lay_out(&exponents, &(1..1024));
        let least = (exponents.iter().filter(|e| **e > 0).count() + 1023).div_ceil(8);
        assert!(schedule.steps.len() <= least + 20, "{} {least}", schedule.steps.len());
        assert!(schedule.lowest.is_sorted_by(|a, b| a > b));
        assert_eq!(schedule.lowest[7], 1);
        let mut taken: Vec<u32> = schedule.steps.as_flattened().to_vec();
        taken.retain(|&m| m < ONE);
        taken.sort_unstable();
        let all = (0..5000).filter(|&m| exponents[m as usize] > 0);
        assert!(taken.into_iter().eq(all));
    }
}
