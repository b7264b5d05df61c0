//! `tetralith vdf`: what long work has made stays, and is told of as it is.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output};

fn tetralith(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.current_dir(folder).args(["--json", "vdf"]).args(arguments);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    tetralith(folder, arguments).output().expect("runs")
}

fn object(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("one object: {output:?}"))
}

/// The product of two primes of 64 bits: small, for speed.
const MODULUS: &str = "cfa92a1c6559dd55bb75027437309ad3";
/// Not below it.
const LARGE: &str = "ffffffffffffffffffffffffffffffff";

#[test]
fn a_result_whose_name_was_taken_is_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let prove = ["prove", "-N", MODULUS, "-T", "50000000", LARGE, "-o", "p", "--checkpoint", "run"];
    for (arguments, beside) in [(&prove[..8], "p.1"), (&prove[..], "p.2")] {
        let mut child = tetralith(folder.path(), arguments).spawn().expect("starts");
        // It says that x was reduced once it has looked for the file.
        let mut events = BufReader::new(child.stderr.take().expect("piped"));
        events.read_line(&mut String::new()).expect("an event");
        std::fs::write(at("p"), "of another").expect("written");
        let ended = child.wait_with_output().expect("ends");
        let told = object(&ended);
        assert_eq!((ended.status.code(), &told["code"]), (Some(3), &"io.exists".into()));
        assert_eq!(told["proof"], beside);
        let message = told["message"].as_str().expect("text");
        assert!(message.ends_with(&format!("the result is in {beside}")), "{message}");
        assert_eq!(std::fs::read(at("p")).expect("read"), b"of another");
        std::fs::remove_file(at("p")).expect("removed");
        let verified = run(folder.path(), &["verify", beside, "-N", MODULUS, "-x", LARGE]);
        assert_eq!(object(&verified)["y"].as_str().map(str::len), Some(32), "{verified:?}");
        assert!(!at("run").exists() && !at("run.run").exists());
    }
}

#[test]
fn results_name_their_modulus_and_what_was_reduced() {
    let folder = tempfile::tempdir().expect("a folder");
    let eval = |x| object(&run(folder.path(), &["eval", "-N", MODULUS, "-T", "9", x]));
    let prove = |x| {
        let arguments = ["prove", "-N", MODULUS, "-T", "9", x, "-o", "p", "--force"];
        object(&run(folder.path(), &arguments))
    };
    for told in [eval("5"), prove("5"), object(&run(folder.path(), &["verify", "p"]))] {
        assert_eq!((&told["modulus"], &told["modulus_bits"]), (&MODULUS.into(), &128.into()));
        assert_eq!(told.get("reduced"), None);
    }
    for told in [eval(LARGE), prove(LARGE)] {
        assert_eq!(told["reduced"], true);
    }
    let preset = object(&run(folder.path(), &["eval", "-N", "lcs35", "-T", "1", "2"]));
    assert_eq!((&preset["modulus"], &preset["modulus_bits"]), (&"lcs35".into(), &2046.into()));
    let mut verify = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    let said = verify.current_dir(folder.path()).args(["vdf", "verify", "p"]).output();
    let said = String::from_utf8(said.expect("runs").stdout).expect("text");
    assert!(said.contains("modulo a number of 128 bits,"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_checkpoint_is_kept_where_a_link_leads() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("disk")).expect("made");
    std::os::unix::fs::symlink("disk/run", at("link")).expect("linked");
    let eval = ["eval", "-N", MODULUS, "-T", "1000", "5", "--checkpoint", "link"];
    for events in [false, true] {
        let ended = run(folder.path(), &eval);
        assert!(ended.status.success(), "{ended:?}");
        assert!(at("link").is_symlink() && at("disk/run").is_file());
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(said.contains("checkpoint.resumed"), events, "{said}");
    }
    assert!(at("disk/run.previous").is_file() && !at("link.previous").exists());
    let prove = ["prove", "-N", MODULUS, "-T", "1000", "5", "-o", "p", "--checkpoint", "other"];
    std::os::unix::fs::symlink("disk/other", at("other")).expect("linked");
    let ended = run(folder.path(), &prove);
    assert!(ended.status.success() && at("other").is_symlink(), "{ended:?}");
}

#[test]
fn a_feature_that_no_kernel_uses_costs_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = |bits: &str, kernel: &str| {
        let mut command = tetralith(folder.path(), &["bench", "--seconds", "0", "--bits", bits]);
        let told = object(&command.env("TETRALITH_KERNEL", kernel).output().expect("runs"));
        let features = told["features"].as_object().expect("an object").clone();
        features.into_iter().filter(|(_, feature)| feature["has"] == true).collect::<Vec<_>>()
    };
    for (bits, kernel) in [("64", "auto"), ("8192", "auto"), ("2048", "portable")] {
        for (name, feature) in bench(bits, kernel) {
            let used = feature["used"] == true;
            assert!(!used || bits == "8192" && !name.starts_with("AVX-512"), "{name}: {feature}");
            let text = feature["without"].as_str().expect("text");
            assert!(!text.contains("lacking"), "{name}: {text}");
            assert_eq!(feature["times_slower"].is_null(), !used, "{name}: {feature}");
        }
    }
}
