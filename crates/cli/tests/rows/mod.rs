//! Running batches, and Parquet files that no program writes.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/vrf").join(name)
}

pub(super) fn vrf(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.arg("vrf").args(arguments).env_remove("TETRALITH_KERNEL");
    command
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a batch said.
pub(super) struct Batch {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

pub(super) fn batch(rows: &Path, more: &[&str]) -> Batch {
    let mut command = vrf(&["verify-batch", "--suite", "draft03-cardano"]);
    let output = command.arg(rows).args(more).output().expect("the command starts");
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    Batch { code: output.status.code(), stdout, stderr }
}

/// What a command prints that must succeed.
pub(super) fn ok(arguments: &[&str]) -> String {
    let output = vrf(arguments).output().expect("the command starts");
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

pub(super) fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

pub(super) fn rows_of(text: &str) -> usize {
    text.lines().count()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A file of these pages and a footer of version 1 that goes on with `rest` after the schema of `elements`.
fn file(pages: &[u8], elements: usize, schema: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut footer = vec![0x15, 2, 0x19, 0xfc];
    footer.extend(varint(elements as u64));
    footer.extend_from_slice(schema);
    footer.extend_from_slice(rest);
    let size = (footer.len() as u32).to_le_bytes();
    [b"PAR1", pages, &footer, &size, b"PAR1"].concat()
}

/// A schema element: a group called `m` of so many children.
fn group(children: u64) -> Vec<u8> {
    [&[0x48, 1, b'm', 0x15][..], &varint(2 * children), &[0]].concat()
}

/// A column of bytes that every row has.
fn leaf(name: &str) -> Vec<u8> {
    let name = [&[name.len() as u8], name.as_bytes()].concat();
    [&[0x15, 12, 0x25, 0, 0x18][..], &name, &[0]].concat()
}

const NAMES: [&str; 3] = ["public_key", "alpha", "proof"];

fn schema() -> Vec<u8> {
    [group(3), NAMES.map(leaf).concat()].concat()
}

/// A row group of one row, of which every column is these bytes of the file, compressed with Snappy.
fn row_group(start: u64, length: u64) -> Vec<u8> {
    let chunk = |name: &str| {
        let name = [&[name.len() as u8], name.as_bytes()].concat();
        let meta = [
            &[0x15, 12, 0x19, 0x15, 0, 0x19, 0x18][..],
            &name,
            &[0x15, 2, 0x16, 2, 0x16][..],
            &varint(2 * length),
            &[0x16],
            &varint(2 * length),
            &[0x26],
            &varint(2 * start),
            &[0],
        ];
        [&[0x26, 0, 0x1c][..], &meta.concat(), &[0]].concat()
    };
    [&[0x19, 0x3c][..], &NAMES.map(chunk).concat(), &[0x16, 0, 0x16, 2, 0]].concat()
}

/// A page of a few bytes that states 2 GiB once it is decompressed.
pub(super) fn page_of_2_gib() -> Vec<u8> {
    let most = varint(2 * (i32::MAX as u64));
    let header = [
        &[0x15, 0, 0x15][..],
        &most,
        &[0x15, 16, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0][..],
    ];
    let pages = [header.concat(), vec![0; 8]].concat();
    let group = row_group(4, pages.len() as u64);
    let rest = [&[0x16, 2, 0x19, 0x1c][..], &group, &[0]].concat();
    file(&pages, 4, &schema(), &rest)
}

/// Groups in groups, `size` bytes of them.
pub(super) fn nested_schema(size: usize) -> Vec<u8> {
    let one = [0x35, 0, 0x18, 1, b'g', 0x15, 2, 0];
    let count = size / one.len();
    let schema = [group(1), one.repeat(count), leaf("x")].concat();
    file(&[], count + 2, &schema, &[0x16, 0, 0x19, 0x0c, 0])
}

/// Columns without end, of a few bytes each.
pub(super) fn wide_schema(size: usize) -> Vec<u8> {
    let one = leaf("x");
    let count = size / one.len();
    let schema = [group(count as u64), one.repeat(count)].concat();
    file(&[], count + 1, &schema, &[0x16, 0, 0x19, 0x0c, 0])
}

/// Row groups without end, which say nothing.
pub(super) fn many_groups(size: usize) -> Vec<u8> {
    let mut rest = vec![0x16, 0, 0x19, 0xfc];
    rest.extend(varint(size as u64));
    rest.extend(vec![0; size]);
    rest.push(0);
    file(&[], 4, &schema(), &rest)
}
