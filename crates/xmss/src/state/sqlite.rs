//! The SQLite store.
//!
//! One table with one row, in WAL mode with FULL sync: a commit is on disk when it returns. A new
//! database is made aside and renamed, so that a crash never leaves half a one.

use super::lock::{self, Lock};
use super::{Glance, Holder, Record, Seen, StateError, StateStore};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};
use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use tetralith_durable::{Access, Aside, beside, open_regular, remove};

/// A state in an SQLite database, locked by this process.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    lock: Lock,
}

impl SqliteStore {
    /// Opens the store at a path and locks it, making an empty one where there is none.
    ///
    /// # Errors
    /// [`StateError::Held`] with the process that holds the lock, [`StateError::Damaged`] where the
    /// database is not a state, or [`StateError::Io`].
    pub fn open(path: &Path, holder: &Holder) -> Result<Self, StateError> {
        Self::open_within(path, holder, Duration::ZERO)
    }

    /// As [`open`](Self::open), waiting as long as `wait` for a process that holds the lock.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_within(path: &Path, holder: &Holder, wait: Duration) -> Result<Self, StateError> {
        // Before the lock is made, which nothing would delete.
        check_regular(path)?;
        let lock = Lock::take(path, holder, wait)?;
        let fresh = !path.exists();
        let made = if fresh { make(path) } else { Ok(()) };
        let opened = made.and_then(|()| connect(path)).and_then(|connection| {
            settings(&connection)?;
            Ok(connection)
        });
        match opened {
            Ok(connection) => Ok(Self { connection, lock }),
            Err(error) => {
                if fresh {
                    // A database that was just made, and cannot be used: the disk is full.
                    for suffix in ["", "-wal", "-shm"] {
                        let _ = remove(&beside(path, suffix));
                    }
                }
                if !path.exists() {
                    lock.withdraw();
                }
                Err(error)
            }
        }
    }

    /// Reads the record of a store without locking it: for showing a status.
    ///
    /// # Errors
    /// [`StateError::Missing`], [`StateError::Damaged`] or [`StateError::Io`].
    pub fn peek(path: &Path) -> Result<Record, StateError> {
        if !path.exists() {
            return Err(StateError::Missing);
        }
        check_regular(path)?;
        let found = match connect(path).and_then(|connection| load(&connection)) {
            Err(StateError::Io(why)) => read_only(path).map_err(|_| StateError::Io(why)),
            found => found,
        };
        found?.ok_or(StateError::Missing)
    }

    /// Reads the record of a database that may not be a store at all: nothing is written, neither to it nor
    /// beside it.
    ///
    /// # Errors
    /// [`StateError::Damaged`] where it is no store, or [`StateError::Io`].
    pub fn examine(path: &Path) -> Result<Record, StateError> {
        check_regular(path)?;
        read_only(path)?.ok_or(StateError::Missing)
    }

    /// Reads a store without opening it, and says what a signer would find: for showing a status.
    ///
    /// # Errors
    /// As [`peek`](Self::peek).
    pub fn glance(path: &Path) -> Result<Glance, StateError> {
        if !path.exists() {
            return Err(StateError::Missing);
        }
        lock::glance(path, || Self::peek(path))
    }
}

/// Reads a database that this process may not write to.
///
/// Even to read a database in WAL mode, SQLite writes beside it. Where no log lies there, it can be told
/// that nothing changes; otherwise database and log are read from a copy.
fn read_only(path: &Path) -> Result<Option<Record>, StateError> {
    let log = beside(path, "-wal");
    if std::fs::metadata(&log).is_ok_and(|found| found.len() > 0) {
        let copy = Copied::of(path, &log)?;
        return load(&connect(&copy.0.join("state"))?);
    }
    let mut url = String::from("file:");
    for byte in path.canonicalize()?.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => url.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => url.push(char::from(*byte)),
            byte => url += &format!("%{byte:02x}"),
        }
    }
    url += "?immutable=1";
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(url, flags)?;
    check_version(&connection, path)?;
    load(&connection)
}

/// A folder with a copy of a database and its log, which goes when it is dropped.
struct Copied(std::path::PathBuf);

impl Copied {
    fn of(path: &Path, log: &Path) -> Result<Self, StateError> {
        let folder = (0..1000).find_map(|number: u32| {
            let name = format!("tetralith-state-{}-{number}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir(&folder).ok().map(|()| Self(folder))
        });
        let folder = folder.ok_or_else(|| StateError::Io("no temporary folder".into()))?;
        // The log first: what it lacks of a later commit, the database has not got either.
        for (from, to) in [(log, "state-wal"), (path, "state")] {
            let from = open_regular(from, OpenOptions::new().read(true))?;
            let mut to = std::fs::File::create_new(folder.0.join(to))?;
            std::io::copy(&mut from.take(MAX_COPY), &mut to)?;
        }
        Ok(folder)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Refuses a pipe in the place of a file: SQLite would wait for its other end.
fn check_regular(path: &Path) -> Result<(), StateError> {
    for part in [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")] {
        if std::fs::metadata(&part).is_ok_and(|found| !found.is_file()) {
            return Err(StateError::Io(format!("{} is not a regular file", part.display())));
        }
    }
    Ok(())
}

/// Opens a database that is there, if it is a state.
fn connect(path: &Path) -> Result<Connection, StateError> {
    check_regular(path)?;
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    check_version(&connection, path)?;
    Ok(connection)
}

fn check_version(connection: &Connection, path: &Path) -> Result<(), StateError> {
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
    let version = match version.map_err(StateError::from) {
        // Only then is the file looked at: to open and close it would take SQLite's locks away.
        Err(StateError::Damaged(_)) if is_plain(path) => {
            return Err(StateError::Kind("the state is a plain file: name it file:PATH"));
        }
        version => version?,
    };
    if version != VERSION {
        return Err(StateError::Damaged("the database is not a state of version 1"));
    }
    Ok(())
}

/// Whether a state of the plain-file store is there.
fn is_plain(path: &Path) -> bool {
    let mut first = Vec::new();
    let opened = open_regular(path, OpenOptions::new().read(true));
    let read = opened.and_then(|file| file.take(64).read_to_end(&mut first));
    read.is_ok() && Record::is_begun_by(&first)
}

/// Makes an empty database aside, and renames it to its place when it is whole and on disk.
fn make(path: &Path) -> Result<(), StateError> {
    // What another database left, of which the rest is gone, must not become this one's.
    for suffix in ["-wal", "-shm"] {
        remove(&beside(path, suffix))?;
    }
    let aside = Aside::create(path, Access::Public)?;
    make_aside(aside.path())?;
    aside.replace()?;
    Ok(())
}

fn make_aside(aside: &Path) -> Result<(), StateError> {
    let connection = Connection::open(aside)?;
    // No WAL yet: everything must be in the one file that is renamed.
    connection.execute_batch(&format!(
        "PRAGMA synchronous = FULL;
         CREATE TABLE state (
             id INTEGER PRIMARY KEY CHECK (id = 1),
             epoch INTEGER NOT NULL,
             record BLOB NOT NULL
         ) STRICT;
         PRAGMA user_version = {VERSION};"
    ))?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

fn settings(connection: &Connection) -> Result<(), StateError> {
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(StateError::Io(format!("SQLite has journal mode {mode}, not WAL")));
    }
    connection.execute_batch(
        // `fullfsync` asks Apple's disks to empty their caches; elsewhere it does nothing.
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;",
    )?;
    Ok(())
}

fn load(connection: &Connection) -> Result<Option<Record>, StateError> {
    let row = connection
        .query_row("SELECT epoch, substr(record, 1, 16385) FROM state WHERE id = 1", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        })
        .optional()?;
    let Some((epoch, bytes)) = row else { return Ok(None) };
    let record = Record::from_bytes(&bytes)?;
    if record.epoch != epoch as u64 {
        return Err(StateError::Damaged("the row's epoch is not its record's"));
    }
    Ok(Some(record))
}

impl StateStore for SqliteStore {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        load(&self.connection)
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        let bytes = record.to_bytes();
        let epoch = record.epoch as i64;
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let changed = match expected {
            None => transaction.execute(
                "INSERT OR IGNORE INTO state (id, epoch, record) VALUES (1, ?1, ?2)",
                params![epoch, bytes],
            )?,
            Some(expected) => transaction.execute(
                "UPDATE state SET epoch = ?1, record = ?2 WHERE id = 1 AND epoch = ?3",
                params![epoch, bytes, expected as i64],
            )?,
        };
        if changed != 1 {
            return Err(StateError::Conflict { expected });
        }
        transaction.commit()?;
        Ok(self.lock.note(record)?)
    }

    fn place(&self) -> [u8; 32] {
        self.lock.place()
    }

    fn seen(&self, key_id: &[u8; 32]) -> Seen {
        self.lock.seen(key_id)
    }

    fn check(&self, record: &Record) -> Result<(), StateError> {
        self.lock.check(record)
    }
}

impl From<rusqlite::Error> for StateError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StateError::Damaged("it is not an SQLite database"),
            Some(ErrorCode::DatabaseCorrupt) => {
                StateError::Damaged("SQLite finds the database damaged")
            }
            _ => StateError::Io(error.to_string()),
        }
    }
}

/// More than a database of one small row has, and its log between two checkpoints.
const MAX_COPY: u64 = 1 << 26;
/// `user_version` of a state of this format.
const VERSION: i64 = 1;
