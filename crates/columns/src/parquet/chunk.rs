//! The values of a column in a row group.

use super::footer::{Place, said};
use crate::block::Value;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::column::reader::ColumnReaderImpl;
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, FixedLenByteArrayType};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::ChunkReader;
use ::parquet::file::serialized_reader::SerializedPageReader;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pages, and how many values those have that were read.
struct Pages<R: ChunkReader> {
    inner: SerializedPageReader<R>,
    /// Values that the row group has.
    rows: u64,
    loaded: Arc<AtomicU64>,
}

impl<R: ChunkReader> Iterator for Pages<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.inner.get_next_page()?;
        if let Some(page) = page.as_ref().filter(|page| page.is_data_page()) {
            let values = u64::from(page.num_values());
            let loaded = values + self.loaded.fetch_add(values, Ordering::Relaxed);
            if loaded > self.rows {
                let said = format!("pages of {loaded} values in a row group of {} rows", self.rows);
                return Err(ParquetError::General(said));
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }
}

/// Values of one type.
struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

enum Values {
    Bytes(Typed<ByteArrayType>),
    Fixed(Typed<FixedLenByteArrayType>),
}

/// A column's chunk being read.
pub(super) struct Chunk<R> {
    values: Values,
    place: Place,
    /// Values of the pages that were read, and those that were decoded.
    loaded: Arc<AtomicU64>,
    decoded: u64,
    /// Whether each decoded row has a value, where it may have none.
    levels: Vec<i16>,
    /// The next row and the next value that are handed out.
    row: usize,
    value: usize,
    source: PhantomData<fn(R)>,
}

impl<R: ChunkReader + 'static> Chunk<R> {
    /// # Errors
    /// What the `parquet` crate says.
    pub(super) fn open(
        source: &Arc<R>,
        group: &RowGroupMetaData,
        place: &Place,
    ) -> std::result::Result<Chunk<R>, String> {
        let rows = group.num_rows() as u64; // checked not to be negative
        let chunk = group.column(place.leaf);
        let inner = SerializedPageReader::new(Arc::clone(source), chunk, rows as usize, None);
        let inner = inner.map_err(|error| said(&error))?;
        let loaded = Arc::new(AtomicU64::new(0));
        let pages = Box::new(Pages { inner, rows, loaded: Arc::clone(&loaded) });
        let descriptor = chunk.column_descr_ptr();
        let values = match place.is_fixed {
            false => {
                let reader = ColumnReaderImpl::new(descriptor, pages);
                Values::Bytes(Typed { reader, values: Vec::new() })
            }
            true => {
                let reader = ColumnReaderImpl::new(descriptor, pages);
                Values::Fixed(Typed { reader, values: Vec::new() })
            }
        };
        let (levels, source) = (Vec::new(), PhantomData);
        Ok(Chunk { values, place: *place, loaded, decoded: 0, levels, row: 0, value: 0, source })
    }

    /// Forgets what was handed out and decodes the next rows. Says how many there are, and why there are
    /// not as many as wanted.
    pub(super) fn fill(&mut self, rows: usize) -> (usize, Option<String>) {
        self.levels.clear();
        (self.row, self.value) = (0, 0);
        match &mut self.values {
            Values::Bytes(typed) => typed.values.clear(),
            Values::Fixed(typed) => typed.values.clear(),
        }
        let mut done = 0;
        while done < rows {
            // Never past the end of a page: an error while the next is read would take these rows along.
            let left = self.loaded.load(Ordering::Relaxed) - self.decoded;
            let most = usize::try_from(left).unwrap_or(usize::MAX).max(1).min(rows - done);
            let read = match &mut self.values {
                Values::Bytes(typed) => typed.read(most, &mut self.levels),
                Values::Fixed(typed) => typed.read(most, &mut self.levels),
            };
            match read {
                Ok(0) => return (done, Some("has fewer rows than its row group".into())),
                Ok(read) => {
                    done += read;
                    self.decoded += read as u64;
                }
                Err(error) => return (done, Some(said(&error))),
            }
        }
        (done, None)
    }

    /// How many bytes the decoded values have.
    pub(super) fn bytes(&self) -> usize {
        match &self.values {
            Values::Bytes(typed) => typed.values.iter().map(ByteArray::len).sum(),
            Values::Fixed(typed) => typed.values.iter().map(|value| value.len()).sum(),
        }
    }

    /// The next of the decoded rows.
    pub(super) fn take(&mut self) -> Value<'_> {
        let is_there = !self.place.is_optional || self.levels[self.row] == 1;
        self.row += 1;
        if !is_there {
            return Value::Null;
        }
        let at = self.value;
        self.value += 1;
        let bytes = match &self.values {
            Values::Bytes(typed) => typed.values[at].data(),
            Values::Fixed(typed) => typed.values[at].data(),
        };
        if self.place.is_text { Value::Text(bytes) } else { Value::Bytes(bytes) }
    }
}

impl<T: DataType> Typed<T> {
    fn read(&mut self, rows: usize, levels: &mut Vec<i16>) -> Result<usize> {
        let (read, ..) = self.reader.read_records(rows, Some(levels), None, &mut self.values)?;
        Ok(read)
    }
}
