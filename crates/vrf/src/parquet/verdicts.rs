//! Verdicts into Parquet.

use super::ParquetError;
use crate::error::Error;
use crate::proof::Output;
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use ::parquet::errors::ParquetError as Reason;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use std::io::Write;
use std::sync::Arc;

/// Writes one row for every verdict:
///
/// | column | type | |
/// |---|---|---|
/// | `row` | INT64 | from 1 |
/// | `ok` | BOOLEAN | |
/// | `output` | BYTE_ARRAY, optional | where `ok` |
/// | `error` | STRING, optional | where not |
pub struct Verdicts<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    row: u64,
}

impl From<Reason> for ParquetError {
    fn from(reason: Reason) -> ParquetError {
        ParquetError::Write(reason.to_string())
    }
}

impl<W: Write + Send> Verdicts<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// [`Error::Parquet`]: writing failed.
    pub fn new(target: W) -> Result<Verdicts<W>, Error> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_dictionary_enabled(false)
            .build();
        let schema = schema().map_err(ParquetError::from)?;
        let writer = SerializedFileWriter::new(target, schema, Arc::new(properties))
            .map_err(ParquetError::from)?;
        Ok(Verdicts { writer, row: 1 })
    }

    /// Writes the next verdicts, as a row group.
    ///
    /// # Errors
    /// [`Error::Parquet`]: writing failed.
    pub fn write(&mut self, verdicts: &[Result<Output, String>]) -> Result<(), Error> {
        if verdicts.is_empty() {
            return Ok(());
        }
        let numbers: Vec<i64> = (self.row..).take(verdicts.len()).map(|row| row as i64).collect();
        self.row += verdicts.len() as u64;
        self.write_group(&numbers, verdicts).map_err(ParquetError::from)?;
        Ok(())
    }

    fn write_group(
        &mut self,
        numbers: &[i64],
        verdicts: &[Result<Output, String>],
    ) -> Result<(), Reason> {
        let mut group = self.writer.next_row_group()?;
        let ok: Vec<bool> = verdicts.iter().map(Result::is_ok).collect();
        column::<Int64Type, W>(&mut group, numbers, None)?;
        column::<BoolType, W>(&mut group, &ok, None)?;
        let bytes = |bytes: &[u8]| ByteArray::from(bytes.to_vec());
        let outputs: Vec<ByteArray> =
            verdicts.iter().flatten().map(|output| bytes(output.as_bytes())).collect();
        let levels: Vec<i16> = ok.iter().map(|&ok| i16::from(ok)).collect();
        column::<ByteArrayType, W>(&mut group, &outputs, Some(&levels))?;
        let errors: Vec<ByteArray> =
            verdicts.iter().filter_map(|v| v.as_ref().err()).map(|e| bytes(e.as_bytes())).collect();
        let levels: Vec<i16> = ok.iter().map(|&ok| i16::from(!ok)).collect();
        column::<ByteArrayType, W>(&mut group, &errors, Some(&levels))?;
        group.close()?;
        Ok(())
    }

    /// Writes the footer and gives back what was written to.
    ///
    /// # Errors
    /// [`Error::Parquet`]: writing failed.
    pub fn finish(self) -> Result<W, Error> {
        self.writer.into_inner().map_err(|reason| ParquetError::from(reason).into())
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), Reason> {
    let next = group.next_column()?;
    let mut writer = next.ok_or_else(|| Reason::General("a column too many".into()))?;
    writer.typed::<T>().write_batch(values, levels, None)?;
    writer.close()
}

fn schema() -> Result<TypePtr, Reason> {
    let field = |name: &str, physical, repetition, logical| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = vec![
        field("row", Physical::INT64, Repetition::REQUIRED, None)?,
        field("ok", Physical::BOOLEAN, Repetition::REQUIRED, None)?,
        field("output", Physical::BYTE_ARRAY, Repetition::OPTIONAL, None)?,
        field("error", Physical::BYTE_ARRAY, Repetition::OPTIONAL, Some(LogicalType::String))?,
    ];
    Ok(Arc::new(Type::group_type_builder("verdicts").with_fields(fields).build()?))
}
