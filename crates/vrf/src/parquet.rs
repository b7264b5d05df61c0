//! Rows to verify from Apache Parquet, and verdicts into it.
//!
//! [`Rows`] reads the columns `public_key`, `alpha` and `proof`, in any order and among any others.
//! They are of type BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY and hold bytes, or hex where they are annotated
//! as strings. [`Verdicts`] writes `row`, `ok`, `output` and `error`.
//!
//! Files are hostile. Their headers, pages and values are decoded here, by decoders that count bytes
//! before they believe a number, and not by the `parquet` crate, which reserves what a footer states.
//! Rows are read one by one, from pages of at most [`MAX_PAGE`] bytes, so that memory does not grow with
//! the file: at most some 100 MiB a column, whatever it says.
//!
//! Apache Parquet format 2.11

mod footer;
mod pages;
mod thrift;
mod values;
mod verdicts;

pub use verdicts::Verdicts;

use crate::error::Error;
use ::parquet::file::reader::ChunkReader;
use bytes::Bytes;
use footer::Footer;
use pages::{Chunk, Source};
use std::sync::Arc;
use values::Kind;

/// The most bytes of one page, compressed and not, and of a file's footer.
pub const MAX_PAGE: usize = 64 << 20;
/// The most bytes of the page of a dictionary, compressed and not.
pub const MAX_DICTIONARY: usize = 16 << 20;
/// The most bytes of a value.
pub const MAX_VALUE: usize = 4 << 20;

/// The names of the columns that are read.
pub const COLUMNS: [&str; 3] = ["public_key", "alpha", "proof"];

/// A Parquet file that cannot be read, or read further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetError {
    /// The footer is not one of a Parquet file.
    #[error("not a readable Parquet file: {0}")]
    Footer(String),
    /// A column is missing.
    #[error("no column is named {0}; columns are public_key, alpha and proof")]
    MissingColumn(&'static str),
    /// A column is not of bytes.
    #[error("column {column} is of type {got}, expected BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY")]
    ColumnType {
        /// The column's name.
        column: &'static str,
        /// Its physical type.
        got: String,
    },
    /// A column has lists of values.
    #[error("column {0} has more than one value a row, or belongs to a group")]
    Nested(&'static str),
    /// A column is compressed in a way that is not read.
    #[error("column {column} is compressed with {got}; SNAPPY and UNCOMPRESSED are read")]
    Compression {
        /// The column's name.
        column: &'static str,
        /// The codec.
        got: String,
    },
    /// A page cannot be decoded.
    #[error("row {row}, column {column}: {reason}")]
    Page {
        /// The first row, from 1, that cannot be read.
        row: u64,
        /// The column's name.
        column: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Writing failed.
    #[error("writing Parquet: {0}")]
    Write(String),
}

/// A row that says something, if not what it should.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// A value is missing.
    #[error("{0} is null")]
    Null(&'static str),
    /// A value is too long.
    #[error("{column} is longer than {MAX_VALUE} bytes")]
    TooLong {
        /// The column's name.
        column: &'static str,
    },
    /// A string is not hex.
    #[error("{column} is not hex: {reason}")]
    NotHex {
        /// The column's name.
        column: &'static str,
        /// What is wrong.
        reason: hex::FromHexError,
    },
}

/// The bytes of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedRow {
    /// The public key.
    pub public_key: Vec<u8>,
    /// The input.
    pub alpha: Vec<u8>,
    /// The proof.
    pub proof: Vec<u8>,
}

/// A column of the file.
#[derive(Clone, Copy, Debug)]
struct Column {
    name: &'static str,
    index: usize,
    kind: Kind,
    is_hex: bool,
}

/// The rows of a file, in order.
pub struct Rows<R: ChunkReader> {
    source: Arc<Source<R>>,
    footer: Footer,
    /// The next row group.
    group: usize,
    /// Rows of the group before that are still to come, and what reads them.
    left: u64,
    chunks: Vec<Chunk<R>>,
    /// The next row, from 1.
    row: u64,
    /// What ended the reading.
    fault: Option<Error>,
}

impl<R: ChunkReader> Rows<R> {
    /// Reads the footer.
    ///
    /// # Errors
    /// [`Error::Parquet`]: it is damaged, or its columns are not as they should be.
    pub fn open(source: R) -> Result<Rows<R>, Error> {
        let source = Source::new(source);
        let footer = Footer::read(&source)?;
        let (source, chunks) = (Arc::new(source), Vec::new());
        Ok(Rows { source, footer, group: 0, left: 0, chunks, row: 1, fault: None })
    }

    /// How many rows the footer says there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.footer.groups.iter().map(|group| group.rows).sum()
    }

    /// Reads the next row; none after the last.
    ///
    /// # Errors
    /// [`Error::Parquet`] when the file cannot be read further, and ever after. A row of bad values is no
    /// such error.
    pub fn next_row(&mut self) -> Result<Option<Result<OwnedRow, RowError>>, Error> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.read_row().inspect_err(|fault| self.fault = Some(fault.clone()))
    }

    fn read_row(&mut self) -> Result<Option<Result<OwnedRow, RowError>>, Error> {
        while self.left == 0 {
            if self.group == self.footer.groups.len() {
                return Ok(None);
            }
            self.next_group()?;
        }
        let mut values = [const { None }; 3];
        for ((value, chunk), column) in
            values.iter_mut().zip(&mut self.chunks).zip(&self.footer.columns)
        {
            *value = chunk.next().map_err(|reason| damaged(self.row, column.name, reason))?;
        }
        self.left -= 1;
        self.row += 1;
        let [public_key, alpha, proof] = values;
        let [first, second, third] = &self.footer.columns;
        let row = || {
            Ok(OwnedRow {
                public_key: first.bytes(public_key)?,
                alpha: second.bytes(alpha)?,
                proof: third.bytes(proof)?,
            })
        };
        Ok(Some(row()))
    }

    fn next_group(&mut self) -> Result<(), Error> {
        let group = self.footer.groups[self.group];
        let mut chunks = Vec::with_capacity(3);
        for (column, place) in self.footer.columns.iter().zip(group.chunks) {
            let chunk = Chunk::new(&self.source, column.kind, place, group.rows);
            let codec = |got| ParquetError::Compression { column: column.name, got };
            chunks.push(chunk.map_err(codec)?);
        }
        self.chunks = chunks;
        self.left = group.rows;
        self.group += 1;
        Ok(())
    }
}

impl Column {
    fn bytes(&self, value: Option<Bytes>) -> Result<Vec<u8>, RowError> {
        let column = self.name;
        let bytes = value.ok_or(RowError::Null(column))?;
        let most = if self.is_hex { 2 * MAX_VALUE } else { MAX_VALUE };
        if bytes.len() > most {
            return Err(RowError::TooLong { column });
        }
        if !self.is_hex {
            return Ok(bytes.to_vec());
        }
        hex::decode(bytes).map_err(|reason| RowError::NotHex { column, reason })
    }
}

fn damaged(row: u64, column: &'static str, reason: String) -> ParquetError {
    ParquetError::Page { row, column, reason }
}

#[cfg(test)]
mod tests;
