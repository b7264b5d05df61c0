//! What may not be written over, even with `--force`: keys, and what belongs to them.

use crate::failure::{Failure, Outcome};
use std::io::Read;
use std::path::Path;
use tetralith_durable::open_regular;
use tetralith_keyfile::{KeyFile, MAX_TEXT};
use tetralith_xmss::state::{SqliteStore, noted_by};
use zeroize::Zeroizing;

/// What a file holds that `--force` is not meant for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// A secret key of this kind.
    Key(String),
    /// Something that belongs to a key.
    Part(&'static str),
}

impl Kept {
    /// Looks into a file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let file = open_regular(path, std::fs::File::options().read(true)).ok()?;
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes).ok()?;
        let locked = || tetralith_durable::beside(path, ".lock").exists();
        let is_state = || SqliteStore::examine(path).is_ok();
        match &bytes[..] {
            bytes if bytes.starts_with(b"tetralith xmss state ") => {
                Some(Self::Part("a key's state"))
            }
            bytes if bytes.starts_with(b"tetralith xmss partial ") => {
                Some(Self::Part("a key that is being made"))
            }
            bytes if bytes.starts_with(b"tetralith xmss nodes ") => {
                Some(Self::Part("a key's tree"))
            }
            bytes if bytes.starts_with(b"tetralith xmss ") => {
                Some(Self::Part("the note of a key's state"))
            }
            bytes if bytes.starts_with(b"SQLite format 3") && (locked() || is_state()) => {
                Some(Self::Part("a key's state"))
            }
            _ if noted_by(path).is_some() => Some(Self::Part("the note of a key's state")),
            bytes => Self::key(core::str::from_utf8(bytes).ok()?),
        }
    }

    fn key(text: &str) -> Option<Self> {
        let file = KeyFile::from_text(text).ok()?;
        let public = matches!(file.open(None), Err(tetralith_keyfile::Error::NoSecret));
        (!public).then_some(Self::Key(file.kind))
    }

    /// Refuses to write over the file.
    pub(crate) fn refusal(&self, path: &Path) -> Failure {
        let what = match self {
            Kept::Key(kind) => format!("a secret key for {kind}"),
            Kept::Part(what) => (*what).to_owned(),
        };
        let message = format!("{} holds {what}: it is not written over", path.display());
        Failure::usage("output.guarded", message)
            .hint("choose another name, or delete the file yourself if nobody needs it")
    }

    /// Whether the file `new` may replace the one at `path`: no other kind of key, and nothing that
    /// belongs to a key.
    pub(super) fn allows(path: &Path, new: &Path) -> bool {
        Kept::of(path).is_none_or(|kept| Kept::of(new).as_ref() == Some(&kept))
    }
}

/// Refuses to replace another kind of key, and anything that belongs to a key.
pub(super) fn check_kept(path: &Path, bytes: &[u8]) -> Outcome {
    match Kept::of(path) {
        Some(kept) => {
            let new = core::str::from_utf8(bytes).ok().and_then(Kept::key);
            if new.as_ref() == Some(&kept) { Ok(()) } else { Err(kept.refusal(path)) }
        }
        None => Ok(()),
    }
}
