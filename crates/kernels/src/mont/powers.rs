//! Products of many elements raised to small powers.
//!
//! Π v_i^(k_i) over a list of terms takes one multiplication a term and one for each digit k in use or not.
//! With R_k = Π v_i over those i with k_i ≥ k, it is R_1·R_2·…: the terms are taken by falling digit,
//!
//! ```text
//! for k = highest … lowest:  run ·= v_i for each i with k_i = k;  sum ·= run
//! ```
//!
//! and sum·run^lowest is the product. Where all exponents are odd, 2·k + 1, half as many digits do: the same
//! steps end in (sum·run^lowest)²·run.
//!
//! Eight ranges of digits, cut so that they have equally much to do, are worked off at a time. A step
//! multiplies each run by its next value; where that was the last of its digit, the run is a factor of a sum.
//! Of these, eight are taken at a time, too. With IFMA that is done in lanes (`ifma/lanes.rs`), else one by
//! one. The steps are laid out beforehand, so that values, which are met in an order that no cache foresees,
//! are fetched from memory while the products before them are made. There may be several such groups of eight,
//! of which threads take whichever is next: no two of them are equally quick.
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

/// What each of eight runs is to be multiplied by: the index of an element, or [`ONE`]; with [`MARK`] where the
/// product is a factor of a sum.
pub(super) type Step = [u32; 8];

/// The highest bit.
pub(super) const MARK: u32 = 1 << 31;
/// By nothing.
pub(super) const ONE: u32 = MARK - 1;
/// A step that does nothing.
pub(super) const NO_STEP: Step = [ONE; 8];

/// The steps of eight runs: some of all steps, as far apart as there are groups.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    from: &'a [Step],
    groups: usize,
}

impl<'a> Steps<'a> {
    /// Steps that are all of one group.
    #[cfg(target_arch = "x86_64")] // Its callers are the kernels for AVX-512.
    pub(super) fn new(all: &'a [Step]) -> Self {
        Self { from: all, groups: 1 }
    }

    #[inline(always)]
    pub(super) fn get(self, at: usize) -> Option<&'a Step> {
        self.from.get(at * self.groups)
    }

    pub(super) fn iter(self) -> impl ExactSizeIterator<Item = &'a Step> {
        self.from.iter().step_by(self.groups)
    }
}

/// Eight runs, and eight sums, which are of use as one product only.
///
/// Products may be smaller by a factor g, see [`FastRing::product_of_powers_vartime`].
pub(super) trait Eights {
    /// Takes steps, whose indexes are those of elements there; meanwhile those of later steps are sent for.
    fn take(&mut self, values: &Elements, steps: Steps<'_>);

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
    fn take(&mut self, values: &Elements, steps: Steps<'_>) {
        for (at, step) in steps.iter().enumerate() {
            let ahead = steps.get(at + AHEAD).unwrap_or(&NO_STEP);
            for (i, (&m, &ahead)) in step.iter().zip(ahead).enumerate() {
                if ahead & ONE < ONE {
                    fetch(values.lines((ahead & ONE) as usize));
                }
                if m & ONE < ONE {
                    let value = values.value((m & ONE) as usize);
                    self.ring.mul_assign(self.runs.value_mut(i), value);
                }
                if m & MARK > 0 {
                    self.ring.mul_assign(self.sums.value_mut(i), self.runs.value(i));
                }
            }
        }
    }

    fn finish(self, to: &mut Elements) {
        (0..8).for_each(|i| to.push(self.runs.value(i)));
        (0..8).for_each(|i| to.push(self.sums.value(i)));
    }
}

/// A value and its digit, which says to what power it is raised, see [`Exponents`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// The index of the value.
    pub value: u32,
    /// k.
    pub digit: u32,
}

/// What exponent a digit k stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exponents {
    /// k.
    #[default]
    Digits,
    /// 2·k + 1.
    Odd,
}

impl Exponents {
    /// (s, t), where the exponent is s·k + t.
    fn line(self) -> (u64, u64) {
        match self {
            Exponents::Digits => (1, 0),
            Exponents::Odd => (2, 1),
        }
    }
}

/// The steps of a product of powers, kept as space for the next one's.
#[derive(Default)]
pub struct Schedule {
    /// Of each group the first step, then of each the second, and so on.
    steps: Vec<Step>,
    groups: usize,
    exponents: Exponents,
    /// The lowest digit of each run, highest first.
    lowest: Vec<u32>,
    /// The number of terms with each digit; then where in `steps` the next one goes.
    places: Vec<u32>,
    /// The number of terms in the range, and the sum of their digits.
    terms: u64,
    sum: u64,
    /// So many values there must be.
    values: usize,
}

/// Steps that one thread's part of the terms may have above the mean, as a rule.
const ROOM: usize = 64;

/// How many steps before its use a value is sent for: one is too late where memory is far.
pub(super) const AHEAD: usize = 3;

impl Schedule {
    /// No steps yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Space for so many terms and different digits, which the system has given when this returns.
    #[must_use]
    pub fn with_room(terms: usize, digits: usize) -> Self {
        let steps = vec![NO_STEP; (terms + digits).div_ceil(8) + ROOM];
        let places = vec![1; digits];
        let mut schedule = Self { steps, places, ..Self::default() };
        schedule.steps.clear();
        schedule.places.clear();
        schedule
    }

    /// Bytes that the steps for so many terms and different digits take, about.
    #[must_use]
    pub fn bytes(terms: u64, digits: u64) -> u64 {
        terms.saturating_add(digits.saturating_mul(2)).saturating_mul(4).saturating_add(1024)
    }

    /// Lays out the steps for the terms whose digits are in `range`, in so many groups; all have a value below
    /// `values`.
    ///
    /// # Panics
    /// A term has no value, there are 2^32 of them, or no groups.
    pub fn lay_out(
        &mut self,
        (terms, exponents): (&[Term], Exponents),
        range: &Range<u32>,
        values: usize,
        groups: usize,
    ) {
        assert!(values <= ONE as usize, "values have numbers of 31 bits");
        (self.exponents, self.values, self.groups) = (exponents, values, groups);
        self.count(terms, range);
        self.cut(range);
        let all = 8 * self.steps.len();
        let steps = self.steps.as_flattened_mut();
        for term in terms {
            if let Some(place) = self.places.get_mut(index(term, range)) {
                assert!((term.value as usize) < values, "each term has a value");
                steps[*place as usize] ^= ONE ^ term.value;
                *place += 8 * groups as u32;
                if *place as usize >= all {
                    *place = of_next_run(*place, all);
                }
            }
        }
    }

    /// Counts the terms of each digit.
    fn count(&mut self, terms: &[Term], range: &Range<u32>) {
        self.places.clear();
        self.places.resize(range.len(), 0);
        for term in terms {
            if let Some(number) = self.places.get_mut(index(term, range)) {
                *number += 1;
            }
        }
    }

    /// Cuts the steps of all digits, one after the other, into those of the runs, and marks the last of each digit.
    /// A cut may part a digit's terms.
    fn cut(&mut self, range: &Range<u32>) {
        // A digit without terms takes a step that marks alone.
        let steps_of = |number: u32| number.max(1) as usize;
        let all: usize = self.places.iter().map(|&number| steps_of(number)).sum();
        let runs = 8 * self.groups;
        let each = all.div_ceil(runs);
        assert!(u32::try_from(runs * (each + 1)).is_ok(), "steps have numbers of 32 bits");
        self.steps.clear();
        self.steps.resize(each * self.groups, NO_STEP);
        self.lowest.clear();
        (self.terms, self.sum) = (0, 0);
        let steps = self.steps.as_flattened_mut();
        let mut end = 0;
        for (i, place) in self.places.iter_mut().enumerate().rev() {
            let digit = range.start + i as u32;
            // Of these steps, numbered through the runs.
            let at = |step: usize, run: usize| runs * (step - run * each) + run;
            let number = core::mem::replace(place, at(end, self.lowest.len()) as u32);
            self.terms += u64::from(number);
            self.sum += u64::from(number) * u64::from(digit);
            end += steps_of(number);
            while self.lowest.len() < runs && (self.lowest.len() + 1) * each <= end {
                self.lowest.push(digit);
            }
            // The lowest digit of a run needs no sum: that is made at the end.
            let run = self.lowest.len();
            if end > run * each && i > 0 {
                steps[at(end - 1, run)] |= MARK;
            }
        }
        self.lowest.resize(runs, range.start);
    }

    /// The groups, whose products are to be multiplied.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The steps of a group.
    fn steps(&self, group: usize) -> Steps<'_> {
        Steps { from: self.steps.get(group..).unwrap_or(&[]), groups: self.groups }
    }

    /// The powers of a group's runs, and that of the sums, which make the product.
    fn powers(&self, group: usize) -> ([[u64; 1]; 8], [u64; 1]) {
        let (s, t) = self.exponents.line();
        let power = |lane: usize| [s * u64::from(self.lowest[8 * group + lane]) + t];
        (core::array::from_fn(power), [s])
    }

    /// To which power the factor g is missing in the product where all runs and sums come out of lanes.
    ///
    /// A product of n values in lanes is g^(n − 1) times too small, and so are its powers.
    fn missing(&self) -> i128 {
        let (s, t) = self.exponents.line();
        // Of a run, its power, and of its sum.
        let made = |&lowest: &u32| s * u64::from(lowest) + t + s;
        let made: u64 = self.lowest.iter().map(made).sum();
        i128::from(s * self.sum + t * self.terms) - i128::from(made)
    }
}

/// Where a term's digit is in a range, or somewhere beyond its end.
#[inline(always)]
fn index(term: &Term, range: &Range<u32>) -> usize {
    term.digit.wrapping_sub(range.start) as usize
}

/// From beyond a run's last step to the next run's first. It is rare.
#[cold]
fn of_next_run(place: u32, all: usize) -> u32 {
    place - (all as u32 - 1)
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

    /// The product of the terms' values, each raised to the power that its digit stands for, over those with
    /// a digit in `range`.
    ///
    /// It takes one multiplication a term and one for each number in `range`. Several threads take a
    /// range each. `space` is used again from one product to the next.
    ///
    /// # Panics
    /// A term has no value.
    #[must_use]
    pub fn product_of_powers_vartime(
        &mut self,
        values: &Elements,
        terms: (&[Term], Exponents),
        range: Range<u32>,
        space: &mut Schedule,
    ) -> Vec<u64> {
        space.lay_out(terms, &range, values.len(), 1);
        self.product_of_group_vartime(values, space, 0)
    }

    /// The product of one group of a schedule; those of all make the product of powers.
    ///
    /// # Panics
    /// There are fewer values than the schedule was made for, or there is no such group.
    #[must_use]
    pub fn product_of_group_vartime(
        &mut self,
        values: &Elements,
        schedule: &Schedule,
        group: usize,
    ) -> Vec<u64> {
        assert!(group < schedule.groups, "there is such a group");
        assert!(schedule.values <= values.len(), "there are as many values");
        let mut ends = Elements::new(self, 16);
        let made_with = self.take_steps(schedule.steps(group), values, &mut ends);
        let (runs, sums) = schedule.powers(group);
        // For all groups at once.
        let missing = if group == 0 { schedule.missing() } else { 0 };
        let exponent = missing.unsigned_abs();
        let exponent = [exponent as u64, (exponent >> 64) as u64];
        let scale = made_with.as_ref().map(|factors| &factors[usize::from(missing < 0)]);
        let scale = scale.map(|base| (&base[..], &exponent[..]));
        let mut sum = ends.value(8).to_vec();
        (1..8).for_each(|lane| self.mul_assign(&mut sum, ends.value(8 + lane)));
        let factors = (0..8).map(|lane| (ends.value(lane), &runs[lane][..]));
        let factors: Vec<_> = factors.chain([(&sum[..], &sums[..])]).chain(scale).collect();
        self.multi_pow_vartime(&factors)
    }

    /// Takes the steps on the engine's best way; returns g and 1/g where products are too small by that.
    fn take_steps(
        &mut self,
        steps: Steps<'_>,
        values: &Elements,
        to: &mut Elements,
    ) -> Option<[Vec<u64>; 2]> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if let (Engine::Ifma(ifma), true) = (&self.engine, steps.iter().len() >= WORTH_LANES)
            && let Some(mut lanes) = ifma.lanes(&self.ring)
        {
            lanes.take(values, steps);
            let factors = lanes.factors().clone();
            lanes.finish(to);
            return Some(factors);
        }
        let mut each = OneByOne::new(self);
        each.take(values, steps);
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

    /// Terms of one kind: any digit, few different ones, all the same, none in the range; some values have
    /// several terms, some none.
    fn terms(words: &mut Words, count: usize, kind: usize) -> Vec<Term> {
        let digit = |words: &mut Words| match kind {
            0 => words.next() as u32 & 0x7f,
            1 => [3, 20, 99][words.next() as usize % 3],
            2 => 17,
            _ => 0,
        };
        let term = |_| Term { value: words.next() as u32 % 300, digit: digit(words) };
        (0..count).map(term).collect()
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
                let cases = [
                    (300, 0, 1..128),
                    (300, 0, 40..77),
                    (300, 0, 0..128),
                    (310, 2, 0..40),
                    (40, 3, 0..1),
                    (200, 1, 1..100),
                    (90, 2, 17..18),
                    (90, 2, 1..20),
                    (9, 0, 1..128),
                    (300, 3, 1..90),
                    (0, 0, 1..2),
                    // Few values and many sums: the power of two that is missing is negative.
                    (300, 3, 1..400),
                    (9, 0, 1..400),
                    // In lanes also where they are in two or three groups.
                    (2000, 0, 1..100),
                    (2400, 0, 0..128),
                ];
                for (i, (count, kind, range)) in cases.into_iter().enumerate() {
                    let terms = terms(&mut words, count, kind);
                    let exponents =
                        if i % 2 == bits % 4 / 2 { Exponents::Digits } else { Exponents::Odd };
                    let list = (&terms[..], exponents);
                    let got =
                        fast.product_of_powers_vartime(&values, list, range.clone(), &mut space);
                    let mut parts = fast.one();
                    space.lay_out(list, &range, 300, 1 + i % 3);
                    for group in 0..space.groups() {
                        let part = fast.product_of_group_vartime(&values, &space, group);
                        fast.mul_assign(&mut parts, &part);
                    }
                    assert_eq!(fast.leave(&parts), fast.leave(&got), "{bits} {kernel:?} {i}");
                    let mut want = fast.one();
                    for term in terms.iter().filter(|term| range.contains(&term.digit)) {
                        let k = u64::from(term.digit);
                        let exponent = if exponents == Exponents::Odd { 2 * k + 1 } else { k };
                        let power =
                            fast.pow_vartime(values.value(term.value as usize), &[exponent]);
                        fast.mul_assign(&mut want, &power);
                    }
                    assert_eq!(fast.leave(&got), fast.leave(&want), "{bits} {kernel:?} {i}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "each term has a value")]
    fn terms_without_a_value() {
        let mut fast = FastRing::new(&Ring::new(&[1001]).unwrap());
        let values = Elements::new(&fast, 1);
        let terms = [Term { value: 0, digit: 1 }];
        let terms = (&terms[..], Exponents::Digits);
        let _ = fast.product_of_powers_vartime(&values, terms, 1..2, &mut Schedule::new());
    }

    #[test]
    fn eighths_have_equally_much_to_do() {
        let mut words = Words(12);
        let term = |value| Term { value, digit: words.next() as u32 & 0x3ff };
        let terms: Vec<Term> = (0..5000).map(term).collect();
        for groups in [1, 3] {
            let mut schedule = Schedule::new();
            schedule.lay_out((&terms, Exponents::Digits), &(1..1024), 5000, groups);
            let number = |digit| terms.iter().filter(|term| term.digit == digit).count();
            let all: usize = (1..1024).map(|digit| number(digit).max(1)).sum();
            assert_eq!(schedule.steps.len(), groups * all.div_ceil(8 * groups));
            assert!(schedule.lowest.is_sorted_by(|a, b| a > b));
            assert_eq!(schedule.lowest.len(), 8 * groups);
            assert_eq!(schedule.lowest.last(), Some(&1));
            let mut taken: Vec<u32> = schedule.steps.as_flattened().to_vec();
            let marks = taken.iter().filter(|&m| m & MARK > 0).count();
            assert!((1023 - 8 * groups..1023).contains(&marks), "{marks}");
            taken.iter_mut().for_each(|m| *m &= ONE);
            taken.retain(|&m| m < ONE);
            taken.sort_unstable();
            let all = (0..5000).filter(|&m| terms[m as usize].digit > 0);
            assert!(taken.into_iter().eq(all));
        }
    }
}
