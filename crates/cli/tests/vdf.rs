//! `tetralith vdf` as a process: stopped, damaged and resumed.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn eval(checkpoint: &Path, iterations: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.args(["--json", "vdf", "eval", "--modulus", MODULUS, "-T", iterations, "5"]);
    command.arg("--checkpoint").arg(checkpoint).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The product of two primes of 64 bits: small, for speed.
const MODULUS: &str = "cfa92a1c6559dd55bb75027437309ad3";

fn field(output: &Output, name: &str) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let object: serde_json::Value = serde_json::from_str(&text).expect("one object");
    object[name].clone()
}

fn kill(child: &Child, signal: &str) {
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
}

/// Starts an evaluation that would take hours and stops it with SIGTERM once a little is done.
fn stopped(path: &Path) -> Output {
    let child = eval(path, ENDLESS).spawn().expect("the command starts");
    std::thread::sleep(Duration::from_millis(700));
    kill(&child, "-TERM");
    child.wait_with_output().expect("the command ends")
}

const ENDLESS: &str = "4611686018427387904";

#[test]
fn sigterm_saves_and_the_next_run_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    let start = Instant::now();
    let first = stopped(&path);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(first.status.code(), Some(3));
    assert_eq!(field(&first, "code"), "interrupted");
    let second = stopped(&path);
    let events = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(events.contains("checkpoint.resumed"), "{events}");

    // A flipped bit: the previous checkpoint is taken, and the run says so.
    let mut bytes = std::fs::read(&path).expect("a checkpoint");
    bytes[40] ^= 1;
    std::fs::write(&path, bytes).expect("written");
    let third = stopped(&path);
    let events = String::from_utf8_lossy(&third.stderr).into_owned();
    assert!(events.contains("checkpoint.damaged") && events.contains("checkpoint.resumed"));

    // Another run is refused and the file stays.
    let before = std::fs::read(&path).expect("a checkpoint");
    let other = eval(&path, "7").output().expect("the command runs");
    assert_eq!(other.status.code(), Some(4));
    assert_eq!(field(&other, "code"), "state.checkpoint");
    assert_eq!(std::fs::read(&path).expect("a checkpoint"), before);
}

/// SIGHUP is as SIGTERM, also where nobody can be told any more, and where it comes twice.
#[test]
fn a_closed_terminal_saves_and_the_next_run_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let tetralith = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
        command.args(["vdf"]).args(arguments).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    std::fs::write(file("plain"), "text").expect("written");
    let sealed = tetralith(&["seal", "-T", ENDLESS, "plain", "-o", "sealed"]).output();
    assert!(sealed.expect("runs").status.success());
    let runs: [(&str, &[&str]); 3] = [
        ("eval", &["eval", "-N", MODULUS, "-T", ENDLESS, "5"]),
        ("prove", &["prove", "-N", MODULUS, "-T", ENDLESS, "5", "-o", "proof"]),
        ("open", &["open", "sealed", "-o", "opened"]),
    ];
    for (name, arguments) in runs {
        let mut run = tetralith(arguments);
        let mut child = run.args(["--checkpoint", name]).spawn().expect("the command starts");
        let said = read_to(&mut child, "progress");
        drop((child.stdout.take(), said));
        kill(&child, "-HUP");
        kill(&child, "-HUP");
        assert_eq!(child.wait().expect("ends").code(), Some(3), "{name}");
        let mut child = run.spawn().expect("the command starts");
        let mut said = read_to(&mut child, "going on after");
        kill(&child, "-HUP");
        let mut rest = String::new();
        said.read_to_string(&mut rest).expect("its last words");
        assert!(rest.contains("error: stopped by a signal"), "{name}: {rest}");
        assert_eq!(child.wait().expect("ends").code(), Some(3), "{name}");
    }
}

/// Waits until a line of the child's standard error has this; gives what follows.
fn read_to(child: &mut Child, word: &str) -> impl Read + use<> {
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains(word) {
        line.clear();
        let read = lines.read_line(&mut line).expect("a line");
        assert!(read > 0, "it ended without {word}");
    }
    lines
}

/// What was started so that it outlives its terminal does.
#[cfg(target_os = "linux")]
#[test]
fn an_ignored_sighup_stays_ignored() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new("sh")
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tetralith")])
        .args(["vdf", "eval", "-N", MODULUS, "-T", ENDLESS, "5", "--checkpoint", "run"])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .expect("the shell starts");
    std::thread::sleep(Duration::from_millis(700));
    kill(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().expect("a child").is_none());
    kill(&child, "-TERM");
    assert_eq!(child.wait().expect("ends").code(), Some(3));
}

/// An option that would do nothing is refused, with what to do instead.
#[test]
fn options_out_of_place() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plain"), "text").expect("written");
    let told = |arguments: &str| {
        Command::new(env!("CARGO_BIN_EXE_tetralith"))
            .args(["--json", "vdf"])
            .args(arguments.split(' '))
            .current_dir(folder.path())
            .output()
            .expect("runs")
    };
    let prove = format!("prove -N {MODULUS} -T 100 5 -o");
    for (arguments, message) in [
        (format!("{prove} a --segments 4"), "only an n-wesolowski proof has --segments"),
        (format!("{prove} a --proof pietrzak --segments 4"), "only an n-wesolowski proof"),
        ("seal plain -o a -T 5 --rate 7".into(), "--rate says what --delay counts by"),
        ("seal plain -o a -t 5 --rate measured".into(), "--rate says what --delay counts by"),
    ] {
        let refused = told(&arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments}");
        let said = field(&refused, "message");
        assert!(said.as_str().is_some_and(|said| said.starts_with(message)), "{said}");
        assert!(field(&refused, "hint").is_string(), "{arguments}");
        assert!(!folder.path().join("a").exists());
    }
    assert!(told(&format!("{prove} b --proof n-wesolowski --segments 3")).status.success());
    let sealed = told("seal plain -o c --delay 2s --rate 7");
    assert_eq!(field(&sealed, "iterations"), 14);
}

/// Of damaged checkpoints those are named that are there.
#[test]
fn a_damaged_checkpoint_without_a_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let (run, copy) = (folder.path().join("run"), folder.path().join("run.previous"));
    let whole = {
        assert!(eval(&run, "100").output().expect("runs").status.success());
        std::fs::read(&run).expect("a checkpoint")
    };
    let mut damaged = whole.clone();
    damaged[40] ^= 1;
    let told = |newer: Option<&[u8]>, older: Option<&[u8]>| {
        for (path, bytes) in [(&run, newer), (&copy, older)] {
            let _ = std::fs::remove_file(path);
            bytes.into_iter().for_each(|bytes| std::fs::write(path, bytes).expect("written"));
        }
        let output = eval(&run, "100").output().expect("runs");
        let text = |name: &str| field(&output, name).as_str().unwrap_or_default().to_owned();
        (output.status.code(), text("message"), text("hint"))
    };
    let (name, other) = (format!("{}: ", run.display()), copy.display().to_string());
    let (code, message, hint) = told(Some(&damaged), None);
    assert!(code == Some(3) && message.starts_with(&name), "{message}");
    assert!(hint.contains("delete it") && !hint.contains("previous"), "{hint}");
    let (code, message, hint) = told(Some(&damaged), Some(&damaged));
    assert!(code == Some(3) && message.starts_with(&name), "{message}");
    assert!(hint.contains(&other) && hint.contains("delete both"), "{hint}");
    let (code, message, hint) = told(None, Some(&damaged));
    assert!(code == Some(3) && message.starts_with(&other), "{message}");
    assert!(hint.contains("delete"), "{hint}");
    // One that is cut off is damaged too, and a file of something else is named.
    let (code, message, _) = told(Some(&whole[..100]), None);
    assert!(code == Some(2) && message.starts_with(&name), "{message}");
    let (code, message, hint) = told(Some(b"a letter, and no checkpoint"), None);
    assert!(code == Some(2) && message.starts_with(&name), "{message}");
    assert!(hint.contains("another") && !hint.contains("delete"), "{hint}");
    assert_eq!(told(Some(&damaged), Some(&whole)).0, Some(0));
}

#[test]
fn a_full_disk_keeps_the_checkpoint_before() {
    if !Path::new("/dev/full").exists() {
        println!("left out: there is no /dev/full here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run");
    assert_eq!(field(&stopped(&path), "code"), "interrupted");
    let before = std::fs::read(&path).expect("a checkpoint");
    // The new file is written under a name of its own first; let that be the full device.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("run.new")).expect("a link");
    let refused = stopped(&path);
    assert_eq!(refused.status.code(), Some(3));
    assert_eq!(field(&refused, "code"), "io.file");
    assert_eq!(std::fs::read(&path).expect("a checkpoint"), before);
    // A run that has its result gives it.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("short.new")).expect("a link");
    let ended = eval(&folder.path().join("short"), "1000").output().expect("runs");
    assert!(ended.status.success() && field(&ended, "y").is_string());
    let events = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(events.contains("checkpoint.unsaved"), "{events}");
}

/// Where nothing can be written, nothing is left; what is no file is refused and stays.
#[test]
fn a_full_disk_leaves_no_lock() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let limited = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 0; exec \"$@\"",
            "sh",
            env!("CARGO_BIN_EXE_tetralith"),
        ])
        .args(["--json", "vdf", "eval", "-N", MODULUS, "-T", "1000", "5", "--checkpoint"])
        .arg(&run)
        .output()
        .expect("runs");
    assert_eq!(field(&limited, "code"), "io.file", "{limited:?}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    let refused = eval(Path::new("/dev/null"), "1000").output().expect("runs");
    assert_eq!(
        (refused.status.code(), field(&refused, "code")),
        (Some(2), "usage.checkpoint".into())
    );
    let said = field(&refused, "message").to_string() + &field(&refused, "hint").to_string();
    assert!(said.contains("a device or a pipe") && !said.contains("delete"), "{said}");
    assert!(!Path::new("/dev/null.lock").exists());
}

#[test]
fn a_proof_goes_on_after_sigterm() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let prove = |proof: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
        command.args(["--json", "vdf", "prove", "-N", MODULUS, "-T", "120000000", "5"]);
        command.args(["--proof", proof]).arg("--checkpoint").arg(file("run"));
        command.arg("-o").arg(file(proof)).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    for proof in ["wesolowski", "n-wesolowski", "pietrzak"] {
        let child = prove(proof).spawn().expect("the command starts");
        std::thread::sleep(Duration::from_millis(500));
        kill(&child, "-TERM");
        let stopped = child.wait_with_output().expect("ends");
        assert_eq!(field(&stopped, "code"), "interrupted", "{proof}");
        // Of one, the checkpoint is damaged meanwhile: it goes on from the last value recorded, and says so.
        let damaged = proof == "wesolowski";
        if damaged {
            let mut bytes = std::fs::read(file("run")).expect("a checkpoint");
            bytes[20] ^= 4;
            std::fs::write(file("run"), bytes).expect("writes");
        }
        let ended = prove(proof).output().expect("runs");
        let events = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.success() && events.contains("checkpoint.resumed"), "{events}");
        assert_eq!(events.contains("checkpoint.damaged"), damaged, "{events}");
        let verified = Command::new(env!("CARGO_BIN_EXE_tetralith"))
            .args(["-q", "vdf", "verify", "-N", MODULUS, "-x", "5", "-T", "120000000"])
            .arg(file(proof))
            .status();
        assert!(verified.expect("runs").success(), "{proof}");
        // Nothing but the proofs is left.
        let left = std::fs::read_dir(folder.path()).expect("a folder").flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("run")), "{left:?}");
    }
}

#[test]
fn a_checkpoint_has_one_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    let first = eval(&run, "2000000000").spawn().expect("the command starts");
    while !run.with_extension("lock").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(50));
    let second = eval(&run, "1000").output().expect("runs");
    assert_eq!((second.status.code(), field(&second, "code")), (Some(4), "state.locked".into()));
    let message = field(&second, "message").as_str().expect("text").to_owned();
    assert!(message.starts_with(&format!("process {} uses", first.id())), "{message}");
    kill(&first, "-TERM");
    assert_eq!(field(&first.wait_with_output().expect("ends"), "code"), "interrupted");
    assert!(run.exists() && !run.with_extension("lock").exists());
    // A proof does not take the name of the state that is removed once it is there.
    for output in ["run", "run.tape0"] {
        let prove = Command::new(env!("CARGO_BIN_EXE_tetralith"))
            .args(["--json", "vdf", "prove", "-N", MODULUS, "-T", "1000", "5", "--force"])
            .arg("--checkpoint")
            .arg(&run)
            .arg("-o")
            .arg(folder.path().join(output))
            .output()
            .expect("runs");
        assert_eq!(prove.status.code(), Some(2), "{prove:?}");
    }
}
