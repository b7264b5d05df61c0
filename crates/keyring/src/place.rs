//! Where a key's state is, and the names of everything that belongs to a key.

use crate::Error;
use std::path::{Path, PathBuf};
use tetralith_durable::{beside, folder, resolved};
use tetralith_xmss::state::KeyNote;

/// The files that belong to a key: they lie beside the file itself, whatever symbolic link named it, so
/// that a key has one state by whatever name it is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Files {
    key: PathBuf,
}

impl Files {
    /// The files of the key at a path; the key need not exist.
    #[must_use]
    pub fn of(key: &Path) -> Self {
        Self { key: resolved(key) }
    }

    /// The key file.
    #[must_use]
    pub fn key(&self) -> &Path {
        &self.key
    }

    /// The state, where no store is named: an SQLite database.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        beside(&self.key, ".state")
    }

    /// The note of where the state is and how far it was seen.
    #[must_use]
    pub fn seen(&self) -> PathBuf {
        beside(&self.key, ".seen")
    }

    /// The leaves of a key that is being computed.
    #[must_use]
    pub fn partial(&self) -> PathBuf {
        beside(&self.key, ".partial")
    }

    /// Whose state comes next, while a key is replaced.
    #[must_use]
    pub fn replacing(&self) -> PathBuf {
        beside(&self.key, ".replacing")
    }

    /// What the last export was.
    #[must_use]
    pub fn exported(&self) -> PathBuf {
        beside(&self.key, ".exported")
    }

    /// How the names of the trees begin.
    #[must_use]
    pub fn nodes(&self) -> PathBuf {
        beside(&self.key, ".nodes")
    }

    /// The tree of a layer.
    #[must_use]
    pub fn layer(&self, layer: u32) -> PathBuf {
        beside(&self.nodes(), &format!(".layer{layer}"))
    }

    /// Every name that belongs to the key, but for the key itself and its state.
    pub fn all(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let notes = [self.seen(), self.partial(), self.replacing(), self.exported()];
        notes.into_iter().chain((0..MAX_LAYERS).map(|layer| self.layer(layer)))
    }
}

/// The store that a URL names.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// An SQLite database.
    Sqlite(PathBuf),
    /// A plain file.
    File(PathBuf),
    /// A PostgreSQL server, by its URL.
    Postgres(String),
    /// An etcd cluster, by its URL.
    Etcd(String),
}

impl core::fmt::Debug for Place {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Place::Sqlite(path) => write!(f, "Sqlite({})", path.display()),
            Place::File(path) => write!(f, "File({})", path.display()),
            // A URL may have a password.
            Place::Postgres(url) => write!(f, "Postgres({})", without_secrets(url)),
            Place::Etcd(url) => write!(f, "Etcd({})", without_secrets(url)),
        }
    }
}

impl Place {
    /// The store of a URL: `sqlite:PATH`, `file:PATH`, `postgres://…`, `etcd://…` or `etcds://…`; the
    /// database beside the key where there is none.
    ///
    /// # Errors
    /// [`Error::UnknownStore`].
    pub fn parse(url: Option<&str>, files: &Files) -> Result<Self, Error> {
        let Some(url) = url.filter(|url| !url.is_empty()) else {
            return Ok(Place::Sqlite(files.state()));
        };
        match url.split_once(':') {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Place::Sqlite(path.into())),
            Some(("file", path)) if !path.is_empty() => Ok(Place::File(path.into())),
            Some(("postgres" | "postgresql", _)) => Ok(Place::Postgres(url.to_owned())),
            Some(("etcd" | "etcds", _)) => Ok(Place::Etcd(url.to_owned())),
            _ => Err(Error::UnknownStore),
        }
    }

    /// The state's file, where it is in one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Place::Sqlite(path) | Place::File(path) => Some(path),
            Place::Postgres(_) | Place::Etcd(_) => None,
        }
    }

    /// The store's name in the note beside the key: a file beside the key by its name alone, so that the
    /// folder can be moved; of a server nothing that could be a password.
    pub(crate) fn location(&self, files: &Files) -> String {
        let (kind, path) = match self {
            Place::Sqlite(path) => ("sqlite", path),
            Place::File(path) => ("file", path),
            Place::Postgres(url) | Place::Etcd(url) => return without_secrets(url),
        };
        let whole = |path: &Path| folder(path).canonicalize().ok();
        let name = path.file_name().map_or(path.as_path(), Path::new);
        match (whole(path), whole(files.key())) {
            (Some(state), Some(key)) if state == key => format!("{kind}:{}", name.display()),
            (Some(state), _) => format!("{kind}:{}", state.join(name).display()),
            (None, _) => format!("{kind}:{}", path.display()),
        }
    }

    /// Refuses where no state is in the file that it should be in.
    pub(crate) fn check_there(&self, files: &Files, name: &Path) -> Result<(), Error> {
        if self.path().is_none_or(Path::exists) {
            return Ok(());
        }
        self.check_links(files, name)?;
        Err(self.missing(files))
    }

    /// There is no state here; the note beside the key says where it was.
    pub(crate) fn missing(&self, files: &Files) -> Error {
        let here = self.location(files);
        let noted = KeyNote::read(&files.seen()).ok().flatten().map(|note| note.location);
        let elsewhere = noted.filter(|noted| !noted.is_empty() && *noted != here);
        let elsewhere = elsewhere.map(|noted| as_url(&noted, files));
        Error::Missing { here: as_url(&here, files), elsewhere }
    }

    /// Refuses a key that has several names and no state beside this one: the state beside another one
    /// counts, and a second would give its indices again.
    pub(crate) fn check_links(&self, files: &Files, name: &Path) -> Result<(), Error> {
        #[cfg(unix)]
        if let Ok(found) = std::fs::metadata(files.key()) {
            use std::os::unix::fs::MetadataExt;
            let own = *self == Place::Sqlite(files.state());
            if own && found.nlink() > 1 && !files.state().exists() {
                return Err(Error::Linked { path: name.to_owned(), names: found.nlink() });
            }
        }
        let _ = (files, name);
        Ok(())
    }
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

/// A location of a note as the URL of a store, from the folder that this process works in.
pub(crate) fn as_url(location: &str, files: &Files) -> String {
    match location.split_once(':') {
        Some((kind @ ("sqlite" | "file"), name)) if !name.contains('/') => {
            format!("{kind}:{}", files.key().with_file_name(name).display())
        }
        _ => location.to_owned(),
    }
}

/// Layers of the tallest hypertree.
const MAX_LAYERS: u32 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_stores() {
        let files = Files::of(Path::new("a/key"));
        let place = |url: Option<&str>| Place::parse(url, &files);
        let found = |url| place(Some(url)).expect(url);
        assert_eq!(place(None).expect("default"), Place::Sqlite("a/key.state".into()));
        assert_eq!(place(Some("")).expect("default"), Place::Sqlite("a/key.state".into()));
        assert_eq!(found("sqlite:/x/y"), Place::Sqlite("/x/y".into()));
        assert_eq!(found("file:y"), Place::File("y".into()));
        assert_eq!(found("postgres://h/d"), Place::Postgres("postgres://h/d".into()));
        for url in ["etcd://h", "etcds://h?cacert=f"] {
            assert_eq!(found(url), Place::Etcd(url.into()));
        }
        for wrong in ["file:", "nothing", "postgress://user:secret@host/db"] {
            let refused = place(Some(wrong)).expect_err(wrong);
            assert!(matches!(refused, Error::UnknownStore), "{wrong}");
            assert!(!refused.to_string().contains("secret"));
        }
    }

    #[test]
    fn a_note_keeps_no_password() {
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
    }
}
