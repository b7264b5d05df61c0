//! `tetralith vdf bench`: the report that tells whether this machine is fit for long delays.

use super::speed::Stretch;
use crate::bench::Machine;
use crate::context::Context;
use crate::failure::Outcome;
use clap::Args;
use serde_json::json;
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};
use tetralith_kernels::cpu::{self, Family, Feature};
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
    let speeds = measure(command.bits, limit);
    let mut text = format!("{}\n\n", machine.cpu);
    let mut features = serde_json::Map::new();
    for feature in cpu::squaring_features() {
        let has = if feature.has { "yes" } else { "no" };
        let Cost { used, times, text: cost } = Cost::of(&feature, &speeds, command.bits);
        text += &format!("{:12} {has:4} {cost}\n", feature.name);
        let fields =
            json!({ "has": feature.has, "used": used, "times_slower": times, "without": cost });
        features.insert(feature.name.to_owned(), fields);
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
    let fields = json!({
        "machine": machine, "features": features, "clock_ghz": clock, "kernels": rows,
        "day_t": best as u32,
    });
    context.answer(text, fields)
}

/// Whether a kernel needs a family's instructions; those of AVX-512 count on AVX2 too.
fn needs(kernel: Kernel, family: Family) -> bool {
    match kernel {
        Kernel::Ifma => true,
        Kernel::Portable => false,
        _ => family == Family::Avx2,
    }
}

/// The bits of the moduli for which kernels of a family are used, where the CPU has it.
fn sizes(family: Family) -> RangeInclusive<u16> {
    if family == Family::Avx512 { 450..=4150 } else { 513..=u16::MAX }
}

/// What a family does for squarings of one size here, and what it costs to lack it.
struct Cost {
    /// Whether squarings here run on a kernel that needs it.
    used: bool,
    /// How many times longer squarings take without it, where that was measured.
    times: Option<f64>,
    text: String,
}

impl Cost {
    fn of(feature: &Feature, speeds: &[Speed], bits: u16) -> Cost {
        let family = feature.family;
        let best = |without: bool| {
            let fits = speeds.iter().filter(|speed| speed.kernel.fits(bits.into()));
            let left = fits.filter(|speed| !without || !needs(speed.kernel, family));
            left.min_by(|a, b| a.ns.total_cmp(&b.ns))
        };
        let unused = |text: &str| Cost { used: false, times: None, text: text.into() };
        if !feature.has && sizes(family).contains(&bits) {
            let times = if family == Family::Avx512 { 3.5 } else { 2.3 };
            return unused(&format!("lacking: squarings take some {times} times longer"));
        }
        if !sizes(family).contains(&bits) {
            return unused("no kernel for this size uses it");
        }
        if !cpu::has(family) {
            return unused("not used: its kernels need others that are not here");
        }
        if !cpu::allowed(family) {
            return unused("not used: TETRALITH_KERNEL does not allow it");
        }
        match (best(false), best(true)) {
            (Some(with), Some(without)) if needs(with.kernel, family) => {
                Self::measured(family, with, without)
            }
            _ => unused("not used: squarings of this size are as fast without it"),
        }
    }

    fn measured(family: Family, with: &Speed, without: &Speed) -> Cost {
        // The fastest is never slower than another.
        let times = without.ns / with.ns;
        let both = family == Family::Avx2 && with.kernel == Kernel::Ifma;
        let text = format!(
            "without it {} {times:.1} times slower ({})",
            if both { "and AVX-512 IFMA" } else { "squarings are" },
            without.kernel.name()
        );
        Cost { used: true, times: Some(times), text }
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

/// Nanoseconds of a squaring with each kernel that fits: the least of many short stretches, because other work
/// on the machine only slows them. The kernels take turns, so that a busy while slows all of them alike.
fn measure(bits: u16, limit: Duration) -> Vec<Speed> {
    let modulus = any_modulus(bits);
    let mut start = vec![0; modulus.len()];
    start[0] = 3;
    let mut squarers: Vec<(Speed, Squarer, Stretch)> = Kernel::ALL
        .into_iter()
        .filter_map(|kernel| {
            let mut squarer = Squarer::with_kernel(kernel, &modulus)?;
            squarer.set(&start);
            squarer.square(1000);
            Some((Speed { kernel, ns: f64::INFINITY }, squarer, Stretch::new()))
        })
        .collect();
    let (begin, limit) = (Instant::now(), limit * squarers.len() as u32);
    let mut rounds = 0;
    while rounds < LEAST_ROUNDS || begin.elapsed() < limit {
        for (speed, squarer, stretch) in &mut squarers {
            let (clock, count) = (Instant::now(), stretch.count);
            squarer.square(count);
            let took = clock.elapsed();
            if stretch.counts(took) {
                speed.ns = speed.ns.min(took.as_nanos() as f64 / count as f64);
            }
        }
        rounds += 1;
    }
    squarers.iter().for_each(|(_, squarer, _)| drop(black_box(squarer.value())));
    squarers.into_iter().map(|(speed, ..)| speed).collect()
}

/// Rounds, however short the time: a stretch has reached its length before, as it doubles.
const LEAST_ROUNDS: u32 = 24;

/// The core's clock in GHz, from a chain of a multiplication (3 cycles) and an exclusive or (1 cycle);
/// the best of many short ones, because other work only slows them.
fn clock_rate() -> f64 {
    let chain = || {
        let clock = Instant::now();
        let steps = 100_000u64;
        let x = (0..steps).fold(black_box(3u64), |x, i| x.wrapping_mul(0x9e37_79b9) ^ i);
        black_box(x);
        4.0 * steps as f64 / clock.elapsed().as_nanos() as f64
    };
    (0..200).map(|_| chain()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: [Feature; 2] = [
        Feature { name: "FMA", has: true, family: Family::Avx2 },
        Feature { name: "AVX-512IFMA", has: true, family: Family::Avx512 },
    ];

    /// As if all kernels were measured, each as fast as it is said.
    fn speeds(ns: [f64; 4]) -> Vec<Speed> {
        Kernel::ALL.into_iter().zip(ns).map(|(kernel, ns)| Speed { kernel, ns }).collect()
    }

    #[test]
    fn what_a_feature_costs() {
        for bits in [64, 300, 449, 450, 512, 513, 799, 800, 2048, 4150, 4151, 8192] {
            for feature in &FEATURES {
                // The size decides, whatever is faster, and what is told is never a gain.
                for ns in [[1.0, 3.0, 4.0, 6.0], [6.0, 4.0, 3.0, 1.0]] {
                    let cost = Cost::of(feature, &speeds(ns), bits);
                    assert!(cost.times.is_none_or(|times| times >= 1.0), "{bits}: {}", cost.text);
                    let fits = sizes(feature.family).contains(&bits);
                    assert_eq!(cost.text.contains("no kernel"), !fits, "{bits}: {}", cost.text);
                    assert!(!cost.text.contains("lacking"), "{bits}: {}", cost.text);
                }
                let lacking = Feature { has: false, ..*feature };
                let cost = Cost::of(&lacking, &speeds([1.0; 4]), bits);
                let fits = sizes(feature.family).contains(&bits);
                assert_eq!(cost.text.contains("lacking"), fits, "{bits}: {}", cost.text);
            }
            // What is said of sizes is what the kernels say.
            if cpu::allowed(Family::Avx512) {
                assert_eq!(Kernel::Ifma.fits(bits.into()), sizes(Family::Avx512).contains(&bits));
            }
            if cpu::allowed(Family::Avx2) {
                assert_eq!(Kernel::Fma.fits(bits.into()), sizes(Family::Avx2).contains(&bits));
            }
        }
        if cpu::allowed(Family::Avx512) {
            let costs = FEATURES
                .map(|feature| Cost::of(&feature, &speeds([1.0, 3.0, 4.0, 6.0]), 2048).text);
            assert_eq!(costs[0], "without it and AVX-512 IFMA 6.0 times slower (portable)");
            assert_eq!(costs[1], "without it squarings are 3.0 times slower (fma)");
        }
    }
}
