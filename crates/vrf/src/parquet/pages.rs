//! The pages of a column, none of them larger than it may be.
//!
//! Apache Parquet format 2.11, `parquet.thrift`: PageHeader, DataPageHeader, DictionaryPageHeader,
//! DataPageHeaderV2

use super::footer::Place;
use super::thrift::{Fault, Field, Reader, bad};
use super::values::{DataPage, Dictionary, Encoding, Kind, Levels};
use super::{MAX_DICTIONARY, MAX_PAGE};
use ::parquet::file::reader::ChunkReader;
use bytes::Bytes;
use std::sync::Arc;

/// What a page says that is not so.
type Reason = String;

/// A file that is not read by more than [`MAX_PAGE`] bytes at a time.
pub(super) struct Source<R>(R);

impl<R: ChunkReader> Source<R> {
    pub(super) fn new(source: R) -> Source<R> {
        Source(source)
    }

    pub(super) fn len(&self) -> u64 {
        self.0.len()
    }

    pub(super) fn read(&self, start: u64, length: usize) -> Result<Bytes, Reason> {
        if length > MAX_PAGE {
            return Err(format!("{length} bytes at once, at most {MAX_PAGE}"));
        }
        match start.checked_add(length as u64) {
            Some(end) if end <= self.len() => {
                self.0.get_bytes(start, length).map_err(|error| error.to_string())
            }
            _ => Err(format!("{length} bytes at {start} are not all in the file")),
        }
    }
}

/// How much is read for a header: most are short, and some have long statistics.
const HEADER_SIZES: [u64; 3] = [1 << 9, 1 << 14, 16 << 20];

const UNCOMPRESSED: i32 = 0;
const SNAPPY: i32 = 1;
const CODECS: [&str; 8] =
    ["UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"];

/// The values of a column in a row group.
pub(super) struct Chunk<R: ChunkReader> {
    source: Arc<Source<R>>,
    kind: Kind,
    is_compressed: bool,
    /// Where the next page begins, and where the last ends.
    at: u64,
    end: u64,
    /// Values of pages that are still to come.
    left: u64,
    dictionary: Dictionary,
    page: Option<DataPage>,
}

impl<R: ChunkReader> Chunk<R> {
    /// # Errors
    /// The name of a codec that is not read.
    pub(super) fn new(
        source: &Arc<Source<R>>,
        kind: Kind,
        place: Place,
        rows: u64,
    ) -> Result<Chunk<R>, String> {
        let is_compressed = match place.codec {
            UNCOMPRESSED => false,
            SNAPPY => true,
            other => {
                let known = usize::try_from(other).ok().and_then(|codec| CODECS.get(codec));
                return Err(known.map_or_else(|| format!("codec {other}"), |&name| name.into()));
            }
        };
        Ok(Chunk {
            source: Arc::clone(source),
            kind,
            is_compressed,
            at: place.start,
            end: place.end,
            left: rows,
            dictionary: Dictionary::default(),
            page: None,
        })
    }

    /// The next value, none if it is missing.
    ///
    /// # Errors
    /// What is wrong with the page, or that there is none.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Reason> {
        loop {
            if let Some(page) = self.page.as_mut().filter(|page| !page.is_empty()) {
                return page.next(&mut self.dictionary);
            }
            self.page = None; // before the next is read, so that there is never more than one
            if self.at == self.end {
                return Err("has fewer rows than its row group".into());
            }
            self.next_page()?;
        }
    }

    fn next_page(&mut self) -> Result<(), Reason> {
        let header = self.header()?;
        let end = self.at.checked_add(header.length as u64).filter(|&end| end <= self.end);
        let end = end.ok_or("page is not all in its column")?;
        let count = match header.page {
            Page::Index => 0,
            Page::Dictionary { count, encoding } => {
                self.dictionary = Dictionary::default();
                let bytes = self.body(&header, 0)?;
                self.dictionary = Dictionary::new(self.kind, bytes, count, encoding)?;
                0
            }
            Page::Data { count, encoding, levels } => {
                let bytes = self.body(&header, 0)?;
                self.page = Some(DataPage::new(self.kind, bytes, levels, count, encoding)?);
                count
            }
            Page::DataV2 { count, encoding, repetitions, definitions, is_compressed } => {
                let plain = repetitions + definitions; // each at most `MAX_PAGE`
                let bytes = match is_compressed {
                    true => self.body(&header, plain)?,
                    false => self.source.read(self.at, header.length)?,
                };
                let levels = Levels::Apart { before: repetitions, length: definitions };
                self.page = Some(DataPage::new(self.kind, bytes, levels, count, encoding)?);
                count
            }
        };
        let left = self.left.checked_sub(u64::from(count));
        self.left = left.ok_or("has more rows than its row group")?;
        self.at = end;
        Ok(())
    }

    /// Reads the header that is next, and goes on to what follows it.
    fn header(&mut self) -> Result<Header, Reason> {
        for size in HEADER_SIZES {
            let length = size.min(self.end - self.at);
            let bytes = self.source.read(self.at, length as usize)?;
            let mut reader = Reader::new(&bytes);
            match Header::read(&mut reader) {
                Ok(header) => {
                    self.at += reader.position() as u64;
                    return Ok(header);
                }
                Err(Fault::Short) if length == size => {}
                Err(fault) => return Err(format!("page header {}", Reason::from(fault))),
            }
        }
        Err(format!("page header of more than {} bytes", HEADER_SIZES[2]))
    }

    /// The bytes of a page, of which all but the first `plain` may be compressed.
    fn body(&self, header: &Header, plain: usize) -> Result<Bytes, Reason> {
        let bytes = self.source.read(self.at, header.length)?;
        if !self.is_compressed {
            return match bytes.len() == header.unpacked {
                true => Ok(bytes),
                false => Err(format!("page of {} bytes states {}", bytes.len(), header.unpacked)),
            };
        }
        let expected =
            header.unpacked.checked_sub(plain).ok_or("page is shorter than its levels")?;
        let packed = bytes.get(plain..).ok_or("page is shorter than its levels")?;
        let states = match packed.is_empty() {
            true => 0,
            false => snap::raw::decompress_len(packed).map_err(|error| error.to_string())?,
        };
        if states != expected {
            return Err(format!("compressed page of {states} bytes, its header states {expected}"));
        }
        let mut unpacked = vec![0; header.unpacked];
        unpacked[..plain].copy_from_slice(&bytes[..plain]);
        if expected > 0 {
            snap::raw::Decoder::new()
                .decompress(packed, &mut unpacked[plain..])
                .map_err(|error| error.to_string())?;
        }
        Ok(unpacked.into())
    }
}

/// The header of a page.
struct Header {
    /// How long the page is, and how long it is unpacked.
    length: usize,
    unpacked: usize,
    page: Page,
}

enum Page {
    Data {
        count: u32,
        encoding: Encoding,
        levels: Levels,
    },
    Index,
    Dictionary {
        count: u32,
        encoding: Encoding,
    },
    DataV2 {
        count: u32,
        encoding: Encoding,
        repetitions: usize,
        definitions: usize,
        is_compressed: bool,
    },
}

/// The fields of the part of a header that its type has, by their numbers.
#[derive(Default)]
struct Part {
    numbers: [Option<i32>; 7],
    is_plain: bool,
}

impl Part {
    fn read(reader: &mut Reader<'_>, field: Field, numbers: i16) -> Result<Part, Fault> {
        let mut part = Part::default();
        reader.structure(field)?;
        reader.fields(|reader, field| {
            match field.id {
                id if (1..=numbers).contains(&id) => {
                    part.numbers[id as usize] = Some(reader.i32(field)?);
                }
                7 if numbers == 6 => part.is_plain = !reader.bool(field)?,
                _ => reader.skip(field)?,
            }
            Ok(())
        })?;
        Ok(part)
    }

    /// A number that may not be negative.
    fn number(&self, id: usize, what: &str) -> Result<u32, Fault> {
        natural(self.numbers[id], what)
    }

    fn encoding(&self, id: usize) -> Result<Encoding, Fault> {
        Ok(Encoding(self.number(id, "encoding")?))
    }
}

fn natural(number: Option<i32>, what: &str) -> Result<u32, Fault> {
    match number.map(u32::try_from) {
        Some(Ok(number)) => Ok(number),
        Some(Err(_)) => bad(format!("has a negative {what}")),
        None => bad(format!("has no {what}")),
    }
}

impl Header {
    fn read(reader: &mut Reader<'_>) -> Result<Header, Fault> {
        let mut numbers = [None; 4];
        let mut parts = [const { None }; 4];
        reader.fields(|reader, field| {
            match field.id {
                1..=3 => numbers[field.id as usize] = Some(reader.i32(field)?),
                // An index has no fields; of version 1, of a dictionary and of version 2.
                5 => parts[0] = Some(Part::read(reader, field, 4)?),
                7 => parts[2] = Some(Part::read(reader, field, 2)?),
                8 => parts[3] = Some(Part::read(reader, field, 6)?),
                _ => reader.skip(field)?,
            }
            Ok(())
        })?;
        let kind = natural(numbers[1], "type")?;
        let most = if kind == 2 { MAX_DICTIONARY } else { MAX_PAGE };
        let size = |id: usize, what: &str| match natural(numbers[id], what)? as usize {
            size if size > most => bad(format!("has {what} {size}, at most {most}")),
            size => Ok(size),
        };
        let unpacked = size(2, "uncompressed size")?;
        let length = size(3, "compressed size")?;
        let part = match (kind, parts) {
            (1, _) => return Ok(Header { length, unpacked, page: Page::Index }),
            (0, [Some(part), ..]) | (2, [_, _, Some(part), _]) | (3, [.., Some(part)]) => part,
            (0..=3, _) => return bad("lacks the part of its type"),
            (other, _) => return bad(format!("has type {other}")),
        };
        let count = part.number(1, "number of values")?;
        let page = match kind {
            0 => Page::Data {
                count,
                encoding: part.encoding(2)?,
                levels: Levels::Counted(part.encoding(3)?),
            },
            2 => Page::Dictionary { count, encoding: part.encoding(2)? },
            _ => {
                let within = |id, what| match part.number(id, what)? as usize {
                    size if size > length.min(unpacked) => bad(format!("has {what} {size}")),
                    size => Ok(size),
                };
                Page::DataV2 {
                    count,
                    encoding: part.encoding(4)?,
                    definitions: within(5, "length of definition levels")?,
                    repetitions: within(6, "length of repetition levels")?,
                    is_compressed: !part.is_plain,
                }
            }
        };
        Ok(Header { length, unpacked, page })
    }
}
