//! What a command must not write over, even with `--force`: what it reads, its key, what belongs to the
//! key, and other keys and their states.

use super::store::StoreArgs;
use crate::failure::{Failure, Outcome};
use crate::io::Kept;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tetralith_durable::{beside, folder, resolved};
use tetralith_keyring::Files;

/// The files that a command has need of, and what each is.
#[derive(Default)]
pub(crate) struct Guard {
    files: HashMap<Identity, String>,
    /// The kind of key that the command may replace.
    replaces: Option<&'static str>,
}

/// What a name stands for: the file that is there, else its folder and its name in it.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    #[cfg(unix)]
    File(u64, u64),
    Name(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        if let Ok(found) = std::fs::metadata(path) {
            use std::os::unix::fs::MetadataExt;
            return Some(Identity::File(found.dev(), found.ino()));
        }
        let path = resolved(path);
        Some(Identity::Name(folder(&path).canonicalize().ok()?.join(path.file_name()?)))
    }
}

impl Guard {
    /// Lets the command replace a key of a kind, which it makes itself.
    pub(crate) fn replaces(mut self, kind: &'static str) -> Self {
        self.replaces = Some(kind);
        self
    }

    /// Guards a file that is read.
    pub(crate) fn input(mut self, path: Option<&Path>) -> Self {
        if let Some(path) = path.filter(|path| *path != Path::new("-")) {
            self.add(path, "is read by this command".into());
        }
        self
    }

    /// Guards a file that is written, once [`check`](Self::check) allows it.
    pub(crate) fn output(&mut self, path: &Path) -> Outcome {
        self.check(path)?;
        if path != Path::new("-") {
            self.add(path, "is the output for another file of this command".into());
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, what: String) {
        if let Some(identity) = Identity::of(path) {
            self.files.entry(identity).or_insert(what);
        }
    }

    /// Guards a key, and what belongs to it: its state, its trees, its notes.
    pub(crate) fn key(mut self, path: &Path, store: &StoreArgs) -> Self {
        self.add(path, "is the key".into());
        let files = Files::of(path);
        for file in files.all() {
            self.add(&file, format!("belongs to the key {}", files.key().display()));
        }
        self.state(path, store)
    }

    /// Guards a key's state.
    pub(crate) fn state(mut self, key: &Path, store: &StoreArgs) -> Self {
        // A store that is no file, or none at all, is told of where it is opened.
        let Some(state) = store.file(key) else { return self };
        for suffix in ["", "-wal", "-shm", ".lock"] {
            let what = format!("is the state of the key {}", key.display());
            self.add(&beside(&state, suffix), what);
        }
        self
    }

    /// Refuses to write to one of them.
    pub(crate) fn check(&self, output: &Path) -> Outcome {
        let special = std::fs::metadata(output).is_ok_and(|found| !found.is_file());
        if special || output == Path::new("-") {
            return Ok(());
        }
        match Identity::of(output).and_then(|identity| self.files.get(&identity)) {
            None => match Kept::of(output) {
                Some(Kept::Key(kind)) if self.replaces == Some(&kind) => Ok(()),
                Some(kept) => Err(kept.refusal(output)),
                None => Ok(()),
            },
            Some(what) => {
                let message = format!("{} {what}: it is not written over", output.display());
                Err(Failure::usage("output.guarded", message).hint("choose another name"))
            }
        }
    }
}
