//! The state of an XMSS key at the command: its stores, its status, and what it refuses.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../../xmss/tests/servers/mod.rs"]
mod servers;

use serde_json::Value;
use servers::{Etcd, Postgres};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use tetralith_xmss::qrl::public_key_from_bytes;
use tetralith_xmss::state::{
    EtcdStore, FileStore, Holder, PostgresStore, Reservations, StateStore, create, key_id,
};
use tetralith_xmss::{PublicKey, Scheme};

/// Runs `tetralith xmss` in a folder, and returns its exit code and its object.
fn xmss(folder: &Path, store: Option<&str>, arguments: &[&str]) -> (i32, Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.current_dir(folder).args(["--json", "xmss"]).args(arguments);
    command.env("TETRALITH_PASSPHRASE", "correct horse battery staple");
    match store {
        Some(store) => command.env("TETRALITH_STORE", store),
        None => command.env_remove("TETRALITH_STORE"),
    };
    let out = command.output().unwrap();
    let text = [&out.stdout[..], &out.stderr[..]].concat();
    let text = String::from_utf8(text).unwrap();
    let object = serde_json::from_slice(&out.stdout).unwrap_or(Value::Null);
    (out.status.code().unwrap(), object, text)
}

fn refused(answer: &(i32, Value, String), exit: i32, code: &str) {
    assert_eq!((answer.0, answer.1["code"].as_str()), (exit, Some(code)), "{}", answer.2);
    assert!(answer.1["hint"].as_str().is_some(), "{}", answer.2);
}

/// Makes a key of 16 signatures; its passphrase is left out, for speed.
fn keygen(folder: &Path, store: Option<&str>) -> PublicKey {
    std::fs::write(folder.join("m"), "message").unwrap();
    let small = ["keygen", "-o", "k", "--params", "QRL-SHA2_4_256", "--no-passphrase"];
    let made = xmss(folder, store, &small);
    assert_eq!(made.0, 0, "{}", made.2);
    public_key_from_bytes(&hex::decode(made.1["public"].as_str().unwrap()).unwrap()).unwrap()
}

fn sign(folder: &Path, store: Option<&str>, output: &str) -> (i32, Value, String) {
    xmss(folder, store, &["sign", "-k", "k", "m", "-o", output])
}

/// One key, two folders with its file, one store.
fn two_folders_share(url: &str, open: impl Fn(&PublicKey) -> Box<dyn StateStore>) {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (here, there) = (here.path(), there.path());
    let public = keygen(here, Some(url));
    for name in ["k", "m"] {
        std::fs::copy(here.join(name), there.join(name)).unwrap();
    }
    let mut indices = BTreeSet::new();
    std::thread::scope(|scope| {
        let signing = [here, there].map(|folder| {
            scope.spawn(move || {
                let sign = |i| sign(folder, Some(url), &format!("{i}.sig"));
                (0..3).map(sign).collect::<Vec<_>>()
            })
        });
        for answer in signing.into_iter().flat_map(|thread| thread.join().unwrap()) {
            assert_eq!(answer.0, 0, "{}", answer.2);
            assert!(answer.1["fencing"].as_u64().unwrap() > 1, "{}", answer.2);
            assert!(indices.insert(answer.1["index"].as_u64().unwrap()), "{}", answer.2);
        }
    });
    assert_eq!(indices, (0..6).collect());
    // A signer that is at work, or was killed, is shown with its lease.
    let holder = Holder { pid: 77, host: "elsewhere".into() };
    let mut other = Reservations::open(open(&public), &public, holder).unwrap();
    other.reserve(3, 86400).unwrap();
    drop(other);
    let handed = xmss(there, Some(url), &["reserve", "k", "4"]);
    assert_eq!((&handed.1["first"], &handed.1["last"]), (&9.into(), &12.into()), "{}", handed.2);
    let status = xmss(here, Some(url), &["status", "k"]);
    let count = |name: &str| status.1[name].as_u64().unwrap();
    assert_eq!((count("used"), count("left"), count("leased")), (6, 3, 3 + 4), "{}", status.2);
    let lease = &status.1["leases"][0];
    assert_eq!((&lease["first"], &lease["last"]), (&6.into(), &8.into()));
    assert_eq!(lease["holder"], "process 77 on elsewhere");
    assert!(status.2.contains("81.2 % of the key's indices are spent"), "{}", status.2);
    // A second key has a state of its own in the same store.
    let x = ["keygen", "-o", "x", "--no-passphrase", "--params", "QRL-SHA2_4_256", "--force"];
    let second = xmss(here, Some(url), &x);
    assert_eq!(second.0, 0, "{}", second.2);
    for index in 13..16 {
        assert_eq!(sign(here, Some(url), "last.sig").1["index"], index);
        std::fs::remove_file(here.join("last.sig")).unwrap();
    }
    refused(&sign(here, Some(url), "last.sig"), 4, "state.exhausted");
}

#[test]
fn postgres_store() {
    let server = Postgres::start();
    let url = server.url("postgres");
    two_folders_share(&url, |public| Box::new(PostgresStore::open(&url, key_id(public)).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    let public = keygen(folder.path(), Some(&url));
    assert_eq!(sign(folder.path(), Some(&url), "0.sig").0, 0);
    assert_eq!(sign(folder.path(), Some(&url), "1.sig").0, 0);
    // The state is lost with the database.
    server.sql("postgres", "DROP TABLE tetralith_xmss_state").unwrap();
    refused(&sign(folder.path(), Some(&url), "2.sig"), 4, "state.missing");
    let back = xmss(folder.path(), Some(&url), &["restore", "k", "--resume-at", "1"]);
    refused(&back, 4, "state.backward");
    let forward =
        xmss(folder.path(), Some(&url), &["restore", "k", "--resume-at", "2", "--until", "3"]);
    assert_eq!(forward.0, 0, "{}", forward.2);
    assert_eq!(sign(folder.path(), Some(&url), "2.sig").1["index"], 2);
    refused(&sign(folder.path(), Some(&url), "3.sig"), 4, "state.ended");
    let record = PostgresStore::peek(&url, key_id(&public)).unwrap();
    assert!(record.epoch > 4, "fencing numbers go on: {}", record.epoch);
    // A user without rights is told so, and not that the server is down.
    server.sql("postgres", "CREATE ROLE guest LOGIN").unwrap();
    let guest = url.replace("tester", "guest");
    assert_ne!(guest, url);
    let denied = sign(folder.path(), Some(&guest), "4.sig");
    refused(&denied, 3, "state.denied");
    assert!(denied.1["hint"].as_str().unwrap().contains("rights"), "{}", denied.2);
    let absent = sign(folder.path(), Some(&url.replace("tester", "nobody")), "4.sig");
    refused(&absent, 3, "state.denied");
    // A server that does not answer, and one that is asked for TLS.
    drop(server);
    let gone = sign(folder.path(), Some("postgres://me:secret@127.0.0.1:1/db"), "4.sig");
    assert_eq!((gone.0, gone.1["code"].as_str()), (3, Some("io.state")), "{}", gone.2);
    assert!(!gone.2.contains("secret"), "{}", gone.2);
    let tls = "postgres://me:secret@127.0.0.1/db?sslmode=require";
    let argument = xmss(folder.path(), None, &["status", "k", "--store", tls]);
    refused(&argument, 2, "store.password");
    let tls = xmss(folder.path(), Some(tls), &["status", "k"]);
    refused(&tls, 2, "store.url");
    assert!(tls.2.contains("TLS") && !tls.2.contains("secret"), "{}", tls.2);
}

/// A server that refuses is not one that is down, and the hint says so.
#[test]
fn a_missing_right_is_told_as_one() {
    let server = Postgres::start();
    let sql = |text: &str| server.sql("postgres", text).unwrap();
    sql("CREATE ROLE poor LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC");
    let (rich, folder) = (server.url("postgres"), tempfile::tempdir().unwrap());
    assert_eq!(rich.matches("tester").count(), 1, "{rich}");
    let denied = |name: &str, arguments: &[&str]| {
        let url = rich.replace("tester", name);
        let answer = xmss(folder.path(), Some(&url), arguments);
        refused(&answer, 3, "state.denied");
        let hint = answer.1["hint"].as_str().unwrap();
        assert!(hint.contains("rights") && !hint.contains("running"), "{hint}");
    };
    let made = ["keygen", "-o", "x", "--params", "QRL-SHA2_4_256", "--no-passphrase"];
    denied("poor", &made);
    denied("nobody", &made);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    keygen(folder.path(), Some(&rich));
    let sign = ["sign", "-k", "k", "m"];
    sql("GRANT USAGE ON SCHEMA public TO poor");
    denied("poor", &sign);
    sql("GRANT SELECT ON tetralith_xmss_state TO poor");
    denied("poor", &sign);
    sql("GRANT INSERT, UPDATE ON tetralith_xmss_state TO poor");
    sql("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
    denied("poor", &sign);
    sql("GRANT EXECUTE ON FUNCTION pg_control_system() TO poor");
    let poor = rich.replace("tester", "poor");
    let signed = xmss(folder.path(), Some(&poor), &sign);
    assert_eq!((signed.0, signed.1["index"].as_u64()), (0, Some(0)), "{}", signed.2);
}

#[test]
fn etcd_store() {
    let server = Etcd::start();
    let url = server.url();
    two_folders_share(&url, |public| Box::new(EtcdStore::open(&url, key_id(public)).unwrap()));
    let folder = tempfile::tempdir().unwrap();
    keygen(folder.path(), Some(&url));
    drop(server);
    let gone = sign(folder.path(), Some("etcd://me:secret@127.0.0.1:1"), "0.sig");
    assert_eq!((gone.0, gone.1["code"].as_str()), (3, Some("io.state")), "{}", gone.2);
    assert!(!gone.2.contains("secret"), "{}", gone.2);
}

#[test]
fn another_keys_state_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    keygen(folder, None);
    let make = |name: &str, store: &str| {
        let params = ["--params", "QRL-SHA2_4_256", "--no-passphrase", "--force", "--store", store];
        xmss(folder, None, &[&["keygen", "-o", name][..], &params].concat())
    };
    let state = std::fs::read(folder.join("k.state")).unwrap();
    // The other key's state is named by mistake; neither is harmed, and no key is made.
    refused(&make("other", "sqlite:k.state"), 4, "state.other_key");
    assert!(!folder.join("other").exists());
    assert_eq!(std::fs::read(folder.join("k.state")).unwrap(), state);
    assert_eq!(sign(folder, None, "0.sig").0, 0);
    // A key that is replaced leaves its state to its successor.
    let replaced = make("k", "sqlite:k.state");
    assert_eq!(replaced.0, 0, "{}", replaced.2);
    assert_eq!(sign(folder, None, "1.sig").1["index"], 0);
}

#[test]
fn status_tells_the_rate_and_warns() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let made = xmss(folder, None, &["keygen", "-o", "k", "--no-passphrase"]);
    // The state that was made with the key gives way to one that is ten days old.
    std::fs::remove_file(folder.join("k.seen")).unwrap();
    let raw = hex::decode(made.1["public"].as_str().unwrap()).unwrap();
    let public = PublicKey::from_bytes(Scheme::Xmss, &raw).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let url = format!("file:{}", folder.join("s").display());
    let holder = Holder::new("test");
    let mut store = FileStore::open(&folder.join("s"), &holder).unwrap();
    create(&mut store, &public, 0, [7; 16], now - 10 * 86400).unwrap();
    let spend = |store, count| {
        let mut state = Reservations::open(store, &public, holder.clone()).unwrap();
        for _ in 0..count {
            let _ = state.next(1, now).unwrap();
        }
        state.close(now).unwrap()
    };
    spend(store, 818);
    let status = || xmss(folder, Some(&url), &["status", "k"]);
    let told = status();
    assert!(!told.2.contains("warning"), "{}", told.2);
    let rate = told.1["per_day"].as_f64().unwrap();
    assert!((81.0..82.0).contains(&rate), "{}", told.2);
    let days = (told.1["exhausted_at"].as_u64().unwrap() - now) as f64 / 86400.0;
    assert!((206.0 / rate - days).abs() < 0.01, "{}", told.2);
    for (count, warning) in [(2, "80.1 %"), (153, "95.0 %")] {
        spend(FileStore::open(&folder.join("s"), &holder).unwrap(), count);
        let told = status();
        assert!(told.2.contains("warning") == told.2.contains(warning), "{}", told.2);
        assert!(told.2.contains(warning), "{}", told.2);
    }
    let plain = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .current_dir(folder)
        .args(["xmss", "status", "k", "--store", &url])
        .output()
        .unwrap();
    let plain = String::from_utf8(plain.stdout).unwrap();
    assert!(plain.contains("a day, exhausted on 20"), "{plain}");
}
