//! Time of one modular squaring and of one product on each kernel, in nanoseconds and in cycles;
//! and of a Wesolowski check's double power, π^ℓ·x^r with exponents of 256 bits, in microseconds.
//!
//! `cargo run --release -p tetralith-kernels --example squarings [BITS…]`. Cycles are nanoseconds
//! times the clock, which a chain of dependent additions, one a cycle, gives in the same moments; the
//! least of many short runs counts.

use std::time::Instant;
use tetralith_kernels::mont::{FastRing, Kernel, Ring};

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

/// Least nanoseconds of one of `count` operations, and the clock in GHz.
fn measure(count: u64, mut run: impl FnMut()) -> (f64, f64) {
    let (mut ns, mut ghz) = (f64::MAX, 0.0f64);
    for _ in 0..300 {
        ghz = ghz.max(clock());
        let start = Instant::now();
        run();
        ns = ns.min(start.elapsed().as_nanos() as f64 / count as f64);
    }
    (ns, ghz)
}

fn ring(bits: usize) -> Ring {
    let mut modulus: Vec<u64> = (1..=bits.div_ceil(64) as u64)
        .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i << 40)
        .collect();
    let last = modulus.len() - 1;
    modulus[last] |= 1 << 63;
    modulus[last] >>= 64 * modulus.len() - bits;
    modulus[0] |= 1;
    Ring::new(&modulus).expect("an odd modulus")
}

fn report(kernel: Kernel, bits: usize) {
    let mut ring = FastRing::with_kernel(kernel, &ring(bits)).expect("the kernel fits");
    let mut number = vec![0; ring.ring().len()];
    number[0] = 3;
    let (mut a, b) = (ring.enter(&number), ring.enter(&number));
    let count = 10_000_000 / (bits * bits / 64) as u64 + 10;
    let (square, ghz) = measure(count, || ring.square_assign(&mut a, count));
    let (product, _) = measure(count, || (0..count).for_each(|_| ring.mul_assign(&mut a, &b)));
    let exponent = [0xdead_beef_0123_4567; 4];
    let (power, _) = measure(1, || {
        std::hint::black_box(ring.multi_pow_vartime(&[(&a, &exponent), (&b, &exponent)]));
    });
    println!(
        "{bits:>5}  {:9} {square:>9.1} {:>9.0} {product:>9.1} {:>9.0} {:>9.1}",
        kernel.name(),
        square * ghz,
        product * ghz,
        power / 1000.0
    );
}

fn main() {
    let named: Vec<usize> = std::env::args().skip(1).filter_map(|bits| bits.parse().ok()).collect();
    let all = if named.is_empty() { vec![512, 1024, 2048, 2070, 3072, 4096] } else { named };
    println!(
        "{:>5}  {:9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "bits", "kernel", "square/ns", "cycles", "mul/ns", "cycles", "verify/us"
    );
    for bits in all {
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.fits(bits)) {
            report(kernel, bits);
        }
    }
}
