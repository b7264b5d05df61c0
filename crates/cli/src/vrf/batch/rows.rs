//! Where rows come from: lines of JSON, or Parquet.

use super::Decoded;
use crate::failure::{Failure, Outcome};
use crate::vrf::stream_failed;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

/// The most rows of a block.
const BLOCK_ROWS: usize = 16_384;
/// A block takes no further row once it has this many bytes.
const BLOCK_BYTES: usize = 16 << 20;
/// The longest line that is read; a longer one is a bad row.
const MAX_LINE: usize = 4 << 20;
/// What a Parquet file begins with.
const PARQUET: [u8; 4] = *b"PAR1";

/// A row as it was read, or what is wrong with it.
pub(super) enum Item {
    Line(Vec<u8>),
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    Row(Decoded),
    Bad(String),
}

impl Item {
    fn bytes(&self) -> usize {
        match self {
            Item::Line(line) => line.len(),
            Item::Row(row) => row.public_key.len() + row.alpha.len() + row.proof.len(),
            Item::Bad(_) => 0,
        }
    }
}

/// Rows being read.
pub(super) enum Source {
    Lines(BufReader<Box<dyn Read + Send>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<tetralith_vrf::parquet::Rows<std::fs::File>>),
}

impl Source {
    /// Opens a file, and looks at what it begins with.
    pub(super) fn open(path: &Path) -> Outcome<Source> {
        let lines = |reader| Ok(Source::Lines(BufReader::with_capacity(1 << 20, reader)));
        if path == Path::new("-") {
            return lines(Box::new(std::io::stdin()));
        }
        let failed = |error: std::io::Error| Failure::file(path, &error);
        let mut file = std::fs::File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return lines(Box::new(file)); // a pipe, say, which has no second beginning
        }
        let mut head = Vec::with_capacity(4);
        Read::by_ref(&mut file).take(4).read_to_end(&mut head).map_err(failed)?;
        file.rewind().map_err(failed)?;
        if head == PARQUET { parquet(file) } else { lines(Box::new(file)) }
    }

    /// How many rows there are, as far as is known; 0 where it is not.
    pub(super) fn total(&self) -> u64 {
        match self {
            Source::Lines(_) => 0,
            #[cfg(feature = "parquet")]
            Source::Parquet(rows) => rows.total(),
        }
    }

    /// Reads the next rows, as many as a block takes; none at the end.
    pub(super) fn next_block(&mut self) -> Outcome<Vec<Item>> {
        let (mut block, mut bytes) = (Vec::new(), 0);
        while block.len() < BLOCK_ROWS && bytes < BLOCK_BYTES {
            match self.next() {
                Ok(Some(item)) => {
                    bytes += item.bytes();
                    block.push(item);
                }
                Ok(None) => break,
                // The rows before the fault come first; it is met again after them.
                Err(failure) if block.is_empty() => return Err(failure),
                Err(_) => break,
            }
        }
        Ok(block)
    }

    fn next(&mut self) -> Outcome<Option<Item>> {
        match self {
            Source::Lines(reader) => {
                read_line(reader).map_err(|error| stream_failed("reading rows", &error))
            }
            #[cfg(feature = "parquet")]
            Source::Parquet(rows) => Ok(rows.next_row()?.map(|row| match row {
                Ok(tetralith_vrf::parquet::OwnedRow { public_key, alpha, proof }) => {
                    Item::Row(Decoded { public_key, alpha, proof })
                }
                Err(error) => Item::Bad(error.to_string()),
            })),
        }
    }
}

#[cfg(feature = "parquet")]
fn parquet(file: std::fs::File) -> Outcome<Source> {
    let rows = tetralith_vrf::parquet::Rows::open(file)?;
    Ok(Source::Parquet(Box::new(rows)))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: std::fs::File) -> Outcome<Source> {
    Err(no_parquet())
}

#[cfg(not(feature = "parquet"))]
pub(super) fn no_parquet() -> Failure {
    Failure::usage("input.parquet", "this program was built without its feature `parquet`")
}

/// Reads one line without its end; of one that is too long, nothing is kept.
fn read_line(reader: &mut impl BufRead) -> std::io::Result<Option<Item>> {
    let mut line = Vec::new();
    reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > MAX_LINE {
        reader.skip_until(b'\n')?;
        return Ok(Some(Item::Bad(format!("line is longer than {MAX_LINE} bytes"))));
    }
    Ok(Some(Item::Line(line)))
}
