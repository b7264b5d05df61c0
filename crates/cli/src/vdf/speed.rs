//! How fast this machine squares, and how long something takes at that speed.

use super::bench::any_modulus;
use crate::failure::Outcome;
use std::time::{Duration, Instant};
use tetralith_vdf::{Evaluation, Modulus};

/// A stretch is as many squarings as take about this long. The system gives a thread that shares its core
/// a few milliseconds at a time, so that some stretches are not interrupted, however busy the machine is.
const STRETCH: Duration = Duration::from_micros(200);

/// What was measured, in squarings per second.
pub(super) struct Measured {
    /// The best stretch. Other work only slows a stretch, so this is nearest to what the machine does
    /// undisturbed.
    pub(super) best: f64,
    /// All stretches together: what the machine does beside its other work.
    pub(super) mean: f64,
}

/// The speed modulo a number of so many bits, measured for so long.
pub(super) fn measured(bits: u64, time: Duration) -> Outcome<Measured> {
    let limbs = any_modulus(bits as u16);
    let bytes: Vec<u8> = limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
    let modulus = Modulus::from_bytes(&bytes)?;
    let (x, _) = modulus.reduce(&[3]);
    let mut evaluation = Evaluation::new(&modulus, &x, 1 << 62)?;
    evaluation.advance(1 << 12)?;
    let (begin, from) = (Instant::now(), evaluation.done());
    let (mut best, mut stretch) = (0.0f64, Stretch::new());
    while begin.elapsed() < time {
        let (clock, count) = (Instant::now(), stretch.count);
        evaluation.advance(count)?;
        let took = clock.elapsed();
        if stretch.counts(took) {
            best = best.max(per(count, took));
        }
    }
    let mean = per(evaluation.done() - from, begin.elapsed());
    // At the largest sizes, a few squarings may be all that there was time for.
    Ok(Measured { best: best.max(mean), mean })
}

/// How many squarings a stretch has.
pub(super) struct Stretch {
    pub(super) count: u64,
}

impl Stretch {
    pub(super) fn new() -> Self {
        Self { count: 16 }
    }

    /// Says whether a stretch that took so long was long enough to count, and lengthens the next if it was
    /// not.
    pub(super) fn counts(&mut self, took: Duration) -> bool {
        let long = took >= STRETCH;
        self.count = if long { self.count } else { self.count * 2 };
        long
    }
}

fn per(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(1e-9)
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
    fn a_stretch_grows_until_it_is_long_enough() {
        let mut stretch = Stretch::new();
        assert!(!stretch.counts(Duration::from_micros(60)) && stretch.count == 32);
        // A stretch that was interrupted counts, and shows no more than that the machine is busy.
        assert!(stretch.counts(Duration::from_millis(60)) && stretch.count == 32);
        assert!(!stretch.counts(Duration::from_micros(120)) && stretch.count == 64);
        assert!(stretch.counts(Duration::from_micros(240)) && stretch.count == 64);
    }

    /// Eight threads for each core want as much time as the one that measures, and hide nothing of the
    /// machine's speed: that is what a thread squares in the time that it has a core.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_busy_machine_measures_its_own_speed() {
        use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        let on_core = || {
            let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux's");
            text.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).expect("nanoseconds")
        };
        let (done, cores) = (AtomicBool::new(false), std::thread::available_parallelism());
        std::thread::scope(|scope| {
            for _ in 0..8 * cores.expect("cores").get() {
                scope.spawn(|| {
                    while !done.load(Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let (clock, from) = (Instant::now(), on_core());
            let speed = measured(2048, Duration::from_secs(2));
            let share = (on_core() - from) as f64 / clock.elapsed().as_nanos() as f64;
            done.store(true, Relaxed);
            let speed = speed.expect("it squares");
            let undisturbed = speed.mean / share;
            assert!(share < 0.5, "the machine was not busy: {share}");
            assert!(speed.best > 0.8 * undisturbed, "{} of {undisturbed}", speed.best);
            assert!(speed.mean < 0.7 * speed.best, "{} of {}", speed.mean, speed.best);
        });
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
