//! `tetralith xmss keygen --force`, killed at any moment: no index is used twice, and another run goes on.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tetralith_xmss::PublicKey;
use tetralith_xmss::state::key_id;

const KEYGEN: [&str; 6] =
    ["keygen", "-o", "key", "--no-passphrase", "--force", "--params=XMSS-SHA2_10_192"];

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.current_dir(folder).args(["--json", "-q", "xmss"]).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let Output { status, stdout, .. } = command(folder, arguments).output().unwrap();
    (status.code(), serde_json::from_slice(&stdout).unwrap_or_default())
}

/// The public key in the key file, as text.
fn public(folder: &Path) -> String {
    let text = std::fs::read(folder.join("key")).unwrap();
    let file: Value = serde_json::from_slice(&text).unwrap();
    file["public"].as_str().unwrap().to_owned()
}

fn sign(folder: &Path) -> (Option<i32>, Value) {
    std::fs::write(folder.join("file"), "text").unwrap();
    run(folder, &["sign", "-k", "key", "--force", "file"])
}

#[test]
fn killed_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(run(folder, &KEYGEN).0, Some(0));
    let mut used = BTreeSet::new();
    for step in 0..40 {
        let mut child = command(folder, &KEYGEN).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(step * 3));
        let _ = child.kill();
        child.wait().unwrap();
        let (code, answer) = sign(folder);
        match code {
            Some(0) => assert!(used.insert((public(folder), answer["index"].as_u64().unwrap()))),
            // The state of the key that was to come, or none.
            _ => assert!(
                code == Some(4)
                    && ["state.other_key", "state.missing"]
                        .contains(&answer["code"].as_str().unwrap()),
                "{answer}"
            ),
        }
    }
    let (code, answer) = run(folder, &KEYGEN);
    assert_eq!(code, Some(0), "{answer}");
    let (code, answer) = sign(folder);
    assert_eq!((code, answer["index"].as_u64()), (Some(0), Some(0)), "{answer}");
    assert!(!folder.join("key.replacing").exists());
}

#[test]
fn what_was_cut_short_goes_on_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(run(folder, &KEYGEN).0, Some(0));
    let old = std::fs::read(folder.join("key")).unwrap();
    let (code, made) = run(folder, &KEYGEN);
    assert_eq!(code, Some(0), "{made}");
    // As a run leaves it that is killed before it writes its key.
    std::fs::write(folder.join("key"), &old).unwrap();
    let refused = |arguments: &[&str]| {
        let (code, answer) = run(folder, arguments);
        (code, answer["code"].as_str().unwrap_or_default().to_owned())
    };
    let other = || (Some(4), "state.other_key".to_owned());
    assert_eq!(
        (sign(folder).0, sign(folder).1["code"].as_str()),
        (Some(4), Some("state.other_key"))
    );
    // Without a word of what it is, the state could be anybody's.
    assert_eq!(refused(&KEYGEN), other());
    let bytes = hex::decode(made["public"].as_str().unwrap()).unwrap();
    let public = PublicKey::from_bytes(tetralith_xmss::Scheme::Xmss, &bytes).unwrap();
    let announce = |id: [u8; 32]| {
        std::fs::write(folder.join("key.replacing"), hex::encode(id)).unwrap();
    };
    announce([7; 32]);
    assert_eq!(refused(&KEYGEN), other());
    // A state with which something was signed stays, whatever is announced.
    let state = std::fs::read(folder.join("key.state")).unwrap();
    announce(key_id(&public));
    assert_eq!(run(folder, &KEYGEN).0, Some(0));
    assert_eq!(sign(folder).1["index"], 0);
    assert_ne!(std::fs::read(folder.join("key.state")).unwrap(), state);
    let touched: Value = run(folder, &["status", "key"]).1;
    assert_eq!(touched["used"], 1, "{touched}");
    let file: Value = serde_json::from_slice(&std::fs::read(folder.join("key")).unwrap()).unwrap();
    let bytes = file["public"].as_str().unwrap().to_owned();
    let bytes = hex::decode(&bytes).unwrap();
    let touched = PublicKey::from_bytes(tetralith_xmss::Scheme::Xmss, &bytes).unwrap();
    std::fs::write(folder.join("key"), &old).unwrap();
    announce(key_id(&touched));
    assert_eq!(refused(&KEYGEN), other());
}
