//! Which format a file has.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Format {
    /// Apache Parquet.
    Parquet,
    /// Arrow's interprocess format, a file or a stream.
    Arrow,
    /// Comma-separated values with a header. RFC 4180
    Csv,
    /// A JSON object a line.
    Jsonl,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] = [Format::Parquet, Format::Arrow, Format::Csv, Format::Jsonl];

    /// The name that is given on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::Csv => "csv",
            Format::Jsonl => "jsonl",
        }
    }

    /// The format that a file's name tells of by its end.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Format> {
        let end = path.extension()?.to_str()?.to_ascii_lowercase();
        match end.as_str() {
            "parquet" | "pq" => Some(Format::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Format::Arrow),
            "csv" => Some(Format::Csv),
            "json" | "jsonl" | "ndjson" => Some(Format::Jsonl),
            _ => None,
        }
    }

    /// The format that a file's first bytes tell of; lines of JSON if they tell of no other.
    ///
    /// A CSV file is one whose first line has commas and does not begin with `{`.
    #[must_use]
    pub fn of_head(head: &[u8]) -> Format {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        match head {
            [b'P', b'A', b'R', b'1', ..] => Format::Parquet,
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => {
                Format::Arrow
            }
            _ if text.first() == Some(&b'{') => Format::Jsonl,
            _ if line.contains(&b',') => Format::Csv,
            _ => Format::Jsonl,
        }
    }

    /// Whether rows are text.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Format::Csv | Format::Jsonl)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow",
            Format::Csv => "CSV",
            Format::Jsonl => "JSONL",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let format = Format::ALL.into_iter().find(|format| format.name() == name);
        format.ok_or_else(|| {
            format!("unknown format {name:?}, expected parquet, arrow, csv or jsonl")
        })
    }
}
