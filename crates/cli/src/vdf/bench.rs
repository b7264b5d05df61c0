//! `tetralith vdf bench`: the report that tells whether this machine is fit for long delays.

use crate::bench::Machine;
use crate::context::Context;
use crate::failure::Outcome;
use clap::Args;
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tetralith_kernels::cpu::{self, Family};
use tetralith_kernels::mont::{Kernel, Squarer};

/// What to measure.
#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// Bits of the modulus
    #[arg(long, default_value_t = 2048, value_name = "BITS", value_parser = clap::value_parser!(u16).range(64..=8192))]
    bits: u16,
    /// Seconds of measuring for each kernel
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    seconds: f64,
}

/// What squares faster where the CPU has it.
const FEATURES: [(Family, &str, &str); 2] = [
    (Family::Avx512, "AVX-512 IFMA", "eight products of 52 bits in one instruction"),
    (Family::Avx2, "BMI2 and ADX", "products of 64 bits in two chains of carries"),
];

/// Runs `tetralith vdf bench`.
pub(super) fn run(context: Context, command: &Bench) -> Outcome {
    let machine = Machine::describe();
    let clock = clock_rate();
    let mut text = format!("{}\n\n", machine.cpu);
    for (family, name, gain) in FEATURES {
        let has = if cpu::has(family) { "yes" } else { "no" };
        text += &format!("{name:14} {has:4} {gain}\n");
    }
    text += &format!("\nsquarings modulo {} bits, on one core at {clock:.2} GHz\n", command.bits);
    text += "kernel        per second      ns   cycles   a day takes t =\n";
    let limit = Duration::from_secs_f64(command.seconds.clamp(0.0, 3600.0));
    let mut rows = Vec::new();
    for kernel in Kernel::ALL {
        let Some(ns) = measure(kernel, command.bits, limit) else { continue };
        let (per_second, t) = (1e9 / ns, (86_400e9 / ns).log2());
        let cycles = ns * clock;
        text += &format!("{:10} {per_second:13.0} {ns:7.1} {cycles:8.0} {t:17.2}\n", kernel.name());
        rows.push(json!({
            "kernel": kernel.name(), "bits": command.bits, "ns": ns, "per_second": per_second,
            "cycles_estimated": cycles, "log2_per_day": t,
        }));
    }
    let best = rows.iter().filter_map(|row| row["log2_per_day"].as_f64()).fold(0.0, f64::max);
    text += &format!(
        "\nt = {} is the largest whole t whose 2^t squarings take at most a day",
        best as u32
    );
    let has = |family: Family| Value::from(cpu::has(family));
    let features = json!({ "avx512ifma": has(Family::Avx512), "bmi2_adx": has(Family::Avx2) });
    let fields = json!({
        "machine": machine, "features": features, "clock_ghz": clock, "kernels": rows,
        "day_t": best as u32,
    });
    context.answer(text, fields)
}

/// The odd number with the first and the last of so many bits set, and a pattern between.
pub(crate) fn any_modulus(bits: u16) -> Vec<u64> {
    let mut limbs = vec![0x9e37_79b9_7f4a_7c15; usize::from(bits).div_ceil(64)];
    if let Some(top) = limbs.last_mut() {
        *top = (*top | 1 << 63) >> ((64 - bits % 64) % 64);
    }
    limbs
}

/// Nanoseconds of a squaring: the median of blocks; `None` where the kernel does not fit.
fn measure(kernel: Kernel, bits: u16, limit: Duration) -> Option<f64> {
    let modulus = any_modulus(bits);
    let mut squarer = Squarer::with_kernel(kernel, &modulus)?;
    let mut start = vec![0; modulus.len()];
    start[0] = 3;
    squarer.set(&start);
    squarer.square(1000);
    let (begin, mut blocks) = (Instant::now(), Vec::new());
    while blocks.len() < 5 || begin.elapsed() < limit {
        let clock = Instant::now();
        squarer.square(BLOCK);
        blocks.push(clock.elapsed().as_nanos() as f64 / BLOCK as f64);
    }
    black_box(squarer.value());
    blocks.sort_by(f64::total_cmp);
    Some(blocks[blocks.len() / 2])
}

const BLOCK: u64 = 4096;

/// The core's clock in GHz, from a chain of a multiplication (3 cycles) and an exclusive or (1 cycle);
/// the best of several, as other work only slows it.
fn clock_rate() -> f64 {
    let chain = || {
        let clock = Instant::now();
        let steps = 2_000_000u64;
        let x = (0..steps).fold(black_box(3u64), |x, i| x.wrapping_mul(0x9e37_79b9) ^ i);
        black_box(x);
        4.0 * steps as f64 / clock.elapsed().as_nanos() as f64
    };
    (0..9).map(|_| chain()).fold(0.0, f64::max)
}
