//! How fast this machine squares, and how long something takes at that speed.

use super::bench::any_modulus;
use crate::failure::Outcome;
use std::time::{Duration, Instant};
use tetralith_vdf::{Evaluation, Modulus};

/// One stretch of a measurement: short, so that some are not interrupted on a busy machine.
const STRETCH: Duration = Duration::from_millis(20);

/// Squarings per second modulo a number of so many bits: the best of so many stretches. Other work only slows
/// a stretch, so the best is nearest to what this machine does undisturbed.
pub(super) fn measured(bits: u64, stretches: u32) -> Outcome<f64> {
    let limbs = any_modulus(bits as u16);
    let bytes: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    let modulus = Modulus::from_bytes(&bytes)?;
    let (x, _) = modulus.reduce(&[3]);
    let mut evaluation = Evaluation::new(&modulus, &x, 1 << 62)?;
    evaluation.advance(1 << 12)?;
    let mut speeds = Vec::new();
    for _ in 0..stretches {
        let (start, from) = (Instant::now(), evaluation.done());
        while start.elapsed() < STRETCH {
            evaluation.advance(1 << 11)?;
        }
        speeds.push((evaluation.done() - from, start.elapsed()));
    }
    Ok(best(&speeds))
}

/// The most squarings per second of some stretches.
fn best(stretches: &[(u64, Duration)]) -> f64 {
    let speed = |&(count, time): &(u64, Duration)| count as f64 / time.as_secs_f64().max(1e-9);
    stretches.iter().map(speed).fold(0.0, f64::max)
}

/// `90 s`, `2.5 hours`, `12 days`, for people.
pub(super) fn duration(seconds: f64) -> String {
    let units =
        [(365.25 * 86_400.0, "years"), (86_400.0, "days"), (3600.0, "hours"), (60.0, "min")];
    match units.into_iter().find(|(unit, _)| seconds >= 2.0 * unit) {
        Some((unit, name)) => format!("{:.1} {name}", seconds / unit),
        None => format!("{seconds:.1} s"),
    }
}

/// `45.1 million a second`.
pub(super) fn per_second(rate: f64) -> String {
    if rate < 1e5 {
        format!("{rate:.0} a second")
    } else {
        format!("{:.1} million a second", rate / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_stretch_counts() {
        let stretch = |count, ms| (count, Duration::from_millis(ms));
        // The machine was busy in all but one.
        let stretches = [stretch(600, 20), stretch(520, 20), stretch(900, 20), stretch(300, 25)];
        assert_eq!(best(&stretches), 45_000.0);
        assert!(measured(512, 3).expect("it squares") > 1000.0);
    }

    #[test]
    fn times_for_people() {
        for (seconds, text) in [
            (0.5, "0.5 s"),
            (90.0, "90.0 s"),
            (150.0, "2.5 min"),
            (9000.0, "2.5 hours"),
            (1e6, "11.6 days"),
            (1e9, "31.7 years"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(per_second(45.12e6), "45.1 million a second");
        assert_eq!(per_second(7.0), "7 a second");
    }
}
