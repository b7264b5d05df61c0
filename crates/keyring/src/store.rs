//! Opening the state of a key, wherever it is.

use crate::place::as_url;
use crate::{Error, Files, Options, Place};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tetralith_xmss::PublicKey;
#[cfg(feature = "etcd")]
use tetralith_xmss::state::EtcdStore;
#[cfg(feature = "postgres")]
use tetralith_xmss::state::PostgresStore;
use tetralith_xmss::state::{
    self, FileStore, Glance, Holder, KeyNote, Noted, Reservations, SqliteStore, StateError,
    StateStore,
};

/// A store of any kind.
pub type Store = Box<dyn StateStore + Send>;

/// A key's files and its store.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The key file as the caller named it.
    pub(crate) name: PathBuf,
    pub(crate) files: Files,
    pub(crate) place: Place,
    host: String,
    wait: Duration,
}

impl Site {
    pub(crate) fn new(key: &Path, options: &Options) -> Result<Self, Error> {
        let files = Files::of(key);
        let place = Place::parse(options.store.as_deref(), &files)?;
        let (name, host, wait) = (key.to_owned(), options.host.clone(), options.wait);
        Ok(Self { name, files, place, host, wait })
    }

    /// Opens the state of a key, which must be there.
    pub(crate) fn reservations(&self, public: &PublicKey) -> Result<Reservations<Store>, Error> {
        let store = self.open(public)?;
        Reservations::open(store, public, self.holder()).map_err(|error| self.refused(error))
    }

    /// Opens the key's store, which must be there, and locks it where it is not one for several signers.
    pub(crate) fn open(&self, public: &PublicKey) -> Result<Store, Error> {
        self.place.check_there(&self.files, &self.name)?;
        self.open_or_make(public)
    }

    /// As [`open`](Self::open), and makes an empty store where there is none.
    pub(crate) fn open_or_make(&self, public: &PublicKey) -> Result<Store, Error> {
        let (holder, wait) = (self.holder(), self.wait);
        let opened = match &self.place {
            Place::Sqlite(path) => {
                SqliteStore::open_within(path, &holder, wait).and_then(|store| self.join(store))
            }
            Place::File(path) => {
                FileStore::open_within(path, &holder, wait).and_then(|store| self.join(store))
            }
            #[cfg(feature = "postgres")]
            Place::Postgres(url) => {
                PostgresStore::open(url, state::key_id(public)).and_then(|store| self.join(store))
            }
            #[cfg(feature = "etcd")]
            Place::Etcd(url) => {
                EtcdStore::open(url, state::key_id(public)).and_then(|store| self.join(store))
            }
            #[cfg(not(feature = "postgres"))]
            Place::Postgres(_) => return Err(Error::NotBuilt("PostgreSQL")),
            #[cfg(not(feature = "etcd"))]
            Place::Etcd(_) => return Err(Error::NotBuilt("etcd")),
        };
        let _ = public;
        opened.map_err(|error| self.refused(error))
    }

    /// The store alone, without the note, if it is in a file and free.
    pub(crate) fn held(&self) -> Result<Store, StateError> {
        match &self.place {
            Place::Sqlite(path) => Ok(Box::new(SqliteStore::open(path, &self.holder())?)),
            Place::File(path) => Ok(Box::new(FileStore::open(path, &self.holder())?)),
            Place::Postgres(_) | Place::Etcd(_) => Err(StateError::Missing),
        }
    }

    /// Joins a store with the note beside its key.
    fn join(&self, store: impl StateStore + Send + 'static) -> Result<Store, StateError> {
        let location = self.place.location(&self.files);
        Ok(Box::new(Noted::open(store, &self.files.seen(), &location)?))
    }

    /// Reads the key's record without opening its store, and says what a signer would find.
    pub(crate) fn glance(&self, public: &PublicKey) -> Result<Glance, Error> {
        self.place.check_there(&self.files, &self.name)?;
        let id = state::key_id(public);
        let found = match &self.place {
            Place::Sqlite(path) => SqliteStore::glance(path),
            Place::File(path) => FileStore::glance(path),
            #[cfg(feature = "postgres")]
            Place::Postgres(url) => PostgresStore::open(url, id).and_then(glance_at),
            #[cfg(feature = "etcd")]
            Place::Etcd(url) => EtcdStore::open(url, id).and_then(glance_at),
            #[cfg(not(feature = "postgres"))]
            Place::Postgres(_) => return Err(Error::NotBuilt("PostgreSQL")),
            #[cfg(not(feature = "etcd"))]
            Place::Etcd(_) => return Err(Error::NotBuilt("etcd")),
        };
        let mut found = found.map_err(|error| self.refused(error))?;
        if found.record.key_id != id {
            return Err(self.refused(StateError::OtherKey));
        }
        if found.refused.is_none() {
            let location = self.place.location(&self.files);
            found.refused = KeyNote::refusal(&self.files.seen(), &location, &found.record);
        }
        found.refused = found.refused.map(|error| self.located(error));
        Ok(found)
    }

    /// This process and the name of its host.
    pub(crate) fn holder(&self) -> Holder {
        Holder::new(&self.host)
    }

    /// A refusal of this store.
    pub(crate) fn refused(&self, source: StateError) -> Error {
        match source {
            StateError::Missing => self.place.missing(&self.files),
            source => {
                let file = self.place.path().map(Path::to_owned);
                Error::State { source: self.located(source), file }
            }
        }
    }

    /// Names another store as a URL from here.
    fn located(&self, error: StateError) -> StateError {
        match error {
            StateError::Elsewhere { location } => {
                StateError::Elsewhere { location: as_url(&location, &self.files) }
            }
            error => error,
        }
    }
}

#[cfg(any(feature = "postgres", feature = "etcd"))]
fn glance_at(mut store: impl StateStore) -> Result<Glance, StateError> {
    let record = store.load()?.ok_or(StateError::Missing)?;
    let refused = state::refusal(&store, &record);
    Ok(Glance { record, refused })
}
