//! Signers and servers that are killed again and again.

use super::key;
use super::server::Server;
use super::servers::{Etcd, Killed, Postgres};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use tetralith_xmss::state::{Holder, Reservations, StateError, create};

/// The child of the tests below: takes indices and says so, until it is killed.
#[test]
fn child_signs_until_killed() {
    let Ok(url) = std::env::var("TETRALITH_TEST_STORE_URL") else { return };
    fn run<T: Server>(url: &str) {
        let key = key();
        // A server that is down comes again.
        let mut state = loop {
            let opened = T::open(url, &key);
            match opened.and_then(|store| Reservations::open(store, &key, Holder::new("test"))) {
                Ok(state) => break state,
                Err(StateError::Io(_)) => std::thread::sleep(Duration::from_millis(20)),
                Err(error) => panic!("{error}"),
            }
        };
        for i in 0u64.. {
            match state.next(1 + i % 4, 0) {
                Ok(index) => println!("signed {} {}", index.value(), index.fencing()),
                Err(StateError::Io(_)) => std::thread::sleep(Duration::from_millis(20)),
                Err(error) => {
                    println!("refused {error}");
                    return;
                }
            }
        }
    }
    match url.starts_with("postgres") {
        true => run::<Postgres>(&url),
        false => run::<Etcd>(&url),
    }
}

/// A signer's process, whose lines go to a channel.
fn spawn(url: &str, lines: &mpsc::Sender<String>) -> Killed {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::child_signs_until_killed", "--nocapture"])
        .env("TETRALITH_TEST_STORE_URL", url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (output, lines) = (BufReader::new(child.stdout.take().unwrap()), lines.clone());
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let _ = lines.send(line);
        }
    });
    Killed(child)
}

/// Two signers race, each is killed at random again and again, and so is the server.
fn killed_in_a_loop<T: Server>() {
    let mut server = T::begin();
    let (url, key) = (server.address(), key());
    create(&mut T::open(&url, &key).unwrap(), &key, 0, [7; 16], 0).unwrap();
    let slow = std::env::var_os("TETRALITH_SLOW").is_some();
    let rounds: u64 = if slow { 1000 } else { 200 };
    if !slow {
        println!("{rounds} kills; 1000 with TETRALITH_SLOW=1");
    }
    let (sender, lines) = mpsc::channel();
    let mut signers = [spawn(&url, &sender), spawn(&url, &sender)];
    let mut used = BTreeMap::new();
    let mut fences = BTreeMap::new();
    let mut seed = 88172645463325252u64;
    for round in 0..rounds {
        // Wait for some work, so that each kill meets one.
        for _ in 0..8 {
            let line = lines.recv_timeout(Duration::from_secs(20)).expect("a signer works");
            note(&line, round, &mut used, &mut fences);
        }
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        std::thread::sleep(Duration::from_micros(seed % 6000));
        signers[(seed >> 32) as usize % 2] = spawn(&url, &sender);
        if round % 50 == 25 {
            server.stop();
            server.again();
        }
    }
    drop(signers);
    drop(sender);
    for line in lines {
        note(&line, rounds, &mut used, &mut fences);
    }
    let record = T::look(&url, &key).unwrap();
    assert!(used.len() as u64 >= 8 * rounds / 2 && used.last_key_value().unwrap().0 < &record.next);
    // Of two leases the one with the greater fencing number has the greater indices.
    let mut end = 0;
    for (fencing, (first, last)) in fences {
        assert!(first >= end && fencing <= record.epoch, "lease {fencing} begins at {first}");
        end = last + 1;
    }
}

/// Reads a line of a signer's, whose index nobody else may have.
fn note(
    line: &str,
    round: u64,
    used: &mut BTreeMap<u64, u64>,
    fences: &mut BTreeMap<u64, (u64, u64)>,
) {
    assert!(!line.contains("refused"), "{line}");
    let Some((_, text)) = line.split_once("signed ") else { return };
    let mut numbers = text.split(' ');
    let mut number = || numbers.next().unwrap().parse::<u64>().unwrap();
    let (index, fencing) = (number(), number());
    assert_eq!(used.insert(index, fencing), None, "index {index} twice, round {round}");
    let range = fences.entry(fencing).or_insert((index, index));
    *range = (range.0.min(index), range.1.max(index));
}

#[test]
fn postgres_signers_are_killed_in_a_loop() {
    killed_in_a_loop::<Postgres>();
}

#[test]
fn etcd_signers_are_killed_in_a_loop() {
    killed_in_a_loop::<Etcd>();
}
