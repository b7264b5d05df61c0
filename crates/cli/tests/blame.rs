//! `tetralith tss verify-blame`: proofs are checked by anybody, and nothing else passes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn proof() -> String {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/tss/blame");
    std::fs::read_to_string(vectors.join("two_starts.json")).expect("the proof")
}

fn verify(folder: &Path, text: &str) -> Output {
    let file: PathBuf = folder.join("proof.json");
    std::fs::write(&file, text).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.args(["--json", "tss", "verify-blame"]).arg(file).output().expect("the command")
}

fn object(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).expect("a JSON object")
}

#[test]
fn a_proof_of_blame_needs_nobodys_word() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = verify(folder.path(), &proof());
    let found = object(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{found}");
    assert_eq!(found["fault"], "sent two different starts");
    assert_eq!(found["ceremony"], "09".repeat(32));
    assert!(found["peer"].as_str().is_some_and(|peer| peer.starts_with("12D3KooW")), "{found}");

    let good: serde_json::Value = object(proof().as_bytes());
    let with = |edit: &dyn Fn(&mut Vec<serde_json::Value>)| {
        let mut value = good.clone();
        edit(value["messages"].as_array_mut().expect("messages"));
        value.to_string()
    };
    let forged = with(&|messages| {
        let mut text = messages[1].as_str().expect("hex").to_owned();
        let last = if text.pop() == Some('0') { '1' } else { '0' };
        text.push(last);
        messages[1] = text.into();
    });
    let cases = [
        ("a forged signature", forged, 1, "blame.refuted"),
        ("one message", with(&|messages| drop(messages.pop())), 1, "blame.refuted"),
        ("the same twice", with(&|m| m[1] = m[0].clone()), 1, "blame.refuted"),
        ("no message", with(&|messages| messages.clear()), 2, "blame.malformed"),
        ("another format", proof().replace("blame/1", "blame/9"), 2, "blame.malformed"),
        ("text", "text".to_owned(), 2, "blame.malformed"),
    ];
    for (name, text, exit, code) in cases {
        let output = verify(folder.path(), &text);
        let answer = object(if output.stdout.is_empty() { &output.stderr } else { &output.stdout });
        assert_eq!(output.status.code(), Some(exit), "{name}: {answer}");
        assert_eq!(answer["code"], code, "{name}: {answer}");
    }
}
