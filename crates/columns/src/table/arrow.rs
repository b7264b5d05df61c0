//! Results into an Arrow IPC file.

use super::{Cell, Field, Shape};
use crate::error::Error;
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Schema, SchemaRef};
use std::io::Write;
use std::sync::Arc;

/// A file being written.
pub(super) struct Arrow<W: Write> {
    writer: FileWriter<W>,
    schema: SchemaRef,
}

impl<W: Write> Arrow<W> {
    pub(super) fn new(fields: &[Field], target: W) -> Result<Arrow<W>, Error> {
        let field = |field: &Field| {
            let data_type = match field.shape {
                Shape::Number => DataType::Int64,
                Shape::Flag => DataType::Boolean,
                Shape::Bytes => DataType::Binary,
                Shape::Text => DataType::Utf8,
            };
            arrow_schema::Field::new(field.name, data_type, field.is_optional())
        };
        let schema = Arc::new(Schema::new(fields.iter().map(field).collect::<Vec<_>>()));
        let writer = FileWriter::try_new(target, &schema).map_err(Error::write)?;
        Ok(Arrow { writer, schema })
    }

    pub(super) fn write(&mut self, fields: &[Field], rows: &[Vec<Cell<'_>>]) -> Result<(), Error> {
        let column = |(i, field): (usize, &Field)| -> ArrayRef {
            let cells = rows.iter().map(|row| &row[i]);
            match field.shape {
                Shape::Number => Arc::new(Int64Array::from_iter_values(cells.map(Cell::number))),
                Shape::Flag => Arc::new(BooleanArray::from_iter(cells.map(|c| Some(c.flag())))),
                Shape::Bytes => Arc::new(BinaryArray::from_iter(cells.map(Cell::bytes))),
                Shape::Text => {
                    let text = |cell| if let &Cell::Text(text) = cell { Some(text) } else { None };
                    Arc::new(StringArray::from_iter(cells.map(text)))
                }
            }
        };
        let columns = fields.iter().enumerate().map(column).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        self.writer.write(&batch.map_err(Error::write)?).map_err(Error::write)
    }

    pub(super) fn finish(self) -> Result<W, Error> {
        self.writer.into_inner().map_err(Error::write)
    }
}
