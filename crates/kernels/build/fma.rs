//! Squaring and multiplication modulo N in digits of 52 bits held as doubles, with FMA and AVX2.
//!
//! Numbers are blocks of 4 digits, one register a block. All but a few cycles go into [`Text::block`],
//! which adds the 16 products of two blocks, in their low and high halves, to five sums of columns, and
//! into [`Text::emit`], which makes four digits of such sums.
//!
//! The scheme and its bounds are in the kernel's module, `src/mont/fma.rs`.

use std::fmt::Write;

/// Fields of the frame at `rdi`, in bytes; the first are one to a register, see [`Text::begin`].
const REGISTERS: [(&str, usize); 7] = [
    ("r8", 0),   // A
    ("rsi", 8),  // B; A where it is squared
    ("r9", 16),  // T's lower half
    ("r10", 24), // Q
    ("r11", 32), // N
    ("r12", 40), // P = −N^−1
    ("r14", 48), // bytes of a number
];
const BIASES: usize = 56;
const COUNT: usize = 64;
/// MXCSR as it was, and as it is here.
const CALLERS_MODE: usize = 72;
const MODE: usize = 76;
/// Vectors: the two numbers that split a product, what makes digits of sums, the first carry.
const HIGH: usize = 96;
const HIGH_AND_LOW: usize = 128;
const DIGIT: usize = 160;
const EXPONENT: usize = 192;
const EXCESS: usize = 224;
const CARRY: usize = 256;
/// The sums of T's middle block, and what they put into the next one.
const MIDDLE: usize = 288;
const OVER: usize = 320;

struct Text(String);

/// Squares A, COUNT times.
pub fn squarings() -> String {
    let mut text = Text::begin();
    text.line(".p2align 6\n2:");
    text.operation(true);
    text.line(format_args!("dec qword ptr [rdi + {COUNT}]\njnz 2b"));
    text.end()
}

/// Multiplies A by B.
pub fn product() -> String {
    let mut text = Text::begin();
    text.operation(false);
    text.end()
}

impl Text {
    fn line(&mut self, line: impl std::fmt::Display) {
        writeln!(self.0, "{line}").expect("a string takes all");
    }

    /// Rounds towards minus infinity between here and [`Text::end`].
    fn begin() -> Self {
        let mut text = Text(String::new());
        text.line(format_args!("stmxcsr [rdi + {CALLERS_MODE}]\nldmxcsr [rdi + {MODE}]"));
        for (register, at) in REGISTERS {
            text.line(format_args!("mov {register}, [rdi + {at}]"));
        }
        text.line(format_args!(
            "vmovapd ymm5, [rdi + {HIGH}]\nvmovapd ymm6, [rdi + {HIGH_AND_LOW}]"
        ));
        text
    }

    fn end(mut self) -> String {
        self.line(format_args!("ldmxcsr [rdi + {CALLERS_MODE}]\nvzeroupper"));
        self.0
    }

    fn operation(&mut self, square: bool) {
        self.line(format_args!("mov r13, [rdi + {BIASES}]"));
        self.lower_half(square);
        self.quotient();
        self.vanishing_half();
        self.upper_half(square);
    }

    /// T's lower half.
    fn lower_half(&mut self, square: bool) {
        self.lower_blocks("r8", "rsi", "r9", square);
        self.line(format_args!("vmovdqa [rdi + {MIDDLE}], ymm0"));
        for k in 0..4 {
            self.line(format_args!("vmovdqa [rdi + {}], ymm{}", OVER + 32 * k, 11 + k));
        }
    }

    /// Q = T·P mod R.
    fn quotient(&mut self) {
        self.lower_blocks("r9", "r12", "r10", false);
    }

    /// The product of the numbers at `a` and `b` modulo R, digits of which go to `to`.
    fn lower_blocks(&mut self, a: &str, b: &str, to: &str, square: bool) {
        self.no_carry();
        self.line("xor r15d, r15d\n3:");
        self.no_sums();
        self.line(format_args!("mov rax, {a}\nlea rcx, [{b} + r15]"));
        if square {
            self.squares();
        } else {
            self.products(b);
        }
        self.emit(&format!("{to} + r15"));
        self.line("add r15, 32\ncmp r15, r14\njne 3b");
    }

    /// What T + Q·N carries out of its lower half, which is zero.
    fn vanishing_half(&mut self) {
        self.no_carry();
        self.no_sums();
        self.line("mov rax, r10\nlea rcx, [r11 + r14 - 64]\n4:\nvmovapd ymm7, [rax]");
        self.row(3);
        self.line("add rax, 32\nsub rcx, 32\ncmp rcx, r11\njae 4b");
        self.line("vpermq ymm13, ymm3, 0x39\nvmovdqa ymm14, ymm4");
        self.no_sums();
        self.line("mov rax, r10\nlea rcx, [r11 + r14 - 32]");
        self.products("r11");
        self.align();
        self.line(format_args!("vpaddq ymm0, ymm0, [rdi + {MIDDLE}]"));
        self.line("vpsrlq ymm1, ymm0, 52\nvpermq ymm15, ymm1, 0x93");
        for k in 0..4 {
            let over = 11 + k;
            self.line(format_args!("vpaddq ymm{over}, ymm{over}, [rdi + {}]", OVER + 32 * k));
        }
    }

    /// A = the upper half of T + Q·N.
    fn upper_half(&mut self, square: bool) {
        self.line("mov r15d, 32\n3:");
        self.no_sums();
        self.line("lea rax, [r8 + r15]\nlea rcx, [rsi + r14 - 32]");
        if square {
            self.squares();
        } else {
            self.line("lea rdx, [rsi + r15]");
            self.products("rdx");
        }
        self.line("lea rax, [r10 + r15]\nlea rcx, [r11 + r14 - 32]\nlea rdx, [r11 + r15]");
        self.products("rdx");
        self.emit("r8 + r15 - 32");
        self.line("add r15, 32\ncmp r15, r14\njne 3b");
        self.no_sums();
        self.emit("r8 + r15 - 32");
    }

    fn no_carry(&mut self) {
        for over in 11..15 {
            self.line(format_args!("vpxor xmm{over}, xmm{over}, xmm{over}"));
        }
        self.line(format_args!("vmovdqa ymm15, [rdi + {CARRY}]"));
    }

    fn no_sums(&mut self) {
        for sum in 0..5 {
            self.line(format_args!("vpxor xmm{sum}, xmm{sum}, xmm{sum}"));
        }
    }

    /// Adds (block at rax)·(digit r of the block at rcx); the former is in ymm7.
    fn row(&mut self, r: usize) {
        self.line(format_args!("vbroadcastsd ymm9, [rcx + {}]\nvmovapd ymm8, ymm5", 8 * r));
        self.line("vfmadd231pd ymm8, ymm7, ymm9\nvsubpd ymm10, ymm6, ymm8");
        self.line(format_args!("vpaddq ymm{0}, ymm{0}, ymm8", r + 1));
        self.line(format_args!("vfmadd231pd ymm10, ymm7, ymm9\nvpaddq ymm{r}, ymm{r}, ymm10"));
    }

    /// Adds the product of the blocks at rax and rcx.
    fn block(&mut self) {
        self.line("vmovapd ymm7, [rax]");
        for r in 0..4 {
            self.row(r);
        }
    }

    /// Adds the products of blocks from rax upwards and from rcx down to `last`.
    fn products(&mut self, last: &str) {
        self.line(".p2align 5\n4:");
        self.block();
        self.line(format_args!("add rax, 32\nsub rcx, 32\ncmp rcx, {last}\njae 4b"));
    }

    /// The same where both run over A, until they meet: products of different blocks once, doubled.
    fn squares(&mut self) {
        self.line("cmp rax, rcx\njae 6f\n.p2align 5\n4:");
        self.block();
        self.line("add rax, 32\nsub rcx, 32\ncmp rax, rcx\njb 4b");
        for sum in 0..5 {
            self.line(format_args!("vpaddq ymm{sum}, ymm{sum}, ymm{sum}"));
        }
        self.line("cmp rax, rcx\n6:\njne 5f");
        self.block();
        self.line("5:");
    }

    /// ymm0 = the four columns of the block, biased; what goes into the next block is kept.
    fn align(&mut self) {
        self.line("vpermq ymm8, ymm1, 0x93\nvpermq ymm9, ymm2, 0x4e\nvpermq ymm10, ymm3, 0x39");
        self.line("vpaddq ymm0, ymm0, ymm14\nvpaddq ymm0, ymm0, [r13]\nadd r13, 32");
        for (over, turned, lanes) in [(11, 8, 0xfc), (12, 9, 0xf0), (13, 10, 0xc0)] {
            self.line(format_args!("vpblendd ymm{over}, ymm{over}, ymm{turned}, {lanes}"));
            self.line(format_args!("vpaddq ymm0, ymm0, ymm{over}\nvmovdqa ymm{over}, ymm{turned}"));
        }
        self.line("vmovdqa ymm14, ymm4");
    }

    /// Makes digits of the sums and writes them to `to`; ymm0 keeps the columns.
    fn emit(&mut self, to: &str) {
        self.align();
        self.line(format_args!("vpsrlq ymm1, ymm0, 52\nvpand ymm2, ymm0, [rdi + {DIGIT}]"));
        self.line("vpermq ymm1, ymm1, 0x93");
        self.line(format_args!("vpor ymm2, ymm2, [rdi + {EXPONENT}]"));
        self.line("vpblendd ymm15, ymm15, ymm1, 0xfc");
        self.line(format_args!("vsubpd ymm2, ymm2, [rdi + {EXCESS}]"));
        self.line(format_args!("vpor ymm15, ymm15, [rdi + {EXPONENT}]"));
        self.line(format_args!("vaddpd ymm2, ymm2, ymm15\nvmovdqa ymm15, ymm1"));
        self.line(format_args!("vmovapd [{to}], ymm2"));
    }
}
