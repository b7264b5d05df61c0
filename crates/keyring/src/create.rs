//! Writing a new key, or one in the place of another.

use crate::store::Site;
use crate::{Error, Keyring, Options, Place, Secret, Store, public_of};
use rand_core::CryptoRng;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use tetralith_durable::{Access, Aside, beside, open_regular, remove, replace};
use tetralith_keyfile::Protection;
use tetralith_xmss::state::{self, Record, StateError, StateStore};
use tetralith_xmss::{Partial, PublicKey};

/// A key that is to be written.
pub struct NewKey<'a> {
    secret: &'a Secret,
    protection: Protection<'a>,
    /// The first index to use: above every index that the key has ever used.
    pub resume_at: u64,
    /// Replace the key of that name, and its state.
    pub replace: bool,
    /// The file of leaves, which goes before the key appears: the same seeds never make a second key.
    pub partial: Option<Partial>,
}

impl core::fmt::Debug for NewKey<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("NewKey")
    }
}

impl<'a> NewKey<'a> {
    /// A key that has never signed, under a name that no key has.
    #[must_use]
    pub fn new(secret: &'a Secret, protection: Protection<'a>) -> Self {
        Self { secret, protection, resume_at: 0, replace: false, partial: None }
    }
}

impl Keyring {
    /// Writes a new key: its state first, whole and on disk, then its trees, then the key itself, so
    /// that whatever is interrupted there is no key whose state is missing. What can fail and what
    /// takes long comes before the state; what fails after it takes the state back.
    ///
    /// # Errors
    /// [`Error::File`] with [`ErrorKind::AlreadyExists`] where the name is taken; [`Error::State`],
    /// [`Error::Foreign`] and [`Error::NotReplaced`] where a state is in the way.
    pub fn create(
        path: &Path,
        options: &Options,
        new: NewKey<'_>,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        let site = Site::new(path, options)?;
        let failed = Error::file(path);
        let file = new.secret.seal(new.protection, rng, path)?;
        let mut staged = Aside::create(site.files.key(), Access::Owner).map_err(&failed)?;
        let text = file.to_text();
        let written = staged.write_all(text.as_bytes()).and_then(|()| staged.file().sync_all());
        written.map_err(&failed)?;
        if !new.replace && site.files.key().exists() {
            return Err(failed(ErrorKind::AlreadyExists.into()));
        }
        let public = new.secret.key.public_key();
        let created = site.create(&public, new.resume_at, new.replace, now, rng)?;
        let layer = site.files.layer(public.params().layers() - 1);
        let had_layer = layer.exists();
        let cached = new.secret.key.save_cache(&site.files.nodes());
        let removed = cached.and_then(|()| new.partial.map_or(Ok(()), Partial::remove));
        let named = removed.map_err(Error::from).and_then(|()| {
            let named = if new.replace { staged.replace() } else { staged.create_new() };
            named.map(drop).map_err(failed)
        });
        if let Err(error) = named {
            if !had_layer {
                let _ = remove(&layer);
            }
            created.take_back(&site);
            return Err(error);
        }
        site.replaced();
        Ok(Self { site, file, public })
    }
}

/// What of a store was not there before this call.
pub(crate) struct Fresh {
    path: Option<PathBuf>,
    state: bool,
    lock: bool,
    /// The note beside the key, where it is new.
    note: Option<PathBuf>,
}

impl Fresh {
    pub(crate) fn of(site: &Site) -> Self {
        let path = site.place.path().map(Path::to_owned);
        let lock = path.as_deref().is_some_and(|path| !beside(path, ".lock").exists());
        let state = path.as_deref().is_some_and(|path| !path.exists());
        let note = Some(site.files.seen()).filter(|note| !note.exists());
        Self { path, state, lock, note }
    }

    /// Deletes the files of a store that is held, where they hold no state but one that was to be made;
    /// says whether they do not.
    pub(crate) fn take_back(&self, store: &mut Store, id: [u8; 16]) -> bool {
        let ours = match store.load() {
            Ok(found) => found.is_none_or(|found| found.store_id == id),
            Err(_) => self.state,
        };
        if ours {
            self.delete();
        }
        ours
    }

    /// Deletes the files of a store that could not be opened, where it is new and holds nothing.
    pub(crate) fn sweep(&self, site: &Site) {
        if !self.state {
            return;
        }
        let empty = match site.held() {
            Ok(mut store) => matches!(store.load(), Ok(None)),
            // Another process is at work on it.
            Err(StateError::Held(_)) => false,
            // Half made on a full disk; no key can be its own.
            Err(_) => !site.files.key().exists(),
        };
        if empty {
            self.delete();
        }
    }

    fn delete(&self) {
        if let Some(note) = &self.note {
            let _ = remove(note);
        }
        let Some(path) = &self.path else { return };
        let lock: &[_] = if self.lock { &[".lock"] } else { &[] };
        // The lock last: until it is gone, nobody else can have the store.
        for suffix in ["", "-wal", "-shm"].iter().chain(lock) {
            let _ = remove(&beside(path, suffix));
        }
    }
}

/// The state of a key that is still to be written. It stays locked: until the key is there, nobody signs
/// with the state or takes it for an orphan.
struct Created {
    _held: Store,
    made: bool,
    fresh: Fresh,
}

impl Created {
    /// Takes back what this call made, where the key could not be written.
    fn take_back(self, site: &Site) {
        if self.made {
            self.fresh.delete();
            site.replaced();
        }
    }
}

impl Site {
    /// Creates the state of a new key. With `force`, the state of the key that it replaces, in the file
    /// of that name, is removed; a state of the same key with which something was signed never is, nor
    /// one of a third.
    fn create(
        &self,
        public: &PublicKey,
        resume_at: u64,
        force: bool,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Created, Error> {
        let fresh = Fresh::of(self);
        // A call that was killed before it wrote its key may have left a state under the key's name; or,
        // where it was to replace a key, a state where that key's was.
        let own = self.place == Place::Sqlite(self.files.state());
        let orphan = own && !self.files.key().exists();
        if (force || orphan) && self.place.path().is_some() {
            self.discard(public, orphan).inspect_err(|_| fresh.sweep(self))?;
        }
        let opened = self.open_or_make(public);
        let (mut store, id) = (opened.inspect_err(|_| fresh.sweep(self))?, draw(rng));
        let made = match state::create(&mut store, public, resume_at, id, now) {
            Err(StateError::Exists) if self.is_new(&mut store, public, resume_at)? => false,
            Ok(()) => true,
            Err(error) => {
                if fresh.take_back(&mut store, id) {
                    self.replaced();
                }
                return Err(self.refused(error));
            }
        };
        Ok(Created { _held: store, made, fresh })
    }

    /// Says whether a store holds what `create` would write: a state of this key, and nothing spent.
    fn is_new(&self, store: &mut Store, public: &PublicKey, resume_at: u64) -> Result<bool, Error> {
        let found = store.load().map_err(|error| self.refused(error))?;
        let (id, place) = (state::key_id(public), store.place());
        Ok(found.is_some_and(|found| {
            let same = found.key_id == id && found.place == place;
            same && found.next == resume_at && untouched(&found)
        }))
    }

    /// Deletes the state of the key that is to be replaced, or an `orphan` with which nothing was signed.
    ///
    /// Wherever this is cut short, the state that is found next is that of the key to be replaced, or the
    /// one that was announced last, or none.
    fn discard(&self, public: &PublicKey, orphan: bool) -> Result<(), Error> {
        // Held until its files are gone, so that nobody signs with it meanwhile.
        let mut store = self.open_or_make(public)?;
        let id = state::key_id(public);
        let found = match store.load().map_err(|error| self.refused(error))? {
            None if orphan => return Ok(()),
            None => return self.announce(&id),
            Some(found) => found,
        };
        if found.key_id == id {
            let touched = !untouched(&found);
            return if touched { Err(StateError::Exists.into()) } else { Ok(()) };
        }
        // What was cut short made a state for a key that never came to be: nobody can sign with it.
        if self.announced() == Some(found.key_id) && untouched(&found) {
            self.remove()?;
            return self.announce(&id);
        }
        if orphan {
            store.check(&found).map_err(|error| self.refused(error))?;
            let unused = untouched(&found) && found.skipped == 0;
            let path = self.place.path().unwrap_or(Path::new("")).to_owned();
            return if unused { self.remove() } else { Err(Error::Foreign { path }) };
        }
        if self.key_there().map(|replaced| state::key_id(&replaced)) != Some(found.key_id) {
            return Err(Error::NotReplaced);
        }
        self.announce(&id)?;
        self.remove()
    }

    /// The public key of the key file that is there.
    fn key_there(&self) -> Option<PublicKey> {
        let file = Keyring::open(&self.name, &Options::default()).ok()?.file;
        public_of(&file, &self.name).ok()
    }

    /// Writes, durably, which key's state comes next, before the one of the key to be replaced goes.
    fn announce(&self, id: &[u8; 32]) -> Result<(), Error> {
        let digits: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let (path, text) = (self.files.replacing(), format!("{digits}\n"));
        replace(&path, text.as_bytes(), Access::Owner).map_err(Error::file(&path))
    }

    fn announced(&self) -> Option<[u8; 32]> {
        let mut options = std::fs::OpenOptions::new();
        let file = open_regular(&self.files.replacing(), options.read(true)).ok()?;
        let mut text = String::new();
        file.take(128).read_to_string(&mut text).ok()?;
        let text = text.trim();
        let mut id = [0; 32];
        for (i, byte) in id.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()?;
        }
        (text.len() == 64).then_some(id)
    }

    /// The key is there: nothing is being replaced any more. What stays names a key that has its state.
    fn replaced(&self) {
        let _ = remove(&self.files.replacing());
    }

    /// Deletes a state that is held. What a server keeps stays: without its key it is a row that nobody
    /// signs with. The lock file stays too: who waits for it must not get one that is gone.
    fn remove(&self) -> Result<(), Error> {
        let Some(path) = self.place.path() else { return Ok(()) };
        for suffix in ["", "-wal", "-shm"] {
            let path = beside(path, suffix);
            remove(&path).map_err(Error::file(&path))?;
        }
        Ok(())
    }
}

/// No index of it was ever leased.
fn untouched(record: &Record) -> bool {
    record.leases.is_empty() && (record.used, record.lost, record.leased) == (0, 0, 0)
}

/// Draws what tells two states of one key apart.
pub(crate) fn draw(rng: &mut impl CryptoRng) -> [u8; 16] {
    let mut id = [0; 16];
    rng.fill_bytes(&mut id);
    id
}
