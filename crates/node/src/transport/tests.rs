//! Real sockets on loopback.

use super::*;
use crate::config::{Limits, Policy, Timeouts};

struct Endpoint {
    transport: Transport,
    queue: mpsc::Receiver<Incoming>,
    stop: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
    address: Multiaddr,
}

impl Endpoint {
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
    let peers = peers.iter().map(|(seed, address)| Peer {
        name: format!("node-{seed}"),
        id: identity(*seed).id(),
        address: address.parse().unwrap(),
    });
    let config = Config {
        name: format!("node-{seed}"),
        listen: listen.parse().unwrap(),
        api: "127.0.0.1:0".parse().unwrap(),
        timeouts: Timeouts::default(),
        limits: Limits { message_bytes: most_bytes, ..Limits::default() },
        policy: Policy::default(),
        peers: peers.collect(),
    };
    let (stop, stopped) = watch::channel(false);
    let (transport, queue, task) = start(&config, &identity(seed), stopped).unwrap();
    let address = transport.listening().await.unwrap();
    Endpoint { transport, queue, stop, task, address }
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
    let received = a.queue.recv().await.unwrap();
    assert_eq!((received.from, received.frame.len()), (identity(2).id(), 1 << 20));
    a.transport.send(identity(2).id(), frame(3)).await.unwrap();
    assert_eq!(b.queue.recv().await.unwrap().frame, frame(3));
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
    assert!(a.queue.is_empty());
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
    assert!(a.queue.is_empty());
    b.transport.send(identity(1).id(), frame(1024)).await.unwrap();
    a.stop().await;
    b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_pushes_back() {
    let (mut a, b) = pair((1 << 10, 1 << 10)).await;
    for _ in 0..QUEUE {
        b.transport.send(identity(1).id(), frame(1)).await.unwrap();
    }
    assert_eq!(b.transport.send(identity(1).id(), frame(1)).await, Err(SendError::Busy));
    a.queue.recv().await.unwrap();
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
