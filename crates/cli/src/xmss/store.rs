//! Where a key's state is kept, and how its refusals are told.

mod place;

use super::{key, with_suffix};
use crate::failure::{Exit, Failure, Outcome};
use crate::io::Access;
pub(crate) use place::StoreArgs;
use place::{Place, as_option, check_links, check_there, default_place, missing, place, seen_path};
use rand_core::Rng;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use tetralith_xmss::PublicKey;
use tetralith_xmss::state::{
    self, EtcdStore, FileStore, Glance, Holder, KeyNote, Noted, PostgresStore, Record, SqliteStore,
    StateError, StateStore, noted_by,
};

/// A store of any kind.
pub(crate) type Store = Box<dyn StateStore>;

/// Opens a key's store, which must hold its state, and locks it where it is not one for several signers.
pub(crate) fn open(arguments: &StoreArgs, key: &Path, public: &PublicKey) -> Outcome<Store> {
    let place = place(arguments, key)?;
    check_there(&place, key)?;
    let mut store = open_or_make(arguments, key, public)?;
    match store.load().map_err(|error| place.failure(&error))? {
        Some(_) => Ok(store),
        None => Err(missing(&place, key)),
    }
}

/// As [`open`], and makes an empty store where there is none.
fn open_or_make(arguments: &StoreArgs, key: &Path, public: &PublicKey) -> Outcome<Store> {
    let place = place(arguments, key)?;
    let (id, location) = (state::key_id(public), place.location(key));
    let seen = seen_path(key);
    let noted = (seen.as_path(), location.as_str());
    let opened = match &place {
        Place::Sqlite(path) => SqliteStore::open(path, &holder()).and_then(|s| join(s, noted)),
        Place::File(path) => FileStore::open(path, &holder()).and_then(|s| join(s, noted)),
        Place::Postgres(url) => PostgresStore::open(url, id).and_then(|s| join(s, noted)),
        Place::Etcd(url) => EtcdStore::open(url, id).and_then(|s| join(s, noted)),
    };
    opened.map_err(|error| place.failure(&error))
}

/// Joins a store with the note beside its key.
fn join(store: impl StateStore + 'static, noted: (&Path, &str)) -> Result<Store, StateError> {
    Ok(Box::new(Noted::open(store, noted.0, noted.1)?))
}

/// Reads a key's record without opening its store, and says what a signer would find.
pub(crate) fn glance(arguments: &StoreArgs, key: &Path, public: &PublicKey) -> Outcome<Glance> {
    let place = place(arguments, key)?;
    check_there(&place, key)?;
    let id = state::key_id(public);
    let found = match &place {
        Place::Sqlite(path) => SqliteStore::glance(path),
        Place::File(path) => FileStore::glance(path),
        Place::Postgres(url) => PostgresStore::open(url, id).and_then(glance_at),
        Place::Etcd(url) => EtcdStore::open(url, id).and_then(glance_at),
    };
    let mut found = found.map_err(|error| match error {
        StateError::Missing => missing(&place, key),
        error => place.failure(&error),
    })?;
    let by_note = || KeyNote::refusal(&seen_path(key), &place.location(key), &found.record);
    if found.refused.is_none() {
        found.refused = by_note();
    }
    Ok(found)
}

fn glance_at(mut store: impl StateStore) -> Result<Glance, StateError> {
    let record = store.load()?.ok_or(StateError::Missing)?;
    let refused = state::refusal(&store, &record);
    Ok(Glance { record, refused })
}

/// Refuses an index that something beside the key knows to be spent, in whatever store: the key's own
/// state, the one that its note names, and every other state of this key in its folder.
fn check_spent(key: &Path, public: &PublicKey, resume_at: u64) -> Outcome {
    let (id, own) = (state::key_id(public), key::resolved(key));
    let mut states = vec![with_suffix(&own, ".state")];
    let note = KeyNote::read(&seen_path(key)).ok().flatten();
    let noted = note.as_ref().map(|note| as_option(&note.location, key));
    if let Some(("sqlite" | "file", path)) = noted.as_deref().and_then(|name| name.split_once(':'))
    {
        states.push(path.into());
    }
    let entries = std::fs::read_dir(tetralith_durable::folder(&own)).into_iter().flatten();
    let locks = entries.flatten().map(|entry| entry.path());
    states.extend(
        locks.filter(|p| p.extension().is_some_and(|e| e == "lock")).map(|p| p.with_extension("")),
    );
    let of_lock = |state: &PathBuf| noted_by(&with_suffix(state, ".lock"));
    let of_record = |state: &PathBuf| match FileStore::peek(state) {
        Err(StateError::Kind(_)) => SqliteStore::peek(state).ok(),
        found => found.ok(),
    };
    let noted = note.map(|note| note.seen).into_iter().chain(states.iter().filter_map(of_lock));
    let noted = noted.map(|seen| (seen.key_id, seen.next));
    let records = states.iter().filter_map(of_record).map(|record| (record.key_id, record.next));
    let next = noted.chain(records).filter(|(of, _)| *of == id).map(|(_, next)| next).max();
    match next {
        Some(next) if resume_at < next => Err(backward(public, resume_at, next)),
        _ => Ok(()),
    }
}

fn backward(public: &PublicKey, asked: u64, next: u64) -> Failure {
    match public.params().signatures() {
        limit if next >= limit => failure(&StateError::Exhausted { limit }),
        _ => failure(&StateError::Backward { asked, next }),
    }
}

/// Makes a state usable again. Where there was none and it fails, nothing is left.
pub(crate) fn restore(
    arguments: &StoreArgs,
    key: &Path,
    public: &PublicKey,
    resume_at: u64,
    until: Option<u64>,
) -> Outcome<Record> {
    check_links(&place(arguments, key)?, key)?;
    check_spent(key, public, resume_at)?;
    let fresh = Fresh::of(arguments, key)?;
    let (mut store, id) = (open_or_make(arguments, key, public)?, store_id());
    let restored = state::restore(&mut store, public, resume_at, until, id, now());
    if let Err(error) = restored {
        fresh.take_back(&mut store, id);
        return Err(match error {
            StateError::Backward { asked, next } => backward(public, asked, next),
            error => failure(&error),
        });
    }
    store.load().and_then(|record| record.ok_or(StateError::Missing)).map_err(|e| failure(&e))
}

/// What of a store was not there before this command.
struct Fresh {
    path: Option<PathBuf>,
    lock: bool,
    /// The note beside the key, where it is new.
    note: Option<PathBuf>,
}

impl Fresh {
    fn of(arguments: &StoreArgs, key: &Path) -> Outcome<Self> {
        let path = place(arguments, key)?.path().map(Path::to_owned);
        let lock = path.as_deref().is_some_and(|path| !with_suffix(path, ".lock").exists());
        let note = Some(seen_path(key)).filter(|note| !note.exists());
        Ok(Self { path, lock, note })
    }

    /// Deletes the files of a store that is held, where they hold no state but one that was to be made; says
    /// whether they do not.
    fn take_back(&self, store: &mut Store, id: [u8; 16]) -> bool {
        let ours = match store.load() {
            Ok(found) => found.is_none_or(|found| found.store_id == id),
            Err(_) => false,
        };
        if ours {
            self.delete();
        }
        ours
    }

    fn delete(&self) {
        if let Some(note) = &self.note {
            let _ = std::fs::remove_file(note);
        }
        let Some(path) = &self.path else { return };
        let lock: &[_] = if self.lock { &[".lock"] } else { &[] };
        // The lock last: until it is gone, nobody else can have the store.
        for suffix in ["", "-wal", "-shm"].iter().chain(lock) {
            let _ = std::fs::remove_file(with_suffix(path, suffix));
        }
    }
}

/// Creates the state of a new key. With `force`, the state of the key that it replaces, in the file of
/// that name, is removed; a state of the same key with which something was signed never is, nor one of a
/// third.
pub(crate) fn create(
    arguments: &StoreArgs,
    key: &Path,
    public: &PublicKey,
    resume_at: u64,
    force: bool,
) -> Outcome<Created> {
    let place = place(arguments, key)?;
    let fresh = Fresh::of(arguments, key)?;
    // A run that was killed before it wrote its key may have left a state under the key's name; or, where it
    // was to replace a key, a state where that key's was.
    let orphan = place == default_place(key) && !key.exists();
    if (force || orphan) && place.path().is_some() {
        discard(arguments, key, public, orphan)?;
    }
    let (mut store, id) = (open_or_make(arguments, key, public)?, store_id());
    let made = match state::create(&mut store, public, resume_at, id, now()) {
        Err(StateError::Exists) if is_new(&mut store, public, resume_at)? => false,
        Ok(()) => true,
        Err(error) => {
            if fresh.take_back(&mut store, id) {
                replaced(key);
            }
            return Err(place.failure(&error));
        }
    };
    Ok(Created { _held: store, made, fresh })
}

/// The state of a key that is still to be written. It stays locked: until the key is there, nobody signs
/// with the state or takes it for an orphan.
pub(crate) struct Created {
    _held: Store,
    made: bool,
    fresh: Fresh,
}

impl Created {
    /// Takes back what this run made, where the key could not be written.
    pub(crate) fn take_back(self, key: &Path) {
        if self.made {
            self.fresh.delete();
            replaced(key);
        }
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
    record.leases.is_empty() && (record.used, record.lost, record.leased) == (0, 0, 0)
}

/// Deletes the state of the key that is to be replaced, or an `orphan` with which nothing was signed.
///
/// Wherever this is cut short, the state that is found next is that of the key to be replaced, or the one
/// that was announced last, or none.
fn discard(arguments: &StoreArgs, key: &Path, public: &PublicKey, orphan: bool) -> Outcome {
    // Held until its files are gone, so that nobody signs with it meanwhile.
    let mut store = open_or_make(arguments, key, public)?;
    let id = state::key_id(public);
    let found = match store.load().map_err(|error| failure(&error))? {
        None if orphan => return Ok(()),
        None => return announce(key, &id),
        Some(found) => found,
    };
    if found.key_id == id {
        return if untouched(&found) { Ok(()) } else { Err(failure(&StateError::Exists)) };
    }
    // What was cut short made a state for a key that never came to be: nobody can sign with it.
    if announced(key) == Some(found.key_id) && untouched(&found) {
        remove(arguments, key)?;
        return announce(key, &id);
    }
    if orphan {
        store.check(&found).map_err(|error| failure(&error))?;
        let unused = untouched(&found) && found.skipped == 0;
        return if unused { remove(arguments, key) } else { Err(of_another(arguments, key)) };
    }
    let replaced = key::read(key).and_then(|file| key::public_of(&file));
    if replaced.ok().map(|replaced| state::key_id(&replaced)) != Some(found.key_id) {
        return Err(failure(&StateError::OtherKey)
            .hint("this state is not that of the key to be replaced; choose another --store"));
    }
    announce(key, &id)?;
    remove(arguments, key)
}

/// Another key left its state, with which it signed.
fn of_another(arguments: &StoreArgs, key: &Path) -> Failure {
    let state = arguments.file(key).unwrap_or_default();
    let message = format!("{} is the state of another key, which has signed", state.display());
    Failure::new(Exit::State, "state.exists", message)
        .hint("choose another name; if that key is gone for good, delete its state and its .lock")
}

/// Where is written, while a key is replaced, whose state takes the place of its own.
fn announcement(key: &Path) -> PathBuf {
    with_suffix(&key::resolved(key), ".replacing")
}

/// Writes, durably, which key's state comes next, before the one of the key to be replaced goes.
fn announce(key: &Path, id: &[u8; 32]) -> Outcome {
    let text = format!("{}\n", hex::encode(id));
    crate::io::write(&announcement(key), text.as_bytes(), Access::Owner, true)
}

fn announced(key: &Path) -> Option<[u8; 32]> {
    let text = crate::io::read_text(&announcement(key), 1 << 10).ok()?;
    hex::decode(text.trim()).ok()?.try_into().ok()
}

/// The key is there: nothing is being replaced any more. What stays names a key that has its state.
pub(crate) fn replaced(key: &Path) {
    let _ = std::fs::remove_file(announcement(key));
}

/// Deletes a state that is held. What a server keeps stays: without its key it is a row that nobody signs
/// with. The lock file stays too: who waits for it must not get one that is gone.
fn remove(arguments: &StoreArgs, key: &Path) -> Outcome {
    let place = place(arguments, key)?;
    let Some(path) = place.path() else { return Ok(()) };
    for suffix in ["", "-wal", "-shm"] {
        let path = with_suffix(path, suffix);
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
fn store_id() -> [u8; 16] {
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
        StateError::Ended { .. } => (Exit::State, "state.ended", "reserve and restore more"),
        StateError::Url(_) => (Exit::Usage, "store.url", "see docs/xmss-state.md"),
        StateError::NotEnough { .. } => (Exit::State, "state.not_enough", "ask for fewer"),
        StateError::PastEnd { .. } => (Exit::Usage, "state.past_end", "resume before its end"),
        StateError::Kind(_) => (Exit::Usage, "store.kind", "nothing was changed"),
        StateError::Held(_) => (Exit::State, "state.locked", "wait for that process, or end it"),
        StateError::Missing => (Exit::State, "state.missing", "see tetralith xmss restore --help"),
        StateError::Exists => (Exit::State, "state.exists", "choose another --store"),
        StateError::OtherKey => (Exit::State, "state.other_key", "name this key's --store"),
        StateError::Copied => (Exit::State, "state.copied", "see tetralith xmss restore --help"),
        StateError::RolledBack { .. } => {
            (Exit::State, "state.rolled_back", "see tetralith xmss restore --help")
        }
        StateError::Backward { next, .. } => {
            let hint = format!("choose an index of at least {next}, above every index used");
            return Failure::new(Exit::State, "state.backward", error).hint(hint);
        }
        StateError::Unnoted { .. } => (
            Exit::State,
            "state.unnoted",
            "restore the state past every index used: see tetralith xmss restore --help",
        ),
        StateError::Elsewhere { location } => {
            let hint =
                format!("give --store {location}; a file without a folder is beside the key");
            return Failure::new(Exit::State, "state.elsewhere", error).hint(hint);
        }
        StateError::Conflict { .. } => (Exit::State, "state.conflict", "try again"),
        StateError::Forked { .. } => (Exit::State, "state.forked", "open the key in the child"),
        StateError::Damaged(_) => (
            Exit::State,
            "state.damaged",
            "put the state aside and restore it past every index used",
        ),
        StateError::Denied(_) => (
            Exit::Environment,
            "state.denied",
            "check the user and password in the store's URL, and the rights that \
             docs/xmss-state.md lists; no index was used",
        ),
        _ => (Exit::Environment, "io.state", "see that its disk has room and is writable"),
    };
    Failure::new(exit, code, error).hint(hint)
}
