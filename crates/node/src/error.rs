//! Why a node cannot do something: its folder, its configuration, its peers or its own bug.

use std::path::{Path, PathBuf};

/// Why a node refuses or fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of `node.toml` is missing, unknown or has a value that cannot be used.
    #[error("configuration: {field}: {reason}")]
    Config {
        /// The path of the field, such as `peers[1].id`.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of the node's folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file of the node's folder exists and must not be replaced.
    #[error("{} exists", .0.display())]
    Exists(PathBuf),
    /// A key file cannot be opened.
    #[error("{}: {source}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: tetralith_keyfile::Error,
    },
    /// Every user of the machine may change a secret file.
    #[error("{}: every user may change it (mode {mode:o})", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A file that this program wrote does not say what it should.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The ceremony log failed.
    #[error("ceremony log: {0}")]
    Log(#[from] rusqlite::Error),
    /// The engine refuses what this node stored.
    #[error("engine: {0}")]
    Engine(tetralith_tss::engine::Error),
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {reason}")]
    Listen {
        /// The address.
        address: String,
        /// What the system said.
        reason: String,
    },
    /// The node is stopping, or a task of it ended.
    #[error("the node is stopping")]
    Stopping,
}

impl Error {
    /// A field of the configuration that cannot be used.
    pub(crate) fn config(field: impl Into<String>, reason: impl ToString) -> Self {
        Error::Config { field: field.into(), reason: reason.to_string() }
    }

    /// Attaches the file to what the system said.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Error::File { path, source }
    }

    /// Attaches the file to what is wrong with a key file.
    pub(crate) fn key_file(path: &Path) -> impl FnOnce(tetralith_keyfile::Error) -> Self {
        let path = path.to_owned();
        move |source| Error::KeyFile { path, source }
    }
}
