//! Leaves kept in a file while a key is computed, so that the work survives its process.
//!
//! The file says nothing of the seeds but what its caller puts into the note, such as a sealed copy
//! of them. Every part has a tag keyed by all seeds and the parameter set, so that leaves of another
//! key, or damaged ones, never get into a tree. Parts are appended as they are computed: a process
//! that is killed leaves at most its last one cut short, which is computed again.
//!
//! Format (`docs/xmss.md`): magic, four bytes with the length of the note, the note, its tag; then
//! parts, each four bytes with its number, its leaves, and its tag.

use crate::keys::SecretKey;
use crate::seeds::Seeds;
use crate::tree::{Kept, PART, Shape};
use crate::{Error, Params};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use subtle::ConstantTimeEq;
use tetralith_durable::{Access, Aside, open_regular, remove};
use zeroize::Zeroizing;

/// A file of leaves, locked by this process.
pub struct Partial {
    path: PathBuf,
    tagger: Tagger,
    part_bytes: usize,
    leaves: u64,
    damaged: u64,
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    /// Where the leaves of a part begin.
    known: HashMap<u32, u64>,
    unsynced: u32,
}

/// Makes the tags of one key's parts.
struct Tagger(Zeroizing<[u8; 32]>);

impl Tagger {
    fn new(key: &SecretKey) -> Self {
        Self(key.binding(MAGIC))
    }

    fn tag(&self, part: u32, bytes: &[u8]) -> [u8; TAG] {
        let mut hash = Sha256::new_with_prefix(&self.0[..]);
        hash.update(part.to_be_bytes());
        hash.update(bytes);
        let mut tag = [0; TAG];
        tag.copy_from_slice(&hash.finalize()[..TAG]);
        tag
    }

    fn fits(&self, part: u32, bytes: &[u8], tag: &[u8]) -> bool {
        self.tag(part, bytes).ct_eq(tag).into()
    }
}

impl Partial {
    /// Reads the note of the file at a path; `None` where there is no file.
    ///
    /// It is not authenticated: [`resume`](Self::resume) does that, with the seeds.
    ///
    /// # Errors
    /// [`Error::Partial`]: the file cannot be read; [`Error::Malformed`]: it does not begin as one of
    /// these does.
    pub fn note(path: &Path) -> Result<Option<Vec<u8>>, Error> {
        match open_regular(path, OpenOptions::new().read(true)) {
            Ok(mut file) => Ok(Some(read_note(&mut file)?.0)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Begins a file with a note of at most [`MAX_NOTE`] bytes, readable by its owner only.
    ///
    /// # Errors
    /// [`Error::Partial`]: the file exists or cannot be written.
    ///
    /// # Security
    /// The note is written as it is: a copy of the seeds in it must be encrypted.
    pub fn begin(path: &Path, seeds: &Seeds, note: &[u8]) -> Result<Self, Error> {
        if note.len() > MAX_NOTE {
            return Err(Error::Partial("the note is too long".into()));
        }
        let tagger = Tagger::new(seeds.key());
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&(note.len() as u32).to_be_bytes());
        bytes.extend_from_slice(note);
        bytes.extend_from_slice(&tagger.tag(NOTE, note));
        // The file has its whole head or is not there, and is locked before it has its name.
        let mut aside = Aside::create(path, Access::Owner).map_err(failed)?;
        let written = aside.write_all(&bytes).and_then(|()| aside.create_new());
        let file = written.map_err(failed)?;
        Ok(Self::of(path, tagger, seeds.params(), file))
    }

    /// Opens the file that was begun for these seeds and finds the parts that are whole.
    ///
    /// # Errors
    /// [`Error::Partial`]: the file cannot be read or is in use by another process;
    /// [`Error::Malformed`]: it is not of these seeds and this parameter set. Damaged parts are no error: see [`damaged`](Self::damaged).
    pub fn resume(path: &Path, seeds: &Seeds) -> Result<Self, Error> {
        let file = open_regular(path, OpenOptions::new().read(true).write(true));
        let mut file = file.map_err(failed)?;
        lock(&file)?;
        let tagger = Tagger::new(seeds.key());
        let (note, tag) = read_note(&mut file)?;
        if !tagger.fits(NOTE, &note, &tag) {
            let why = "it is damaged, or was begun with other seeds or another parameter set";
            return Err(malformed(why));
        }
        let mut partial = Self::of(path, tagger, seeds.params(), file);
        partial.scan((MAGIC.len() + 4 + note.len() + TAG) as u64)?;
        Ok(partial)
    }

    /// How many leaves are kept.
    #[must_use]
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// How many parts were damaged, the last one, where it was cut short, not counted.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Deletes the file.
    ///
    /// # Errors
    /// [`Error::Partial`]: it cannot be deleted.
    pub fn remove(self) -> Result<(), Error> {
        remove(&self.path).map_err(failed)
    }

    fn of(path: &Path, tagger: Tagger, params: Params, file: File) -> Self {
        let Shape { height, n } = Shape::of(params);
        let part_bytes = n * PART.min(1 << height);
        let inner = Inner { file, known: HashMap::new(), unsynced: 0 };
        let path = path.to_owned();
        Self { path, tagger, part_bytes, leaves: 0, damaged: 0, inner: Mutex::new(inner) }
    }

    /// Finds the parts from byte `at` on, and cuts off what is no whole part.
    fn scan(&mut self, mut at: u64) -> Result<(), Error> {
        let mut bytes = vec![0; 4 + self.part_bytes + TAG];
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        let end = inner.file.metadata().map_err(failed)?.len();
        inner.file.seek(SeekFrom::Start(at)).map_err(failed)?;
        while end - at >= bytes.len() as u64 {
            inner.file.read_exact(&mut bytes).map_err(failed)?;
            let (body, tag) = bytes.split_at(4 + self.part_bytes);
            let (number, leaves) = body.split_at(4);
            let part = number.iter().fold(0, |part, byte| part << 8 | u32::from(*byte));
            if part != NOTE && self.tagger.fits(part, leaves, tag) {
                inner.known.insert(part, at + 4);
            } else {
                self.damaged += 1;
            }
            at += bytes.len() as u64;
        }
        inner.file.set_len(at).map_err(failed)?;
        self.leaves = (inner.known.len() * PART) as u64;
        Ok(())
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept for Partial {
    fn load(&self, part: usize, leaves: &mut [u8]) -> bool {
        let mut inner = self.inner();
        let Some(at) = u32::try_from(part).ok().and_then(|part| inner.known.get(&part).copied())
        else {
            return false;
        };
        let read = inner.file.seek(SeekFrom::Start(at));
        let mut tag = [0; TAG];
        let read = read.and_then(|_| inner.file.read_exact(leaves));
        let read = read.and_then(|()| inner.file.read_exact(&mut tag));
        read.is_ok() && self.tagger.fits(part as u32, leaves, &tag)
    }

    fn save(&self, part: usize, leaves: &[u8]) -> Result<(), Error> {
        let part = part as u32;
        let mut bytes = part.to_be_bytes().to_vec();
        bytes.extend_from_slice(leaves);
        bytes.extend_from_slice(&self.tagger.tag(part, leaves));
        let mut inner = self.inner();
        inner.file.seek(SeekFrom::End(0)).map_err(failed)?;
        inner.file.write_all(&bytes).map_err(failed)?;
        inner.unsynced += 1;
        if inner.unsynced == SYNC_EVERY {
            inner.unsynced = 0;
            inner.file.sync_data().map_err(failed)?;
        }
        Ok(())
    }
}

impl core::fmt::Debug for Partial {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Partial({})", self.path.display())
    }
}

fn read_note(file: &mut File) -> Result<(Vec<u8>, [u8; TAG]), Error> {
    let mut head = [0; MAGIC.len() + 4];
    file.read_exact(&mut head).map_err(cut_short)?;
    let (magic, len) = head.split_at(MAGIC.len());
    let len = len.iter().fold(0, |len, byte| len << 8 | usize::from(*byte));
    if magic != MAGIC || len > MAX_NOTE {
        return Err(malformed("not a file of leaves of version 1"));
    }
    let (mut note, mut tag) = (vec![0; len], [0; TAG]);
    file.read_exact(&mut note).and_then(|()| file.read_exact(&mut tag)).map_err(cut_short)?;
    Ok((note, tag))
}

fn lock(file: &File) -> Result<(), Error> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => Error::Partial("another process is at work on it".into()),
        TryLockError::Error(error) => failed(error),
    })
}

fn cut_short(error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => malformed("cut short in its head"),
        _ => failed(error),
    }
}

fn malformed(why: &'static str) -> Error {
    Error::Malformed { what: "partial key", why }
}

fn failed(error: std::io::Error) -> Error {
    Error::Partial(error.to_string())
}

const MAGIC: &[u8; 25] = b"tetralith xmss partial 1\n";
/// The longest note.
pub const MAX_NOTE: usize = 1 << 16;
/// Bytes of a tag.
const TAG: usize = 16;
/// The number of the note among the parts; a tree has fewer.
const NOTE: u32 = u32::MAX;
/// Parts between two syncs: a few seconds of work of one core.
const SYNC_EVERY: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Derivation, HashFunction, Progress};
    use core::sync::atomic::{AtomicU64, Ordering};
    use std::fs;

    fn seeds(byte: u8) -> Seeds {
        let params = Params::qrl(HashFunction::Sha2, 12).unwrap();
        Seeds::from_bytes(params, Derivation::PrfCounter, &[byte; 96]).unwrap()
    }

    /// Computes until `limit` leaves were newly done; counts them.
    fn run(partial: &Partial, limit: u64) -> (Result<SecretKey, Error>, u64) {
        let new = AtomicU64::new(0);
        let kept = partial.leaves();
        let key = seeds(7).build_with(
            partial,
            &Progress::new(&|done, _| new.fetch_max(done - kept, Ordering::Relaxed) < limit),
        );
        (key, new.into_inner())
    }

    #[test]
    fn an_interrupted_key_is_the_same_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.partial");
        let whole = seeds(7).build(&Progress::silent()).unwrap();
        assert_eq!(Partial::note(&path), Ok(None));
        let partial = Partial::begin(&path, &seeds(7), b"a note").unwrap();
        assert_eq!(run(&partial, 2000).0.unwrap_err(), Error::Cancelled);
        drop(partial);
        assert_eq!(Partial::note(&path), Ok(Some(b"a note".to_vec())));
        let partial = Partial::resume(&path, &seeds(7)).unwrap();
        assert!(partial.leaves() >= 1024 && partial.damaged() == 0);
        let kept = partial.leaves();
        let (key, new) = run(&partial, u64::MAX);
        assert_eq!(key.unwrap().public_key(), whole.public_key());
        assert_eq!(new, 4096 - kept);
        // All of it is there now, and nothing is computed.
        drop(partial);
        let partial = Partial::resume(&path, &seeds(7)).unwrap();
        let (key, new) = run(&partial, u64::MAX);
        assert_eq!((key.unwrap().public_key(), new), (whole.public_key(), 0));
        partial.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn damaged_parts_are_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.partial");
        let partial = Partial::begin(&path, &seeds(7), b"").unwrap();
        let whole = run(&partial, u64::MAX).0.unwrap();
        drop(partial);
        let good = fs::read(&path).unwrap();
        let (head, part) = (MAGIC.len() + 4 + TAG, 4 + 1024 * 32 + TAG);
        assert_eq!(good.len(), head + 4 * part);
        // A leaf, a tag, a number, and an end that is cut short.
        for (at, len, damaged, kept) in [
            (head + 4, good.len(), 1, 3),
            (head + part - 1, good.len(), 1, 3),
            (head + 3, good.len(), 1, 3),
            (head + 4 + part, good.len() - 1, 1, 2),
        ] {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, &bad[..len]).unwrap();
            let partial = Partial::resume(&path, &seeds(7)).unwrap();
            assert_eq!((partial.damaged(), partial.leaves()), (damaged, kept * 1024), "{at}");
            let key = run(&partial, u64::MAX).0.unwrap();
            assert_eq!(key.public_key(), whole.public_key(), "{at}");
        }
    }

    #[test]
    fn a_file_is_of_its_seeds_and_whole_in_its_head() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.partial");
        let partial = Partial::begin(&path, &seeds(7), b"note").unwrap();
        let held = Partial::resume(&path, &seeds(7)).unwrap_err();
        assert_eq!(held, Error::Partial("another process is at work on it".into()));
        assert!(matches!(Partial::begin(&path, &seeds(7), b""), Err(Error::Partial(_))));
        drop(partial);
        assert!(matches!(Partial::resume(&path, &seeds(8)), Err(Error::Malformed { .. })));
        let good = fs::read(&path).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, &bad).unwrap();
            let refused = Partial::resume(&path, &seeds(7)).unwrap_err();
            assert!(matches!(refused, Error::Malformed { .. }), "{at}");
            fs::write(&path, &good[..at]).unwrap();
            assert!(matches!(Partial::note(&path), Err(Error::Malformed { .. })), "cut at {at}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let path = folder.path().join("other");
            drop(Partial::begin(&path, &seeds(7), b"").unwrap());
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
