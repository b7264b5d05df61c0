//! The PostgreSQL store, for several signers of one key.
//!
//! A row of one table for each key. A commit is one statement, `UPDATE … WHERE epoch = … AND record = …`:
//! of two signers that read the same record the server lets one through, and the other finds that it is
//! gone. The same statement asks for a durable commit and makes sure that it is at the server, and on
//! the timeline, that the record was made on: a standby that was promoted may lack the last commits.
//!
//! Where the connection breaks before the answer, the commit may have taken place; that is an error
//! here, and [`Reservations`](super::Reservations) then never uses what it asked for.

mod ask;

use self::ask::{BOUNDS, Fault, PATIENCE, Parameter, within};
use super::tls::{Tls, provider};
use super::url::take;
use super::{Record, StateError, StateStore};
use ::postgres::config::SslMode;
use ::postgres::error::SqlState;
use ::postgres::{Client, Config, Error, NoTls, Row};
use core::fmt;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use sha2::{Digest, Sha256};
use std::error::Error as _;
use std::time::Duration;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The state of a key in a PostgreSQL database.
pub struct PostgresStore {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    client: Option<Client>,
    patience: Duration,
    key_id: [u8; 32],
    /// The server, its timeline and the database, as it says itself.
    at: [String; 3],
    /// The record that was last read or written.
    last: Option<(u64, Vec<u8>)>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresStore")
    }
}

impl PostgresStore {
    /// Connects to the database of a URL, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, for the state
    /// of the key of that [`key_id`](super::key_id).
    ///
    /// A Unix socket's folder is given as `?host=/FOLDER`. TLS is `?sslmode=verify-full` with
    /// `&sslrootcert=FILE`, and `&sslcert=FILE&sslkey=FILE` for a server that wants to know its clients.
    /// [`Noted`](super::Noted) joins it with the note beside the key.
    ///
    /// # Errors
    /// [`StateError::Url`], or [`StateError::Io`] where the database cannot be reached.
    ///
    /// # Security
    /// Without TLS a server on another machine is for a network that is trusted, or is reached through a
    /// tunnel. Neither the URL nor the password is in any error.
    pub fn open(url: &str, key_id: [u8; 32]) -> Result<Self, StateError> {
        let (config, tls) = config(url)?;
        let mut store = Self {
            config,
            tls,
            client: None,
            patience: PATIENCE,
            key_id,
            at: Default::default(),
            last: None,
        };
        store.connect()?;
        Ok(store)
    }

    /// Reads a key's record, for showing a status.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`StateError::Missing`], [`StateError::Damaged`].
    pub fn peek(url: &str, key_id: [u8; 32]) -> Result<Record, StateError> {
        Self::open(url, key_id)?.load()?.ok_or(StateError::Missing)
    }

    fn connect(&mut self) -> Result<(), StateError> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.client = None;
            let (config, tls) = (self.config.clone(), self.tls.clone());
            let connect = move || {
                let mut client = match tls {
                    None => config.connect(NoTls)?,
                    Some(tls) => config.connect(tls)?,
                };
                client.batch_execute(BOUNDS)?;
                Ok::<_, Error>(client)
            };
            let client = within(self.patience, connect).ok_or_else(|| self.hangs())?;
            self.client = Some(client?);
        }
        Ok(())
    }

    /// Runs a statement; after a failure the connection is given up.
    fn query(&mut self, sql: &'static str, parameters: Vec<Parameter>) -> Result<Vec<Row>, Fault> {
        // `connect` was called by whoever calls this.
        let Some(mut client) = self.client.take() else { return Ok(Vec::new()) };
        let ask = move || {
            let parameters: Vec<_> = parameters.iter().map(Parameter::typed).collect();
            let rows = client.query_typed(sql, &parameters);
            (client, rows)
        };
        let (client, rows) = within(self.patience, ask).ok_or_else(|| self.hangs())?;
        let rows = rows?;
        self.client = Some(client);
        Ok(rows)
    }

    fn hangs(&self) -> StateError {
        let seconds = self.patience.as_secs_f32();
        StateError::Io(format!("PostgreSQL: no answer within {seconds} seconds"))
    }

    fn read(&mut self) -> Result<Option<Record>, StateError> {
        self.last = None;
        self.connect()?;
        let place = self.query(PLACE, Vec::new())?;
        let Some(place) = place.first() else { return Err(SILENT()) };
        let fsync: String = place.try_get(3)?;
        if fsync != "on" {
            return Err(StateError::Io("the PostgreSQL server runs with fsync = off".into()));
        }
        self.at = [place.try_get(0)?, place.try_get(1)?, place.try_get(2)?];
        if !self.table_exists()? {
            return Ok(None);
        }
        let rows = self.query(SELECT, vec![Parameter::Bytes(self.key_id.to_vec())])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let (epoch, bytes): (i64, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
        let record = Record::from_bytes(&bytes)?;
        if record.epoch != epoch as u64 {
            return Err(StateError::Damaged("the row's epoch is not its record's"));
        }
        if record.key_id != self.key_id {
            return Err(StateError::OtherKey);
        }
        self.last = Some((record.epoch, bytes));
        Ok(Some(record))
    }

    fn table_exists(&mut self) -> Result<bool, StateError> {
        let rows =
            self.query("SELECT to_regclass('tetralith_xmss_state') IS NOT NULL", Vec::new())?;
        Ok(rows.first().ok_or_else(SILENT)?.try_get(0)?)
    }

    fn replace(&mut self, expected: Option<u64>, record: &Record) -> Result<bool, StateError> {
        self.connect()?;
        if expected.is_none() && !self.table_exists()? {
            match self.query(CREATE, Vec::new()) {
                // Two that make it at once.
                Err(fault) if fault.code() == Some(&SqlState::UNIQUE_VIOLATION) => {
                    self.connect()?;
                }
                made => drop(made?),
            }
        }
        let bytes = record.to_bytes();
        let [system, timeline, database] = self.at.clone();
        let (old_epoch, old) = match (expected, self.last.take()) {
            (None, _) => (0, Vec::new()),
            (Some(expected), Some((epoch, old))) if epoch == expected => (expected as i64, old),
            _ => return Ok(false),
        };
        let mut parameters = vec![
            Parameter::Bytes(self.key_id.to_vec()),
            Parameter::Number(record.epoch as i64),
            Parameter::Bytes(bytes.clone()),
            Parameter::Text(system),
            Parameter::Text(timeline),
            Parameter::Text(database),
        ];
        let rows = match expected {
            None => self.query(INSERT, parameters),
            Some(_) => {
                parameters.extend([Parameter::Number(old_epoch), Parameter::Bytes(old)]);
                self.query(UPDATE, parameters)
            }
        };
        let rows = match rows {
            // A database whose transactions are serializable says so that another was faster.
            Err(fault) if fault.code() == Some(&SqlState::T_R_SERIALIZATION_FAILURE) => {
                return Ok(false);
            }
            rows => rows?,
        };
        // `query_typed` returns after ReadyForQuery, which the server sends when it has committed.
        let Some(row) = rows.first() else { return Ok(false) };
        let durable: String = row.try_get(0)?;
        if !matches!(durable.as_str(), "on" | "remote_apply") {
            let why =
                format!("the PostgreSQL server committed with synchronous_commit = {durable}");
            return Err(StateError::Io(why));
        }
        self.last = Some((record.epoch, bytes));
        Ok(true)
    }
}

impl StateStore for PostgresStore {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        match self.read() {
            // A connection that the server closed while it was idle shows itself only now.
            Err(StateError::Io(_)) if self.client.is_none() => self.read(),
            record => record,
        }
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        if !self.replace(expected, record)? {
            return Err(StateError::Conflict { expected });
        }
        Ok(())
    }

    fn place(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"tetralith place\npostgres");
        for part in &self.at {
            hash.update([0]);
            hash.update(part);
        }
        hash.finalize().into()
    }

    fn shared(&self) -> bool {
        true
    }
}

/// The settings of a URL, and TLS where it asks for it. What the parser says of a wrong one is not told:
/// it could quote the password.
fn config(url: &str) -> Result<(Config, Option<MakeRustlsConnect>), StateError> {
    let (url, [mode, roots, certificate, key]) =
        take(url, ["sslmode", "sslrootcert", "sslcert", "sslkey"])?;
    let mut config: Config = url.parse().map_err(|_| {
        StateError::Url("a PostgreSQL URL is postgres://USER:PASSWORD@HOST:PORT/DATABASE")
    })?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(StateError::Url("the PostgreSQL URL names no host"));
    }
    let tls = match (mode.as_deref(), roots) {
        (None | Some("disable"), None) if certificate.is_none() && key.is_none() => None,
        (Some("verify-full"), Some(roots)) => Some(match (&certificate, &key) {
            (None, None) => Tls::read(&roots, None)?,
            (Some(certificate), Some(key)) => Tls::read(&roots, Some((certificate, key)))?,
            _ => return Err(StateError::Url("sslcert and sslkey are given both, or neither")),
        }),
        _ => {
            return Err(StateError::Url(
                "PostgreSQL over TLS is sslmode=verify-full with sslrootcert=FILE, and no less",
            ));
        }
    };
    let mode = if tls.is_some() { SslMode::Require } else { SslMode::Disable };
    config.ssl_mode(mode).application_name("tetralith");
    // A network that is cut must show itself.
    config.keepalives_idle(Duration::from_secs(10)).tcp_user_timeout(Duration::from_secs(20));
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(10));
    }
    Ok((config, tls.map(client_tls).transpose()?))
}

fn client_tls(tls: Tls) -> Result<MakeRustlsConnect, StateError> {
    let wrong = |why: rustls::Error| StateError::Io(format!("TLS: {why}"));
    let mut roots = RootCertStore::empty();
    for root in tls.roots {
        roots.add(root).map_err(wrong)?;
    }
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(wrong)?
        .with_root_certificates(roots);
    let config = match tls.client {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => {
            let key = PrivateKeyDer::from_pem_slice(&key)
                .map_err(|why| StateError::Io(format!("TLS: {why}")))?;
            builder.with_client_auth_cert(chain, key).map_err(wrong)?
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

impl From<Error> for StateError {
    fn from(error: Error) -> Self {
        let why = match (error.as_db_error(), error.source()) {
            (Some(server), _) => format!("PostgreSQL: {}", server.message()),
            (None, Some(cause)) => format!("PostgreSQL: {error}: {cause}"),
            (None, None) => format!("PostgreSQL: {error}"),
        };
        // Class 28: this user cannot log in.
        match error.code() {
            Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => StateError::Denied(why),
            // A user without rights to any schema is told that there is none.
            Some(code) if *code == SqlState::INVALID_SCHEMA_NAME => StateError::Denied(why),
            Some(code) if code.code().starts_with("28") => StateError::Denied(why),
            _ => StateError::Io(why),
        }
    }
}

/// A server that answers a question for one row with none.
const SILENT: fn() -> StateError = || StateError::Io("PostgreSQL: an empty answer".into());

const CREATE: &str = "CREATE TABLE IF NOT EXISTS tetralith_xmss_state (
    key_id bytea PRIMARY KEY, epoch bigint NOT NULL, record bytea NOT NULL)";

/// The server, its timeline, the database, and whether it syncs. A standby has no position to write
/// at, and refuses.
const PLACE: &str = "SELECT system_identifier::text,
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
    (SELECT oid::text FROM pg_database WHERE datname = current_database()),
    current_setting('fsync') FROM pg_control_system()";

/// No more of a record than shows that it is too long to be one.
const SELECT: &str =
    "SELECT epoch, substr(record, 1, 16385) FROM tetralith_xmss_state WHERE key_id = $1";

/// Asks for a durable commit of the statement it is in, and holds the place against parameters 4 to 6.
/// A setting that is stricter than `on` stays.
macro_rules! here {
    () => {
        "(SELECT CASE WHEN current_setting('synchronous_commit') = 'remote_apply' THEN 'remote_apply'
             ELSE set_config('synchronous_commit', 'on', true) END AS durable
         FROM pg_control_system()
         WHERE system_identifier::text = $4
             AND substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) = $5
             AND (SELECT oid::text FROM pg_database WHERE datname = current_database()) = $6) AS here"
    };
}

const UPDATE: &str = concat!(
    "UPDATE tetralith_xmss_state SET epoch = $2, record = $3 FROM ",
    here!(),
    " WHERE key_id = $1 AND epoch = $7 AND record = $8 AND here.durable IS NOT NULL
      RETURNING current_setting('synchronous_commit')"
);

const INSERT: &str = concat!(
    "INSERT INTO tetralith_xmss_state (key_id, epoch, record) SELECT $1, $2, $3 FROM ",
    here!(),
    " WHERE here.durable IS NOT NULL ON CONFLICT (key_id) DO NOTHING
      RETURNING current_setting('synchronous_commit')"
);

#[cfg(test)]
mod tests;
