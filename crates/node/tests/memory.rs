//! A running node holds its seed and its storage key once, and its passphrase not at all.
//!
//! The test starts itself as another process, which runs a node, and reads that process's memory.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::process::{Command, Stdio};
use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use tetralith_keyfile::{Cost, KeyFile, Protection};
use tetralith_node::Node;
use tetralith_node::config::{Clients, Config, Limits, Policy, Timeouts};
use tetralith_node::folder::Folder;

const FOLDER: &str = "TETRALITH_TEST_FOLDER";

/// The process that is read: runs the node of a folder until its standard input ends.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Folder::new(folder.as_ref());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut passphrase = std::fs::read(folder.root().join("passphrase")).unwrap();
        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let engine = Arc::new(tetralith_node::Ecdsa);
        let node = Node::start(&folder, Some(&passphrase), engine, &mut rng).await.unwrap();
        zeroize::Zeroize::zeroize(&mut passphrase);
        println!("ready");
        std::io::stdin().read_line(&mut String::new()).unwrap();
        node.stop().await;
    });
}

/// Makes the folder of a node without peers.
fn folder(root: &std::path::Path, passphrase: &[u8]) -> Folder {
    let folder = Folder::new(&root.join("node"));
    let protection = Protection::Passphrase(passphrase);
    folder.create(protection, Cost::LEAST, &mut ChaCha20Rng::from_seed([6; 32])).unwrap();
    let config = Config {
        name: "node".into(),
        listen: "/ip4/127.0.0.1/tcp/0".parse().unwrap(),
        api: ([127, 0, 0, 1], 0).into(),
        api_hosts: Vec::new(),
        timeouts: Timeouts { join_ms: 5_000, round_ms: 5_000 },
        limits: Limits::default(),
        policy: Policy::default(),
        clients: Clients::default(),
        peers: Vec::new(),
    };
    folder.write_config(&config).unwrap();
    std::fs::write(folder.root().join("passphrase"), passphrase).unwrap();
    folder
}

/// How often each needle occurs in the writable memory of a process.
fn count(process: u32, needles: &[&[u8]]) -> Vec<usize> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let mut memory = std::fs::File::open(format!("/proc/{process}/mem")).unwrap();
    let mut counts = vec![0; needles.len()];
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (range, _) = line.split_once(' ').unwrap();
        let (from, to) = range.split_once('-').unwrap();
        let [from, to] = [from, to].map(|hex| u64::from_str_radix(hex, 16).unwrap());
        let mut bytes = vec![0; (to - from) as usize];
        if memory.seek(SeekFrom::Start(from)).and_then(|_| memory.read_exact(&mut bytes)).is_err() {
            continue;
        }
        for (needle, count) in needles.iter().zip(&mut counts) {
            *count += bytes.windows(needle.len()).filter(|window| window == needle).count();
        }
    }
    counts
}

#[test]
fn a_running_node_holds_each_secret_once() {
    let passphrase = b"twenty-four letters long";
    let root = tempfile::tempdir().unwrap();
    let folder = folder(root.path(), passphrase);
    let text = std::fs::read_to_string(folder.root().join("node.key")).unwrap();
    let secret = KeyFile::from_text(&text).unwrap().open(Some(passphrase)).unwrap();
    let (seed, storage) = secret.split_at(32);

    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(output.by_ref().any(|line| line.unwrap().ends_with("ready")), "the node starts");
    let counts = count(child.id(), &[seed, storage, passphrase]);
    drop(input);
    assert!(child.wait().unwrap().success());
    println!("seed, storage key, passphrase: {counts:?}");
    assert!(counts[0] >= 1 && counts[1] >= 1, "{counts:?}: the search finds what is there");
    assert_eq!(counts, [1, 1, 0], "seed, storage key, passphrase");
}
