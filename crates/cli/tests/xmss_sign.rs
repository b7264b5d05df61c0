//! `tetralith xmss sign` and `verify` on long messages, on many files, and on files that change.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod folder;

use folder::names;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder with a key of 16 signatures, `k`, and files to sign, `a` to `e`.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        for name in ["a", "b", "c", "d", "e"] {
            fs::write(place.at(name), name.repeat(9)).unwrap();
        }
        place.done("keygen -o k --params QRL-SHA2_4_256 --no-passphrase");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
        command.args(["--json", "xmss"]).args(line.split(' ')).current_dir(self.0.path());
        command.env_remove("TETRALITH_PASSPHRASE").env_remove("TETRALITH_STORE");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, line: &str) -> (i32, Value, String) {
        told(self.command(line).output().unwrap())
    }

    fn done(&self, line: &str) -> Value {
        let (exit, object, events) = self.run(line);
        assert_eq!(exit, 0, "{line}: {object} {events}");
        object
    }

    fn refused(&self, line: &str, exit: i32, code: &str) -> Value {
        let (found, object, events) = self.run(line);
        let found = (found, object["code"].as_str().unwrap_or_default());
        assert_eq!(found, (exit, code), "{line}: {object} {events}");
        object
    }

    /// How many indices are used, and how many lost.
    fn spent(&self) -> (u64, u64) {
        let status = self.done("status k");
        (status["used"].as_u64().unwrap(), status["lost"].as_u64().unwrap())
    }
}

fn told(output: Output) -> (i32, Value, String) {
    let object = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let events = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), object, events)
}

/// The most memory that a command had, in KiB, while it read a message from a pipe.
#[cfg(target_os = "linux")]
fn peak(mut command: Command, message: impl Fn(&mut dyn Write)) -> (u64, Output) {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let path = format!("/proc/{}/status", child.id());
    message(&mut input);
    // It has read all but what the pipe holds.
    let text = fs::read_to_string(path).unwrap();
    let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak = peak.trim().trim_end_matches(" kB").parse().unwrap();
    drop(input);
    (peak, child.wait_with_output().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn long_messages_need_no_more_memory_than_short_ones() {
    let place = Place::new();
    let part = vec![7; 1 << 20];
    let of = |count: usize| {
        let part = &part;
        move |input: &mut dyn Write| (0..count).for_each(|_| input.write_all(part).unwrap())
    };
    for (short, long) in [
        ("sign -k k - -o short.sig", "sign -k k - -o long.sig"),
        ("verify -p k -s short.sig -", "verify -p k -s long.sig -"),
    ] {
        let [short, long] = [(short, 1), (long, 64)].map(|(line, count)| {
            let (peak, output) = peak(place.command(line), of(count));
            assert!(output.status.success(), "{line}: {output:?}");
            peak
        });
        assert!(long < short + 4096, "{short} KiB for 1 MiB, {long} KiB for 64 MiB");
    }
}

#[test]
fn messages_have_no_bound() {
    let place = Place::new();
    // A gibibyte and one byte, of which the disk holds nothing. It was the bound.
    let long = File::create(place.at("long")).unwrap();
    long.set_len((1 << 30) + 1).unwrap();
    place.done("sign -k k long");
    place.done("verify-batch -p k long");
    long.set_len((1 << 30) + 2).unwrap();
    place.refused("verify -p k -s long.sig long", 1, "verification.failed");
}

#[test]
fn many_files_have_one_lease() {
    let place = Place::new();
    let done = place.done("sign -k k a b c d e");
    assert_eq!((&done["left"], done["signed"].as_array().unwrap().len()), (&11.into(), 5));
    for (i, name) in ["a", "b", "c", "d", "e"].into_iter().enumerate() {
        let signed = &done["signed"][i];
        assert_eq!((&signed["file"], &signed["index"]), (&name.into(), &i.into()));
        assert_eq!(signed["signature"], format!("{name}.sig"));
        assert_eq!(signed["fencing"], done["signed"][0]["fencing"]);
    }
    place.done("verify-batch -p k a b c d e");
    assert_eq!(place.spent(), (5, 0));
    // As text: a line for each, and one for all.
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.args("xmss sign -k k --force a b".split(' ')).current_dir(place.0.path());
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "a.sig: index 5\nb.sig: index 6\n2 signatures, 9 left\n");
}

#[test]
fn what_cannot_be_signed_is_found_before_an_index_is_spent() {
    let place = Place::new();
    fs::write(place.at("d.sig"), "another").unwrap();
    fs::create_dir(place.at("folder")).unwrap();
    for (line, exit, code) in [
        ("sign -k k a b missing d", 3, "io.file"),
        ("sign -k k a b folder", 3, "io.file"),
        ("sign -k k folder", 3, "io.file"),
        ("sign -k k a b d", 3, "io.exists"),
        ("sign -k k a b a", 2, "output.guarded"),
        ("sign -k k a b ./a --force", 2, "output.guarded"),
        ("sign -k k d d.sig --force", 2, "output.guarded"),
        ("sign -k k a b -o x", 2, "output.single"),
        ("sign -k k a - b", 2, "input.unnamed"),
        ("sign -k k -", 2, "input.unnamed"),
        ("verify -p k -s - -", 2, "input.twice"),
    ] {
        let before = names(place.0.path());
        place.refused(line, exit, code);
        assert_eq!(names(place.0.path()), before, "{line}");
    }
    assert_eq!(place.spent(), (0, 0));
    // More files than indices are left.
    let many = (0..17).map(|i| format!("f{i}")).collect::<Vec<_>>();
    many.iter().for_each(|name| fs::write(place.at(name), "text").unwrap());
    place.refused(&format!("sign -k k {}", many.join(" ")), 4, "state.not_enough");
    assert_eq!(place.spent(), (0, 0));
    assert!(!place.at("f0.sig").exists());
    place.done(&format!("sign -k k {}", many[..16].join(" ")));
    place.refused("sign -k k a b", 4, "state.exhausted");
}

/// A file that changes while it is read has no signature; the others have theirs.
#[test]
fn a_file_that_changes_is_not_signed_and_the_others_are() {
    let place = Place::new();
    // So long that it is still read when it is written to.
    let long = File::options().create(true).truncate(true).write(true).open(place.at("c")).unwrap();
    long.set_len(1 << 30).unwrap();
    let child = place.command("sign -k k a b c d e").spawn().unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !place.at("b.sig").exists() {
        assert!(std::time::Instant::now() < end, "b is not signed");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    std::os::unix::fs::FileExt::write_all_at(&long, b"changed", 0).unwrap();
    let (exit, object, events) = told(child.wait_with_output().unwrap());
    assert_eq!((exit, &object["code"]), (3, &"input.changed".into()), "{object} {events}");
    assert_eq!(object["signed"].as_array().unwrap().len(), 4, "{object}");
    assert_eq!(object["failed"][0]["file"], "c");
    assert!(events.contains("c changed while it was read"), "{events}");
    let hint = object["hint"].as_str().unwrap();
    assert!(hint.contains("index 2 is spent"), "{hint}");
    assert!(!place.at("c.sig").exists() && !place.at(".c.sig.new").exists());
    place.done("verify-batch -p k a b d e");
    assert_eq!(place.spent(), (5, 0));
}

/// Without room for a signature no index is spent on it.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_spends_no_index() {
    let place = Place::new();
    // A bound on the size of files stands for a disk that is full: a signature of this set is longer
    // than 64 KiB, and everything else is shorter.
    place.done("keygen -o t --params XMSSMT-SHA2_60/12_512 --no-passphrase");
    let line = "sign -k t a -o s";
    let program = env!("CARGO_BIN_EXE_tetralith");
    let bounded = format!("ulimit -f 64; trap '' XFSZ; exec {program} --json xmss {line}");
    let mut command = Command::new("bash");
    command.args(["-c", &bounded]).current_dir(place.0.path()).env_remove("TETRALITH_STORE");
    let (exit, object, events) = told(command.output().unwrap());
    assert_eq!(exit, 3, "{object} {events}");
    assert_eq!(object["code"], "io.file", "{object}");
    assert!(!place.at("s").exists() && !place.at(".s.new").exists());
    assert_eq!(place.done("status t")["next"], 0, "{object}");
    assert_eq!(place.done(line)["index"], 0);
}
