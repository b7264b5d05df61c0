//! `tetralith vrf verify-batch` and `prove-batch` as processes: formats, folders, streams, hostile files.

mod rows;

use rows::{Batch, batch, lines, ok, rows_of, text, vector, vrf};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

/// The rows of the vectors: keys, inputs, proofs.
fn honest() -> Vec<[String; 3]> {
    let all = std::fs::read_to_string(vector("cardano-headers/header_proofs.txt")).expect("read");
    let row = |line: &str| {
        let parts: Vec<&str> = line.split_whitespace().collect();
        [1, 2, 3].map(|i| parts[i].to_owned())
    };
    all.lines().filter(|line| !line.starts_with('#')).take(12).map(row).collect()
}

fn jsonl(rows: &[[String; 3]]) -> String {
    let line = |[key, alpha, proof]: &[String; 3]| {
        json!({ "public_key": key, "alpha": alpha, "proof": proof }).to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

fn csv(rows: &[[String; 3]]) -> String {
    let lines = rows.iter().map(|row| row.join(",") + "\n");
    "public_key,alpha,proof\n".to_owned() + &lines.collect::<String>()
}

/// Another program's files of all formats and codecs have the verdicts of the lines.
#[test]
fn every_format_has_the_same_verdicts() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        path
    };
    let rows = honest();
    let expected = batch(&write("rows.jsonl", &jsonl(&rows)), &[]);
    assert_eq!(expected.code, Some(0), "{}", expected.stderr);
    assert_eq!(lines(&expected.stdout).len(), 12);
    let prefixed: Vec<_> =
        rows.iter().map(|row| row.clone().map(|hex| format!("0x{hex}"))).collect();
    let mut files = vec![
        write("rows.csv", &csv(&rows)),
        write("bom.csv", &format!("\u{feff}{}", csv(&rows))),
        write("prefixed", &csv(&prefixed)),
        write("crlf.csv", &csv(&rows).replace('\n', "\r\n")),
        write("bom.jsonl", &format!("\u{feff}{}", jsonl(&rows))),
        write("blank_end.jsonl", &format!("{}\n \n\n", jsonl(&prefixed))),
        write("more.jsonl", &jsonl(&rows).replace("}", ",\"slot\":{\"a\":[1,null]}}")),
        write("crlf", &jsonl(&rows).replace('\n', "\r\n")),
    ];
    for name in ["snappy", "uncompressed_v2", "zstd", "delta", "gzip", "lz4", "checksums"] {
        files.push(vector(&format!("parquet/{name}.parquet")));
    }
    files.push(vector("arrow/binary.arrow"));
    files.push(vector("arrow/text_lz4.arrows"));
    for file in &files {
        let Batch { code, stdout, stderr } = batch(file, &[]);
        assert_eq!(code, Some(0), "{}: {stderr}", file.display());
        assert_eq!(stdout, expected.stdout, "{}", file.display());
        // The same from a pipe.
        let input = std::fs::File::open(file).expect("opened");
        let mut command = vrf(&["verify-batch", "--suite", "draft03-cardano", "-"]);
        let piped = command.stdin(input).output().expect("the command starts");
        assert_eq!(text(&piped.stdout), expected.stdout, "{}", text(&piped.stderr));
    }
}

/// Answers in each format say the same, and are read again.
#[test]
fn answers_are_written_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let path = |name: &str| at(name).to_str().expect("UTF-8").to_owned();
    std::fs::write(at("key.seed"), [7; 32]).expect("written");
    let (key, seed) = (path("key"), path("key.seed"));
    let keygen = ["keygen", "--suite", "draft03-cardano", "--no-passphrase", "-o", &key];
    ok(&[&keygen[..], &["--seed-file", &seed]].concat());
    let inputs: String = (0..600).map(|i| format!("{:04x}\n", i)).collect();
    std::fs::write(at("in.csv"), format!("alpha\n{inputs}")).expect("written");
    let proved = ok(&["prove-batch", "-k", &path("key"), &path("in.csv")]);
    let proved = lines(&proved);
    assert_eq!(proved.len(), 600);
    let single = ok(&["prove", "-k", &path("key"), "--alpha", "0x0123"]);
    assert_eq!(proved[0x123]["proof"], single.trim());
    for end in ["parquet", "arrow", "csv", "jsonl"] {
        let proofs = path(&format!("proofs.{end}"));
        ok(&["prove-batch", "-k", &path("key"), &path("in.csv"), "-o", &proofs]);
        // Its column `suite` is each row's suite.
        let verdicts = path(&format!("verdicts.{end}"));
        ok(&["verify-batch", &proofs, "-o", &verdicts]);
        let said = lines(&ok(&["verify-batch", &proofs]));
        assert_eq!(said.len(), 600, "{end}");
        for (said, proved) in said.iter().zip(&proved) {
            assert_eq!((&said["row"], &said["ok"]), (&proved["row"], &json!(true)));
            assert_eq!(said["output"], proved["output"]);
        }
    }
    let csv = std::fs::read_to_string(at("verdicts.csv")).expect("read");
    assert_eq!(csv.lines().count(), 601);
    assert!(csv.starts_with("row,ok,output,error\n1,true,"), "{}", &csv[..60]);
    // Rows that are no input are named, and the others proved.
    std::fs::write(at("bad.jsonl"), "{\"alpha\":\"00\"}\n{\"alpha\":\"0\"}\n").expect("written");
    let bad = vrf(&["prove-batch", "-k", &path("key"), &path("bad.jsonl")]).output().expect("ran");
    assert_eq!(bad.status.code(), Some(2), "{}", text(&bad.stderr));
    assert!(text(&bad.stderr).contains("row 2: alpha is not hex: 1 digits, an odd number"));
    assert_eq!(lines(&text(&bad.stdout))[0]["proof"], proved_of(&path("key"), "00"));
}

fn proved_of(key: &str, alpha: &str) -> Value {
    json!(ok(&["prove", "-k", key, "--alpha", alpha]).trim())
}

#[test]
fn a_row_names_its_suite() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.csv");
    let [key, alpha, proof] = honest().remove(0);
    let row = |suite: &str| format!("{key},{alpha},{proof},{suite}\n");
    let rows = [
        row("draft03-cardano"),
        row("draft03-algorand"),
        row("draft13-batchcompat"),
        row("nonsense"),
        row(""),
    ];
    std::fs::write(&path, format!("public_key,alpha,proof,suite\n{}", rows.concat()))
        .expect("written");
    let output = vrf(&["verify-batch"]).arg(&path).output().expect("ran");
    assert_eq!(output.status.code(), Some(1));
    let said = lines(&text(&output.stdout));
    let oks: Vec<bool> = said.iter().map(|row| row["ok"] == true).collect();
    assert_eq!(oks, [true, true, false, false, false], "{said:?}");
    let error = |i: usize| said[i]["error"].as_str().expect("text").to_owned();
    assert!(error(2).contains("proof of 80 bytes, expected 128"), "{}", error(2));
    assert!(error(3).contains("no suite is named \"nonsense\""), "{}", error(3));
    assert_eq!(error(4), "suite is missing, and --suite is not given");
    let said = lines(&batch(&path, &[]).stdout);
    assert_eq!(said[4]["ok"], true);
}

/// What is wrong with a file is said of that file, and of its column.
#[test]
fn files_that_are_not_read_say_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = honest();
    let [key, alpha, proof] = &good[0];
    let long = format!("public_key,alpha,proof\n{key},{alpha},\"{}", "0".repeat(5 << 20));
    let cases: [(&str, &str, &str, &str); 10] = [
        ("empty.jsonl", "", "input.empty", "empty.jsonl has no rows, expected at least one"),
        ("blank.jsonl", "\n\n", "input.empty", "blank.jsonl has no rows"),
        ("header.csv", "public_key,alpha,proof\n", "input.empty", "header.csv has no rows"),
        ("empty.csv", "", "input.csv", "column public_key is missing; the file has no columns"),
        (
            "few.csv",
            "public_key,proof\n",
            "input.csv",
            "column alpha is missing; the file has public_key, proof",
        ),
        (
            "twice.csv",
            "alpha,public_key,alpha,proof\n",
            "input.csv",
            "column alpha is there 2 times, expected once",
        ),
        ("long.csv", &long, "input.csv", "row 1: the row is longer than 4194304 bytes"),
        (
            "empty.parquet",
            "",
            "input.parquet",
            "not a readable Parquet file: 0 bytes, expected at least 12",
        ),
        ("text.arrow", "{}", "input.arrow", "text.arrow: "),
        (
            "short.parquet",
            "PAR1PAR1PAR1",
            "input.parquet",
            "not a readable Parquet file: footer of",
        ),
    ];
    for (name, bytes, code, says) in cases {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        let output = vrf(&["--json", "verify-batch", "--suite", "draft03-cardano"])
            .arg(&path)
            .output()
            .expect("ran");
        assert_eq!(output.status.code(), Some(2), "{name}: {}", text(&output.stdout));
        let last = lines(&text(&output.stdout)).pop().expect("an object");
        let message = last["message"].as_str().expect("text");
        assert_eq!(last["code"], code, "{message}");
        assert!(message.contains(says), "{message}, expected {says}");
    }
    // Rows of another length are bad rows.
    let path = folder.path().join("ragged.csv");
    let rows = format!("public_key,alpha,proof\n{key},{alpha}\n{key},{alpha},{proof}\n");
    std::fs::write(&path, rows).expect("written");
    let Batch { code, stdout, .. } = batch(&path, &[]);
    assert_eq!(code, Some(1));
    let said = lines(&stdout);
    assert_eq!(said[0]["error"], "2 fields, the header has 3");
    assert_eq!(said[1]["ok"], true);
    // Codecs that are not read, and values of hex that are bad.
    let brotli = batch(&vector("parquet/brotli.parquet"), &[]);
    assert_eq!(brotli.code, Some(2));
    assert!(brotli.stderr.contains("column public_key is compressed with BROTLI"));
    let hex = batch(&vector("parquet/hex_with_bad_rows.parquet"), &[]);
    assert_eq!(hex.code, Some(1));
    let failed: Vec<Value> =
        lines(&hex.stdout).into_iter().filter(|row| row["ok"] == false).collect();
    let said: Vec<(u64, &str)> = failed
        .iter()
        .map(|row| (row["row"].as_u64().expect("row"), row["error"].as_str().expect("error")))
        .collect();
    assert_eq!(
        said,
        [
            (4, "proof is not hex: 159 digits, an odd number"),
            (6, "proof is null"),
            (8, "the proof is not valid for this public key and input")
        ]
    );
    let null = lines(&batch(&vector("arrow/zstd_with_null.arrow"), &[]).stdout);
    assert_eq!((null.len(), &null[5]["error"]), (12, &json!("alpha is null")));
}

/// Damage in the third row group: the rows before it are answered, and the fault is told.
#[test]
fn rows_before_damage_are_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bytes = std::fs::read(vector("parquet/snappy.parquet")).expect("read");
    let at = bytes.len() / 2 - 100;
    bytes[at..at + 300].fill(0xff);
    let path = folder.path().join("damaged.parquet");
    std::fs::write(&path, bytes).expect("written");
    let Batch { code, stdout, stderr } = batch(&path, &[]);
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(lines(&stdout).len(), 10, "{stderr}");
    assert!(stderr.contains("damaged.parquet: row 11, column "), "{stderr}");
}

#[test]
fn a_folder_is_read_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = honest();
    let mut spoiled = rows[4..6].to_vec();
    spoiled[1][1] = "00".into();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    };
    write("b.csv", csv(&spoiled).as_bytes());
    write("a.jsonl", jsonl(&rows[..4]).as_bytes());
    write("c.parquet", &std::fs::read(vector("parquet/zstd.parquet")).expect("read"));
    write("_SUCCESS", b"");
    write(".c.parquet.crc", b"x");
    let Batch { code, stdout, stderr } = batch(folder.path(), &[]);
    assert_eq!(code, Some(1), "{stderr}");
    let said = lines(&stdout);
    assert_eq!(said.len(), 18);
    for (i, row) in said.iter().enumerate() {
        assert_eq!((&row["row"], &row["ok"]), (&json!(i + 1), &json!(i != 5)));
    }
    assert!(stderr.contains("b.csv, row 2: the proof is not valid"), "{stderr}");
    write("notes.txt", b"");
    let refused = batch(folder.path(), &[]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("notes.txt: expected only files named"), "{}", refused.stderr);
}

/// Files that make the decoder ask for all memory, go down without end or fail: each is refused with exit
/// code 2 in little time and memory.
#[cfg(target_os = "linux")]
#[test]
fn hostile_files_stop_only_their_decoder() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let cases = [
        ("page.parquet", rows::page_of_2_gib(), "memory allocation of 21474836"),
        ("nested.parquet", rows::nested_schema(4 << 20), "stack"),
        ("schema.parquet", rows::wide_schema(60 << 20), "memory is limited to 1024 MiB"),
        ("groups.parquet", rows::many_groups(48 << 20), "Parquet"),
    ];
    for (name, bytes, says) in cases {
        std::fs::write(at(name), bytes).expect("written");
        let mut command = vrf(&["verify-batch", "--suite", "draft03-cardano"]);
        let start = std::time::Instant::now();
        let output = command.arg(at(name)).output().expect("ran");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {stderr}");
        assert!(stderr.contains(says), "{name}: {stderr}");
        assert!(start.elapsed().as_secs() < 60, "{name}");
        println!("{name}: {:?}, {}", start.elapsed(), stderr.lines().next().unwrap_or_default());
    }
}

/// Changed bytes of files of both formats end with an exit code, never a signal or a hang.
#[test]
fn mutated_files_are_answered_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mutated");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for name in ["parquet/checksums.parquet", "parquet/delta.parquet", "arrow/binary.arrow"] {
        let good = std::fs::read(vector(name)).expect("read");
        for _ in 0..25 {
            let mut bad = good.clone();
            for _ in 0..1 + random() % 4 {
                let (at, byte) = (random() % bad.len(), random() as u8);
                bad[at] = byte;
            }
            std::fs::write(&path, bad).expect("written");
            let Batch { code, stderr, .. } = batch(&path, &["--format", format_of(name)]);
            assert!(matches!(code, Some(0..=2)), "{name}: {code:?} {stderr}");
        }
    }
}

fn format_of(name: &str) -> &str {
    if Path::new(name).extension().is_some_and(|end| end == "arrow") { "arrow" } else { "parquet" }
}

/// A stream's lines are answered before it ends.
#[test]
fn lines_from_a_pipe_need_no_end() {
    let mut child = vrf(&["verify-batch", "--suite", "draft03-cardano", "-", "--format", "jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(jsonl(&honest()).as_bytes()).expect("written");
    drop(input);
    let output = child.wait_with_output().expect("ran");
    assert_eq!(rows_of(&text(&output.stdout)), 12);
}
