//! What happens at a node, as it happens: for those that watch it.
//!
//! An event is a small JSON object. Nothing in it is secret, and nothing waits for who listens: the
//! latest events are kept in a ring, and a listener that falls behind the ring misses some and is told
//! how many.

use crate::ceremony::{lock, now_ms};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};

/// The latest events that are kept, for those that begin to listen or come back.
const KEPT: usize = 512;
/// Events that a listener may be behind.
const BEHIND: usize = 256;
/// Clients that listen at the same time.
pub(crate) const LISTENERS: usize = 16;

/// One event.
#[derive(Debug)]
pub(crate) struct Event {
    /// Larger than those of all events before it, also of earlier runs of the node.
    pub(crate) number: u64,
    pub(crate) kind: &'static str,
    /// A JSON object.
    pub(crate) text: String,
}

/// Where events are told and heard; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Events(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kept: Mutex<Kept>,
    told: broadcast::Sender<Arc<Event>>,
    places: Arc<Semaphore>,
    dropped: AtomicU64,
}

#[derive(Debug)]
struct Kept {
    next: u64,
    events: VecDeque<Arc<Event>>,
}

/// One that listens.
#[derive(Debug)]
pub(crate) struct Listener {
    /// Events before the next ones that it missed.
    pub(crate) missed: u64,
    /// What happened before it came.
    pub(crate) before: Vec<Arc<Event>>,
    /// What happens from then on.
    pub(crate) next: broadcast::Receiver<Arc<Event>>,
    _place: OwnedSemaphorePermit,
}

impl Events {
    /// Nothing has happened yet.
    pub(crate) fn new() -> Self {
        // In microseconds since 1970, a number that a listener keeps stays below those of a later run.
        let kept = Kept { next: now_ms().saturating_mul(1000), events: VecDeque::new() };
        Events(Arc::new(Inner {
            kept: Mutex::new(kept),
            told: broadcast::channel(BEHIND).0,
            places: Arc::new(Semaphore::new(LISTENERS)),
            dropped: AtomicU64::new(0),
        }))
    }

    /// Tells of an event; `fields` is a JSON object, to which its kind and the time are added.
    pub(crate) fn tell(&self, kind: &'static str, mut fields: Value) {
        fields["event"] = json!(kind);
        fields["ms"] = json!(now_ms());
        let text = fields.to_string();
        let mut kept = lock(&self.0.kept);
        let event = Arc::new(Event { number: kept.next, kind, text });
        kept.next += 1;
        if kept.events.len() == KEPT {
            kept.events.pop_front();
        }
        kept.events.push_back(event.clone());
        // Under the lock, so that all hear them in one order. It fails when nobody listens.
        let _ = self.0.told.send(event);
    }

    /// Listens, after the event of a number, or from now on; `None` if all places are taken.
    pub(crate) fn listen(&self, after: Option<u64>) -> Option<Listener> {
        let place = self.0.places.clone().try_acquire_owned().ok()?;
        let kept = lock(&self.0.kept);
        let next = self.0.told.subscribe();
        let last = kept.next - 1;
        // A number of the future is of a run before the clock was set back.
        let after = after.map_or(last, |after| if after > last { 0 } else { after });
        let first = kept.events.front().map_or(kept.next, |event| event.number);
        // After 0 means from the beginning: what was never seen is not missed.
        let missed = if after == 0 { 0 } else { first.saturating_sub(after + 1) };
        let before = kept.events.iter().filter(|event| event.number > after).cloned().collect();
        Some(Listener { missed, before, next, _place: place })
    }

    /// Counts a listener that read too slowly.
    pub(crate) fn note_slow(&self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// How many listen, and how many were dropped because they read too slowly.
    pub(crate) fn listeners(&self) -> [u64; 2] {
        let listening = LISTENERS - self.0.places.available_permits();
        [listening as u64, self.0.dropped.load(Ordering::Relaxed)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(events: &[Arc<Event>]) -> Vec<u64> {
        events.iter().map(|event| event.number).collect()
    }

    #[test]
    fn a_listener_that_comes_back_hears_what_it_missed() {
        let events = Events::new();
        events.tell("a", json!({ "n": 1 }));
        let mut listener = events.listen(None).unwrap();
        assert_eq!((listener.missed, listener.before.len()), (0, 0));
        events.tell("b", json!({ "n": 2 }));
        let second = listener.next.try_recv().unwrap();
        assert_eq!(second.kind, "b");
        let value: Value = serde_json::from_str(&second.text).unwrap();
        assert_eq!((&value["n"], &value["event"]), (&json!(2), &json!("b")));
        assert!(value["ms"].is_u64());

        let all = events.listen(Some(0)).unwrap();
        assert_eq!(numbers(&all.before), [second.number - 1, second.number]);
        assert!(events.listen(Some(second.number)).unwrap().before.is_empty());
        for _ in 0..KEPT + 3 {
            events.tell("c", json!({}));
        }
        let late = events.listen(Some(second.number)).unwrap();
        assert_eq!((late.missed, late.before.len()), (3, KEPT));
        assert_eq!(events.listen(Some(u64::MAX)).unwrap().before.len(), KEPT);
        assert!(matches!(listener.next.try_recv(), Err(broadcast::error::TryRecvError::Lagged(_))));
    }

    #[test]
    fn so_many_listen_and_no_more() {
        let events = Events::new();
        let mut listening: Vec<_> = (0..LISTENERS).map(|_| events.listen(None).unwrap()).collect();
        assert!(events.listen(None).is_none());
        listening.pop();
        events.note_slow();
        assert_eq!(events.listeners(), [LISTENERS as u64 - 1, 1]);
        assert!(events.listen(None).is_some());
    }
}
