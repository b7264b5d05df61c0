//! Products with AVX-512 IFMA, of numbers in the form in which [`ifma`](super::ifma) squares them.
//!
//! The steps are those of a squaring there, with T = A·B for A², and so are the bounds and the way
//! carries are guessed: read its documentation first. A product here is written with intrinsics, not
//! generated: unlike the squarings of a chain, the products of a proof do not wait for each other, so
//! the processor itself finds an order that keeps the multipliers busy.
//!
//! Accumulators are the nine columns of one output block: adding digit s of one factor times a block of
//! the other puts low halves into column s and high halves into column s + 1. A column's lane i counts
//! 2^(52·(s + i)) within the block, so lanes with s + i ≥ 8 belong to the next block; [`combine`] moves
//! them there.
//!
//! # Correctness
//! As a squaring's: A, B < b^v and N < b^v / 2^10 give a result below b^v + 3·N, which a digit of more
//! than 52 bits betrays where it does not fit. A lane of a combined block sums at most 16 halves a
//! product of blocks, and at most v + 2·l + h ≤ 20 products of blocks: less than 320·2^52, and a carry;
//! below the 511·2^52 that the half that vanishes asks for.
//!
//! # Security
//! Not constant time: rare products take longer. For public values.

use super::ifma::{Exact, Line, ZERO};
use super::ring::Ring;
use core::arch::x86_64::*;

/// Multiplication modulo one number, in v blocks.
#[derive(Clone)]
pub(super) struct Product {
    v: usize,
    /// C, K, N (v lines each) and N' (l).
    constants: Vec<Block>,
    exact: Exact,
}

impl Product {
    /// Makes one of the size class for so many bits; `None` where there is none, or no IFMA.
    pub(super) fn new(ring: &Ring, bits: usize) -> Option<Self> {
        let v = super::ifma::blocks(bits)?;
        let allowed = crate::cpu::allowed(crate::cpu::Family::Avx512);
        allowed.then(|| Self::of_blocks(ring, v))
    }

    fn of_blocks(ring: &Ring, v: usize) -> Self {
        let l = v.div_ceil(3);
        let exact = Exact::new(ring, v, l);
        let constants = exact.constants(ring, v, l).iter().map(|line| line.0).collect();
        Self { v, constants, exact }
    }

    /// The number of words of an element.
    pub(super) fn len(&self) -> usize {
        8 * self.v
    }

    /// Carries a number below N into the form of the kernel.
    pub(super) fn enter(&self, a: &[u64]) -> Vec<u64> {
        let a = self.exact.enter(a);
        let mut lines = vec![ZERO; self.v];
        super::ifma::write_digits(&mut lines, &a);
        lines.iter().flat_map(|line| line.0).collect()
    }

    /// The number, canonical, in as many limbs.
    pub(super) fn leave(&self, a: &[u64], limbs: usize) -> Vec<u64> {
        self.exact.leave(&self.number(a), limbs)
    }

    /// A, as 64-bit limbs.
    fn number(&self, a: &[u64]) -> Vec<u64> {
        let lines: Vec<Line> = a.as_chunks::<8>().0.iter().map(|&words| Line(words)).collect();
        super::ifma::read_digits(&lines, self.exact.len())
    }

    /// a = a·b; both of [`Product::len`] words.
    pub(super) fn mul_assign(&self, a: &mut [u64], b: &[u64]) {
        assert!(a.len() == self.len() && b.len() == self.len());
        let counts = match self.v {
            3 => self.run::<3, 1, 1>(a, b),
            5 => self.run::<5, 2, 1>(a, b),
            8 => self.run::<8, 3, 2>(a, b),
            10 => self.run::<10, 4, 2>(a, b),
            _ => unreachable!("`blocks` names no other class"),
        };
        if !counts {
            self.mul_exactly(a, b);
        }
    }

    /// Multiplies in plain Rust.
    #[cold]
    fn mul_exactly(&self, a: &mut [u64], b: &[u64]) {
        let product = self.exact.product(&self.number(a), &self.number(b));
        let mut lines = vec![ZERO; self.v];
        super::ifma::write_digits(&mut lines, &product);
        a.iter_mut().zip(lines.iter().flat_map(|line| line.0)).for_each(|(a, digit)| *a = digit);
    }

    /// Multiplies with the kernel; false where a carry was guessed wrong, and `a` is as before.
    fn run<const V: usize, const L: usize, const H: usize>(
        &self,
        a: &mut [u64],
        b: &[u64],
    ) -> bool {
        let a = a.as_chunks_mut::<8>().0.first_chunk_mut::<V>().expect("a of v blocks");
        let b = b.as_chunks::<8>().0.first_chunk::<V>().expect("b of v blocks");
        // SAFETY: a `Product` is made only where the CPU has these features (`Product::new`).
        unsafe { product::<V, L, H>(a, b, &self.constants) }
    }
}

/// The digits of a block, as the kernel reads and writes them.
type Block = [u64; 8];

/// Columns of one block.
type Columns = [__m512i; 9];

#[target_feature(enable = "avx512f")]
#[inline]
fn load(block: &Block) -> __m512i {
    // SAFETY: a block is 64 bytes.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(block: &mut Block, value: __m512i) {
    // SAFETY: a block is 64 bytes.
    unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), value) }
}

/// Adds digit $s of $digits times $block to columns $s and $s + 1.
macro_rules! digit {
    ($columns:ident, $digits:ident, $block:ident, $($s:literal),*) => {$(
        let digit = _mm512_set1_epi64($digits[$s] as i64);
        $columns[$s] = _mm512_madd52lo_epu64($columns[$s], digit, $block);
        $columns[$s + 1] = _mm512_madd52hi_epu64($columns[$s + 1], digit, $block);
    )*};
}

/// Adds block k of x·y to the columns: all x_i·y_(k−i) that there are.
macro_rules! block {
    ($columns:ident, $k:expr, $x:expr, $y:expr) => {
        let (k, x, y): (usize, &[Block], &[Block]) = ($k, $x, $y);
        for i in (k + 1).saturating_sub(y.len())..(k + 1).min(x.len()) {
            let digits = &x[i];
            let block = load(&y[k - i]);
            digit!($columns, digits, block, 0, 1, 2, 3, 4, 5, 6, 7);
        }
    };
}

/// The block that `columns` make, with what those of the block below reach into it.
#[target_feature(enable = "avx512f")]
#[inline]
fn combine(a: &Columns, below: &Columns) -> __m512i {
    let pairs = [
        _mm512_add_epi64(a[0], below[8]),
        _mm512_alignr_epi64::<7>(a[1], below[1]),
        _mm512_alignr_epi64::<6>(a[2], below[2]),
        _mm512_alignr_epi64::<5>(a[3], below[3]),
        _mm512_alignr_epi64::<4>(a[4], below[4]),
        _mm512_alignr_epi64::<3>(a[5], below[5]),
        _mm512_alignr_epi64::<2>(a[6], below[6]),
        _mm512_alignr_epi64::<1>(a[7], below[7]),
    ];
    let low = _mm512_add_epi64(
        _mm512_add_epi64(pairs[0], pairs[1]),
        _mm512_add_epi64(pairs[2], pairs[3]),
    );
    let high = _mm512_add_epi64(
        _mm512_add_epi64(pairs[4], pairs[5]),
        _mm512_add_epi64(pairs[6], pairs[7]),
    );
    _mm512_add_epi64(low, high)
}

/// What a block and the one below carry upwards, lane by lane: the carries into the block's lanes.
#[target_feature(enable = "avx512f")]
#[inline]
fn carries(block: __m512i, below: __m512i) -> __m512i {
    let (block, below) = (_mm512_srli_epi64::<52>(block), _mm512_srli_epi64::<52>(below));
    _mm512_alignr_epi64::<7>(block, below)
}

/// a = a·b; false, and `a` as it was, where a digit of more than 52 bits was met.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
fn product<const V: usize, const L: usize, const H: usize>(
    a: &mut [Block; V],
    b: &[Block; V],
    constants: &[Block],
) -> bool {
    const { assert!(2 * L + H == V) };
    let (c, k) = (&constants[..V], &constants[V..2 * V]);
    let (n, n_prime) = (&constants[2 * V..3 * V], &constants[3 * V..3 * V + L]);
    let zero = _mm512_setzero_si512();
    let none: Columns = [zero; 9];
    let mask = _mm512_set1_epi64(DIGIT as i64);
    let mut seen = zero;
    // Makes digits of a block, notes them, and stores them.
    macro_rules! digits {
        ($block:expr, $below:expr) => {{
            let digits = _mm512_add_epi64(_mm512_and_si512($block, mask), carries($block, $below));
            seen = _mm512_or_si512(seen, digits);
            digits
        }};
    }

    // Low: blocks 0 to l − 1 of T. The carry of the last goes into P.
    let (mut low, mut below, mut sum) = ([EMPTY; L], none, zero);
    for at in 0..L {
        let mut columns = none;
        block!(columns, at, &*a, b);
        let block = combine(&columns, &below);
        store(&mut low[at], digits!(block, sum));
        (below, sum) = (columns, block);
    }
    let (low_columns, low_carry) = (below, carries(zero, sum));

    // The upper end of T: the column block below High's first neighbour, that neighbour, and High.
    let mut columns = none;
    block!(columns, 2 * V - H - 2, &*a, b);
    let upper_low = combine(&columns, &none);
    let (mut below, mut sum, mut upper_top) = (columns, zero, zero);
    let mut high = [EMPTY; H];
    for at in 2 * V - H - 1..2 * V {
        let mut columns = none;
        block!(columns, at, &*a, b);
        let block = combine(&columns, &below);
        if at == 2 * V - H - 1 {
            // Its last lane's carry goes to High.
            upper_top = _mm512_mask_and_epi64(block, 0x80, block, mask);
        } else {
            store(&mut high[at + H - 2 * V], digits!(block, sum));
        }
        (below, sum) = (columns, block);
    }

    // P's low blocks, and their columns without q·N.
    let (mut p, mut last, mut before) = ([EMPTY; L], low_columns, low_columns);
    let mut sum = zero;
    for at in 0..L {
        let mut columns = none;
        block!(columns, L + at, &*a, b);
        block!(columns, at, &low, c);
        block!(columns, at, &high, k);
        let mut block = combine(&columns, &last);
        if at == 0 {
            block = _mm512_add_epi64(block, low_carry);
        }
        store(&mut p[at], digits!(block, sum));
        (before, last, sum) = (last, columns, block);
    }

    // q = P·N' mod b^l.
    let (mut q, mut below, mut sum) = ([EMPTY; L], none, zero);
    for at in 0..L {
        let mut columns = none;
        block!(columns, at, &p, n_prime);
        let block = combine(&columns, &below);
        store(&mut q[at], digits!(block, sum));
        (below, sum) = (columns, block);
    }

    // The half that vanishes: only the sum of its last column is wanted, the last lane of this block.
    let mut columns = last;
    block!(columns, L - 1, &q, n);
    let mut reach = before[8];
    for i in 0..L - 1 {
        let digit = _mm512_set1_epi64(q[i][7] as i64);
        reach = _mm512_madd52hi_epu64(reach, digit, load(&n[L - 2 - i]));
    }
    let vanishing = [zero, zero, zero, zero, zero, zero, zero, zero, reach];
    let half = _mm512_set1_epi64(512);
    let mut sum = _mm512_add_epi64(combine(&columns, &vanishing), half);

    // The upper v blocks.
    let (mut below, mut out) = (columns, [zero; V]);
    for at in L..V + L {
        let mut columns = none;
        if L + at < 2 * V - H - 2 {
            block!(columns, L + at, &*a, b);
        }
        block!(columns, at, &low, c);
        block!(columns, at, &high, k);
        block!(columns, at, &q, n);
        let mut block = combine(&columns, &below);
        if at == V + L - 2 {
            block = _mm512_add_epi64(block, upper_low);
        }
        if at == V + L - 1 {
            // The last digit keeps all its bits: there is nowhere to carry them.
            block = _mm512_add_epi64(block, upper_top);
            let kept = _mm512_mask_and_epi64(block, 0x7f, block, mask);
            let digits = _mm512_add_epi64(kept, carries(block, sum));
            seen = _mm512_or_si512(seen, digits);
            out[at - L] = digits;
        } else {
            out[at - L] = digits!(block, sum);
        }
        (below, sum) = (columns, block);
    }
    if _mm512_test_epi64_mask(seen, _mm512_set1_epi64(!DIGIT as i64)) != 0 {
        return false;
    }
    a.iter_mut().zip(out).for_each(|(a, out)| store(a, out));
    true
}

const EMPTY: Block = [0; 8];

const DIGIT: u64 = (1 << 52) - 1;

#[cfg(test)]
mod tests;
