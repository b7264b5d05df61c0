//! Real sockets on loopback.

use super::*;
use crate::config::{Clients, Limits, Policy, Timeouts};

struct Endpoint {
    transport: Transport,
    queues: Vec<Incoming>,
    stop: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
    address: Multiaddr,
    begun: Instant,
}

impl Endpoint {
    /// The next message of its first peer.
    async fn next(&mut self) -> Frame {
        self.queues[0].queue.recv().await.unwrap()
    }

    fn is_empty(&self) -> bool {
        self.queues.iter().all(|incoming| incoming.queue.is_empty())
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        self.task.await.unwrap();
    }
}

fn identity(seed: u8) -> Identity {
    Identity::from_seed(&[seed; 32])
}

/// Starts the endpoint of `seed` at `listen`, which knows `peers` by their seeds and addresses.
async fn endpoint(seed: u8, listen: &str, peers: &[(u8, &str)], most_bytes: usize) -> Endpoint {
    let limits = Limits { message_bytes: most_bytes, ..Limits::default() };
    limited(seed, listen, peers, limits).await
}

async fn limited(seed: u8, listen: &str, peers: &[(u8, &str)], limits: Limits) -> Endpoint {
    let peers = peers.iter().map(|(seed, address)| Peer {
        name: format!("node-{seed}"),
        id: identity(*seed).id(),
        address: address.parse().unwrap(),
    });
    let config = Config {
        name: format!("node-{seed}"),
        listen: listen.parse().unwrap(),
        api: "127.0.0.1:0".parse().unwrap(),
        api_hosts: Vec::new(),
        timeouts: Timeouts::default(),
        limits,
        policy: Policy::default(),
        clients: Clients::default(),
        peers: peers.collect(),
    };
    let (stop, stopped) = watch::channel(false);
    let begun = Instant::now();
    let budgets = Budgets::new(config.peers.iter().map(|peer| peer.id), &config.limits);
    let (transport, queues, task) =
        start(&config, &identity(seed), (budgets, Events::new()), stopped).unwrap();
    let address = transport.listening().await.unwrap();
    Endpoint { transport, queues, stop, task, address, begun }
}

const ANY: &str = "/ip4/127.0.0.1/tcp/0";
const NOWHERE: &str = "/ip4/127.0.0.1/tcp/1";

/// Two endpoints that know each other; the second one dials.
async fn pair(limits: (usize, usize)) -> (Endpoint, Endpoint) {
    let a = endpoint(1, ANY, &[(2, NOWHERE)], limits.0).await;
    let b = endpoint(2, ANY, &[(1, &a.address.to_string())], limits.1).await;
    (a, b)
}

async fn eventually(what: &str, check: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !check() {
        assert!(Instant::now() < end, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn frame(length: usize) -> Frame {
    vec![7; length].into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_travel_both_ways() {
    let (mut a, mut b) = pair((1 << 20, 1 << 20)).await;
    b.transport.send(identity(1).id(), frame(1 << 20)).await.unwrap();
    assert_eq!((a.queues[0].from, a.next().await.len()), (identity(2).id(), 1 << 20));
    a.transport.send(identity(2).id(), frame(3)).await.unwrap();
    assert_eq!(b.next().await, frame(3));
    a.stop().await;
    b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_peer_is_refused() {
    let a = endpoint(1, ANY, &[(2, NOWHERE)], 1 << 20).await;
    let stranger = endpoint(9, ANY, &[(1, &a.address.to_string())], 1 << 20).await;
    let sent = stranger.transport.send(identity(1).id(), frame(3)).await;
    assert_eq!(sent, Err(SendError::Unreachable));
    assert!(a.transport.connected().is_empty());
    assert!(a.is_empty());
    let unknown = a.transport.send(identity(9).id(), frame(3)).await;
    assert_eq!(unknown, Err(SendError::Unreachable));
    a.stop().await;
    stranger.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_oversized_message_is_refused_on_both_sides() {
    let (a, b) = pair((1 << 10, 1 << 20)).await;
    let to_b = a.transport.send(identity(2).id(), frame(1025)).await;
    assert_eq!(to_b, Err(SendError::TooLong(1025)));
    let to_a = b.transport.send(identity(1).id(), frame(1025)).await;
    assert_eq!(to_a, Err(SendError::Unreachable));
    assert!(a.is_empty());
    b.transport.send(identity(1).id(), frame(1024)).await.unwrap();
    a.stop().await;
    b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_pushes_back() {
    let (mut a, b) = pair((1 << 10, 1 << 10)).await;
    for _ in 0..RECEIVED {
        b.transport.send(identity(1).id(), frame(1)).await.unwrap();
    }
    assert_eq!(b.transport.send(identity(1).id(), frame(1)).await, Err(SendError::Busy));
    a.next().await;
    b.transport.send(identity(1).id(), frame(1)).await.unwrap();
    a.stop().await;
    b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_peer_is_found_again() {
    let (a, b) = pair((1 << 10, 1 << 10)).await;
    let b_id = identity(2).id();
    eventually("the first connection", || a.transport.connected().contains(&b_id)).await;
    b.stop().await;
    eventually("the loss", || a.transport.connected().is_empty()).await;
    assert_eq!(a.transport.send(b_id, frame(1)).await, Err(SendError::Unreachable));
    let b = endpoint(2, ANY, &[(1, &a.address.to_string())], 1 << 10).await;
    eventually("the second connection", || a.transport.connected().contains(&b_id)).await;
    a.transport.send(b_id, frame(1)).await.unwrap();
    a.stop().await;
    b.stop().await;
}

/// A peer that floods gets its own messages refused, and the messages of another arrive.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_delays_its_sender_only() {
    let limits = Limits { messages_per_second: 20, ..Limits::default() };
    let mut a = limited(1, ANY, &[(2, NOWHERE), (3, NOWHERE)], limits).await;
    let to_a = &[(1, &*a.address.to_string())];
    let (b, c) = (endpoint(2, ANY, to_a, 1 << 10).await, endpoint(3, ANY, to_a, 1 << 10).await);
    let mut busy = 0;
    for _ in 0..200 {
        busy += usize::from(b.transport.send(identity(1).id(), frame(1)).await.is_err());
    }
    assert!((100..=180).contains(&busy), "{busy} of 200 were refused");
    for _ in 0..20 {
        c.transport.send(identity(1).id(), frame(2)).await.unwrap();
    }
    assert_eq!(a.queues[1].queue.recv().await.unwrap(), frame(2));
    a.stop().await;
    b.stop().await;
    c.stop().await;
}

/// A peer that keeps on flooding is disconnected, and cannot connect again at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_flood_is_cut_off() {
    let limits = Limits { messages_per_second: 1, ..Limits::default() };
    let a = limited(1, ANY, &[(2, NOWHERE)], limits).await;
    let b = endpoint(2, ANY, &[(1, &a.address.to_string())], 1 << 10).await;
    let end = Instant::now() + Duration::from_secs(60);
    while b.transport.send(identity(1).id(), frame(1)).await != Err(SendError::Unreachable) {
        assert!(Instant::now() < end, "the flood goes on");
    }
    eventually("the cut", || a.transport.connected().is_empty()).await;
    let again = b.transport.send(identity(1).id(), frame(1)).await;
    assert_eq!(again, Err(SendError::Unreachable));
    a.stop().await;
    b.stop().await;
}

/// The end of a peer's process is known long before a round's time is up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_ended_is_gone_at_once() {
    let a = endpoint(1, ANY, &[(2, NOWHERE)], 1 << 10).await;
    let b = endpoint(2, ANY, &[(1, &a.address.to_string())], 1 << 10).await;
    let b_id = identity(2).id();
    eventually("the connection", || a.transport.connected().contains(&b_id)).await;
    let begun = Instant::now();
    let waited =
        tokio::time::timeout(Duration::from_millis(100), a.transport.gone(&[b_id], begun)).await;
    assert!(waited.is_err(), "a connected peer is not gone");
    b.stop().await;
    let gone = tokio::time::timeout(Duration::from_secs(2), a.transport.gone(&[b_id], begun)).await;
    assert_eq!(gone, Ok(b_id));
    a.stop().await;
}

/// A peer that could not be dialed before a ceremony began may be there since: only a failure after the
/// beginning ends a round.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_failure_makes_nobody_absent() {
    let (low, high) = match identity(1).id().to_bytes() < identity(2).id().to_bytes() {
        true => (1, 2),
        false => (2, 1),
    };
    let peer = identity(high).id();
    // The one that dials first fails at once, and again after its back-off of a quarter of a second.
    let a = endpoint(low, ANY, &[(high, NOWHERE)], 1 << 10).await;
    let gone = async |since: Instant, seconds: f64| {
        let limit = Duration::from_secs_f64(seconds);
        tokio::time::timeout(limit, a.transport.gone(&[peer], since)).await
    };
    assert_eq!(gone(a.begun, 5.0).await, Ok(peer));
    let now = Instant::now();
    assert!(gone(now, 0.05).await.is_err(), "the failure is older");
    assert_eq!(gone(now, 20.0).await, Ok(peer));
    a.stop().await;
}
