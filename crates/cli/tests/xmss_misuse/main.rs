//! What people do to keys by mistake, at the command: links, outputs over inputs, damage, full disks.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod backups;
mod exports;
#[path = "../folder/mod.rs"]
mod folder;
mod forms;
mod trouble;

use folder::names;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;
use tetralith_xmss::qrl;
use tetralith_xmss::state::{FileStore, Holder, Reservations, SqliteStore};

/// A folder with a key of 16 signatures, `k`, and a file to sign, `m`.
struct Place(TempDir);

/// What a command said.
struct Told {
    exit: i32,
    object: Value,
    /// Standard error.
    events: String,
    bytes: Vec<u8>,
}

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        fs::write(place.at("m"), "message").unwrap();
        place
    }

    fn with_key() -> Self {
        let place = Place::new();
        place.done("keygen -o k --params QRL-SHA2_4_256 --no-passphrase");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
        command.args(["--json", "xmss"]).args(line.split(' ')).current_dir(self.0.path());
        command.env("TETRALITH_PASSPHRASE", "pass").env_remove("TETRALITH_STORE");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, line: &str) -> Told {
        told(self.command(line).output().unwrap())
    }

    fn done(&self, line: &str) -> Told {
        let told = self.run(line);
        assert_eq!(told.exit, 0, "{line}: {} {}", told.object, told.events);
        told
    }

    fn refused(&self, line: &str, exit: i32, code: &str) -> Told {
        let told = self.run(line);
        let found = (told.exit, told.object["code"].as_str().unwrap_or_default());
        assert_eq!(found, (exit, code), "{line}: {} {}", told.object, told.events);
        told
    }

    /// Signs, and says with which index.
    fn sign(&self, key: &str, output: &str) -> u64 {
        let told = self.done(&format!("sign -k {key} m -o {output}"));
        told.object["index"].as_u64().unwrap()
    }

    fn names(&self) -> Vec<String> {
        names(self.0.path())
    }
}

fn told(output: std::process::Output) -> Told {
    let events = String::from_utf8_lossy(&output.stderr).into_owned();
    let object = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    Told { exit: output.status.code().unwrap(), object, events, bytes: output.stdout }
}

impl Told {
    fn says(&self, text: &str) {
        let all = format!("{} {}", self.object, self.events);
        assert!(all.contains(text), "{text:?} is not in {all}");
    }
}

#[test]
fn a_key_has_one_state_by_whatever_name() {
    let place = Place::with_key();
    let names = place.names();
    std::os::unix::fs::symlink("k", place.at("soft")).unwrap();
    fs::create_dir(place.at("sub")).unwrap();
    std::os::unix::fs::symlink("../soft", place.at("sub/deep")).unwrap();
    assert_eq!(place.sign("k", "0"), 0);
    assert_eq!(place.sign("soft", "1"), 1);
    assert_eq!(place.sign("sub/deep", "2"), 2);
    assert_eq!(place.done("status soft").object["next"], 3);
    assert_eq!(crate::names(&place.at("sub")), ["deep"]);
    // A hard link cannot be followed, so it is refused.
    fs::hard_link(place.at("k"), place.at("hard")).unwrap();
    for line in ["sign -k hard m -o 3", "status hard", "restore hard --resume-at 3"] {
        place.refused(line, 4, "state.linked").says("2 names");
    }
    place.done("status hard --store sqlite:k.state");
    assert_eq!(place.sign("k", "3"), 3);
    let mut expected = names;
    expected.extend(["0", "1", "2", "3", "hard", "soft", "sub"].map(str::to_owned));
    expected.sort_unstable();
    assert_eq!(place.names(), expected);
}

#[test]
fn a_refusal_leaves_nothing() {
    let place = Place::with_key();
    fs::copy(place.at("k"), place.at("copy")).unwrap();
    let names = place.names();
    for line in ["sign -k copy m -o s", "status copy", "reserve copy 1"] {
        place.refused(line, 4, "state.missing").says("copy.state");
    }
    place.refused("restore copy --resume-at 17", 2, "state.past_end").says("past its end");
    // To its very end neither: that would spend all that is left, for good.
    place.refused("restore copy --resume-at 16", 2, "state.past_end").says("past its end");
    place.refused("restore copy --resume-at 9 --until 9", 4, "state.ended");
    place.refused("restore copy --resume-at 1 --until 0", 4, "state.ended");
    assert_eq!(place.names(), names);
}

#[test]
fn no_output_replaces_what_is_needed() {
    let place = Place::with_key();
    place.sign("k", "s");
    std::os::unix::fs::symlink("k", place.at("soft")).unwrap();
    fs::write(place.at("pass"), "pass\n").unwrap();
    let before: Vec<_> = place.names().iter().map(|name| fs::read(place.at(name))).collect();
    let kept = ["k", "soft", "k.state", "k.state.lock", "k.state-wal", "k.nodes.layer0"];
    for name in kept.into_iter().chain(["k.nodes.layer1", "k.seen", "./k.partial", "m"]) {
        let line = format!("sign -k k m --force -o {name}");
        place.refused(&line, 2, "output.guarded");
        if name != "m" {
            place.refused(&format!("pub k --force -o {name}"), 2, "output.guarded");
            let export = format!("export k --format qrl-seed --copy --force -o {name}");
            place.refused(&export, 2, "output.guarded");
        }
    }
    let own = "keygen -o k2 --store file:k2 --no-passphrase";
    place.refused(own, 2, "output.guarded");
    place.refused("keygen -o pass --force --passphrase-file pass", 2, "output.guarded");
    place.refused("import --qrl-seed m --resume-at 0 -o m --force", 2, "output.guarded");
    let after: Vec<_> = place.names().iter().map(|name| fs::read(place.at(name))).collect();
    for (before, after) in before.into_iter().zip(after) {
        assert_eq!(before.unwrap(), after.unwrap());
    }
    place.done("sign -k k m --force -o s");
    place.done("sign -k k m --force -o /dev/null");
}

#[test]
fn status_says_that_signing_is_refused() {
    let place = Place::with_key();
    place.sign("k", "0");
    assert!(place.done("status k").object["refused"].is_null());
    // A copy of the folder.
    let copy = Place(tempfile::tempdir().unwrap());
    for name in place.names() {
        fs::copy(place.at(&name), copy.at(&name)).unwrap();
    }
    let told = copy.done("status k");
    assert_eq!(told.object["refused"]["code"], "state.copied");
    told.says("signing is refused");
    // The state put back from a backup.
    place.sign("k", "1");
    fs::copy(copy.at("k.state"), place.at("k.state")).unwrap();
    let told = place.done("status k");
    assert_eq!(told.object["refused"]["code"], "state.rolled_back");
    place.refused("sign -k k m -o 2", 4, "state.rolled_back");
    // The lock file is gone.
    fs::remove_file(place.at("k.state.lock")).unwrap();
    assert_eq!(place.done("status k").object["refused"]["code"], "state.copied");
    assert!(!place.at("k.state.lock").exists());
}

#[test]
fn what_a_killed_signer_leased_is_shown_as_lost() {
    for kind in ["sqlite", "file"] {
        let place = Place::new();
        let store = format!("--store {kind}:s --no-passphrase");
        let made = place.done(&format!("keygen -o k --params QRL-SHA2_4_256 {store}"));
        let public = hex::decode(made.object["public"].as_str().unwrap()).unwrap();
        let public = qrl::public_key_from_bytes(&public).unwrap();
        let (path, holder) = (place.at("s"), Holder::new("test"));
        let status = |place: &Place| {
            let told = place.done(&format!("status k --store {kind}:s"));
            ["used", "lost", "leased"].map(|name| told.object[name].as_u64().unwrap())
        };
        // Dropped without its account, as if it had been killed.
        if kind == "file" {
            let store = FileStore::open(&path, &holder).unwrap();
            let mut state = Reservations::open(store, &public, holder).unwrap();
            state.reserve(3, 0).unwrap();
            assert_eq!(status(&place), [0, 0, 3], "{kind}");
        } else {
            let store = SqliteStore::open(&path, &holder).unwrap();
            let mut state = Reservations::open(store, &public, holder).unwrap();
            state.reserve(3, 0).unwrap();
            assert_eq!(status(&place), [0, 0, 3], "{kind}");
        }
        assert_eq!(status(&place), [0, 3, 0], "{kind}");
    }
}

#[test]
fn what_a_killed_command_left_is_replaced() {
    let place = Place::with_key();
    for left in [".s.new", ".n.new", ".n.state.new"] {
        fs::write(place.at(left), "half a file").unwrap();
    }
    place.sign("k", "s");
    place.done("keygen -o n --params QRL-SHA2_4_256 --no-passphrase");
    let left: Vec<_> = place.names().into_iter().filter(|name| name.ends_with(".new")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_keygen_that_fails_leaves_nothing() {
    let place = Place::new();
    // The trees cannot be kept, after the state was made.
    fs::create_dir_all(place.at("k.nodes.layer0/x")).unwrap();
    for store in ["sqlite:k.state", "file:k.state"] {
        let line = format!("keygen -o k --params QRL-SHA2_4_256 --no-passphrase --store {store}");
        place.refused(&line, 3, "io.cache").says("k.nodes.layer0");
        assert_eq!(place.names(), ["k.nodes.layer0", "m"]);
    }
    fs::remove_dir_all(place.at("k.nodes.layer0")).unwrap();
    fs::create_dir(place.at("k.state")).unwrap();
    for store in ["sqlite:k.state", "file:k.state"] {
        let line = format!("keygen -o k --params QRL-SHA2_4_256 --no-passphrase --store {store}");
        place.refused(&line, 3, "io.state").says("k.state is not a regular file");
        assert_eq!(place.names(), ["k.state", "m"]);
    }
}

#[test]
fn a_partial_key_is_of_its_parameters_and_passphrase() {
    let place = Place::new();
    fs::write(place.at("k.partial"), "garbage").unwrap();
    let told = place.refused("keygen -o k", 2, "key.partial");
    told.says("delete k.partial");
    let note = r#"{
  "format": "tetralith-key",
  "version": 1,
  "kind": "xmss-partial",
  "params": "XMSS-SHA2_16_256",
  "public": ""
}
"#;
    let mut partial = b"tetralith xmss partial 1\n".to_vec();
    partial.extend_from_slice(&(note.len() as u32).to_be_bytes());
    partial.extend_from_slice(note.as_bytes());
    partial.extend_from_slice(&[0; 16]);
    fs::write(place.at("k.partial"), &partial).unwrap();
    let told = place.refused("keygen -o k --params XMSS-SHA2_10_256", 2, "key.partial");
    told.says("XMSS-SHA2_16_256");
    assert_eq!(fs::read(place.at("k.partial")).unwrap(), partial);
}

#[test]
fn a_cache_that_is_no_file_costs_time_and_is_told() {
    let place = Place::with_key();
    let cache = place.at("k.nodes.layer0");
    fs::remove_file(&cache).unwrap();
    assert!(Command::new("mkfifo").arg(&cache).status().unwrap().success());
    assert_eq!(place.sign("k", "0"), 0);
    assert!(fs::metadata(&cache).unwrap().is_file());
    fs::remove_file(&cache).unwrap();
    fs::create_dir_all(cache.join("x")).unwrap();
    let told = place.done("sign -k k m -o 1");
    told.says("cache.unwritable");
    told.says("k.nodes.layer0");
}

#[test]
fn standard_streams_follow_one_rule() {
    let place = Place::with_key();
    let told = place.done("pub k -o -");
    assert_eq!(told.bytes.len(), 67);
    told.says("\"public\":\"");
    let told = place.done("sign -k k m -o -");
    assert_eq!(told.bytes[..4], [0; 4]);
    told.says("\"index\":0");
    place.refused("sign -k k -", 2, "input.unnamed");
    place.refused("verify-batch -p k -", 2, "input.unnamed");
    assert!(!place.at("-.sig").exists());
}

#[test]
fn a_batch_tells_each_bad_file() {
    let place = Place::with_key();
    for name in ["a", "b", "c", "d"] {
        fs::write(place.at(name), name).unwrap();
        if name != "d" {
            place.done(&format!("sign -k k {name}"));
        }
    }
    let all = "verify-batch -q -p k a b c d";
    let missing = place.refused(all, 3, "io.file");
    assert_eq!(missing.object["valid"], 3);
    assert_eq!(missing.object["invalid"][0]["file"], "d");
    fs::write(place.at("c.sig"), "short").unwrap();
    let malformed = place.refused(all, 2, "input.malformed");
    assert_eq!(malformed.object["invalid"].as_array().unwrap().len(), 2);
    fs::write(place.at("b"), "changed").unwrap();
    let invalid = place.refused(all, 1, "verification.failed");
    invalid.says("3 of 4 signatures are not valid");
    let codes: Vec<_> = invalid.object["invalid"].as_array().unwrap().iter().collect();
    assert!(codes.iter().any(|bad| bad["file"] == "b" && bad["code"] == "verification.failed"));
    assert!(codes.iter().any(|bad| bad["file"] == "c" && bad["code"] == "input.length"));
}

#[test]
fn refusals_say_what_is_the_matter() {
    let place = Place::with_key();
    place.refused("pub k --format pem", 2, "key.no_identifier").says("--format raw");
    let tall = "keygen -o t --no-passphrase --params QRL-SHAKE_22_256";
    place.refused(tall, 2, "xmss.too_tall");
    place.refused("status none", 3, "io.file").says("keygen -o FILE");
    place.refused("status k --store file:k.state", 2, "store.kind").says("sqlite:PATH");
    assert_eq!(place.run("reserve k 0").exit, 2);
    let low = place.done("reserve k 15");
    low.says("\"percent\":93.8,\"threshold\":80.0");
    place.sign("k", "last");
    place.refused("restore k --resume-at 3", 4, "state.exhausted").says("make a new key");
    fs::remove_file(place.at("k")).unwrap();
    let left = "keygen -o k --params QRL-SHA2_4_256 --no-passphrase";
    place.refused(left, 4, "state.exists").says("the state of another key, which has signed");
    fs::write(place.at("k.state"), "garbage that is no database, and long enough".repeat(9))
        .unwrap();
    // Passphrases: a wrong one names its file, an empty one is no wrong one.
    place.done("keygen -o p --params QRL-SHA2_4_256");
    for (text, code, exit) in [("wrong", "key.passphrase", 2), ("", "key.passphrase_empty", 2)] {
        fs::write(place.at("pass"), text).unwrap();
        let told = place.refused("sign -k p --passphrase-file pass m", exit, code);
        assert!(told.object["hint"].is_string(), "{}", told.object);
    }
    fs::write(place.at("json"), r#"{"format": nothing}"#).unwrap();
    place.refused("status json", 2, "key.malformed").says("no JSON at line 1");
    let damaged = fs::read_to_string(place.at("p")).unwrap().replace("\"salt\"", "\"pepper\"");
    fs::write(place.at("json"), damaged).unwrap();
    place.refused("status json", 2, "key.malformed").says("its secret is neither");
}
