//! How keys, proofs and inputs are given.

use super::{KIND, text_keys};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::passphrase::PassphraseArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tetralith_keyfile::{KeyFile, MAX_TEXT};
use tetralith_vrf::{Error, SecretKey, Suite};
use zeroize::Zeroizing;

/// The longest input that is read, in bytes.
const MAX_ALPHA: u64 = 1 << 30;

/// A parser of suite names that lists them in the help.
pub(super) fn suite() -> impl TypedValueParser<Value = Suite> {
    PossibleValuesParser::new(Suite::ALL.map(Suite::name)).try_map(|name| name.parse::<Suite>())
}

/// What is proved or verified.
#[derive(clap::Args, Clone, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct Alpha {
    /// The file whose bytes are the input; `-` is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The input, in hex
    #[arg(long, value_name = "HEX")]
    alpha: Option<String>,
}

impl Alpha {
    pub(super) fn read(&self) -> Outcome<Vec<u8>> {
        match (&self.alpha, &self.file) {
            (Some(hex), _) => crate::io::from_hex("the input", hex),
            (None, Some(path)) => crate::io::read(path, MAX_ALPHA),
            (None, None) => Err(Failure::usage("input.missing", "no input is given")),
        }
    }
}

/// Bytes in hex on the command line, or in a file.
#[derive(Clone, Debug)]
pub(super) enum Bytes {
    Hex(String),
    File(PathBuf),
}

impl FromStr for Bytes {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Bytes, Self::Err> {
        Ok(match text.strip_prefix('@') {
            Some(path) => Bytes::File(path.into()),
            None => Bytes::Hex(text.to_owned()),
        })
    }
}

impl Bytes {
    /// Reads them; a file of exactly `raw` bytes is raw, any other hex.
    pub(super) fn read(&self, what: &str, raw: usize) -> Outcome<Vec<u8>> {
        match self {
            Bytes::Hex(text) => crate::io::from_hex(what, text),
            Bytes::File(path) => Ok(raw_or_hex(&crate::io::read(path, 1 << 16)?, raw)),
        }
    }

    /// As [`Bytes::read`], from a key file too.
    pub(super) fn read_public_key(&self, suite: Suite) -> Outcome<Vec<u8>> {
        let cardano = |text: &str| -> Outcome<Option<Vec<u8>>> {
            let key = text_keys::verification_key(text)?;
            if key.is_some() && suite != Suite::Draft03Cardano {
                let (part, got) = (tetralith_vrf::Part::PublicKey, Suite::Draft03Cardano);
                return Err(Error::SuiteMismatch { part, expected: suite, got }.into());
            }
            Ok(key)
        };
        if let Bytes::Hex(text) = self
            && let Some(key) = cardano(text)?
        {
            return Ok(key);
        }
        if let Bytes::File(path) = self {
            let bytes = crate::io::read(path, MAX_TEXT as u64)?;
            if let Some(key) = cardano(std::str::from_utf8(&bytes).unwrap_or_default())? {
                return Ok(key);
            }
            if bytes.starts_with(b"{") {
                let (got, file) = parse_key_file(path, &bytes)?;
                if got != suite {
                    let part = tetralith_vrf::Part::PublicKey;
                    return Err(Error::SuiteMismatch { part, expected: suite, got }.into());
                }
                return Ok(file.public);
            }
        }
        self.read("the public key", suite.public_key_len())
    }
}

/// The bytes as they are where there are `raw` of them, else decoded from hex, with or without `0x`.
pub(super) fn raw_or_hex(bytes: &[u8], raw: usize) -> Vec<u8> {
    if bytes.len() == raw {
        return bytes.to_vec();
    }
    tetralith_columns::decode_hex(bytes.trim_ascii()).unwrap_or_else(|_| bytes.to_vec())
}

/// Reads a key file of this noun.
pub(super) fn read_key_file(path: &Path) -> Outcome<(Suite, KeyFile)> {
    parse_key_file(path, &crate::io::read(path, MAX_TEXT as u64)?)
}

fn parse_key_file(path: &Path, bytes: &[u8]) -> Outcome<(Suite, KeyFile)> {
    let text = std::str::from_utf8(bytes).map_err(|_| {
        Failure::usage("input.utf8", format!("{} is not UTF-8 text", path.display()))
    })?;
    let file = KeyFile::from_text(text)?;
    if file.kind != KIND {
        let message = format!("{} holds a key for {}, not for {KIND}", path.display(), file.kind);
        return Err(Failure::usage("key.kind", message));
    }
    Ok((file.params.parse::<Suite>()?, file))
}

/// Opens the secret key of a key file, or one of Cardano's forms of a signing key, which have no
/// passphrase.
pub(super) fn open_key(
    context: Context,
    path: &Path,
    passphrase: &PassphraseArgs,
) -> Outcome<SecretKey> {
    let bytes = Zeroizing::new(crate::io::read(path, MAX_TEXT as u64)?);
    if let Some(key) = text_keys::signing_key(&bytes)? {
        crate::io::check_private(context, path)?;
        return Ok(key);
    }
    let (suite, file) = parse_key_file(path, &bytes)?;
    let key = SecretKey::from_bytes(suite, &passphrase.open(context, path, &file)?)?;
    if key.public_key().as_bytes() != file.public {
        return Err(Error::KeyPairMismatch.into());
    }
    Ok(key)
}
