#![allow(clippy::unwrap_used)]

use super::*;
use std::io::Cursor;

const COLUMNS: [Column; 3] =
    [Column::bytes("key"), Column::bytes("alpha"), Column::text("suite").optional()];

/// Rows as text: values in hex, or what is wrong.
fn said(rows: Result<Rows, Error>) -> Vec<String> {
    let mut said = Vec::new();
    let mut rows = match rows {
        Ok(rows) => rows,
        Err(fault) => return vec![format!("! {fault}")],
    };
    loop {
        match rows.next_part() {
            Ok(None) => return said,
            Err(fault) => {
                said.push(format!("! {fault}"));
                return said;
            }
            Ok(Some(part)) => {
                assert!(part.len() <= crate::PART_ROWS);
                said.extend(part.decode().rows::<3>().map(|row| match row {
                    Ok(values) => {
                        let hex = values.map(|value| value.map_or("-".into(), ::hex::encode));
                        hex.join(" ")
                    }
                    Err(fault) => fault.to_owned(),
                }));
            }
        }
    }
}

fn text(format: Format, text: impl Into<Vec<u8>>) -> Vec<String> {
    said(Rows::from_text(Cursor::new(text.into()), format, &COLUMNS))
}

#[test]
fn lines_are_read() {
    let lines = "\u{feff}{\"key\":\"0xAB\",\"alpha\":\"\",\"other\":[{}],\"suite\":\"s\"}\r\n\
        {\"alpha\":\"\\u0030\\u0031\",\"key\":\"00\",\"suite\":null}\n\
        \n\
        {\"key\":{\"a\":1},\"alpha\":\"00\"}\n\
        {\"key\":\"00\",\"alpha\":\"00\",\"suite\":1}\n\
        {\"key\":\"00\",\"key\":\"00\",\"alpha\":\"00\"}\n\
        {\"key\":[1,[2]],\"alpha\":\"00\"}\n\
        {\"key\":true,\"alpha\":\"00\"}\n\
        {\"key\":1.5,\"alpha\":\"00\"}\n\
        {\"key\":\"00\"} \n\
        7\n\
        {\"key\":\"00\",\"alpha\":\"00\"\n\
        {\"key\":\"00\",\"alpha\":\"00\"}\n \n\n\n";
    let expected = [
        "ab  73",
        "00 01 -",
        "the line is blank, expected a JSON object",
        "key is an object, expected a string of hex digits",
        "suite is a number, expected a string",
        "key is there twice at line 1 column 23",
        "key is an array, expected a string of hex digits",
        "key is a boolean, expected a string of hex digits",
        "key is a number, expected a string of hex digits",
        "alpha is missing",
        "the line is not a JSON object, expected one with key, alpha",
        "EOF while parsing an object at column 26",
        "00 00 -",
    ];
    let got = text(Format::Jsonl, lines);
    assert_eq!(got.len(), expected.len(), "{got:?}");
    for (got, expected) in got.iter().zip(expected) {
        let start = expected.split(" at ").next().unwrap();
        assert!(got.starts_with(start), "{got}, expected {expected}");
    }
    assert_eq!(text(Format::Jsonl, ""), [""; 0]);
    assert_eq!(text(Format::Jsonl, "\n\n\n"), [""; 0]);
    let nested = format!("{{\"other\":{}", "[".repeat(1 << 20));
    assert!(text(Format::Jsonl, nested)[0].starts_with("EOF while parsing a list"));
    let long = format!("{}\n{{\"key\":\"\",\"alpha\":\"\"}}\n", "x".repeat(MAX_LINE + 1));
    assert_eq!(text(Format::Jsonl, long), ["line is longer than 4194304 bytes", "  -"]);
}

#[test]
fn comma_separated_values_are_read() {
    let rows = "\u{feff}suite, key ,other,alpha\r\n\
        s,0xAB,\"a,\nb\",\r\n\
        ,00,,\"01\"\n\
        ,00,,\n\
        ,00\n\
        ,0,,00\n\
        , 00 ,, 00 \n";
    let expected = [
        "ab  73",
        "00 01 -",
        "00  -",
        "2 fields, the header has 4",
        "key is not hex: 1 digits, an odd number",
        "00 00 -",
    ];
    assert_eq!(text(Format::Csv, rows), expected);
    assert_eq!(text(Format::Csv, "key,alpha\n"), [""; 0]);
    assert_eq!(text(Format::Csv, ""), ["! column key is missing; the file has no columns"]);
    assert_eq!(text(Format::Csv, "alpha\n"), ["! column key is missing; the file has alpha"]);
    assert_eq!(
        text(Format::Csv, "alpha,key,alpha\n"),
        ["! column alpha is there 2 times, expected once"]
    );
    // A quote that is never closed does not take the file in.
    let open = format!("key,alpha\n00,00\n00,\"{}", "0\n".repeat(MAX_LINE));
    assert_eq!(
        text(Format::Csv, open),
        ["00 00 -", "! row 2: the row is longer than 4194304 bytes"]
    );
    let many: String = (0..1000).map(|i| format!("{i:04x},00\n")).collect();
    let rows = text(Format::Csv, format!("key,alpha\n{many}"));
    assert_eq!((rows.len(), rows[999].as_str()), (1000, "03e7 00 -"));
}

/// A source that fails after its bytes.
struct Broken(Cursor<Vec<u8>>);

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(std::io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

#[test]
fn rows_before_a_failure_of_the_system_are_there() {
    for (format, rows) in [
        (Format::Csv, "key,alpha\n00,01\n"),
        (Format::Jsonl, "{\"key\":\"00\",\"alpha\":\"01\"}\n"),
    ] {
        let source = Broken(Cursor::new(rows.into()));
        let said = said(Rows::from_text(source, format, &COLUMNS));
        assert_eq!(said, ["00 01 -", "! reading rows: the disk is gone"]);
    }
}

#[cfg(feature = "arrow")]
#[test]
fn arrow_of_others_is_read() {
    const ROWS: [Column; 3] =
        [Column::bytes("public_key"), Column::bytes("alpha"), Column::bytes("proof")];
    let vector = |name: &str| {
        let path = format!("{}/../../vectors/vrf/arrow/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(path).unwrap()
    };
    let binary = said(Rows::from_arrow(vector("binary.arrow"), &ROWS));
    assert_eq!(binary.len(), 12);
    assert_eq!(said(Rows::from_arrow(vector("text_lz4.arrows"), &ROWS)), binary);
    let null = said(Rows::from_arrow(vector("zstd_with_null.arrow"), &ROWS));
    assert_eq!(
        (null[5].as_str(), &null[6..], &null[..5]),
        ("alpha is null", &binary[6..], &binary[..5])
    );
    const WRONG: [Column; 3] =
        [Column::bytes("slot"), Column::bytes("alpha"), Column::bytes("proof")];
    assert_eq!(
        said(Rows::from_arrow(vector("binary.arrow"), &WRONG)),
        ["! column slot is of type Int64, expected Binary, Utf8 or FixedSizeBinary"]
    );
    assert_eq!(
        said(Rows::from_arrow(vector("binary.arrow"), &COLUMNS)),
        ["! column key is missing; the file has slot, public_key, alpha, proof"]
    );
    // Any byte changed or left out: rows or an error, without a panic.
    std::panic::set_hook(Box::new(|_| {})); // those that are caught are expected
    for name in ["binary.arrow", "zstd_with_null.arrow"] {
        let good = vector(name);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x81;
            let _ = said(Rows::from_arrow(bad, &ROWS));
            if at % 7 == 0 {
                let _ = said(Rows::from_arrow(good[..at].to_vec(), &ROWS));
            }
        }
    }
}
