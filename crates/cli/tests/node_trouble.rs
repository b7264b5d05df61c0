//! A node in trouble serves what it can, and says what is wrong: queues, damaged and lost shares, a full
//! disk, floods of its log.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod nodes;

use nodes::hostile::{self, Habit, Hostile};
use nodes::{Nodes, file_ending};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

/// More signatures at once than a peer takes from one node: all are made.
#[test]
fn signatures_beyond_the_limits_wait() {
    let fields = [("ceremonies", "6"), ("ceremonies_per_peer", "2")];
    let nodes = Nodes::start(3, &fields);
    let key = nodes.keygen(0, 3);
    let answers: Vec<(u16, Value)> = std::thread::scope(|scope| {
        let ask = |number: usize| {
            let (nodes, key) = (&nodes, &key);
            scope.spawn(move || nodes.sign(number % 3, key, &number.to_string()))
        };
        let asked: Vec<_> = (0..24).map(ask).collect();
        asked.into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    for (status, answer) in answers {
        assert_eq!(status, 200, "{answer}");
    }
    let (_, status) = nodes.get(0, "/v1/status");
    assert_eq!(
        (&status["ceremonies_waiting"], &status["ceremonies_running"]),
        (&json!(0), &json!(0))
    );
}

/// Asks the first node for a signature: the status, the body, and the header that says when to come back.
fn sign_and_hear_when(nodes: &Nodes, key: &str, message: &str) -> (u16, Value, String) {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(Some(Duration::from_secs(120)))
        .build()
        .into();
    let mut answer = agent
        .post(format!("http://{}/v1/sign", nodes.api(0)))
        .header("authorization", format!("Bearer {}", nodes.token(0)))
        .send_json(json!({ "key": key, "message": message }))
        .unwrap();
    let when = answer.headers().get("retry-after").map(|when| when.to_str().unwrap().to_owned());
    let body = answer.body_mut().read_json().unwrap();
    (answer.status().as_u16(), body, when.unwrap_or_default())
}

/// A queue that is full says when to come back, and its length can be read.
#[test]
fn a_full_queue_says_when_to_come_back() {
    let fields = [("ceremonies_per_peer", "1"), ("queue", "2"), ("join_ms", "3000")];
    let nodes = Nodes::start(2, &fields);
    let key = nodes.keygen(0, 2);
    nodes.signal(1, "STOP");
    let answers: Vec<(u16, Value, String)> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..4)
            .map(|number: usize| {
                let (nodes, key) = (&nodes, &key);
                std::thread::sleep(Duration::from_millis(100));
                scope.spawn(move || sign_and_hear_when(nodes, key, &number.to_string()))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(300));
        let (_, status) = nodes.get(0, "/v1/status");
        assert_eq!(status["ceremonies_waiting"], 2, "{status}");
        let (_, metrics) = nodes.get(0, "/metrics");
        let line = "tetralith_ceremonies_waiting{caller=\"api\"} 2\n";
        assert!(metrics.as_str().unwrap().contains(line), "{metrics}");
        nodes.signal(1, "CONT");
        asked.into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    let statuses: Vec<_> = answers.iter().map(|(status, ..)| *status).collect();
    assert_eq!(statuses, [200, 200, 200, 429], "{answers:?}");
    assert_eq!(answers[3].1["code"], "node.busy");
    let hint = answers[3].1["hint"].as_str().unwrap();
    assert!(hint.starts_with(&format!("try again in {} s", answers[3].2)), "{hint}");
}

/// One damaged share is reported; the node starts, and its other key signs.
#[test]
fn a_damaged_share_leaves_the_other_keys() {
    let mut nodes = Nodes::start(2, &[]);
    let (damaged, good) = (nodes.keygen(0, 2), nodes.keygen(0, 2));
    nodes.kill(0);
    let path = nodes.folder(0).join("shares").join(format!("{damaged}.share"));
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    nodes.run(0);
    (0..2).for_each(|index| nodes.wait_connected(index, 1));
    let (status, signed) = nodes.sign(0, &good, "with the other key");
    assert_eq!(status, 200, "{signed}");
    let (status, answer) = nodes.sign(0, &damaged, "with the damaged key");
    assert_eq!(status, 404, "{answer}");
    let (status, ready) = nodes.get(0, "/readyz");
    assert_eq!((status, &ready["code"]), (503, &json!("shares.damaged")), "{ready}");
    let (_, status) = nodes.get(0, "/v1/status");
    assert_eq!(status["damaged_shares"][0]["file"], format!("{damaged}.share"), "{status}");
    let (_, metrics) = nodes.get(0, "/metrics");
    assert!(metrics.as_str().unwrap().contains("tetralith_damaged_shares 1\n"), "{metrics}");
    // The file is where it was, and once it is whole again all is well.
    nodes.kill(0);
    std::fs::write(&path, whole).unwrap();
    nodes.run(0);
    nodes.wait_connected(0, 1);
    assert_eq!(nodes.get(0, "/readyz").0, 200);
}

/// A share that is gone makes the node unready: while it runs, and after a restart.
#[test]
fn a_lost_share_is_missed() {
    let mut nodes = Nodes::start(2, &[]);
    nodes.keygen(0, 2);
    assert_eq!(nodes.get(0, "/readyz").0, 200);
    std::fs::remove_file(file_ending(&nodes.folder(0).join("shares"), ".share")).unwrap();
    for _ in 0..2 {
        let (status, ready) = nodes.get(0, "/readyz");
        assert_eq!((status, &ready["code"]), (503, &json!("shares.lost")), "{ready}");
        nodes.kill(0);
        nodes.run(0);
        nodes.wait_connected(0, 1);
    }
}

/// A disk that takes no more makes the node unready.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_noticed() {
    let mut nodes = Nodes::new(2);
    // The node is to get the error that a write beyond the limit gives, not the signal.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" node run --threads 2 \"$1\""]);
    command.arg(env!("CARGO_BIN_EXE_tetralith")).arg(nodes.folder(0));
    nodes.run_as(0, &mut command);
    nodes.run(1);
    nodes.wait_connected(0, 1);
    assert_eq!(nodes.get(0, "/readyz").0, 200);
    let pid = nodes.pid(0).to_string();
    let limited = Command::new("prlimit").args(["--pid", &pid, "--fsize=4096"]).status().unwrap();
    assert!(limited.success());
    // An answer stays good for five seconds.
    let end = Instant::now() + Duration::from_secs(15);
    loop {
        let (status, ready) = nodes.get(0, "/readyz");
        if status == 503 {
            assert_eq!(ready["code"], "disk.write", "{ready}");
            break;
        }
        assert!(Instant::now() < end, "{ready}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Neither strangers that connect nor a peer that floods can fill the disk with log lines.
#[test]
fn floods_do_not_fill_the_log() {
    let mut nodes = Nodes::new(3);
    (0..2).for_each(|index| nodes.run(index));
    nodes.wait_connected(0, 1);
    let listen: Vec<_> = nodes.field(0, "listen").split('/').map(str::to_owned).collect();
    let address = format!("{}:{}", listen[2], listen[4]);
    for _ in 0..3000 {
        let Ok(mut stream) = TcpStream::connect(&address) else { continue };
        let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
    }
    let after_strangers = nodes.logged(0).len();
    assert!(after_strangers < 64 << 10, "{after_strangers} bytes");
    let (_, status) = nodes.get(0, "/v1/status");
    let to = (
        status["id"].as_str().unwrap().parse().unwrap(),
        nodes.field(0, "listen").parse().unwrap(),
    );
    let keypair = hostile::identity(&nodes.folder(2));
    let flood = hostile::malformed_proposal;
    let hostile = Hostile::start(keypair, to, Habit::Polite, 2000, flood);
    std::thread::sleep(Duration::from_secs(12));
    drop(hostile);
    let log = nodes.logged(0);
    assert!(log.len() < 128 << 10, "{} bytes", log.len());
    assert!(log.contains("log_suppressed"), "what was left out is told");
}

/// The policy bounds the threshold of new keys, whoever asks.
#[test]
fn a_low_threshold_is_refused() {
    let mut nodes = Nodes::new(3);
    nodes.set(1, "least_threshold", "3");
    (0..3).for_each(|index| nodes.run(index));
    (0..3).for_each(|index| nodes.wait_connected(index, 2));
    let (status, refused) = nodes.post(0, "/v1/keygen", json!({ "threshold": 2 }));
    assert_eq!(status, 502, "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("node-2 refused: the threshold is below"), "{message}");
    let (status, refused) = nodes.post(1, "/v1/keygen", json!({ "threshold": 2 }));
    assert_eq!((status, &refused["code"]), (400, &json!("policy.threshold")), "{refused}");
    nodes.keygen(0, 3);
}
