//! `tetralith vdf daemon`: who may read, what is listed and counted, and what keeps strangers from crowding it.
#![cfg(unix)]

mod daemon;

use daemon::{Daemon, MODULUS, ReadWrite, ask, line};
use serde_json::{Value, json};
use std::io::BufReader;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};

fn lines(place: &str) -> BufReader<Box<dyn ReadWrite>> {
    let stream = TcpStream::connect(place).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
    BufReader::new(Box::new(stream))
}

#[test]
fn the_list_has_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &[]);
    let mut ids: Vec<String> = (2..9).map(|x| daemon.submit(&x.to_string(), 9, "none")).collect();
    ids.sort();
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let (status, page) = daemon.get(&format!("/v1/challenges?limit=3{after}"));
        assert_eq!(status, 200, "{page}");
        let rows = page["challenges"].as_array().expect("a list");
        assert!((1..=3).contains(&rows.len()));
        seen.extend(rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(seen, ids);
    assert_eq!(daemon.get("/v1/challenges?limit=0").0, 400);
    assert_eq!(daemon.get("/v1/challenges?page=2").1["code"], "request.query");
}

#[test]
fn metrics_count_what_happens() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &["--log-requests"]);
    let done = daemon.submit("2", 600_000, "none");
    assert_eq!(daemon.wait(&done)["state"], "done");
    let running = daemon.submit("3", 1 << 30, "none");
    let mut stream = lines(&daemon.lines);
    assert_eq!(ask(&mut stream, &json!({ "status": "nobody" }))["code"], "challenge.unknown");
    let start = Instant::now();
    let page = loop {
        let (status, page) = daemon.exchange("GET /metrics HTTP/1.1", b"");
        assert_eq!(status, 200);
        let page = String::from_utf8(page).expect("text");
        if page.contains("tetralith_vdf_running 1") {
            break page;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{page}");
    };
    let value = |name: &str| {
        let row = page.lines().find_map(|row| row.strip_prefix(name)?.strip_prefix(' '));
        row.unwrap_or_else(|| panic!("{name}: {page}")).parse::<u64>().expect("a number")
    };
    assert_eq!(value("tetralith_vdf_challenges_total{state=\"taken\"}"), 2);
    assert_eq!(value("tetralith_vdf_challenges_total{state=\"done\"}"), 1);
    assert_eq!(value("tetralith_vdf_challenges{state=\"running\"}"), 1);
    assert_eq!(value("tetralith_vdf_requests_total{by=\"lines\",outcome=\"refused\"}"), 1);
    assert!(value("tetralith_vdf_requests_total{by=\"http\",outcome=\"answered\"}") >= 3);
    assert!(value("tetralith_vdf_squarings_total") >= 600_000);
    // Each request is told of, without what a client could put into it.
    let said = daemon.said.lock().expect("whole").join("");
    assert!(said.contains("\"daemon.request\"") && said.contains("POST /v1/challenges"), "{said}");
    assert!(said.contains("challenge.unknown") && !said.contains("nobody"), "{said}");
    assert!(!said.contains(&daemon.token));
    let _ = running;
}

#[test]
fn a_private_daemon_is_read_with_a_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &["--private"]);
    let id = daemon.submit("2", 9, "none");
    let read = std::fs::read_to_string(folder.path().join("read.token")).expect("a token");
    let (read, change) = (read.trim().to_owned(), daemon.token.clone());
    assert_ne!(read, change);
    let get = |path: &str, token: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nauthorization: Bearer {token}");
        daemon.exchange(&head, b"").0
    };
    let status = format!("/v1/challenges/{id}");
    for path in ["/metrics", "/v1/challenges", &status] {
        assert_eq!(daemon.exchange(&format!("GET {path} HTTP/1.1"), b"").0, 401, "{path}");
        assert_eq!((get(path, "wrong"), get(path, &read), get(path, &change)), (401, 200, 200));
    }
    assert_eq!(daemon.get("/healthz").0, 200);
    // Who may read may not change anything.
    let body = json!({ "modulus": MODULUS, "x": "3", "t": 3 }).to_string();
    assert_eq!(daemon.post(&read, body.as_bytes()).0, 401);
    let mut stream = lines(&daemon.lines);
    for kind in ["status", "watch", "proof"] {
        assert_eq!(ask(&mut stream, &json!({ kind: id }))["code"], "api.token", "{kind}");
    }
    assert_eq!(ask(&mut stream, &json!({ "status": id, "token": read }))["id"], id.as_str());
    let cancelled = ask(&mut stream, &json!({ "cancel": id, "token": read }));
    assert_eq!(cancelled["code"], "api.token");
}

#[test]
fn requests_for_other_hosts_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &["--host", "delay.example"]);
    let ask = |host: &str| {
        use std::io::{Read, Write};
        let mut stream = TcpStream::connect(&daemon.http).expect("connects");
        write!(stream, "GET /healthz HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
            .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer[9..12].to_owned()
    };
    for host in ["localhost", "127.0.0.1:80", "delay.example", &daemon.http] {
        assert_eq!(ask(host), "200", "{host}");
    }
    // What a browser says when a page's own name was made to lead here.
    for host in ["evil.example", "evil.example:7300", "127.0.0.1.evil.example"] {
        assert_eq!(ask(host), "421", "{host}");
    }
}

#[test]
fn idle_connections_give_up_their_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &["--connections", "3"]);
    let id = daemon.submit("3", 1 << 30, "none");
    // Of three, two may watch; one that does keeps its place. The others have them for a second.
    let mut watching = lines(&daemon.lines);
    assert_eq!(ask(&mut watching, &json!({ "watch": id }))["ok"], true);
    let mut idle: Vec<_> = (0..2).map(|_| lines(&daemon.lines)).collect();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(line(&mut lines(&daemon.lines))["code"], "daemon.busy");
    std::thread::sleep(Duration::from_millis(1200));
    for _ in 0..2 {
        let mut new = lines(&daemon.lines);
        assert_eq!(ask(&mut new, &json!({ "status": id }))["id"], id.as_str());
        std::mem::forget(new);
    }
    for stream in &mut idle {
        assert_eq!(line(stream)["code"], "daemon.idle");
    }
    assert_eq!(line(&mut watching)["ok"], true);
    // The owner's socket has places of its own.
    let unix = UnixStream::connect(folder.path().join("socket")).expect("connects");
    let mut unix: BufReader<Box<dyn ReadWrite>> = BufReader::new(Box::new(unix));
    assert_eq!(ask(&mut unix, &json!({ "status": id }))["id"], id.as_str());
    // So it is over HTTP.
    let half: Vec<_> =
        (0..3).map(|_| TcpStream::connect(&daemon.http).expect("connects")).collect();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(daemon.get("/healthz").0, 200);
    drop(half);
}

#[test]
fn a_seed_and_the_state_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = 400_000_000u64;
    let ask = |daemon: &Daemon, proof: &str| {
        let body =
            json!({ "modulus": MODULUS, "seed": "a seed", "iterations": count, "proof": proof });
        let (status, answer) = daemon.post(&daemon.token, body.to_string().as_bytes());
        assert_eq!(status, 202, "{answer}");
        answer
    };
    let daemon = Daemon::start(folder.path(), &["--workers", "2"]);
    let asked = ["none", "n-wesolowski"].map(|proof| ask(&daemon, proof));
    let eval = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .args(["--json", "vdf", "eval", "-N", MODULUS, "--iterations", "5", "--seed", "a seed"])
        .output()
        .expect("runs");
    let other: Value = serde_json::from_slice(&eval.stdout).expect("an object");
    // T is part of the hash.
    assert_ne!(asked[0]["x"], other["x"]);
    assert_eq!((&asked[0]["x"], &asked[0]["factorable"]), (&asked[1]["x"], &json!(true)));
    let both = json!({ "modulus": MODULUS, "seed": "s", "x": "5", "t": 3 }).to_string();
    assert_eq!(daemon.post(&daemon.token, both.as_bytes()).1["code"], "challenge.malformed");
    std::thread::sleep(Duration::from_millis(1200));
    let socket = folder.path().join("socket");
    assert!(socket.exists());
    daemon.signal("-TERM");
    let start = Instant::now();
    while socket.exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "the socket's file stays");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(daemon);
    let daemon = Daemon::start(folder.path(), &["--workers", "1"]);
    for asked in &asked {
        let id = asked["id"].as_str().expect("an id");
        let (_, status) = daemon.get(&format!("/v1/challenges/{id}"));
        assert!(status["done"].as_u64().is_some_and(|done| done > 0), "{status}");
    }
}

#[test]
fn what_is_unsafe_is_said_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start_at(folder.path(), "0.0.0.0:0", &[]);
    let said = daemon.said.lock().expect("whole").join("");
    assert!(said.contains("daemon.plaintext") && said.contains("--lines 0.0.0.0:0"), "{said}");
    assert!(!said.contains("--http"), "{said}");
    drop(daemon);
    // A token that others can read is none.
    let token = folder.path().join("api.token");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).expect("set");
    let refused = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .args(["--json", "vdf", "daemon", "--http", "127.0.0.1:0"])
        .arg(folder.path())
        .output()
        .expect("runs");
    let told: Value = serde_json::from_slice(&refused.stdout).expect("an object");
    assert_eq!((refused.status.code(), &told["code"]), (Some(2), &json!("api.token")), "{told}");
    assert!(told["hint"].as_str().is_some_and(|hint| hint.starts_with("run chmod 600 ")), "{told}");
}

/// The factors of `lcs35` are public, so the daemon has no use for it, even without a proof.
#[test]
fn moduli_with_published_factors_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &[]);
    for proof in ["none", "wesolowski", "n-wesolowski", "pietrzak"] {
        let body = json!({ "modulus": "lcs35", "seed": "s", "t": 3, "proof": proof }).to_string();
        let (status, answer) = daemon.post(&daemon.token, body.as_bytes());
        assert_eq!((status, &answer["code"]), (400, &json!("input.modulus")), "{answer}");
        let said = answer["message"].as_str().expect("text");
        assert!(said.contains("factors of lcs35 are public"), "{said}");
    }
}
