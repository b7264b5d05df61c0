//! Values of the chain that a prover will need again, recorded while it runs.

use crate::Modulus;
use crate::wesolowski::Space;
use tetralith_kernels::mont::Elements;

/// Values x^(2^e) mod N as elements of the modulus's fast ring, for a list of exponents e that was fixed before.
pub(crate) struct Tape {
    stops: Stops,
    values: Elements,
    space: Space,
    /// Whether each value is also one modulo N·c, and right modulo c if the machine made no error.
    checked: bool,
}

/// The exponents to record, in rising order.
enum Stops {
    /// 0, i, 2·i, … so many of them.
    Every { interval: u64, count: usize },
    /// These.
    List(Vec<u64>),
}

impl Tape {
    /// A tape of the exponents 0, interval, 2·interval, …, `count` of them.
    /// What is computed from it will be computed in `space`.
    pub(crate) fn every(modulus: &Modulus, interval: u64, count: usize, space: Space) -> Self {
        let values = Elements::new(modulus.fast(), count);
        let checked = modulus.checked().shares_elements_with(modulus.fast());
        Self { stops: Stops::Every { interval, count }, values, space, checked }
    }

    /// A tape of the exponents in `list`, which rise.
    pub(crate) fn at(modulus: &Modulus, list: Vec<u64>) -> Self {
        debug_assert!(list.is_sorted());
        let values = Elements::new(modulus.fast(), list.len());
        Self { stops: Stops::List(list), values, space: Space::default(), checked: false }
    }

    /// The space to compute in, for the first who asks.
    pub(crate) fn take_space(&mut self) -> Space {
        std::mem::take(&mut self.space)
    }

    fn stop(&self, i: usize) -> Option<u64> {
        match &self.stops {
            Stops::Every { interval, count } => (i < *count).then(|| i as u64 * interval),
            Stops::List(list) => list.get(i).copied(),
        }
    }

    /// The next exponent to be recorded.
    pub(crate) fn next(&self) -> Option<u64> {
        self.stop(self.len())
    }

    /// The number of values recorded.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// How many values are still to be recorded.
    pub(crate) fn room(&self) -> usize {
        let all = match &self.stops {
            Stops::Every { count, .. } => *count,
            Stops::List(list) => list.len(),
        };
        all - self.len()
    }

    /// Says whether all values up to x^(2^done) are recorded.
    pub(crate) fn reaches(&self, done: u64) -> bool {
        self.next().is_none_or(|next| next > done)
    }

    /// Records the element of exponent [`Tape::next`], as the chain has it.
    pub(crate) fn push(&mut self, element: &[u64]) {
        self.values.push(element);
    }

    /// The same of a number modulo N: what it was modulo N·c is lost.
    pub(crate) fn push_reduced(&mut self, modulus: &Modulus, number: &[u64]) {
        self.checked = false;
        self.push(&modulus.fast().enter(number));
    }

    /// Whether each value is also one modulo N·c, of [`Modulus::checked`].
    pub(crate) fn is_checked(&self) -> bool {
        self.checked
    }

    /// The squarings between two values from `done` on, where that is the same throughout and `done`
    /// itself was the last that was recorded; and how many more there are.
    pub(crate) fn run(&self, done: u64) -> Option<(u64, u64)> {
        match self.stops {
            Stops::Every { interval, count } if self.len() as u64 * interval == done + interval => {
                Some((interval, (count - self.len()) as u64)).filter(|run| run.1 > 0)
            }
            _ => None,
        }
    }

    /// Flips a bit of some values in the middle, of which a proof needs one at least, for tests.
    pub(crate) fn spoil(&mut self) {
        // Of a digit in a double, this is one that leaves it whole.
        let middle = self.len() / 2;
        (middle..self.len().min(middle + 64)).for_each(|i| self.flip(i, 0, 51));
    }

    /// Flips a bit of the `i`th value, for tests.
    pub(crate) fn flip(&mut self, i: usize, word: usize, bit: usize) {
        self.values.value_mut(i)[word] ^= 1 << bit;
    }

    /// All values, to append to.
    pub(crate) fn values_mut(&mut self) -> &mut Elements {
        &mut self.values
    }

    /// Forgets the values of exponents above `done`.
    pub(crate) fn rewind(&mut self, done: u64) {
        let keep = (0..self.len()).take_while(|&i| self.stop(i).is_some_and(|e| e <= done)).count();
        self.values.truncate(keep);
    }

    /// The last value and its exponent.
    pub(crate) fn last(&self) -> Option<(u64, &[u64])> {
        let last = self.len().checked_sub(1)?;
        Some((self.stop(last)?, self.value(last)))
    }

    /// The `i`th value, an element of the fast ring.
    pub(crate) fn value(&self, i: usize) -> &[u64] {
        self.values.value(i)
    }

    /// All values.
    pub(crate) fn values(&self) -> &Elements {
        &self.values
    }
}
