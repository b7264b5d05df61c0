//! Results into Apache Parquet.

use super::{Cell, Field, Shape};
use crate::error::Error;
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use std::io::Write;
use std::sync::Arc;

/// A file being written.
pub(super) struct Parquet<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> Parquet<W> {
    pub(super) fn new(fields: &[Field], target: W) -> Result<Parquet<W>, Error> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .build();
        let schema = schema(fields).map_err(Error::write)?;
        let writer = SerializedFileWriter::new(target, schema, Arc::new(properties));
        writer.map(Parquet).map_err(Error::write)
    }

    pub(super) fn write(&mut self, fields: &[Field], rows: &[Vec<Cell<'_>>]) -> Result<(), Error> {
        self.write_group(fields, rows).map_err(Error::write)
    }

    fn write_group(
        &mut self,
        fields: &[Field],
        rows: &[Vec<Cell<'_>>],
    ) -> Result<(), ParquetError> {
        let mut group = self.0.next_row_group()?;
        for (i, field) in fields.iter().enumerate() {
            let cells = rows.iter().map(|row| &row[i]);
            match field.shape {
                Shape::Number => {
                    let values: Vec<i64> = cells.map(Cell::number).collect();
                    column::<Int64Type, W>(&mut group, &values, None)?;
                }
                Shape::Flag => {
                    let values: Vec<bool> = cells.map(Cell::flag).collect();
                    column::<BoolType, W>(&mut group, &values, None)?;
                }
                Shape::Bytes | Shape::Text => {
                    let bytes: Vec<Option<&[u8]>> = cells.map(Cell::bytes).collect();
                    let levels: Vec<i16> =
                        bytes.iter().map(|bytes| i16::from(bytes.is_some())).collect();
                    let values: Vec<ByteArray> =
                        bytes.iter().flatten().map(|bytes| bytes.to_vec().into()).collect();
                    column::<ByteArrayType, W>(&mut group, &values, Some(&levels))?;
                }
            }
        }
        group.close().map(|_| ())
    }

    pub(super) fn finish(self) -> Result<W, Error> {
        self.0.into_inner().map_err(Error::write)
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let next = group.next_column()?;
    let mut writer = next.ok_or_else(|| ParquetError::General("a column too many".into()))?;
    writer.typed::<T>().write_batch(values, levels, None)?;
    writer.close()
}

fn schema(fields: &[Field]) -> Result<TypePtr, ParquetError> {
    let field = |field: &Field| {
        let (physical, logical) = match field.shape {
            Shape::Number => (Physical::INT64, None),
            Shape::Flag => (Physical::BOOLEAN, None),
            Shape::Bytes => (Physical::BYTE_ARRAY, None),
            Shape::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition =
            if field.is_optional() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        Type::primitive_type_builder(field.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = fields.iter().map(field).collect::<Result<_, _>>()?;
    Ok(Arc::new(Type::group_type_builder("rows").with_fields(fields).build()?))
}
