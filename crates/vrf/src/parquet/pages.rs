//! The pages of a column, none of them larger than it may be.

use super::values::{DataPage, Dictionary, Kind};
use super::{MAX_PAGE, ParquetError};
use ::parquet::basic::Compression;
use ::parquet::column::page::{Page, PageReader};
use ::parquet::errors::{ParquetError as Reason, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::reader::{ChunkReader, Length, SerializedPageReader};
use bytes::Bytes;
use std::io::{Chain, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A file that is not read by more than [`MAX_PAGE`] bytes at a time.
pub(super) struct Bounded<R>(R);

impl<R: ChunkReader> Bounded<R> {
    pub(super) fn new(source: R) -> Bounded<R> {
        Bounded(source)
    }
}

impl<R: ChunkReader> Length for Bounded<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Bounded<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> Result<R::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if length > MAX_PAGE {
            return Err(Reason::General(format!("{length} bytes at once, at most {MAX_PAGE}")));
        }
        match start.checked_add(length as u64) {
            Some(end) if end <= self.len() => self.0.get_bytes(start, length),
            _ => Err(Reason::EOF(format!("{length} bytes at {start} are not all in the file"))),
        }
    }
}

/// The chunk of a column, of which only headers of pages are read: these are looked at.
struct Headers<R>(Arc<Bounded<R>>);

impl<R: ChunkReader> Length for Headers<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

/// The first bytes of a header, which hold its type and both sizes.
const HEAD: usize = 32;

impl<R: ChunkReader> ChunkReader for Headers<R> {
    type T = Chain<Cursor<Vec<u8>>, R::T>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut reader = self.0.get_read(start)?;
        let mut head = Vec::with_capacity(HEAD);
        reader.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        check_sizes(&head)?;
        Ok(Cursor::new(head).chain(reader))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// Looks at the size of the page uncompressed, for which the decoder makes room before it knows better:
/// the second of the first three fields of a header, which are all 32-bit numbers.
///
/// Thrift compact protocol: a byte of the field's distance and type, then the number in zigzag base 128.
fn check_sizes(head: &[u8]) -> Result<()> {
    let mut bytes = head.iter();
    for field in ["type", "uncompressed size", "compressed size"] {
        let number = match bytes.next() {
            Some(0x15) => number(&mut bytes),
            _ => None,
        };
        let number =
            number.ok_or_else(|| Reason::General(format!("page header without its {field}")))?;
        if !(0..=MAX_PAGE as i64).contains(&number) {
            return Err(Reason::General(format!("page of {field} {number}, at most {MAX_PAGE}")));
        }
    }
    Ok(())
}

fn number<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<i64> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let byte = bytes.next()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((value >> 1) as i64 ^ -((value & 1) as i64));
        }
    }
    None
}

/// The values of a column in a row group.
pub(super) struct Chunk<R: ChunkReader> {
    kind: Kind,
    pages: SerializedPageReader<Headers<R>>,
    dictionary: Dictionary,
    page: Option<DataPage>,
}

/// Why a chunk cannot be read: what the user can mend, or damage.
pub(super) enum Fault {
    Named(ParquetError),
    Damage(String),
}

impl<R: ChunkReader> Chunk<R> {
    pub(super) fn new(
        source: &Arc<Bounded<R>>,
        column: &'static str,
        kind: Kind,
        chunk: &ColumnChunkMetaData,
        rows: u64,
    ) -> std::result::Result<Chunk<R>, Fault> {
        match chunk.compression() {
            Compression::UNCOMPRESSED | Compression::SNAPPY => {}
            other => {
                let got = other.to_string(); // with a level, which says nothing of the file
                let got = got.split('(').next().unwrap_or_default().to_owned();
                return Err(Fault::Named(ParquetError::Compression { column, got }));
            }
        }
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        let inside = u64::try_from(start)
            .ok()
            .zip(u64::try_from(chunk.compressed_size()).ok())
            .and_then(|(start, length)| start.checked_add(length))
            .is_some_and(|end| end <= source.len());
        if !inside {
            return Err(Fault::Damage("its chunk is not all in the file".into()));
        }
        let rows = usize::try_from(rows).map_err(|error| Fault::Damage(error.to_string()))?;
        let headers = Arc::new(Headers(Arc::clone(source)));
        let pages = SerializedPageReader::new(headers, chunk, rows, None)
            .map_err(|error| Fault::Damage(error.to_string()))?;
        Ok(Chunk { kind, pages, dictionary: Dictionary::default(), page: None })
    }

    /// The next value, none if it is missing.
    ///
    /// # Errors
    /// What is wrong with the page, or that there is none.
    pub(super) fn next(&mut self) -> std::result::Result<Option<Vec<u8>>, String> {
        loop {
            if let Some(page) = self.page.as_mut().filter(|page| !page.is_empty()) {
                return page.next(&self.dictionary);
            }
            self.page = None; // before the next is read, so that there is never more than one
            // The library adds the lengths of a header before it checks them, and may panic.
            let pages = &mut self.pages;
            let next = catch_unwind(AssertUnwindSafe(|| pages.get_next_page()))
                .map_err(|_| "has a page of impossible lengths".to_owned())?
                .map_err(|error| match error {
                    Reason::General(text) | Reason::EOF(text) => text,
                    other => other.to_string(),
                })?;
            match next.ok_or("has fewer rows than its row group")? {
                Page::DictionaryPage { buf, num_values, encoding, .. } => {
                    self.dictionary = Dictionary::default();
                    self.dictionary = Dictionary::new(self.kind, buf, num_values, encoding)?;
                }
                page => self.page = Some(DataPage::new(self.kind, page)?),
            }
        }
    }
}
