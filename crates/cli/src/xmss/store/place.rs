//! Which store is named, and that it is where it should be.

use super::failure;
use crate::failure::{Exit, Failure, Outcome};
use crate::xmss::{key, with_suffix};
use std::path::{Path, PathBuf};
use tetralith_durable::folder;
use tetralith_xmss::state::{KeyNote, StateError};

/// The option that names a store.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct StoreArgs {
    /// The key's state: sqlite:PATH, file:PATH, or for several signers postgres://… or etcd://…
    /// [default: the environment's TETRALITH_STORE, else sqlite:KEY.state]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

/// What a URL names.
#[derive(PartialEq, Eq)]
pub(super) enum Place {
    Sqlite(PathBuf),
    File(PathBuf),
    Postgres(String),
    Etcd(String),
}

impl Place {
    /// How a refusal of the store at this place is told.
    pub(super) fn failure(&self, error: &StateError) -> Failure {
        let failure = failure(error);
        match (self.path(), error) {
            (Some(path), StateError::Io(_) | StateError::Damaged(_)) => {
                let message = format!("{} ({})", failure.message, path.display());
                Failure { message, ..failure }
            }
            (None, StateError::Io(_)) => {
                failure.hint("see that the server runs and is reached; no index was used")
            }
            _ => failure,
        }
    }

    /// The place's name in the note beside the key: a file beside the key by its name alone, so that the
    /// folder can be moved; of a server nothing that could be a password.
    pub(super) fn location(&self, key: &Path) -> String {
        let (kind, path) = match self {
            Place::Sqlite(path) => ("sqlite", path),
            Place::File(path) => ("file", path),
            Place::Postgres(url) | Place::Etcd(url) => return without_secrets(url),
        };
        let whole = |path: &Path| folder(path).canonicalize().ok();
        let name = path.file_name().map(Path::new).unwrap_or(path);
        match (whole(path), whole(&key::resolved(key))) {
            (Some(state), Some(key)) if state == key => format!("{kind}:{}", name.display()),
            (Some(state), _) => format!("{kind}:{}", state.join(name).display()),
            (None, _) => format!("{kind}:{}", path.display()),
        }
    }

    /// The file, where the state is in one.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Place::Sqlite(path) | Place::File(path) => Some(path),
            Place::Postgres(_) | Place::Etcd(_) => None,
        }
    }
}

impl StoreArgs {
    /// The file that the state of a key is in; `None` where it is in none, or the URL is not known.
    pub(crate) fn file(&self, key: &Path) -> Option<PathBuf> {
        Some(place(self, key).ok()?.path()?.to_owned())
    }
}

/// Where the state is that nobody names.
pub(super) fn default_place(key: &Path) -> Place {
    Place::Sqlite(with_suffix(&key::resolved(key), ".state"))
}

/// The note beside a key of what its shared store was seen to hold.
pub(super) fn seen_path(key: &Path) -> PathBuf {
    with_suffix(&key::resolved(key), ".seen")
}

/// A URL's scheme, user, hosts and path, and those of its parameters that say where it is.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    // A password may hold any character, an @ too.
    let (user, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
    let user = user.split_once(':').map_or(user, |(name, _)| name);
    let at = if user.is_empty() { "" } else { "@" };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let kept = query.split('&').filter(|part| {
        part.split_once('=').is_some_and(|(name, _)| ["host", "port", "dbname"].contains(&name))
    });
    let query: Vec<_> = kept.collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{at}{place}{mark}{}", query.join("&"))
}

/// A location of a note as `--store` takes it from here.
pub(super) fn as_option(location: &str, key: &Path) -> String {
    match location.split_once(':') {
        Some((kind @ ("sqlite" | "file"), name)) if !name.contains('/') => {
            format!("{kind}:{}", key::resolved(key).with_file_name(name).display())
        }
        _ => location.to_owned(),
    }
}

/// What the option names, else the environment, else the file beside the key.
pub(super) fn place(arguments: &StoreArgs, key: &Path) -> Outcome<Place> {
    if arguments.store.as_deref().is_some_and(has_password) {
        let message = "--store has a password, which every user of this machine can read in the \
                       list of processes";
        return Err(Failure::usage("store.password", message)
            .hint("set TETRALITH_STORE to the URL instead, and change the password"));
    }
    let url = arguments.store.clone().or_else(|| std::env::var("TETRALITH_STORE").ok());
    let Some(url) = url.filter(|url| !url.is_empty()) else {
        return Ok(default_place(key));
    };
    match url.split_once(':') {
        Some(("sqlite", path)) if !path.is_empty() => Ok(Place::Sqlite(path.into())),
        Some(("file", path)) if !path.is_empty() => Ok(Place::File(path.into())),
        Some(("postgres" | "postgresql", _)) => Ok(Place::Postgres(url)),
        Some(("etcd" | "etcds", _)) => Ok(Place::Etcd(url)),
        // What it is instead is not told: it could hold a password.
        _ => Err(Failure::usage("store.url", "the store is none of a kind that is known")
            .hint("use sqlite:PATH, file:PATH, postgres://USER@HOST/DATABASE, etcd://HOST or etcds://HOST")),
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

/// Refuses where no state is in the file that it should be in.
pub(super) fn check_there(place: &Place, key: &Path) -> Outcome {
    if place.path().is_none_or(Path::exists) {
        return Ok(());
    }
    check_links(place, key)?;
    Err(missing(place, key))
}

/// There is no state at a place; the note beside the key says where it was.
pub(super) fn missing(place: &Place, key: &Path) -> Failure {
    let refused = failure(&StateError::Missing);
    let here = place.location(key);
    let noted = KeyNote::read(&seen_path(key)).ok().flatten().map(|note| note.location);
    let message = format!("there is no state for this key at {}", as_option(&here, key));
    match noted.filter(|noted| !noted.is_empty() && *noted != here) {
        Some(noted) => {
            let noted = as_option(&noted, key);
            let hint = format!(
                "give --store {noted}; only if that state is lost, see tetralith xmss restore --help"
            );
            let message = format!("{message}; its state is at {noted}");
            Failure { message, ..refused }.hint(hint)
        }
        None => Failure { message, ..refused },
    }
}

/// Refuses a key that has several names and no state beside this one: the state beside another one counts,
/// and a second would give its indices again.
pub(super) fn check_links(place: &Place, key: &Path) -> Outcome {
    #[cfg(unix)]
    if let (true, Ok(found)) = (*place == default_place(key), std::fs::metadata(key)) {
        use std::os::unix::fs::MetadataExt;
        let (names, name) = (found.nlink(), key.display());
        if names > 1 && place.path().is_some_and(|path| !path.exists()) {
            let message = format!(
                "{name} is one of {names} names of the key file (hard links), and its state is not \
                 beside this one"
            );
            return Err(Failure::new(Exit::State, "state.linked", message).hint(
                "use the key by the name that its state has, or name the state with --store",
            ));
        }
    }
    let _ = (place, key);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_stores() {
        let place = |url: Option<&str>| {
            super::place(&StoreArgs { store: url.map(str::to_owned) }, Path::new("a/key"))
        };
        assert!(place(None).unwrap() == Place::Sqlite("a/key.state".into()));
        assert!(place(Some("sqlite:/x/y")).unwrap() == Place::Sqlite("/x/y".into()));
        assert!(place(Some("file:y")).unwrap() == Place::File("y".into()));
        assert!(place(Some("postgres://h/d")).unwrap() == Place::Postgres("postgres://h/d".into()));
        for url in ["etcd://h", "etcds://h?cacert=f"] {
            assert!(place(Some(url)).unwrap() == Place::Etcd(url.into()));
        }
        for (url, told) in [
            (
                "postgres://me:p@ss:w?rd@host:5/db?sslmode=disable&password=x",
                "postgres://me@host:5/db",
            ),
            ("postgres://me@/db?host=/run/pg&sslkey=s", "postgres://me@/db?host=/run/pg"),
            ("etcds://u:secret@a,b:1/p?cacert=f", "etcds://u@a,b:1/p"),
            ("etcd://h", "etcd://h"),
        ] {
            assert_eq!(without_secrets(url), told);
        }
        for wrong in ["file:", "nothing", "postgress://user@host/db"] {
            let refused = place(Some(wrong)).err().unwrap();
            assert_eq!(refused.code, "store.url");
        }
    }

    #[test]
    fn an_argument_has_no_password() {
        let place =
            |url: &str| super::place(&StoreArgs { store: Some(url.to_owned()) }, Path::new("key"));
        for url in [
            "postgres://user:secret@host/db",
            "postgres://user:secret@host",
            "postgresql://host/db?sslmode=disable&password=secret",
            "etcd://user:secret@host:2379",
            "etcds://user:@host?cacert=file",
            "postgress://user:secret@host/db",
        ] {
            let refused = place(url).err().unwrap();
            assert_eq!(refused.code, "store.password", "{url}");
            assert!(!refused.message.contains("secret"), "{}", refused.message);
        }
        for url in ["postgres://user@host:5432/db", "etcd://host:2379", "file:a:b@c", "sqlite:p@"] {
            assert!(place(url).is_ok(), "{url}");
        }
    }
}
