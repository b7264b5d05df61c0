//! Rows from Arrow's interprocess format, files and streams.
//!
//! Columns are Binary or Utf8, with offsets of 32 or 64 bits or as views, FixedSizeBinary, or dictionaries
//! of these. A record batch is in memory at a time.
//!
//! Arrow columnar format 1.5, "Serialization and Interprocess Communication"

use crate::Column;
use crate::block::{Block, Part, Raw, Value};
use crate::error::Error;
use crate::format::Format;
use crate::rows::Parts;
use arrow_array::cast::{AsArray, as_largestring_array, as_string_array};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema};
use std::io::{Read, Seek};
use std::sync::Arc;

/// What a file begins with; a stream begins with a message.
const MAGIC: &[u8] = b"ARROW1";
/// The types that are read.
const TYPES: &str = "Binary, Utf8 or FixedSizeBinary";

/// A file being read.
pub(crate) struct Arrow {
    batches: Box<dyn RecordBatchReader + Send>,
    columns: &'static [Column],
    places: Vec<Option<usize>>,
    batch: Option<Batch>,
    /// The next row, from 1.
    row: u64,
}

/// A record batch, the columns that are looked for in it, and its next row.
struct Batch {
    rows: usize,
    next: usize,
    columns: Vec<Option<Values>>,
}

/// The values of a column, with the keys of a dictionary where it is one.
struct Values {
    array: ArrayRef,
    keys: Option<Vec<Option<usize>>>,
}

fn said(error: &ArrowError) -> String {
    error.to_string().chars().take(300).collect()
}

impl Arrow {
    /// Reads the schema.
    pub(crate) fn open(
        mut source: impl Read + Seek + Send + 'static,
        columns: &'static [Column],
    ) -> Result<Arrow, Error> {
        let mut head = Vec::new();
        source.by_ref().take(MAGIC.len() as u64).read_to_end(&mut head).map_err(Error::read)?;
        source.rewind().map_err(Error::read)?;
        let refused =
            |error: ArrowError| Error::NotReadable { format: Format::Arrow, reason: said(&error) };
        let batches: Box<dyn RecordBatchReader + Send> = match head == MAGIC {
            true => Box::new(FileReader::try_new(source, None).map_err(refused)?),
            false => Box::new(StreamReader::try_new(source, None).map_err(refused)?),
        };
        let places = places(&batches.schema(), columns)?;
        Ok(Arrow { batches, columns, places, batch: None, row: 1 })
    }

    /// The batch that has rows left, none at the end of the file.
    fn batch(&mut self) -> Result<Option<&mut Batch>, Error> {
        while self.batch.as_ref().is_none_or(|batch| batch.next == batch.rows) {
            self.batch = None; // before the next is read, so that there is never more than one
            let Some(next) = self.batches.next() else { return Ok(None) };
            let damaged = |reason| Error::Damaged { row: self.row, column: None, reason };
            let batch = next.map_err(|error| damaged(said(&error)))?;
            self.batch = Some(Batch::new(&batch, &self.places));
        }
        Ok(self.batch.as_mut())
    }
}

/// Finds the columns.
fn places(schema: &Schema, columns: &[Column]) -> Result<Vec<Option<usize>>, Error> {
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    let place = |column: &Column| {
        let times = names().filter(|&name| name == column.name).count();
        match times {
            0 if column.required => return Err(Error::missing(column.name, names())),
            0 => return Ok(None),
            1 => {}
            _ => return Err(Error::DuplicateColumn { column: column.name.into(), times }),
        }
        let at = names().position(|name| name == column.name);
        let found = at.map(|at| schema.field(at).data_type());
        match found {
            Some(found) if !is_read(found) => Err(Error::ColumnType {
                column: column.name.into(),
                found: found.to_string().chars().take(100).collect(),
                expected: TYPES.into(),
            }),
            _ => Ok(at),
        }
    };
    columns.iter().map(place).collect()
}

fn is_read(found: &DataType) -> bool {
    match found {
        DataType::Dictionary(_, values) => {
            is_read(values) && !matches!(**values, DataType::Dictionary(..))
        }
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_)
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Null => true,
        _ => false,
    }
}

impl Batch {
    fn new(batch: &RecordBatch, places: &[Option<usize>]) -> Batch {
        let values = |at: usize| {
            let array = batch.column(at);
            let Some(dictionary) = array.as_any_dictionary_opt() else {
                return Values { array: Arc::clone(array), keys: None };
            };
            let keys = dictionary.normalized_keys();
            let keys = keys.into_iter().enumerate();
            let keys = keys.map(|(i, key)| dictionary.keys().is_valid(i).then_some(key)).collect();
            Values { array: Arc::clone(dictionary.values()), keys: Some(keys) }
        };
        let columns = places.iter().map(|place| place.map(values)).collect();
        Batch { rows: batch.num_rows(), next: 0, columns }
    }
}

impl Values {
    fn value(&self, row: usize) -> Value<'_> {
        let at = match &self.keys {
            None => row,
            Some(keys) => match keys[row] {
                None => return Value::Null,
                Some(at) => at,
            },
        };
        let array = &self.array;
        if array.is_null(at) {
            return Value::Null;
        }
        match array.data_type() {
            DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(at)),
            DataType::LargeBinary => Value::Bytes(array.as_binary::<i64>().value(at)),
            DataType::BinaryView => Value::Bytes(array.as_binary_view().value(at)),
            DataType::FixedSizeBinary(_) => Value::Bytes(array.as_fixed_size_binary().value(at)),
            DataType::Utf8 => Value::Text(as_string_array(array).value(at).as_bytes()),
            DataType::LargeUtf8 => Value::Text(as_largestring_array(array).value(at).as_bytes()),
            DataType::Utf8View => Value::Text(array.as_string_view().value(at).as_bytes()),
            _ => Value::Null, // of the type Null, the only other one that is read
        }
    }
}

impl Parts for Arrow {
    fn next_part(&mut self) -> Result<Option<Part>, Error> {
        let columns = self.columns;
        let mut block = Block::new(columns.len());
        let Some(batch) = self.batch()? else { return Ok(None) };
        while batch.next < batch.rows && !block.is_full() {
            let row = batch.next;
            block.push(columns, |i| {
                batch.columns[i].as_ref().map_or(Value::Missing, |values| values.value(row))
            });
            batch.next += 1;
        }
        self.row += block.len() as u64;
        Ok(Some(Part(Raw::Block(block))))
    }
}
