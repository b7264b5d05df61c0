//! Rows to verify from Apache Parquet, and verdicts into it.
//!
//! [`Rows`] reads the columns `public_key`, `alpha` and `proof`, in any order and among any others.
//! They are of type BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY and hold bytes, or hex where they are annotated
//! as strings. [`Verdicts`] writes `row`, `ok`, `output` and `error`.
//!
//! Files are hostile. Rows are read one by one and copied, from pages of at most [`MAX_PAGE`] bytes,
//! so that memory does not grow with the file.
//!
//! Apache Parquet format 2.11

mod pages;
mod values;
mod verdicts;

pub use verdicts::Verdicts;

use crate::error::Error;
use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use ::parquet::file::reader::ChunkReader;
use ::parquet::schema::types::ColumnDescriptor;
use pages::{Bounded, Chunk, Fault};
use std::sync::Arc;
use values::Kind;

/// The most bytes of one page, compressed and not, and of a file's footer.
pub const MAX_PAGE: usize = 64 << 20;

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
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    index: usize,
    kind: Kind,
    is_hex: bool,
}

/// The rows of a file, in order.
pub struct Rows<R: ChunkReader> {
    source: Arc<Bounded<R>>,
    metadata: ParquetMetaData,
    columns: [Column; 3],
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
        let source = Bounded::new(source);
        let metadata = ParquetMetaDataReader::new()
            .parse_and_finish(&source)
            .map_err(|error| ParquetError::Footer(error.to_string()))?;
        let [a, b, c] = COLUMNS.map(|name| find_column(&metadata, name));
        let columns = [a?, b?, c?];
        let (source, chunks) = (Arc::new(source), Vec::new());
        Ok(Rows { source, metadata, columns, group: 0, left: 0, chunks, row: 1, fault: None })
    }

    /// How many rows the footer says there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        let groups = self.metadata.row_groups().iter();
        groups.map(|group| rows_of(group.num_rows())).fold(0, u64::saturating_add)
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
            if self.group == self.metadata.num_row_groups() {
                return Ok(None);
            }
            self.next_group()?;
        }
        let mut values = [const { None }; 3];
        for ((value, chunk), column) in values.iter_mut().zip(&mut self.chunks).zip(&self.columns) {
            *value = chunk.next().map_err(|reason| damaged(self.row, column.name, reason))?;
        }
        self.left -= 1;
        self.row += 1;
        let [public_key, alpha, proof] = values;
        let row = || {
            Ok(OwnedRow {
                public_key: self.columns[0].bytes(public_key)?,
                alpha: self.columns[1].bytes(alpha)?,
                proof: self.columns[2].bytes(proof)?,
            })
        };
        Ok(Some(row()))
    }

    fn next_group(&mut self) -> Result<(), Error> {
        let group = self.metadata.row_group(self.group);
        let rows = rows_of(group.num_rows());
        let mut chunks = Vec::with_capacity(3);
        for column in &self.columns {
            let chunk = group
                .columns()
                .get(column.index)
                .ok_or_else(|| damaged(self.row, column.name, "is not in the row group"))?;
            let chunk = Chunk::new(&self.source, column.name, column.kind, chunk, rows);
            chunks.push(chunk.map_err(|fault| match fault {
                Fault::Named(error) => error,
                Fault::Damage(reason) => damaged(self.row, column.name, reason),
            })?);
        }
        self.chunks = chunks;
        self.left = rows;
        self.group += 1;
        Ok(())
    }
}

impl Column {
    fn bytes(&self, value: Option<Vec<u8>>) -> Result<Vec<u8>, RowError> {
        let bytes = value.ok_or(RowError::Null(self.name))?;
        if !self.is_hex {
            return Ok(bytes);
        }
        hex::decode(bytes).map_err(|reason| RowError::NotHex { column: self.name, reason })
    }
}

fn damaged(row: u64, column: &'static str, reason: impl ToString) -> ParquetError {
    ParquetError::Page { row, column, reason: reason.to_string() }
}

fn rows_of(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn find_column(metadata: &ParquetMetaData, name: &'static str) -> Result<Column, ParquetError> {
    let schema = metadata.file_metadata().schema_descr();
    let at = |descriptor: &ColumnDescriptor| descriptor.path().parts()[..] == [name];
    let index = schema
        .columns()
        .iter()
        .position(|descriptor| at(descriptor))
        .ok_or(ParquetError::MissingColumn(name))?;
    let descriptor = schema.column(index);
    if descriptor.max_rep_level() > 0 || descriptor.max_def_level() > 1 {
        return Err(ParquetError::Nested(name));
    }
    let fixed = match descriptor.physical_type() {
        Type::BYTE_ARRAY => None,
        Type::FIXED_LEN_BYTE_ARRAY => {
            Some(usize::try_from(descriptor.type_length()).unwrap_or_default())
        }
        got => return Err(ParquetError::ColumnType { column: name, got: got.to_string() }),
    };
    if fixed == Some(0) {
        let got = "FIXED_LEN_BYTE_ARRAY of length 0".into();
        return Err(ParquetError::ColumnType { column: name, got });
    }
    let kind = Kind { fixed, optional: descriptor.max_def_level() == 1 };
    let is_hex = descriptor.logical_type_ref() == Some(&LogicalType::String)
        || descriptor.converted_type() == ConvertedType::UTF8;
    Ok(Column { name, index, kind, is_hex })
}

#[cfg(test)]
mod tests;
