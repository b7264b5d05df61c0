//! `tetralith xmss` as a process: keys whose making is killed, cancelled and gone on with.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod folder;

use folder::names;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The command in a folder, with a passphrase.
fn tetralith(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.args(["--json", "--threads", "1", "xmss"]).args(arguments).current_dir(folder);
    command.env("TETRALITH_PASSPHRASE", "pass").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    tetralith(folder, arguments).output().unwrap()
}

fn answer(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{output:?}"))
}

fn done(output: Output) -> Value {
    let answer = answer(&output);
    assert_eq!((output.status.code(), &answer["ok"]), (Some(0), &Value::Bool(true)), "{output:?}");
    answer
}

fn refused(output: &Output) -> (i32, String) {
    (output.status.code().unwrap(), answer(output)["code"].as_str().unwrap().to_owned())
}

fn events(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Starts a command and ends it with a signal once a file has grown to so many bytes.
fn stop_at(mut command: Command, signal: &str, file: &Path, size: u64) -> Output {
    let child = command.spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while fs::metadata(file).map_or(0, |meta| meta.len()) < size {
        assert!(Instant::now() < end, "the file does not grow");
        std::thread::sleep(Duration::from_millis(2));
    }
    kill(&child, signal);
    child.wait_with_output().unwrap()
}

fn kill(child: &Child, signal: &str) {
    assert!(
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success()
    );
}

const KEYGEN: [&str; 5] = ["keygen", "--params", "QRL-SHA2_16_256", "-o", "key"];
/// Bytes of a kept part.
const PART: u64 = 4 + 1024 * 32 + 16;

#[test]
fn a_killed_keygen_goes_on_to_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let partial = folder.join("key.partial");
    // 64 parts in all: killed after some, more each time.
    for parts in [5, 20, 30, 50] {
        stop_at(tetralith(folder, &KEYGEN), "-KILL", &partial, parts * PART);
        assert_eq!(names(folder), ["key.partial"]);
    }
    // As owner-only as the key, and as silent about the seeds.
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(&partial).unwrap().permissions().mode() & 0o777, 0o600);
    // Cancelled, it says so and how to go on.
    let output = stop_at(tetralith(folder, &KEYGEN), "-TERM", &partial, 52 * PART);
    assert_eq!(refused(&output), (3, "interrupted".into()));
    assert_eq!(names(folder), ["key.partial"]);
    refuse_others(folder, &partial);

    // A damaged part is computed again, and that is said.
    let good = fs::read(&partial).unwrap();
    let mut bad = good.clone();
    let at = bad.len() - 10 * PART as usize;
    bad[at] ^= 1;
    fs::write(&partial, &bad).unwrap();
    let output = run(folder, &KEYGEN);
    let told = events(&output);
    assert!(told.contains("keygen.resumed") && told.contains("keygen.damaged"), "{told}");
    let made = done(output);
    assert_eq!(
        names(folder),
        ["key", "key.nodes.layer0", "key.seen", "key.state", "key.state.lock"]
    );

    // The same seed without an interruption makes the same key.
    done(run(folder, &["export", "key", "--format", "qrl-seed", "--copy", "-o", "seed"]));
    let seed = fs::read_to_string(folder.join("seed")).unwrap();
    fs::write(folder.join("seed48"), &seed[6..]).unwrap();
    let again: Vec<&str> =
        ["keygen", "--params", "QRL-SHA2_16_256", "--seed-file", "seed48", "-o", "again"].into();
    let again = done(run(folder, &again));
    assert_eq!(made["public"], again["public"]);

    // What is left of a key that was made is no second way to make it.
    fs::write(&partial, &good).unwrap();
    let forced = [&KEYGEN[..], &["--force"]].concat();
    let child = tetralith(folder, &forced).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while fs::read(&partial).map_or(true, |bytes| bytes.starts_with(&good[..1000])) {
        assert!(Instant::now() < end, "the file is not begun anew");
        std::thread::sleep(Duration::from_millis(2));
    }
    kill(&child, "-KILL");
    assert!(!events(&child.wait_with_output().unwrap()).contains("keygen.resumed"));
    done(run(folder, &["sign", "-k", "key", "seed48"]));
}

/// Other parameters, another passphrase, a damaged head: refused, and the file stays.
fn refuse_others(folder: &Path, partial: &Path) {
    let good = fs::read(partial).unwrap();
    let params = ["keygen", "--params", "QRL-SHAKE_16_256", "-o", "key"];
    assert_eq!(refused(&run(folder, &params)), (2, "key.partial".into()));
    let mut other = tetralith(folder, &KEYGEN);
    let output = other.env("TETRALITH_PASSPHRASE", "other").output().unwrap();
    assert_eq!(refused(&output), (2, "key.passphrase".into()));
    let open = [&KEYGEN[..], &["--no-passphrase"]].concat();
    assert_eq!(refused(&run(folder, &open)), (2, "key.passphrase_needed".into()));
    for at in [0, 26, 29, 40, 300] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(partial, &bad).unwrap();
        let output = run(folder, &KEYGEN);
        assert_eq!(refused(&output), (2, "key.partial".into()), "byte {at}");
        assert!(answer(&output)["hint"].as_str().unwrap().contains("delete key.partial"));
    }
    assert_eq!(names(folder), ["key.partial"]);
    fs::write(partial, good).unwrap();
}

#[test]
fn a_cancelled_keygen_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for signal in ["-INT", "-TERM"] {
        // Without a passphrase the seeds must not lie about, so nothing does.
        let arguments = [&KEYGEN[..], &["--no-passphrase"]].concat();
        let child = tetralith(folder, &arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(600));
        kill(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(refused(&output), (3, "interrupted".into()));
        assert!(names(folder).is_empty(), "{:?}", names(folder));
    }
}

#[test]
fn a_state_without_its_key_is_in_nobodys_way_unless_it_signed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let small = ["keygen", "--params", "QRL-SHA2_4_256", "-o", "key", "--no-passphrase"];
    done(run(folder, &small));
    fs::remove_file(folder.join("key")).unwrap();
    done(run(folder, &small));
    fs::write(folder.join("file"), "text").unwrap();
    done(run(folder, &["sign", "-k", "key", "file"]));
    fs::remove_file(folder.join("key")).unwrap();
    assert_eq!(refused(&run(folder, &small)), (4, "state.exists".into()));
}

/// What the process had in memory at most, in KiB; polled, for it is gone with the process.
fn peak(child: &mut Child) -> u64 {
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        most = most.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(3));
    }
    most
}

/// A key of 2^20 leaves (2^16, where the test must be quick): made in little memory, opened at once.
#[test]
#[cfg(target_os = "linux")]
fn a_tall_key_needs_little_memory_and_opens_at_once() {
    let slow = std::env::var_os("TETRALITH_SLOW").is_some();
    if !slow {
        println!("height 16; height 20 with TETRALITH_SLOW=1");
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let params = if slow { "XMSS-SHA2_20_256" } else { "XMSS-SHA2_16_256" };
    let start = Instant::now();
    let mut keygen = tetralith(folder, &["keygen", "--params", params, "-o", "key"]);
    let mut child = keygen.args(["--quiet"]).spawn().unwrap();
    let most = peak(&mut child);
    done(child.wait_with_output().unwrap());
    println!("{params}: made in {:?}, at most {most} KiB", start.elapsed());
    assert!(most < 200_000, "{most} KiB");
    assert!(most > 60_000, "Argon2id's memory at least: {most} KiB");

    // Signing decrypts the key, which takes longer than all else; so tell the times apart.
    fs::write(folder.join("file"), "text").unwrap();
    let mut times = Vec::new();
    for name in ["status", "sign"] {
        let start = Instant::now();
        let arguments: &[&str] = match name {
            "sign" => &["sign", "-k", "key", "--force", "file"],
            _ => &["status", "key"],
        };
        done(run(folder, arguments));
        times.push((name, start.elapsed()));
    }
    println!("{times:?}");
    assert!(times[1].1 < Duration::from_secs(5), "a tree was computed: {times:?}");
    let verified = run(folder, &["verify", "-p", "key", "-s", "file.sig", "file"]);
    done(verified);
}

/// An exported key signs no more here, and never from an index that it used.
#[test]
fn a_key_moves_and_never_goes_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("file"), "text").unwrap();
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/xmss/aidos/key-700.json");
    let import = ["import", "--aidos", vectors, "-o", "key"];
    done(run(folder, &import));
    // Its public key is the library's, which is read as well.
    fs::write(folder.join("pub"), hex::decode(vector("public.hex")).unwrap()).unwrap();
    fs::write(folder.join("sig"), hex::decode(vector("sig-700.hex")).unwrap()).unwrap();
    fs::write(folder.join("message"), "tetralith").unwrap();
    done(run(folder, &["verify", "-p", "pub", "-s", "sig", "message"]));
    let signed = done(run(folder, &["sign", "-k", "key", "file"]));
    assert_eq!(signed["index"], 700);

    // Sealed under the key's passphrase unless said otherwise; the state is spent.
    let export = ["export", "key", "--format", "json", "-o", "out"];
    let exported = done(run(folder, &export));
    assert_eq!((&exported["next"], &exported["moved"]), (&701.into(), &true.into()));
    let text = fs::read_to_string(folder.join("out")).unwrap();
    assert!(text.contains("xmss-aidos") && !text.contains("WotsSeed"), "{text}");
    assert_eq!(
        refused(&run(folder, &["sign", "-k", "key", "--force", "file"])).1,
        "state.exhausted"
    );
    let again = ["export", "key", "--format", "json", "-o", "out2"];
    assert_eq!(refused(&run(folder, &again)), (4, "state.exhausted".into()));
    assert!(!folder.join("out2").exists());

    // Under another name it goes on where it stood, or further on, and not before.
    let back = ["import", "--aidos", "out", "-o", "back", "--resume-at", "700"];
    assert_eq!(refused(&run(folder, &back)), (4, "state.backward".into()));
    let same = ["import", "--aidos", "out", "-o", "key", "--force"];
    assert_eq!(refused(&run(folder, &same)), (4, "state.exists".into()));
    done(run(folder, &["import", "--aidos", "out", "-o", "back"]));
    assert_eq!(done(run(folder, &["sign", "-k", "back", "--force", "file"]))["index"], 701);

    // In the clear only by name; a copy is told.
    let plain = ["export", "back", "--format", "aidos", "--plain", "--copy", "-o", "clear"];
    let output = run(folder, &plain);
    assert!(events(&output).contains("key.copied"));
    done(output);
    assert!(fs::read_to_string(folder.join("clear")).unwrap().starts_with("{\"Leaf\":702,"));
    done(run(folder, &["sign", "-k", "back", "--force", "file"]));
    // A damaged cache of nodes is no obstacle.
    let nodes = folder.join("back.nodes.layer0");
    let mut bytes = fs::read(&nodes).unwrap();
    bytes[5000] ^= 1;
    fs::write(&nodes, bytes).unwrap();
    done(run(folder, &["export", "back", "--format", "aidos", "--plain", "-o", "last"]));

    // A changed index does not fit its path; without a passphrase nothing is sealed.
    let text = fs::read_to_string(folder.join("clear")).unwrap();
    fs::write(folder.join("changed"), text.replacen(":702", ":600", 1)).unwrap();
    let changed = run(folder, &["import", "--aidos", "changed", "-o", "x"]);
    assert_eq!(refused(&changed), (2, "input.malformed".into()));
    assert_eq!(names(folder).iter().filter(|name| name.starts_with('x')).count(), 0);
    let open = ["import", "--aidos", "clear", "-o", "open", "--no-passphrase"];
    done(run(folder, &open));
    let sealed = ["export", "open", "--format", "aidos", "-o", "y"];
    assert_eq!(refused(&run(folder, &sealed)), (2, "key.not_encrypted".into()));
    done(run(folder, &["sign", "-k", "open", "--force", "file"]));
}

fn vector(name: &str) -> String {
    let path = format!("{}/../../vectors/xmss/aidos/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).unwrap().trim().to_owned()
}
