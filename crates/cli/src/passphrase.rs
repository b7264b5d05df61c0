//! Where passphrases come from: a prompt, a file or the environment, never the command line.

use crate::failure::{Exit, Failure, Outcome};
use clap::Args;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use tetralith_keyfile::{KeyFile, Protection};
use zeroize::Zeroizing;

/// The options of every command that opens or makes a secret key.
#[derive(Args, Clone, Debug)]
pub(crate) struct PassphraseArgs {
    /// Read the passphrase from the first line of this file [default: TETRALITH_PASSPHRASE, or a
    /// prompt]
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Keep the secret unencrypted
    #[arg(long, conflicts_with = "passphrase_file")]
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

impl PassphraseArgs {
    /// The file that it is read from, if it is.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.passphrase_file.as_deref()
    }

    /// The passphrase for a new key, asked for twice at a prompt.
    pub(crate) fn for_new(&self) -> Outcome<NewPassphrase> {
        if self.no_passphrase {
            return Ok(NewPassphrase(None));
        }
        let given = self.given()?;
        let prompted = given.is_none();
        let first = given.map_or_else(|| prompt("New passphrase: "), Ok)?;
        if first.is_empty() {
            return Err(Failure::usage("key.passphrase_empty", "the passphrase is empty")
                .hint("choose one, or give --no-passphrase to keep the secret unencrypted"));
        }
        if prompted && *first != *prompt("The same again: ")? {
            return Err(Failure::usage("key.passphrase_differs", "the two passphrases differ"));
        }
        Ok(NewPassphrase(Some(first)))
    }

    /// Opens the secret part of a key file, asking for the passphrase where one is needed.
    pub(crate) fn open(&self, file: &KeyFile) -> Outcome<Zeroizing<Vec<u8>>> {
        let passphrase = self.existing(file.is_encrypted())?;
        Ok(file.open(passphrase.as_ref().map(|text| text.as_bytes()))?)
    }

    /// The passphrase of an existing key, asked for at a prompt; `None` where none is `needed`.
    pub(crate) fn existing(&self, needed: bool) -> Outcome<Option<Zeroizing<String>>> {
        if !needed {
            return Ok(None);
        }
        let passphrase = match self.given()? {
            Some(given) => given,
            None => prompt("Passphrase: ")?,
        };
        if passphrase.is_empty() {
            // No key has it: it was refused when the key was made.
            let failure = Failure::usage("key.passphrase_empty", "the passphrase is empty");
            return Err(failure.hint("it is the first line of --passphrase-file"));
        }
        Ok(Some(passphrase))
    }

    fn given(&self) -> Outcome<Option<Zeroizing<String>>> {
        if let Some(path) = &self.passphrase_file {
            let text = Zeroizing::new(crate::io::read_text(path, 1 << 16)?);
            let line = text.lines().next().unwrap_or_default().to_owned();
            return Ok(Some(Zeroizing::new(line)));
        }
        Ok(std::env::var("TETRALITH_PASSPHRASE").ok().map(Zeroizing::new))
    }
}

fn prompt(question: &str) -> Outcome<Zeroizing<String>> {
    if !std::io::stdin().is_terminal() {
        return Err(tetralith_keyfile::Error::PassphraseNeeded.into());
    }
    rpassword::prompt_password(question).map(Zeroizing::new).map_err(|error| {
        Failure::new(Exit::Environment, "io.terminal", format!("the terminal: {error}"))
    })
}
