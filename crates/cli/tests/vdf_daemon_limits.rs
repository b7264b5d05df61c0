//! What `tetralith vdf daemon` reserves and bounds: cores, connections, patience, and what is cancelled.
#![cfg(unix)]

mod daemon;

use daemon::{Daemon, MODULUS, ReadWrite, ask, evaluated, line};
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

/// The cores of each thread of a process, by the threads' names.
#[cfg(target_os = "linux")]
fn cores(process: u32) -> Vec<(String, String)> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("the threads");
    let field = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok())
        .map(|text| (field(&text, "Name:"), field(&text, "Cpus_allowed_list:")))
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn workers_have_cores_of_their_own() {
    let (_, allowed) = cores(std::process::id()).swap_remove(0);
    // The last core, by the form of the list: 0-1, or 0,2.
    let core = allowed.rsplit([',', '-']).next().expect("a core").to_owned();
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &["--cores", &core, "--provers", "2"]);
    let alone = allowed == core;
    let threads = cores(daemon.child.id());
    let on_core = threads.iter().filter(|(_, list)| *list == core);
    let names: Vec<&str> = on_core.map(|(name, _)| &name[..]).collect();
    assert!(alone || names == ["worker-0"], "{threads:?}");
    let id = daemon.submit("7", 6_000_000, "n-wesolowski");
    let mut away = 0;
    loop {
        // What a worker starts has its name, begins on its core and leaves it at once.
        for (name, list) in cores(daemon.child.id()) {
            assert!(alone || list != core || name == "worker-0", "{name}: {list}");
            away += usize::from(name == "worker-0" && list != core);
        }
        let (_, status) = daemon.get(&format!("/v1/challenges/{id}"));
        if status["state"] == "done" {
            assert_eq!(status["y"], evaluated("7", 6_000_000).as_str());
            break;
        }
        assert_eq!(status["ok"], true, "{status}");
    }
    println!("{away} sightings of threads that prove, away from the worker's core");
    let refused = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tetralith"))
            .args(["--json", "vdf", "daemon", "--http", "127.0.0.1:0"])
            .args(more)
            .arg(tempfile::tempdir().expect("a folder").path())
            .output()
            .expect("runs");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    assert!(refused(&["--cores", "1023"]).contains("core 1023 is none of those"));
    assert!(refused(&["--cores", "0-0,0"]).contains("a core is named twice"));
    assert!(refused(&["--cores", "0", "--workers", "2"]).contains("cannot be used with"));
}

#[test]
fn connections_beyond_the_bound_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &["--connections", "3"]);
    let connect = |place: &str| {
        let stream = TcpStream::connect(place).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
        stream
    };
    // Three that say nothing have the places.
    let idle: Vec<TcpStream> = (0..3).map(|_| connect(&daemon.http)).collect();
    let lines: Vec<TcpStream> = (0..3).map(|_| connect(&daemon.lines)).collect();
    std::thread::sleep(Duration::from_millis(200));
    for _ in 0..5 {
        let (status, answer) = daemon.get("/healthz");
        assert_eq!((status, answer["code"].as_str()), (503, Some("daemon.busy")), "{answer}");
        assert_eq!(answer["message"], "3 connections are open already");
        let stream: Box<dyn ReadWrite> = Box::new(connect(&daemon.lines));
        let answer = line(&mut BufReader::new(stream));
        assert_eq!(answer["code"], "daemon.busy", "{answer}");
    }
    // Work goes on, and places that are left are given again.
    drop((idle, lines));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(daemon.get("/healthz").0, 200);
    // Of three connections, two may listen.
    let id = daemon.submit("3", 1 << 30, "none");
    let listen = || {
        let mut stream = connect(&daemon.http);
        write!(stream, "GET /v1/challenges/{id}/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .expect("sent");
        let mut head = [0; 12];
        stream.read_exact(&mut head).expect("a head");
        (head, stream)
    };
    let (first, second) = (listen(), listen());
    assert_eq!((&first.0, &second.0), (b"HTTP/1.1 200", b"HTTP/1.1 200"));
    assert_eq!(&listen().0, b"HTTP/1.1 503");
}

#[test]
fn slow_requests_lose_their_connection() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &[]);
    let post = format!(
        "POST /v1/challenges HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
         content-length: 100\r\n\r\n{{",
        daemon.token
    );
    let get = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    // What is sent, where, and what comes before the end.
    let cases = [
        (&daemon.http, "GET /healthz HT", ""),
        (&daemon.http, "", ""),
        (&daemon.http, &post, "HTTP/1.1 408"),
        (&daemon.http, get, "HTTP/1.1 200"), // and then nothing more
        (&daemon.lines, "{\"status\":", "{\"code\":\"request.timeout\""),
    ];
    std::thread::scope(|scope| {
        for (place, sent, expected) in cases {
            scope.spawn(move || {
                let mut stream = TcpStream::connect(place).expect("connects");
                stream.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
                stream.write_all(sent.as_bytes()).expect("sent");
                let start = Instant::now();
                let mut all = Vec::new();
                stream.read_to_end(&mut all).expect("an end");
                let (all, seconds) = (String::from_utf8_lossy(&all), start.elapsed().as_secs());
                assert!(all.starts_with(expected), "{sent:?}: {all}");
                assert!((8..=20).contains(&seconds), "{sent:?}: {seconds} s");
            });
        }
    });
}

/// A DELETE takes effect wherever the work is: waiting, squaring, proving, ended.
#[test]
fn cancelled_at_any_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &["--provers", "1", "--memory", "1"]);
    let delete = |id: &str| {
        let head = format!("DELETE /v1/challenges/{id} HTTP/1.1\r\nauthorization: Bearer ");
        daemon.exchange(&(head + &daemon.token), b"").0
    };
    let jobs = || std::fs::read_dir(folder.path().join("challenges")).expect("a folder").count();
    let again = |count: u64, proof: &str| {
        let body = json!({ "modulus": MODULUS, "x": "9", "iterations": count, "proof": proof });
        let start = Instant::now();
        loop {
            let (status, answer) = daemon.post(&daemon.token, body.to_string().as_bytes());
            assert!(start.elapsed() < Duration::from_secs(20), "{answer}");
            match status {
                202 => break answer["id"].as_str().expect("an id").to_owned(),
                // The worker has not noticed yet.
                503 => assert_eq!(answer["message"], "this challenge is being cancelled"),
                _ => panic!("{status}: {answer}"),
            }
        }
    };
    // At moments from before the first squaring until after the proof.
    let count = 1_500_000;
    for proof in ["wesolowski", "n-wesolowski", "pietrzak"] {
        for step in 0..8 {
            let id = again(count, proof);
            std::thread::sleep(Duration::from_millis(step * step * 8));
            assert_eq!(delete(&id), 200);
            assert_eq!(delete(&id), 404);
            assert_eq!(daemon.get(&format!("/v1/challenges/{id}")).0, 404);
            assert_eq!(daemon.get(&format!("/v1/challenges/{id}/proof")).0, 404);
        }
        let id = again(count, proof);
        let done = daemon.wait(&id);
        assert_eq!((&done["state"], &done["y"]), (&json!("done"), &json!(evaluated("9", count))));
        assert_eq!((delete(&id), jobs()), (200, 0));
    }
    // Whoever watches it is told.
    let id = again(1 << 30, "wesolowski");
    let stream: Box<dyn ReadWrite> = Box::new(TcpStream::connect(&daemon.lines).expect("connects"));
    let mut stream = BufReader::new(stream);
    let mut event = ask(&mut stream, &json!({ "watch": id }));
    assert_eq!(delete(&id), 200);
    while event["state"] != "failed" {
        event = line(&mut stream);
    }
    assert_eq!(event["code"], "challenge.cancelled");
    // What was cancelled does not come back with the next daemon, even after a kill.
    let id = again(1 << 30, "wesolowski");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(delete(&id), 200);
    daemon.signal("-KILL");
    drop(daemon);
    let daemon = Daemon::start(folder.path(), &[]);
    assert_eq!(daemon.get("/v1/challenges").1["challenges"], Value::Array(Vec::new()));
    assert_eq!(jobs(), 0);
}
