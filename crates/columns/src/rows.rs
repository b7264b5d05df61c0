//! Rows of any format, a part at a time.

use crate::Column;
use crate::block::Part;
use crate::csv::Csv;
use crate::error::Error;
use crate::format::Format;
use crate::jsonl::Lines;
use std::fs::File;
use std::io::{BufReader, Read};
#[cfg(any(feature = "arrow", feature = "parquet"))]
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The longest line or CSV row that is read, in bytes.
pub const MAX_LINE: usize = 4 << 20;

/// What reads a format.
pub(crate) trait Parts: Send {
    /// How many rows there are, where the file says it in front.
    fn total(&self) -> Option<u64> {
        None
    }

    /// The next rows, none after the last.
    fn next_part(&mut self) -> Result<Option<Part>, Error>;
}

/// The rows of a file, in order.
pub struct Rows {
    parts: Box<dyn Parts>,
    is_over: bool,
    /// What ended the reading.
    fault: Option<Error>,
}

impl Rows {
    pub(crate) fn new(parts: impl Parts + 'static) -> Rows {
        Rows { parts: Box::new(parts), is_over: false, fault: None }
    }

    /// Reads rows that are text.
    ///
    /// # Errors
    /// The header of a CSV file has not the columns that it should, or `format` is not text.
    pub fn from_text(
        source: impl Read + Send + 'static,
        format: Format,
        columns: &'static [Column],
    ) -> Result<Rows, Error> {
        match format {
            Format::Jsonl => {
                Ok(Rows::new(Lines::new(BufReader::with_capacity(1 << 16, source), columns)))
            }
            Format::Csv => Ok(Rows::new(Csv::open(source, columns)?)),
            Format::Parquet | Format::Arrow => {
                Err(Error::NotReadable { format, reason: "it is not text".into() })
            }
        }
    }

    /// Reads a file of any format in this process. A hostile file of Parquet or Arrow may take any amount
    /// of memory: see the crate's text.
    ///
    /// # Errors
    /// It is not of its format, or its columns are not as they should be.
    pub fn from_file(
        file: File,
        format: Format,
        columns: &'static [Column],
    ) -> Result<Rows, Error> {
        match format {
            Format::Csv | Format::Jsonl => Rows::from_text(file, format, columns),
            #[cfg(feature = "parquet")]
            Format::Parquet => guarded(format, || crate::parquet::Parquet::open(file, columns)),
            #[cfg(feature = "arrow")]
            Format::Arrow => {
                guarded(format, || crate::arrow::Arrow::open(BufReader::new(file), columns))
            }
            #[allow(unreachable_patterns)] // one, or none, with all features
            _ => Err(Error::NotBuilt(format.name().into())),
        }
    }

    /// Reads a Parquet file that is in memory, with the warning of [`Rows::from_file`].
    ///
    /// # Errors
    /// As [`Rows::from_file`].
    #[cfg(feature = "parquet")]
    pub fn from_parquet(file: bytes::Bytes, columns: &'static [Column]) -> Result<Rows, Error> {
        guarded(Format::Parquet, || crate::parquet::Parquet::open(file, columns))
    }

    /// Reads an Arrow file or stream that is in memory, with the warning of [`Rows::from_file`].
    ///
    /// # Errors
    /// As [`Rows::from_file`].
    #[cfg(feature = "arrow")]
    pub fn from_arrow(file: Vec<u8>, columns: &'static [Column]) -> Result<Rows, Error> {
        let source = std::io::Cursor::new(file);
        guarded(Format::Arrow, || crate::arrow::Arrow::open(source, columns))
    }

    /// How many rows there are, where the file says it in front.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.parts.total()
    }

    /// Reads the next rows; none after the last.
    ///
    /// # Errors
    /// The file cannot be read further, now and ever after. The rows before the damage were handed out.
    pub fn next_part(&mut self) -> Result<Option<Part>, Error> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if self.is_over {
            return Ok(None);
        }
        match self.parts.next_part() {
            Ok(part) => {
                self.is_over = part.is_none();
                Ok(part)
            }
            Err(fault) => {
                self.fault = Some(fault.clone());
                Err(fault)
            }
        }
    }
}

/// A decoder of others, whose panics are errors.
#[cfg(any(feature = "arrow", feature = "parquet"))]
struct Guarded<P> {
    format: Format,
    parts: P,
    row: u64,
}

#[cfg(any(feature = "arrow", feature = "parquet"))]
fn guarded<P: Parts + 'static>(
    format: Format,
    open: impl FnOnce() -> Result<P, Error>,
) -> Result<Rows, Error> {
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(parts) => Ok(Rows::new(Guarded { format, parts: parts?, row: 1 })),
        Err(panic) => Err(Error::NotReadable { format, reason: said(&*panic) }),
    }
}

/// # Correctness
/// [`Rows`] asks for nothing after an error, so that what a panic left behind is never used.
#[cfg(any(feature = "arrow", feature = "parquet"))]
impl<P: Parts> Parts for Guarded<P> {
    fn total(&self) -> Option<u64> {
        self.parts.total()
    }

    fn next_part(&mut self) -> Result<Option<Part>, Error> {
        match catch_unwind(AssertUnwindSafe(|| self.parts.next_part())) {
            Ok(part) => part.inspect(|part| {
                self.row += part.as_ref().map_or(0, |part| part.len() as u64);
            }),
            Err(panic) => {
                let reason = format!("the {} decoder failed: {}", self.format, said(&*panic));
                Err(Error::Damaged { row: self.row, column: None, reason })
            }
        }
    }
}

/// What a panic says.
#[cfg(any(feature = "arrow", feature = "parquet"))]
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests;
