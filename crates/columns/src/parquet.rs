//! Rows from Apache Parquet.
//!
//! Columns are of type BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY and hold bytes, or text where they are annotated
//! as strings. A page of each column is in memory at a time. The `parquet` crate decodes; what is checked
//! here before is what it believes: the footer's length, where the chunks of columns are, and that rows,
//! values and row groups are as many as is said.
//!
//! Apache Parquet format 2.11

mod chunk;
mod footer;
mod source;

use crate::Column;
use crate::block::{Block, Part, Raw, Value};
use crate::error::Error;
use crate::rows::Parts;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::reader::{ChunkReader, Length};
use chunk::Chunk;
use footer::Place;
use source::Source;
use std::sync::Arc;

/// The most columns that are looked for.
const MAX_COLUMNS: usize = 8;
/// The most rows that are decoded at a time, and the bytes of values that they are meant to stay below.
const MAX_STEP: usize = 256;
const STEP_BYTES: usize = 4 << 20;

/// A file being read.
pub(crate) struct Parquet<R: ChunkReader> {
    source: Arc<Source<R>>,
    metadata: ParquetMetaData,
    columns: &'static [Column],
    places: Vec<Option<Place>>,
    /// The next row group, and how many rows of the one before are not decoded.
    group: usize,
    left: u64,
    chunks: Vec<Option<Chunk<Source<R>>>>,
    /// Decoded rows that were not handed out, and how many to decode next.
    ready: usize,
    step: usize,
    /// The next row, from 1.
    row: u64,
    /// What comes after the rows that are ready.
    fault: Option<Error>,
}

impl<R: ChunkReader + 'static> Parquet<R> {
    /// Reads the footer.
    pub(crate) fn open(source: R, columns: &'static [Column]) -> Result<Parquet<R>, Error> {
        assert!(columns.len() <= MAX_COLUMNS, "more than {MAX_COLUMNS} columns");
        let source = Source(source);
        let metadata = footer::read(&source)?;
        let places = footer::places(&metadata, columns)?;
        footer::check(&metadata, &places, Length::len(&source))?;
        Ok(Parquet {
            source: Arc::new(source),
            metadata,
            columns,
            places,
            group: 0,
            left: 0,
            chunks: Vec::new(),
            ready: 0,
            step: 1,
            row: 1,
            fault: None,
        })
    }

    /// Decodes rows until some are ready; none are at the end of the file.
    fn decode(&mut self) -> Result<(), Error> {
        while self.ready == 0 {
            if let Some(fault) = self.fault.take() {
                return Err(fault);
            }
            if self.left == 0 {
                if self.group == self.metadata.num_row_groups() {
                    return Ok(());
                }
                self.open_group()?;
                continue;
            }
            self.fill();
        }
        Ok(())
    }

    fn open_group(&mut self) -> Result<(), Error> {
        let group = self.metadata.row_group(self.group);
        self.left = group.num_rows() as u64; // checked not to be negative
        self.group += 1;
        self.chunks.clear();
        for place in &self.places {
            let Some(place) = place else {
                self.chunks.push(None);
                continue;
            };
            let chunk = Chunk::open(&self.source, group, place);
            let chunk = chunk.map_err(|reason| self.damaged(place.column.name, reason))?;
            self.chunks.push(Some(chunk));
        }
        Ok(())
    }

    /// Decodes the same rows of every column, as many as all have.
    fn fill(&mut self) {
        let step = self.step.min(usize::try_from(self.left).unwrap_or(MAX_STEP));
        let (mut ready, mut bytes) = (step, 0);
        let mut faults = Vec::new();
        for (chunk, column) in self.chunks.iter_mut().zip(self.columns) {
            let Some(chunk) = chunk else { continue };
            let (rows, fault) = chunk.fill(step);
            bytes += chunk.bytes();
            if let Some(reason) = fault {
                faults.push((rows, column.name, reason));
            }
            ready = ready.min(rows);
        }
        self.left -= ready as u64;
        self.ready = ready;
        let first = faults.into_iter().find(|(rows, ..)| *rows == ready);
        self.fault = first.map(|(_, column, reason)| Error::Damaged {
            row: self.row + ready as u64,
            column: Some(column.into()),
            reason,
        });
        self.step = match bytes {
            0..STEP_BYTES => (2 * self.step).min(MAX_STEP),
            _ => (self.step / 2).max(1),
        };
    }

    fn damaged(&self, column: &str, reason: String) -> Error {
        Error::Damaged { row: self.row, column: Some(column.into()), reason }
    }
}

impl<R: ChunkReader + 'static> Parts for Parquet<R> {
    fn total(&self) -> Option<u64> {
        Some(self.metadata.file_metadata().num_rows() as u64) // checked not to be negative
    }

    fn next_part(&mut self) -> Result<Option<Part>, Error> {
        let mut block = Block::new(self.columns.len());
        self.decode()?;
        while self.ready > 0 && !block.is_full() {
            let mut values = [Value::Missing; MAX_COLUMNS];
            for (value, chunk) in values.iter_mut().zip(&mut self.chunks) {
                if let Some(chunk) = chunk {
                    *value = chunk.take();
                }
            }
            block.push(self.columns, |i| values[i]);
            self.ready -= 1;
            self.row += 1;
        }
        Ok((!block.is_empty()).then_some(Part(Raw::Block(block))))
    }
}

#[cfg(test)]
mod tests;
