//! Counters for Prometheus, in its text exposition format.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted since the daemon started.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Requests over HTTP and over sockets, answered and refused.
    requests: [AtomicU64; 4],
    /// Challenges that were taken, done, failed and cancelled.
    challenges: [AtomicU64; 4],
    squarings: AtomicU64,
    turned_away: AtomicU64,
}

/// How a challenge may change.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    Taken,
    Done,
    Failed,
    Cancelled,
}

const REQUESTS: [(&str, &str); 4] =
    [("http", "answered"), ("http", "refused"), ("lines", "answered"), ("lines", "refused")];
const CHANGES: [&str; 4] = ["taken", "done", "failed", "cancelled"];

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

impl Metrics {
    pub(crate) fn request(&self, by: &str, answered: bool) {
        add(&self.requests[2 * usize::from(by == "lines") + usize::from(!answered)], 1);
    }

    pub(crate) fn challenge(&self, change: Change) {
        add(&self.challenges[change as usize], 1);
    }

    pub(crate) fn squared(&self, count: u64) {
        add(&self.squarings, count);
    }

    pub(crate) fn turned_away(&self) {
        add(&self.turned_away, 1);
    }

    /// The page: counters, and how many challenges are in each state now.
    pub(crate) fn page(&self, states: [(&str, usize); 4]) -> String {
        let mut out = String::new();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut metric = |name: &str, kind: &str, help: &str, rows: &[(String, u64)]| {
            let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
            for (labels, value) in rows {
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        };
        let rows: Vec<_> = (REQUESTS.iter().zip(&self.requests))
            .map(|((by, outcome), n)| (format!("{{by=\"{by}\",outcome=\"{outcome}\"}}"), read(n)))
            .collect();
        metric("tetralith_vdf_requests_total", "counter", "Requests.", &rows);
        let rows: Vec<_> = (CHANGES.iter().zip(&self.challenges))
            .map(|(state, n)| (format!("{{state=\"{state}\"}}"), read(n)))
            .collect();
        metric(
            "tetralith_vdf_challenges_total",
            "counter",
            "Challenges by what became of them.",
            &rows,
        );
        let rows = states.map(|(state, n)| (format!("{{state=\"{state}\"}}"), n as u64));
        metric("tetralith_vdf_challenges", "gauge", "Challenges kept, by their state now.", &rows);
        let running = states.iter().find(|(state, _)| *state == "running").map_or(0, |(_, n)| *n);
        let one = |value: u64| [(String::new(), value)];
        metric("tetralith_vdf_running", "gauge", "Challenges worked on now.", &one(running as u64));
        let squared = one(read(&self.squarings));
        metric("tetralith_vdf_squarings_total", "counter", "Squarings done.", &squared);
        let away = one(read(&self.turned_away));
        metric("tetralith_vdf_turned_away_total", "counter", "Connections without a place.", &away);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_help_type_and_rows() {
        let metrics = Metrics::default();
        metrics.request("http", true);
        metrics.request("lines", false);
        metrics.challenge(Change::Done);
        metrics.squared(77);
        let page = metrics.page([("queued", 1), ("running", 2), ("done", 3), ("failed", 0)]);
        for line in [
            "# TYPE tetralith_vdf_requests_total counter",
            "tetralith_vdf_requests_total{by=\"http\",outcome=\"answered\"} 1",
            "tetralith_vdf_requests_total{by=\"lines\",outcome=\"refused\"} 1",
            "tetralith_vdf_requests_total{by=\"lines\",outcome=\"answered\"} 0",
            "tetralith_vdf_challenges_total{state=\"done\"} 1",
            "tetralith_vdf_challenges{state=\"running\"} 2",
            "tetralith_vdf_running 2",
            "tetralith_vdf_squarings_total 77",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}: {page}");
        }
        assert!(page.ends_with('\n'));
    }
}
