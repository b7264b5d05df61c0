//! A file whose end is an error.
//!
//! The `parquet` crate skips what it does not know in a page's header by reading on, and takes the end of the
//! file for bytes that were skipped: a list that states 2^31 elements would keep it busy for minutes.

use ::parquet::errors::Result;
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;
use std::io::{ErrorKind, Read};

/// The file.
pub(super) struct Source<R>(pub(super) R);

/// A reader that fails at the end.
pub(super) struct ToEnd<T>(T);

impl<T: Read> Read for ToEnd<T> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => {
                Err(std::io::Error::new(ErrorKind::UnexpectedEof, "the file ends early"))
            }
            read => Ok(read),
        }
    }
}

impl<R: ChunkReader> Length for Source<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Source<R> {
    type T = ToEnd<R::T>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.0.get_read(start).map(ToEnd)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}
