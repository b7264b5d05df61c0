//! Any bytes as CSV and as JSON lines: each row has values or a fault, and nothing panics.

use std::io::Cursor;
use tetralith_columns::{Column, Format, Rows};

const COLUMNS: [Column; 3] =
    [Column::bytes("key"), Column::bytes("alpha"), Column::text("suite").optional()];

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Some((&form, text)) = data.split_first() else { return };
    let (format, head) = match form % 2 == 1 {
        true => (Format::Csv, &b"key,alpha,suite\n"[..]),
        false => (Format::Jsonl, &b""[..]),
    };
    let source = Cursor::new([head, text].concat());
    let mut rows = Rows::from_text(source, format, &COLUMNS).expect("a header that has all");
    while let Ok(Some(part)) = rows.next_part() {
        for [key, alpha, _] in part.decode().rows::<3>().flatten() {
            assert!(key.is_some() && alpha.is_some());
        }
    }
}
