//! Why a key on a disk cannot be used.

use std::io;
use std::path::{Path, PathBuf};
use tetralith_xmss::state::StateError;

/// Why a key on a disk cannot be read, made or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Every user may change the file, so its content may be somebody else's.
    #[error("{}: every user may change it (mode {mode:o})", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The key file cannot be decoded or opened.
    #[error("{}: {source}", path.display())]
    KeyFile {
        /// The key file.
        path: PathBuf,
        /// Why not.
        source: tetralith_keyfile::Error,
    },
    /// The key file holds a key for another purpose.
    #[error("{} holds a key for {found}, not for xmss", path.display())]
    Kind {
        /// The key file.
        path: PathBuf,
        /// What it is for.
        found: String,
    },
    /// The parts of the key file do not fit together.
    #[error("{}: {why}", path.display())]
    Malformed {
        /// The key file.
        path: PathBuf,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// The key cannot be computed, encoded or used.
    #[error(transparent)]
    Key(#[from] tetralith_xmss::Error),
    /// The state refuses, or its store fails.
    #[error("{source}{}", at(file.as_deref(), source))]
    State {
        /// Why.
        source: StateError,
        /// The state's file, if it is in one.
        file: Option<PathBuf>,
    },
    /// The key has no state in the store that was named.
    #[error("there is no state for this key at {here}{}", other(elsewhere.as_deref()))]
    Missing {
        /// Where it was looked for.
        here: String,
        /// Where the note beside the key says that it is.
        elsewhere: Option<String>,
    },
    /// The key file has several names, and its state lies beside another one.
    #[error(
        "{} is one of {names} names of the key file (hard links), and its state is not beside this \
         one",
        path.display()
    )]
    Linked {
        /// The name that was used.
        path: PathBuf,
        /// How many names there are.
        names: u64,
    },
    /// A state without its key is in the way, and that key has signed.
    #[error("{} is the state of another key, which has signed", path.display())]
    Foreign {
        /// The state.
        path: PathBuf,
    },
    /// The state in the store is not the one of the key that is to be replaced.
    #[error("the state is that of another key than the one to be replaced")]
    NotReplaced,
    /// The store's URL has no scheme that is known. It is not repeated: it could hold a password.
    #[error("unknown type of store (expected sqlite, file, postgres, etcd or etcds)")]
    UnknownStore,
    /// This build has no such store.
    #[error("this build has no {0} store")]
    NotBuilt(&'static str),
    /// Only a range of the indices is for this place, and an exported key would not know its end.
    #[error("this state may use only the indices below {until} of {limit}")]
    Range {
        /// The end of the range.
        until: u64,
        /// How many indices the key has.
        limit: u64,
    },
    /// An export in another form, or to another output, was interrupted after it had spent the indices.
    #[error("an interrupted export in the form {form} waits to be finished")]
    Interrupted {
        /// Its form.
        form: String,
        /// Its output; `-` for a stream.
        output: PathBuf,
    },
}

impl Error {
    /// Names the file that a failure is about.
    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        move |source| Error::File { path: path.to_owned(), source }
    }
}

impl Error {
    /// The stable, dotted code of this kind of failure, such as `state.missing`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.class().1
    }

    /// The exit code of the command for this kind of failure: 1 where something does not verify, 2 for
    /// malformed input, 3 where the machine or the system failed, 4 where the state refuses.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.class().0
    }

    fn class(&self) -> (u8, &'static str) {
        match self {
            Error::File { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
                (3, "io.exists")
            }
            Error::File { .. } => (3, "io.file"),
            Error::Exposed { .. } => (3, "file.exposed"),
            Error::KeyFile { source, .. } => (source.exit_code(), source.code()),
            Error::Key(source) => (source.exit_code(), source.code()),
            Error::State { source, .. } => (source.exit_code(), source.code()),
            Error::Kind { .. } => (2, "key.kind"),
            Error::Malformed { .. } => (2, "key.malformed"),
            Error::UnknownStore | Error::NotBuilt(_) => (2, "store.url"),
            Error::Missing { .. } => (4, "state.missing"),
            Error::Linked { .. } => (4, "state.linked"),
            Error::Foreign { .. } => (4, "state.exists"),
            Error::NotReplaced => (4, "state.other_key"),
            Error::Range { .. } => (4, "state.range"),
            Error::Interrupted { .. } => (4, "export.interrupted"),
        }
    }
}

impl From<StateError> for Error {
    fn from(source: StateError) -> Self {
        Error::State { source, file: None }
    }
}

/// The file is named only where that helps, and the refusal does not name one itself.
fn at(file: Option<&Path>, source: &StateError) -> String {
    match (file, source) {
        (Some(file), StateError::Io(_) | StateError::Damaged(_)) => {
            format!(" ({})", file.display())
        }
        _ => String::new(),
    }
}

fn other(elsewhere: Option<&str>) -> String {
    elsewhere.map_or_else(String::new, |place| format!("; its state is at {place}"))
}
