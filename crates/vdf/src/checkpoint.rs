//! Checkpoint files: a computation of days survives the loss of power.
//!
//! The file is written under another name, flushed to the disk and renamed, and the file that stood
//! there before is kept beside it as `NAME.previous`. So at any instant at least one whole checkpoint
//! is on the disk, and a full disk destroys nothing. Version 1, big-endian:
//!
//! ```text
//! "TVDC" ‖ 1 ‖ w (u16) ‖ N (w) ‖ x (w) ‖ T (u64) ‖ done (u64) ‖ c (u32) ‖ value mod N·c (w + 3) ‖ SHA-256 of all
//! ```

pub(crate) mod kept;

use crate::eval::{self, CHECK_PRIME, MAX_ITERATIONS};
use crate::{Error, Modulus, Residue, nat};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 4] = b"TVDC";
const VERSION: u8 = 1;
/// All that is not as wide as N: magic, version, w, T, done, c, the value's 3 more bytes, the hash.
const FIXED: usize = 4 + 1 + 2 + 8 + 8 + 4 + 3 + 32;
const WHAT: &str = "checkpoint";

/// The state of an evaluation: what it computes, and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    modulus: Modulus,
    x: Residue,
    iterations: u64,
    done: u64,
    /// The running value mod N·c.
    value: Vec<u64>,
}

impl Checkpoint {
    pub(crate) fn new(
        modulus: &Modulus,
        x: &Residue,
        iterations: u64,
        done: u64,
        mut value: Vec<u64>,
    ) -> Self {
        nat::trim(&mut value);
        Self { modulus: modulus.clone(), x: x.clone(), iterations, done, value }
    }

    /// The modulus.
    #[must_use]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The input.
    #[must_use]
    pub fn x(&self) -> &Residue {
        &self.x
    }

    /// Squarings of the whole evaluation.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Squarings done.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done
    }

    pub(crate) fn value(&self) -> &[u64] {
        &self.value
    }

    /// Refuses a checkpoint of another computation.
    ///
    /// # Errors
    /// [`Error::CheckpointOther`] names what differs: the modulus, the input or the number of squarings.
    pub fn expect(&self, modulus: &Modulus, x: &Residue, iterations: u64) -> Result<(), Error> {
        if self.modulus != *modulus {
            return Err(Error::CheckpointOther("modulus"));
        }
        if self.x != *x {
            return Err(Error::CheckpointOther("input"));
        }
        if self.iterations != iterations {
            return Err(Error::CheckpointOther("number of squarings"));
        }
        Ok(())
    }

    /// The file's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let width = self.modulus.width();
        let mut out = Vec::with_capacity(3 * width + FIXED);
        out.extend(MAGIC);
        out.push(VERSION);
        out.extend((width as u16).to_be_bytes());
        out.extend(self.modulus.to_bytes());
        out.extend(self.x.to_bytes());
        out.extend(self.iterations.to_be_bytes());
        out.extend(self.done.to_be_bytes());
        out.extend((CHECK_PRIME as u32).to_be_bytes());
        out.extend(nat::to_bytes(&self.value, width + 3));
        let digest = Sha256::digest(&out);
        out.extend(digest);
        out
    }

    /// Reads a checkpoint strictly.
    ///
    /// # Errors
    /// The file is of another kind or version, damaged, or holds numbers that are out of range.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let Some((head, _)) = bytes.split_at_checked(7) else {
            let got = bytes.len() as u64;
            return Err(Error::TooShort { what: WHAT, least: FIXED as u64, got });
        };
        if !head.starts_with(MAGIC) {
            return Err(Error::Magic { expected: WHAT });
        }
        if head[4] != VERSION {
            return Err(Error::Version { what: WHAT, version: head[4], known: "version 1" });
        }
        let width = usize::from(u16::from_be_bytes([head[5], head[6]]));
        let (expected, got) = (3 * width + FIXED, bytes.len());
        if expected != got {
            let (expected, got) = (expected as u64, got as u64);
            return Err(Error::Length { what: WHAT, expected, got });
        }
        let (body, digest) = bytes.split_at(bytes.len() - 32);
        if Sha256::digest(body)[..] != *digest {
            return Err(Error::CheckpointDamaged("its checksum is wrong"));
        }
        Self::parse(&body[7..], width)
    }

    /// Reads what stands between the width and the checksum.
    fn parse(mut body: &[u8], width: usize) -> Result<Self, Error> {
        let mut take = |len: usize| {
            let (field, rest) = body.split_at(len);
            body = rest;
            field
        };
        let modulus = Modulus::from_bytes(take(width))?;
        if modulus.width() != width {
            return Err(Error::Field { what: WHAT, reason: "a modulus that begins with zeros" });
        }
        let x = modulus.decode(take(width), "the checkpoint's x")?;
        let number = |field: &[u8]| field.iter().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
        let (iterations, done, prime) = (number(take(8)), number(take(8)), number(take(4)));
        if iterations > MAX_ITERATIONS {
            return Err(Error::TooManySquarings(iterations));
        }
        if done > iterations {
            return Err(Error::Field { what: WHAT, reason: "more squarings done than wanted" });
        }
        if prime != CHECK_PRIME {
            return Err(Error::Field { what: WHAT, reason: "an unknown check prime" });
        }
        let value = nat::from_bytes(take(width + 3));
        if nat::cmp(&value, &nat::mul(modulus.limbs(), &[CHECK_PRIME])).is_ge() {
            return Err(Error::Field { what: WHAT, reason: "a value that is not reduced" });
        }
        if !eval::passes_check(&x, done, &value) {
            return Err(Error::CheckpointDamaged("its value fails the check"));
        }
        Ok(Self { modulus, x, iterations, done, value })
    }

    /// Writes the file so that at every instant a whole checkpoint is on the disk.
    ///
    /// # Errors
    /// [`Error::Io`]; the checkpoint that was there is still there, under one of its two names.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let new = with_suffix(path, ".new");
        let written = write_synced(&new, &self.to_bytes());
        if let Err(error) = written {
            let _ = fs::remove_file(&new); // half a file is of no use to anyone
            return Err(error.into());
        }
        // A damaged file must not take the place of the previous one, which may be the last good one.
        if matches!(Self::load_one(path), Ok(Some(_))) {
            fs::rename(path, with_suffix(path, ".previous"))?;
        }
        fs::rename(&new, path)?;
        sync_folder(path);
        Ok(())
    }

    /// Reads the checkpoint at `path`, or where that is missing or damaged, the previous one.
    ///
    /// Returns `None` where neither exists. The second value says what was wrong with the newer one.
    ///
    /// # Errors
    /// Both files are bad, or the only one is: the error of the newer.
    pub fn load(path: &Path) -> Result<Option<(Self, Option<Error>)>, Error> {
        let newest = Self::load_one(path);
        let previous = with_suffix(path, ".previous");
        match newest {
            Ok(Some(checkpoint)) => Ok(Some((checkpoint, None))),
            Ok(None) => Ok(Self::load_one(&previous)?.map(|checkpoint| (checkpoint, None))),
            Err(error) => match Self::load_one(&previous) {
                Ok(Some(checkpoint)) => Ok(Some((checkpoint, Some(error)))),
                _ => Err(error),
            },
        }
    }

    /// The newer one of the two files that `usable` takes, and whether one was damaged.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn load_where(
        path: &Path,
        usable: impl Fn(&Self) -> Result<bool, Error>,
    ) -> Result<(Option<Self>, bool), Error> {
        let mut damaged = false;
        for name in [path.to_owned(), with_suffix(path, ".previous")] {
            let found = Self::load_one(&name).and_then(|checkpoint| match checkpoint {
                Some(checkpoint) if usable(&checkpoint)? => Ok(Some(checkpoint)),
                _ => Ok(None),
            });
            match found {
                Ok(Some(checkpoint)) => return Ok((Some(checkpoint), damaged)),
                Ok(None) => {}
                Err(Error::Io(error)) => return Err(Error::Io(error)),
                Err(_) => damaged = true,
            }
        }
        Ok((None, damaged))
    }

    /// Reads one file; `None` where it is not there.
    fn load_one(path: &Path) -> Result<Option<Self>, Error> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut bytes = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        Self::from_bytes(&bytes).map(Some)
    }
}

/// The longest checkpoint, of a modulus of 8192 bits.
const MAX_FILE: u64 = 3 * Modulus::MAX_BITS / 8 + FIXED as u64;

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Flushes the folder's entry, where the system can do that; the file itself is safe already.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
