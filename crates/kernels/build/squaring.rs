//! The squaring of numbers of 52-bit digits modulo N, as a list of steps in a chosen order.
//!
//! The scheme and its proof are in the kernel's module, `src/mont/ifma.rs`; this file turns it into
//! instructions. Numbers are blocks of 8 digits, one AVX-512 register each. A *column* c collects the
//! products of blocks i and j with i + j = c in nine accumulators: the products of digit s of one
//! block with the other block, low halves in accumulator s, high halves in s + 1, so that lane k of
//! accumulator s belongs to digit 8·c + k + s. Closing a column shifts the accumulators into place and
//! adds them up, together with what the column below pushes over its upper edge.
//!
//! An order is a text of [`Step`]s, each a letter and one base-36 digit per index; a `+` says that the
//! step is taken for the squaring after this one, whose first steps fill the time in which the last
//! ones of this squaring wait for each other.

use crate::machine::{Base, Op, Place, Reg, assemble, bounds};
use crate::steps::{Job, Size, Step, parse};
use std::collections::BTreeMap;

/// Which sum a column's accumulators belong to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Column {
    /// A highest column of A² by itself.
    High(usize),
    /// A column of A² + Low·C + High·K + q·N.
    Folded(usize),
    /// A column of P·N'.
    Quotient(usize),
}

fn square_column(size: Size, c: usize) -> Column {
    if c >= size.first_high() { Column::High(c) } else { Column::Folded(c) }
}

/// Unclosed sums that are carried from step to step, by what they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Sum {
    Low,
    High,
    Part,
    Quotient,
    Result,
}

type Accumulators = [Option<Reg>; 9];
const NONE: Accumulators = [None; 9];

/// What lives in registers between the steps of one squaring.
#[derive(Default)]
struct Live {
    columns: BTreeMap<Column, Accumulators>,
    sums: BTreeMap<Sum, Reg>,
    /// All digits, or-ed.
    digits: Option<Reg>,
}

impl Live {
    fn take(&mut self, column: Column) -> Accumulators {
        self.columns.remove(&column).unwrap_or(NONE)
    }

    fn registers(&mut self) -> impl Iterator<Item = &mut Reg> {
        let columns = self.columns.values_mut().flatten().flatten();
        columns.chain(self.sums.values_mut()).chain(&mut self.digits)
    }
}

/// Which mask of the constants.
#[derive(Clone, Copy)]
enum Mask {
    /// 52 ones in each lane.
    Digits = 0,
    /// The same, lane 7 whole.
    AllButLast = 1,
    /// 52 ones in lane 7, the others whole.
    Last = 2,
    /// 512 in lane 7.
    Round = 3,
    /// The bits that a digit does not have.
    Beyond = 4,
}

struct Writer {
    size: Size,
    ops: Vec<Op>,
    registers: usize,
    base: Base,
}

impl Writer {
    fn new(size: Size) -> Self {
        Writer { size, ops: vec![], registers: 0, base: Base::Current }
    }

    fn reg(&mut self) -> Reg {
        self.registers += 1;
        self.registers - 1
    }

    /// Pushes an instruction that bears a register.
    fn put(&mut self, op: impl FnOnce(Reg) -> Op) -> Reg {
        let reg = self.reg();
        self.ops.push(op(reg));
        reg
    }

    fn here(&self, line: usize) -> Place {
        Place { base: self.base, line, byte: 0 }
    }

    /// Block i of the first factor and block j of the second.
    fn factors(&self, i: usize, j: usize) -> (Place, Place) {
        let second = match self.size.job {
            Job::Square => 0,
            Job::Product => self.size.second(),
        };
        (self.here(i), self.here(second + j))
    }

    fn constant(&self, line: usize) -> Place {
        Place { base: Base::Constants, line, byte: 0 }
    }

    fn mask(&self, mask: Mask) -> Place {
        self.constant(self.size.masks() + mask as usize)
    }

    /// accumulators += (8 digits at `digits`) × (block at `block`); `part` picks of the 16 products.
    fn block(
        &mut self,
        accumulators: &mut Accumulators,
        digits: Place,
        block: Place,
        part: impl Fn(usize, bool) -> bool,
    ) {
        let by = self.put(|d| Op::Load(d, block));
        for s in 0..8 {
            let word = Place { byte: 8 * s, ..digits };
            let halves = [false, true].into_iter().filter(|&high| part(s, high));
            let mut many = None;
            for high in halves {
                let k = s + usize::from(high);
                let acc = accumulators[k].unwrap_or_else(|| self.put(Op::Zero));
                accumulators[k] = Some(acc);
                let op = if self.size.words {
                    Op::MaddWord(high, acc, word, by)
                } else {
                    let all = many.unwrap_or_else(|| self.put(|d| Op::Broadcast(d, word)));
                    many = Some(all);
                    Op::Madd(high, acc, all, by)
                };
                self.ops.push(op);
            }
        }
    }

    /// Lanes of `a` moved up by s, with the top lanes of `below` moved in.
    fn shift(&mut self, a: Option<Reg>, below: Option<Reg>, s: usize) -> Reg {
        let a = a.unwrap_or_else(|| self.put(Op::Zero));
        let below = below.unwrap_or_else(|| self.put(Op::Zero));
        self.put(|d| Op::Align(d, a, below, 8 - s))
    }

    fn add(&mut self, a: Reg, b: Reg) -> Reg {
        self.put(|d| Op::Add(d, a, b))
    }

    /// The sum of a column: its accumulators in place, and those of the column below that reach it.
    fn close(&mut self, column: &Accumulators, below: &Accumulators) -> Reg {
        let mut sum = match (column[0], below[8]) {
            (Some(a), Some(b)) => Some(self.add(a, b)),
            (a, b) => a.or(b),
        };
        let mut single = None;
        for s in (1..8).rev() {
            if column[s].is_none() && below[s].is_none() {
                continue;
            }
            let shifted = self.shift(column[s], below[s], s);
            single = match single.take() {
                None => Some(shifted),
                Some(other) => {
                    let pair = self.add(other, shifted);
                    sum = Some(sum.map_or(pair, |sum| self.add(sum, pair)));
                    None
                }
            };
        }
        match (sum, single) {
            (Some(a), Some(b)) => self.add(a, b),
            (a, b) => a.or(b).expect("a column has products"),
        }
    }

    /// One round of carries: (sum & mask) + carries out of the sum and, for lane 0, out of `below`.
    fn carry(&mut self, sum: Reg, below: Option<Reg>, mask: Mask) -> Reg {
        let carries = self.put(|d| Op::Carry(d, sum));
        let from_below = below.map(|b| self.put(|d| Op::Carry(d, b)));
        let carries = self.shift(Some(carries), from_below, 1);
        let mask = self.mask(mask);
        let kept = self.put(|d| Op::And(d, sum, mask));
        self.add(kept, carries)
    }

    /// Makes digits of a sum, stores them and has them checked.
    fn digits(&mut self, live: &mut Live, sum: Reg, below: Option<Reg>, mask: Mask, to: Place) {
        let digits = self.carry(sum, below, mask);
        self.ops.push(Op::Store(to, digits));
        match live.digits {
            Some(all) => self.ops.push(Op::Or(all, digits)),
            None => {
                let all = self.put(Op::Zero);
                self.ops.push(Op::Or(all, digits));
                live.digits = Some(all);
            }
        }
    }

    fn product(&mut self, live: &mut Live, column: Column, digits: Place, block: Place) {
        let mut accumulators = live.take(column);
        self.block(&mut accumulators, digits, block, |_, _| true);
        live.columns.insert(column, accumulators);
    }

    fn step(&mut self, live: &mut Live, step: Step) {
        let size = self.size;
        let (c, k, n) = (0, size.v, 2 * size.v);
        match step {
            Step::Square(i, j) => {
                let (digits, block) = self.factors(i, j);
                self.product(live, square_column(size, i + j), digits, block);
            }
            Step::Double(c) => {
                let mut accumulators = live.take(square_column(size, c));
                for acc in accumulators.iter_mut().flatten() {
                    *acc = self.add(*acc, *acc);
                }
                live.columns.insert(square_column(size, c), accumulators);
            }
            Step::FoldLow(i, j) => {
                let (digits, block) = (self.here(size.low() + i), self.constant(c + j));
                self.product(live, Column::Folded(size.l + i + j), digits, block);
            }
            Step::FoldHigh(i, j) => {
                let (digits, block) = (self.here(size.high() + i), self.constant(k + j));
                self.product(live, Column::Folded(size.l + i + j), digits, block);
            }
            Step::Quotient(i, j) => self.quotient(live, i, j),
            Step::Multiple(i, j) => {
                let column = Column::Folded(size.l + i + j);
                let (digits, block) = (self.here(size.quotient() + i), self.constant(n + j));
                let mut accumulators = live.take(column);
                // Of the column below the last that vanishes, only what reaches the last's lane 7.
                let all = i + j + 2 > size.m;
                self.block(&mut accumulators, digits, block, |s, high| all || (s == 7 && high));
                live.columns.insert(column, accumulators);
            }
            Step::Low(c) => self.close_low(live, c),
            Step::High(c) => self.close_high(live, c),
            Step::Part(i) => self.close_part(live, i),
            Step::CloseQuotient(i) => self.close_quotient(live, i),
            Step::Vanish => self.vanish(live),
            Step::Result(i) => self.close_result(live, i),
        }
    }

    fn quotient(&mut self, live: &mut Live, i: usize, j: usize) {
        let size = self.size;
        let column = Column::Quotient(i + j);
        let digits = self.here(size.part() + i);
        let block = self.constant(3 * size.v + j);
        let mut accumulators = live.take(column);
        // The quotient is taken modulo 2^(416·m): its last column has no use for accumulator 8.
        let last = i + j + 1 == size.m;
        self.block(&mut accumulators, digits, block, |s, high| !(last && s == 7 && high));
        live.columns.insert(column, accumulators);
    }

    fn close_low(&mut self, live: &mut Live, c: usize) {
        let mut column = live.columns[&Column::Folded(c)];
        let below = c.checked_sub(1).map_or(NONE, |b| live.take(Column::Folded(b)));
        let sum = self.close(&column, &below);
        let to = self.here(self.size.low() + c);
        let below = live.sums.insert(Sum::Low, sum);
        self.digits(live, sum, below, Mask::Digits, to);
        column[0] = None;
        live.columns.insert(Column::Folded(c), column);
    }

    fn close_high(&mut self, live: &mut Live, c: usize) {
        let size = self.size;
        let column = live.columns.get(&Column::High(c)).copied().unwrap_or(NONE);
        let below = live.take(Column::High(c - 1)); // none below the first
        let sum = self.close(&column, &below);
        match c - size.first_high() {
            0 => self.ops.push(Op::Store(self.here(size.sums()), sum)),
            1 => {
                let mask = self.mask(Mask::Last);
                let kept = self.put(|d| Op::And(d, sum, mask));
                self.ops.push(Op::Store(self.here(size.sums() + 1), kept));
                live.sums.insert(Sum::High, sum);
            }
            i => {
                let to = self.here(size.high() + i - 2);
                let below = live.sums.insert(Sum::High, sum);
                self.digits(live, sum, below, Mask::Digits, to);
            }
        }
        if c + 1 == 2 * size.v {
            live.sums.remove(&Sum::High);
        }
    }

    fn close_part(&mut self, live: &mut Live, i: usize) {
        let size = self.size;
        let column = live.columns[&Column::Folded(size.l + i)];
        let below = (size.l + i).checked_sub(1);
        let below = below.map_or(NONE, |below| live.take(Column::Folded(below)));
        let mut sum = self.close(&column, &below);
        if let Some(low) = live.sums.remove(&Sum::Low) {
            // What Low carries out.
            let carries = self.put(|d| Op::Carry(d, low));
            let carry = self.shift(None, Some(carries), 1);
            sum = self.add(sum, carry);
        }
        let to = self.here(size.part() + i);
        let before = live.sums.insert(Sum::Part, sum);
        self.digits(live, sum, before, Mask::Digits, to);
        if i + 1 == size.m {
            live.sums.remove(&Sum::Part);
            let mut edge = NONE;
            edge[8] = below[8];
            live.columns.insert(Column::Folded(size.l + i - 1), edge);
        }
    }

    fn close_quotient(&mut self, live: &mut Live, i: usize) {
        let column = live.columns[&Column::Quotient(i)];
        let below = i.checked_sub(1).map_or(NONE, |b| live.take(Column::Quotient(b)));
        let sum = self.close(&column, &below);
        let to = self.here(self.size.quotient() + i);
        let before = live.sums.insert(Sum::Quotient, sum);
        self.digits(live, sum, before, Mask::Digits, to);
        if i + 1 == self.size.m {
            live.sums.remove(&Sum::Quotient);
            live.take(Column::Quotient(i));
        }
    }

    fn vanish(&mut self, live: &mut Live) {
        let last = self.size.l + self.size.m - 1;
        let mut edge = NONE;
        edge[8] = live.take(Column::Folded(last - 1))[8];
        let column = live.columns[&Column::Folded(last)];
        let sum = self.close(&column, &edge);
        let round = self.mask(Mask::Round);
        let rounded = self.put(|d| Op::AddPlace(d, sum, round));
        live.sums.insert(Sum::Result, rounded);
    }

    fn close_result(&mut self, live: &mut Live, i: usize) {
        let size = self.size;
        let c = size.l + size.m + i;
        let column = live.columns.get(&Column::Folded(c)).copied().unwrap_or(NONE);
        let below = live.take(Column::Folded(c - 1));
        let mut sum = self.close(&column, &below);
        if let Some(high) = c.checked_sub(size.first_high()) {
            let high = self.here(size.sums() + high);
            sum = self.put(|d| Op::AddPlace(d, sum, high));
        }
        let below = live.sums.insert(Sum::Result, sum);
        let mask = if i + 1 == size.v { Mask::AllButLast } else { Mask::Digits };
        let to = Place { base: Base::Next, line: i, byte: 0 };
        self.digits(live, sum, below, mask, to);
        if i + 1 == size.v {
            live.sums.remove(&Sum::Result);
        }
    }
}

/// Writes the kernel of a size in the given order.
///
/// In: `rdi` constants, `rsi` the workspace of the digits to square, `rdx` another, `rcx` the number
/// of squarings, above zero; `r8` squarings to the next one whose result is copied to `r9`, and then
/// every `r10` squarings to the place after; `r9` is zero where none is. Out: `rsi` the workspace of the
/// result, `rcx` the number of squarings that are left: not zero where the next one must be done exactly; `r8`
/// and `r9` go on. `rsi` and `rdx` point to the middle of their workspaces ([`Size::bias`]), which makes for
/// short displacements.
///
/// Copies go past the caches: it is long until they are read, and what follows the squarings would find its
/// code and data gone.
pub fn squarings(size: Size, order: &str) -> String {
    let Loop { head, body, carried } = pipelined(size, order);
    assert!(carried < 31);
    let check = check(size, carried);
    let mut copy = String::new();
    for i in 0..size.v {
        let from = (64 * i) as isize - size.bias() as isize;
        copy += &format!("vmovdqa64 zmm31, [rsi + {from}]\nvmovntdq [r9 + {}], zmm31\n", 64 * i);
    }
    format!(
        "{head}.p2align 6\n2:\n{body}{check}kortestb k1, k1\njnz 3f\n\
         xchg rsi, rdx\ndec r8\njz 4f\n5:\ndec rcx\njnz 2b\njmp 3f\n\
         4:\n{copy}add r9, {}\nmov r8, r10\njmp 5b\n\
         3:\ntest r9, r9\njz 6f\nsfence\n6:\n",
        64 * size.v
    )
}

/// A loop in which the first steps of each round are taken by the round before.
struct Loop {
    head: String,
    body: String,
    /// How many registers go from a round to the next; the one after them holds the or-ed digits.
    carried: usize,
}

fn pipelined(size: Size, order: &str) -> Loop {
    let steps = parse(order);
    let mut stored = BTreeMap::new();

    // Ahead of the loop: the steps that each round takes for the next.
    let mut ahead = Writer::new(size);
    let mut entering = Live::default();
    for &(step, _) in steps.iter().filter(|(_, next)| *next) {
        ahead.step(&mut entering, step);
    }
    let entering_bounds = bounds(&ahead.ops, &[], &mut stored);
    let leaving: Vec<Reg> = entering.registers().map(|r| *r).collect();
    let head = assemble(&ahead.ops, &[], &leaving, size.spills(), size.bias());

    let mut body = Writer::new(size);
    entering.registers().for_each(|reg| *reg = body.reg());
    let first: Vec<(Reg, u64)> =
        leaving.iter().enumerate().map(|(i, &reg)| (i, entering_bounds[reg])).collect();
    let (mut now, mut next) = (entering, Live::default());
    for &(step, is_next) in &steps {
        body.base = if is_next { Base::Next } else { Base::Current };
        body.step(if is_next { &mut next } else { &mut now }, step);
    }
    bounds(&body.ops, &first, &mut stored);
    let mut leaving: Vec<Reg> = next.registers().map(|r| *r).collect();
    assert_eq!(leaving.len(), first.len(), "the loop ends as it begins");
    leaving.extend(now.digits);
    let names: Vec<Reg> = (0..first.len()).collect();
    let body = assemble(&body.ops, &names, &leaving, size.spills(), size.bias());
    assert!(size.spills() + head.spill_lines.max(body.spill_lines) <= CONSTANT_LINES);
    Loop { head: head.text, body: body.text, carried: first.len() }
}

/// Writes the kernel that multiplies once.
///
/// In: `rdi` constants, `rsi` the workspace of the digits of A and B, `rdx` another. Out: the digits
/// of the result in the workspace of `rdx`, and `ecx`, not zero where they do not count.
pub fn product(size: Size, order: &str) -> String {
    let (mut body, mut live) = (Writer::new(size), Live::default());
    for (step, _) in parse(order) {
        body.step(&mut live, step);
    }
    bounds(&body.ops, &[], &mut BTreeMap::new());
    let digits: Vec<Reg> = live.digits.into_iter().collect();
    let body = assemble(&body.ops, &[], &digits, size.spills(), size.bias());
    assert!(size.spills() + body.spill_lines <= CONSTANT_LINES);
    format!("{}{}kmovb ecx, k1\n", body.text, check(size, 0))
}

/// k1 = which lanes of the or-ed digits are above 52 bits.
fn check(size: Size, digits: usize) -> String {
    let beyond = 64 * (size.masks() + Mask::Beyond as usize);
    format!("vptestmq k1, zmm{digits}, [rdi + {beyond}]\n")
}

/// Lines for constants and spilled registers, in any size.
const CONSTANT_LINES: usize = 128;
