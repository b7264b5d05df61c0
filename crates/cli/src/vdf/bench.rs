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
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = crate::bench::parse_seconds)]
    seconds: f64,
}

/// The features that matter, the kernel that needs them, and what it is without them.
const KERNELS: [(Kernel, Kernel); 2] =
    [(Kernel::Ifma, Kernel::Fma), (Kernel::Fma, Kernel::Portable)];

/// One kernel's speed here.
struct Speed {
    kernel: Kernel,
    ns: f64,
}

/// Runs `tetralith vdf bench`.
pub(super) fn run(context: Context, command: &Bench) -> Outcome {
    let machine = Machine::describe();
    let clock = clock_rate();
    let limit = Duration::from_secs_f64(command.seconds);
    let speeds: Vec<Speed> = Kernel::ALL
        .into_iter()
        .filter_map(|kernel| Some(Speed { kernel, ns: measure(kernel, command.bits, limit)? }))
        .collect();
    let mut text = format!("{}\n\n", machine.cpu);
    for feature in cpu::squaring_features() {
        let has = if feature.has { "yes" } else { "no" };
        let cost = cost_of_lacking(&speeds, kernel_of(feature.family));
        text += &format!("{:12} {has:4} {cost}\n", feature.name);
    }
    text += &format!("\nsquarings modulo {} bits, on one core at {clock:.2} GHz\n", command.bits);
    text += "kernel        per second      ns   cycles   a day takes t =\n";
    let mut rows = Vec::new();
    for Speed { kernel, ns } in &speeds {
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
    let features: serde_json::Map<String, Value> = cpu::squaring_features()
        .into_iter()
        .map(|feature| {
            let cost = cost_of_lacking(&speeds, kernel_of(feature.family));
            (feature.name.to_owned(), json!({ "has": feature.has, "without": cost }))
        })
        .collect();
    let fields = json!({
        "machine": machine, "features": features, "clock_ghz": clock, "kernels": rows,
        "day_t": best as u32,
    });
    context.answer(text, fields)
}

fn kernel_of(family: Family) -> Kernel {
    if family == Family::Avx512 { Kernel::Ifma } else { Kernel::Fma }
}

/// What a squaring costs where a feature that this kernel needs is missing.
fn cost_of_lacking(speeds: &[Speed], kernel: Kernel) -> String {
    let other = KERNELS.iter().find(|(with, _)| *with == kernel).map(|(_, without)| *without);
    let ns =
        |wanted: Option<Kernel>| speeds.iter().find(|s| Some(s.kernel) == wanted).map(|s| s.ns);
    match (ns(Some(kernel)), ns(other)) {
        (Some(with), Some(without)) => format!(
            "without it {} {:.1} times slower ({})",
            if kernel == Kernel::Fma { "and AVX-512 IFMA" } else { "squarings are" },
            without / with,
            other.map_or("", Kernel::name)
        ),
        _ if kernel == Kernel::Ifma => {
            "lacking, or not for this size: squarings take some 3.5 times longer".into()
        }
        _ => "lacking, or not for this size: squarings take some 2.3 times longer".into(),
    }
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
