//! The option that names a key's state, and how refusals of keys and states are told.

use super::key;
use crate::failure::{Failure, Outcome};
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
        let failure = Failure::of(error.exit_code(), error.code(), &error);
        match error {
            Error::File { path, source } if source.kind() == ErrorKind::AlreadyExists => {
                io::exists(&path)
            }
            Error::File { path, source } => Failure::file(&path, &source),
            Error::Exposed { path, .. } => io::exposed(&path, failure.message),
            Error::KeyFile { path, source } => key::named(&path, source),
            Error::Key(error) => error.into(),
            Error::State { source: StateError::Io(_), file: None } => {
                failure.hint("check that the server is running and reachable; no index was used")
            }
            Error::State { source, .. } => failure.hint(hint(&source)),
            Error::Missing { elsewhere: Some(place), .. } => failure.hint(format!(
                "give --store {place}; only if that state is lost, see tetralith xmss restore --help"
            )),
            Error::Missing { .. } => failure.hint(
                "if it was lost, restore it past every index used: see tetralith xmss restore --help",
            ),
            Error::Linked { .. } => failure
                .hint("use the key by the name that its state has, or name the state with --store"),
            Error::Foreign { .. } => failure.hint(
                "choose another name; if that key is gone for good, delete its state and its .lock",
            ),
            Error::NotReplaced => failure.hint("choose another --store, or name the key's own"),
            Error::UnknownStore => failure.hint(
                "use sqlite:PATH, file:PATH, postgres://USER@HOST/DATABASE, etcd://HOST or \
                 etcds://HOST",
            ),
            Error::Range { .. } => failure.hint("export where the rest of the key is"),
            Error::Interrupted { form, output } => failure
                .hint(format!("export it once more with --format {form} -o {}", output.display())),
            _ => failure,
        }
    }
}

/// How a refusal is told.
pub(crate) fn failure(error: &StateError) -> Failure {
    Failure::of(error.exit_code(), error.code(), error).hint(hint(error))
}

/// What to do about a refusal.
fn hint(error: &StateError) -> String {
    let hint = match error {
        StateError::Exhausted { .. } => "make a new key",
        StateError::Ended { .. } => "reserve and restore more",
        StateError::Url(_) => "see docs/xmss-state.md",
        StateError::NotEnough { .. } => "ask for fewer",
        StateError::PastEnd { .. } => "resume before its end",
        StateError::Kind(_) => "nothing was changed",
        StateError::Held(_) => "wait for that process, or end it",
        StateError::Missing | StateError::Copied | StateError::RolledBack { .. } => {
            "see tetralith xmss restore --help"
        }
        StateError::Exists => "choose another --store",
        StateError::OtherKey => "name this key's --store",
        StateError::Backward { next, .. } => {
            return format!("choose an index of at least {next}, above every index used");
        }
        StateError::Unnoted { .. } => {
            "restore the state past every index used: see tetralith xmss restore --help"
        }
        StateError::Elsewhere { location } => {
            return format!("give --store {location}; a file without a folder is beside the key");
        }
        StateError::Conflict { .. } => "try again",
        StateError::Forked { .. } => "open the key in the child",
        StateError::Damaged(_) => "put the state aside and restore it past every index used",
        StateError::Denied(_) => {
            "check the user and password in the store's URL, and the rights that \
             docs/xmss-state.md lists; no index was used"
        }
        _ => "see that its disk has room and is writable",
    };
    hint.to_owned()
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
