//! How often something took how long, in fixed buckets.

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

/// The upper ends of the buckets, in seconds: from a round on one machine to `round_ms` and beyond.
const ENDS: [f64; 13] =
    [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Counts durations.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    /// Those of each bucket alone, and then the longer ones.
    buckets: [AtomicU64; ENDS.len() + 1],
    microseconds: AtomicU64,
}

impl Histogram {
    /// Counts one duration.
    pub(super) fn add(&self, took: Duration) {
        let bucket = ENDS.iter().position(|end| took.as_secs_f64() <= *end).unwrap_or(ENDS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(micros, Ordering::Relaxed);
    }

    /// Writes the series of this name; `labels` are those without braces.
    pub(super) fn write(&self, text: &mut String, name: &str, labels: &str) {
        let mut count = 0;
        for (bucket, end) in self.buckets.iter().zip(ENDS.iter().map(Some).chain([None])) {
            count += bucket.load(Ordering::Relaxed);
            let end = end.map_or("+Inf".to_owned(), f64::to_string);
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{end}\"}} {count}");
        }
        let seconds = self.microseconds.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(text, "{name}_sum{{{labels}}} {seconds}");
        let _ = writeln!(text, "{name}_count{{{labels}}} {count}");
    }
}
