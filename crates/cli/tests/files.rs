//! Files and standard streams of `tetralith`: what goes where, and what is refused before long work.
#![cfg(unix)]

use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the command in a folder with bytes on standard input.
fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().expect("piped").write_all(input);
    child.wait_with_output().expect("the command ends")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn standard_output_takes_the_file_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    for json in [&[][..], &["--json"]] {
        let arguments = |more: &[&'static str]| [json, more].concat();
        let sealed =
            run(folder.path(), &arguments(&["vdf", "seal", "-T", "9", "-", "-o", "-"]), b"hello");
        assert!(stderr(&sealed).contains("sealed for 9 squarings"), "{}", stderr(&sealed));
        let opened = run(folder.path(), &["vdf", "open", "-", "-o", "-"], &sealed.stdout);
        assert_eq!(opened.stdout, b"hello", "{}", stderr(&opened));
        let proved =
            run(folder.path(), &arguments(&["vdf", "prove", "-t", "5", "-o", "-", "3"]), b"");
        assert_eq!(proved.stdout.len(), 1040, "{}", stderr(&proved));
        let verified = run(folder.path(), &["vdf", "verify", "-", "-x", "3"], &proved.stdout);
        assert!(verified.status.success(), "{}", stderr(&verified));
    }
    let by_stdin = run(folder.path(), &["vdf", "eval", "-t", "5", "-"], b"3\n");
    let by_argument = run(folder.path(), &["vdf", "eval", "-t", "5", "3"], b"");
    assert!(by_stdin.status.success() && by_stdin.stdout == by_argument.stdout);
}

/// What is not authentic never gets the output's name, and on a stream the failure says what to discard.
#[test]
fn a_sealed_file_that_is_damaged_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let long: Vec<u8> = (0..150_000u32).map(|i| (i % 251) as u8).collect();
    std::fs::write(at("plain"), &long).expect("written");
    let seal = ["vdf", "seal", "--iterations", "9", "--bits", "512", "plain", "-o", "sealed"];
    let sealed = run(folder.path(), &seal, b"");
    assert!(sealed.status.success(), "{}", stderr(&sealed));
    let bytes = std::fs::read(at("sealed")).expect("read");
    let head = bytes.len() - 150_000 - 3 * 16;
    let border = head + 2 * (65_536 + 16);
    let mut flipped = bytes.clone();
    flipped[border + 3] ^= 1;
    for (name, bytes, said) in [
        ("flipped", &flipped[..], "chunk 2, at byte"),
        ("cut", &bytes[..border], "chunks are missing"),
    ] {
        std::fs::write(at(name), bytes).expect("written");
        let opened = run(folder.path(), &["vdf", "open", name, "-o", "opened"], b"");
        assert_eq!(opened.status.code(), Some(1), "{}", stderr(&opened));
        let said_all = stderr(&opened);
        assert!(said_all.contains(said) && said_all.contains("nothing was written to opened"));
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("read").collect();
        let left = left.into_iter().map(|entry| entry.expect("an entry").file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("opened")));
        let streamed = run(folder.path(), &["vdf", "open", name, "-o", "-"], b"");
        assert_eq!(streamed.status.code(), Some(1));
        let written = streamed.stdout.len();
        assert!(written > 0 && streamed.stdout == long[..written], "{name}");
        let told = format!("{written} bytes of the file were written before that: discard them");
        assert!(stderr(&streamed).contains(&told), "{}", stderr(&streamed));
    }
    // Cut within a chunk's tag, it is refused before a single squaring of 2^62.
    let seal = ["vdf", "seal", "-t", "62", "--bits", "512", "plain", "-o", "far"];
    assert!(run(folder.path(), &seal, b"").status.success());
    let far = std::fs::read(at("far")).expect("read");
    std::fs::write(at("far"), &far[..border + 7]).expect("written");
    let refused = run(folder.path(), &["vdf", "open", "far", "-o", "opened"], b"");
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("is cut off"), "{}", stderr(&refused));
    let opened = run(folder.path(), &["vdf", "open", "sealed", "-o", "opened"], b"");
    assert!(opened.status.success() && std::fs::read(at("opened")).expect("read") == long);
}

/// Memory does not grow with the file, neither in sealing nor in opening.
#[test]
#[cfg(target_os = "linux")]
fn long_files_are_sealed_and_opened_in_little_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = std::fs::File::create(folder.path().join("long")).expect("made");
    long.set_len(200 << 20).expect("a file with a hole");
    for arguments in ["seal --iterations 9 --bits 512 long -o sealed", "open sealed -o opened"] {
        let limited = format!("ulimit -v 190000; exec \"$0\" vdf {arguments}");
        let mut command = Command::new("sh");
        command.args(["-c", &limited, env!("CARGO_BIN_EXE_tetralith")]).current_dir(folder.path());
        let ended = command.output().expect("runs");
        assert!(ended.status.success(), "{arguments}: {}", stderr(&ended));
    }
    let opened = std::fs::metadata(folder.path().join("opened")).expect("there");
    assert_eq!(opened.len(), 200 << 20);
}

#[test]
fn what_cannot_be_written_is_refused_before_the_work() {
    let folder = tempfile::tempdir().expect("a folder");
    // Each of these would take years.
    for arguments in [
        &["vdf", "eval", "-t", "62", "--checkpoint", "no/folder/c", "3"][..],
        &["vdf", "eval", "-t", "62", "--checkpoint", ".", "3"],
        &["vdf", "prove", "-t", "62", "-o", "no/folder/p", "3"],
        &["vdf", "prove", "-t", "62", "-o", "p", "--checkpoint", "no/folder/c", "3"],
    ] {
        let refused = run(folder.path(), arguments, b"");
        assert_eq!(refused.status.code(), Some(3), "{arguments:?}");
        let said = stderr(&refused);
        assert!(said.contains("folder") && !said.contains(".tmp"), "{said}");
    }
    let keygen = ["vrf", "keygen", "--suite", "draft03-cardano", "--no-passphrase", "-o", "key"];
    assert!(run(folder.path(), &keygen, b"").status.success());
    let prove = ["vdf", "prove", "-t", "62", "-o", "key", "--force", "3"];
    let refused = run(folder.path(), &prove, b"");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("not written over"), "{}", stderr(&refused));
}

#[test]
fn special_files_and_links_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    assert!(Command::new("mkfifo").arg(at("pipe")).status().expect("mkfifo").success());
    let mut reader =
        Command::new("cat").arg(at("pipe")).stdout(Stdio::piped()).spawn().expect("cat starts");
    let proved =
        run(folder.path(), &["vdf", "prove", "-t", "5", "-o", "pipe", "--force", "3"], b"");
    assert!(proved.status.success(), "{}", stderr(&proved));
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut reader.stdout.take().expect("piped"), &mut bytes)
        .expect("read");
    reader.wait().expect("cat ends");
    assert_eq!(bytes.len(), 1040);
    assert!(std::fs::metadata(at("pipe")).expect("there").file_type().is_fifo());
    // A link is followed, whether or not something is there.
    std::os::unix::fs::symlink("file", at("link")).expect("linked");
    for force in [&[][..], &["--force"]] {
        let arguments = [&["vdf", "prove", "-t", "5", "-o", "link", "3"], force].concat();
        let proved = run(folder.path(), &arguments, b"");
        assert!(proved.status.success(), "{}", stderr(&proved));
        assert!(std::fs::symlink_metadata(at("link")).expect("there").is_symlink());
        assert_eq!(std::fs::read(at("file")).expect("written"), bytes);
    }
}

#[test]
fn a_standard_output_that_fails_is_an_error_and_no_panic() {
    if !Path::new("/dev/full").exists() {
        println!("left out: there is no /dev/full here");
        return;
    }
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("opens");
    for arguments in [
        &["vdf", "eval", "-t", "2", "2"][..],
        &["--json", "vdf", "eval", "-t", "2", "2"],
        &["--json", "vdf", "eval", "-t", "2", "x"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
        let ended = command.args(arguments).stdout(full()).output().expect("runs");
        let expected = if arguments.ends_with(&["x"]) { 2 } else { 3 };
        assert_eq!(ended.status.code(), Some(expected), "{arguments:?}: {}", stderr(&ended));
    }
}

#[test]
fn each_of_many_proofs_has_a_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a", "b", "c"] {
        let proved = run(folder.path(), &["vdf", "prove", "-t", "12", "-o", name, "3"], b"");
        assert!(proved.status.success(), "{}", stderr(&proved));
    }
    let mut wrong = std::fs::read(folder.path().join("b")).expect("a proof");
    *wrong.last_mut().expect("a byte") ^= 1;
    std::fs::write(folder.path().join("b"), wrong).expect("written");
    let all = ["vdf", "verify", "a", "malformed", "b", "missing", "c"];
    std::fs::write(folder.path().join("malformed"), "nothing").expect("written");
    let verified = run(folder.path(), &all, b"");
    assert_eq!(verified.status.code(), Some(1));
    let text = String::from_utf8_lossy(&verified.stdout).into_owned();
    let starts: Vec<&str> =
        text.lines().map(|line| line.split_inclusive(':').nth(1).unwrap_or("")).collect();
    assert_eq!(starts, [" valid:", " refused:", " refused:", " refused:", " valid:"], "{text}");
    assert!(stderr(&verified).contains("3 of 5 proofs do not verify"), "{}", stderr(&verified));
    let verified = run(folder.path(), &[&["--json"], &all[..]].concat(), b"");
    let object: serde_json::Value = serde_json::from_slice(&verified.stdout).expect("one object");
    assert_eq!(
        (object["ok"].as_bool(), object["proofs"][2]["valid"].as_bool()),
        (Some(false), Some(false))
    );
    assert_eq!(object["proofs"][4]["valid"], true);
}

#[test]
fn numbers_that_are_none_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, said) in [
        (&["vdf", "bench", "--seconds", "nan"][..], "from 0 to 3600"),
        (&["bench", "vdf", "--seconds=nan"], "from 0 to 3600"),
        (&["vdf", "eval", "-T", "18446744073709551616", "2"], "T is at most 2^63"),
        (&["vdf", "modulus", "--bits", "300"], "a multiple of 128"),
        (&["--json", "vdf", "eval", "2"], "--log2"),
        (&["vdf", "prove", "-t", "4", "2", "-o", "p", "--memory", "0"], "mebibytes, from 1"),
        (&["vdf", "daemon", "d", "--memory", "0"], "mebibytes, from 1"),
    ] {
        let refused = run(folder.path(), arguments, b"");
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let all = stderr(&refused) + &String::from_utf8_lossy(&refused.stdout);
        assert!(all.contains(said), "{all}");
    }
    // A prime is squared modulo; nothing is proved modulo it.
    let mersenne = "7fffffffffffffffffffffffffffffff";
    let squared = run(folder.path(), &["vdf", "eval", "-N", mersenne, "-T", "3", "2"], b"");
    assert_eq!(squared.stdout, b"00000000000000000000000000000100\n", "{}", stderr(&squared));
    assert!(stderr(&squared).contains("prime"), "{}", stderr(&squared));
}
