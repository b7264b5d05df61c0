//! Time-lock encryption: a file that opens after T squarings.
//!
//! The sealer makes N = p·q, computes y = a^(2^T) mod N at once by way of the group's order, forgets p
//! and q, and encrypts under a key derived from y. Whoever opens has to square T times. This is the
//! puzzle of Rivest, Shamir and Wagner (1996) with an authenticated cipher. The file is encrypted in
//! chunks, so sealing and opening need the memory of two chunks for a file of any length. Version 2,
//! big-endian:
//!
//! ```text
//! header = "TVDS" ‖ 2 ‖ w (u16) ‖ N (w) ‖ a (w) ‖ T (u64) ‖ salt (24)
//! file   = header ‖ chunk 0 ‖ chunk 1 ‖ …
//! chunk  = ChaCha20-Poly1305(key, number (11 bytes) ‖ is it the last one (0 or 1), at most 2^16 bytes)
//! key    = SHA-256("tetralith vdf seal v2" ‖ header ‖ y)
//! ```
//! All chunks but the last are full, and the last one is empty only in an empty file.
//!
//! Version 1 is one ciphertext, which has to be held in memory. It is opened up to [`MAX_WHOLE`] bytes,
//! and no longer made:
//!
//! ```text
//! "TVDS" ‖ 1 ‖ w (u16) ‖ N (w) ‖ a (w) ‖ T (u64) ‖ nonce (24) ‖ XChaCha20-Poly1305(key, nonce, file)
//! key = SHA-256("tetralith vdf seal v1" ‖ N ‖ a ‖ T ‖ y),   additional data = all before the ciphertext
//! ```
//!
//! ```
//! use std::ops::ControlFlow;
//! use tetralith_vdf::timelock::{Header, seal};
//! # use rand_core::SeedableRng;
//! # let mut rng = chacha20::ChaCha20Rng::seed_from_u64(1); // use the system's randomness
//!
//! let mut sealed = Vec::new();
//! seal(&mut &b"a file"[..], &mut sealed, 1000, 512, &mut rng)?;
//!
//! let mut source = &sealed[..];
//! let header = Header::read(&mut source)?;
//! let watch = &mut |_| ControlFlow::Continue(());
//! let y = tetralith_vdf::eval(header.modulus(), header.base(), header.iterations(), watch)?;
//! let mut file = Vec::new();
//! header.open(&y, &mut source, &mut file)?;
//! assert_eq!(file, b"a file");
//! # Ok::<(), tetralith_vdf::Error>(())
//! ```
//!
//! # Security
//! The factors live in memory that is overwritten and are used in constant time. T is a number of
//! squarings, not a time: whoever has a faster machine opens sooner.

mod factors;
mod stream;

use crate::eval::{Evaluation, MAX_ITERATIONS};
use crate::{Error, Modulus, Residue};
use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit, XChaCha20Poly1305, XNonce};
use factors::Factors;
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use stream::TAG;
use zeroize::Zeroizing;

const MAGIC: &[u8; 4] = b"TVDS";
const WHAT: &str = "sealed file";
/// Bytes before N.
const HEAD: usize = 7;
/// The widest modulus, in bytes.
const MAX_WIDTH: usize = 1024;

/// Bits of the moduli that [`seal`] makes unless told otherwise.
pub const SEAL_BITS: u32 = 2048;

/// Bytes of the file in a full chunk.
pub const CHUNK: usize = 1 << 16;

/// Bytes of the longest ciphertext of version 1, which is decrypted in memory.
pub const MAX_WHOLE: u64 = 4 << 30;

/// What a sealed file begins with: the puzzle, and how the rest is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    version: Version,
    modulus: Modulus,
    base: Residue,
    iterations: u64,
    salt: [u8; 24],
}

/// How the file is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 1: as one ciphertext.
    Whole = 1,
    /// Version 2: in chunks.
    Chunked = 2,
}

/// Seals all of `source` into `target` for T squarings modulo a new number of `bits` bits (a multiple
/// of 128, 256 to 8192). It holds two chunks in memory, however long the source is.
///
/// # Errors
/// [`Error::TooManySquarings`]; [`Error::ModulusSize`] for a size that is not offered; [`Error::Io`]
/// where the source or the target fails, and then what was written opens as cut off, or not at all.
pub fn seal(
    source: &mut dyn Read,
    target: &mut dyn Write,
    iterations: u64,
    bits: u32,
    rng: &mut impl CryptoRng,
) -> Result<Header, Error> {
    if iterations > MAX_ITERATIONS {
        return Err(Error::TooManySquarings(iterations));
    }
    check_bits(bits)?;
    let factors = Factors::random(bits, rng);
    let modulus = factors.product();
    let mut random = vec![0; modulus.width()];
    rng.fill_bytes(&mut random);
    let (base, _) = modulus.reduce(&random);
    let mut salt = [0; 24];
    rng.fill_bytes(&mut salt);
    let y = factors.power(&modulus, &base, iterations);
    let header = Header { version: Version::Chunked, modulus, base, iterations, salt };
    target.write_all(&header.to_bytes())?;
    stream::encrypt(&header.cipher(&y), source, target)?;
    target.flush()?;
    Ok(header)
}

/// Makes a modulus of `bits` bits (a multiple of 128, 256 to 8192) and forgets its factors.
///
/// # Errors
/// [`Error::ModulusSize`] for a size that is not offered.
///
/// # Security
/// Whoever ran this could have kept the factors; all who use the modulus trust that he did not.
pub fn random_modulus(bits: u32, rng: &mut impl CryptoRng) -> Result<Modulus, Error> {
    check_bits(bits)?;
    Ok(Factors::random(bits, rng).product())
}

fn check_bits(bits: u32) -> Result<(), Error> {
    match bits.is_multiple_of(128) && (256..=8192).contains(&bits) {
        true => Ok(()),
        false => Err(Error::ModulusSize { bits: u64::from(bits) }),
    }
}

impl Header {
    /// The squarings that opening takes.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The modulus of the puzzle.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The number that is squared.
    #[must_use]
    pub fn base(&self) -> &Residue {
        &self.base
    }

    /// How the file is encrypted.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The evaluation whose result opens the file; it can be checkpointed as any other.
    ///
    /// # Errors
    /// As [`Evaluation::new`].
    pub fn evaluation(&self) -> Result<Evaluation, Error> {
        Evaluation::new(&self.modulus, &self.base, self.iterations)
    }

    /// The length of the file inside a sealed file of `sealed` bytes, as far as that tells: nothing is
    /// authenticated. It finds most files that were cut off before years of squarings.
    ///
    /// # Errors
    /// No file is sealed to that length; or it is of version 1 and too long for memory.
    pub fn file_len(&self, sealed: u64) -> Result<u64, Error> {
        let (head, tag) = (self.len() as u64, TAG as u64);
        let least = head + tag;
        let too_short = Error::TooShort { what: WHAT, least, got: sealed };
        let body = sealed.checked_sub(head).filter(|&body| body >= tag).ok_or(too_short)?;
        if self.version == Version::Whole {
            return if body <= MAX_WHOLE { Ok(body - tag) } else { Err(TOO_LONG) };
        }
        let full = CHUNK as u64 + tag;
        let (chunks, rest) = (body / full, body % full);
        match rest {
            0 => Ok(chunks * CHUNK as u64),
            // An empty file, or a last chunk with something in it.
            rest if rest > tag || chunks == 0 => Ok(chunks * CHUNK as u64 + rest - tag),
            _ => Err(Error::SealedEnds { at: sealed }),
        }
    }

    /// Decrypts what follows the header into `target` with y = a^(2^T) mod N, and returns its length.
    /// Only authentic bytes are written, each chunk as it is found so, or for version 1 all at once.
    ///
    /// # Errors
    /// [`Error::Sealed`], [`Error::SealedChunk`] or [`Error::SealedEnds`] where y or any byte is wrong or
    /// missing: what was written until then is the beginning of the file, and the caller must not take
    /// it for all of it. [`Error::TooLong`] for version 1; [`Error::Io`].
    pub fn open(
        &self,
        y: &Residue,
        source: &mut dyn Read,
        target: &mut dyn Write,
    ) -> Result<u64, Error> {
        let y = Zeroizing::new(y.to_bytes());
        let len = match self.version {
            Version::Whole => self.open_whole(&y, source, target)?,
            Version::Chunked => {
                stream::decrypt(&self.cipher(&y), self.len() as u64, source, target)?
            }
        };
        target.flush()?;
        Ok(len)
    }

    fn open_whole(
        &self,
        y: &[u8],
        source: &mut dyn Read,
        target: &mut dyn Write,
    ) -> Result<u64, Error> {
        let mut bytes = Zeroizing::new(Vec::new());
        source.take(MAX_WHOLE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_WHOLE {
            return Err(TOO_LONG);
        }
        let mut hash = Sha256::new_with_prefix(b"tetralith vdf seal v1");
        hash.update(self.modulus.to_bytes());
        hash.update(self.base.to_bytes());
        hash.update(self.iterations.to_be_bytes());
        hash.update(y);
        let key = Zeroizing::new(<[u8; 32]>::from(hash.finalize()));
        let cipher = XChaCha20Poly1305::new(&Key::from(*key));
        let opened =
            cipher.decrypt_in_place(&XNonce::from(self.salt), &self.to_bytes(), &mut *bytes);
        opened.map_err(|_| Error::Sealed)?;
        target.write_all(&bytes)?;
        Ok(bytes.len() as u64)
    }

    /// The cipher of version 2. The key binds the header, and so does every chunk.
    fn cipher(&self, y: &[u8]) -> ChaCha20Poly1305 {
        let mut hash = Sha256::new_with_prefix(b"tetralith vdf seal v2");
        hash.update(self.to_bytes());
        hash.update(y);
        let key = Zeroizing::new(<[u8; 32]>::from(hash.finalize()));
        ChaCha20Poly1305::new(&Key::from(*key))
    }

    /// The header's length in bytes.
    fn len(&self) -> usize {
        HEAD + 2 * self.modulus.width() + 8 + self.salt.len()
    }

    /// The header's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.push(self.version as u8);
        out.extend((self.modulus.width() as u16).to_be_bytes());
        out.extend(self.modulus.to_bytes());
        out.extend(self.base.to_bytes());
        out.extend(self.iterations.to_be_bytes());
        out.extend(self.salt);
        out
    }

    /// Reads the header of a sealed file strictly, and nothing behind it.
    ///
    /// # Errors
    /// The kind, version or length is wrong, or a number is out of range; [`Error::Io`].
    pub fn read(source: &mut dyn Read) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        read_to(source, &mut bytes, HEAD)?;
        if !bytes.starts_with(MAGIC) {
            return Err(Error::Magic { expected: "sealed" });
        }
        let version = match bytes[4] {
            1 => Version::Whole,
            2 => Version::Chunked,
            version => {
                return Err(Error::Version { what: WHAT, version, known: "versions 1 and 2" });
            }
        };
        let width = usize::from(u16::from_be_bytes([bytes[5], bytes[6]]));
        if width > MAX_WIDTH {
            return Err(Error::ModulusSize { bits: 8 * width as u64 });
        }
        read_to(source, &mut bytes, HEAD + 2 * width + 8 + 24)?;
        let (modulus, rest) = bytes[HEAD..].split_at(width);
        let (base, rest) = rest.split_at(width);
        let (iterations, salt) = rest.split_at(8);
        let modulus = Modulus::from_bytes(modulus)?;
        if modulus.width() != width {
            return Err(Error::Field { what: WHAT, reason: "a modulus that begins with zeros" });
        }
        let base = modulus.decode(base, "the sealed file's a")?;
        let iterations = u64::from_be_bytes(iterations.try_into().expect("eight bytes"));
        if iterations > MAX_ITERATIONS {
            return Err(Error::TooManySquarings(iterations));
        }
        let salt = salt.try_into().expect("24 bytes");
        Ok(Self { version, modulus, base, iterations, salt })
    }
}

const TOO_LONG: Error =
    Error::TooLong { what: "the ciphertext of a sealed file of version 1", most: MAX_WHOLE };

/// Reads until there are `len` bytes.
fn read_to(source: &mut dyn Read, bytes: &mut Vec<u8>, len: usize) -> Result<(), Error> {
    source.take((len - bytes.len()) as u64).read_to_end(bytes)?;
    let got = bytes.len() as u64;
    match bytes.len() == len {
        true => Ok(()),
        false => Err(Error::TooShort { what: WHAT, least: (len + TAG) as u64, got }),
    }
}

#[cfg(test)]
mod tests;
