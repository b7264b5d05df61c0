//! Eight numbers side by side: a row holds one digit of each.
//!
//! Where many products do not wait for each other, that is the faster way: no lane is moved, and
//! Karatsuba's method saves multiplications, which numbers that lie along registers cannot use. The
//! product itself is in [`product`]; here are the way in and out, and what is done about wrong guesses.
//!
//! A number that lies along its registers stands for a where it is a·b^(l+m) mod N, see the
//! [module above](super). A product in lanes divides by b^v − 1 instead of b^(l+m): it is g = (b^v − 1)/b^(l+m)
//! times smaller than what [`Ifma::multiply`](super::Ifma::multiply) makes of the same words. Who multiplies
//! many numbers puts that right once, at the end. Moduli that have a factor in common with b^v − 1 do without
//! lanes: nearly all of these have a small one.
//!
//! # What was tried
//! On a Zen 5, at 2048 bits, in nanoseconds for eight products, of which multiplications alone take 450
//! (eight squarings in their own kernel: 745). With blocks multiplied digit by digit, 570 for
//! multiplications alone: sums and differences made between the products of blocks 780; those of two blocks
//! made row by row inside their products 740; the 39 multiplications of the vanishing part unrolled, and the
//! columns of products added where they are made, 650; all other sums made inside products as well, 765.
//! With blocks multiplied by Karatsuba's method too, and all sums apart, 650, at 4096 bits 3050 and not 4600;
//! with the part that vanishes made among the upper columns, and the sums of halves before the products that
//! do not need them, 620, of which multiplications alone 440. With R = X² − 1, 365 for these and 540 in all.
//! The digits of the result made where their last products are: 30 more. T·K modulo Y − 1 from remainders modulo
//! its two factors, 50 multiplications of 2840 less, and columns modulo Y + 1 folded where they are made: the same,
//! for their code is longer.
//!
//! Values are sent for three steps ahead and one at a time between products of blocks, without jumps: loops
//! over the lines of an element, and a jump for each kind of factor, took 60 more; four steps ahead 80 more;
//! into the second-level cache first, or with a hint of no further use, 20 and 100 more. Then it makes no
//! difference whether they are in a cache. But they must not have displaced there what a proof begins with: since
//! the chain writes them past the caches, proofs take 30 µs less, and steps with 84 MB of values a seventh less.
//! Factors put side by side a step ahead, in pieces between products of blocks, take as long as before them.
//!
//! The code of a step must fit the first-level cache of 32 kB: with 35 kB of it, because what is done with a
//! block's product stood where that is made, steps in a proof took 60 more than the same code alone. So all
//! products of blocks share one code but for two whose results are added up at once; with these apart, too,
//! it is 60 more again.
//!
//! What is left above multiplications are stores: these take 1420 cycles, there are 650 stores of 64 bytes, and
//! together they take 2120. A store takes a cycle from both multipliers, which have three sources to be read,
//! though not always: short loops of the same instructions run with and without that loss. Sums and
//! differences cost little beside; the window of instructions is full of loads that wait for theirs. Products
//! that begin with the sums that they are added to need more registers than there are.

mod blocks;
mod product;
#[cfg(test)]
mod tests;

use super::super::exact::{Exact, inverse_vartime, padded, power_of_two};
use super::memory::{DIGIT, from_digits, to_digits};
use super::{BLOCK_BITS, Ring, shift};
use crate::mont::Elements;
use crate::mont::elements::Line;
use crate::mont::portable::mul_wide;
use crate::mont::powers::{AHEAD, Eights, NO_STEP, ONE, Steps};
use blocks::Row;
use core::arch::x86_64::*;
use product::{Ahead, product, scratch_rows};

/// Eight numbers, by rows.
pub(super) struct Eight(pub(super) Vec<Line>);

impl Eight {
    /// Puts a number into a lane.
    fn put(&mut self, lane: usize, number: &[Line]) {
        let digits = number.iter().flat_map(|line| line.0);
        self.0.iter_mut().zip(digits).for_each(|(row, digit)| row.0[lane] = digit);
    }
}

/// What belongs to a modulus.
pub(super) struct Constants {
    product: product::Constants,
    /// b^v − 1 mod N, which products leave as they are.
    one: Vec<Line>,
    /// g and 1/g, elements.
    factors: [Vec<u64>; 2],
    /// What makes exact products those of lanes, see [`Exact::product_times`].
    exactly: Vec<u64>,
}

impl Constants {
    /// Of a modulus of the class of v blocks; `None` where that has a factor in common with b^v − 1.
    pub(super) fn new(ring: &Ring, v: usize, exact: &Exact) -> Option<Self> {
        let times = |a: &[u64], c: &[u64]| ring.mul(&ring.enter(a), c);
        let one = before(power_of_two(ring, BLOCK_BITS * v))?;
        let inverse = inverse_vartime(ring, &one)?;
        let digits = |limbs: &[u64]| {
            let mut digits = vec![0; 8 * v];
            to_digits(&mut digits, limbs);
            digits
        };
        let limbs = exact.modulus().len();
        // K = −1/N mod b^v − 1: as N·K + 1 = (b^v − 1)·(1/one), it is −(1/one + 1)/N modulo b^v.
        let mut quotient = vec![0; 2 * limbs];
        let more = after(padded(&inverse, limbs));
        mul_wide(&mut quotient, &more, &exact.negative_inverse(limbs));
        let product =
            product::Constants::new(digits(exact.modulus()), &digits(&quotient[..limbs]))?;
        let factors = [
            times(&one, &ring.inverse_power_of_two(shift(v))),
            times(&inverse, &power_of_two(ring, shift(v))),
        ];
        let factors = factors.map(|factor| digits(&exact.enter(&factor)));
        let exactly = times(&inverse, &power_of_two(ring, 2 * 64 * limbs));
        let one = digits(&one).as_chunks::<8>().0.iter().map(|&words| Line(words)).collect();
        Some(Self { product, one, factors, exactly: padded(&exactly, limbs) })
    }
}

/// a − 1; none of zero.
fn before(mut a: Vec<u64>) -> Option<Vec<u64>> {
    let first = a.iter().position(|&limb| limb > 0)?;
    a[first] -= 1;
    a[..first].fill(u64::MAX);
    Some(a)
}

/// a + 1, where that has as many limbs.
fn after(mut a: Vec<u64>) -> Vec<u64> {
    let first = a.iter().position(|&limb| limb < u64::MAX).unwrap_or(a.len() - 1);
    a[first] = a[first].wrapping_add(1);
    a[..first].fill(0);
    a
}

/// Calls a function of V lines and 4·B digits for the class of these lanes.
macro_rules! of_class {
    ($lanes:ident.$function:ident($($argument:expr),*)) => {
        match $lanes.v {
            // SAFETY: there are lanes only where the CPU has the features (`Ifma::new`).
            3 => unsafe { $lanes.$function::<3, 6>($($argument),*) },
            // SAFETY: as above.
            5 => unsafe { $lanes.$function::<5, 10>($($argument),*) },
            // SAFETY: as above.
            8 => unsafe { $lanes.$function::<8, 16>($($argument),*) },
            // SAFETY: as above.
            10 => unsafe { $lanes.$function::<10, 20>($($argument),*) },
            _ => unreachable!("`blocks` names no other class"),
        }
    };
}

/// Eight runs and eight sums, and space to multiply them in.
pub(in crate::mont) struct Lanes<'a> {
    v: usize,
    constants: &'a Constants,
    exact: &'a Exact,
    pub(super) runs: Eight,
    pub(super) sums: Eight,
    pub(super) factors: Eight,
    /// The results of a multiplication.
    pub(super) out: Eight,
    /// Runs that will be factors of sums once there are eight.
    kept: Eight,
    waiting: usize,
    scratch: Vec<Line>,
    /// How many products had to be repeated exactly.
    pub(super) redone: u64,
}

impl<'a> Lanes<'a> {
    /// Runs and sums of one, modulo a number of the class of v blocks. The CPU has IFMA.
    pub(super) fn new(v: usize, constants: &'a Constants, exact: &'a Exact) -> Self {
        let rows_of_zeros = || Eight(vec![Line([0; 8]); 8 * v]);
        let mut ones = rows_of_zeros();
        (0..8).for_each(|lane| ones.put(lane, &constants.one));
        let scratch = vec![Line([0; 8]); scratch_rows(2 * v)];
        Self {
            v,
            constants,
            exact,
            runs: Eight(ones.0.clone()),
            sums: ones,
            factors: rows_of_zeros(),
            out: rows_of_zeros(),
            kept: rows_of_zeros(),
            waiting: 0,
            scratch,
            redone: 0,
        }
    }

    /// g, by which products are too small, and 1/g, elements.
    pub(in crate::mont) fn factors(&self) -> &'a [Vec<u64>; 2] {
        &self.constants.factors
    }

    /// Multiplies each run by its factor, into `out`; divides by b^v − 1.
    pub(super) fn multiply(&mut self) {
        of_class!(self.product(&[]));
    }

    /// The same for numbers of V lines and 4·B digits; meanwhile elements are brought near.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    fn product<const V: usize, const B: usize>(&mut self, ahead: &[&[Line; V]]) {
        debug_assert!(are_digits(&self.runs) && are_digits(&self.factors));
        let (x, y, constants) =
            (rows(&self.runs.0), rows(&self.factors.0), &self.constants.product);
        let (out, scratch) = (rows_mut(&mut self.out.0), rows_mut(&mut self.scratch));
        let wrong = product::<B, V>(out, x, y, constants, scratch, &mut Ahead::new(ahead));
        if wrong > 0 {
            (0..8).filter(|lane| wrong >> lane & 1 == 1).for_each(|lane| self.mend(lane));
        }
        debug_assert!(are_digits(&self.out), "a digit left the kernel unchecked");
    }

    /// [`Eights::take`] for numbers of V lines and 4·B digits.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    fn take_all<const V: usize, const B: usize>(&mut self, values: &Elements, steps: Steps<'_>) {
        let table = values.arrays::<V>();
        let one: &'a [Line; V] = self.constants.one.first_chunk().expect("one has V lines");
        let find = |at: usize| steps.get(at).unwrap_or(&NO_STEP).map(|m| element(table, m, one));
        // The factors of this step and of those before the one that is sent for.
        let mut near: [_; AHEAD] = core::array::from_fn(find);
        for (at, step) in steps.iter().enumerate() {
            debug_assert!(
                step.iter().all(|&m| m & ONE == ONE || ((m & ONE) as usize) < values.len())
            );
            load(rows_mut(&mut self.factors.0), near[0]);
            near.rotate_left(1);
            near[AHEAD - 1] = find(at + AHEAD);
            self.product::<V, B>(&near[AHEAD - 1]);
            core::mem::swap(&mut self.runs, &mut self.out);
            let mut marks = (0..8).fold(0, |mask, lane| mask | (step[lane] >> 31) << lane);
            while marks > 0 {
                self.keep::<V, B>(marks.trailing_zeros() as usize);
                marks &= marks - 1;
            }
        }
    }

    /// Takes a run to the factors of sums.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    fn keep<const V: usize, const B: usize>(&mut self, lane: usize) {
        let own = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        let from = _mm512_mask_set1_epi64(own, 1 << self.waiting, 8 + lane as i64);
        for (kept, run) in rows_mut(&mut self.kept.0).iter_mut().zip(rows(&self.runs.0)) {
            *kept = _mm512_permutex2var_epi64(*kept, from, *run);
        }
        self.waiting += 1;
        if self.waiting == 8 {
            self.add_up::<V, B>();
        }
    }

    /// Multiplies sums by what was kept for them.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
    fn add_up<const V: usize, const B: usize>(&mut self) {
        (self.waiting..8).for_each(|lane| self.kept.put(lane, &self.constants.one));
        core::mem::swap(&mut self.factors, &mut self.kept);
        core::mem::swap(&mut self.runs, &mut self.sums);
        self.product::<V, B>(&[]);
        core::mem::swap(&mut self.factors, &mut self.kept);
        core::mem::swap(&mut self.runs, &mut self.out);
        core::mem::swap(&mut self.runs, &mut self.sums);
        self.waiting = 0;
    }

    /// Puts the exact product into a lane of the results.
    #[cold]
    fn mend(&mut self, lane: usize) {
        let number = |eight: &Eight| {
            let digits: Vec<u64> = eight.0.iter().map(|row| row.0[lane]).collect();
            from_digits(&digits, self.exact.modulus().len())
        };
        let (a, c) = (number(&self.runs), number(&self.factors));
        let product = self.exact.product_times(&a, &c, &self.constants.exactly);
        let mut digits = vec![0; 8 * self.v];
        to_digits(&mut digits, &product);
        self.out.0.iter_mut().zip(digits).for_each(|(row, digit)| row.0[lane] = digit);
        self.redone += 1;
    }

    /// Puts eight numbers in the place of the runs.
    pub(in crate::mont) fn begin(&mut self, from: [&[Line]; 8]) {
        from.iter().enumerate().for_each(|(lane, number)| self.runs.put(lane, number));
    }

    /// Multiplies each run by itself.
    pub(in crate::mont) fn square(&mut self) {
        self.factors.0.copy_from_slice(&self.runs.0);
        self.multiply();
        core::mem::swap(&mut self.runs, &mut self.out);
    }

    /// Appends the runs to a table.
    pub(in crate::mont) fn push_to(&mut self, to: &mut Elements) {
        let lines = &mut self.scratch[..8 * self.v];
        // SAFETY: as in `of_class`.
        unsafe { unload(rows(&self.runs.0), rows_mut(lines)) }
        lines.chunks_exact(self.v).for_each(|lines| to.push_lines(lines));
    }
}

impl<'a> Eights for Lanes<'a> {
    fn take(&mut self, values: &Elements, steps: Steps<'_>) {
        of_class!(self.take_all(values, steps));
    }

    fn finish(mut self, to: &mut Elements) {
        if self.waiting > 0 {
            of_class!(self.add_up());
        }
        self.push_to(to);
        core::mem::swap(&mut self.runs, &mut self.sums);
        self.push_to(to);
    }
}

/// Element `m` of a table, or `one` where there is none, found without a jump.
#[inline(always)]
fn element<'e, const V: usize>(
    table: &'e [[Line; V]],
    m: u32,
    one: &'e [Line; V],
) -> &'e [Line; V] {
    let m = (m & ONE) as usize;
    let there = m < table.len();
    let at = core::hint::select_unpredictable(there, m, 0);
    let lines = table.get(at).unwrap_or(one);
    core::hint::select_unpredictable(there, lines, one)
}

fn are_digits(eight: &Eight) -> bool {
    eight.0.iter().all(|row| row.0.iter().all(|&digit| digit <= DIGIT))
}

fn rows(lines: &[Line]) -> &[Row] {
    // SAFETY: both types are 64 bytes, aligned to 64, and any bits are a value of either.
    unsafe { core::slice::from_raw_parts(lines.as_ptr().cast(), lines.len()) }
}

fn rows_mut(lines: &mut [Line]) -> &mut [Row] {
    // SAFETY: as above, and the borrow is handed on.
    unsafe { core::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len()) }
}

/// Puts eight numbers side by side.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
fn load<const V: usize>(to: &mut [Row], from: [&[Line; V]; 8]) {
    let (to, _) = to.as_chunks_mut::<8>();
    for block in 0..V {
        // Half a line of one number and of the fourth after it, which memory gives without moving lanes.
        let pair = |number: usize, half: usize| {
            let [low, high] = [number, number + 4].map(|i| halves(&from[i][block])[half]);
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        };
        for half in 0..2 {
            let (a, b, c, d) = (pair(0, half), pair(1, half), pair(2, half), pair(3, half));
            let (even, odd) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
            let (more, last) = (_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
            let lower = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let upper = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            let rows = &mut to[block][4 * half..4 * half + 4];
            rows[0] = _mm512_permutex2var_epi64(even, lower, more);
            rows[1] = _mm512_permutex2var_epi64(odd, lower, last);
            rows[2] = _mm512_permutex2var_epi64(even, upper, more);
            rows[3] = _mm512_permutex2var_epi64(odd, upper, last);
        }
    }
}

fn halves(line: &Line) -> &[__m256i; 2] {
    // SAFETY: both types are 64 bytes, the line is aligned to as many, and any bits are a value of either.
    unsafe { &*core::ptr::from_ref(line).cast() }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
fn unload(from: &[Row], to: &mut [Row]) {
    let (blocks, _) = from.as_chunks::<8>();
    for (block, &rows) in blocks.iter().enumerate() {
        for (lane, row) in transposed(rows).into_iter().enumerate() {
            to[lane * blocks.len() + block] = row;
        }
    }
}

/// Lane i of row j becomes lane j of row i.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
#[inline]
fn transposed(r: [Row; 8]) -> [Row; 8] {
    // Lanes in pairs: of u0, u1, … the even columns of two rows, of w0, … the odd ones.
    let halves = |a: Row, b: Row, c: Row, d: Row| {
        // Pairs 0, 2 and 1, 3 of both.
        let (even, odd) = (_mm512_shuffle_i64x2::<0x88>(a, b), _mm512_shuffle_i64x2::<0xdd>(a, b));
        let (more, last) = (_mm512_shuffle_i64x2::<0x88>(c, d), _mm512_shuffle_i64x2::<0xdd>(c, d));
        [
            _mm512_shuffle_i64x2::<0x88>(even, more),
            _mm512_shuffle_i64x2::<0x88>(odd, last),
            _mm512_shuffle_i64x2::<0xdd>(even, more),
            _mm512_shuffle_i64x2::<0xdd>(odd, last),
        ]
    };
    let u = |i: usize| _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
    let w = |i: usize| _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
    let [c0, c2, c4, c6] = halves(u(0), u(1), u(2), u(3));
    let [c1, c3, c5, c7] = halves(w(0), w(1), w(2), w(3));
    [c0, c1, c2, c3, c4, c5, c6, c7]
}
