//! Key files, and public keys in all their forms.

use super::params::parse as params;
use super::store::{self, StoreArgs};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{self, Output};
use crate::passphrase::{NewPassphrase, PassphraseArgs};
use serde_json::json;
use std::path::{Path, PathBuf};
use tetralith_keyfile::KeyFile;
pub(crate) use tetralith_keyring::Secret;
use tetralith_keyring::{KIND, Keyring, NewKey, decode, encode};
use tetralith_xmss::{Error, Params, Partial, PublicKey, Scheme, pkix};
use zeroize::Zeroizing;

/// Opens the secret part of a key file.
pub(crate) fn secret(
    context: Context,
    keyring: &Keyring,
    passphrase: &PassphraseArgs,
) -> Outcome<Secret> {
    io::check_private(context, keyring.files().key())?;
    let passphrase = passphrase.existing(context, keyring.is_encrypted())?;
    Ok(keyring.secret(NewPassphrase::from(passphrase).bytes())?)
}

/// What a command writes as a new key.
pub(crate) struct New<'a> {
    pub(crate) output: &'a Output,
    pub(crate) store: &'a StoreArgs,
    pub(crate) passphrase: &'a NewPassphrase,
    pub(crate) resume_at: u64,
    pub(crate) partial: Option<Partial>,
}

impl New<'_> {
    /// Writes the key with everything that belongs to it.
    pub(crate) fn write(self, secret: &Secret) -> Outcome {
        let mut new = NewKey::new(secret, self.passphrase.protection());
        (new.resume_at, new.partial) = (self.resume_at, self.partial);
        new.replace = self.output.force;
        let (options, mut rng) = (self.store.options()?, crate::random::system());
        Keyring::create(&self.output.output, &options, new, store::now(), &mut rng)?;
        Ok(())
    }
}

/// Tells of a key that was written, which signs from the index `next` on.
pub(crate) fn told(
    context: Context,
    what: &str,
    path: &Path,
    public: &PublicKey,
    next: u64,
) -> Outcome {
    let (params, count) = (public.params().to_string(), public.params().signatures());
    let raw = hex::encode(encode(public)?);
    let left = count - next;
    let counted = match next {
        0 => format!("{count} signatures"),
        _ => format!("{left} of {count} signatures left"),
    };
    context.answer(
        format!("{what} {}: {params}, {counted}", path.display()),
        json!({ "key": path.display().to_string(), "params": params, "signatures": count,
                "left": left, "next": next, "public": raw }),
    )
}

/// What `--output` of a new key is: `-`, which other commands take, names no key.
pub(crate) const OUTPUT_HELP: &str =
    "Write the key to this file; its state and trees lie beside it";

/// Refuses standard output for a new key.
pub(crate) fn check_name(output: &Output) -> Outcome {
    if !output.is_stdout() {
        return io::check_regular(&output.output);
    }
    let message = "a key has files beside it, so it cannot be written to standard output";
    Err(Failure::usage("key.stdout", message).hint("give -o FILE"))
}

/// Reads a key file.
pub(crate) fn read(path: &Path) -> Outcome<KeyFile> {
    io::check_regular(path)?;
    let text = io::read_text(path, 1 << 23).map_err(|failure| match path.exists() {
        true => failure,
        false => failure.hint("tetralith xmss keygen -o FILE makes a key"),
    })?;
    let file = KeyFile::from_text(&Zeroizing::new(text)).map_err(|error| named(path, error))?;
    if file.kind != KIND {
        let message = format!("{} holds a key for {}, not for xmss", path.display(), file.kind);
        return Err(Failure::usage("key.kind", message));
    }
    Ok(file)
}

/// Says which file it is that cannot be read or opened.
pub(crate) fn named(path: &Path, error: tetralith_keyfile::Error) -> Failure {
    let failure = Failure::from(error);
    Failure { message: format!("{}: {}", path.display(), failure.message), ..failure }
}

/// The public key of a key file that was read at a path.
pub(crate) fn public_of(file: &KeyFile, path: &Path) -> Outcome<PublicKey> {
    Ok(tetralith_keyring::public_of(file, path)?)
}

/// A public key given to a command.
#[derive(clap::Args, Debug)]
pub(crate) struct PublicArgs {
    /// The public key: raw, in hex, PEM or DER, a certificate, or a key file
    #[arg(short, long, value_name = "PUB")]
    public: PathBuf,
    /// The parameter set of a raw key. An XMSS^MT key needs it: XMSS and XMSS^MT share identifiers
    #[arg(long, value_parser = params, value_name = "NAME")]
    params: Option<Params>,
}

impl From<PathBuf> for PublicArgs {
    fn from(public: PathBuf) -> Self {
        Self { public, params: None }
    }
}

impl PublicArgs {
    /// Reads the key.
    pub(crate) fn read(&self) -> Outcome<PublicKey> {
        let bytes = io::read(&self.public, 1 << 23)?;
        let public = match core::str::from_utf8(&bytes) {
            Ok(text) if text.contains("-----BEGIN ") => pkix::key_of_pem(text)?,
            Ok(text) if text.starts_with('{') => {
                let file = KeyFile::from_text(text).map_err(|error| named(&self.public, error))?;
                public_of(&file, &self.public)?
            }
            Ok(text) if is_hex(text) => self.raw(&io::from_hex("the public key", text)?)?,
            // No identifier begins so, and neither does a key of QRL's or AidosKuneen's.
            _ if bytes.first() == Some(&DER) => pkix::key_of_der(&bytes)?,
            _ => self.raw(&bytes)?,
        };
        match self.params {
            Some(params) if params != public.params() => {
                let message = format!("the key is of {}, not {params}", public.params());
                Err(Failure::usage("xmss.params", message))
            }
            _ => Ok(public),
        }
    }

    fn raw(&self, bytes: &[u8]) -> Outcome<PublicKey> {
        let scheme = self.params.map_or(Scheme::Xmss, Params::scheme);
        decode(bytes, scheme).map_err(Failure::from).map_err(|failure| match PublicKey::from_bytes(
            Scheme::XmssMt,
            bytes,
        ) {
            Ok(other) if self.params.is_none() => failure.hint(need_params(other.params())),
            _ => failure,
        })
    }

    /// Tells why a signature does not fit the key, which may be one of another scheme.
    pub(crate) fn unfit(&self, public: &PublicKey, signature: &[u8], error: Error) -> Failure {
        let scheme = public.params().scheme();
        let other = public.params().oid().map(|oid| Params::from_oid(Scheme::XmssMt, oid));
        match (&error, other) {
            (Error::Length { what: "signature", .. }, Some(Ok(other)))
                if self.params.is_none()
                    && scheme == Scheme::Xmss
                    && other.signature_bytes() == signature.len() =>
            {
                Failure::from(error).hint(need_params(other))
            }
            _ => error.into(),
        }
    }
}

fn need_params(params: Params) -> String {
    format!("if the raw key is one of XMSS^MT, say so: --params {params}")
}

/// A key in hex, as `pub` prints it.
fn is_hex(text: &str) -> bool {
    let text = text.trim_ascii();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// How DER's SEQUENCE begins.
const DER: u8 = 0x30;
