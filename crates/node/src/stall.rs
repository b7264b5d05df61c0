//! Notices that this node itself did not run: stopped by a signal, swapped out, or starved of CPU.
//!
//! A node that did not run finds all its deadlines expired when it runs again. What others did not
//! send before then is not their fault.

use crate::ceremony::lock;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// How often the node looks at its clock.
const TICK: Duration = Duration::from_millis(100);
/// Shorter gaps are ordinary scheduling.
const SHORTEST: Duration = Duration::from_millis(400);
/// Gaps that are remembered; older ones are forgotten.
const REMEMBERED: usize = 64;

/// When this node last looked at its clock, and when it was late.
#[derive(Debug)]
pub(crate) struct Stalls(Mutex<Seen>);

#[derive(Debug)]
struct Seen {
    last: Instant,
    /// The ends of gaps, with their lengths.
    gaps: VecDeque<(Instant, Duration)>,
}

impl Stalls {
    pub(crate) fn new() -> Self {
        Stalls(Mutex::new(Seen { last: Instant::now(), gaps: VecDeque::new() }))
    }

    /// Looks at the clock for as long as it is polled.
    ///
    /// Cancel safe.
    pub(crate) async fn watch(&self) {
        loop {
            self.look(Instant::now());
            tokio::time::sleep(TICK).await;
        }
    }

    fn look(&self, now: Instant) {
        let mut seen = lock(&self.0);
        let gap = now.saturating_duration_since(seen.last);
        if gap > TICK + SHORTEST {
            tracing::warn!(event = "node_stalled", ms = gap.as_millis() as u64);
            if seen.gaps.len() == REMEMBERED {
                seen.gaps.pop_front();
            }
            seen.gaps.push_back((now, gap));
        }
        seen.last = seen.last.max(now);
    }

    /// How long this node did not run since an instant.
    pub(crate) fn since(&self, since: Instant) -> Duration {
        let now = Instant::now();
        // The caller may run before the watching task does.
        self.look(now);
        let seen = lock(&self.0);
        let within =
            |(end, gap): &(Instant, Duration)| (*gap).min(end.saturating_duration_since(since));
        seen.gaps.iter().map(within).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_after_the_instant_counts() {
        let stalls = Stalls::new();
        let start = lock(&stalls.0).last;
        let at = |ms: u64| start + Duration::from_millis(ms);
        for ms in [100, 200, 2_200, 2_300, 2_700] {
            stalls.look(at(ms));
        }
        // The gap of 2 s counts and the one of 0.4 s does not.
        assert_eq!(lock(&stalls.0).gaps.len(), 1);
        assert_eq!(stalls.since(start), Duration::from_secs(2));
        assert_eq!(stalls.since(at(1_200)), Duration::from_secs(1));
        assert_eq!(stalls.since(at(2_200)), Duration::ZERO);
    }
}
