//! Where a key's state is kept, and how its refusals are told.

use super::with_suffix;
use crate::failure::{Exit, Failure, Outcome};
use rand_core::Rng;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tetralith_xmss::PublicKey;
use tetralith_xmss::state::{self, FileStore, Holder, Record, SqliteStore, StateError, StateStore};

/// The option that names a store.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct StoreArgs {
    /// The key's state: sqlite:PATH or file:PATH [default: sqlite:KEY.state]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

/// A store of either kind.
#[derive(Debug)]
pub(crate) enum Store {
    Sqlite(SqliteStore),
    File(FileStore),
}

impl StateStore for Store {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        match self {
            Store::Sqlite(store) => store.load(),
            Store::File(store) => store.load(),
        }
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        match self {
            Store::Sqlite(store) => store.commit(expected, record),
            Store::File(store) => store.commit(expected, record),
        }
    }

    fn place(&self) -> [u8; 32] {
        match self {
            Store::Sqlite(store) => store.place(),
            Store::File(store) => store.place(),
        }
    }

    fn seen(&self) -> u64 {
        match self {
            Store::Sqlite(store) => store.seen(),
            Store::File(store) => store.seen(),
        }
    }
}

/// What a URL names.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Sqlite(PathBuf),
    File(PathBuf),
}

fn place(arguments: &StoreArgs, key: &Path) -> Outcome<Place> {
    let Some(url) = &arguments.store else {
        return Ok(Place::Sqlite(with_suffix(key, ".state")));
    };
    match url.split_once(':') {
        Some(("sqlite", path)) if !path.is_empty() => Ok(Place::Sqlite(path.into())),
        Some(("file", path)) if !path.is_empty() => Ok(Place::File(path.into())),
        Some((scheme @ ("postgres" | "postgresql" | "etcd"), _)) => Err(Failure::usage(
            "store.unsupported",
            format!("{scheme} stores are not supported by this version"),
        )
        .hint("use sqlite:PATH or file:PATH")),
        _ => Err(Failure::usage("store.url", format!("{url} is no store"))
            .hint("use sqlite:PATH or file:PATH")),
    }
}

/// Opens and locks a key's store.
pub(crate) fn open(arguments: &StoreArgs, key: &Path) -> Outcome<Store> {
    let opened = match place(arguments, key)? {
        Place::Sqlite(path) => SqliteStore::open(&path, &holder()).map(Store::Sqlite),
        Place::File(path) => FileStore::open(&path, &holder()).map(Store::File),
    };
    opened.map_err(|error| failure(&error))
}

/// Reads a key's record without locking its store.
pub(crate) fn peek(arguments: &StoreArgs, key: &Path) -> Outcome<Record> {
    let record = match place(arguments, key)? {
        Place::Sqlite(path) => SqliteStore::peek(&path),
        Place::File(path) => FileStore::peek(&path),
    };
    record.map_err(|error| failure(&error))
}

/// Creates the state of a new key. With `force`, a state that an earlier key of that name left is
/// replaced; a state of the same key never is, unless nothing was signed with it.
pub(crate) fn create(
    arguments: &StoreArgs,
    key: &Path,
    public: &PublicKey,
    resume_at: u64,
    force: bool,
) -> Outcome {
    // A run that was killed before it wrote its key may have left a state under the key's name.
    let orphan = arguments.store.is_none() && !key.exists();
    if force || orphan {
        discard(arguments, key, public, force)?;
    }
    let mut store = open(arguments, key)?;
    match state::create(&mut store, public, resume_at, store_id(), now()) {
        Err(StateError::Exists) if is_new(&mut store, public, resume_at)? => Ok(()),
        created => created.map_err(|error| failure(&error)),
    }
}

/// Says whether a store holds what `create` would write: a state of this key, and nothing spent.
fn is_new(store: &mut Store, public: &PublicKey, resume_at: u64) -> Outcome<bool> {
    let found = store.load().map_err(|error| failure(&error))?;
    let (id, place) = (state::key_id(public), store.place());
    Ok(found.is_some_and(|found| {
        found.key_id == id && found.place == place && found.next == resume_at && untouched(&found)
    }))
}

/// No index of it was ever leased.
fn untouched(record: &Record) -> bool {
    record.open.is_none() && (record.used, record.lost, record.leased) == (0, 0, 0)
}

/// Deletes what an earlier key left: with `any` whatever it is, else only where nothing was signed.
fn discard(arguments: &StoreArgs, key: &Path, public: &PublicKey, any: bool) -> Outcome {
    let mut store = open(arguments, key)?;
    let found = store.load().map_err(|error| failure(&error))?;
    let Some(found) = found else { return Ok(()) };
    if found.key_id == state::key_id(public) {
        return if untouched(&found) { Ok(()) } else { Err(failure(&StateError::Exists)) };
    }
    if any || untouched(&found) {
        remove(arguments, key)?;
    }
    Ok(())
}

/// Deletes a state that was created just now, whose key could not be written.
pub(crate) fn remove(arguments: &StoreArgs, key: &Path) -> Outcome {
    let (Place::Sqlite(path) | Place::File(path)) = place(arguments, key)?;
    for suffix in ["", "-wal", "-shm", ".lock"] {
        let path = with_suffix(&path, suffix);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::file(&path, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Draws what tells two states of one key apart.
pub(crate) fn store_id() -> [u8; 16] {
    let mut id = [0; 16];
    crate::random::system().fill_bytes(&mut id);
    id
}

/// This process and the name of its host.
pub(crate) fn holder() -> Holder {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok());
    let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    Holder::new(name.unwrap_or("this host"))
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// How a refusal is told.
pub(crate) fn failure(error: &StateError) -> Failure {
    let (exit, code, hint) = match error {
        StateError::Exhausted { .. } => (Exit::State, "state.exhausted", "make a new key"),
        StateError::NotEnough { .. } => (Exit::State, "state.not_enough", "ask for fewer"),
        StateError::Held(_) => (Exit::State, "state.locked", "wait for that process, or end it"),
        StateError::Missing => (Exit::State, "state.missing", "see tetralith xmss restore --help"),
        StateError::Exists => (Exit::State, "state.exists", "choose another --store"),
        StateError::OtherKey => (Exit::State, "state.other_key", "name this key's --store"),
        StateError::Copied => (Exit::State, "state.copied", "see tetralith xmss restore --help"),
        StateError::RolledBack { .. } => {
            (Exit::State, "state.rolled_back", "see tetralith xmss restore --help")
        }
        StateError::Backward { .. } => (Exit::State, "state.backward", "resume further on"),
        StateError::Conflict { .. } => (Exit::State, "state.conflict", "try again"),
        StateError::Forked { .. } => (Exit::State, "state.forked", "open the key in the child"),
        StateError::Damaged(_) => (
            Exit::State,
            "state.damaged",
            "put the state aside and restore it past every index used",
        ),
        _ => return Failure::new(Exit::Environment, "io.state", error),
    };
    Failure::new(exit, code, error).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_stores() {
        let place = |url: Option<&str>| {
            super::place(&StoreArgs { store: url.map(str::to_owned) }, Path::new("a/key"))
        };
        assert_eq!(place(None).unwrap(), Place::Sqlite("a/key.state".into()));
        assert_eq!(place(Some("sqlite:/x/y")).unwrap(), Place::Sqlite("/x/y".into()));
        assert_eq!(place(Some("file:y")).unwrap(), Place::File("y".into()));
        let code = |url| place(Some(url)).unwrap_err().code;
        assert_eq!(code("postgres://host/db"), "store.unsupported");
        assert_eq!(code("etcd://host"), "store.unsupported");
        assert_eq!(code("file:"), "store.url");
        assert_eq!(code("nothing"), "store.url");
    }
}
