//! Comma-separated values after a header.
//!
//! RFC 4180

use crate::Column;
use crate::block::{Block, Part, Raw, Value};
use crate::error::Error;
use crate::format::Format;
use crate::rows::{MAX_LINE, Parts};
use ::csv::{ByteRecord, Reader, ReaderBuilder, Trim};
use std::io::Read;

/// A source that gives no more than [`MAX_LINE`] bytes for a row: an open quote could take in the whole
/// file.
struct Metered<R> {
    inner: R,
    taken: usize,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.taken > MAX_LINE {
            let reason = format!("the row is longer than {MAX_LINE} bytes");
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, reason));
        }
        let read = self.inner.read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}

/// Rows being read.
pub(crate) struct Csv<R> {
    reader: Reader<Metered<R>>,
    columns: &'static [Column],
    /// Where each column is among a row's fields.
    places: Vec<Option<usize>>,
    /// How many fields the header has.
    fields: usize,
    record: ByteRecord,
    row: u64,
    /// What comes after the rows that were read.
    fault: Option<Error>,
}

impl<R: Read> Csv<R> {
    /// Reads the header.
    pub(crate) fn open(source: R, columns: &'static [Column]) -> Result<Csv<R>, Error> {
        let mut reader = ReaderBuilder::new()
            .flexible(true)
            .trim(Trim::All)
            .buffer_capacity(1 << 16)
            .from_reader(Metered { inner: source, taken: 0 });
        let not_readable = |reason| Error::NotReadable { format: Format::Csv, reason };
        let header = match reader.byte_headers() {
            Ok(header) => header.clone(),
            Err(error) => return Err(fault(&error).map_or_else(Error::read, not_readable)),
        };
        let names: Vec<&str> =
            header.iter().map(|name| std::str::from_utf8(name).unwrap_or("?")).collect();
        let mut places = Vec::with_capacity(columns.len());
        for column in columns {
            let times = names.iter().filter(|&&name| name == column.name).count();
            match times {
                0 if column.required => {
                    return Err(Error::missing(column.name, names.iter().copied()));
                }
                0 | 1 => places.push(names.iter().position(|&name| name == column.name)),
                _ => return Err(Error::DuplicateColumn { column: column.name.into(), times }),
            }
        }
        let fields = header.len();
        let record = ByteRecord::new();
        Ok(Csv { reader, columns, places, fields, record, row: 1, fault: None })
    }

    fn read_row(&mut self, block: &mut Block) -> Result<bool, Error> {
        self.reader.get_mut().taken = 0;
        match self.reader.read_byte_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => {
                let damaged = |reason| Error::Damaged { row: self.row, column: None, reason };
                return Err(fault(&error).map_or_else(Error::read, damaged));
            }
        }
        self.row += 1;
        if self.record.len() != self.fields {
            let said = format!("{} fields, the header has {}", self.record.len(), self.fields);
            block.push_fault(&said);
            return Ok(true);
        }
        block.push(self.columns, |i| match self.places[i] {
            None => Value::Missing,
            Some(at) if !self.columns[i].required && self.record[at].is_empty() => Value::Null,
            Some(at) => Value::Text(&self.record[at]),
        });
        Ok(true)
    }
}

/// What is wrong with the text, or else with the system.
fn fault(error: &::csv::Error) -> Result<String, String> {
    match error.kind() {
        ::csv::ErrorKind::Io(io) if io.kind() != std::io::ErrorKind::InvalidData => {
            Err(io.to_string())
        }
        ::csv::ErrorKind::Io(io) => Ok(io.to_string()),
        _ => Ok(error.to_string()),
    }
}

impl<R: Read + Send> Parts for Csv<R> {
    fn next_part(&mut self) -> Result<Option<Part>, Error> {
        let mut block = Block::new(self.columns.len());
        while !block.is_full() && self.fault.is_none() {
            match self.read_row(&mut block) {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => self.fault = Some(fault),
            }
        }
        if let Some(fault) = self.fault.take_if(|_| block.is_empty()) {
            return Err(fault);
        }
        Ok((!block.is_empty()).then_some(Part(Raw::Block(block))))
    }
}
