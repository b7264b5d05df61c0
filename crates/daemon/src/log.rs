//! What the daemon tells on standard error: bounded for each kind of event, so that nobody fills a disk with it.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Events of one kind that may come at once, and how many a second after that.
const BURST: f64 = 200.0;
const PER_SECOND: f64 = 10.0;

/// Who is told of events: the event's stable name, what it says to people, and an object for programs.
pub type Tell = dyn Fn(&'static str, &str, Value) + Send + Sync;

/// The daemon's events.
pub(crate) struct Log {
    tell: Arc<Tell>,
    /// Whether requests are told too.
    requests: bool,
    kinds: Mutex<BTreeMap<&'static str, Bucket>>,
}

/// How many events of a kind may still be told.
struct Bucket {
    tokens: f64,
    filled: Instant,
    /// Those that were not told since the last one that was.
    left_out: u64,
}

impl Bucket {
    fn new(now: Instant) -> Self {
        Self { tokens: BURST, filled: now, left_out: 0 }
    }

    /// Whether one may be told; with it, how many were not before it.
    fn take(&mut self, now: Instant) -> Option<u64> {
        let seconds = now.saturating_duration_since(self.filled).as_secs_f64();
        self.tokens = (self.tokens + PER_SECOND * seconds).min(BURST);
        self.filled = now;
        if self.tokens < 1.0 {
            self.left_out += 1;
            return None;
        }
        self.tokens -= 1.0;
        Some(std::mem::take(&mut self.left_out))
    }
}

impl Log {
    pub(crate) fn new(tell: Arc<Tell>, requests: bool) -> Self {
        Self { tell, requests, kinds: Mutex::default() }
    }

    /// Tells of an event, unless there were too many of its kind.
    pub(crate) fn event(&self, name: &'static str, text: impl Display, mut fields: Value) {
        let taken = {
            let now = Instant::now();
            let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
            kinds.entry(name).or_insert_with(|| Bucket::new(now)).take(now)
        };
        let Some(left_out) = taken else { return };
        if left_out > 0 {
            fields["left_out"] = left_out.into();
        }
        (self.tell)(name, &text.to_string(), fields);
    }

    /// Tells of a request where that is wanted: how it came, what it was, how it ended, and how long it took.
    pub(crate) fn request(&self, by: &str, what: &str, outcome: &str, time: Duration) {
        if self.requests {
            let milliseconds = time.as_micros() as f64 / 1000.0;
            let text = format!("{by} {what}: {outcome} ({milliseconds} ms)");
            let fields = json!({
                "by": by, "request": what, "outcome": outcome, "ms": milliseconds,
            });
            self.event("daemon.request", text, fields);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_off_and_counted() {
        let start = Instant::now();
        let mut bucket = Bucket::new(start);
        let told = (0..5000).filter(|_| bucket.take(start).is_some()).count();
        assert_eq!(told, BURST as usize);
        // A second later some more are told, the first with the number of those that were not.
        let later = start + Duration::from_secs(1);
        assert_eq!(bucket.take(later), Some(5000 - BURST as u64));
        let told = (0..100).filter(|_| bucket.take(later).is_some()).count();
        assert_eq!(told + 1, PER_SECOND as usize);
    }
}
