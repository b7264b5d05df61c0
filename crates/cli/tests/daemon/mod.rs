//! A daemon as a process, and its clients.
#![allow(dead_code, unreachable_pub)] // each test takes what it needs

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The product of two primes of 64 bits: small, for speed.
pub const MODULUS: &str = "cfa92a1c6559dd55bb75027437309ad3";

pub struct Daemon {
    pub child: Child,
    pub http: String,
    pub lines: String,
    pub token: String,
    /// The lines of its standard error, but that it listens.
    pub said: Arc<Mutex<Vec<String>>>,
}

impl Daemon {
    pub fn start(folder: &Path, more: &[&str]) -> Self {
        Self::start_at(folder, "127.0.0.1:0", more)
    }

    /// With another address for lines.
    pub fn start_at(folder: &Path, lines: &str, more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tetralith"))
            .args(["--json", "vdf", "daemon", "--http", "127.0.0.1:0", "--lines", lines])
            .args(["--save-every", "0.1", "--most", "30"])
            .args(more)
            .arg("--socket")
            .arg(folder.join("socket"))
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the daemon starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let said = Arc::new(Mutex::new(Vec::new()));
        let listening = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).expect("a line") > 0, "the daemon ended");
            let event: Value = serde_json::from_str(&line).expect("JSON");
            if event["event"] == "daemon.listening" {
                break event;
            }
            said.lock().expect("whole").push(line);
        };
        // What it says later must not fill the pipe.
        let events = said.clone();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                events.lock().expect("whole").push(line);
            }
        });
        let text = |name: &str| listening[name].as_str().expect("an address").to_owned();
        let token = std::fs::read_to_string(folder.join("api.token")).expect("a token");
        let (http, lines) = (text("http"), text("lines"));
        Self { child, http, lines, token: token.trim().to_owned(), said }
    }

    /// One HTTP exchange, as bytes: status and body.
    pub fn exchange(&self, head: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.http).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        let length = body.len();
        let head = format!(
            "{head}\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("written");
        let _ = stream.write_all(body); // refused before it was all read
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let at = all.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
        let status = String::from_utf8_lossy(&all[9..12]).parse().expect("a status");
        (status, all[at..].to_vec())
    }

    pub fn get(&self, path: &str) -> (u16, Value) {
        let (status, body) = self.exchange(&format!("GET {path} HTTP/1.1"), b"");
        (status, serde_json::from_slice(&body).expect("JSON"))
    }

    pub fn post(&self, token: &str, body: &[u8]) -> (u16, Value) {
        let head = format!("POST /v1/challenges HTTP/1.1\r\nauthorization: Bearer {token}");
        let (status, body) = self.exchange(&head, body);
        (status, serde_json::from_slice(&body).expect("JSON"))
    }

    pub fn submit(&self, x: &str, iterations: u64, proof: &str) -> String {
        let body = json!({ "modulus": MODULUS, "x": x, "iterations": iterations, "proof": proof });
        let (status, answer) = self.post(&self.token, body.to_string().as_bytes());
        assert_eq!(status, 202, "{answer}");
        answer["id"].as_str().expect("an id").to_owned()
    }

    pub fn wait(&self, id: &str) -> Value {
        let start = Instant::now();
        loop {
            let (_, status) = self.get(&format!("/v1/challenges/{id}"));
            if status["state"] == "done" || status["state"] == "failed" {
                return status;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{status}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The last event of this name about a challenge, once it is told.
    pub fn event(&self, name: &str, id: &str) -> Value {
        let start = Instant::now();
        loop {
            let said = self.said.lock().expect("whole").clone();
            let mut events = said.iter().map(|line| serde_json::from_str(line).expect("JSON"));
            let found = events.rfind(|event: &Value| event["event"] == name && event["id"] == id);
            if let Some(event) = found {
                return event;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "no {name}: {said:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(kill.expect("kill").success());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// y as `vdf eval` gives it.
pub fn evaluated(x: &str, iterations: u64) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .args(["-q", "vdf", "eval", "-N", MODULUS, "-T", &iterations.to_string(), x])
        .output()
        .expect("runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

pub fn ask(stream: &mut BufReader<Box<dyn ReadWrite>>, request: &Value) -> Value {
    writeln!(stream.get_mut(), "{request}").expect("written");
    line(stream)
}

pub fn line(stream: &mut BufReader<Box<dyn ReadWrite>>) -> Value {
    let mut line = String::new();
    stream.read_line(&mut line).expect("a line");
    serde_json::from_str(&line).expect("JSON")
}
