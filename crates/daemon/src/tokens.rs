//! Who may do what: tokens that lie in files of the owner's.

use crate::error::{Error, Kind, Outcome};
use crate::files;
use sha2::{Digest, Sha256};
use std::path::Path;

/// What clients must know: one token to change anything, and where the daemon is private, one to read.
pub(crate) struct Tokens {
    change: Token,
    read: Option<Token>,
}

impl Tokens {
    pub(crate) fn open(folder: &Path, private: bool) -> Outcome<Self> {
        let change = Token::open(&folder.join("api.token"))?;
        let read = private.then(|| Token::open(&folder.join("read.token"))).transpose()?;
        Ok(Self { change, read })
    }

    /// Refuses who may not change anything.
    pub(crate) fn check(&self, given: &[u8]) -> Outcome {
        if self.change.is(given) {
            return Ok(());
        }
        Err(Error::usage("api.token", "the token is missing or wrong")
            .hint("send the token of the daemon's api.token file"))
    }

    /// Refuses who may not read.
    pub(crate) fn check_reader(&self, given: &[u8]) -> Outcome {
        match &self.read {
            Some(read) if !read.is(given) && !self.change.is(given) => {
                Err(Error::usage("api.token", "the token is missing or wrong")
                    .hint("send the token of the daemon's read.token file"))
            }
            _ => Ok(()),
        }
    }
}

/// The hash of 32 random bytes in hex, which lie in a file of the owner's.
struct Token([u8; 32]);

impl Token {
    fn open(path: &Path) -> Outcome<Self> {
        if !path.exists() {
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes)
                .map_err(|error| Error::new(Kind::Environment, "machine.random", error))?;
            files::write_secret(path, format!("{}\n", hex::encode(bytes)).as_bytes())?;
        }
        check_owner(path)?;
        let text = String::from_utf8(files::read(path, 1 << 10)?).unwrap_or_default();
        if text.trim().len() < 32 {
            let message = format!("{}: a token has 32 characters or more", path.display());
            return Err(Error::usage("api.token", message));
        }
        Ok(Self(Sha256::digest(text.trim()).into()))
    }

    /// Compares hashes, whose difference tells nothing of the token.
    fn is(&self, given: &[u8]) -> bool {
        <[u8; 32]>::from(Sha256::digest(given)) == self.0
    }
}

/// Refuses a token that others can read or change.
fn check_owner(path: &Path) -> Outcome {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let found = std::fs::metadata(path).map_err(|error| Error::file(path, &error))?;
        let mode = found.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let name = path.display();
            let message =
                format!("{name} has mode {mode:o}: other users can read or change the token");
            return Err(Error::usage("api.token", message).hint(format!("run chmod 600 {name}")));
        }
    }
    Ok(())
}
