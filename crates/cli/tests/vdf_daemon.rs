//! `tetralith vdf daemon` as a process, over real sockets: killed, restarted, and asked nonsense.
#![cfg(unix)]

mod daemon;

use daemon::{Daemon, MODULUS, ReadWrite, ask, evaluated, line};
use serde_json::json;
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::Duration;

#[test]
fn challenges_over_http_and_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &["--workers", "2"]);
    for proof in ["none", "wesolowski", "n-wesolowski", "pietrzak"] {
        let id = daemon.submit("5", 600_000, proof);
        // The same challenge is the same job.
        assert_eq!(daemon.submit("05", 600_000, proof), id);
        // Server-sent events until the end.
        let (status, events) =
            daemon.exchange(&format!("GET /v1/challenges/{id}/events HTTP/1.1"), b"");
        let events = String::from_utf8_lossy(&events).into_owned();
        assert!(status == 200 && events.contains("event: done"), "{events}");
        let done = daemon.wait(&id);
        assert_eq!(done["y"], evaluated("5", 600_000).as_str(), "{done}");
        let (status, bytes) =
            daemon.exchange(&format!("GET /v1/challenges/{id}/proof HTTP/1.1"), b"");
        if proof == "none" {
            assert_eq!(status, 404);
            continue;
        }
        let file = folder.path().join("proof");
        std::fs::write(&file, bytes).expect("written");
        let verified = Command::new(env!("CARGO_BIN_EXE_tetralith"))
            .args(["-q", "vdf", "verify", "-N", MODULUS, "-x", "5", "-T", "600000"])
            .arg(&file)
            .output()
            .expect("runs");
        assert!(verified.status.success(), "{verified:?}");
    }
    // An x that is not below N is reduced, and that is said.
    let body = json!({ "modulus": MODULUS, "x": format!("1{MODULUS}"), "t": 3, "proof": "none" });
    let (status, answer) = daemon.post(&daemon.token, body.to_string().as_bytes());
    assert_eq!((status, &answer["reduced"]), (202, &json!(true)), "{answer}");
    // The same over both kinds of sockets, line by line.
    let tcp: Box<dyn ReadWrite> = Box::new(TcpStream::connect(&daemon.lines).expect("connects"));
    let unix = UnixStream::connect(folder.path().join("socket")).expect("connects");
    for (i, stream) in [tcp, Box::new(unix)].into_iter().enumerate() {
        let mut stream = BufReader::new(stream);
        let challenge = json!({ "modulus": MODULUS, "x": format!("a{i}"), "iterations": 700_000 });
        let asked = ask(&mut stream, &json!({ "submit": challenge, "token": daemon.token }));
        let id = asked["id"].as_str().expect("an id").to_owned();
        let mut event = ask(&mut stream, &json!({ "watch": id }));
        while event["state"] != "done" {
            assert_eq!(event["ok"], true, "{event}");
            event = line(&mut stream);
        }
        assert_eq!(event["y"], evaluated(&format!("a{i}"), 700_000).as_str());
        let proof = event["proof_hex"].take();
        assert_eq!(ask(&mut stream, &json!({ "proof": id }))["proof_hex"], proof);
        let bytes = hex::decode(proof.as_str().expect("a proof")).expect("in hex");
        assert!(bytes.starts_with(b"TVDP"), "{proof}");
        event.as_object_mut().expect("an object").remove("proof_hex");
        assert_eq!(ask(&mut stream, &json!({ "status": id })), event);
        let refused = ask(&mut stream, &json!({ "cancel": id }));
        assert_eq!(refused["code"], "api.token");
        let ended = ask(&mut stream, &json!({ "cancel": id, "token": daemon.token }));
        assert_eq!(ended, json!({ "ok": true }));
        assert_eq!(ask(&mut stream, &json!({ "status": id }))["code"], "challenge.unknown");
    }
}

/// What failed for the machine's trouble is tried again when it is asked for again.
#[test]
fn a_failed_challenge_is_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &[]);
    let submit = || daemon.submit("b", 600_000, "wesolowski");
    let id = submit();
    assert_eq!(daemon.wait(&id)["state"], "done");
    let head =
        format!("DELETE /v1/challenges/{id} HTTP/1.1\r\nauthorization: Bearer {}", daemon.token);
    assert_eq!(daemon.exchange(&head, b"").0, 200);
    // Where the recorded values are to be, there is a folder.
    let tape = folder.path().join("challenges").join(&id).join("run.tape0");
    std::fs::create_dir_all(&tape).expect("made");
    assert_eq!(submit(), id);
    let failed = daemon.wait(&id);
    assert_eq!(
        (&failed["state"], &failed["code"]),
        (&json!("failed"), &json!("io.file")),
        "{failed}"
    );
    std::fs::remove_dir(&tape).expect("removed");
    assert_eq!(submit(), id);
    let done = daemon.wait(&id);
    assert_eq!(done["y"], evaluated("b", 600_000).as_str(), "{done}");
    let x = format!("{:0>32}", "b");
    assert_eq!((&done["modulus"], &done["x"]), (&json!(MODULUS), &json!(x)), "{done}");
}

#[test]
fn killed_and_restarted() {
    let folder = tempfile::tempdir().expect("a folder");
    // Some seconds of squaring, in which the daemon is killed, stopped and killed again.
    let count = 120_000_000;
    let daemon = Daemon::start(folder.path(), &[]);
    let ids: Vec<String> =
        ["none", "wesolowski", "n-wesolowski"].map(|proof| daemon.submit("7", count, proof)).into();
    // A second daemon does not work in the same folder.
    let second = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .args(["--json", "vdf", "daemon", "--http", "127.0.0.1:0"])
        .arg(folder.path())
        .output()
        .expect("runs");
    assert_eq!(second.status.code(), Some(4));
    std::thread::sleep(Duration::from_millis(700));
    let (_, before) = daemon.get(&format!("/v1/challenges/{}", ids[0]));
    assert_eq!(before["state"], "running", "{before}");
    daemon.signal("-KILL");
    drop(daemon);
    let mut daemon = Daemon::start(folder.path(), &[]);
    std::thread::sleep(Duration::from_millis(500));
    daemon.signal("-TERM");
    assert!(daemon.child.wait().expect("ends").success());
    let daemon = Daemon::start(folder.path(), &[]);
    let (_, list) = daemon.get("/v1/challenges");
    assert_eq!(list["challenges"].as_array().map(Vec::len), Some(3));
    let y = evaluated("7", count);
    for id in &ids {
        let done = daemon.wait(id);
        assert_eq!(done["y"], y.as_str(), "{done}");
        // Nothing but the challenge and its result is left.
        let left = std::fs::read_dir(folder.path().join("challenges").join(id)).expect("a folder");
        assert!(left.count() <= 3);
    }
    drop(daemon);
    // Ended challenges stay, and a damaged one is told of and left out.
    std::fs::write(folder.path().join("challenges").join(&ids[0]).join("request.json"), "{")
        .expect("written");
    let daemon = Daemon::start(folder.path(), &[]);
    let (_, list) = daemon.get("/v1/challenges");
    assert_eq!(list["challenges"].as_array().map(Vec::len), Some(2));
    assert_eq!(daemon.wait(&ids[1])["y"], y.as_str());
}

#[test]
fn malformed_requests() {
    let folder = tempfile::tempdir().expect("a folder");
    let daemon = Daemon::start(folder.path(), &["--queue", "1"]);
    let long = format!(r#"{{"x":"{}"}}"#, "a".repeat(20_000));
    let big = format!(r#"{{"x":"2","t":3,"modulus":"{}"}}"#, "f".repeat(3000));
    let cases: &[(&str, &[u8], u16, &str)] = &[
        ("empty", b"", 400, "request.json"),
        ("no JSON", b"{\"x\":", 400, "request.json"),
        ("no UTF-8", b"{\"x\":\"\xff\"}", 400, "request.json"),
        ("no object", b"[1]", 400, "request.json"),
        ("deep", &[b'['; 9000], 400, "request.json"),
        ("too long", long.as_bytes(), 413, "request.too_long"),
        ("no x", br#"{"t":3}"#, 400, "challenge.malformed"),
        ("x a number", br#"{"x":5,"t":3}"#, 400, "challenge.malformed"),
        ("x no hex", br#"{"x":"5g","t":3}"#, 400, "input.hex"),
        ("no count", br#"{"x":"5"}"#, 400, "challenge.iterations"),
        ("two counts", br#"{"x":"5","t":3,"iterations":8}"#, 400, "challenge.iterations"),
        ("t too large", br#"{"x":"5","t":64}"#, 400, "challenge.iterations"),
        ("t negative", br#"{"x":"5","t":-1}"#, 400, "challenge.malformed"),
        ("too long a delay", br#"{"x":"5","t":31}"#, 400, "challenge.too_long"),
        ("unknown field", br#"{"x":"5","t":3,"y":1}"#, 400, "challenge.malformed"),
        ("a key twice", br#"{"x":"5","t":3,"t":4}"#, 400, "request.doubled"),
        ("the same twice", br#"{"x":"5","t":3,"x":"5"}"#, 400, "request.doubled"),
        ("twice within", br#"{"x":"5","t":[{"a":1,"\u0061":2}]}"#, 400, "request.doubled"),
        ("unknown proof", br#"{"x":"5","t":3,"proof":"x"}"#, 400, "challenge.malformed"),
        ("even modulus", br#"{"x":"5","t":3,"modulus":"fe"}"#, 400, "input.modulus"),
        ("a file", br#"{"x":"5","t":3,"modulus":"@/etc/passwd"}"#, 400, "input.hex"),
        ("12000 bits", big.as_bytes(), 400, "input.modulus"),
        ("no unit", br#"{"x":"0","t":3}"#, 400, "input.malformed"),
    ];
    for (name, body, status, code) in cases {
        let (got, answer) = daemon.post(&daemon.token, body);
        assert_eq!((got, answer["code"].as_str()), (*status, Some(*code)), "{name}: {answer}");
        // The same by line, where it is one.
        if !body.contains(&b'\n') && *status == 400 && body.starts_with(b"{\"x\":\"5\"") {
            let challenge = String::from_utf8_lossy(body);
            let mut stream = TcpStream::connect(&daemon.lines).expect("connects");
            let token = &daemon.token;
            writeln!(stream, r#"{{"submit":{challenge},"token":"{token}"}}"#).expect("written");
            let stream: Box<dyn ReadWrite> = Box::new(stream);
            assert_eq!(line(&mut BufReader::new(stream))["code"], *code, "{name}");
        }
    }
    let (_, answer) = daemon.post(&daemon.token, br#"{"x":"5","t":3,"t":4}"#);
    let message = answer["message"].as_str().expect("text");
    assert!(message.starts_with("the key \"t\" is given twice"), "{answer}");
    let (status, answer) = daemon.post("wrong", br#"{"x":"5","t":3}"#);
    assert_eq!((status, answer["code"].as_str()), (401, Some("api.token")));
    assert_eq!(daemon.get("/v1/challenges/00").1["code"], "challenge.unknown");
    assert_eq!(daemon.get("/v1/challenges/..%2f..%2fapi.token").1["code"], "challenge.unknown");
    assert_eq!(daemon.get("/v2").1["code"], "route.unknown");
    let (status, _) = daemon.exchange("DELETE /v1/challenges HTTP/1.1", b"");
    assert_eq!(status, 405);
    // Lines: nonsense is answered, and one that never ends is cut off.
    let stream: Box<dyn ReadWrite> = Box::new(TcpStream::connect(&daemon.lines).expect("connects"));
    let mut stream = BufReader::new(stream);
    for (request, code) in [
        (json!({}), "request.malformed"),
        (json!([]), "request.json"),
        (json!({ "status": 5 }), "request.malformed"),
        (json!({ "status": "x", "watch": "x" }), "request.malformed"),
        (json!({ "watch": "x" }), "challenge.unknown"),
        (json!({ "submit": {} }), "api.token"),
    ] {
        assert_eq!(ask(&mut stream, &request)["code"], code, "{request}");
    }
    for (request, code) in [
        (r#"{"status":"x","status":"x"}"#, "request.doubled"),
        (r#"{"status":"x","id":"x"}"#, "request.malformed"),
    ] {
        writeln!(stream.get_mut(), "{request}").expect("written");
        assert_eq!(line(&mut stream)["code"], code, "{request}");
    }
    let _ = stream.get_mut().write_all(&[b'x'; 40_000]);
    assert_eq!(line(&mut stream)["code"], "request.too_long");
    // One runs and one waits: a third is refused, until one is cancelled.
    let running = daemon.submit("3", 1 << 30, "none");
    std::thread::sleep(Duration::from_millis(300));
    daemon.submit("4", 1 << 30, "none");
    let third = json!({ "modulus": MODULUS, "x": "6", "t": 30, "proof": "none" }).to_string();
    let (status, answer) = daemon.post(&daemon.token, third.as_bytes());
    assert_eq!((status, answer["code"].as_str()), (503, Some("daemon.busy")));
    let head = format!(
        "DELETE /v1/challenges/{running} HTTP/1.1\r\nauthorization: Bearer {}",
        daemon.token
    );
    assert_eq!(daemon.exchange(&head, b"").0, 200);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(daemon.post(&daemon.token, third.as_bytes()).0, 202);
}
