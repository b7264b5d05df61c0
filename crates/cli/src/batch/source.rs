//! Where rows come from: a file, a folder of files, or a stream.

use super::worker::Columns;
use super::{failure, named};
use crate::failure::{Failure, Outcome};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tetralith_columns::{Format, Part, Rows};

/// The most rows of a block.
const BLOCK_ROWS: usize = 16_384;
/// A block takes no further part once it has this many bytes.
const BLOCK_BYTES: usize = 16 << 20;
/// How much of a stream is looked at to tell its format.
const HEAD: usize = 1 << 16;

/// Rows of one file.
pub(super) struct Block {
    /// The file, where there are several.
    pub(super) file: Option<Arc<Path>>,
    /// The number in its file, from 1, of the first row.
    pub(super) first: u64,
    pub(super) parts: Vec<Part>,
}

/// A file being read.
struct Open {
    path: Arc<Path>,
    format: Format,
    rows: Rows,
    /// The next row, from 1.
    row: u64,
}

/// Rows being read.
pub(super) struct Source {
    /// Files that are not open yet.
    files: VecDeque<PathBuf>,
    is_folder: bool,
    format: Option<Format>,
    columns: Columns,
    open: Option<Open>,
}

impl Source {
    /// Opens the first file.
    pub(super) fn open(path: &Path, format: Option<Format>, columns: Columns) -> Outcome<Source> {
        let is_folder = path != Path::new("-") && path.is_dir();
        let files = if is_folder { folder(path)? } else { [path.to_owned()].into() };
        let mut source = Source { files, is_folder, format, columns, open: None };
        source.next_file()?;
        Ok(source)
    }

    /// How many rows there are, as far as is known; 0 where it is not.
    pub(super) fn total(&self) -> u64 {
        match &self.open {
            Some(open) if !self.is_folder => open.rows.total().unwrap_or(0),
            _ => 0,
        }
    }

    fn next_file(&mut self) -> Outcome {
        self.open = None; // and its worker, before the next is started
        if let Some(path) = self.files.pop_front() {
            let (format, rows) = open(&path, self.format, self.columns)?;
            self.open = Some(Open { path: path.into(), format, rows, row: 1 });
        }
        Ok(())
    }

    /// Reads the next rows, of one file; none at the end of all.
    pub(super) fn next_block(&mut self) -> Outcome<Option<Block>> {
        while let Some(open) = &mut self.open {
            let parts = open.parts()?;
            if !parts.is_empty() {
                let first = open.row;
                open.row += parts.iter().map(|part| part.len() as u64).sum::<u64>();
                let file = self.is_folder.then(|| Arc::clone(&open.path));
                return Ok(Some(Block { file, first, parts }));
            }
            self.next_file()?;
        }
        Ok(None)
    }
}

impl Open {
    fn parts(&mut self) -> Outcome<Vec<Part>> {
        let (mut parts, mut rows, mut bytes) = (Vec::new(), 0, 0);
        while rows < BLOCK_ROWS && bytes < BLOCK_BYTES {
            match self.rows.next_part() {
                Ok(Some(part)) => {
                    rows += part.len();
                    bytes += part.bytes();
                    parts.push(part);
                }
                Ok(None) => break,
                // The rows before the fault come first; the next call returns it again.
                Err(_) if !parts.is_empty() => break,
                Err(error) => return Err(failure(&self.path, self.format, &error)),
            }
        }
        Ok(parts)
    }
}

/// The files of a folder, by name. Names that begin with a dot or an underscore are notes of the program
/// that wrote the others.
fn folder(path: &Path) -> Outcome<VecDeque<PathBuf>> {
    let failed = |error: std::io::Error| Failure::file(path, &error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_')) {
            continue;
        }
        let file = entry.path();
        if file.is_dir() || Format::of_path(&file).is_none() {
            let message = format!(
                "{}: expected only files named .parquet, .arrow, .csv or .jsonl in the folder",
                file.display()
            );
            return Err(Failure::usage("input.folder", message).hint("move it to another folder"));
        }
        files.push(file);
    }
    files.sort();
    Ok(files.into())
}

fn open(path: &Path, format: Option<Format>, columns: Columns) -> Outcome<(Format, Rows)> {
    if path == Path::new("-") {
        return stream(path, std::io::stdin(), format, columns);
    }
    let failed = |error: std::io::Error| Failure::file(path, &error);
    let mut file = File::open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return stream(path, file, format, columns); // a pipe, say, which has no second beginning
    }
    let head = head(&mut file).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let format = format.unwrap_or_else(|| told(path, &head));
    let rows = match format.is_text() {
        true => Rows::from_text(file, format, columns.list()),
        false => columns.contained(file, format),
    };
    Ok((format, rows.map_err(|error| failure(path, format, &error))?))
}

/// Reads from something that has no second beginning. What is not text is copied to a file first.
fn stream(
    path: &Path,
    mut source: impl Read + Send + 'static,
    format: Option<Format>,
    columns: Columns,
) -> Outcome<(Format, Rows)> {
    let failed = |error: std::io::Error| {
        Failure::new(crate::failure::Exit::Environment, "io.stream", {
            format!("reading {}: {error}", named(path))
        })
    };
    let head = head(&mut source).map_err(failed)?;
    let format = format.unwrap_or_else(|| told(path, &head));
    let mut source = Cursor::new(head).chain(source);
    let rows = if format.is_text() {
        Rows::from_text(source, format, columns.list())
    } else {
        let mut file = tempfile::tempfile().map_err(failed)?;
        std::io::copy(&mut source, &mut file).map_err(failed)?;
        file.flush().and_then(|()| file.rewind()).map_err(failed)?;
        columns.contained(file, format)
    };
    Ok((format, rows.map_err(|error| failure(path, format, &error))?))
}

/// The format that the first bytes tell where they are those of Parquet or Arrow, else that of the name.
fn told(path: &Path, head: &[u8]) -> Format {
    let by_head = Format::of_head(head);
    if by_head.is_text() { Format::of_path(path).unwrap_or(by_head) } else { by_head }
}

/// Reads up to the end of the first line.
fn head(source: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = vec![0; HEAD];
    let mut length = 0;
    while length < HEAD {
        match source.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if length >= 4
            && (head[..length].contains(&b'\n') || !Format::of_head(&head[..length]).is_text())
        {
            break;
        }
    }
    head.truncate(length);
    Ok(head)
}
