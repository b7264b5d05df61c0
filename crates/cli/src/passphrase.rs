//! Where passphrases come from: a prompt, a file or the environment, never the command line.

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::io::check_private;
use clap::Args;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use tetralith_keyfile::Error::PassphraseNeeded;
use tetralith_keyfile::{KeyFile, Protection};
use zeroize::Zeroizing;

/// The option of every command that opens a secret key.
#[derive(Args, Clone, Debug)]
pub(crate) struct PassphraseArgs {
    /// Read the passphrase from the first line of this file [default: TETRALITH_PASSPHRASE, or a
    /// prompt]
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

/// The options of every command that makes a secret key.
#[derive(Args, Clone, Debug)]
pub(crate) struct NewPassphraseArgs {
    #[command(flatten)]
    pub(crate) passphrase: PassphraseArgs,
    /// Keep the secret unencrypted
    #[arg(long, conflicts_with = "passphrase_file")]
    no_passphrase: bool,
}

/// The options of the command that changes a passphrase.
#[derive(Args, Clone, Debug)]
pub(crate) struct ChangedPassphraseArgs {
    #[command(flatten)]
    pub(crate) old: PassphraseArgs,
    /// Read the new passphrase from the first line of this file [default: TETRALITH_NEW_PASSPHRASE, or
    /// a prompt]
    #[arg(long, value_name = "FILE")]
    new_passphrase_file: Option<PathBuf>,
    /// Keep the secret unencrypted from now on
    #[arg(long, conflicts_with = "new_passphrase_file")]
    no_passphrase: bool,
}

/// A passphrase for what is written; `None` was asked for by `--no-passphrase`, or is the key's own.
pub(crate) struct NewPassphrase(Option<Zeroizing<String>>);

impl From<Option<Zeroizing<String>>> for NewPassphrase {
    fn from(known: Option<Zeroizing<String>>) -> Self {
        NewPassphrase(known)
    }
}

impl NewPassphrase {
    /// How the key file is to be protected.
    pub(crate) fn protection(&self) -> Protection<'_> {
        self.bytes().map_or(Protection::None, Protection::Passphrase)
    }

    /// The passphrase itself, where there is one.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        self.0.as_ref().map(|text| text.as_bytes())
    }
}

impl NewPassphraseArgs {
    /// The file that it is read from, if it is.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.passphrase.file()
    }

    /// The passphrase for a new key, asked for twice at a prompt.
    pub(crate) fn for_new(&self, context: Context) -> Outcome<NewPassphrase> {
        if self.no_passphrase {
            return Ok(NewPassphrase(None));
        }
        chosen(self.passphrase.given(context)?, needed_for_new)
    }
}

impl ChangedPassphraseArgs {
    /// The new passphrase, asked for twice at a prompt.
    pub(crate) fn replacement(&self, context: Context) -> Outcome<NewPassphrase> {
        if self.no_passphrase {
            return Ok(NewPassphrase(None));
        }
        let path = self.new_passphrase_file.as_deref();
        chosen(given(context, path, "TETRALITH_NEW_PASSPHRASE")?, needed_for_change)
    }
}

/// A new passphrase that is given, or else asked for twice.
fn chosen(given: Option<Zeroizing<String>>, needed: fn() -> Failure) -> Outcome<NewPassphrase> {
    let prompted = given.is_none();
    let first = given.map_or_else(|| prompt("New passphrase: ", needed), Ok)?;
    if first.is_empty() {
        return Err(Failure::usage("key.passphrase_empty", "the passphrase is empty")
            .hint("choose one, or give --no-passphrase to keep the secret unencrypted"));
    }
    if prompted && *first != *prompt("The same again: ", needed)? {
        return Err(Failure::usage("key.passphrase_differs", "the two passphrases differ"));
    }
    Ok(NewPassphrase(Some(first)))
}

/// What a file's first line is, or else a variable of the environment.
fn given(
    context: Context,
    path: Option<&Path>,
    variable: &str,
) -> Outcome<Option<Zeroizing<String>>> {
    if let Some(path) = path {
        check_private(context, path)?;
        let text = Zeroizing::new(crate::io::read_text(path, 1 << 16)?);
        let line = text.lines().next().unwrap_or_default().to_owned();
        return Ok(Some(Zeroizing::new(line)));
    }
    Ok(std::env::var(variable).ok().map(Zeroizing::new))
}

impl PassphraseArgs {
    /// The file that it is read from, if it is.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.passphrase_file.as_deref()
    }

    /// Opens the secret part of the key file at a path, asking for the passphrase where one is needed.
    pub(crate) fn open(
        &self,
        context: Context,
        path: &Path,
        file: &KeyFile,
    ) -> Outcome<Zeroizing<Vec<u8>>> {
        check_private(context, path)?;
        let passphrase = self.existing(context, file.is_encrypted())?;
        Ok(file.open(passphrase.as_ref().map(|text| text.as_bytes()))?)
    }

    /// The passphrase of an existing key, asked for at a prompt; `None` where none is `needed`.
    pub(crate) fn existing(
        &self,
        context: Context,
        needed: bool,
    ) -> Outcome<Option<Zeroizing<String>>> {
        if !needed {
            return Ok(None);
        }
        let passphrase = match self.given(context)? {
            Some(given) => given,
            None => prompt("Passphrase: ", || PassphraseNeeded.into())?,
        };
        if passphrase.is_empty() {
            // No key has it: it was refused when the key was made.
            let failure = Failure::usage("key.passphrase_empty", "the passphrase is empty");
            return Err(failure.hint("it is the first line of --passphrase-file"));
        }
        Ok(Some(passphrase))
    }

    fn given(&self, context: Context) -> Outcome<Option<Zeroizing<String>>> {
        given(context, self.file(), "TETRALITH_PASSPHRASE")
    }
}

/// Asks at the terminal; where standard input is not one, fails with `needed`.
fn prompt(question: &str, needed: fn() -> Failure) -> Outcome<Zeroizing<String>> {
    if !std::io::stdin().is_terminal() {
        return Err(needed());
    }
    rpassword::prompt_password(question).map(Zeroizing::new).map_err(|error| {
        Failure::new(Exit::Environment, "io.terminal", format!("the terminal: {error}"))
    })
}

/// There is no key yet that could be encrypted: a passphrase has to be chosen for it.
fn needed_for_new() -> Failure {
    let message = "the new key needs a passphrase, and standard input is not a terminal";
    Failure::usage("key.passphrase_needed", message).hint(
        "give --passphrase-file FILE or set TETRALITH_PASSPHRASE; --no-passphrase keeps the secret \
         unencrypted",
    )
}

/// As [`needed_for_new`], of a key that has one already.
fn needed_for_change() -> Failure {
    let message = "the key's new passphrase is missing, and standard input is not a terminal";
    Failure::usage("key.passphrase_needed", message).hint(
        "give --new-passphrase-file FILE or set TETRALITH_NEW_PASSPHRASE; --no-passphrase keeps the \
         secret unencrypted",
    )
}
