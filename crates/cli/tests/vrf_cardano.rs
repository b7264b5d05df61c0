//! `tetralith vrf verify-header` as a process, on headers and blocks of the chain.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The nonces of mainnet's epochs 208 and 368.
const NONCE_208: &str = "1a3be38bcbb7911969283716ad7aa550250226b76a61fc51cc9a9a35d9276d81";
const NONCE_368: &str = "8dad163edf4607452fec9c5955d593fb598ca728bae162138f88da6667bba79b";

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/vrf/cardano-eras").join(name)
}

fn vrf(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.args(arguments).env_remove("TETRALITH_KERNEL");
    command
}

fn run(arguments: &[&str]) -> Output {
    vrf(arguments).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn path(name: &str) -> String {
    vector(name).to_str().expect("UTF-8").to_owned()
}

/// What is not checked is said, so that nobody takes the header for valid.
#[test]
fn the_result_says_what_was_checked() {
    let (praos, tpraos) =
        (path("mainnet_babbage_7854823.header"), path("mainnet_shelley_4494062.block"));
    for (file, nonce, says) in [
        (&praos, NONCE_368, "slot 73614529, block 7854823 (Babbage or later): VRF proof valid"),
        (
            &tpraos,
            NONCE_208,
            "slot 4563840, block 4494062 (Shelley): nonce and leader VRF proofs valid",
        ),
    ] {
        let output = run(&["vrf", "verify-header", file, "--nonce", nonce]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let expected = format!("{says}; certificate, KES and stake not checked\n");
        assert_eq!(text(&output.stdout), expected);
        let output = run(&["--json", "vrf", "verify-header", file, "--nonce", nonce]);
        let json: Value = serde_json::from_slice(&output.stdout).expect("an object");
        assert_eq!(json["checked"], serde_json::json!(["vrf_proof", "vrf_output"]));
        let left = serde_json::json!(["operational_certificate", "kes_signature", "stake"]);
        assert_eq!(json["not_checked"], left);
    }
    let output = run(&["vrf", "verify-header", &tpraos, "--nonce", NONCE_368]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("the header's nonce VRF proof is not valid"), "{said}");
    assert!(said.contains("--nonce must be that of the epoch of slot 4563840"), "{said}");
    let byron = path("byron.block");
    let output = run(&["vrf", "verify-header", &byron, "--nonce", NONCE_368]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a Byron header has no VRF proof"));
}

/// Hex text and raw CBOR, from a file or standard input.
#[test]
fn headers_are_read_as_hex_and_raw() {
    let raw = std::fs::read(vector("mainnet_babbage_7854823.header")).expect("a header");
    let hex = hex::encode(&raw);
    for bytes in [raw.clone(), hex.clone().into_bytes(), format!("0x{hex}\r\n").into_bytes()] {
        let mut child = vrf(&["vrf", "verify-header", "-", "--nonce", NONCE_368])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        child.stdin.take().expect("a pipe").write_all(&bytes).expect("written");
        let output = child.wait_with_output().expect("it ends");
        assert!(text(&output.stdout).contains("VRF proof valid"));
    }
}
