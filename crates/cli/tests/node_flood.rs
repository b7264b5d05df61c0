//! One hostile configured node does not stop ceremonies between the others, and nobody who is there is
//! called absent.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod nodes;

use libp2p::PeerId;
use nodes::hostile::{self, Habit, Hostile};
use nodes::{Nodes, blamed};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Where a node is reached, and who it is.
fn address(nodes: &Nodes, index: usize) -> (PeerId, libp2p::Multiaddr) {
    let (_, status) = nodes.get(index, "/v1/status");
    let id = status["id"].as_str().unwrap().parse().unwrap();
    (id, nodes.field(index, "listen").parse().unwrap())
}

/// Three nodes, the third of which is hostile, and a 2-of-2 key of the others.
fn two_and_a_hostile_one() -> (Nodes, String) {
    let mut nodes = Nodes::new(3);
    (0..2).for_each(|index| nodes.run(index));
    (0..2).for_each(|index| nodes.wait_connected(index, 1));
    let key = nodes.keygen_of(0, 2, &["node-1", "node-2"]);
    (nodes, key)
}

fn sign_under(nodes: &Nodes, key: &str, count: usize) {
    for number in 0..count {
        let begun = Instant::now();
        let (status, signed) = nodes.sign(0, key, &number.to_string());
        assert_eq!(status, 200, "signature {number}: {signed}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    }
}

/// A peer that proposes nonsense and never acknowledges the refusals.
#[test]
fn refusals_that_are_not_acknowledged_stop_nobody_else() {
    let (nodes, key) = two_and_a_hostile_one();
    let keypair = hostile::identity(&nodes.folder(2));
    // Slow: 64 refusals wait for 10 s each. Fast: whatever one connection takes.
    for per_second in [10, 2000] {
        let to = address(&nodes, 1);
        let flood = hostile::malformed_proposal;
        let hostile = Hostile::start(keypair.clone(), to, Habit::Deaf, per_second, flood);
        std::thread::sleep(Duration::from_secs(if per_second == 10 { 9 } else { 1 }));
        assert!(hostile.sent.load(Ordering::Relaxed) > 60, "the flood flows");
        sign_under(&nodes, &key, 6);
        let (_, status) = nodes.get(1, "/v1/status");
        assert_eq!(status["peers"][0]["dropped_messages"], 0, "of the honest peer: {status}");
        // The flood was understood, and refused.
        assert!(nodes.logged(1).contains("proposal_refused"), "{}", nodes.logged(1));
        drop(hostile);
    }
}

/// A peer that proposes good ceremonies and starts none of them takes no more than its own places.
#[test]
fn ceremonies_that_never_start_take_nobody_elses_place() {
    let (nodes, key) = two_and_a_hostile_one();
    let keypair = hostile::identity(&nodes.folder(2));
    let to = address(&nodes, 1);
    let parties = [keypair.public().to_peer_id(), to.0];
    let flood = move |keypair: &_, count| hostile::idle_proposal(keypair, &parties, count);
    let hostile = Hostile::start(keypair, to, Habit::Polite, 100, flood);
    std::thread::sleep(Duration::from_secs(2));
    let (_, status) = nodes.get(1, "/v1/status");
    assert!(status["ceremonies_running"].as_u64().unwrap() >= 8, "the flood is joined: {status}");
    sign_under(&nodes, &key, 6);
    drop(hostile);
}

/// A refusal that makes the quorum impossible ends the ceremony at once; who is slow is not called
/// absent for it.
#[test]
fn a_refusal_makes_nobody_else_absent() {
    let mut nodes = Nodes::new(3);
    nodes.set(1, "keygen", "\"none\"");
    (0..3).for_each(|index| nodes.run(index));
    (0..3).for_each(|index| nodes.wait_connected(index, 2));
    nodes.signal(2, "STOP");
    let begun = Instant::now();
    let (status, failed) = nodes.post(0, "/v1/keygen", json!({ "threshold": 2 }));
    assert_eq!(status, 502, "{failed}");
    assert!(begun.elapsed() < Duration::from_secs(2), "the refusal decides it");
    assert_eq!(blamed(&failed), Vec::<String>::new(), "{failed}");
    let message = failed["message"].as_str().unwrap();
    assert!(message.contains("node-2 refused"), "{message}");
    assert!(message.contains("node-3 had not answered yet"), "{message}");
    nodes.signal(2, "CONT");
}

/// A node that did not run itself blames nobody for what it missed.
#[test]
fn a_stopped_node_blames_nobody() {
    let nodes = Nodes::start(2, &[("join_ms", "2000")]);
    let key = nodes.keygen(0, 2);
    nodes.signal(1, "STOP");
    let (status, failed) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| nodes.sign(0, &key, "asked while node 2 does not run"));
        std::thread::sleep(Duration::from_millis(300));
        nodes.signal(0, "STOP");
        std::thread::sleep(Duration::from_secs(4));
        nodes.signal(1, "CONT");
        nodes.signal(0, "CONT");
        asked.join().unwrap()
    });
    // Either the answer still came in time, or it is said whose fault it is.
    if status != 200 {
        assert_eq!(blamed(&failed), Vec::<String>::new(), "{failed}");
        assert!(failed["message"].as_str().unwrap().contains("did not run"), "{failed}");
    }
}

/// The end of a participant's process ends its round at once, not after `round_ms`.
#[test]
fn a_killed_participant_costs_no_round() {
    let mut nodes = Nodes::start(3, &[("join_ms", "2000"), ("round_ms", "60000")]);
    let mut ended_early = 0;
    for delay in [5, 15, 30, 45, 60, 75] {
        let begun = Instant::now();
        let (status, answer) = std::thread::scope(|scope| {
            let asked = scope.spawn(|| nodes.post(0, "/v1/keygen", json!({ "threshold": 2 })));
            std::thread::sleep(Duration::from_millis(delay));
            nodes.signal(2, "KILL");
            asked.join().unwrap()
        });
        // The key may have been made before the kill.
        if status != 200 {
            assert_eq!(status, 502, "{answer}");
            assert!(begun.elapsed() < Duration::from_secs(5), "{:?}: {answer}", begun.elapsed());
            assert!(blamed(&answer).iter().all(|name| name == "node-3"), "{answer}");
            ended_early += 1;
        }
        nodes.kill(2);
        nodes.run(2);
        nodes.wait_connected(2, 2);
        (0..2).for_each(|index| nodes.wait_connected(index, 2));
    }
    assert!(ended_early > 0, "no kill came in time");
}
