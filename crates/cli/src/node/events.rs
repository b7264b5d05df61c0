//! The node's log: one JSON line an event, and of each kind only so many.
//!
//! Whoever can connect, or talk, to a node can cause events. Each kind of event, which is a place in
//! the source, has a token bucket of its own: a flood of one kind fills no disk and hides no other kind.
//! What was left out is counted, and told every ten seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tracing::callsite::Identifier;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Events of one kind at once, and a second.
const AT_ONCE: f64 = 50.0;
const PER_SECOND: f64 = 2.0;
/// How often it is told what was left out.
const SUMMARY: Duration = Duration::from_secs(10);

/// Writes the node's events to standard error from now on.
pub(super) fn start() -> Limited {
    let limited = Limited::default();
    tracing_subscriber::registry()
        .with(tracing_subscriber::filter::LevelFilter::INFO)
        .with(limited.clone())
        .with(tracing_subscriber::fmt::layer().json().with_writer(std::io::stderr))
        .init();
    limited
}

/// The buckets of all kinds; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Limited(Arc<Mutex<HashMap<Identifier, Bucket>>>);

/// One kind of event.
#[derive(Debug)]
struct Bucket {
    name: String,
    left: f64,
    at: Instant,
    suppressed: u64,
}

impl Limited {
    /// Tells what was left out, every ten seconds.
    ///
    /// Cancel safe.
    pub(super) async fn summarize(self) {
        loop {
            tokio::time::sleep(SUMMARY).await;
            for (kind, count) in self.suppressed() {
                tracing::warn!(event = "log_suppressed", kind, count);
            }
        }
    }

    /// What was left out since the last call, by kind.
    fn suppressed(&self) -> Vec<(String, u64)> {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let some = buckets.values_mut().filter(|bucket| bucket.suppressed > 0);
        some.map(|b| (b.name.clone(), std::mem::take(&mut b.suppressed))).collect()
    }

    fn take(&self, kind: Identifier, name: impl FnOnce() -> String, now: Instant) -> bool {
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(kind).or_insert_with(|| Bucket {
            name: name(),
            left: AT_ONCE,
            at: now,
            suppressed: 0,
        });
        let gained = now.saturating_duration_since(bucket.at).as_secs_f64() * PER_SECOND;
        (bucket.left, bucket.at) = ((bucket.left + gained).min(AT_ONCE), now);
        let enough = bucket.left >= 1.0;
        if enough {
            bucket.left -= 1.0;
        } else {
            bucket.suppressed += 1;
        }
        enough
    }
}

impl<S: Subscriber> Layer<S> for Limited {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        self.take(event.metadata().callsite(), || name(event), Instant::now())
    }
}

/// The event's own name, or where it is in the source.
fn name(event: &Event<'_>) -> String {
    struct Name(Option<String>);
    impl Visit for Name {
        fn record_str(&mut self, field: &Field, value: &str) {
            if field.name() == "event" {
                self.0 = Some(value.to_owned());
            }
        }
        fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
    }
    let mut name = Name(None);
    event.record(&mut name);
    name.0.unwrap_or_else(|| event.metadata().name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_one_kind_hides_no_other() {
        use tracing::callsite::Callsite;
        struct Site(#[allow(dead_code, reason = "gives each site an address")] u8);
        impl Callsite for Site {
            fn set_interest(&self, _: tracing::subscriber::Interest) {}
            fn metadata(&self) -> &tracing::Metadata<'_> {
                unreachable!("only its address counts")
            }
        }
        static SITES: [Site; 2] = [Site(1), Site(2)];
        let (flood, other) = (Identifier(&SITES[0]), Identifier(&SITES[1]));
        let limited = Limited::default();
        let now = Instant::now();
        let taken = |kind: &Identifier, count: usize, now| {
            (0..count).filter(|_| limited.take(kind.clone(), || "flood".into(), now)).count()
        };
        assert_eq!(taken(&flood, 1000, now), 50);
        assert_eq!(limited.suppressed(), [("flood".to_owned(), 950)]);
        assert_eq!(limited.suppressed(), []);
        assert_eq!(taken(&flood, 1000, now + Duration::from_secs(3)), 6);
        assert_eq!(taken(&other, 10, now), 10);
    }
}
