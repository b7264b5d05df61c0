//! Where headers come from: lines of JSON, or the chunk files of an ImmutableDB.

use super::Found;
use crate::failure::{Failure, Outcome};
use crate::vrf::stream_failed;
use rayon::prelude::*;
use serde::Deserialize;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tetralith_vrf::cardano::{CardanoError, Chunk, Header};

/// A block takes no further line once it has this many, or this many bytes.
const BLOCK_ROWS: usize = 16_384;
const BLOCK_BYTES: usize = 16 << 20;
/// The longest line that is read: whole blocks in hex fit.
const MAX_LINE: usize = 4 << 20;
/// The largest chunk file that is read; mainnet's have at most 21,600 slots of blocks, about 50 MiB.
const MAX_CHUNK: u64 = 512 << 20;
/// Chunk files are read one for each thread, or fewer once they have this many bytes.
const CHUNK_BYTES: u64 = 256 << 20;

/// Headers being read.
pub(super) enum Source {
    Lines { reader: BufReader<Box<dyn Read + Send>>, name: Arc<str>, row: u64, at: u64, total: u64 },
    Chunks { files: std::vec::IntoIter<(PathBuf, u64)>, at: u64, total: u64, at_once: usize },
}

/// What is decoded and verified at once.
pub(super) enum Block {
    Lines { name: Arc<str>, lines: Vec<(u64, u64, Option<Vec<u8>>)>, end: u64 },
    Chunks { chunks: Vec<(Arc<str>, Vec<u8>)>, end: u64 },
}

/// A row as a line has it; other fields may stand beside these.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    header: Cow<'a, str>,
    #[serde(borrow, default)]
    nonce: Option<Cow<'a, str>>,
}

impl Source {
    /// Opens a file by what it begins with, or a folder's chunk files in the order of their numbers.
    pub(super) fn open(path: &Path, threads: usize) -> Outcome<Source> {
        let lines = |reader, total| {
            let name = path.display().to_string().into();
            let reader = BufReader::with_capacity(1 << 20, reader);
            Ok(Source::Lines { reader, name, row: 0, at: 0, total })
        };
        if path == Path::new("-") {
            return lines(Box::new(std::io::stdin()), 0);
        }
        let failed = |error: std::io::Error| Failure::file(path, &error);
        if path.is_dir() {
            return Source::chunks(chunk_files(path)?, threads);
        }
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return lines(Box::new(file), 0); // a pipe, say, which has no second beginning
        }
        let mut head = [0];
        let read = file.read(&mut head).map_err(failed)?;
        file.rewind().map_err(failed)?;
        // Blocks begin with the head of an array of two, and no text does.
        if read == 1 && head[0] >= 0x80 && head[0] != 0xef {
            return Source::chunks(vec![(path.to_owned(), metadata.len())], threads);
        }
        lines(Box::new(file), metadata.len())
    }

    fn chunks(files: Vec<(PathBuf, u64)>, threads: usize) -> Outcome<Source> {
        if let Some((path, length)) = files.iter().find(|(_, length)| *length > MAX_CHUNK) {
            let message = format!("{} has {length} bytes, more than a chunk has", path.display());
            return Err(Failure::usage("input.too_long", message));
        }
        let total = files.iter().map(|(_, length)| length).sum();
        Ok(Source::Chunks { files: files.into_iter(), at: 0, total, at_once: threads.max(1) })
    }

    /// How many bytes there are; 0 where that is not known.
    pub(super) fn total(&self) -> u64 {
        match self {
            Source::Lines { total, .. } | Source::Chunks { total, .. } => *total,
        }
    }

    /// Reads what is verified next; nothing at the end.
    pub(super) fn next_block(&mut self) -> Outcome<Block> {
        match self {
            Source::Lines { reader, name, row, at, .. } => {
                let (mut lines, mut bytes) = (Vec::new(), 0);
                while lines.len() < BLOCK_ROWS && bytes < BLOCK_BYTES {
                    let read = read_line(reader)
                        .map_err(|error| stream_failed("reading headers", &error))?;
                    let Some((line, length)) = read else { break };
                    *row += 1;
                    let blank = line.as_ref().is_some_and(|line| line.trim_ascii().is_empty());
                    if !blank {
                        bytes += length;
                        lines.push((*row, *at, line));
                    }
                    *at += length as u64;
                }
                Ok(Block::Lines { name: Arc::clone(name), lines, end: *at })
            }
            Source::Chunks { files, at, at_once, .. } => {
                let (mut chunks, mut bytes) = (Vec::new(), 0);
                while chunks.len() < *at_once && bytes < CHUNK_BYTES {
                    let Some((path, _)) = files.next() else { break };
                    let read = crate::io::read(&path, MAX_CHUNK)?;
                    bytes += read.len() as u64;
                    chunks.push((path.display().to_string().into(), read));
                }
                *at += bytes;
                Ok(Block::Chunks { chunks, end: *at })
            }
        }
    }
}

/// A folder's chunk files, `NNNNN.chunk`, also in its folder `immutable`, with their lengths.
fn chunk_files(folder: &Path) -> Outcome<Vec<(PathBuf, u64)>> {
    let immutable = folder.join("immutable");
    let folder = if immutable.is_dir() { &immutable } else { folder };
    let failed = |error: std::io::Error| Failure::file(folder, &error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        if let (Some(number), Some("chunk")) = (number, path.extension().and_then(|e| e.to_str())) {
            let length = std::fs::metadata(&path).map_err(|error| Failure::file(&path, &error))?;
            files.push((number, path, length.len()));
        }
    }
    if files.is_empty() {
        let message = format!("{} has no chunk files", folder.display());
        let hint = "name the folder of a node's ImmutableDB, whose files are called 00000.chunk";
        return Err(Failure::usage("input.empty", message).hint(hint));
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path, length)| (path, length)).collect())
}

/// Reads one line with its end, and its length in bytes; no bytes of one that is too long.
fn read_line(reader: &mut impl BufRead) -> std::io::Result<Option<(Option<Vec<u8>>, usize)>> {
    let mut line = Vec::new();
    let mut length = reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)?;
    if length == 0 {
        return Ok(None);
    }
    if length > MAX_LINE && line.last() != Some(&b'\n') {
        length += reader.skip_until(b'\n')?;
        return Ok(Some((None, length)));
    }
    Ok(Some((Some(line), length)))
}

impl Block {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Block::Lines { lines, .. } => lines.is_empty(),
            Block::Chunks { chunks, .. } => chunks.is_empty(),
        }
    }

    /// How many bytes of the source are read with this block.
    pub(super) fn end(&self) -> u64 {
        match self {
            Block::Lines { end, .. } | Block::Chunks { end, .. } => *end,
        }
    }

    /// The headers, in order, up to a fault that hides what comes after it.
    pub(super) fn headers(self) -> (Vec<Found>, Option<Failure>) {
        match self {
            Block::Lines { name, lines, .. } => {
                (lines.into_par_iter().map(|line| of_line(&name, line)).collect(), None)
            }
            Block::Chunks { chunks, .. } => {
                let parts: Vec<(Vec<Found>, Option<Failure>)> =
                    chunks.into_par_iter().map(|(name, bytes)| of_chunk(&name, &bytes)).collect();
                let mut all = Vec::new();
                for (found, fault) in parts {
                    all.extend(found);
                    if fault.is_some() {
                        return (all, fault);
                    }
                }
                (all, None)
            }
        }
    }
}

fn of_chunk(name: &Arc<str>, bytes: &[u8]) -> (Vec<Found>, Option<Failure>) {
    let mut all = Vec::new();
    for block in Chunk::new(bytes) {
        match block {
            Ok(block) => all.push(Found {
                file: Arc::clone(name),
                row: None,
                offset: block.offset as u64,
                header: block.header,
                fault: None,
                nonce: None,
            }),
            Err(error) => {
                let message = format!("{name}: after {} blocks: {error}", all.len());
                return (all, Some(Failure::usage("input.malformed", message)));
            }
        }
    }
    (all, None)
}

fn of_line(name: &Arc<str>, (row, offset, line): (u64, u64, Option<Vec<u8>>)) -> Found {
    let (header, nonce, fault) = match line.as_deref().map(parse) {
        Some(Ok((header, nonce))) => (header, nonce, None),
        Some(Err(fault)) => (Err(CardanoError::Form("no header")), None, Some(fault)),
        None => {
            let fault = format!("line is longer than {MAX_LINE} bytes");
            (Err(CardanoError::Form("no header")), None, Some(fault))
        }
    };
    Found { file: Arc::clone(name), row: Some(row), offset, header, fault, nonce }
}

type Parsed = (Result<Header, CardanoError>, Option<[u8; 32]>);

fn parse(line: &[u8]) -> Result<Parsed, String> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err("not a JSON object with the fields header and nonce".into());
    }
    let line: Line<'_> = serde_json::from_slice(line)
        .map_err(|error| error.to_string().replace(" at line 1 column", " at column"))?;
    let bytes = |name: &str, digits: &str| {
        hex::decode(digits.strip_prefix("0x").unwrap_or(digits))
            .map_err(|error| format!("{name} is not hex: {error}"))
    };
    let nonce = match &line.nonce {
        None => None,
        Some(digits) => {
            let nonce = bytes("nonce", digits)?;
            let length = nonce.len();
            let nonce = <[u8; 32]>::try_from(nonce);
            Some(nonce.map_err(|_| format!("nonce is {length} bytes long, expected 32"))?)
        }
    };
    Ok((Header::from_cbor(&bytes("header", &line.header)?), nonce))
}
