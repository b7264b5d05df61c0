//! How often each peer may propose a new key.

use crate::ceremony::lock;
use libp2p::PeerId;
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// The new keys that each peer proposed within the last hour.
///
/// Only configured peers are counted, so it stays small. A restart forgets it.
#[derive(Debug)]
pub(crate) struct KeygenQuota {
    per_hour: usize,
    proposed: Mutex<HashMap<PeerId, VecDeque<Instant>>>,
}

impl KeygenQuota {
    pub(crate) fn new(per_hour: usize) -> Self {
        KeygenQuota { per_hour, proposed: Mutex::default() }
    }

    /// Counts one more of a peer, unless it has had its share.
    pub(crate) fn take(&self, peer: PeerId, now: Instant) -> bool {
        let mut proposed = lock(&self.proposed);
        let times = proposed.entry(peer).or_default();
        while times.front().is_some_and(|then| now.duration_since(*then) >= HOUR) {
            times.pop_front();
        }
        let free = times.len() < self.per_hour;
        if free {
            times.push_back(now);
        }
        free
    }
}

const HOUR: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    #[test]
    fn each_peer_has_its_own_hour() {
        let (a, b) = (Identity::from_seed(&[1; 32]).id(), Identity::from_seed(&[2; 32]).id());
        let quota = KeygenQuota::new(2);
        let start = Instant::now();
        let at = |minutes: u64| start + Duration::from_secs(60 * minutes);
        assert!(quota.take(a, at(0)) && quota.take(a, at(10)));
        assert!(!quota.take(a, at(59)) && quota.take(b, at(59)));
        assert!(quota.take(a, at(60)) && !quota.take(a, at(60)) && quota.take(a, at(70)));
    }
}
