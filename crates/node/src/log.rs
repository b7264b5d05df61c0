//! The ceremony log: what was tried, with whom, how it ended, and who is blamed for what.
//!
//! SQLite in WAL mode with full synchronisation: an entry that was answered for is on disk. Every
//! ceremony is entered before its first message, so that one that a crash cut off shows as
//! interrupted, and its name is not used again.
//!
//! Ceremonies without a result cost their proposer nothing, so of each proposer's only the latest are
//! kept, and apart from them the latest that prove a fault: nobody can push out what others did.

use crate::error::Error;
use crate::proof::Proof;
use crate::shares::KeyId;
use rusqlite::{Connection, OptionalExtension, Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The version of the tables.
const VERSION: i64 = 2;
/// In one transaction with the tables: a stop between the two leaves no table without a version.
const SET_VERSION: &str = "PRAGMA user_version = 2;";
const TABLES: &str = "
    CREATE TABLE ceremony (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        key TEXT,
        digest TEXT,
        proposer TEXT NOT NULL,
        participants TEXT NOT NULL,
        state TEXT NOT NULL,
        started_ms INTEGER NOT NULL,
        ended_ms INTEGER,
        result TEXT,
        reason TEXT
    ) STRICT;
    CREATE INDEX ceremony_started ON ceremony (started_ms);
    CREATE TABLE blame (
        number INTEGER PRIMARY KEY,
        ceremony TEXT NOT NULL REFERENCES ceremony (id),
        peer TEXT NOT NULL,
        round INTEGER NOT NULL,
        fault TEXT NOT NULL,
        evidence TEXT NOT NULL,
        reporter TEXT NOT NULL,
        receipts TEXT NOT NULL,
        proof TEXT
    ) STRICT;
    CREATE INDEX blame_ceremony ON blame (ceremony);
    CREATE TABLE confirmed (key TEXT PRIMARY KEY) STRICT;
    CREATE TABLE approval (key TEXT, digest TEXT, PRIMARY KEY (key, digest)) STRICT;
";
/// What version 1 lacks. Its table of retired setups stays, and is read at each start.
const FROM_1: &str = "
    ALTER TABLE blame ADD COLUMN proof TEXT;
";

/// Ceremonies without a result that are kept of each proposer, and as many that prove a fault.
const MOST_FAILED: u32 = 1000;
/// So many ceremonies may end without a result before the surplus is deleted.
const PRUNE_EVERY: u32 = 100;
const FAILED_INDEX: &str = "
    CREATE INDEX IF NOT EXISTS ceremony_failed ON ceremony (proposer) WHERE result IS NULL;
";
/// Its arguments: the proposer, whether those with a proof are meant, and how many are kept.
const SURPLUS: &str = "
    SELECT id FROM ceremony WHERE proposer = ?1 AND result IS NULL AND state != 'running'
    AND ?2 = EXISTS (SELECT 1 FROM blame WHERE ceremony = ceremony.id AND proof IS NOT NULL)
    ORDER BY rowid DESC LIMIT -1 OFFSET ?3
";

/// How a ceremony stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It runs.
    Running,
    /// It ended with a result.
    Done,
    /// It ended without a result.
    Failed,
    /// This node was not among those chosen.
    Released,
    /// The node stopped in the middle of it.
    Interrupted,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Released => "released",
            State::Interrupted => "interrupted",
        }
    }

    fn from_str(text: &str) -> Self {
        let all = [State::Running, State::Done, State::Failed, State::Released];
        all.into_iter().find(|state| state.as_str() == text).unwrap_or(State::Interrupted)
    }
}

/// What a blame rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The blamed party's signed broadcast shows the fault to anybody.
    Proof,
    /// The reporter's secrets show the fault; to others it is one word against another.
    Accusation,
    /// The reporter did not get an answer in time; who was slow, or cut off, cannot be shown.
    Absence,
}

/// A stored blame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlameRecord {
    /// The blamed node.
    pub peer: String,
    /// The round in which it failed; 0 is the joining.
    pub round: u8,
    /// What it failed.
    pub fault: String,
    /// What the blame rests on.
    pub evidence: Basis,
    /// The node that found the fault.
    pub reporter: String,
    /// Signed statements of the blamed node about this ceremony's messages.
    pub receipts: Vec<ReceiptRecord>,
    /// What convinces anybody; only where `evidence` is [`Basis::Proof`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

/// A signed statement that a message was sent; `docs/node.md` says how to check one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptRecord {
    /// The recipient; none for a broadcast.
    pub to: Option<String>,
    /// The round of the message.
    pub round: u8,
    /// SHA-256 of the payload, in hex.
    pub payload_hash: String,
    /// The payload of a broadcast, in hex.
    pub payload: Option<String>,
    /// The sender's Ed25519 signature, in hex.
    pub signature: String,
}

/// A stored ceremony.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeremonyRecord {
    /// Its name, in hex.
    pub id: String,
    /// `keygen`, `sign` or `reshare`.
    pub kind: String,
    /// The key it makes or uses, in hex.
    pub key: Option<String>,
    /// What is signed, in hex.
    pub digest: Option<String>,
    /// The node that proposed it.
    pub proposer: String,
    /// The nodes that took part; before the start, those that were asked.
    pub participants: Vec<String>,
    /// How it stands.
    pub state: State,
    /// Milliseconds since 1970.
    pub started_ms: u64,
    /// Milliseconds since 1970.
    pub ended_ms: Option<u64>,
    /// The public key or the signature, in hex.
    pub result: Option<String>,
    /// Why it ended without a result.
    pub reason: Option<String>,
    /// Who is blamed.
    pub blames: Vec<BlameRecord>,
}

/// The log of a node.
#[derive(Debug)]
pub(crate) struct Log {
    connection: Mutex<Connection>,
    /// Ceremonies that ended without a result since the start.
    failed: AtomicU32,
}

impl Log {
    /// Opens the log, making it where it does not exist, and marks what a stop cut off.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let connection = Connection::open(path)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let owner = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(path, owner).map_err(Error::file(path))?;
        }
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match version {
            0 => {
                connection.execute_batch(&format!("BEGIN; {TABLES} {SET_VERSION} COMMIT;"))?;
            }
            1 => {
                connection.execute_batch(&format!("BEGIN; {FROM_1} {SET_VERSION} COMMIT;"))?;
            }
            VERSION => {}
            other => {
                let reason = format!("has version {other}, this program knows {VERSION}");
                return Err(Error::Malformed { path: path.to_owned(), reason });
            }
        }
        connection.execute_batch(FAILED_INDEX)?;
        connection.execute(
            "UPDATE ceremony SET state = 'interrupted', reason = 'the node stopped'
             WHERE state = 'running'",
            [],
        )?;
        Ok(Log { connection: Mutex::new(connection), failed: AtomicU32::new(0) })
    }

    /// Enters a ceremony that begins; `false` if its name was used before.
    pub(crate) fn begin(&self, record: &CeremonyRecord) -> Result<bool, Error> {
        let rows = self.lock().execute(
            "INSERT OR IGNORE INTO ceremony
             (id, kind, key, digest, proposer, participants, state, started_ms)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                record.id,
                record.kind,
                record.key,
                record.digest,
                record.proposer,
                record.participants.join(" "),
                record.state.as_str(),
                record.started_ms as i64,
            ],
        )?;
        Ok(rows == 1)
    }

    /// Enters how a ceremony ended, with all its blames, at once.
    pub(crate) fn end(&self, record: &CeremonyRecord) -> Result<(), Error> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        transaction.execute(
            "UPDATE ceremony SET key = ?2, participants = ?3, state = ?4, ended_ms = ?5,
             result = ?6, reason = ?7 WHERE id = ?1",
            params![
                record.id,
                record.key,
                record.participants.join(" "),
                record.state.as_str(),
                record.ended_ms.map(|ms| ms as i64),
                record.result,
                record.reason,
            ],
        )?;
        for blame in &record.blames {
            let receipts = serde_json::to_string(&blame.receipts).unwrap_or_default();
            let evidence = serde_json::to_string(&blame.evidence).unwrap_or_default();
            let proof = blame.proof.as_ref().map(serde_json::to_string);
            let proof = proof.map(Result::unwrap_or_default);
            transaction.execute(
                "INSERT INTO blame
                 (ceremony, peer, round, fault, evidence, reporter, receipts, proof)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                params![
                    record.id,
                    blame.peer,
                    blame.round,
                    blame.fault,
                    evidence,
                    blame.reporter,
                    receipts,
                    proof
                ],
            )?;
        }
        if record.result.is_none() {
            let before = self.failed.fetch_add(1, Ordering::Relaxed);
            if before.is_multiple_of(PRUNE_EVERY) {
                prune(&transaction, &record.proposer, MOST_FAILED)?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// The latest ceremonies, the newest first.
    pub(crate) fn latest(&self, most: u32) -> Result<Vec<CeremonyRecord>, Error> {
        let connection = self.lock();
        let mut query = connection
            .prepare("SELECT * FROM ceremony ORDER BY started_ms DESC, rowid DESC LIMIT ?")?;
        let records = query.query_map([most], ceremony)?.collect::<Result<Vec<_>, _>>()?;
        records.into_iter().map(|record| with_blames(&connection, record)).collect()
    }

    /// One ceremony.
    pub(crate) fn ceremony(&self, id: &str) -> Result<Option<CeremonyRecord>, Error> {
        let connection = self.lock();
        let record = connection
            .query_row("SELECT * FROM ceremony WHERE id = ?", [id], ceremony)
            .optional()?;
        record.map(|record| with_blames(&connection, record)).transpose()
    }

    /// Notes that every party confirmed that it has stored its share.
    pub(crate) fn confirm(&self, key: &KeyId) -> Result<(), Error> {
        let key = key.to_string();
        self.lock().execute("INSERT OR IGNORE INTO confirmed VALUES (?)", [key])?;
        Ok(())
    }

    /// Forgets that a key was confirmed, because this node is to have no share of it any more.
    pub(crate) fn forget(&self, key: &KeyId) -> Result<(), Error> {
        self.lock().execute("DELETE FROM confirmed WHERE key = ?", [key.to_string()])?;
        Ok(())
    }

    /// Says whether every party confirmed that it has stored its share.
    pub(crate) fn is_confirmed(&self, key: &KeyId) -> Result<bool, Error> {
        let mut connection = self.lock();
        exists(&mut connection, "SELECT 1 FROM confirmed WHERE key = ?", &[&key.to_string()])
    }

    /// The keys of which every party confirmed that it has stored its share.
    pub(crate) fn confirmed(&self) -> Result<Vec<KeyId>, Error> {
        let connection = self.lock();
        let mut statement = connection.prepare("SELECT key FROM confirmed")?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        let keys: Vec<String> = rows.collect::<Result<_, _>>()?;
        Ok(keys.iter().filter_map(|key| KeyId::from_hex(key)).collect())
    }

    /// The retired pairwise setups that an earlier version kept here, as key and peer.
    pub(crate) fn retired_before(&self) -> Result<Vec<(String, String)>, Error> {
        let connection = self.lock();
        let mut table = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'retired'")?;
        if !table.exists([])? {
            return Ok(Vec::new());
        }
        let mut query = connection.prepare("SELECT key, peer FROM retired")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Approves that this node helps to sign `digest`.
    pub(crate) fn approve(&self, key: &KeyId, digest: &[u8; 32]) -> Result<(), Error> {
        let row = [key.to_string(), hex::encode(digest)];
        self.lock().execute("INSERT OR IGNORE INTO approval VALUES (?, ?)", row)?;
        Ok(())
    }

    /// Says whether this node may help to sign `digest`.
    pub(crate) fn is_approved(&self, key: &KeyId, digest: &[u8; 32]) -> Result<bool, Error> {
        let arguments = [&key.to_string(), &hex::encode(digest)];
        let mut connection = self.lock();
        exists(&mut connection, "SELECT 1 FROM approval WHERE key = ? AND digest = ?", &arguments)
    }

    /// Approves that this node helps with a resharing.
    ///
    /// It is kept apart from the digests: those may be chosen by whoever wants a signature, as the hash of
    /// a message that says just what a resharing's name is made of.
    pub(crate) fn approve_reshare(&self, key: &KeyId, name: &[u8; 32]) -> Result<(), Error> {
        let row = [key.to_string(), resharing(name)];
        self.lock().execute("INSERT OR IGNORE INTO approval VALUES (?, ?)", row)?;
        Ok(())
    }

    /// Says whether this node may help with a resharing.
    pub(crate) fn is_reshare_approved(&self, key: &KeyId, name: &[u8; 32]) -> Result<bool, Error> {
        let arguments = [&key.to_string(), &resharing(name)];
        let mut connection = self.lock();
        exists(&mut connection, "SELECT 1 FROM approval WHERE key = ? AND digest = ?", &arguments)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How the approval of a resharing is kept among those of digests, which are 64 hex digits.
fn resharing(name: &[u8; 32]) -> String {
    format!("reshare {}", hex::encode(name))
}

/// Deletes the oldest ceremonies without a result that a node proposed, but for the latest `keep`.
fn prune(connection: &Connection, proposer: &str, keep: u32) -> Result<(), Error> {
    for proved in [false, true] {
        let mut query = connection.prepare_cached(SURPLUS)?;
        let ids = query.query_map(params![proposer, proved, keep], |row| row.get(0))?;
        let ids: Vec<String> = ids.collect::<Result<_, _>>()?;
        for id in ids {
            connection.execute("DELETE FROM blame WHERE ceremony = ?", [&id])?;
            connection.execute("DELETE FROM ceremony WHERE id = ?", [&id])?;
        }
    }
    Ok(())
}

fn exists(connection: &mut Connection, query: &str, with: &[&String]) -> Result<bool, Error> {
    let mut query = connection.prepare_cached(query)?;
    Ok(query.exists(rusqlite::params_from_iter(with))?)
}

fn ceremony(row: &Row<'_>) -> rusqlite::Result<CeremonyRecord> {
    let participants: String = row.get("participants")?;
    let ended: Option<i64> = row.get("ended_ms")?;
    Ok(CeremonyRecord {
        id: row.get("id")?,
        kind: row.get("kind")?,
        key: row.get("key")?,
        digest: row.get("digest")?,
        proposer: row.get("proposer")?,
        participants: participants.split_whitespace().map(str::to_owned).collect(),
        state: State::from_str(&row.get::<_, String>("state")?),
        started_ms: row.get::<_, i64>("started_ms")? as u64,
        ended_ms: ended.map(|ms| ms as u64),
        result: row.get("result")?,
        reason: row.get("reason")?,
        blames: Vec::new(),
    })
}

fn with_blames(
    connection: &Connection,
    mut record: CeremonyRecord,
) -> Result<CeremonyRecord, Error> {
    let mut query =
        connection.prepare_cached("SELECT * FROM blame WHERE ceremony = ? ORDER BY number")?;
    let blames = query.query_map([&record.id], |row| {
        let evidence: String = row.get("evidence")?;
        let receipts: String = row.get("receipts")?;
        let proof: Option<String> = row.get("proof")?;
        Ok(BlameRecord {
            peer: row.get("peer")?,
            round: row.get("round")?,
            fault: row.get("fault")?,
            evidence: serde_json::from_str(&evidence).unwrap_or(Basis::Absence),
            reporter: row.get("reporter")?,
            receipts: serde_json::from_str(&receipts).unwrap_or_default(),
            proof: proof.and_then(|text| serde_json::from_str(&text).ok()),
        })
    })?;
    record.blames = blames.collect::<Result<_, _>>()?;
    Ok(record)
}

#[cfg(test)]
mod tests;
