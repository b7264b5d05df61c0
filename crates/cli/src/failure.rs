//! What a command that fails says: one exit code, one stable dotted code, a message and a next step.

use std::fmt::Display;
use std::path::Path;

/// The exit codes, one for each kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// A signature, proof or seal is well formed and does not verify.
    Verification = 1,
    /// The arguments or the input are malformed.
    Usage = 2,
    /// A file, a database, the network or the machine failed.
    Environment = 3,
    /// The state refuses: exhausted, rolled back, locked or leased.
    State = 4,
    /// Other nodes failed, or too few answered.
    Peers = 5,
}

impl Exit {
    /// The table that the manual prints.
    pub(crate) const TABLE: [(u8, &'static str); 6] = [
        (0, "success"),
        (Exit::Verification as u8, "verification failed"),
        (Exit::Usage as u8, "usage error or malformed input"),
        (Exit::Environment as u8, "input/output or environment failed"),
        (Exit::State as u8, "state refused: exhausted, rolled back, locked or leased"),
        (Exit::Peers as u8, "peers failed or no quorum"),
    ];

    /// The kind of failure that a library's exit code stands for.
    fn of(code: u8) -> Self {
        match code {
            1 => Exit::Verification,
            2 => Exit::Usage,
            4 => Exit::State,
            5 => Exit::Peers,
            _ => Exit::Environment,
        }
    }
}

/// A failed command.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Stable and dotted, for programs: `state.exhausted`.
    pub(crate) code: &'static str,
    /// One sentence for people, without a full stop.
    pub(crate) message: String,
    /// What to do next.
    pub(crate) hint: Option<String>,
    /// What else the object of `--json` has: the results that there are nevertheless.
    pub(crate) fields: serde_json::Map<String, serde_json::Value>,
}

/// What every command returns.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Display) -> Self {
        let fields = serde_json::Map::new();
        Failure { exit, code, message: message.to_string(), hint: None, fields }
    }

    /// The failure of a library, which has an exit code and a code itself.
    pub(crate) fn of(exit: u8, code: &'static str, message: impl Display) -> Self {
        Self::new(Exit::of(exit), code, message)
    }

    /// A well-formed signature, proof or seal that does not verify.
    pub(crate) fn verification(message: impl Display) -> Self {
        Self::new(Exit::Verification, "verification.failed", message)
    }

    /// Malformed input or arguments, with a code such as `input.length`.
    pub(crate) fn usage(code: &'static str, message: impl Display) -> Self {
        Self::new(Exit::Usage, code, message)
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: &Path, error: &std::io::Error) -> Self {
        let name = match path.to_str() {
            Some("-") => "standard input or output".into(),
            _ => path.display().to_string(),
        };
        Self::new(Exit::Environment, "io.file", format!("{name}: {error}"))
    }

    /// Says what to do next.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Tells of results that there are nevertheless, in the object of `--json`.
    pub(crate) fn with(mut self, name: &str, value: serde_json::Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// The object that `--json` prints.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let mut object = serde_json::json!({
            "ok": false, "code": self.code, "message": self.message, "hint": self.hint,
        });
        if let serde_json::Value::Object(all) = &mut object {
            all.extend(self.fields.clone());
        }
        object
    }
}

impl From<tetralith_keyfile::Error> for Failure {
    fn from(error: tetralith_keyfile::Error) -> Self {
        use tetralith_keyfile::Error;
        let hint = match error {
            Error::WrongPassphrase => {
                "try the passphrase again; a key file that was changed needs its backup"
            }
            Error::PassphraseNeeded => "give --passphrase-file or set TETRALITH_PASSPHRASE",
            Error::NotEncrypted => "leave the passphrase out",
            Error::NoSecret => "name the secret key's file",
            Error::Checksum => "put the key file back from its backup",
            _ => return Failure::of(error.exit_code(), error.code(), error),
        };
        Failure::of(error.exit_code(), error.code(), error).hint(hint)
    }
}
