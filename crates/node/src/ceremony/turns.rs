//! Whose ceremony runs next: a queue that is fair between callers.
//!
//! A caller is this node's API or a peer that proposes. So many ceremonies run at the same time, and
//! so many of one caller; the others wait. A place that becomes free goes to the waiting caller that
//! has the fewest running, and among those to the one that was served longest ago.

use crate::ceremony::lock;
use crate::config::Limits;
use libp2p::PeerId;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// Who asks for a ceremony.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    /// This node's own API.
    Api,
    /// A peer that proposes.
    Peer(PeerId),
}

/// The queue; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Turns(Arc<Mutex<Queue>>);

#[derive(Debug)]
struct Queue {
    most: usize,
    most_of_caller: usize,
    running: usize,
    callers: HashMap<Caller, Line>,
    served: u64,
}

/// One caller's ceremonies.
#[derive(Debug, Default)]
struct Line {
    running: usize,
    waiting: VecDeque<oneshot::Sender<Turn>>,
    /// When it was served last, counted in turns.
    served: u64,
}

/// The right to run one ceremony; dropping it lets the next one run.
#[derive(Debug)]
pub(crate) struct Turn {
    caller: Caller,
    queue: Option<Turns>,
}

/// The caller's line is as long as it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the queue of ceremonies is full")]
pub(crate) struct LineFull;

impl Turns {
    pub(crate) fn new(limits: &Limits) -> Self {
        Turns(Arc::new(Mutex::new(Queue {
            most: limits.ceremonies,
            most_of_caller: limits.ceremonies_per_peer,
            running: 0,
            callers: HashMap::new(),
            served: 0,
        })))
    }

    /// Waits for a turn behind at most `most_waiting` of the same caller.
    ///
    /// Cancel safe: dropping the future leaves the queue.
    pub(crate) async fn take(&self, caller: Caller, most_waiting: usize) -> Result<Turn, LineFull> {
        let turn = {
            let mut queue = lock(&self.0);
            let line = queue.callers.entry(caller).or_default();
            line.waiting.retain(|waiting| !waiting.is_closed());
            // The line empties by itself as soon as the caller may run another.
            if line.waiting.len() >= most_waiting.max(1) {
                return Err(LineFull);
            }
            let (given, turn) = oneshot::channel();
            line.waiting.push_back(given);
            self.serve(&mut queue);
            turn
        };
        // The queue holds the other end until it gives the turn.
        turn.await.map_err(|_| LineFull)
    }

    /// Gives out the free places.
    fn serve(&self, queue: &mut Queue) {
        while queue.running < queue.most {
            let most = queue.most_of_caller;
            for line in queue.callers.values_mut() {
                line.waiting.retain(|waiting| !waiting.is_closed());
            }
            let next = queue.callers.iter_mut();
            let next = next.filter(|(_, line)| line.running < most && !line.waiting.is_empty());
            let Some((caller, line)) = next.min_by_key(|(_, line)| (line.running, line.served))
            else {
                return;
            };
            let turn = Turn { caller: *caller, queue: Some(self.clone()) };
            let Some(waiting) = line.waiting.pop_front() else { return };
            if let Err(mut unwanted) = waiting.send(turn) {
                // It left the queue just now; the place is still free.
                unwanted.queue = None;
                continue;
            }
            line.running += 1;
            queue.served += 1;
            line.served = queue.served;
            queue.running += 1;
        }
    }

    /// Ceremonies that run.
    pub(crate) fn running(&self) -> usize {
        lock(&self.0).running
    }

    /// Ceremonies that wait: those of this node's API, and those of peers.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        let queue = lock(&self.0);
        let count = |line: &Line| line.waiting.iter().filter(|w| !w.is_closed()).count();
        let all: usize = queue.callers.values().map(count).sum();
        let own = queue.callers.get(&Caller::Api).map_or(0, count);
        (own, all - own)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some(turns) = self.queue.take() else { return };
        let mut queue = lock(&turns.0);
        queue.running -= 1;
        if let Some(line) = queue.callers.get_mut(&self.caller) {
            line.running -= 1;
        }
        turns.serve(&mut queue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use core::time::Duration;
    use tokio::time::timeout;

    fn turns(ceremonies: usize, ceremonies_per_peer: usize) -> Turns {
        Turns::new(&Limits { ceremonies, ceremonies_per_peer, ..Limits::default() })
    }

    fn peer(seed: u8) -> Caller {
        Caller::Peer(Identity::from_seed(&[seed; 32]).id())
    }

    async fn soon<T>(future: impl Future<Output = T>) -> Option<T> {
        timeout(Duration::from_millis(50), future).await.ok()
    }

    #[tokio::test]
    async fn more_than_the_limit_waits_and_then_runs() {
        let turns = turns(3, 2);
        let first = turns.take(peer(1), 9).await.unwrap();
        let _second = turns.take(peer(1), 9).await.unwrap();
        assert!(soon(turns.take(peer(1), 9)).await.is_none(), "two of one caller");
        let _api = turns.take(Caller::Api, 9).await.unwrap();
        assert_eq!((turns.running(), turns.waiting()), (3, (0, 0)), "who left waits no more");
        let queued = tokio::spawn({
            let turns = turns.clone();
            async move { turns.take(peer(1), 9).await.unwrap() }
        });
        while turns.waiting() != (0, 1) {
            tokio::task::yield_now().await;
        }
        drop(first);
        let third = queued.await.unwrap();
        assert_eq!((turns.running(), turns.waiting()), (3, (0, 0)));
        drop(third);
        assert_eq!(turns.running(), 2);
    }

    #[tokio::test]
    async fn a_long_line_delays_its_own_caller() {
        let turns = turns(1, 1);
        let running = turns.take(peer(1), 9).await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for (name, caller) in [(1, peer(1)), (1, peer(1)), (2, peer(2)), (1, peer(1)), (3, peer(3))]
        {
            let before = turns.waiting().1;
            let (waiting, order) = (turns.clone(), order.clone());
            tasks.push(tokio::spawn(async move {
                let _turn = waiting.take(caller, 9).await.unwrap();
                lock(&order).push(name);
            }));
            while turns.waiting().1 == before {
                tokio::task::yield_now().await;
            }
        }
        drop(running);
        for task in tasks {
            task.await.unwrap();
        }
        let order = lock(&order).clone();
        let at = |name| order.iter().position(|other| *other == name).unwrap();
        assert!(at(2) < 2 && at(3) < 2, "{order:?}");
    }

    #[tokio::test]
    async fn a_full_line_refuses() {
        let turns = turns(1, 1);
        let _running = turns.take(Caller::Api, 1).await.unwrap();
        let queued = tokio::spawn({
            let turns = turns.clone();
            async move { turns.take(Caller::Api, 1).await }
        });
        while turns.waiting() != (1, 0) {
            tokio::task::yield_now().await;
        }
        assert_eq!(turns.take(Caller::Api, 1).await.unwrap_err(), LineFull);
        queued.abort();
        let _ = queued.await;
        assert!(soon(turns.take(Caller::Api, 1)).await.is_none(), "there is room to wait again");
    }
}
