//! The SQLite store.
//!
//! One table with one row, in WAL mode with FULL sync: a commit is on disk when it returns. A new
//! database is made aside and renamed, so that a crash never leaves half a one.

use super::file::sync_folder;
use super::lock::Lock;
use super::{Holder, Record, Seen, StateError, StateStore};
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};
use std::fs;
use std::path::{Path, PathBuf};

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
        let lock = Lock::take(path, holder)?;
        if !path.exists() {
            make(path)?;
        }
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        settings(&connection)?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version != VERSION {
            return Err(StateError::Damaged("the database is not a state of version 1"));
        }
        Ok(Self { connection, lock })
    }

    /// Reads the record of a store without locking it: for showing a status.
    ///
    /// # Errors
    /// [`StateError::Missing`], [`StateError::Damaged`] or [`StateError::Io`].
    pub fn peek(path: &Path) -> Result<Record, StateError> {
        if !path.exists() {
            return Err(StateError::Missing);
        }
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        load(&connection)?.ok_or(StateError::Missing)
    }
}

/// Makes an empty database aside, and renames it to its place when it is whole and on disk.
fn make(path: &Path) -> Result<(), StateError> {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    // What another database left, of which the rest is gone, must not become this one's.
    for suffix in [".new", "-wal", "-shm"] {
        match fs::remove_file(beside(suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    let aside = &beside(".new");
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
    fs::File::open(aside)?.sync_all()?;
    fs::rename(aside, path)?;
    Ok(sync_folder(path)?)
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
        self.lock.note(record);
        Ok(())
    }

    fn place(&self) -> [u8; 32] {
        self.lock.place()
    }

    fn seen(&self) -> Seen {
        self.lock.seen()
    }
}

impl From<rusqlite::Error> for StateError {
    fn from(error: rusqlite::Error) -> Self {
        StateError::Io(error.to_string())
    }
}

/// `user_version` of a state of this format.
const VERSION: i64 = 1;
