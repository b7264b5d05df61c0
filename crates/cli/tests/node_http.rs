//! Idle and half-open connections, however many, keep nobody out of a node's API.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod nodes;

use nodes::Nodes;
use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

/// Two nodes of few file descriptors and a key of both.
fn two_of_few_descriptors() -> (Nodes, String) {
    let mut nodes = Nodes::new(2);
    for index in 0..2 {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n 200; exec \"$0\" node run --threads 2 \"$1\""]);
        command.arg(env!("CARGO_BIN_EXE_tetralith")).arg(nodes.folder(index));
        nodes.run_as(index, &mut command);
    }
    (0..2).for_each(|index| nodes.wait_connected(index, 1));
    let key = nodes.keygen(0, 2);
    (nodes, key)
}

#[test]
fn half_open_connections_keep_nobody_out() {
    let (nodes, key) = two_of_few_descriptors();
    let api = nodes.api(0);
    // Some say nothing, some begin a request, and some announce a body that never comes.
    let said = [
        String::new(),
        "GET /heal".into(),
        format!(
            "POST /v1/sign HTTP/1.1\r\nhost: {api}\r\nauthorization: Bearer {}\r\n\
             content-length: 9\r\n\r\n{{",
            nodes.token(0)
        ),
    ];
    let open: Vec<_> = (0..366)
        .map(|count| {
            let mut stream = TcpStream::connect(&api).unwrap();
            // The node may have closed it for a later one already.
            let _ = stream.write_all(said[count % said.len()].as_bytes());
            stream
        })
        .collect();
    for number in 0..3 {
        let begun = Instant::now();
        assert_eq!(nodes.get(0, "/healthz").0, 200);
        let (status, signed) = nodes.sign(0, &key, &number.to_string());
        assert_eq!(status, 200, "{signed}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
    drop(open);
}
