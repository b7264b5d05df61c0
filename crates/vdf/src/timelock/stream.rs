//! The file in chunks, each encrypted by itself (the STREAM construction, eprint 2015/189).
//!
//! A chunk's nonce holds its number and whether it is the last one. So a chunk that was altered, moved,
//! repeated or taken from another file fails, and so does a file that was cut off between two chunks.

use super::CHUNK;
use crate::Error;
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use std::io::{self, ErrorKind, Read, Write};
use tetralith_kernels::ct;
use zeroize::Zeroizing;

/// Bytes that a chunk is longer when it is encrypted.
pub(super) const TAG: usize = 16;

/// Encrypts all of `source`, and returns its length.
pub(super) fn encrypt(
    cipher: &ChaCha20Poly1305,
    source: &mut dyn Read,
    target: &mut dyn Write,
) -> Result<u64, Error> {
    let mut chunks = Chunks::begin(source, CHUNK)?;
    let (mut number, mut len) = (0, 0);
    while let Some((chunk, is_last)) = chunks.next()? {
        len += chunk.len() as u64;
        cipher
            .encrypt_in_place(&nonce(number, is_last), &[], chunk)
            .expect("a chunk is shorter than the cipher's limit of 2^38 bytes");
        // The ciphertext is published; its key came from the factors.
        ct::public_bytes(chunk);
        target.write_all(chunk)?;
        number += 1;
    }
    Ok(len)
}

/// Decrypts all of `source`, whose first byte is the `at`-th of the sealed file, and returns the
/// length of what it wrote. Nothing is written that is not authentic.
pub(super) fn decrypt(
    cipher: &ChaCha20Poly1305,
    mut at: u64,
    source: &mut dyn Read,
    target: &mut dyn Write,
) -> Result<u64, Error> {
    let mut chunks = Chunks::begin(source, CHUNK + TAG)?;
    let (mut number, mut len) = (0, 0);
    while let Some((chunk, is_last)) = chunks.next()? {
        let size = chunk.len() as u64;
        // The sealer ends an even file with a full chunk: there is one encoding of each length.
        let is_needless = number > 0 && chunk.len() == TAG;
        let opened = cipher.decrypt_in_place(&nonce(number, is_last), &[], chunk);
        if opened.is_err() || is_needless {
            // A chunk that fails is left as it was, so it can be tried as one that others followed.
            let is_cut = opened.is_err() && is_last;
            if is_cut && cipher.decrypt_in_place(&nonce(number, false), &[], chunk).is_ok() {
                return Err(Error::SealedEnds { at: at + size });
            }
            return Err(if number == 0 {
                Error::Sealed
            } else {
                Error::SealedChunk { number, at }
            });
        }
        target.write_all(chunk)?;
        len += chunk.len() as u64;
        at += size;
        number += 1;
    }
    Ok(len)
}

/// `number` (11 bytes, big-endian) ‖ whether the chunk is the last one. The key is this file's alone.
fn nonce(number: u64, is_last: bool) -> Nonce {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&number.to_be_bytes());
    nonce[11] = is_last.into();
    nonce.into()
}

/// A source cut into chunks, all but the last of the same size. It reads one chunk ahead, because only
/// the end of the source says which chunk is the last.
struct Chunks<'a> {
    source: &'a mut dyn Read,
    size: usize,
    chunk: Zeroizing<Vec<u8>>,
    ahead: Zeroizing<Vec<u8>>,
    has_more: bool,
    has_ended: bool,
}

impl<'a> Chunks<'a> {
    fn begin(source: &'a mut dyn Read, size: usize) -> Result<Self, Error> {
        // Room for a tag: a buffer that grew would leave its content in freed memory.
        let buffer = || Zeroizing::new(Vec::with_capacity(size + TAG));
        let (chunk, ahead) = (buffer(), buffer());
        let mut chunks = Self { source, size, chunk, ahead, has_more: true, has_ended: false };
        chunks.read_ahead()?;
        Ok(chunks)
    }

    /// The next chunk and whether it is the last one. An empty source is one empty chunk.
    fn next(&mut self) -> Result<Option<(&mut Vec<u8>, bool)>, Error> {
        if !self.has_more {
            return Ok(None);
        }
        std::mem::swap(&mut self.chunk, &mut self.ahead);
        self.read_ahead()?;
        self.has_more = !self.ahead.is_empty();
        Ok(Some((&mut self.chunk, !self.has_more)))
    }

    /// Reads until the chunk is full or the source ends. After its end the source is not asked again:
    /// a terminal would answer.
    fn read_ahead(&mut self) -> io::Result<()> {
        self.ahead.resize(self.size, 0);
        let mut len = 0;
        while len < self.size && !self.has_ended {
            match self.source.read(&mut self.ahead[len..]) {
                Ok(0) => self.has_ended = true,
                Ok(read) => len += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.ahead.truncate(len);
        Ok(())
    }
}
