//! Asking a server that may never answer.

use super::super::StateError;
use ::postgres::Error;
use ::postgres::error::SqlState;
use ::postgres::types::{ToSql, Type};
use std::sync::mpsc;
use std::time::Duration;

/// The longest that is waited for an answer, in which a log-in or a commit has its time.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// What the server itself gives up after. The wait of a commit for a standby is not meant: the server
/// stops this clock before it.
pub(super) const BOUNDS: &str = "SET statement_timeout = '20s'; SET lock_timeout = '10s'";

/// A statement's parameter.
pub(super) enum Parameter {
    Bytes(Vec<u8>),
    Number(i64),
    Text(String),
}

impl Parameter {
    pub(super) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Parameter::Bytes(bytes) => (bytes, Type::BYTEA),
            Parameter::Number(number) => (number, Type::INT8),
            Parameter::Text(text) => (text, Type::TEXT),
        }
    }
}

/// Why a statement has no answer.
pub(super) enum Fault {
    Server(Error),
    State(StateError),
}

impl Fault {
    pub(super) fn code(&self) -> Option<&SqlState> {
        match self {
            Fault::Server(error) => error.code(),
            Fault::State(_) => None,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Server(error)
    }
}

impl From<StateError> for Fault {
    fn from(error: StateError) -> Self {
        Fault::State(error)
    }
}

impl From<Fault> for StateError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Server(error) => error.into(),
            Fault::State(error) => error,
        }
    }
}

/// Does what may never end on a thread of its own, and leaves it where it takes too long: a server that
/// accepts a connection and then says nothing has no other bound. The thread ends with its connection.
pub(super) fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let work = move || drop(sender.send(work()));
    std::thread::Builder::new().name("postgres".into()).spawn(work).ok()?;
    receiver.recv_timeout(patience).ok()
}
