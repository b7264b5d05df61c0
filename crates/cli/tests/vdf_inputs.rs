//! `tetralith vdf`: which moduli and inputs are taken, and what is said of them.

use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.current_dir(folder).args(["--json", "vdf"]).args(arguments.split(' '));
    command.output().expect("runs")
}

fn object(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("one object: {output:?}"))
}

/// Runs and gives the exit code, the code and the message.
fn refused(folder: &Path, arguments: &str) -> (i32, String, String) {
    let output = run(folder, arguments);
    let told = object(&output);
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    (output.status.code().expect("ended"), text("code"), text("message") + "; " + &text("hint"))
}

/// The product of two primes of 64 bits: small, for speed.
const MODULUS: &str = "cfa92a1c6559dd55bb75027437309ad3";

fn vectors(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vdf/");
    std::fs::read_to_string(format!("{folder}{name}")).expect("a file")
}

/// The factors of `lcs35` are public, so whoever asks is told and nothing is proved, in whatever form it is named.
#[test]
fn a_modulus_with_published_factors_proves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file =
        |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).expect("written");
    let forged = hex::decode(vectors("forged_lcs35.hex").trim()).expect("hex");
    // N follows the magic, the version, the system and its length.
    let digits = hex::encode(&forged[8..8 + 256]);
    file("n.txt", digits.as_bytes());
    file("forged", &forged);
    let check = |arguments: &str, exit: i32| {
        let (code, name, message) = refused(folder.path(), arguments);
        assert_eq!(code, exit, "{arguments}: {message}");
        assert!(exit != 2 || name == "input.modulus", "{arguments}: {name}");
        assert!(message.contains("factors of lcs35 are public"), "{arguments}: {message}");
        assert!(message.contains("2019"), "{arguments}: {message}");
        assert!(message.contains("-N rsa2048"), "{arguments}: {message}");
    };
    for form in ["lcs35", "LCS-35", &digits, &format!("0x00{}", digits.to_uppercase()), "@n.txt"] {
        check(&format!("prove -N {form} -t 3 2 -o p"), 2);
        check(&format!("verify -N {form} forged"), 2);
    }
    check("verify forged", 2);
    check("verify forged --iterations 4611686018427387904 -x 2", 2);
    let batch = object(&run(folder.path(), "verify forged forged"));
    assert_eq!((&batch["ok"], &batch["proofs"][1]["valid"]), (&false.into(), &false.into()));
    let said = batch["proofs"][1]["message"].as_str().expect("text");
    assert!(said.contains("factors of lcs35 are public"), "{said}");
    // It is squared all the same, and that is said.
    let output = run(folder.path(), "eval -N lcs35 -t 3 2");
    let events = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && events.contains("factors of lcs35 are public"), "{events}");
}

#[test]
fn a_seed_is_the_input_of_one_delay() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("seed"), b"a-public-seed").expect("written");
    let prove = |seed: &str, count: &str| {
        let arguments = format!("prove -N {MODULUS} {count} --seed {seed} -o p --force");
        object(&run(folder.path(), &arguments))
    };
    let (told, same) = (prove("@seed", "--iterations 1000"), prove("a-public-seed", "-T 1000"));
    assert_eq!((&told["input"], &told["x"]), (&"seed".into(), &same["x"]));
    assert_ne!(prove("a-public-seed", "--iterations 1001")["x"], told["x"]);
    assert_ne!(prove("a-public-sees", "--iterations 1000")["x"], told["x"]);
    prove("@seed", "--iterations 1000");
    let verify = |more: &str| run(folder.path(), &format!("verify p -N {MODULUS} {more}"));
    for right in ["--seed a-public-seed", "--seed @seed --iterations 1000", "-T 1000"] {
        assert!(verify(right).status.success(), "{right}");
    }
    let x = told["x"].as_str().expect("hex").to_owned();
    assert!(verify(&format!("-x {x}")).status.success());
    for wrong in ["--seed a-public-sees", "--seed @seed -T 1001", "-x 2"] {
        assert_eq!(verify(wrong).status.code(), Some(1), "{wrong}");
    }
    // One input, and not an empty one.
    for (arguments, said) in [
        ("eval -t 3 --seed a 2", "cannot be used with"),
        ("verify p --seed a -x 2", "cannot be used with"),
        ("eval -t 3", "--seed TEXT"),
        ("eval --seed a", "-t LOG2"),
        ("eval 4 5", "`-t 4 5`"),
        ("eval 70 5", "`--iterations 70 5`"),
        ("eval -t 64 5", "--iterations takes the number itself"),
        ("eval -t 2 --seed=", "the seed is empty"),
    ] {
        let (code, _, message) = refused(folder.path(), arguments);
        assert!(code == 2 && message.contains(said), "{arguments}: {message}");
    }
    // A number of squarings that looks like a logarithm is taken as it stands, and told of.
    let output = run(folder.path(), &format!("eval -N {MODULUS} -T 20 5"));
    let events = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && events.contains("2^20 squarings are -t 20"), "{events}");
    for name in ["RSA2048", "rsa-2048"] {
        let told = object(&run(folder.path(), &format!("eval -N {name} -t 3 2")));
        assert_eq!((&told["modulus"], &told["input"]), (&"rsa2048".into(), &"raw".into()));
        assert_eq!(told.get("bits"), None);
    }
}

#[test]
fn moduli_that_can_be_factored_are_warned_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let warned = |arguments: &str| {
        let output = run(folder.path(), arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).contains("can be factored")
    };
    let large = object(&run(folder.path(), "modulus --bits 1152"));
    let small = object(&run(folder.path(), "modulus --bits 1024"));
    let (large, small) = (&large["modulus"], &small["modulus"]);
    std::fs::write(folder.path().join("plain"), "text").expect("written");
    for (modulus, factorable) in [(large, false), (small, true)] {
        let modulus = modulus.as_str().expect("hex");
        let prove = format!("prove -N {modulus} --iterations 9 --seed s -o p --force");
        assert_eq!(warned(&prove), factorable);
        assert_eq!(warned("verify p"), factorable);
        assert_eq!(object(&run(folder.path(), "verify p"))["factorable"], factorable);
        assert_eq!(warned(&format!("verify p p -N {modulus}")), factorable);
    }
    for (bits, factorable) in [("1024", true), ("1152", false)] {
        assert_eq!(warned(&format!("modulus --bits {bits}")), factorable);
        let seal = format!("seal plain -o s{bits} --iterations 9 --bits {bits}");
        assert_eq!(warned(&seal), factorable);
    }
}

#[test]
fn a_delay_is_told_with_its_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("plain"), "text").expect("written");
    let seal = |more: &str| {
        let output = run(folder.path(), &format!("seal plain -o s --force --bits 512 {more}"));
        assert!(output.status.success(), "{output:?}");
        (object(&output), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (told, events) = seal("--delay 100ms --rate measured");
    let (rate, count) = (told["rate"].as_f64().expect("a rate"), told["iterations"].as_f64());
    assert!(rate > 1e4 && (count.expect("a count") - rate / 10.0).abs() <= 1.0, "{told}");
    assert!(!events.contains("no squarings"), "{events}");
    let (told, events) = seal("--delay 0s");
    assert_eq!((&told["rate"], &told["iterations"]), (&1e7.into(), &0.into()));
    assert!(events.contains("sealed for no squarings at all"), "{events}");
    let (told, events) = seal("--iterations 3000000");
    assert!(told["rate"].is_null() && !events.contains("no squarings"), "{told}");
    // What takes a while says so first.
    let opened = run(folder.path(), "open s -o opened");
    let events = String::from_utf8_lossy(&opened.stderr).into_owned();
    let first = events.lines().next().expect("an event");
    assert!(first.contains("opening takes 3000000 squarings more, about "), "{events}");
    assert_eq!(std::fs::read(folder.path().join("opened")).expect("read"), b"text");
}

#[test]
fn files_are_inspected() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("written")
    };
    file("plain", b"text");
    let job = format!("-N {MODULUS} --iterations 1000 --seed s");
    for command in [
        format!("prove {job} -o p"),
        format!("eval {job} --checkpoint c"),
        "seal plain -o s --bits 512 --iterations 1000".into(),
    ] {
        assert!(run(folder.path(), &command).status.success(), "{command}");
    }
    for (name, kind, bits) in [("p", "proof", 128), ("c", "checkpoint", 128), ("s", "sealed", 512)]
    {
        let told = object(&run(folder.path(), &format!("inspect {name}")));
        assert_eq!((&told["kind"], &told["iterations"]), (&kind.into(), &1000.into()), "{told}");
        assert_eq!((&told["modulus_bits"], &told["factorable"]), (&bits.into(), &true.into()));
    }
    let sealed = object(&run(folder.path(), "inspect s"));
    assert_eq!((&sealed["version"], &sealed["file_bytes"]), (&2.into(), &4.into()), "{sealed}");
    let size = sealed["size"].as_u64().expect("a size") as usize;
    file("cut", &std::fs::read(folder.path().join("s")).expect("read")[..size - 5]);
    let cut = object(&run(folder.path(), "inspect cut"));
    assert!(cut["damaged"].as_str().expect("told").contains("expected at least"), "{cut}");
    assert_eq!(object(&run(folder.path(), "inspect c"))["done"], 1000);
    assert_eq!(object(&run(folder.path(), "inspect p"))["verified"], false);
    // A proof that is false is one all the same; a file of something else is none.
    let mut forged = std::fs::read(folder.path().join("p")).expect("read");
    *forged.last_mut().expect("bytes") ^= 1;
    file("forged", &forged);
    assert_eq!(object(&run(folder.path(), "inspect forged"))["kind"], "proof");
    for (name, said) in [("plain", "is no proof, sealed file or checkpoint"), ("absent", "absent")]
    {
        let (_, _, message) = refused(folder.path(), &format!("inspect {name}"));
        assert!(message.contains(said), "{message}");
    }
}
