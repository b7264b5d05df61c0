//! `tetralith node top`: in a real pseudo-terminal, and drawn once, near the node's folder and by its URL.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod nodes;

use nodes::Nodes;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const COLUMNS: NonZeroU16 = NonZeroU16::new(120).unwrap();
const LINES: NonZeroU16 = NonZeroU16::new(40).unwrap();

/// A command in a pseudo-terminal, which util-linux's `script` makes, and what it shows.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    output: Receiver<Vec<u8>>,
    shown: vt100::Parser,
}

impl Terminal {
    fn start(arguments: &str) -> Self {
        let program = env!("CARGO_BIN_EXE_tetralith");
        let command = format!("stty cols {COLUMNS} rows {LINES}; exec {program} {arguments}");
        let mut child = Command::new("script")
            .args(["--quiet", "--flush", "--return", "--command", &command, "/dev/null"])
            .env("TERM", "xterm-256color")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let keys = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (told, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut bytes) {
                if told.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Terminal { child, keys, output, shown: vt100::Parser::new(LINES, COLUMNS, 0) }
    }

    /// Waits until the screen shows all of these.
    fn until(&mut self, expected: &[&str]) {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let screen = self.shown.screen().contents();
            if expected.iter().all(|text| screen.contains(text)) {
                return;
            }
            assert!(Instant::now() < end, "no {expected:?} in\n{screen}");
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(100)) {
                self.shown.process(&bytes);
            }
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn once(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .args(["node", "top"])
        .args(arguments)
        .output();
    let output = output.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn a_terminal_shows_a_node_and_signs() {
    let mut nodes = Nodes::start(3, &[("join_ms", "2000")]);
    let key = nodes.keygen(0, 2);
    let mut terminal = Terminal::start(&format!("node top --node {}", shown(&nodes.folder(0))));
    terminal.until(&[
        "node-1",
        "Ceremonies (1)",
        "Peers (2)",
        "Keys (1)",
        "2-of-3",
        &key[..16],
        "join",
    ]);
    // Another node asks for a signature, which appears by itself.
    assert_eq!(nodes.sign(1, &key, "a payment").0, 200);
    terminal.until(&["sign", "asked by node-2"]);
    // The user signs.
    terminal.press("s");
    terminal.until(&["Sign a message with key"]);
    terminal.press("hello\r");
    terminal.until(&["Signed", "\"signature\""]);
    terminal.press("\u{1b}");
    nodes.kill(2);
    terminal.until(&["not connected"]);
    terminal.press("\t\t\r");
    terminal.until(&["\"public_key\""]);
    terminal.press("q");
    let end = Instant::now() + Duration::from_secs(10);
    let status = loop {
        if let Some(status) = terminal.child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < end, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{status}");
    assert!(terminal.shown.screen().alternate_screen());
    while let Ok(bytes) = terminal.output.recv_timeout(Duration::from_secs(1)) {
        terminal.shown.process(&bytes);
    }
    assert!(!terminal.shown.screen().alternate_screen(), "the terminal is as it was before");
}

#[test]
fn one_picture_by_folder_and_by_url() {
    let nodes = Nodes::start(2, &[]);
    let key = nodes.keygen(0, 2);
    let (code, near) = once(&["--once", "110x30", "--node", &shown(&nodes.folder(0))]);
    assert_eq!(code, Some(0), "{near}");
    let url = format!("http://{}", nodes.api(1));
    let file = shown(&nodes.folder(1).join("read.token"));
    let (code, far) = once(&["--once", "110x30", "--url", &url, "--token-file", &file]);
    assert_eq!(code, Some(0), "{far}");
    for (text, name, peer) in [(&near, "node-1", "node-2"), (&far, "node-2", "node-1")] {
        assert!(text.lines().next().unwrap().trim_start().starts_with(name), "{text}");
        for expected in
            [&format!("● {peer}"), "2-of-2", &key[..16], "keygen", "ready", "live", "join"]
        {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    }

    let wrong = nodes.folder(0).join("node.toml");
    for (arguments, code, says) in [
        (vec![], 2, "--node"),
        (vec!["--url", &url], 2, "--token-file"),
        (vec!["--url", "ftp://x", "--token-file", &file], 2, "would travel in clear"),
        (vec!["--url", &url, "--token-file", &shown(&wrong)], 2, "malformed"),
        (vec!["--url", "http://127.0.0.1:1", "--token-file", &file], 3, "is the node running"),
        (
            vec!["--url", &url, "--token-file", &shown(&nodes.folder(0).join("read.token"))],
            3,
            "token",
        ),
        (vec!["--once", "5x5", "--node", &shown(&nodes.folder(0))], 2, "COLUMNSxLINES"),
        (vec!["--node", &shown(&nodes.folder(0))], 2, "not a terminal"),
    ] {
        let (found, text) = once(&arguments);
        assert!(found == Some(code) && text.contains(says), "{arguments:?}: {found:?} {text}");
    }
}
