//! `tetralith vrf verify-header`, `verify-headers` and `leader-schedule` as processes, on headers and
//! blocks of the chain.

use serde_json::{Value, json};
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
        assert_eq!(json["checked"], json!(["vrf_proof", "vrf_output"]));
        let left = json!(["operational_certificate", "kes_signature", "stake"]);
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

/// A file of lines with the headers of two epochs, and fields that nobody asked for.
fn lines() -> String {
    let line = |name: &str, nonce: &str| {
        let bytes = std::fs::read(vector(name)).expect("a header");
        let header = match name.ends_with(".block") {
            true => text(&bytes).trim().to_owned(),
            false => hex::encode(bytes),
        };
        json!({ "header": header, "nonce": nonce, "note": name }).to_string()
    };
    [
        line("mainnet_babbage_7854823.header", NONCE_368),
        line("mainnet_shelley_4494062.block", NONCE_208),
        line("mainnet_shelley_4490511.header", NONCE_208),
    ]
    .join("\n")
}

#[test]
fn many_headers_are_verified_from_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    // With a byte order mark and a blank last line.
    std::fs::write(at("good"), format!("\u{feff}{}\n\n", lines())).expect("written");
    let output = run(&["vrf", "verify-headers", &at("good")]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let expected = "3 headers: VRF proofs valid; certificate, KES and stake not checked (";
    assert!(said.starts_with(expected), "{said}");
    let output = run(&["--json", "vrf", "verify-headers", &at("good")]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!((&answer["headers"], &answer["failed"]), (&json!(3), &json!(0)));
    assert_eq!(answer["not_checked"][2], "stake");
    // Another nonce, hex that is none, a line that is none: named by row and offset, all others verified.
    let all = lines();
    let mut rows: Vec<&str> = all.lines().collect();
    let other = rows[0].replace(NONCE_368, NONCE_208);
    rows.extend([&other[..], "{\"header\":\"zz\"}", "hello"]);
    std::fs::write(at("bad"), rows.join("\n")).expect("written");
    let output = run(&["vrf", "verify-headers", &at("bad")]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    let offset = all.len() + 1;
    for (row, offset, says) in [
        (4, offset, "slot 73614529: the header's VRF proof is not valid"),
        (5, offset + other.len() + 1, "header is not hex"),
        (6, offset + other.len() + 17, "not a JSON object"),
    ] {
        let place = format!("{}, row {row}, byte {offset}", at("bad"));
        assert!(said.contains(&place) && said.contains(says), "{place} {says}: {said}");
    }
    assert!(said.contains("3 of 6 headers failed"), "{said}");
    // Rows without a nonce take that of their epoch, or are refused.
    let bare = all.replace(&format!("\"nonce\":\"{NONCE_208}\","), "");
    std::fs::write(at("bare"), bare).expect("written");
    let output = run(&["vrf", "verify-headers", &at("bare")]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("row 2") && said.contains("no nonce is given"), "{said}");
    std::fs::write(at("nonces"), json!({ "208": NONCE_208 }).to_string()).expect("written");
    let with = ["vrf", "verify-headers", &at("bare"), "--nonces", &at("nonces")];
    assert_eq!(run(&with).status.code(), Some(2), "no network");
    assert!(run(&[&with[..], &["--network", "mainnet"]].concat()).status.success());
    let output = run(&[&with[..], &["--network", "preview"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--nonces has none for epoch 52"), "{output:?}");
    std::fs::write(at("empty"), "").expect("written");
    let output = run(&["vrf", "verify-headers", &at("empty")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("holds no header"));
}

/// Chunk files of Byron's and Shelley's blocks, in a node's folder.
#[test]
fn chunks_are_verified_block_by_block() {
    let folder = tempfile::tempdir().expect("a folder");
    let immutable = folder.path().join("immutable");
    std::fs::create_dir(&immutable).expect("a folder");
    let block =
        |name: &str| hex::decode(text(&std::fs::read(vector(name)).expect("a block")).trim());
    let [byron, first, second] =
        ["byron.block", "mainnet_shelley_4494062.block", "mainnet_shelley_4500427.block"]
            .map(|name| block(name).expect("hex"));
    let write =
        |name: &str, bytes: &[u8]| std::fs::write(immutable.join(name), bytes).expect("written");
    write("00009.chunk", &[&byron[..], &byron].concat());
    write("00010.chunk", &[&first[..], &second].concat());
    write("00010.primary", b"left alone");
    let node = folder.path().to_str().expect("UTF-8");
    let verify = |more: &[&str]| run(&[&["vrf", "verify-headers", node][..], more].concat());
    let output = verify(&["--nonce", NONCE_208]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(
        said.contains("2 headers: VRF proofs valid") && said.contains("2 Byron blocks"),
        "{said}"
    );
    assert_eq!(verify(&[]).status.code(), Some(2), "no nonce");
    let output = verify(&["--nonce", NONCE_368]);
    assert_eq!(output.status.code(), Some(1));
    let place = format!("00010.chunk, byte {}, slot 4691580", first.len());
    assert!(text(&output.stderr).contains(&place), "{}", text(&output.stderr));
    // A byte of the second block's nonce proof, then a chunk that breaks off.
    let mut damaged = second.clone();
    let start = damaged.windows(2).position(|two| two == [0x58, 0x50]).expect("a proof") + 2;
    damaged[start + 70] ^= 1;
    write("00010.chunk", &[&first[..], &damaged, &second].concat());
    let output = verify(&["--nonce", NONCE_208]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains(&place) && said.contains("nonce VRF proof is not valid"), "{said}");
    assert!(said.contains("1 of 3 headers failed; 2 Byron blocks"), "{said}");
    write("00010.chunk", &[&first[..], &second[..100]].concat());
    let output = verify(&["--nonce", NONCE_208]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("00010.chunk: after 1 blocks: malformed CBOR at byte"), "{said}");
    // One file, and a folder without any.
    write("00010.chunk", &[&first[..], &second].concat());
    let file = immutable.join("00010.chunk");
    let file = file.to_str().expect("UTF-8");
    assert!(run(&["vrf", "verify-headers", file, "--nonce", NONCE_208]).status.success());
    std::fs::remove_dir_all(&immutable).expect("removed");
    let output = verify(&["--nonce", NONCE_208]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("has no chunk files"));
}

/// Keys in Cardano's forms, and a header's key against a registered hash.
#[test]
fn keys_have_the_forms_of_cardano() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::write(at("seed"), [7; 32]).expect("written");
    let suite = ["--suite", "draft03-cardano"];
    let keygen = ["vrf", "keygen", "-o", &at("key"), "--seed-file", &at("seed"), "--no-passphrase"];
    assert!(run(&[&keygen[..], &suite].concat()).status.success());
    let output = run(&["--json", "vrf", "pub", &at("key")]);
    let public: Value = serde_json::from_slice(&output.stdout).expect("an object");
    let (hexed, bech32) = (public["public_key"].as_str(), public["bech32"].as_str());
    let (hexed, bech32) = (hexed.expect("hex"), bech32.expect("bech32"));
    assert!(bech32.starts_with("vrf_vk1"));
    let skey = format!("{}{hexed}", "07".repeat(32));
    std::fs::write(at("skey"), &skey).expect("written");
    let envelope = |kind: &str, cbor: String| json!({ "type": kind, "cborHex": cbor }).to_string();
    let signing = envelope("VrfSigningKey_PraosVRF", format!("5840{skey}"));
    std::fs::write(at("vrf.skey"), signing).expect("written");
    let verification = envelope("VrfVerificationKey_PraosVRF", format!("5820{hexed}"));
    std::fs::write(at("vrf.vkey"), verification).expect("written");
    let mut proofs = ["key", "skey", "vrf.skey"].map(|key| {
        let output = run(&["vrf", "prove", "-k", &at(key), "--alpha", "00"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    });
    assert!(proofs[0] == proofs[1] && proofs[1] == proofs[2]);
    let proof = std::mem::take(&mut proofs[0]);
    for key in [hexed, bech32, &format!("@{}", at("vrf.vkey"))] {
        let verify = ["vrf", "verify", "-p", key, "-s", proof.trim(), "--alpha", "00"];
        let output = run(&[&verify[..], &suite].concat());
        assert!(output.status.success(), "{key}: {}", text(&output.stderr));
    }
    let header = path("mainnet_babbage_7854823.header");
    let verify = ["--json", "vrf", "verify-header", &header, "--nonce", NONCE_368];
    let answer: Value = serde_json::from_slice(&run(&verify).stdout).expect("an object");
    // As the source of the header names its pool.
    assert_eq!(answer["pool"], "pool195gdnmj6smzuakm4etxsxw3fgh8asqc4awtcskpyfnkpcvh2v8t");
    let hash = answer["vrf_key_hash"].as_str().expect("a hash");
    assert!(run(&[&verify[..], &["--vrf-key-hash", hash]].concat()).status.success());
    let other = public["key_hash_bech32"].as_str().expect("a hash");
    let output = run(&[&verify[..], &["--vrf-key-hash", other]].concat());
    assert_eq!(output.status.code(), Some(1));
}

/// A schedule by epoch, with times; the same slots as by their numbers; and one of nobody.
#[test]
fn schedules_have_epochs_and_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::write(at("seed"), [7; 32]).expect("written");
    let keygen = ["vrf", "keygen", "-o", &at("key"), "--seed-file", &at("seed"), "--no-passphrase"];
    assert!(run(&[&keygen[..], &["--suite", "draft03-cardano"]].concat()).status.success());
    let genesis = json!({
        "systemStart": "2022-10-25T00:00:00Z", "networkMagic": 2, "epochLength": 2000,
        "slotLength": 0.5, "activeSlotsCoeff": 0.05, "maxKESEvolutions": 62,
    });
    std::fs::write(at("genesis"), genesis.to_string()).expect("written");
    let fixed = ["--json", "vrf", "leader-schedule", "-k", &at("key"), "--nonce", NONCE_368];
    let schedule = |more: &[&str]| {
        let output = run(&[&fixed[..], more].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("an object")
    };
    let by_epoch = schedule(&["--epoch", "5", "--genesis", &at("genesis"), "--stake", "0.5"]);
    let by_slots = schedule(&["--first-slot", "10000", "--slots", "2000", "--stake", "5e-1"]);
    assert_eq!(by_epoch["slots"], by_slots["slots"]);
    assert_eq!((&by_epoch["epoch"], &by_epoch["decided"]), (&json!(5), &json!(2000)));
    let first = &by_epoch["schedule"][0];
    let slot = first["slot"].as_u64().expect("a slot");
    let [minute, second, millis] = [slot / 120 % 60, slot / 2 % 60, slot % 2 * 5];
    let fraction = if millis == 0 { "Z" } else { ".500Z" };
    let hour = slot / 7200;
    let time = format!("2022-10-25T{hour:02}:{minute:02}:{second:02}{fraction}");
    assert_eq!(first["utc"], time);
    // The share is so small that no slot is led.
    let tiny = ["--first-slot", "0", "--slots", "100", "--stake", "1e-30"];
    let output = run(&[&fixed[1..], &tiny].concat());
    assert_eq!(text(&output.stdout), "no slot is led, of 100 decided\n");
    assert_eq!(schedule(&tiny)["slots"], json!([]));
    let output = run(&[&fixed[..], &["--epoch", "5", "--stake", "1"]].concat());
    assert_eq!(output.status.code(), Some(2), "no network");
    let byron = ["--epoch", "207", "--network", "mainnet", "--stake", "1"];
    let output = run(&[&fixed[..], &byron].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("epoch 207 is Byron's"), "{output:?}");
}
