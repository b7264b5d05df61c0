//! What can go wrong with a file.

use crate::Format;
use serde::{Deserialize, Serialize};

/// A file that cannot be read, or read further, or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Error {
    /// The file as a whole is not of its format.
    #[error("not a readable {format} file: {reason}")]
    NotReadable {
        /// The format that was expected.
        format: Format,
        /// What is wrong.
        reason: String,
    },
    /// A column is missing.
    #[error("column {column} is missing; the file has {found}")]
    MissingColumn {
        /// The column's name.
        column: String,
        /// The columns that are there.
        found: String,
    },
    /// A name belongs to more than one column.
    #[error("column {column} is there {times} times, expected once")]
    DuplicateColumn {
        /// The column's name.
        column: String,
        /// How many columns have it.
        times: usize,
    },
    /// A column has values of another type.
    #[error("column {column} is of type {found}, expected {expected}")]
    ColumnType {
        /// The column's name.
        column: String,
        /// The type that it has.
        found: String,
        /// The types that are read.
        expected: String,
    },
    /// A column is compressed in a way that is not read.
    #[error("column {column} is compressed with {found}, expected {expected}")]
    Compression {
        /// The column's name.
        column: String,
        /// The codec that it has.
        found: String,
        /// The codecs that are read.
        expected: String,
    },
    /// The file is damaged from a row on.
    #[error("row {row}{}: {reason}", column.as_ref().map(|c| format!(", column {c}")).unwrap_or_default())]
    Damaged {
        /// The first row, from 1, that cannot be read.
        row: u64,
        /// The column where the damage is, if it is in one.
        column: Option<String>,
        /// What is wrong.
        reason: String,
    },
    /// The process that decodes the file ended without an answer.
    #[error("row {row}: the {format} decoder was stopped: {reason}")]
    Stopped {
        /// The format of the file.
        format: Format,
        /// The first row, from 1, that was not read.
        row: u64,
        /// How the process ended, and its limits.
        reason: String,
    },
    /// The format is not part of this build.
    #[error("this program was built without its feature `{0}`")]
    NotBuilt(String),
    /// The system failed to read.
    #[error("reading rows: {0}")]
    Read(String),
    /// The system failed to write.
    #[error("writing rows: {0}")]
    Write(String),
}

impl Error {
    pub(crate) fn read(error: impl std::fmt::Display) -> Error {
        Error::Read(error.to_string())
    }

    pub(crate) fn write(error: impl std::fmt::Display) -> Error {
        Error::Write(error.to_string())
    }

    pub(crate) fn missing<'a>(column: &str, found: impl IntoIterator<Item = &'a str>) -> Error {
        Error::MissingColumn { column: column.into(), found: listed(found) }
    }
}

/// The most names that a message lists.
const LISTED: usize = 12;

/// Names in words, not too many and none too long.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let short = |name: &str| name.chars().take(40).collect::<String>();
    let some: Vec<String> = names.by_ref().take(LISTED).map(short).collect();
    let more = names.count();
    match (some.is_empty(), more) {
        (true, _) => "no columns".into(),
        (false, 0) => some.join(", "),
        (false, more) => format!("{} and {more} more", some.join(", ")),
    }
}
