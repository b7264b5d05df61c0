//! What a node counts, in the text format of Prometheus.

use crate::log::{CeremonyRecord, State};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of a node.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    sent_messages: AtomicU64,
    sent_bytes: AtomicU64,
    received_messages: AtomicU64,
    received_bytes: AtomicU64,
    dropped_messages: AtomicU64,
    ceremonies: [[AtomicU64; 3]; KINDS.len()],
    milliseconds: [AtomicU64; KINDS.len()],
}

/// What is so when the counters are read.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) peers: usize,
    pub(crate) running: usize,
    /// Ceremonies that wait: those of this node's API, and those of peers.
    pub(crate) waiting: [usize; 2],
    pub(crate) keys: usize,
    pub(crate) damaged_shares: usize,
    pub(crate) lost_shares: usize,
    /// By the names of the peers.
    pub(crate) dropped: Vec<(String, u64)>,
}

const KINDS: [&str; 3] = ["keygen", "sign", "reshare"];
const ENDS: [(State, &str); 3] =
    [(State::Done, "done"), (State::Failed, "failed"), (State::Released, "released")];

impl Metrics {
    /// Counts a message that is sent.
    pub(crate) fn sent(&self, bytes: usize) {
        add(&self.sent_messages, 1);
        add(&self.sent_bytes, bytes as u64);
    }

    /// Counts a message that came.
    pub(crate) fn received(&self, bytes: usize) {
        add(&self.received_messages, 1);
        add(&self.received_bytes, bytes as u64);
    }

    /// Counts a message that was dropped.
    pub(crate) fn dropped(&self) {
        add(&self.dropped_messages, 1);
    }

    /// Counts a ceremony that ended.
    pub(crate) fn ended(&self, record: &CeremonyRecord) {
        let kind = KINDS.iter().position(|kind| *kind == record.kind);
        let end = ENDS.iter().position(|(state, _)| *state == record.state);
        if let (Some(kind), Some(end)) = (kind, end) {
            add(&self.ceremonies[kind][end], 1);
            if record.state == State::Done {
                let ended = record.ended_ms.unwrap_or(record.started_ms);
                add(&self.milliseconds[kind], ended.saturating_sub(record.started_ms));
            }
        }
    }

    /// Writes all counters, and what is so `now`.
    pub(crate) fn to_text(&self, now: &Gauges) -> String {
        let mut text = String::new();
        for (name, help, value) in [
            ("peers_connected", "Peers to which a connection is open", now.peers),
            ("ceremonies_running", "Ceremonies that run now", now.running),
            ("keys", "Keys of which this node holds a share", now.keys),
            ("damaged_shares", "Share files that cannot be read", now.damaged_shares),
            ("lost_shares", "Share files that are not there", now.lost_shares),
        ] {
            line(&mut text, name, "gauge", help, &[("", value as u64)]);
        }
        let callers = ["{caller=\"api\"}", "{caller=\"peers\"}"];
        let waiting = [0, 1].map(|caller| (callers[caller], now.waiting[caller] as u64));
        let help = "Ceremonies that wait for a place";
        line(&mut text, "ceremonies_waiting", "gauge", help, &waiting);
        let label = |(name, count): &(String, u64)| (format!("{{peer=\"{name}\"}}"), *count);
        let dropped: Vec<_> = now.dropped.iter().map(label).collect();
        let help = "Messages of a peer that were dropped for its budgets or a full queue";
        line(&mut text, "peer_dropped_messages_total", "counter", help, &dropped);
        for (name, help, value) in [
            ("sent_messages_total", "Messages sent to peers", &self.sent_messages),
            ("sent_bytes_total", "Bytes sent to peers", &self.sent_bytes),
            ("received_messages_total", "Messages received from peers", &self.received_messages),
            ("received_bytes_total", "Bytes received from peers", &self.received_bytes),
            (
                "dropped_messages_total",
                "Received messages that were dropped",
                &self.dropped_messages,
            ),
        ] {
            line(&mut text, name, "counter", help, &[("", value.load(Ordering::Relaxed))]);
        }
        let (mut ends, mut times) = (Vec::new(), Vec::new());
        for (kind, name) in KINDS.iter().enumerate() {
            for (end, (_, state)) in ENDS.iter().enumerate() {
                let labels = format!("{{kind=\"{name}\",end=\"{state}\"}}");
                ends.push((labels, self.ceremonies[kind][end].load(Ordering::Relaxed)));
            }
            let labels = format!("{{kind=\"{name}\"}}");
            times.push((labels, self.milliseconds[kind].load(Ordering::Relaxed)));
        }
        line(&mut text, "ceremonies_total", "counter", "Ceremonies that ended", &ends);
        let help = "Milliseconds that ceremonies with a result took";
        line(&mut text, "ceremony_milliseconds_total", "counter", help, &times);
        text
    }
}

fn add(counter: &AtomicU64, value: u64) {
    counter.fetch_add(value, Ordering::Relaxed);
}

fn line(text: &mut String, name: &str, kind: &str, help: &str, values: &[(impl AsRef<str>, u64)]) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP tetralith_{name} {help}\n# TYPE tetralith_{name} {kind}");
    for (labels, value) in values {
        let _ = writeln!(text, "tetralith_{name}{} {value}", labels.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_written_with_their_labels() {
        let metrics = Metrics::default();
        metrics.sent(10);
        metrics.sent(5);
        metrics.dropped();
        let dropped = vec![("b".to_owned(), 7)];
        let now = Gauges { peers: 3, waiting: [4, 5], dropped, ..Gauges::default() };
        let text = metrics.to_text(&now);
        for expected in [
            "tetralith_peers_connected 3\n",
            "tetralith_ceremonies_waiting{caller=\"api\"} 4\n",
            "tetralith_ceremonies_waiting{caller=\"peers\"} 5\n",
            "tetralith_peer_dropped_messages_total{peer=\"b\"} 7\n",
            "tetralith_sent_messages_total 2\n",
            "tetralith_sent_bytes_total 15\n",
            "tetralith_dropped_messages_total 1\n",
            "tetralith_ceremonies_total{kind=\"sign\",end=\"failed\"} 0\n",
            "# TYPE tetralith_ceremony_milliseconds_total counter\n",
        ] {
            assert!(text.contains(expected), "{expected}{text}");
        }
    }
}
