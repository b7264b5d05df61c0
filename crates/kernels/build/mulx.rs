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

/// Fields of the frame at `rbp`, in bytes: where numbers begin and end, and T's middle.
const A: usize = 0;
const A_END: usize = 8;
const B: usize = 16;
const B_END: usize = 24;
const N: usize = 32;
const N_END: usize = 40;
const T: usize = 48;
const T_MIDDLE: usize = 56;
const ZEROS: usize = 64;
/// Bytes of a number; −N^−1 mod 2^128; how many squarings; a zero.
const BYTES: usize = 72;
const N0: usize = 80;
const N1: usize = 88;
const COUNT: usize = 96;
const ZERO: usize = 104;
/// Where [`Text::multiply_add_all`] ends; carries that wait; eight limbs of the quotient.
const END: usize = 112;
const CARRY: usize = 120;
const FLAGS: usize = 128;
const QUOTIENT: usize = 136;

struct Text(String);

/// Squares A, COUNT times. With a tail, numbers have one limb more than whole blocks.
pub fn squarings(tail: bool) -> String {
    let mut text = Text::begin();
    text.line("2:");
    text.square();
    if tail {
        text.square_tail();
    }
    text.reduce(tail);
    text.line(format_args!("dec qword ptr [rbp + {COUNT}]\njnz 2b"));
    text.end()
}

/// Multiplies A by B.
pub fn product(tail: bool) -> String {
    let mut text = Text::begin();
    text.zero_low_half();
    text.multiply();
    if tail {
        text.multiply_tail();
    }
    text.reduce(tail);
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
        self.line(format_args!("adcx {top}, [rbp + {ZERO}]\nadox {top}, [rbp + {ZERO}]"));
    }

    /// (T's block at rcx, window) = T's block, unless it is empty, + window + (block at rsi)·(block at rdi).
    fn multiply_add(&mut self, empty: bool) {
        for r in 0..8 {
            self.line(format_args!("mov rdx, [rdi + {}]\nxor eax, eax", 8 * r));
            if !empty {
                self.line(format_args!("adox {}, [rcx + {}]", WINDOW[r], 8 * r));
            }
            self.row(r, "rsi", 0, Some(format!("[rcx + {}]", 8 * r)));
        }
    }

    /// The same for the blocks from rsi to END, from rcx on; at least one.
    fn multiply_add_all(&mut self, empty: bool) {
        self.line(".p2align 6\n3:");
        self.multiply_add(empty);
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

    fn clear_window(&mut self) {
        for limb in WINDOW {
            self.line(format_args!("xor {limb}, {limb}"));
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
        self.clear_window();
        self.line(format_args!("mov rsi, [rbp + {A}]"));
        self.multiply_add_all(false);
        self.store_window();
        self.line(format_args!("add rdi, 64\nadd rcx, 64\nsub rcx, [rbp + {BYTES}]"));
        self.line(format_args!("cmp rdi, [rbp + {B_END}]\njne 5b"));
    }

    /// T = A²: the products of different limbs once, doubled as soon as they are complete.
    fn square(&mut self) {
        self.set_end(A_END);
        self.line(format_args!("mov word ptr [rbp + {FLAGS}], 0"));
        self.line(format_args!("mov rdi, [rbp + {A}]\nmov rcx, [rbp + {T}]"));
        self.square_block(true);
        self.line("5:");
        self.square_block(false);
        self.line(format_args!("cmp rdi, [rbp + {A_END}]\njne 5b"));
    }

    /// What the block at rdi adds: its products with itself, and with the blocks above. T is empty yet
    /// where it is the first one.
    fn square_block(&mut self, first: bool) {
        if first {
            self.clear_window();
        } else {
            self.load_window();
        }
        for r in 0..8 {
            self.line(format_args!("mov [rcx + {}], {}", 8 * r, WINDOW[r]));
            if r < 7 {
                self.line(format_args!("mov rdx, [rdi + {}]\nxor eax, eax", 8 * r));
                self.row(r, "rdi", r + 1, None);
            }
        }
        self.line("xor r15d, r15d\nadd rcx, 64\nlea rsi, [rdi + 64]");
        if !first {
            self.line(format_args!("cmp rsi, [rbp + {A_END}]\nje 6f"));
        }
        self.multiply_add_all(first);
        self.line("6:");
        self.store_window();
        // T's block 2·i for A's block i: complete now, and so is the next one.
        self.line(format_args!("mov rcx, rdi\nsub rcx, [rbp + {A}]\nadd rcx, rcx"));
        self.line(format_args!("add rcx, [rbp + {T}]"));
        self.double_and_add_squares();
        self.line("add rdi, 64\nadd rcx, 128");
    }

    /// (Two blocks at rcx) = twice themselves, plus the squares of the limbs of the block at rdi: one
    /// carry chain doubles, the other adds. Both go on where they were at the blocks before.
    fn double_and_add_squares(&mut self) {
        // 127 + 1 overflows a byte without a carry; −1 + 1 carries, and ADCX leaves the other flag.
        self.line(format_args!("movzx eax, byte ptr [rbp + {FLAGS}]"));
        self.line(format_args!("movzx edx, byte ptr [rbp + {FLAGS} + 1]"));
        self.line("add al, 127\nmov rbx, -1\nadcx rbx, rdx");
        for k in 0..8 {
            self.line(format_args!("mov rdx, [rdi + {}]\nmulx rbx, rax, rdx", 8 * k));
            for (at, limb, square) in [(16 * k, "r8", "rax"), (16 * k + 8, "r9", "rbx")] {
                self.line(format_args!("mov {limb}, [rcx + {at}]\nadcx {limb}, {limb}"));
                self.line(format_args!("adox {limb}, {square}\nmov [rcx + {at}], {limb}"));
            }
        }
        self.line(format_args!("seto [rbp + {FLAGS}]\nsetc [rbp + {FLAGS} + 1]"));
    }

    /// A = T/R mod N, below R; with a tail, below 2·N.
    fn reduce(&mut self, tail: bool) {
        self.set_end(N_END);
        self.line(format_args!("mov qword ptr [rbp + {CARRY}], 0\nmov rcx, [rbp + {T}]\n5:"));
        self.load_window();
        self.line(format_args!("mov rsi, [rbp + {N}]"));
        for r in (0..8).step_by(2) {
            self.quotient(r);
            for r in [r, r + 1] {
                self.line(format_args!("mov rdx, [rbp + {}]\nxor eax, eax", QUOTIENT + 8 * r));
                self.row(r, "rsi", 0, None);
            }
        }
        self.line(format_args!("lea rdi, [rbp + {QUOTIENT}]\nadd rsi, 64\nadd rcx, 64"));
        self.multiply_add_all(false);
        self.add_window(tail);
        if tail {
            self.line(format_args!("mov rax, [rbp + {N_END}]\nmov rdx, [rax]"));
            self.line("mov rsi, rdi\nxor r8d, r8d");
            self.add_multiple_of_block();
            self.line(format_args!("add [rbp + {CARRY}], r8"));
        }
        self.line(format_args!("add rcx, 64\nsub rcx, [rbp + {BYTES}]"));
        self.line(format_args!("cmp rcx, [rbp + {T_MIDDLE}]\njne 5b"));
        if tail {
            self.reduce_last_limb();
        } else {
            self.subtract();
        }
    }

    /// T's block at rcx += the window + what the block below carried out: a bit, or a limb with a tail.
    fn add_window(&mut self, tail: bool) {
        if tail {
            self.line("xor eax, eax");
            for (k, limb) in WINDOW.iter().enumerate() {
                let carry = if k == 0 { format!("[rbp + {CARRY}]") } else { "rax".into() };
                self.line(format_args!("adox {limb}, {carry}\nadcx {limb}, [rcx + {}]", 8 * k));
            }
            self.line(format_args!("adcx rax, [rbp + {ZERO}]\nadox rax, [rbp + {ZERO}]"));
        } else {
            // −1 + 1 carries.
            self.line(format_args!("mov rax, [rbp + {CARRY}]\nadd rax, -1"));
            for (k, limb) in WINDOW.iter().enumerate() {
                self.line(format_args!("adc {limb}, [rcx + {}]", 8 * k));
            }
            self.line("setc al\nmovzx eax, al");
        }
        self.line(format_args!("mov [rbp + {CARRY}], rax"));
        self.store_window();
    }

    /// (r8, block at rcx) = block at rcx + r8 + rdx·(block at rsi).
    fn add_multiple_of_block(&mut self) {
        self.line("xor eax, eax");
        for k in 0..8 {
            let high = ["r9", "r10"][k % 2];
            let below = if k == 0 { "r8" } else { ["r10", "r9"][k % 2] };
            self.line(format_args!("mulx {high}, rax, [rsi + {}]\nadcx rax, {below}", 8 * k));
            self.line(format_args!("adox rax, [rcx + {}]\nmov [rcx + {}], rax", 8 * k, 8 * k));
        }
        self.line(format_args!("mov r8, r10\nadcx r8, [rbp + {ZERO}]\nadox r8, [rbp + {ZERO}]"));
    }

    /// (r8, limbs from rcx on) += rdx·(limbs from rsi to END); rsi and rcx go along.
    fn add_multiple(&mut self) {
        self.line("xor r8d, r8d\n4:");
        self.add_multiple_of_block();
        self.line("add rsi, 64\nadd rcx, 64");
        self.line(format_args!("cmp rsi, [rbp + {END}]\njne 4b"));
    }

    /// T += 2·a·(A's blocks) + a², where a is A's tail, less than half of 2^64.
    fn square_tail(&mut self) {
        self.line(format_args!("mov rax, [rbp + {A_END}]\nmov rdx, [rax]\nmulx r11, r12, rdx"));
        self.line(format_args!("add rdx, rdx\nmov rsi, [rbp + {A}]\nmov rcx, [rbp + {T_MIDDLE}]"));
        self.add_multiple();
        self.line("add r12, r8\nadc r11, 0\nmov [rcx], r12\nmov [rcx + 8], r11");
    }

    /// T += a·(B's blocks) + b·(A's blocks) + a·b, where a and b are the tails.
    fn multiply_tail(&mut self) {
        self.set_end(B_END);
        self.line(format_args!("mov rax, [rbp + {A_END}]\nmov rdx, [rax]\nmov rsi, [rbp + {B}]"));
        self.line(format_args!("mov rcx, [rbp + {T_MIDDLE}]"));
        self.add_multiple();
        self.line("mulx r11, r12, [rsi]\nadd r12, r8\nadc r11, 0\nmov rdx, [rsi]");
        self.set_end(A_END);
        self.line(format_args!("mov rsi, [rbp + {A}]\nmov rcx, [rbp + {T_MIDDLE}]"));
        self.add_multiple();
        self.line("add r12, r8\nadc r11, 0\nmov [rcx], r12\nmov [rcx + 8], r11");
    }

    /// The quotient's last limb, after whole blocks; A = T without its lower half and this limb.
    fn reduce_last_limb(&mut self) {
        self.line(format_args!("mov rdx, [rcx]\nimul rdx, [rbp + {N0}]\nmov rsi, [rbp + {N}]"));
        self.add_multiple();
        self.line("mulx r10, r9, [rsi]\nadd r9, r8\nadc r10, 0");
        self.line(format_args!("add r9, [rbp + {CARRY}]\nadc r10, 0"));
        self.line("add r9, [rcx]\nadc r10, [rcx + 8]\nmov [rcx], r9\nmov [rcx + 8], r10");
        self.line(format_args!(
            "mov rsi, [rbp + {T_MIDDLE}]\nadd rsi, 8\nmov rdi, [rbp + {A}]\n4:"
        ));
        for k in (0..64).step_by(8) {
            self.line(format_args!("mov rax, [rsi + {k}]\nmov [rdi + {k}], rax"));
        }
        self.line(format_args!("add rsi, 64\nadd rdi, 64\ncmp rdi, [rbp + {A_END}]\njne 4b"));
        self.line("mov rax, [rsi]\nmov [rdi], rax");
    }

    /// Two limbs of the quotient at once, which hides the wait for one from the other: the window's two
    /// lowest limbs times −N^−1 mod 2^128.
    fn quotient(&mut self, r: usize) {
        let (w0, w1) = (WINDOW[r], WINDOW[r + 1]);
        let (q0, q1) = (QUOTIENT + 8 * r, QUOTIENT + 8 * r + 8);
        self.line(format_args!(
            "mov rdx, {w0}\nmulx rbx, rax, [rbp + {N0}]\nmov [rbp + {q0}], rax"
        ));
        self.line(format_args!("imul rdx, [rbp + {N1}]\nadd rbx, rdx"));
        self.line(format_args!("mov rdx, {w1}\nimul rdx, [rbp + {N0}]\nadd rdx, rbx"));
        self.line(format_args!("mov [rbp + {q1}], rdx"));
    }

    /// A = T's upper half, minus N where that carried out.
    fn subtract(&mut self) {
        self.line(format_args!("cmp qword ptr [rbp + {CARRY}], 0\nmov rsi, [rbp + {ZEROS}]"));
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
