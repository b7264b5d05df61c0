//! Squaring and multiplication modulo N in 64-bit limbs, with MULX and the two carry chains of ADX.
//!
//! Numbers are blocks of 8 limbs. All but a few cycles go into [`Text::multiply_add`], which adds the
//! product of two blocks and a block of T to a window of 8 limbs in registers: row by row, the lowest
//! limb of the window goes to memory and a new highest one comes in. What the two chains of a row carry
//! out fits that highest limb, for (2^512 − 1)² + 2·(2^512 − 1) < 2^1024.
//!
//! The scheme and its bounds are in the kernel's module, `src/mont/mulx.rs`.

use std::fmt::Write;

/// The window; it moves by one register a row, and after eight rows it is where it began.
const WINDOW: [&str; 8] = ["r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];

/// Fields of the frame at `rbp`, in bytes.
const A: usize = 0;
const A_END: usize = 8;
const B: usize = 16;
const B_END: usize = 24;
const N: usize = 32;
const N_END: usize = 40;
const T: usize = 48;
const T_MIDDLE: usize = 56;
const ZEROS: usize = 64;
const BYTES: usize = 72;
const N0: usize = 80;
const COUNT: usize = 88;
/// Where [`Text::multiply_add_all`] ends; a carry that waits; the eight quotient limbs.
const END: usize = 96;
const CARRY: usize = 104;
const QUOTIENT: usize = 112;

struct Text(String);

/// Squares A, COUNT times.
pub fn squarings() -> String {
    let mut text = Text::begin();
    text.line("2:");
    text.zero_low_half();
    text.square();
    text.double_and_add_squares();
    text.reduce();
    text.line(format_args!("dec qword ptr [rbp + {COUNT}]\njnz 2b"));
    text.end()
}

/// Multiplies A by B.
pub fn product() -> String {
    let mut text = Text::begin();
    text.zero_low_half();
    text.multiply();
    text.reduce();
    text.end()
}

impl Text {
    fn line(&mut self, line: impl std::fmt::Display) {
        writeln!(self.0, "{line}").expect("a string takes all");
    }

    /// The frame comes in `rdi`; `rbx` and `rbp` are the compiler's.
    fn begin() -> Self {
        Text("push rbx\npush rbp\nmov rbp, rdi\n".into())
    }

    fn end(mut self) -> String {
        self.line("pop rbp\npop rbx");
        self.0
    }

    /// One row: window += rdx·(block at `block`, limbs `from`..8), the window's limb 0 having gone to
    /// memory before its register takes the new limb 8. Both carry flags are given.
    fn row(&mut self, r: usize, block: &str, from: usize, store: Option<String>) {
        let w = |k: usize| WINDOW[(r + k) % 8];
        let mut store = store;
        for q in from..7 {
            self.line(format_args!("mulx rbx, rax, [{block} + {}]", 8 * q));
            self.line(format_args!("adcx {}, rax", w(q)));
            if q == 0 {
                store
                    .take()
                    .into_iter()
                    .for_each(|to| self.line(format_args!("mov {to}, {}", w(0))));
            }
            self.line(format_args!("adox {}, rbx", w(q + 1)));
        }
        let top = w(8);
        self.line(format_args!("mulx {top}, rax, [{block} + 56]\nadcx {}, rax", w(7)));
        self.line(format_args!("mov eax, 0\nadcx {top}, rax\nadox {top}, rax"));
    }

    /// (T's block at rcx, window) = T's block + window + (block at rsi)·(block at rdi).
    fn multiply_add(&mut self) {
        for r in 0..8 {
            self.line(format_args!("mov rdx, [rdi + {}]\nxor eax, eax", 8 * r));
            self.line(format_args!("adox {}, [rcx + {}]", WINDOW[r], 8 * r));
            self.row(r, "rsi", 0, Some(format!("[rcx + {}]", 8 * r)));
        }
    }

    /// The same for the blocks from rsi to END, from rcx on; at least one.
    fn multiply_add_all(&mut self) {
        self.line(".p2align 5\n3:");
        self.multiply_add();
        self.line("add rsi, 64\nadd rcx, 64");
        self.line(format_args!("cmp rsi, [rbp + {END}]\njne 3b"));
    }

    fn zero_low_half(&mut self) {
        self.line(format_args!("mov rcx, [rbp + {T}]\nmov rdx, [rbp + {T_MIDDLE}]"));
        self.line("vpxor xmm0, xmm0, xmm0\n4:");
        for at in [0, 16, 32, 48] {
            self.line(format_args!("vmovdqu [rcx + {at}], xmm0"));
        }
        self.line("add rcx, 64\ncmp rcx, rdx\njne 4b");
    }

    fn store_window(&mut self) {
        for (k, limb) in WINDOW.iter().enumerate() {
            self.line(format_args!("mov [rcx + {}], {limb}", 8 * k));
        }
    }

    fn load_window(&mut self) {
        for (k, limb) in WINDOW.iter().enumerate() {
            self.line(format_args!("mov {limb}, [rcx + {}]", 8 * k));
        }
    }

    fn set_end(&mut self, end: usize) {
        self.line(format_args!("mov rax, [rbp + {end}]\nmov [rbp + {END}], rax"));
    }

    /// T = A·B.
    fn multiply(&mut self) {
        self.set_end(A_END);
        self.line(format_args!("mov rdi, [rbp + {B}]\nmov rcx, [rbp + {T}]\n5:"));
        for limb in ["r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"] {
            self.line(format_args!("xor {limb}, {limb}"));
        }
        self.line(format_args!("mov rsi, [rbp + {A}]"));
        self.multiply_add_all();
        self.store_window();
        self.line(format_args!("add rdi, 64\nadd rcx, 64\nsub rcx, [rbp + {BYTES}]"));
        self.line(format_args!("cmp rdi, [rbp + {B_END}]\njne 5b"));
    }

    /// T = the products of different limbs of A, once each.
    fn square(&mut self) {
        self.set_end(A_END);
        self.line(format_args!("mov rdi, [rbp + {A}]\nmov rcx, [rbp + {T}]\n5:"));
        self.load_window();
        for r in 0..8 {
            self.line(format_args!("mov [rcx + {}], {}", 8 * r, WINDOW[r]));
            if r < 7 {
                self.line(format_args!("mov rdx, [rdi + {}]\nxor eax, eax", 8 * r));
                self.row(r, "rdi", r + 1, None);
            }
        }
        self.line("xor r15d, r15d\nadd rcx, 64\nlea rsi, [rdi + 64]");
        self.line(format_args!("cmp rsi, [rbp + {A_END}]\nje 6f"));
        self.multiply_add_all();
        self.line("6:");
        self.store_window();
        // T's block 2·i for A's block i.
        self.line(format_args!("add rdi, 64\nmov rcx, rdi\nsub rcx, [rbp + {A}]\nadd rcx, rcx"));
        self.line(format_args!("add rcx, [rbp + {T}]\ncmp rdi, [rbp + {A_END}]\njne 5b"));
    }

    /// T = 2·T + the squares of A's limbs: one carry chain doubles, the other adds.
    fn double_and_add_squares(&mut self) {
        self.line(format_args!("mov rsi, [rbp + {A}]\nmov rcx, [rbp + {T}]"));
        self.line("xor edi, edi\nxor r8d, r8d\n4:");
        // 127 + 1 overflows a byte without a carry; −1 + 1 carries, and ADCX leaves the other flag.
        self.line("add dil, 127\nmov rax, -1\nadcx rax, r8");
        for k in 0..8 {
            self.line(format_args!("mov rdx, [rsi + {}]\nmulx rbx, rax, rdx", 8 * k));
            for (at, square) in [(16 * k, "rax"), (16 * k + 8, "rbx")] {
                let limb = if at % 16 == 0 { "r10" } else { "r11" };
                self.line(format_args!("mov {limb}, [rcx + {at}]\nadcx {limb}, {limb}"));
                self.line(format_args!("adox {limb}, {square}\nmov [rcx + {at}], {limb}"));
            }
        }
        self.line("setc r8b\nseto dil\nmovzx r8d, r8b");
        self.line(format_args!("add rsi, 64\nadd rcx, 128\ncmp rsi, [rbp + {A_END}]\njne 4b"));
    }

    /// A = T/R mod N, below R.
    fn reduce(&mut self) {
        self.set_end(N_END);
        self.line(format_args!("mov qword ptr [rbp + {CARRY}], 0\nmov rcx, [rbp + {T}]\n5:"));
        self.load_window();
        self.line(format_args!("mov rsi, [rbp + {N}]"));
        for r in 0..8 {
            self.line(format_args!("mov rdx, {}\nimul rdx, [rbp + {N0}]", WINDOW[r]));
            self.line(format_args!("mov [rbp + {}], rdx\nxor eax, eax", QUOTIENT + 8 * r));
            self.row(r, "rsi", 0, None);
        }
        self.line(format_args!("lea rdi, [rbp + {QUOTIENT}]\nadd rsi, 64\nadd rcx, 64"));
        self.multiply_add_all();
        // The window and what the block before carried out go to the block that begins here.
        self.line(format_args!("mov rax, [rbp + {CARRY}]\nadd rax, -1"));
        for (k, limb) in WINDOW.iter().enumerate() {
            self.line(format_args!("adc {limb}, [rcx + {}]", 8 * k));
        }
        self.line(format_args!("setc al\nmovzx eax, al\nmov [rbp + {CARRY}], rax"));
        self.store_window();
        self.line(format_args!("add rcx, 64\nsub rcx, [rbp + {BYTES}]"));
        self.line(format_args!("cmp rcx, [rbp + {T_MIDDLE}]\njne 5b"));
        self.subtract();
    }

    /// A = T's upper half, minus N where that carried out.
    fn subtract(&mut self) {
        self.line(format_args!("test rax, rax\nmov rsi, [rbp + {ZEROS}]"));
        self.line(format_args!("cmovnz rsi, [rbp + {N}]\nmov rdi, [rbp + {A}]"));
        self.line(format_args!("mov rbx, [rbp + {BYTES}]\nshr rbx, 6\nxor eax, eax\n4:"));
        for k in (0..64).step_by(8) {
            self.line(format_args!("mov rax, [rcx + {k}]\nsbb rax, [rsi + {k}]"));
            self.line(format_args!("mov [rdi + {k}], rax"));
        }
        // Neither LEA nor DEC touches the borrow.
        self.line("lea rcx, [rcx + 64]\nlea rsi, [rsi + 64]\nlea rdi, [rdi + 64]\ndec rbx\njnz 4b");
    }
}
