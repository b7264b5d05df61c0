//! Disks that are full or read-only, pipes in the place of files, and other keys in the way.

use super::{Place, told};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tetralith_xmss::state::{FileStore, Holder, SqliteStore};

const KEYGEN: &str = "keygen -o k --params QRL-SHA2_4_256 --no-passphrase --store";

/// Files may not grow beyond a limit, which rises: each write is the one that fails, sooner or later.
#[test]
fn a_keygen_on_a_full_disk_leaves_nothing() {
    for store in ["sqlite:k.state", "file:k.state"] {
        let mut failed = 0;
        for kib in 0..40 {
            let place = Place::new();
            let line =
                format!("ulimit -f {kib}; trap '' XFSZ; exec \"$0\" --json xmss {KEYGEN} {store}");
            let mut command = Command::new("bash");
            command.args(["-c", &line, env!("CARGO_BIN_EXE_tetralith")]);
            command.current_dir(place.0.path()).env_remove("TETRALITH_STORE");
            let told = told(command.stdin(Stdio::null()).output().unwrap());
            if told.exit != 0 {
                failed += 1;
                assert_eq!(place.names(), ["m"], "{store} {kib}: {} {}", told.exit, told.object);
            } else {
                place.done(&format!("sign -k k m --store {store}"));
            }
        }
        assert!(failed > 0 && failed < 40, "{store} {failed}");
    }
}

#[test]
fn a_pipe_in_a_files_place_does_not_hang() {
    for (store, pipe) in [
        ("sqlite:k.state", "k.state"),
        ("sqlite:k.state", "k.state.lock"),
        ("sqlite:k.state", "k.state-wal"),
        ("sqlite:k.state", "k.seen"),
        ("file:k.state", "k.state"),
        ("file:k.state", "k.state.lock"),
        ("sqlite:k.state", "k"),
    ] {
        let place = Place::new();
        place.done(&format!("{KEYGEN} {store}"));
        let _ = fs::remove_file(place.at(pipe));
        assert!(Command::new("mkfifo").arg(place.at(pipe)).status().unwrap().success());
        let keygen = "keygen -o k --force --params QRL-SHA2_4_256 --no-passphrase";
        for line in ["sign -k k m", "status k", "restore k --resume-at 3", keygen] {
            let mut child = place.command(&format!("{line} --store {store}")).spawn().unwrap();
            let end = Instant::now() + Duration::from_secs(20);
            let exit = loop {
                match child.try_wait().unwrap() {
                    Some(status) => break status.code(),
                    None if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
                    None => {
                        child.kill().unwrap();
                        panic!("{line} hangs at {pipe}");
                    }
                }
            };
            // With the state itself intact, its status is told, and that signing is refused.
            let note = ["k.state.lock", "k.seen"].contains(&pipe);
            let told = line == "status k" && note && exit == Some(0);
            assert!(told || matches!(exit, Some(3 | 4)), "{line} {store} {pipe}: {exit:?}");
        }
    }
}

#[test]
fn force_replaces_no_other_key_and_no_state() {
    let place = Place::with_key();
    let make = |name: &str, store: &str| {
        let params = "--params QRL-SHA2_4_256 --no-passphrase";
        place.done(&format!("keygen -o {name} {params} --store {store}:{name}.state"));
        place.done(&format!("sign -k {name} m -o {name}.sig --store {store}:{name}.state"));
    };
    make("a", "sqlite");
    make("b", "file");
    let keygen = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .args(["vrf", "keygen", "--suite", "draft03-cardano", "-o", "v", "--no-passphrase"])
        .current_dir(place.0.path())
        .output();
    assert!(keygen.unwrap().status.success());
    symlink("a", place.at("soft")).unwrap();
    let before: Vec<_> =
        place.names().iter().map(|name| fs::read(place.at(name)).unwrap()).collect();
    let targets = [
        "a",
        "soft",
        "a.state",
        "a.state.lock",
        "a.seen",
        "a.nodes.layer0",
        "b",
        "b.state",
        "b.state.lock",
        "v",
    ];
    for name in targets {
        for line in ["sign -k k m", "pub k", "export k --copy --format qrl-seed"] {
            place.refused(&format!("{line} --force -o {name}"), 2, "output.guarded");
        }
        if !["a", "b", "soft"].contains(&name) {
            let keygen = "keygen --params QRL-SHA2_4_256 --no-passphrase --force -o";
            place.refused(&format!("{keygen} {name}"), 2, "output.guarded");
        }
    }
    let mut others = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    others.args([
        "vrf",
        "keygen",
        "--suite=draft03-cardano",
        "-o",
        "a",
        "--force",
        "--no-passphrase",
    ]);
    let other = others.current_dir(place.0.path()).output().unwrap();
    assert_eq!(other.status.code(), Some(2), "{other:?}");
    let after: Vec<_> =
        place.names().iter().map(|name| fs::read(place.at(name)).unwrap()).collect();
    assert_eq!(before, after);
    // A database is a state without its lock, too; another database is none.
    fs::remove_file(place.at("a.state.lock")).unwrap();
    place.refused("pub k --force -o a.state", 2, "output.guarded");
    fs::write(place.at("other.db"), [&b"SQLite format 3\0"[..], &[0; 4096]].concat()).unwrap();
    place.done("pub k --force -o other.db");
}

/// The command as a user who may read everything and write nothing, whoever runs the tests.
#[test]
fn status_needs_no_right_to_write() {
    let id = Command::new("id").arg("-u").output().unwrap().stdout;
    let root = id == b"0\n";
    let binary = tempfile::tempdir().unwrap();
    fs::set_permissions(binary.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = binary.path().join("tetralith");
    if root {
        fs::copy(env!("CARGO_BIN_EXE_tetralith"), &program).unwrap();
    } else {
        symlink(env!("CARGO_BIN_EXE_tetralith"), &program).unwrap();
    }
    for (store, at_work) in [("sqlite", false), ("sqlite", true), ("file", false), ("file", true)] {
        let place = Place::new();
        place.done(&format!("{KEYGEN} {store}:k.state"));
        place.done(&format!("sign -k k m --store {store}:k.state"));
        let holder = Holder::new("test");
        // A signer at work leaves its log, and holds the lock.
        let _sqlite = (at_work && store == "sqlite")
            .then(|| SqliteStore::open(&place.at("k.state"), &holder).unwrap());
        let _file = (at_work && store == "file")
            .then(|| FileStore::open(&place.at("k.state"), &holder).unwrap());
        for name in place.names() {
            fs::set_permissions(place.at(&name), fs::Permissions::from_mode(0o444)).unwrap();
        }
        fs::set_permissions(place.0.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let mut command = Command::new(&program);
        command.args(["--json", "xmss", "status", "k", "--store"]).arg(format!("{store}:k.state"));
        command.current_dir(place.0.path());
        if root {
            command.uid(65534).gid(65534);
        }
        let told = told(command.output().unwrap());
        fs::set_permissions(place.0.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(told.exit, 0, "{store} {at_work}: {} {}", told.object, told.events);
        assert_eq!(told.object["used"], 1, "{store} {at_work}: {}", told.object);
        assert!(told.object["refused"].is_null(), "{}", told.object);
    }
}

#[test]
fn a_process_waits_for_another_one() {
    let place = Place::with_key();
    let held = SqliteStore::open(&place.at("k.state"), &Holder::new("test")).unwrap();
    let start = Instant::now();
    place.refused("sign -k k m --wait 1", 4, "state.locked").says("process");
    assert!(start.elapsed() >= Duration::from_secs(1));
    let child = place.command("sign -k k m").spawn().unwrap();
    std::thread::sleep(Duration::from_secs(2));
    drop(held);
    let told = told(child.wait_with_output().unwrap());
    assert_eq!((told.exit, told.object["index"].as_u64()), (0, Some(0)), "{}", told.object);
    // As two cron jobs that begin at once, and then some.
    let jobs: Vec<_> = (0..6)
        .map(|job| place.command(&format!("sign -k k m -o {job}.sig")).spawn().unwrap())
        .collect();
    let mut indices: Vec<_> = jobs
        .into_iter()
        .map(|job| super::told(job.wait_with_output().unwrap()).object["index"].as_u64())
        .collect();
    indices.sort_unstable();
    assert_eq!(indices, (1..7).map(Some).collect::<Vec<_>>());
}
