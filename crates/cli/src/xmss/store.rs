//! The option that names a key's state, and how refusals of keys and states are told.

use super::key;
use crate::failure::{Exit, Failure, Outcome};
use crate::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tetralith_keyfile::KeyFile;
use tetralith_keyring::{Error, Files, Keyring, Options, Place};
use tetralith_xmss::state::StateError;

/// The options that say where a key's state is.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct StoreArgs {
    /// The key's state: sqlite:PATH, file:PATH, or for several signers postgres://… or etcd://…
    /// [default: the environment's TETRALITH_STORE, else sqlite:KEY.state]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Wait as long for another process that has the state open
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u64,
}

impl StoreArgs {
    /// How the state is reached.
    pub(crate) fn options(&self) -> Outcome<Options> {
        if self.store.as_deref().is_some_and(has_password) {
            let message = "--store has a password, which every user of this machine can read in the \
                           list of processes";
            return Err(Failure::usage("store.password", message)
                .hint("set TETRALITH_STORE to the URL instead, and change the password"));
        }
        let store = self.store.clone().or_else(|| std::env::var("TETRALITH_STORE").ok());
        Ok(Options { store, wait: Duration::from_secs(self.wait), ..Options::default() })
    }

    /// Reads a key file, with its state in this store.
    pub(crate) fn keyring(&self, path: &Path) -> Outcome<Keyring> {
        self.keyring_of(path, key::read(path)?)
    }

    /// As [`keyring`](Self::keyring), of a key file that was read already.
    pub(crate) fn keyring_of(&self, path: &Path, file: KeyFile) -> Outcome<Keyring> {
        Ok(Keyring::of(path, file, &self.options()?)?)
    }

    /// The file that the state of a key is in; `None` where it is in none, or the URL is not known.
    pub(crate) fn file(&self, key: &Path) -> Option<PathBuf> {
        let place = Place::parse(self.options().ok()?.store.as_deref(), &Files::of(key)).ok()?;
        Some(place.path()?.to_owned())
    }
}

/// Whether the URL of a server has a password, before its host or among its parameters.
fn has_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let (authority, query) = rest.split_once('?').unwrap_or((rest, ""));
    let user = authority.split('/').next().and_then(|host| host.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains(':'))
        || query.split('&').any(|part| part.starts_with("password="))
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::File { path, source } if source.kind() == ErrorKind::AlreadyExists => {
                io::exists(&path)
            }
            Error::File { path, source } => Failure::file(&path, &source),
            Error::KeyFile { path, source } => key::named(&path, source),
            Error::Kind { .. } => Failure::usage("key.kind", message),
            Error::Malformed { .. } => Failure::usage("key.malformed", message),
            Error::Key(error) => error.into(),
            Error::State { source: StateError::Io(_), file: None } => {
                Failure::new(Exit::Environment, "io.state", message)
                    .hint("see that the server runs and is reached; no index was used")
            }
            Error::State { source, .. } => Failure { message, ..failure(&source) },
            Error::Missing { elsewhere, .. } => missing(message, elsewhere),
            Error::Linked { .. } => Failure::new(Exit::State, "state.linked", message)
                .hint("use the key by the name that its state has, or name the state with --store"),
            Error::Foreign { .. } => Failure::new(Exit::State, "state.exists", message).hint(
                "choose another name; if that key is gone for good, delete its state and its .lock",
            ),
            Error::NotReplaced => Failure::new(Exit::State, "state.other_key", message)
                .hint("choose another --store, or name the key's own"),
            Error::UnknownStore => Failure::usage("store.url", message).hint(
                "use sqlite:PATH, file:PATH, postgres://USER@HOST/DATABASE, etcd://HOST or \
                 etcds://HOST",
            ),
            Error::Range { .. } => Failure::new(Exit::State, "state.range", message)
                .hint("export where the rest of the key is"),
            Error::Interrupted { form } => Failure::new(Exit::State, "export.interrupted", message)
                .hint(format!("export it once more with --format {form} to the same file")),
            _ => Failure::usage("store.url", message),
        }
    }
}

fn missing(message: String, elsewhere: Option<String>) -> Failure {
    let failure = Failure::new(Exit::State, "state.missing", message);
    match elsewhere {
        Some(place) => failure.hint(format!(
            "give --store {place}; only if that state is lost, see tetralith xmss restore --help"
        )),
        None => failure.hint(
            "if it was lost, restore it past every index used: see tetralith xmss restore --help",
        ),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_has_no_password() {
        let options = |url: &str| StoreArgs { store: Some(url.to_owned()), wait: 0 }.options();
        for url in [
            "postgres://user:secret@host/db",
            "postgres://user:secret@host",
            "postgresql://host/db?sslmode=disable&password=secret",
            "etcd://user:secret@host:2379",
            "etcds://user:@host?cacert=file",
            "postgress://user:secret@host/db",
        ] {
            let refused = options(url).err().unwrap();
            assert_eq!(refused.code, "store.password", "{url}");
            assert!(!refused.message.contains("secret"), "{}", refused.message);
        }
        for url in ["postgres://user@host:5432/db", "etcd://host:2379", "file:a:b@c", "sqlite:p@"] {
            assert!(options(url).is_ok(), "{url}");
        }
    }
}
