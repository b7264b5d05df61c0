//! Results, written row by row in any format.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "parquet")]
mod parquet;

use crate::error::Error;
use crate::format::Format;
use serde_json::json;
use std::io::Write;

/// What a field's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number of 63 bits.
    Number,
    /// A truth.
    Flag,
    /// Bytes; hex digits where the file has text.
    Bytes,
    /// Text.
    Text,
}

/// A column that is written. All but numbers and truths may have no value in some rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub shape: Shape,
}

impl Field {
    /// A column.
    #[must_use]
    pub const fn new(name: &'static str, shape: Shape) -> Field {
        Field { name, shape }
    }

    #[cfg(any(feature = "arrow", feature = "parquet"))]
    fn is_optional(&self) -> bool {
        matches!(self.shape, Shape::Bytes | Shape::Text)
    }
}

/// A value that is written, of its column's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A number.
    Number(u64),
    /// A truth.
    Flag(bool),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Text.
    Text(&'a str),
}

impl Cell<'_> {
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Cell::Bytes(bytes) => Some(bytes),
            Cell::Text(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    #[cfg(any(feature = "arrow", feature = "parquet"))]
    fn number(&self) -> i64 {
        match self {
            Cell::Number(number) => i64::try_from(*number).unwrap_or(i64::MAX),
            _ => 0,
        }
    }

    #[cfg(any(feature = "arrow", feature = "parquet"))]
    fn flag(&self) -> bool {
        matches!(self, Cell::Flag(true))
    }
}

/// A file being written.
pub struct Table<W: Write + Send> {
    fields: &'static [Field],
    target: Target<W>,
}

enum Target<W: Write + Send> {
    Jsonl(W),
    Csv(Box<::csv::Writer<W>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Parquet<W>>),
    #[cfg(feature = "arrow")]
    Arrow(Box<arrow::Arrow<W>>),
}

impl<W: Write + Send> Table<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// [`Error::Write`], or the format is not part of this build.
    pub fn new(format: Format, fields: &'static [Field], target: W) -> Result<Table<W>, Error> {
        let target = match format {
            Format::Jsonl => Target::Jsonl(target),
            Format::Csv => {
                let mut writer = ::csv::Writer::from_writer(target);
                let names = fields.iter().map(|field| field.name);
                writer.write_record(names).map_err(Error::write)?;
                Target::Csv(Box::new(writer))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => Target::Parquet(Box::new(parquet::Parquet::new(fields, target)?)),
            #[cfg(feature = "arrow")]
            Format::Arrow => Target::Arrow(Box::new(arrow::Arrow::new(fields, target)?)),
            #[allow(unreachable_patterns)] // none is left with all features
            _ => return Err(Error::NotBuilt(format.name().into())),
        };
        Ok(Table { fields, target })
    }

    /// Writes rows, one row group or record batch where the format has them. Values are in the order of
    /// the fields.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&mut self, rows: &[Vec<Cell<'_>>]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let fields = self.fields;
        match &mut self.target {
            Target::Jsonl(writer) => {
                rows.iter().try_for_each(|row| line(writer, fields, row)).map_err(Error::write)
            }
            Target::Csv(writer) => rows
                .iter()
                .try_for_each(|row| writer.write_record(row.iter().map(text)))
                .map_err(Error::write),
            #[cfg(feature = "parquet")]
            Target::Parquet(writer) => writer.write(fields, rows),
            #[cfg(feature = "arrow")]
            Target::Arrow(writer) => writer.write(fields, rows),
        }
    }

    /// Writes the end and gives back what was written to.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(self) -> Result<W, Error> {
        match self.target {
            Target::Jsonl(mut writer) => writer.flush().map(|()| writer).map_err(Error::write),
            Target::Csv(writer) => writer.into_inner().map_err(|error| Error::write(error.error())),
            #[cfg(feature = "parquet")]
            Target::Parquet(writer) => writer.finish(),
            #[cfg(feature = "arrow")]
            Target::Arrow(writer) => writer.finish(),
        }
    }
}

/// Writes an object, without the fields that have no value.
fn line(writer: &mut impl Write, fields: &[Field], row: &[Cell<'_>]) -> std::io::Result<()> {
    let mut before = "{";
    for (field, cell) in fields.iter().zip(row) {
        let value = match cell {
            Cell::Null => continue,
            Cell::Number(number) => json!(number),
            Cell::Flag(flag) => json!(flag),
            Cell::Bytes(bytes) => json!(hex::encode(bytes)),
            Cell::Text(text) => json!(text),
        };
        write!(writer, "{before}\"{}\":{value}", field.name)?;
        before = ",";
    }
    writer.write_all(if before == "{" { b"{}\n" } else { b"}\n" })
}

/// A value in a CSV file.
fn text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Number(number) => number.to_string(),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Bytes(bytes) => hex::encode(bytes),
        Cell::Text(text) => (*text).to_owned(),
    }
}

#[cfg(test)]
mod tests;
