//! Time of one modular squaring on each kernel, in nanoseconds and in cycles.
//!
//! `cargo run --release -p tetralith-kernels --example squarings [BITS…]`. Cycles are nanoseconds
//! times the clock, which a chain of dependent additions, one a cycle, gives in the same moments; the
//! least of many short runs counts.

use std::time::Instant;
use tetralith_kernels::mont::{Kernel, Squarer};

/// The clock in GHz: additions a nanosecond. Zero where it is not known how to tell.
fn clock() -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        let mut x = 1u64;
        let start = Instant::now();
        for _ in 0..2_000 {
            // SAFETY: adds a register to itself 32 times.
            unsafe {
                std::arch::asm!(".rept 32", "add {0}, {0}", ".endr", inout(reg) x);
            }
        }
        std::hint::black_box(x);
        64_000.0 / start.elapsed().as_nanos() as f64
    }
    #[cfg(not(target_arch = "x86_64"))]
    0.0
}

/// (nanoseconds a squaring, clock in GHz)
fn measure(kernel: Kernel, bits: usize) -> (f64, f64) {
    let mut modulus: Vec<u64> = (1..=bits.div_ceil(64) as u64)
        .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i << 40)
        .collect();
    let last = modulus.len() - 1;
    modulus[last] |= 1 << 63;
    modulus[last] >>= 64 * modulus.len() - bits;
    modulus[0] |= 1;
    let mut squarer = Squarer::with_kernel(kernel, &modulus).expect("an odd modulus that fits");
    let mut start = vec![0; modulus.len()];
    start[0] = 3;
    squarer.set(&start);
    let count = 2_000_000 / (bits * bits / 64) as u64 + 10;
    let (mut ns, mut ghz) = (f64::MAX, 0.0f64);
    for _ in 0..400 {
        ghz = ghz.max(clock());
        let start = Instant::now();
        squarer.square(count);
        ns = ns.min(start.elapsed().as_nanos() as f64 / count as f64);
    }
    (ns, ghz)
}

fn main() {
    let named: Vec<usize> = std::env::args().skip(1).filter_map(|bits| bits.parse().ok()).collect();
    let all = if named.is_empty() { vec![512, 1024, 2048, 2070, 3072, 4096] } else { named };
    println!("{:>5}  {:9} {:>9} {:>9}", "bits", "kernel", "ns", "cycles");
    for bits in all {
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.fits(bits)) {
            let (ns, ghz) = measure(kernel, bits);
            println!("{bits:>5}  {:9} {ns:>9.1} {:>9.0}", kernel.name(), ns * ghz);
        }
    }
}
