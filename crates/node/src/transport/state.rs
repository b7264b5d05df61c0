//! What is measured of a peer's connection, for metrics and screens.

use crate::codec::Frame;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use core::time::Duration;
use tokio::sync::mpsc;

/// What is measured of one peer.
#[derive(Debug)]
pub(crate) struct PeerState {
    /// In microseconds; 0 before the first measurement.
    round_trip: AtomicU64,
    unacknowledged: AtomicUsize,
    /// Weak, so that the queue closes with the transport.
    received: mpsc::WeakSender<Frame>,
}

impl PeerState {
    /// Nothing is measured of the peer that fills this queue.
    pub(super) fn new(received: mpsc::WeakSender<Frame>) -> Self {
        PeerState { round_trip: AtomicU64::new(0), unacknowledged: AtomicUsize::new(0), received }
    }

    pub(super) fn set_round_trip(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.round_trip.store(micros.max(1), Ordering::Relaxed);
    }

    pub(super) fn set_unacknowledged(&self, count: usize) {
        self.unacknowledged.store(count, Ordering::Relaxed);
    }

    /// The last measured round trip.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        let micros = self.round_trip.load(Ordering::Relaxed);
        (micros > 0).then(|| Duration::from_micros(micros))
    }

    /// The peer's messages that wait here, and messages to it that it has not acknowledged.
    pub(crate) fn queues(&self) -> [usize; 2] {
        let waiting = |queue: mpsc::Sender<Frame>| queue.max_capacity() - queue.capacity();
        let received = self.received.upgrade().map_or(0, waiting);
        [received, self.unacknowledged.load(Ordering::Relaxed)]
    }
}
