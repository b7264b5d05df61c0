//! The state of a key: which indices are spent, kept where a crash cannot lose it.
//!
//! A [`StateStore`] is one small [`Record`] that can be replaced atomically and durably, on the
//! condition that nobody replaced it meanwhile. Everything else is the same for every store and is
//! here: indices are leased in ranges, the lease is committed before the first of them is used, and
//! what was leased is spent whatever happens then. Nothing is secret, but a store that loses a commit
//! breaks the key.
//!
//! The rules are those of RFC 10033; `docs/xmss-state.md` maps them to tests.

mod create;
#[cfg(feature = "etcd")]
mod etcd;
#[cfg(feature = "file")]
mod file;
#[cfg(feature = "file")]
mod lock;
#[cfg(feature = "file")]
mod note;
#[cfg(feature = "postgres")]
mod postgres;
mod process;
mod record;
mod reserve;
mod seen;
#[cfg(feature = "sqlite")]
mod sqlite;
mod status;
#[cfg(any(feature = "postgres", feature = "etcd"))]
mod tls;
#[cfg(any(feature = "postgres", feature = "etcd"))]
mod url;
mod volatile;

pub use create::{create, key_id, restore};
#[cfg(feature = "etcd")]
pub use etcd::EtcdStore;
#[cfg(feature = "file")]
pub use file::FileStore;
#[cfg(feature = "file")]
pub use lock::noted_by;
#[cfg(feature = "file")]
pub use note::{KeyNote, Noted};
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
pub use record::{Holder, OpenLease, Record};
pub use reserve::{Lease, OneTimeIndex, Reservations, refusal};
pub use seen::Seen;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use status::Status;
pub use volatile::Volatile;

/// One record, replaced atomically.
///
/// `commit` must be durable when it returns: a store that acknowledges before the record would
/// survive a power failure makes a key forgeable.
pub trait StateStore {
    /// Reads the record, or `None` where none was ever committed.
    ///
    /// # Errors
    /// The store cannot be read, or holds no valid record.
    fn load(&mut self) -> Result<Option<Record>, StateError>;

    /// Replaces the record, durably, if the stored one still has the epoch `expected`; `None` stands
    /// for no record.
    ///
    /// # Errors
    /// [`StateError::Conflict`] where another record is there; otherwise the record may or may not
    /// have been replaced, and the caller must load it anew.
    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError>;

    /// Where this store is, in a form that a copy of it does not share; all zeros where a store
    /// cannot tell.
    fn place(&self) -> [u8; 32] {
        [0; 32]
    }

    /// How far this place has seen a key's state: nothing below was left to be leased.
    fn seen(&self, key_id: &[u8; 32]) -> Seen {
        Seen { key_id: *key_id, ..Seen::default() }
    }

    /// Refuses a record that is older than what this place has seen: it was put back from a backup.
    ///
    /// # Errors
    /// [`StateError::RolledBack`], [`StateError::Elsewhere`], and [`StateError::Unnoted`] where the note
    /// of what was seen is lost.
    fn check(&self, _record: &Record) -> Result<(), StateError> {
        Ok(())
    }

    /// Whether several processes may have this store open at once. Then each has leases of its own, a
    /// conflict only means that another was faster, and after a failure the record is loaded anew.
    fn shared(&self) -> bool {
        false
    }
}

impl<S: StateStore + ?Sized> StateStore for Box<S> {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        (**self).load()
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        (**self).commit(expected, record)
    }

    fn place(&self) -> [u8; 32] {
        (**self).place()
    }

    fn seen(&self, key_id: &[u8; 32]) -> Seen {
        (**self).seen(key_id)
    }

    fn check(&self, record: &Record) -> Result<(), StateError> {
        (**self).check(record)
    }

    fn shared(&self) -> bool {
        (**self).shared()
    }
}

/// A state that was read without being opened.
#[derive(Debug)]
pub struct Glance {
    /// The record. Where nobody holds the state, its open leases are counted as lost already.
    pub record: Record,
    /// Why a signer would refuse it: it is a copy, or it went back.
    pub refused: Option<StateError>,
}

/// Why the state refuses.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// All indices are spent; this never changes.
    #[error("the key is exhausted: all {limit} indices are spent")]
    Exhausted {
        /// How many indices the key had.
        limit: u64,
    },
    /// The state was restored for a range of indices, and all of it is spent.
    #[error("the range that this state was restored for ends before index {until}")]
    Ended {
        /// The first index that is not in the range.
        until: u64,
    },
    /// Fewer indices are left than were asked for.
    #[error("{asked} indices were asked for and {left} are left")]
    NotEnough {
        /// Indices asked for.
        asked: u64,
        /// Indices left.
        left: u64,
    },
    /// An index past the end of the key.
    #[error("the key has {limit} indices, so {asked} is past its end")]
    PastEnd {
        /// The index asked for.
        asked: u64,
        /// How many indices the key has.
        limit: u64,
    },
    /// Another process has the store open.
    #[error("the state is in use by {0}")]
    Held(Holder),
    /// There is no record: the store was never made, or was lost.
    #[error("there is no state for this key; if it was lost, restore it past every index used")]
    Missing,
    /// There is a record already.
    #[error("there is a state for this key already")]
    Exists,
    /// The record is another key's.
    #[error("the state is that of another key")]
    OtherKey,
    /// The record was changed behind this process's back.
    #[error("another process changed the state (its epoch is not {expected:?})")]
    Conflict {
        /// The epoch that the record should have had.
        expected: Option<u64>,
    },
    /// The store is a copy, or was moved from another machine.
    #[error("the state was copied or moved here; the other copy may have signed since")]
    Copied,
    /// The record is older than one that was seen before.
    #[error("the state went back: {what} {found} after {what} {seen} was seen")]
    RolledBack {
        /// What went back: the epoch, or the next index.
        what: &'static str,
        /// What the record has.
        found: u64,
        /// What was seen before.
        seen: u64,
    },
    /// The note of how far the state was seen is empty or damaged, so an older state would not show.
    #[error("{path} is corrupt, so an older state may have been restored unnoticed")]
    Unnoted {
        /// The file of the note.
        path: String,
    },
    /// Another state took the place of this one.
    #[error("the key's state is at {location}; this is another one")]
    Elsewhere {
        /// Where the key's state was last.
        location: String,
    },
    /// A state may only go forward.
    #[error("cannot resume at {asked}: indices below {next} are spent")]
    Backward {
        /// The index asked for.
        asked: u64,
        /// The first index that is not spent.
        next: u64,
    },
    /// The process was forked; the child must not sign.
    #[error("the signer belongs to process {owner}; a forked child must open the key itself")]
    Forked {
        /// The process that opened the signer.
        owner: u32,
    },
    /// The store's address is not well formed, or asks for what is not supported.
    #[error("{0}")]
    Url(&'static str),
    /// The file is a state of another kind of store.
    #[error("{0}")]
    Kind(&'static str),
    /// The stored bytes are not a record.
    #[error("the state is damaged: {0}")]
    Damaged(&'static str),
    /// The server answered, and does not let this user in or at the state.
    #[error("the state store denies access: {0}")]
    Denied(String),
    /// The store cannot be read or written.
    #[error("the state store failed: {0}")]
    Io(String),
}

impl StateError {
    /// The stable, dotted code of this refusal, such as `state.exhausted`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.class().1
    }

    /// The exit code of the command for it: 2 for malformed arguments, 3 where a store failed, 4 where
    /// the state refuses.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.class().0
    }

    fn class(&self) -> (u8, &'static str) {
        match self {
            StateError::Exhausted { .. } => (4, "state.exhausted"),
            StateError::Ended { .. } => (4, "state.ended"),
            StateError::NotEnough { .. } => (4, "state.not_enough"),
            StateError::PastEnd { .. } => (2, "state.past_end"),
            StateError::Held(_) => (4, "state.locked"),
            StateError::Missing => (4, "state.missing"),
            StateError::Exists => (4, "state.exists"),
            StateError::OtherKey => (4, "state.other_key"),
            StateError::Conflict { .. } => (4, "state.conflict"),
            StateError::Copied => (4, "state.copied"),
            StateError::RolledBack { .. } => (4, "state.rolled_back"),
            StateError::Unnoted { .. } => (4, "state.unnoted"),
            StateError::Elsewhere { .. } => (4, "state.elsewhere"),
            StateError::Backward { .. } => (4, "state.backward"),
            StateError::Forked { .. } => (4, "state.forked"),
            StateError::Damaged(_) => (4, "state.damaged"),
            StateError::Url(_) => (2, "store.url"),
            StateError::Kind(_) => (2, "store.kind"),
            StateError::Denied(_) => (3, "state.denied"),
            StateError::Io(_) => (3, "io.state"),
        }
    }
}

impl PartialEq for StateError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for StateError {}

#[cfg(feature = "file")]
impl From<std::io::Error> for StateError {
    fn from(error: std::io::Error) -> Self {
        StateError::Io(error.to_string())
    }
}
