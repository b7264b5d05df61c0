//! `passphrase`: seals a key file anew. The key, its state and its trees stay as they are.
//!
//! The new file is written aside, opened with the new passphrase and compared with the old one before it
//! takes the old one's name: a command that is killed leaves the old file or the new.

use super::key;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::io::{self, Access, Output};
use crate::passphrase::{ChangedPassphraseArgs, NewPassphrase};
use serde_json::json;
use std::path::{Path, PathBuf};
use tetralith_keyfile::{Cost, KeyFile};

/// Arguments of `passphrase`.
#[derive(clap::Args, Debug)]
pub(crate) struct Passphrase {
    /// The key file
    key: PathBuf,
    #[command(flatten)]
    passphrase: ChangedPassphraseArgs,
}

/// Changes a key file's passphrase.
pub(crate) fn change(context: Context, arguments: Passphrase) -> Outcome {
    let path = &arguments.key;
    check_names(path)?;
    let file = key::read(path)?;
    io::check_private(context, path)?;
    let old = arguments.passphrase.old.existing(context, file.is_encrypted())?;
    let old = NewPassphrase::from(old);
    let secret = file.open(old.bytes()).map_err(|error| key::named(path, error))?;
    let new = arguments.passphrase.replacement(context)?;
    let sealed = KeyFile::public(&file.kind, &file.params, &file.public).seal(
        &secret,
        new.protection(),
        Cost::STANDARD,
        &mut crate::random::system(),
    )?;
    let text = sealed.to_text();
    let output = Output { output: path.clone(), force: true };
    let staged = output.stage(text.as_bytes(), Access::Owner)?;
    // Nobody can tell a key that was sealed wrongly from one whose passphrase is forgotten.
    let again = KeyFile::from_text(&text)?.open(new.bytes())?;
    if *again != *secret {
        let message = "the resealed key differs from the old one; nothing was changed";
        return Err(Failure::new(Exit::Environment, "key.fault", message)
            .hint("suspected hardware fault: check the memory and the CPU"));
    }
    staged.finish()?;
    let (name, encrypted) = (path.display().to_string(), sealed.is_encrypted());
    let text = match encrypted {
        true => format!("{name} has a new passphrase; copies and backups keep the old one"),
        false => format!("{name} is not encrypted any more"),
    };
    context.answer(text, json!({ "key": name, "encrypted": encrypted }))
}

/// A second name of the file would keep the old passphrase.
fn check_names(path: &Path) -> Outcome {
    #[cfg(unix)]
    if let Ok(found) = std::fs::metadata(path) {
        use std::os::unix::fs::MetadataExt;
        let (name, names) = (path.display(), found.nlink());
        if names > 1 {
            let message = format!("{name} is one of {names} names of the key file (hard links)");
            return Err(Failure::new(Exit::Environment, "key.linked", message)
                .hint("remove the other names: they would keep the old passphrase"));
        }
    }
    let _ = path;
    Ok(())
}
