//! The note beside a key: which state is the key's, where that state is, and how far it was seen.
//!
//! The state may be in another folder or at a server; the note lies with the key file, whatever the
//! store. It reveals a store that was put back, and a second state that somebody made for the key.
//! Several processes may keep one note at once.

use super::seen::{NOTE_BYTES, TEXT};
use super::{Record, Seen, StateError, StateStore};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use tetralith_durable::{Access, create_new, is_at, open_regular};

/// What a note says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyNote {
    /// How far the state was.
    pub seen: Seen,
    /// Where it was, as the caller of [`Noted::open`] named it; empty where that name was too long.
    pub location: String,
}

impl KeyNote {
    /// Reads the note at a path; `None` where there is none.
    ///
    /// # Errors
    /// [`StateError::Unnoted`] where the file is empty or damaged; [`StateError::Io`].
    pub fn read(path: &Path) -> Result<Option<Self>, StateError> {
        let file = match open_regular(path, OpenOptions::new().read(true)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(|error| failed(path, &error))?,
        };
        let note = file.lock_shared().and_then(|()| Self::parse(&file));
        let note = note.map_err(|error| failed(path, &error))?;
        note.map(Some).ok_or_else(|| StateError::Unnoted { path: path.display().to_string() })
    }

    /// Why a signer would refuse a record of the store named `location`, by the note at a path.
    #[must_use]
    pub fn refusal(path: &Path, location: &str, record: &Record) -> Option<StateError> {
        match Self::read(path) {
            Ok(note) => note.and_then(|note| note.check(location, record).err()),
            Err(StateError::Unnoted { .. }) if record.epoch <= 1 => None,
            Err(error) => Some(error),
        }
    }

    fn check(&self, location: &str, record: &Record) -> Result<(), StateError> {
        self.seen.check(record)?;
        let other = self.seen.key_id == record.key_id && self.seen.store_id != record.store_id;
        if other && self.location != location && !self.location.is_empty() {
            return Err(StateError::Elsewhere { location: self.location.clone() });
        }
        Ok(())
    }

    /// What a file says; `None` where it is empty or damaged.
    fn parse(mut file: &File) -> std::io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.take(NOTE_BYTES as u64).read_to_end(&mut bytes)?;
        let text = String::from_utf8(bytes).unwrap_or_default();
        let seen = Seen::from_text(&text);
        Ok(seen.map(|seen| Self { seen, location: text[TEXT..].trim().to_owned() }))
    }

    /// The bytes of the file, always as many.
    fn to_bytes(&self) -> Vec<u8> {
        let fits = self.location.len() < NOTE_BYTES - TEXT - 1;
        let location = if fits { self.location.as_str() } else { "" };
        padded(&format!("{} {location}", self.seen.to_text()))
    }
}

/// A note's text, filled up to its size.
pub(super) fn padded(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(NOTE_BYTES - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// A store whose key has a note beside it.
#[derive(Debug)]
pub struct Noted<S> {
    inner: S,
    path: PathBuf,
    location: String,
    found: Found,
    /// A note that cannot be made is no obstacle.
    optional: bool,
}

/// What the file held when it was last read.
#[derive(Debug)]
enum Found {
    Missing,
    Damaged,
    Note(KeyNote),
}

impl<S: StateStore> Noted<S> {
    /// Joins a store with the note at `path`. `location` names the store, for people and for comparison:
    /// the same store always has the same name, without a password.
    ///
    /// The note is made with the first commit. Where it cannot be written, a store that keeps notes of its
    /// own does without; one that signers share is refused.
    ///
    /// # Errors
    /// [`StateError::Io`] where the note cannot be read, or, for a shared store, written.
    pub fn open(inner: S, path: &Path, location: &str) -> Result<Self, StateError> {
        let (path, location) = (path.to_owned(), location.to_owned());
        let optional = !inner.shared();
        let mut noted = Self { inner, path, location, found: Found::Missing, optional };
        noted.refresh()?;
        if !noted.optional {
            // That the note cannot be written must show before an index is spent.
            let seen = Seen::default();
            let made = noted.make(&KeyNote { seen, location: String::new() });
            let writable = made
                .and_then(|_| open_regular(&noted.path, OpenOptions::new().write(true)).map(drop));
            writable.map_err(|error| failed(&noted.path, &error))?;
        }
        Ok(noted)
    }

    /// Reads the note again: another process may have seen more.
    fn refresh(&mut self) -> Result<(), StateError> {
        self.found = match KeyNote::read(&self.path) {
            Ok(None) => Found::Missing,
            Ok(Some(note)) => Found::Note(note),
            Err(StateError::Unnoted { .. }) => Found::Damaged,
            Err(error) => return Err(error),
        };
        Ok(())
    }

    /// Makes the note where there is none; says whether it was made.
    fn make(&mut self, note: &KeyNote) -> std::io::Result<bool> {
        match create_new(&self.path, &note.to_bytes(), Access::Public) {
            Ok(()) => {
                self.found = Found::Note(note.clone());
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Notes a record that is in the store.
    fn take(&mut self, record: &Record) -> std::io::Result<()> {
        let location = self.location.clone();
        loop {
            let mut options = OpenOptions::new();
            let mut file = match open_regular(&self.path, options.read(true).write(true)) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let seen = self.known().with(record);
                    match self.make(&KeyNote { seen, location: location.clone() })? {
                        true => return Ok(()),
                        false => continue,
                    }
                }
                file => file?,
            };
            file.lock()?;
            if !is_at(&file, &self.path) {
                continue;
            }
            // A file that was put back says less than this process knows.
            let found = KeyNote::parse(&file)?.map_or_else(Seen::default, |note| note.seen);
            let mut seen = found.with(record);
            seen.next = seen.next.max(self.known().of(&record.key_id).next);
            let note = KeyNote { seen, location };
            file.rewind().and_then(|()| file.write_all(&note.to_bytes()))?;
            self.found = Found::Note(note);
            return Ok(());
        }
    }

    fn known(&self) -> Seen {
        match &self.found {
            Found::Note(note) => note.seen,
            Found::Missing | Found::Damaged => Seen::default(),
        }
    }
}

impl<S: StateStore> StateStore for Noted<S> {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        self.refresh()?;
        self.inner.load()
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        self.inner.commit(expected, record)?;
        match self.take(record) {
            // The store's own note is there.
            Err(error) if self.optional && is_read_only(&error) => Ok(()),
            taken => taken.map_err(|error| failed(&self.path, &error)),
        }
    }

    fn place(&self) -> [u8; 32] {
        self.inner.place()
    }

    fn seen(&self, key_id: &[u8; 32]) -> Seen {
        let (inner, own) = (self.inner.seen(key_id), self.known().of(key_id));
        Seen { next: inner.next.max(own.next), epoch: inner.epoch.max(own.epoch), ..inner }
    }

    fn check(&self, record: &Record) -> Result<(), StateError> {
        self.inner.check(record)?;
        match &self.found {
            Found::Note(note) => note.check(&self.location, record),
            Found::Damaged if record.epoch > 1 => {
                Err(StateError::Unnoted { path: self.path.display().to_string() })
            }
            Found::Missing | Found::Damaged => Ok(()),
        }
    }

    fn shared(&self) -> bool {
        self.inner.shared()
    }
}

fn is_read_only(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

fn failed(path: &Path, error: &std::io::Error) -> StateError {
    StateError::Io(format!("{}: {error}", path.display()))
}
