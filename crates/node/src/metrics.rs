//! What a node counts, in the text format of Prometheus.
//!
//! Every series is bounded: kinds, ends and rounds are the protocols', peers are the configured ones, and
//! the reasons of blame come from this node's own checks. A peer cannot make a series by what it says.

mod histogram;

use crate::ceremony::lock;
use crate::config::Peer;
use crate::log::{Basis, BlameRecord, CeremonyRecord, State};
use core::fmt::Write;
use histogram::Histogram;
use libp2p::PeerId;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The counters of a node.
#[derive(Debug)]
pub(crate) struct Metrics {
    me: String,
    dropped_messages: AtomicU64,
    ceremonies: [[AtomicU64; 3]; KINDS.len()],
    ceremony_time: [Histogram; KINDS.len()],
    round_time: Mutex<BTreeMap<(usize, u8), Histogram>>,
    peers: BTreeMap<PeerId, Traffic>,
    blames: Mutex<BTreeMap<Blamed, u64>>,
}

/// What went to and came from one peer: sent first, then received.
#[derive(Debug, Default)]
struct Traffic {
    name: String,
    messages: [AtomicU64; 2],
    bytes: [AtomicU64; 2],
}

/// Peer, evidence and reason of a blame.
type Blamed = (String, &'static str, String);

/// What is so when the counters are read.
#[derive(Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) ready: bool,
    pub(crate) running: usize,
    /// Ceremonies that wait: those of this node's API, and those of peers.
    pub(crate) waiting: [usize; 2],
    pub(crate) keys: usize,
    pub(crate) damaged_shares: usize,
    pub(crate) lost_shares: usize,
    /// Clients that listen to events, and those that were dropped because they read too slowly.
    pub(crate) listeners: [u64; 2],
    pub(crate) peers: Vec<PeerGauges>,
}

/// How it stands with one peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct PeerGauges {
    pub(crate) name: String,
    pub(crate) connected: bool,
    /// The last measured round trip.
    pub(crate) round_trip: Option<Duration>,
    /// Its messages that wait here, and messages to it that it has not acknowledged.
    pub(crate) queues: [usize; 2],
    pub(crate) dropped: u64,
}

const KINDS: [&str; 3] = ["keygen", "sign", "reshare"];
const ENDS: [(State, &str); 3] =
    [(State::Done, "done"), (State::Failed, "failed"), (State::Released, "released")];
const DIRECTIONS: [&str; 2] = ["sent", "received"];
/// Rounds are few. A round beyond this is counted with it.
const LAST_ROUND: u8 = 32;
/// Different blames that are counted apart; further ones are counted as "other".
const MOST_BLAMES: usize = 256;

impl Metrics {
    /// No counts yet, of the node `me` and its peers.
    pub(crate) fn new(me: &PeerId, peers: &[Peer]) -> Self {
        let traffic = |peer: &Peer| Traffic { name: peer.name.clone(), ..Traffic::default() };
        Metrics {
            me: me.to_string(),
            dropped_messages: AtomicU64::default(),
            ceremonies: Default::default(),
            ceremony_time: Default::default(),
            round_time: Mutex::default(),
            peers: peers.iter().map(|peer| (peer.id, traffic(peer))).collect(),
            blames: Mutex::default(),
        }
    }

    /// Counts a message that is sent.
    pub(crate) fn sent(&self, to: &PeerId, bytes: usize) {
        self.count(to, 0, bytes);
    }

    /// Counts a message that came.
    pub(crate) fn received(&self, from: &PeerId, bytes: usize) {
        self.count(from, 1, bytes);
    }

    fn count(&self, peer: &PeerId, direction: usize, bytes: usize) {
        if let Some(traffic) = self.peers.get(peer) {
            add(&traffic.messages[direction], 1);
            add(&traffic.bytes[direction], bytes as u64);
        }
    }

    /// Counts a message that was dropped.
    pub(crate) fn dropped(&self) {
        add(&self.dropped_messages, 1);
    }

    /// Counts how long this node was in a round.
    pub(crate) fn round(&self, kind: &str, round: u8, took: Duration) {
        if let Some(kind) = KINDS.iter().position(|known| *known == kind) {
            let mut rounds = lock(&self.round_time);
            rounds.entry((kind, round.min(LAST_ROUND))).or_default().add(took);
        }
    }

    /// Counts a ceremony that ended, and whom it blames.
    pub(crate) fn ended(&self, record: &CeremonyRecord) {
        let kind = KINDS.iter().position(|kind| *kind == record.kind);
        let end = ENDS.iter().position(|(state, _)| *state == record.state);
        if let (Some(kind), Some(end)) = (kind, end) {
            add(&self.ceremonies[kind][end], 1);
            if record.state == State::Done {
                let ended = record.ended_ms.unwrap_or(record.started_ms);
                let took = Duration::from_millis(ended.saturating_sub(record.started_ms));
                self.ceremony_time[kind].add(took);
            }
        }
        record.blames.iter().for_each(|blame| self.blamed(blame));
    }

    fn blamed(&self, blame: &BlameRecord) {
        let id: Option<PeerId> = blame.peer.parse().ok();
        let Some(peer) = id.and_then(|id| self.peers.get(&id)) else { return };
        let evidence = match blame.evidence {
            Basis::Proof => "proof",
            Basis::Accusation => "accusation",
            Basis::Absence => "absence",
        };
        let reason = if blame.reporter == self.me { reason(&blame.fault) } else { ELSEWHERE };
        let mut blames = lock(&self.blames);
        let mut blamed = (peer.name.clone(), evidence, reason.to_owned());
        if blames.len() >= MOST_BLAMES && !blames.contains_key(&blamed) {
            blamed.2 = "other".to_owned();
        }
        *blames.entry(blamed).or_default() += 1;
    }

    /// Writes all counters, and what is so `now`.
    pub(crate) fn to_text(&self, now: &Gauges) -> String {
        let mut text = String::new();
        let labels = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
        line(&mut text, "build_info", "gauge", "The version of the node", &[(labels, 1)]);
        let connected = now.peers.iter().filter(|peer| peer.connected).count();
        for (name, help, value) in [
            ("ready", "1 if GET /readyz answers that the node is ready", usize::from(now.ready)),
            ("peers_connected", "Peers to which a connection is open", connected),
            ("ceremonies_running", "Ceremonies that run now", now.running),
            ("keys", "Keys of which this node holds a share", now.keys),
            ("damaged_shares", "Share files that cannot be read", now.damaged_shares),
            ("lost_shares", "Share files that are not there", now.lost_shares),
            ("event_listeners", "Clients that listen to events", now.listeners[0] as usize),
        ] {
            line(&mut text, name, "gauge", help, &[("", value as u64)]);
        }
        let help = "Clients that were dropped because they read events too slowly";
        line(
            &mut text,
            "event_listeners_dropped_total",
            "counter",
            help,
            &[("", now.listeners[1])],
        );
        let callers = ["{caller=\"api\"}", "{caller=\"peers\"}"];
        let waiting = [0, 1].map(|caller| (callers[caller], now.waiting[caller] as u64));
        let help = "Ceremonies that wait for a place";
        line(&mut text, "ceremonies_waiting", "gauge", help, &waiting);
        self.write_peers(&mut text, now);
        let help = "Received messages that were dropped";
        let dropped = self.dropped_messages.load(Ordering::Relaxed);
        line(&mut text, "dropped_messages_total", "counter", help, &[("", dropped)]);
        self.write_ceremonies(&mut text);
        text
    }

    fn write_peers(&self, text: &mut String, now: &Gauges) {
        let of = |peer: &PeerGauges| format!("{{peer=\"{}\"}}", escaped(&peer.name));
        let rows = |value: &dyn Fn(&PeerGauges) -> u64| -> Vec<_> {
            now.peers.iter().map(|peer| (of(peer), value(peer))).collect()
        };
        let connected = rows(&|peer| u64::from(peer.connected));
        line(text, "peer_connected", "gauge", "1 if a connection to the peer is open", &connected);
        head(text, "peer_round_trip_seconds", "gauge", "The last measured round trip to the peer");
        for peer in &now.peers {
            if let Some(took) = peer.round_trip {
                let (labels, seconds) = (of(peer), took.as_secs_f64());
                let _ = writeln!(text, "tetralith_peer_round_trip_seconds{labels} {seconds}");
            }
        }
        let mut queues = Vec::new();
        for peer in &now.peers {
            let name = escaped(&peer.name);
            for (queue, length) in ["received", "unacknowledged"].iter().zip(peer.queues) {
                queues.push((format!("{{peer=\"{name}\",queue=\"{queue}\"}}"), length as u64));
            }
        }
        let help = "Messages of a peer that wait here, and to it that it has not acknowledged";
        line(text, "peer_queue", "gauge", help, &queues);
        let help = "Messages of a peer that were dropped for its budgets or a full queue";
        line(text, "peer_dropped_messages_total", "counter", help, &rows(&|peer| peer.dropped));
        let (mut messages, mut bytes) = (Vec::new(), Vec::new());
        for traffic in self.peers.values() {
            let name = escaped(&traffic.name);
            for (at, direction) in DIRECTIONS.iter().enumerate() {
                let labels = format!("{{peer=\"{name}\",direction=\"{direction}\"}}");
                messages.push((labels.clone(), traffic.messages[at].load(Ordering::Relaxed)));
                bytes.push((labels, traffic.bytes[at].load(Ordering::Relaxed)));
            }
        }
        line(text, "peer_messages_total", "counter", "Messages to and from a peer", &messages);
        line(text, "peer_bytes_total", "counter", "Bytes of messages to and from a peer", &bytes);
    }

    fn write_ceremonies(&self, text: &mut String) {
        let mut ends = Vec::new();
        for (kind, name) in KINDS.iter().enumerate() {
            for (end, (_, state)) in ENDS.iter().enumerate() {
                let labels = format!("{{kind=\"{name}\",end=\"{state}\"}}");
                ends.push((labels, self.ceremonies[kind][end].load(Ordering::Relaxed)));
            }
        }
        line(text, "ceremonies_total", "counter", "Ceremonies that ended", &ends);
        let help = "Seconds that ceremonies with a result took, waiting in the queue excluded";
        head(text, "ceremony_seconds", "histogram", help);
        for (histogram, name) in self.ceremony_time.iter().zip(KINDS) {
            histogram.write(text, "tetralith_ceremony_seconds", &format!("kind=\"{name}\""));
        }
        head(text, "round_seconds", "histogram", "Seconds that this node was in a round");
        for ((kind, round), histogram) in &*lock(&self.round_time) {
            let labels = format!("kind=\"{}\",round=\"{round}\"", KINDS[*kind]);
            histogram.write(text, "tetralith_round_seconds", &labels);
        }
        let blames = lock(&self.blames);
        let rows: Vec<_> = blames
            .iter()
            .map(|((peer, evidence, reason), count)| {
                let (peer, reason) = (escaped(peer), escaped(reason));
                let labels =
                    format!("{{peer=\"{peer}\",evidence=\"{evidence}\",reason=\"{reason}\"}}");
                (labels, *count)
            })
            .collect();
        line(text, "blames_total", "counter", "Times that a ceremony's end blamed a peer", &rows);
    }
}

/// The reason of a blame that another node reports, whatever it says.
const ELSEWHERE: &str = "reported by another node";

/// What a blame of this node is for, without the figures and details that differ from case to case.
fn reason(fault: &str) -> &str {
    let end = fault.find([':', '(', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    fault[..end.unwrap_or(fault.len())].trim_end()
}

/// A label's value as the text format wants it.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn add(counter: &AtomicU64, value: u64) {
    counter.fetch_add(value, Ordering::Relaxed);
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP tetralith_{name} {help}\n# TYPE tetralith_{name} {kind}");
}

fn line(text: &mut String, name: &str, kind: &str, help: &str, values: &[(impl AsRef<str>, u64)]) {
    head(text, name, kind, help);
    for (labels, value) in values {
        let _ = writeln!(text, "tetralith_{name}{} {value}", labels.as_ref());
    }
}

#[cfg(test)]
mod tests;
