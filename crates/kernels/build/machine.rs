//! Straight-line AVX-512 code: operations on virtual registers, their bounds, and their registers.
//!
//! A kernel is a list of [`Op`]s in the order in which they are to run. [`bounds`] follows the
//! greatest value that a lane of each register can hold, and refuses code that could overflow;
//! [`Allocator`] gives each virtual register one of the 32 of the machine, by the linear scan that
//! puts out the value whose next use is farthest (Belady), and writes the text.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A virtual register.
pub type Reg = usize;

/// What a memory operand is relative to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Base {
    /// The workspace whose digits are being squared: `rsi`.
    Current,
    /// The workspace that takes the result: `rdx`.
    Next,
    /// The constants of the modulus, then the spilled registers: `rdi`.
    Constants,
}

/// A place in memory: 64-byte line and byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub base: Base,
    pub line: usize,
    pub byte: usize,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Zero(Reg),
    /// All lanes become the 64-bit word at the place.
    Broadcast(Reg, Place),
    Load(Reg, Place),
    Store(Place, Reg),
    /// acc += low or high 52 bits of the 104-bit products: (high, acc, a, b).
    Madd(bool, Reg, Reg, Reg),
    /// The same with one word of memory as the multiplier of all lanes: (high, acc, word, b).
    MaddWord(bool, Reg, Place, Reg),
    Add(Reg, Reg, Reg),
    AddPlace(Reg, Reg, Place),
    /// d = a & the mask at the place.
    And(Reg, Reg, Place),
    /// d = a >> 52.
    Carry(Reg, Reg),
    /// d = lanes n.. of `low`, then lanes ..n of `high`: (d, high, low, n).
    Align(Reg, Reg, Reg, usize),
    /// acc |= a.
    Or(Reg, Reg),
}

impl Op {
    fn uses(&self) -> Vec<Reg> {
        match *self {
            Op::Zero(_) | Op::Broadcast(..) | Op::Load(..) => vec![],
            Op::Store(_, a) | Op::AddPlace(_, a, _) | Op::And(_, a, _) | Op::Carry(_, a) => vec![a],
            Op::Madd(_, acc, a, b) => vec![acc, a, b],
            Op::MaddWord(_, acc, _, b) => vec![acc, b],
            Op::Add(_, a, b) | Op::Align(_, a, b, _) | Op::Or(a, b) => vec![a, b],
        }
    }

    /// The register that is born here.
    fn born(&self) -> Option<Reg> {
        match *self {
            Op::Zero(d) | Op::Broadcast(d, _) | Op::Load(d, _) | Op::Add(d, ..) => Some(d),
            Op::AddPlace(d, ..) | Op::And(d, ..) | Op::Carry(d, _) | Op::Align(d, ..) => Some(d),
            Op::Store(..) | Op::Madd(..) | Op::MaddWord(..) | Op::Or(..) => None,
        }
    }

    /// The register that changes here.
    fn changed(&self) -> Option<Reg> {
        match *self {
            Op::Madd(_, acc, ..) | Op::MaddWord(_, acc, ..) | Op::Or(acc, _) => Some(acc),
            _ => None,
        }
    }
}

/// Follows the greatest value of a lane through the code and returns that of each register.
///
/// Digits in memory are below 2^52: those that are not end the squaring (see the kernel). Sums put
/// away in memory are known by their place in `stored`. No column may reach 511·2^52: then it cannot
/// overflow its 64 bits, and what the columns below carry into the next is at most 511.
pub fn bounds(ops: &[Op], entering: &[(Reg, u64)], stored: &mut BTreeMap<Place, u64>) -> Vec<u64> {
    const DIGIT: u64 = (1 << 52) - 1;
    let mut at: Vec<u64> = vec![0; register_count(ops, entering.iter().map(|e| e.0))];
    entering.iter().for_each(|&(reg, bound)| at[reg] = bound);
    for op in ops {
        match *op {
            Op::Zero(d) => at[d] = 0,
            Op::Broadcast(d, _) | Op::Load(d, _) => at[d] = DIGIT,
            Op::Madd(_, acc, ..) | Op::MaddWord(_, acc, ..) => at[acc] += DIGIT,
            Op::Add(d, a, b) => at[d] = at[a] + at[b],
            // What is not in `stored` is a rounding constant, at most 512.
            Op::AddPlace(d, a, place) => at[d] = at[a] + stored.get(&place).unwrap_or(&512),
            // Some masks leave lanes as they are.
            Op::And(d, a, _) => at[d] = at[a],
            Op::Carry(d, a) => at[d] = at[a] >> 52,
            Op::Align(d, a, b, _) => at[d] = at[a].max(at[b]),
            Op::Store(place, a) => {
                stored.insert(Place { base: Base::Current, ..place }, at[a]);
            }
            Op::Or(..) => {}
        }
        for reg in op.born().into_iter().chain(op.changed()) {
            assert!(at[reg] < 511 << 52, "a column could overflow at {op:?}");
        }
    }
    at
}

fn register_count(ops: &[Op], more: impl Iterator<Item = Reg>) -> usize {
    let named = ops.iter().flat_map(|op| op.uses().into_iter().chain(op.born()));
    named.chain(more).max().map_or(0, |r| r + 1)
}

/// Gives registers to code and writes it.
pub struct Allocator {
    /// Where each virtual register is used, in order.
    uses: Vec<Vec<usize>>,
    /// The machine register that holds each virtual one.
    home: Vec<Option<usize>>,
    owner: [Option<Reg>; 32],
    /// When each machine register was last taken: the oldest free one is taken first.
    taken: [usize; 32],
    /// The line where a register is spilled to; dropped as soon as the register changes.
    spilled: Vec<Option<usize>>,
    free_lines: Vec<usize>,
    /// First line of spilled registers, and how many lines were needed.
    first_line: usize,
    lines: usize,
    /// Displacement from a workspace's pointer to its line 0.
    bias: usize,
    text: String,
}

/// Code and the number of lines of memory that it spills to.
pub struct Assembly {
    pub text: String,
    pub spill_lines: usize,
}

/// Writes `ops`: `entering` are in machine registers 0.. at the start, `leaving` at the end.
pub fn assemble(
    ops: &[Op],
    entering: &[Reg],
    leaving: &[Reg],
    first_line: usize,
    bias: usize,
) -> Assembly {
    let count = register_count(ops, entering.iter().chain(leaving).copied());
    let mut uses = vec![vec![]; count];
    for (i, op) in ops.iter().enumerate() {
        op.uses().into_iter().for_each(|reg| uses[reg].push(i));
    }
    leaving.iter().for_each(|&reg| uses[reg].push(ops.len()));
    let mut allocator = Allocator {
        uses,
        home: vec![None; count],
        owner: [None; 32],
        taken: [0; 32],
        spilled: vec![None; count],
        free_lines: vec![],
        first_line,
        lines: 0,
        bias,
        text: String::new(),
    };
    entering.iter().enumerate().for_each(|(i, &reg)| allocator.settle(reg, i));
    for (i, op) in ops.iter().enumerate() {
        allocator.step(i, op, leaving);
    }
    allocator.leave(leaving);
    Assembly { text: allocator.text, spill_lines: allocator.lines }
}

impl Allocator {
    fn settle(&mut self, reg: Reg, machine: usize) {
        self.home[reg] = Some(machine);
        self.owner[machine] = Some(reg);
    }

    fn next_use(&self, reg: Reg, after: usize) -> Option<usize> {
        let uses = &self.uses[reg];
        uses.get(uses.partition_point(|&at| at <= after)).copied()
    }

    /// Takes a machine register at step `i`, the wanted one if it is free, none of those of `keep`.
    fn take(&mut self, i: usize, keep: &[Reg], wanted: Option<usize>, leaving: usize) -> usize {
        let free = |m: &usize| self.owner[*m].is_none();
        let machine = wanted
            .filter(free)
            .or_else(|| (leaving..32).filter(free).min_by_key(|&m| self.taken[m]))
            .or_else(|| (0..leaving).filter(free).min_by_key(|&m| self.taken[m]))
            .unwrap_or_else(|| self.evict(i, keep));
        self.taken[machine] = i + 1;
        machine
    }

    /// Puts the register whose next use is farthest into memory.
    fn evict(&mut self, i: usize, keep: &[Reg]) -> usize {
        let candidates = (0..32).filter_map(|m| self.owner[m].map(|reg| (reg, m)));
        let (_, reg, machine) = candidates
            .filter(|(reg, _)| !keep.contains(reg))
            .map(|(reg, m)| (self.next_use(reg, i).unwrap_or(usize::MAX), reg, m))
            .max_by_key(|&(next, _, m)| (next, m))
            .expect("no instruction names 32 registers");
        if self.spilled[reg].is_none() {
            let line = self.free_lines.pop().unwrap_or_else(|| {
                self.lines += 1;
                self.lines - 1
            });
            self.spilled[reg] = Some(line);
            self.line(format_args!("vmovdqa64 {}, zmm{machine}", self.spill(line)));
        }
        self.home[reg] = None;
        self.owner[machine] = None;
        machine
    }

    fn spill(&self, line: usize) -> String {
        format!("[rdi + {}]", 64 * (self.first_line + line))
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{text}").expect("a string takes all");
    }

    fn step(&mut self, i: usize, op: &Op, leaving: &[Reg]) {
        let uses = op.uses();
        for (position, &reg) in uses.iter().enumerate() {
            // The second operand may come from memory where it is not needed again.
            let folds = position == 1
                && matches!(op, Op::Add(..) | Op::Align(..))
                && uses[0] != reg
                && self.next_use(reg, i).is_none();
            if self.home[reg].is_none() && !folds {
                let line = self.spilled[reg].expect("a register is born before it is used");
                let machine = self.take(i, &uses, None, leaving.len());
                self.line(format_args!("vmovdqa64 zmm{machine}, {}", self.spill(line)));
                self.settle(reg, machine);
            }
        }
        let operands: Vec<String> = uses.iter().map(|&reg| self.operand(reg)).collect();
        if let Some(reg) = op.changed() {
            self.free_lines.extend(self.spilled[reg].take());
        }
        for &reg in &uses {
            if self.next_use(reg, i).is_none() {
                self.free_lines.extend(self.spilled[reg].take());
                if let Some(machine) = self.home[reg].take() {
                    self.owner[machine] = None;
                }
            }
        }
        let mut born = 0;
        if let Some(reg) = op.born() {
            let wanted = leaving.iter().position(|&l| l == reg);
            born = self.take(i, &uses, wanted, leaving.len());
            if self.next_use(reg, i).is_some() {
                self.settle(reg, born);
            }
        }
        self.write(op, &operands, born);
    }

    fn operand(&self, reg: Reg) -> String {
        match self.home[reg] {
            Some(machine) => format!("zmm{machine}"),
            None => self.spill(self.spilled[reg].expect("a register is in one place or another")),
        }
    }

    fn place(&self, place: Place) -> String {
        let at = (64 * place.line + place.byte) as isize;
        match place.base {
            Base::Current => format!("[rsi + {}]", at - self.bias as isize),
            Base::Next => format!("[rdx + {}]", at - self.bias as isize),
            Base::Constants => format!("[rdi + {at}]"),
        }
    }

    fn write(&mut self, op: &Op, from: &[String], d: usize) {
        let half = |high| if high { 'h' } else { 'l' };
        let text = match *op {
            Op::Zero(_) => format!("vpxorq xmm{d}, xmm{d}, xmm{d}"),
            Op::Broadcast(_, at) => format!("vpbroadcastq zmm{d}, qword ptr {}", self.place(at)),
            Op::Load(_, at) => format!("vmovdqa64 zmm{d}, {}", self.place(at)),
            Op::Store(at, _) => format!("vmovdqa64 {}, {}", self.place(at), from[0]),
            Op::Madd(high, ..) => {
                format!("vpmadd52{}uq {}, {}, {}", half(high), from[0], from[1], from[2])
            }
            Op::MaddWord(high, _, at, _) => {
                let word = self.place(at);
                let (acc, by) = (&from[0], &from[1]);
                format!("vpmadd52{}uq {acc}, {by}, qword ptr {word}{{1to8}}", half(high))
            }
            Op::Add(..) => format!("vpaddq zmm{d}, {}, {}", from[0], from[1]),
            Op::AddPlace(_, _, at) => format!("vpaddq zmm{d}, {}, {}", from[0], self.place(at)),
            Op::And(_, _, at) => format!("vpandq zmm{d}, {}, {}", from[0], self.place(at)),
            Op::Carry(..) => format!("vpsrlq zmm{d}, {}, 52", from[0]),
            Op::Align(.., n) => format!("valignq zmm{d}, {}, {}, {n}", from[0], from[1]),
            Op::Or(..) => format!("vporq {0}, {0}, {1}", from[0], from[1]),
        };
        self.line(format_args!("{text}"));
    }

    /// Moves the registers that leave to 0.., as one parallel move.
    fn leave(&mut self, leaving: &[Reg]) {
        let mut moves: Vec<(usize, usize)> = vec![];
        let mut loads = vec![];
        for (to, &reg) in leaving.iter().enumerate() {
            match self.home[reg] {
                Some(from) if from == to => {}
                Some(from) => moves.push((from, to)),
                None => loads.push((self.operand(reg), to)),
            }
        }
        while !moves.is_empty() {
            let ready = moves.iter().position(|m| moves.iter().all(|other| other.0 != m.1));
            let (from, to) = match ready {
                Some(k) => moves.remove(k),
                None => {
                    // A cycle: its first value waits in a register that nobody needs any more.
                    let spare = (leaving.len()..32)
                        .find(|m| self.owner[*m].is_none() && moves.iter().all(|x| x.0 != *m))
                        .expect("fewer than 32 registers leave");
                    let from = moves[0].0;
                    moves[0].0 = spare;
                    (from, spare)
                }
            };
            self.line(format_args!("vmovdqa64 zmm{to}, zmm{from}"));
        }
        for (from, to) in loads {
            self.line(format_args!("vmovdqa64 zmm{to}, {from}"));
        }
    }
}
