//! `tetralith vrf` as a process: many rows from lines and from Parquet, and what bad input is told.

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use tetralith_vrf::{SecretKey, Suite, prove_many};

const SUITE: &str = "draft03-cardano";

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/vrf").join(name)
}

fn vrf(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.arg("vrf").args(arguments).env_remove("TETRALITH_KERNEL");
    command
}

fn batch(rows: &Path, more: &[&str]) -> Output {
    let mut command = vrf(&["verify-batch", "--suite", SUITE]);
    command.arg(rows).args(more).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// One row: key, input, proof.
type Row = [Vec<u8>; 3];

/// Honest rows of a hundred keys, again and again; every 97th is of another input.
fn rows(n: usize) -> Vec<Row> {
    let suite: Suite = SUITE.parse().expect("a suite");
    let keys: Vec<SecretKey> =
        (1..=100u8).map(|i| SecretKey::from_bytes(suite, &[i; 32]).expect("a key")).collect();
    let alphas: Vec<[u8; 8]> = (0..1000u64).map(u64::to_be_bytes).collect();
    let inputs: Vec<(&SecretKey, &[u8])> =
        alphas.iter().enumerate().map(|(i, alpha)| (&keys[i % 100], &alpha[..])).collect();
    let proofs: Vec<Vec<u8>> = prove_many(&inputs)
        .into_iter()
        .map(|proof| proof.expect("a proof").as_bytes().to_vec())
        .collect();
    let publics: Vec<Vec<u8>> =
        keys.iter().map(|key| key.public_key().as_bytes().to_vec()).collect();
    let row = |i: usize| {
        let alpha = alphas[if i % 97 == 96 { (i + 1) % 1000 } else { i % 1000 }];
        [publics[i % 100].clone(), alpha.to_vec(), proofs[i % 1000].clone()]
    };
    (0..n).map(row).collect()
}

fn write_lines(path: &Path, n: usize) {
    let mut lines = String::new();
    for [key, alpha, proof] in rows(n) {
        let [key, alpha, proof] = [key, alpha, proof].map(hex::encode);
        let line = json!({ "public_key": key, "alpha": alpha, "proof": proof });
        writeln!(lines, "{line}").expect("a string");
    }
    std::fs::write(path, lines).expect("written");
}

fn write_parquet(path: &Path, n: usize) {
    let schema = "message rows { required binary public_key; required binary alpha; \
        required binary proof; }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let file = File::create(path).expect("created");
    let mut writer =
        SerializedFileWriter::new(file, schema, Arc::new(properties)).expect("a writer");
    for rows in rows(n).chunks(400_000) {
        let mut group = writer.next_row_group().expect("a group");
        for i in 0..3 {
            let values: Vec<ByteArray> =
                rows.iter().map(|row| ByteArray::from(row[i].clone())).collect();
            let mut column = group.next_column().expect("a column").expect("a column");
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&values, None, None).expect("written");
            column.close().expect("closed");
        }
        group.close().expect("closed");
    }
    writer.close().expect("closed");
}

/// Row, whether valid, and output or error.
type Answer = (u64, bool, String);

fn read_lines(text: &str) -> Vec<Answer> {
    let answer = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("an object");
        let ok = line["ok"].as_bool().expect("ok");
        let said = line[if ok { "output" } else { "error" }].as_str().expect("text");
        (line["row"].as_u64().expect("a row"), ok, said.to_owned())
    };
    text.lines().map(answer).collect()
}

fn read_parquet(path: &Path) -> Vec<Answer> {
    let reader = SerializedFileReader::new(File::open(path).expect("opened")).expect("Parquet");
    let answer = |row: Result<parquet::record::Row, _>| {
        let row = row.expect("a row");
        let (number, ok) = (row.get_long(0).expect("row"), row.get_bool(1).expect("ok"));
        let said = match ok {
            true => hex::encode(row.get_bytes(2).expect("output").data()),
            false => row.get_string(3).expect("error").clone(),
        };
        (number as u64, ok, said)
    };
    reader.get_row_iter(None).expect("rows").map(answer).collect()
}

#[test]
fn lines_and_parquet_have_the_same_verdicts() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let n = 40_000;
    write_lines(&at("in.jsonl"), n);
    write_parquet(&at("in.parquet"), n);
    let plain = batch(&at("in.jsonl"), &[]);
    assert_eq!(plain.status.code(), Some(1), "{}", text(&plain.stderr));
    let answers = read_lines(&text(&plain.stdout));
    assert_eq!(answers.len(), n);
    for (i, (row, ok, said)) in answers.iter().enumerate() {
        assert_eq!((*row, *ok), (i as u64 + 1, i % 97 != 96));
        assert!(if *ok { said.len() == 128 } else { said.contains("not valid") });
    }
    let named = text(&plain.stderr);
    assert!(named.contains("row 97: the proof is not valid for this public key and input"));
    assert!(named.contains("40000 rows, 412 failed"), "{named}");
    let out = at("out.parquet");
    let out_name = out.to_str().expect("UTF-8");
    let other = batch(&at("in.parquet"), &["-o", out_name]);
    assert_eq!(other.status.code(), Some(1), "{}", text(&other.stderr));
    assert!(other.stdout.is_empty());
    assert_eq!(read_parquet(&out), answers);
    // A file that is there stays, and with --force does not.
    let refused = batch(&at("in.parquet"), &["-o", out_name]);
    assert_eq!(refused.status.code(), Some(3));
    let lines = at("out.jsonl");
    let forced = ["-o", lines.to_str().expect("UTF-8"), "--force"];
    assert_eq!(batch(&at("in.parquet"), &forced).status.code(), Some(1));
    assert_eq!(read_lines(&std::fs::read_to_string(&lines).expect("read")), answers);
    let piped = vrf(&["verify-batch", "--suite", SUITE, "-"])
        .stdin(File::open(at("in.jsonl")).expect("opened"))
        .output()
        .expect("the command starts");
    assert_eq!(piped.stdout, plain.stdout);
}

/// Every bad row is told of, and the rows after it are verified.
#[test]
fn bad_rows_do_not_stop_the_rows_after_them() {
    let [key, alpha, proof] = rows(1).remove(0).map(hex::encode);
    let line = |key: &str, alpha: &str, proof: &str| {
        json!({ "public_key": key, "alpha": alpha, "proof": proof }).to_string()
    };
    let good = line(&key, &alpha, &proof);
    let zeros = |n: usize| "0".repeat(n);
    let off_curve = format!("02{}", zeros(62));
    let ones = "f".repeat(64);
    let bad = [
        (String::new(), "the line is blank"),
        ("{".into(), "EOF while parsing"),
        ("[1]".into(), "not a JSON object, expected one with public_key, alpha, proof"),
        ("\u{0}".into(), "not a JSON object"),
        (json!({ "public_key": key, "alpha": alpha }).to_string(), "proof is missing"),
        (good.replace("alpha", "beta"), "alpha is missing"),
        (good.replace("}", ",\"proof\":\"\"}"), "proof is there twice"),
        (json!({ "public_key": key, "alpha": 7, "proof": proof }).to_string(), "alpha is a number"),
        (json!({ "public_key": key, "alpha": alpha, "proof": null }).to_string(), "proof is null"),
        (format!("{good} x"), "trailing characters"),
        (line("0", &alpha, &proof), "public_key is not hex: 1 digits, an odd number"),
        (line(&key, "0g", &proof), "alpha is not hex: 'g' at position 1"),
        (line(&key, &alpha, "zz"), "proof is not hex: 'z' at position 0"),
        (line(&key[2..], &alpha, &proof), "public key of 31 bytes, expected 32"),
        (line(&key, &alpha, &proof[2..]), "proof of 79 bytes, expected 80"),
        (line(&off_curve, &alpha, &proof), "public key is not on the curve"),
        (line(&ones, &alpha, &proof), "public key is not canonically encoded"),
        (line(&format!("01{}", zeros(62)), &alpha, &proof), "public key is a point of small order"),
        (line(&key, &alpha, &format!("{off_curve}{}", &proof[64..])), "Gamma is not on the curve"),
        (line(&key, &alpha, &format!("{ones}{}", &proof[64..])), "Gamma is not canonically"),
        (line(&key, &alpha, &format!("{}{ones}", &proof[..96])), "scalar s is not below the group"),
        (line(&key, "00", &proof), "the proof is not valid for this public key and input"),
        ("x".repeat((4 << 20) + 1), "line is longer than 4194304 bytes"),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows");
    let mut lines = String::new();
    for (row, _) in &bad {
        lines += &format!("{row}\n{good}\n");
    }
    std::fs::write(&path, lines).expect("written");
    let output = batch(&path, &["--name-failures", "1000"]);
    assert_eq!(output.status.code(), Some(1));
    let answers = read_lines(&text(&output.stdout));
    assert_eq!(answers.len(), 2 * bad.len());
    for (i, (row, ok, said)) in answers.iter().enumerate() {
        assert_eq!((*row, *ok), (i as u64 + 1, i % 2 == 1), "{said}");
        if !ok {
            assert!(said.contains(bad[i / 2].1), "{said}, expected {}", bad[i / 2].1);
            assert!(text(&output.stderr).contains(&format!("row {row}: {said}")));
        }
    }
}

/// What is wrong with a proof, a key, an output or a header is said of that one.
#[test]
fn bad_input_is_told_of_by_name() {
    let [key, alpha, proof] = rows(1).remove(0).map(hex::encode);
    let header = vector("cardano-headers/preprod_70070331.cbor");
    let header_bytes = std::fs::read(&header).expect("a header");
    let folder = tempfile::tempdir().expect("a folder");
    let header_with = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = header_bytes.clone();
        change(&mut bytes);
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let verify = |key: &str, proof: &str, more: &[&str]| {
        let fixed = ["verify", "--suite", SUITE, "-p", key, "-s", proof, "--alpha", &alpha];
        [&fixed[..], more].concat().iter().map(ToString::to_string).collect::<Vec<String>>()
    };
    let read_header = |path: &str, nonce: &str| {
        ["verify-header", path, "--nonce", nonce].map(ToString::to_string).to_vec()
    };
    let good_header = header.to_str().expect("UTF-8");
    let nonce = "00".repeat(32);
    let other = format!("{}{}", if proof.starts_with("00") { "01" } else { "00" }, &proof[2..]);
    for (arguments, code, says) in [
        (verify("00", &proof, &[]), 2, "public key of 1 bytes, expected 32"),
        (verify("0", &proof, &[]), 2, "the public key is not hex: 1 digits, an odd number"),
        (verify(&key, "00", &[]), 2, "proof of 1 bytes, expected 80"),
        (verify(&key, "zz", &[]), 2, "the proof is not hex"),
        (verify(&"00".repeat(32), &proof, &[]), 2, "public key is a point of small order"),
        (verify(&key, &"ff".repeat(80), &[]), 2, "Gamma is not canonically encoded"),
        (verify(&key, &other, &[]), 1, ""), // not on the curve, or not valid
        (verify(&key, &proof, &["--output", "00"]), 2, "output of 1 bytes, expected 64"),
        (verify(&key, &proof, &["--output", "0"]), 2, "the output is not hex"),
        (verify(&key, &proof, &["--output", &"00".repeat(64)]), 1, "valid, and of another output"),
        (read_header(good_header, "00"), 2, "the nonce is 1 bytes long, expected 32"),
        (read_header(good_header, "xy"), 2, "the nonce is not hex"),
        (read_header(good_header, &nonce), 1, "not valid"),
        (read_header(&header_with("a", &|b| b.truncate(200)), &nonce), 2, "header field"),
        (read_header(&header_with("b", &|b| b.push(0)), &nonce), 2, "1 bytes follow the header"),
        (read_header(&header_with("c", &|b| b[1] = 0x8f), &nonce), 2, "15 elements, expected 10"),
        (read_header(&header_with("d", &|b| b[1] = 0x89), &nonce), 2, "9 elements, expected 10"),
    ] {
        let borrowed: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = vrf(&borrowed).output().expect("the command starts");
        let said = text(&output.stderr);
        assert!(said.contains(says), "{arguments:?}: {said}");
        let status = output.status.code();
        assert!(status == Some(code) || (says.is_empty() && status == Some(2)), "{arguments:?}");
    }
}

/// The peak of a process's memory, in KiB, until it ends.
#[cfg(target_os = "linux")]
fn peak_of(mut command: Command) -> (Option<i32>, u64) {
    let mut child = command.stderr(Stdio::null()).spawn().expect("the command starts");
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        if let Some(status) = child.try_wait().expect("the process") {
            return (status.code(), peak);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_million_rows_take_little_memory() {
    if std::env::var("TETRALITH_SLOW").as_deref() != Ok("1") {
        println!("left out, for want of TETRALITH_SLOW=1");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let n = 1_000_000;
    write_lines(&at("in.jsonl"), n);
    write_parquet(&at("in.parquet"), n);
    for (input, output) in [("in.jsonl", "out.jsonl"), ("in.parquet", "out.parquet")] {
        let mut command = vrf(&["verify-batch", "--suite", SUITE, "--name-failures", "0"]);
        command.arg(at(input)).arg("-o").arg(at(output));
        let (code, peak) = peak_of(command);
        assert_eq!(code, Some(1));
        println!("{input}: peak {peak} KiB");
        assert!(peak > 0 && peak < 200 << 10, "{input}: {peak} KiB");
        let answers = match output {
            "out.jsonl" => read_lines(&std::fs::read_to_string(at(output)).expect("read")),
            _ => read_parquet(&at(output)),
        };
        assert_eq!(answers.len(), n);
        for (i, (row, ok, _)) in answers.iter().enumerate() {
            assert_eq!((*row, *ok), (i as u64 + 1, i % 97 != 96));
        }
    }
}
