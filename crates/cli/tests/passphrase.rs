//! What the command says of passphrases, the same for every kind of key.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the command with neither a passphrase nor a terminal: its exit code and its object.
fn run(folder: &Path, line: &str) -> (i32, Value) {
    let (exit, object, _) = told(folder, line);
    (exit, object)
}

/// The same, with what it says on standard error.
fn told(folder: &Path, line: &str) -> (i32, Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.arg("--json").args(line.split(' ')).current_dir(folder).stdin(Stdio::null());
    let output = command.env_remove("TETRALITH_PASSPHRASE").output().unwrap();
    let object = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().unwrap(), object, String::from_utf8(output.stderr).unwrap())
}

/// The options that a command's help lists.
fn help(line: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    let output = command.args(line.split(' ')).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_new_key_needs_a_passphrase_and_is_not_called_encrypted() {
    let folder = tempfile::tempdir().unwrap();
    for line in [
        "xmss keygen -o key",
        "vrf keygen --suite draft03-cardano -o key",
        "node init node",
        "cluster --nodes 2 --dir cluster --init-only",
    ] {
        let (exit, object) = run(folder.path(), line);
        assert_eq!((exit, &object["code"]), (2, &"key.passphrase_needed".into()), "{line}");
        let message = object["message"].as_str().unwrap();
        assert!(message.contains("needs a passphrase"), "{line}: {message}");
        assert!(!message.contains("encrypted"), "{line}: {message}");
        let hint = object["hint"].as_str().unwrap();
        assert!(hint.contains("--no-passphrase") && hint.contains("--passphrase-file"), "{hint}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_key_that_is_opened_says_that_it_is_encrypted_and_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("pass"), "right").unwrap();
    std::fs::write(at("wrong"), "wrong").unwrap();
    std::fs::write(at("m"), "message").unwrap();
    let made = [
        "xmss keygen --params QRL-SHA2_4_256 -o x --passphrase-file pass",
        "vrf keygen --suite draft03-cardano -o v --passphrase-file pass",
    ];
    for line in made {
        assert_eq!(run(folder.path(), line).0, 0, "{line}");
    }
    for line in ["xmss sign -k x m", "vrf prove -k v m"] {
        let (exit, object) = run(folder.path(), line);
        assert_eq!((exit, &object["code"]), (2, &"key.passphrase_needed".into()), "{line}");
        assert!(object["message"].as_str().unwrap().contains("is encrypted"), "{object}");
        assert!(!object["hint"].as_str().unwrap().contains("--no-passphrase"), "{object}");
        // A wrong one is no signature that does not verify, which is 1.
        let (exit, object) = run(folder.path(), &format!("{line} --passphrase-file wrong"));
        assert_eq!((exit, &object["code"]), (2, &"key.passphrase".into()), "{line}");
        assert_eq!(run(folder.path(), &format!("{line} --passphrase-file pass")).0, 0, "{line}");
    }
}

#[test]
fn no_passphrase_is_an_option_of_commands_that_make_keys() {
    for line in ["xmss keygen", "xmss import", "vrf keygen", "node init", "cluster"] {
        assert!(help(line).contains("--no-passphrase"), "{line}");
    }
    for line in ["xmss sign", "xmss export", "vrf prove", "vrf leader-schedule", "node run"] {
        let help = help(line);
        assert!(help.contains("--passphrase-file") && !help.contains("--no-passphrase"), "{line}");
    }
    // A key has files beside it: `-`, which names standard output elsewhere, is not offered.
    for line in ["xmss keygen", "xmss import"] {
        assert!(!help(line).contains("standard output"), "{line}");
    }
}

/// Key files, passphrases and seeds that other users can read are told of; those that everyone may
/// change are not used.
#[test]
#[cfg(unix)]
fn secret_files_of_other_users_are_told_and_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("m"), "message").unwrap();
    std::fs::write(at("pass"), "right").unwrap();
    std::fs::write(at("seed"), "07".repeat(32)).unwrap();
    let chmod = |name: &str, mode: u32| {
        std::fs::set_permissions(at(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    chmod("pass", 0o600);
    chmod("seed", 0o600);
    let keys = [
        ("x", "xmss keygen --params QRL-SHA2_4_256 -o x --passphrase-file pass"),
        ("v", "vrf keygen --suite draft03-cardano -o v --seed-file seed --passphrase-file pass"),
    ];
    for (name, line) in keys {
        let (exit, object, events) = told(folder.path(), line);
        assert_eq!((exit, events.as_str()), (0, ""), "{line}: {object}");
        assert_eq!(std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let uses = [
        ("x", "xmss sign -k x m --force --passphrase-file pass"),
        ("pass", "xmss sign -k x m --force --passphrase-file pass"),
        ("v", "vrf prove -k v m --passphrase-file pass"),
        (
            "seed",
            "vrf keygen --suite draft03-cardano --seed-file seed -o w --force --no-passphrase",
        ),
        ("x", "xmss export x --copy --force -o out --passphrase-file pass"),
    ];
    for (name, line) in uses {
        for (mode, exposed) in [(0o600, false), (0o400, false), (0o644, true), (0o660, true)] {
            chmod(name, mode);
            let (exit, object, events) = told(folder.path(), line);
            assert_eq!(exit, 0, "{line}: {object}");
            let warned = events.contains(&format!("run chmod 600 {name}"));
            assert_eq!(warned, exposed, "{line} {mode:o}: {events}");
        }
        for mode in [0o666, 0o602] {
            chmod(name, mode);
            let (exit, object, _) = told(folder.path(), line);
            assert_eq!((exit, &object["code"]), (3, &"file.exposed".into()), "{line} {mode:o}");
        }
        chmod(name, 0o600);
    }
}

/// The files that belong to a key, the passphrase that opens it, and the index that it signs with next.
#[cfg(unix)]
fn next_index(folder: &Path, pass: &str) -> Option<u64> {
    let line = format!("xmss sign -k k m --force --passphrase-file {pass}");
    let (exit, object) = run(folder, &line);
    match exit {
        0 => object["index"].as_u64(),
        _ => {
            assert_eq!(object["code"], "key.passphrase", "{object}");
            None
        }
    }
}

#[cfg(unix)]
fn with_key() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("m", "message"), ("old", "old one"), ("new", "new one")] {
        std::fs::write(folder.path().join(name), text).unwrap();
        let mode = PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(folder.path().join(name), mode).unwrap();
    }
    let line = "xmss keygen --params QRL-SHA2_6_256 -o k --passphrase-file old";
    assert_eq!(run(folder.path(), line).0, 0);
    folder
}

#[test]
#[cfg(unix)]
fn a_passphrase_is_changed_and_the_key_stays() {
    use std::os::unix::fs::PermissionsExt;
    let folder = with_key();
    let at = |name: &str| folder.path().join(name);
    let change = |more: &str| run(folder.path(), &format!("xmss passphrase k {more}"));
    assert_eq!(next_index(folder.path(), "old"), Some(0));
    // What is refused changes nothing.
    let before = std::fs::read(at("k")).unwrap();
    for (more, code) in [
        ("--passphrase-file new --new-passphrase-file old", "key.passphrase"),
        ("--passphrase-file old", "key.passphrase_needed"),
        ("--passphrase-file old --new-passphrase-file m2", "io.file"),
    ] {
        assert_eq!(change(more).1["code"], code, "{more}");
        assert_eq!(std::fs::read(at("k")).unwrap(), before, "{more}");
    }
    std::fs::hard_link(at("k"), at("second")).unwrap();
    let both = "--passphrase-file old --new-passphrase-file new";
    assert_eq!(change(both).1["code"], "key.linked");
    std::fs::remove_file(at("second")).unwrap();
    // By a symbolic link, which stays one.
    std::os::unix::fs::symlink("k", at("link")).unwrap();
    let line = format!("xmss passphrase link {both}");
    assert_eq!(
        run(folder.path(), &line),
        (0, serde_json::json!({ "ok": true, "key": "link", "encrypted": true }))
    );
    assert!(std::fs::symlink_metadata(at("link")).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(at("k")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(next_index(folder.path(), "old"), None);
    assert_eq!(next_index(folder.path(), "new"), Some(1));
    // No passphrase at all, and one again.
    let (exit, object) = change("--passphrase-file new --no-passphrase");
    assert_eq!((exit, &object["encrypted"]), (0, &false.into()));
    assert!(std::fs::read_to_string(at("k")).unwrap().contains("plain"));
    assert_eq!(change("--new-passphrase-file old").0, 0);
    assert_eq!(next_index(folder.path(), "old"), Some(2));
}

/// Killed at any time, the file opens with the old passphrase or with the new one, and no index is used
/// twice.
#[test]
#[cfg(target_os = "linux")]
fn a_change_that_is_killed_leaves_the_old_file_or_the_new() {
    let folder = with_key();
    let (mut now, mut other, mut changed) = ("old", "new", 0);
    for round in 0..16 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
        command.args(["--json", "xmss", "passphrase", "k", "--passphrase-file", now]);
        command.args(["--new-passphrase-file", other]).current_dir(folder.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Some end before they begin, some after they are done.
        std::thread::sleep(std::time::Duration::from_millis(60 * round));
        let _ = child.kill();
        child.wait().unwrap();
        let found = [now, other].map(|pass| next_index(folder.path(), pass));
        match found {
            [Some(index), None] => assert_eq!(index, round),
            [None, Some(index)] => {
                assert_eq!(index, round);
                (now, other) = (other, now);
                changed += 1;
            }
            both => panic!("round {round}: {both:?}"),
        }
    }
    println!("{changed} of 16 were done");
}
