//! `tetralith vdf daemon` in trouble: what it says, what it leaves alone, and how its work goes on.
#![cfg(unix)]

mod daemon;

use daemon::{Daemon, MODULUS, ReadWrite, ask, evaluated};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Squarings during which the state is saved some times.
const COUNT: u64 = 10_000_000;

/// A full disk is told with the file and the next step, to clients and to the operator.
#[test]
fn a_full_disk_is_told() {
    if !Path::new("/dev/full").exists() {
        println!("left out: there is no /dev/full here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &[]);
    for (proof, file) in [("none", "run.new"), ("wesolowski", "run.run.new")] {
        // The name is learnt from one that is forgotten at once.
        let id = daemon.submit("b", COUNT, proof);
        let head = format!("DELETE /v1/challenges/{id} HTTP/1.1");
        let head = format!("{head}\r\nauthorization: Bearer {}", daemon.token);
        assert_eq!(daemon.exchange(&head, b"").0, 200);
        let own = folder.path().join("challenges").join(&id);
        while own.exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::fs::create_dir_all(&own).expect("made");
        std::os::unix::fs::symlink("/dev/full", own.join(file)).expect("a link");
        assert_eq!(daemon.submit("b", COUNT, proof), id);
        let failed = daemon.wait(&id);
        assert_eq!((&failed["state"], &failed["code"]), (&json!("failed"), &json!("io.file")));
        let message = failed["message"].as_str().expect("text");
        let kept = own.join("run").display().to_string();
        assert!(message.starts_with(&kept) && message.contains("No space left"), "{failed}");
        let hint = failed["hint"].as_str().expect("a next step");
        assert!(hint.contains("free disk space") && hint.contains("submit"), "{failed}");
        let event = daemon.event("challenge.failed", &id);
        assert_eq!((&event["code"], &event["hint"]), (&failed["code"], &failed["hint"]));
        assert!(event["message"].as_str().expect("text").contains(message), "{event}");
        // There is room again.
        let _ = std::fs::remove_file(own.join(file));
        assert_eq!(daemon.submit("b", COUNT, proof), id);
        let done = daemon.wait(&id);
        assert_eq!(done["y"], evaluated("b", COUNT).as_str(), "{done}");
    }
}

/// A daemon with other arguments, in text mode.
fn second(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.args(["vdf", "daemon", "--http", "127.0.0.1:0"]).args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// How a daemon ends that ends soon, and what it said.
fn refused(command: &mut Command) -> (Option<i32>, String) {
    let mut child = command.spawn().expect("starts");
    let start = Instant::now();
    while child.try_wait().expect("asked").is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().expect("killed");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("ended");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_socket_in_use_is_not_taken() {
    let (folder, other) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("another"));
    let daemon = Daemon::start(folder.path(), &[]);
    let socket = folder.path().join("socket");
    let ask_first = || {
        let stream = UnixStream::connect(&socket).expect("connects");
        let stream: Box<dyn ReadWrite> = Box::new(stream);
        ask(&mut BufReader::new(stream), &json!({ "status": "x" }))
    };
    let place = socket.to_str().expect("UTF-8");
    let (code, said) = refused(second(&["--socket", place]).arg(other.path()));
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains(&format!("{place}: the address is in use")), "{said}");
    assert!(said.contains("hint: name another --socket"), "{said}");
    assert_eq!(ask_first()["code"], "challenge.unknown");
    // What is no socket stays too.
    let file = other.path().join("file");
    std::fs::write(&file, "mine").expect("written");
    let (code, said) = refused(second(&["--socket"]).arg(&file).arg(other.path()));
    assert_eq!(code, Some(3), "{said}");
    assert_eq!(std::fs::read(&file).expect("read"), b"mine");
    // A dead one is replaced.
    daemon.signal("-KILL");
    drop(daemon);
    assert!(socket.exists());
    let _daemon = Daemon::start(folder.path(), &[]);
    assert_eq!(ask_first()["code"], "challenge.unknown");
}

#[test]
fn every_address_is_told_in_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let mut command = second(&["--lines", "127.0.0.1:0", "--socket"]);
    let mut child = command.arg(&socket).arg(folder.path()).spawn().expect("starts");
    let mut said = String::new();
    let stderr = child.stderr.take().expect("piped");
    BufReader::new(stderr).read_line(&mut said).expect("a line");
    let told = said.trim().strip_prefix("listening on ").map(|all| all.split(", "));
    let told: Vec<&str> = told.into_iter().flatten().collect();
    assert_eq!(told.len(), 3, "{said}");
    assert!(told[0].ends_with(" (HTTP)"), "{said}");
    let lines = told[1].strip_suffix(" (JSON lines)").expect(&said);
    let stream: Box<dyn ReadWrite> = Box::new(TcpStream::connect(lines).expect("connects"));
    let answer = ask(&mut BufReader::new(stream), &json!({ "status": "x" }));
    assert_eq!(answer["code"], "challenge.unknown");
    assert_eq!(told[2], format!("{} (JSON lines)", socket.display()));
    child.kill().expect("killed");
    child.wait().expect("ended");
}

/// RFC 9110, section 11.1: the case of the scheme does not matter, and that of the token does.
#[test]
fn the_case_of_the_scheme_does_not_matter() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &[]);
    let delete = |credentials: &str| {
        let head = "DELETE /v1/challenges/00 HTTP/1.1\r\nauthorization:";
        daemon.exchange(&format!("{head} {credentials}"), b"").0
    };
    let token = &daemon.token;
    for scheme in ["Bearer", "bearer", "BEARER"] {
        assert_eq!(delete(&format!("{scheme} {token}")), 404, "{scheme}");
        assert_eq!(delete(&format!("{scheme} {token}0")), 401, "{scheme}");
    }
    assert_eq!(delete(&format!("Basic {token}")), 401);
    assert_eq!(delete(token), 401);
}

/// What is kept of a run may be beyond use: that is said, and submitted again the challenge goes on without it.
#[test]
fn a_damaged_run_is_set_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = 8 * COUNT;
    let daemon = Daemon::start(folder.path(), &["--workers", "3"]);
    let kinds = ["none", "wesolowski", "n-wesolowski"];
    let ids = kinds.map(|proof| daemon.submit("c", count, proof));
    let own = |id: &str| folder.path().join("challenges").join(id);
    let files = [["run", "run.previous"], ["run.run", "run.run.copy"], ["run.run", "run.run.copy"]];
    let exist = || {
        ids.iter()
            .zip(files)
            .all(|(id, names)| names.iter().all(|name| own(id).join(name).exists()))
    };
    while !exist() {
        std::thread::sleep(Duration::from_millis(20));
    }
    daemon.signal("-KILL");
    drop(daemon);
    for (id, names) in ids.iter().zip(files) {
        for name in names {
            std::fs::write(own(id).join(name), "damage").expect("written");
        }
    }
    let check = |daemon: &Daemon| {
        for id in &ids {
            let failed = daemon.wait(id);
            assert_eq!(failed["code"], "checkpoint.damaged", "{failed}");
            let message = failed["message"].as_str().expect("text");
            assert!(message.starts_with(own(id).join("run").to_str().expect("UTF-8")), "{failed}");
            let hint = failed["hint"].as_str().expect("a next step");
            assert!(hint.starts_with("submit the challenge again"), "{failed}");
        }
    };
    let daemon = Daemon::start(folder.path(), &[]);
    check(&daemon);
    ids.iter().for_each(|id| drop(daemon.event("challenge.failed", id)));
    drop(daemon);
    // The next daemon knows.
    let daemon = Daemon::start(folder.path(), &[]);
    check(&daemon);
    let y = evaluated("c", count);
    for (id, proof) in ids.iter().zip(kinds) {
        let body = json!({ "modulus": MODULUS, "x": "c", "iterations": count, "proof": proof });
        let (status, answer) = daemon.post(&daemon.token, body.to_string().as_bytes());
        assert_eq!((status, &answer["set_aside"]), (202, &json!(true)), "{answer}");
        let event = daemon.event("challenge.set_aside", id);
        let aside = own(id).join("damaged");
        assert!(event["message"].as_str().expect("text").contains(aside.to_str().expect("UTF-8")));
        let done = daemon.wait(id);
        assert_eq!((&done["y"], &done["set_aside"]), (&json!(y), &json!(null)), "{done}");
        assert!(!aside.exists());
    }
}
