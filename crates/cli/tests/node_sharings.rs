//! A key's life at real nodes: refresh, recovery of a lost share, other nodes, and what a SIGKILL in the
//! middle of each leaves.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod nodes;

use nodes::Nodes;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// The names of the share files of a node.
fn files(nodes: &Nodes, index: usize) -> Vec<String> {
    let entries = std::fs::read_dir(nodes.folder(index).join("shares")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

fn file(nodes: &Nodes, index: usize, name: &str) -> PathBuf {
    nodes.folder(index).join("shares").join(name)
}

fn refresh(nodes: &Nodes, index: usize, key: &str) -> (u16, Value) {
    nodes.post(index, "/v1/reshare", json!({ "key": key }))
}

/// The sharing that a node uses, and those that it waits for.
fn sharing(nodes: &Nodes, index: usize, key: &str) -> (u64, Vec<u64>) {
    let (_, held) = nodes.get(index, &format!("/v1/keys/{key}"));
    let waits = held["unsettled_sharings"].as_array().into_iter().flatten();
    (held["sharing"].as_u64().unwrap_or(u64::MAX), waits.map(|n| n.as_u64().unwrap()).collect())
}

/// Waits until a node uses this sharing and waits for no other.
fn settled(nodes: &Nodes, index: usize, key: &str, number: u64) {
    let end = Instant::now() + Duration::from_secs(30);
    while sharing(nodes, index, key) != (number, vec![]) {
        let held = sharing(nodes, index, key);
        assert!(Instant::now() < end, "node {index}: {held:?}: {}", nodes.logged(index));
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn signs(nodes: &Nodes, index: usize, key: &str, message: &str) {
    let (status, signed) = nodes.sign(index, key, message);
    assert_eq!(status, 200, "node {index}: {signed}");
}

#[test]
fn a_refresh_replaces_every_share() {
    let mut nodes = Nodes::start(3, &[]);
    let key = nodes.keygen(0, 2);
    let (_, before) = nodes.get(0, &format!("/v1/keys/{key}"));
    let (old, new) = (format!("{key}.share"), format!("{key}.1.share"));
    let backup = std::fs::read(file(&nodes, 2, &old)).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .args(["tss", "refresh", &key, "--node"])
        .arg(nodes.folder(0))
        .output()
        .unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success(), "{text}{}", String::from_utf8_lossy(&done.stderr));
    assert!(text.contains("sharing 1: 2-of-3  node-"), "{text}");
    for index in 0..3 {
        settled(&nodes, index, &key, 1);
        assert_eq!(files(&nodes, index), [new.as_str()]);
        signs(&nodes, index, &key, &format!("after, at {index}"));
    }
    let (_, after) = nodes.get(0, &format!("/v1/keys/{key}"));
    assert_eq!(before["public_key"], after["public_key"]);

    // A node that comes back with its old share cannot use it, is blamed by nobody, and is told why.
    nodes.kill(2);
    std::fs::remove_file(file(&nodes, 2, &new)).unwrap();
    std::fs::write(file(&nodes, 2, &old), &backup).unwrap();
    nodes.run(2);
    (0..3).for_each(|index| nodes.wait_connected(index, 2));
    let (status, refused) = nodes.sign(2, &key, "with the old share");
    assert_eq!(status, 502, "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("of sharing 1 of the key, the proposer's of sharing 0"), "{message}");
    assert_eq!(nodes::blamed(&refused), Vec::<String>::new());
    for index in 0..2 {
        signs(&nodes, index, &key, &format!("without node 3, at {index}"));
    }
    // A refresh gives it a share again; with the new one there, the old file is deleted.
    assert_eq!(refresh(&nodes, 0, &key).0, 200);
    settled(&nodes, 2, &key, 2);
    signs(&nodes, 2, &key, "with the share of the refresh");
    nodes.kill(2);
    std::fs::write(file(&nodes, 2, &old), &backup).unwrap();
    nodes.run(2);
    nodes.wait_connected(2, 2);
    assert_eq!(files(&nodes, 2), [format!("{key}.2.share")]);
    signs(&nodes, 2, &key, "after the restart");
}

#[test]
fn a_lost_share_comes_back() {
    let mut nodes = Nodes::start(3, &[]);
    let key = nodes.keygen(0, 2);
    nodes.kill(2);
    std::fs::remove_file(file(&nodes, 2, &format!("{key}.share"))).unwrap();
    nodes.run(2);
    (0..3).for_each(|index| nodes.wait_connected(index, 2));
    assert_eq!(nodes.get(2, "/readyz").1["code"], "shares.lost");
    assert_eq!(refresh(&nodes, 2, &key).0, 404, "it knows nothing to deal from");
    assert_eq!(refresh(&nodes, 0, &key).0, 200);
    settled(&nodes, 2, &key, 1);
    assert_eq!(nodes.get(2, "/readyz").0, 200);
    let request = json!({ "key": key, "message": "x", "signers": ["node-2", "node-3"] });
    let (status, signed) = nodes.post(2, "/v1/sign", request);
    assert_eq!(status, 200, "{signed}");
}

/// A dealer whose share is lost is replaced by another, and gets a share like the others.
#[test]
fn a_dealer_without_a_share_is_replaced() {
    let nodes = Nodes::start(3, &[]);
    let key = nodes.keygen(0, 2);
    // Node 2 is the one that node 1 would choose, or node 3 is: both cases come up.
    for (turn, lost) in [(1, 1), (2, 2)] {
        std::fs::remove_file(file(&nodes, lost, &files(&nodes, lost)[0])).unwrap();
        let (status, made) = refresh(&nodes, 0, &key);
        assert_eq!(status, 200, "{made}");
        (0..3).for_each(|index| settled(&nodes, index, &key, turn));
        signs(&nodes, lost, &key, "again");
    }
}

#[test]
fn other_nodes_get_the_key_when_enough_agree() {
    let nodes = Nodes::start(4, &[]);
    let key = nodes.keygen_of(0, 2, &["node-1", "node-2", "node-3"]);
    let change = json!({ "key": key, "threshold": 3, "parties": ["node-2", "node-3", "node-4"] });
    let (status, refused) = nodes.post(0, "/v1/reshare", change.clone());
    assert_eq!(status, 502, "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("has not approved these parties"), "{message}");
    let approve = |index: usize| {
        Command::new(env!("CARGO_BIN_EXE_tetralith"))
            .args(["tss", "approve-reshare", &key, "-t", "3"])
            .args(["--parties", "node-4,node-3,node-2", "--node"])
            .arg(nodes.folder(index))
            .status()
            .unwrap()
    };
    assert!(approve(1).success() && approve(2).success());
    let (status, made) = nodes.post(0, "/v1/reshare", change);
    assert_eq!(status, 200, "{made}");
    assert_eq!(made["left"], true, "node 1 has no share any more: {made}");
    assert_eq!(nodes.sign(0, &key, "from outside").0, 404);
    assert_eq!(files(&nodes, 0), Vec::<String>::new());
    for index in 1..4 {
        settled(&nodes, index, &key, 1);
        signs(&nodes, index, &key, &format!("of three, at {index}"));
    }
    // The approval was for that one resharing: to take node 4 out again needs another.
    let back = json!({ "key": key, "threshold": 2, "parties": ["node-2", "node-3"] });
    assert_eq!(nodes.post(1, "/v1/reshare", back).0, 502);
    // What a node deletes is named twice.
    let path = format!("/v1/keys/{key}");
    let (status, refused) = nodes.ask(3, "DELETE", &path, None);
    assert_eq!((status, &refused["code"]), (409, &json!("key.confirmed")), "{refused}");
    let public = nodes.get(3, &path).1["public_key"].as_str().unwrap().to_owned();
    let delete = |public: &str| {
        Command::new(env!("CARGO_BIN_EXE_tetralith"))
            .args(["tss", "delete", &key, "--public-key", public, "--node"])
            .arg(nodes.folder(3))
            .status()
            .unwrap()
    };
    assert_eq!(delete(&public.replace('0', "1")).code(), Some(2));
    assert!(delete(&public).success());
    assert_eq!(nodes.get(3, &path).0, 404);
    assert_eq!(nodes.get(3, "/readyz").1["code"], Value::Null, "nothing is missed");
}

/// A node that cannot store its new share leaves all with the old one; a later refresh ends it.
#[test]
fn a_share_that_cannot_be_stored_leaves_the_old_ones() {
    let mut nodes = Nodes::start(3, &[("round_ms", "3000")]);
    let key = nodes.keygen(0, 2);
    // Something lies where node 3 would write its share.
    let obstacle = file(&nodes, 2, &format!("{key}.1.share"));
    std::fs::create_dir(&obstacle).unwrap();
    let (status, failed) = refresh(&nodes, 0, &key);
    assert_eq!(status, 502, "{failed}");
    for index in 0..2 {
        assert_eq!(sharing(&nodes, index, &key), (0, vec![1]), "the new share waits");
        signs(&nodes, index, &key, &format!("with the old shares, at {index}"));
    }
    assert_eq!(sharing(&nodes, 2, &key), (0, vec![]));
    std::fs::remove_dir(&obstacle).unwrap();
    // All are killed and started again: nothing changes.
    (0..3).for_each(|index| nodes.kill(index));
    (0..3).for_each(|index| nodes.run(index));
    (0..3).for_each(|index| nodes.wait_connected(index, 2));
    (0..3).for_each(|index| signs(&nodes, index, &key, &format!("after a restart, at {index}")));
    // Node 3 does not know the number 1, and is told of it.
    let (status, made) = refresh(&nodes, 2, &key);
    assert_eq!(status, 200, "{made}");
    for index in 0..3 {
        settled(&nodes, index, &key, 2);
        assert_eq!(files(&nodes, index), [format!("{key}.2.share")]);
        signs(&nodes, index, &key, &format!("with the new shares, at {index}"));
    }
}

/// All nodes die between storing the new share and deleting the old one: they settle it by themselves.
#[test]
fn nodes_that_die_before_the_commit_settle_it_later() {
    let mut nodes = Nodes::start(3, &[]);
    let key = nodes.keygen(0, 2);
    let new = format!("{key}.1.share");
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| refresh(&nodes, 0, &key));
        // Node 3 stops as soon as it has its share; the others cannot have heard of it, or only just.
        let end = Instant::now() + Duration::from_secs(20);
        while !file(&nodes, 2, &new).exists() && Instant::now() < end {
            std::hint::spin_loop();
        }
        nodes.signal(2, "STOP");
        while !(0..2).all(|index| file(&nodes, index, &new).exists()) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        (0..3).for_each(|index| nodes.signal(index, "KILL"));
        asked.join().unwrap()
    });
    (0..3).for_each(|index| nodes.kill(index));
    (0..3).for_each(|index| nodes.run(index));
    (0..3).for_each(|index| nodes.wait_connected(index, 2));
    for index in 0..3 {
        settled(&nodes, index, &key, 1);
        assert_eq!(files(&nodes, index), [new.as_str()]);
        signs(&nodes, index, &key, &format!("at {index}"));
    }
}

/// One node is killed at many moments of a refresh: right after, and after a restart, every node signs.
#[test]
fn a_kill_at_any_moment_of_a_refresh_loses_nothing() {
    let mut nodes = Nodes::start(3, &[("round_ms", "5000")]);
    let key = nodes.keygen(0, 2);
    let begun = Instant::now();
    assert_eq!(refresh(&nodes, 0, &key).0, 200);
    let whole = begun.elapsed();
    let trials = if std::env::var("TETRALITH_SLOW").as_deref() == Ok("1") { 60 } else { 9 };
    let mut ends = [0, 0];
    for trial in 0..trials {
        let victim = trial % 3;
        let moment = whole.mul_f64(1.1 * f64::from(trial as u32) / f64::from(trials as u32));
        let status = std::thread::scope(|scope| {
            let asked = scope.spawn(|| refresh(&nodes, 0, &key).0);
            std::thread::sleep(moment);
            nodes.signal(victim, "KILL");
            asked.join().unwrap()
        });
        ends[usize::from(status == 200)] += 1;
        nodes.kill(victim);
        for index in (0..3).filter(|index| *index != victim) {
            signs(&nodes, index, &key, &format!("trial {trial}, killed {victim}, at {index}"));
        }
        nodes.run(victim);
        (0..3).for_each(|index| nodes.wait_connected(index, 2));
        for index in 0..3 {
            signs(&nodes, index, &key, &format!("trial {trial}, restarted {victim}, at {index}"));
        }
    }
    println!("{} refreshes were cut off, {} were not", ends[0], ends[1]);
    let (status, made) = refresh(&nodes, 0, &key);
    assert_eq!(status, 200, "{made}");
    let number = made["sharing"].as_u64().unwrap();
    for index in 0..3 {
        settled(&nodes, index, &key, number);
        assert_eq!(files(&nodes, index), [format!("{key}.{number}.share")]);
    }
}
