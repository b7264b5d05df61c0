//! Why a daemon does not start, or why it refuses a request.

use serde_json::{Value, json};
use std::fmt::{self, Display};
use std::path::Path;

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A proof or a value is well formed and wrong.
    Verification,
    /// The settings or a request are malformed.
    Usage,
    /// A file, a socket or the machine failed.
    Environment,
    /// The state refuses: locked, full or busy.
    State,
}

/// A refusal or a failure: a stable code for programs, words for people.
#[derive(Clone, Debug)]
pub struct Error {
    /// Its kind.
    pub kind: Kind,
    /// Stable and dotted, for programs: `challenge.unknown`.
    pub code: &'static str,
    /// One sentence without a full stop.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

/// What the daemon's own functions return.
pub(crate) type Outcome<T = ()> = Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: Kind, code: &'static str, message: impl Display) -> Self {
        Self { kind, code, message: message.to_string(), hint: None }
    }

    /// Malformed settings or a malformed request.
    pub(crate) fn usage(code: &'static str, message: impl Display) -> Self {
        Self::new(Kind::Usage, code, message)
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: &Path, error: &std::io::Error) -> Self {
        Self::new(Kind::Environment, "io.file", format!("{}: {error}", path.display()))
    }

    /// Says what to do next.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// The exit code with which a command ends: 1 to 4, in the order of [`Kind`].
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Verification => 1,
            Kind::Usage => 2,
            Kind::Environment => 3,
            Kind::State => 4,
        }
    }

    /// The object that clients are told.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "ok": false, "code": self.code, "message": self.message, "hint": self.hint })
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<tetralith_vdf::Error> for Error {
    fn from(error: tetralith_vdf::Error) -> Self {
        let kind = match error.exit_code() {
            1 => Kind::Verification,
            2 => Kind::Usage,
            4 => Kind::State,
            _ => Kind::Environment,
        };
        let told = Self::new(kind, error.code(), &error);
        match error {
            tetralith_vdf::Error::ModulusPublished { .. } => {
                told.hint("use rsa2048, or another modulus whose factors nobody knows")
            }
            _ => told,
        }
    }
}

impl From<crate::request::Fault> for Error {
    fn from(fault: crate::request::Fault) -> Self {
        use crate::request::Fault;
        match fault {
            Fault::Form(code, message) => Error::usage(code, message),
            Fault::Vdf(error) => error.into(),
        }
    }
}
