//! What a command must not write over, even with `--force`: what it reads, its key, and what belongs to
//! the key.

use super::key;
use super::store::StoreArgs;
use super::with_suffix;
use crate::failure::{Failure, Outcome};
use std::path::{Path, PathBuf};

/// The files that a command has need of.
#[derive(Default)]
pub(crate) struct Guard {
    files: Vec<(PathBuf, String)>,
}

impl Guard {
    /// Guards a file that is read.
    pub(crate) fn input(mut self, path: Option<&Path>) -> Self {
        if let Some(path) = path.filter(|path| *path != Path::new("-")) {
            self.files.push((path.to_owned(), "is read by this command".into()));
        }
        self
    }

    /// Guards a key, and what belongs to it: its state, its trees, its notes.
    pub(crate) fn key(mut self, path: &Path, store: &StoreArgs) -> Self {
        self.files.push((path.to_owned(), "is the key".into()));
        let own = key::resolved(path);
        let name = own.display();
        for suffix in [".seen", ".partial", ".partial.new", ".replacing"] {
            self.files.push((with_suffix(&own, suffix), format!("belongs to the key {name}")));
        }
        for layer in 0..MAX_LAYERS {
            let cache = with_suffix(&own, &format!(".nodes.layer{layer}"));
            self.files.push((cache, format!("is a tree of the key {name}")));
        }
        self.state(path, store)
    }

    /// Guards a key's state.
    pub(crate) fn state(mut self, key: &Path, store: &StoreArgs) -> Self {
        // A store that is no file, or none at all, is told of where it is opened.
        let Some(state) = store.file(key) else { return self };
        for suffix in ["", "-wal", "-shm", ".lock", ".new"] {
            let what = format!("is the state of the key {}", key.display());
            self.files.push((with_suffix(&state, suffix), what));
        }
        self
    }

    /// Refuses to write to one of them.
    pub(crate) fn check(&self, output: &Path) -> Outcome {
        let special = std::fs::metadata(output).is_ok_and(|found| !found.is_file());
        if special || output == Path::new("-") {
            return Ok(());
        }
        match self.files.iter().find(|(file, _)| is_same(file, output)) {
            None => Ok(()),
            Some((_, what)) => {
                let message = format!("{} {what}: it is not written over", output.display());
                Err(Failure::usage("output.guarded", message).hint("choose another name"))
            }
        }
    }
}

/// Whether two names are of one file, or would be if it were there.
fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (std::fs::metadata(a), std::fs::metadata(b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    let named = |path: &Path| {
        let path = key::resolved(path);
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    named(a).is_some_and(|a| named(b) == Some(a))
}

/// Layers of the tallest hypertree.
const MAX_LAYERS: u32 = 12;
