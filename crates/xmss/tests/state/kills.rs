//! Signers with stores on a disk that are killed again and again.

use super::disk::Disk;
use super::{holder, public, take};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tetralith_xmss::state::{FileStore, Reservations, SqliteStore, create};

/// The child of `killed_in_a_loop`: takes indices and says so, until it is killed.
#[test]
fn child_signs_until_killed() {
    let Ok(path) = std::env::var("TETRALITH_TEST_STATE") else { return };
    let kind = std::env::var("TETRALITH_TEST_STORE").unwrap();
    fn run<D: Disk>(path: &Path) {
        let key = public("XMSS-SHA2_20_256");
        let store = D::at(path, &holder()).unwrap();
        let mut state = Reservations::open(store, &key, holder()).unwrap();
        for i in 0.. {
            let index = take(&mut state, 1 + i % 4).unwrap();
            // The signature leaves: written at once, as one line.
            println!("signed {index}");
        }
    }
    if kind == FileStore::NAME {
        run::<FileStore>(Path::new(&path));
    } else {
        run::<SqliteStore>(Path::new(&path));
    }
}

fn killed_in_a_loop<D: Disk>() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let key = public("XMSS-SHA2_20_256");
    create(&mut D::at(&path, &holder()).unwrap(), &key, 0, [7; 16], 0).unwrap();
    let slow = std::env::var_os("TETRALITH_SLOW").is_some();
    let rounds: u64 = if slow { 2000 } else { 400 };
    if !slow {
        println!("{rounds} kills; 2000 with TETRALITH_SLOW=1");
    }
    let mut used = BTreeSet::new();
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kills::child_signs_until_killed", "--nocapture"])
            .env("TETRALITH_TEST_STATE", &path)
            .env("TETRALITH_TEST_STORE", D::NAME)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Wait until it works, then kill it somewhere within a few commits.
        let first = lines.by_ref().map_while(Result::ok).find(|line| line.contains("signed "));
        std::thread::sleep(Duration::from_micros(round * 977 % 9000));
        child.kill().unwrap();
        child.wait().unwrap();
        for line in first.into_iter().chain(lines.map_while(Result::ok)) {
            let Some((_, index)) = line.split_once("signed ") else { continue };
            let index: u64 = index.parse().unwrap();
            assert!(used.insert(index), "{}: index {index} twice, round {round}", D::NAME);
        }
    }
    let record = D::look(&path).unwrap();
    assert!(used.len() as u64 >= rounds && used.last().is_some_and(|last| *last < record.next));
}

#[test]
fn file_store_survives_kills() {
    killed_in_a_loop::<FileStore>();
}

#[test]
fn sqlite_store_survives_kills() {
    killed_in_a_loop::<SqliteStore>();
}
