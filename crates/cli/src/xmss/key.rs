//! Key files, and public keys in all their forms.

use super::params::parse as params;
use super::{store, with_suffix};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access, Output};
use crate::passphrase::{NewPassphrase, PassphraseArgs};
use serde_json::json;
use std::path::{Path, PathBuf};
use tetralith_keyfile::{Cost, KeyFile};
use tetralith_xmss::qrl::{ExtendedSeed, public_key_from_bytes, public_key_to_bytes};
use tetralith_xmss::{Error, Params, Partial, PublicKey, Scheme, SecretKey, aidos, pkix};
use zeroize::Zeroizing;

/// The secret part of a key file: the key, and for QRL the seed that it was expanded from.
pub(crate) struct Secret {
    pub(crate) key: SecretKey,
    pub(crate) qrl: Option<ExtendedSeed>,
}

impl Secret {
    /// Opens the secret part of the key file that was read at a path.
    pub(crate) fn open(
        context: Context,
        file: &KeyFile,
        passphrase: &PassphraseArgs,
        path: &Path,
    ) -> Outcome<Self> {
        io::check_private(context, path)?;
        let passphrase = passphrase.existing(context, file.is_encrypted())?;
        Self::open_with(file, &NewPassphrase::from(passphrase), path)
    }

    /// Opens the secret part with a passphrase that is known already.
    pub(crate) fn open_with(
        file: &KeyFile,
        passphrase: &NewPassphrase,
        path: &Path,
    ) -> Outcome<Self> {
        let opened = file.open(passphrase.bytes());
        Self::decode(file, &opened.map_err(|error| named(path, error))?)
    }

    fn decode(file: &KeyFile, bytes: &[u8]) -> Outcome<Self> {
        let public = public_of(file)?;
        let size = SECRET_HEADER + 4 * public.params().n();
        let (key, seed) = bytes
            .split_at_checked(size)
            .ok_or(Failure::usage("key.malformed", "the secret part is too short"))?;
        let key = SecretKey::from_bytes(key)?;
        if key.public_key() != public {
            return Err(Failure::usage("key.malformed", "the secret part is another key's"));
        }
        let is_qrl = public.params().oid().is_none();
        let qrl = match seed {
            [] => None,
            seed if is_qrl => Some(ExtendedSeed::from_bytes(seed)?),
            _ => return Err(Failure::usage("key.malformed", "the secret part has trailing bytes")),
        };
        Ok(Self { key, qrl })
    }

    /// The bytes of the secret part.
    fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(self.key.to_bytes().to_vec());
        if let Some(qrl) = &self.qrl {
            bytes.extend_from_slice(&qrl.to_bytes());
        }
        bytes
    }

    /// Writes a new key: its state first, whole and on disk, then its trees, then the key itself, so
    /// that whatever is interrupted there is no key whose state is missing. What can fail and what
    /// takes long comes before the state; what fails after it takes the state back.
    ///
    /// `partial` goes before the key appears: the same seeds never make a second key.
    pub(crate) fn write(
        &self,
        output: &Output,
        store: &store::StoreArgs,
        passphrase: &NewPassphrase,
        resume_at: u64,
        partial: Option<Partial>,
    ) -> Outcome {
        let public = self.key.public_key();
        let name = public.params().to_string();
        let file = KeyFile::public(KIND, &name, &encode(&public)?);
        let mut rng = crate::random::system();
        let file =
            file.seal(&self.to_bytes(), passphrase.protection(), Cost::STANDARD, &mut rng)?;
        let path = &output.output;
        let staged = output.stage(file.to_text().as_bytes(), Access::Owner)?;
        let created = store::create(store, path, &public, resume_at, output.force)?;
        let had_cache = cache_file(path, public.params().layers()).exists();
        let cached = self.key.save_cache(&cache_base(path));
        let removed = cached.and_then(|()| partial.map_or(Ok(()), Partial::remove));
        let written = removed.map_err(Failure::from).and_then(|()| staged.finish());
        match written {
            Ok(()) => store::replaced(path),
            Err(_) => {
                if !had_cache {
                    let _ = std::fs::remove_file(cache_file(path, public.params().layers()));
                }
                created.take_back(path);
            }
        }
        written
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
        return Ok(());
    }
    let message = "a key has files beside it, so it cannot be written to standard output";
    Err(Failure::usage("key.stdout", message).hint("give -o FILE"))
}

/// Reads a key file.
pub(crate) fn read(path: &Path) -> Outcome<KeyFile> {
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

/// The public key of a key file.
pub(crate) fn public_of(file: &KeyFile) -> Outcome<PublicKey> {
    let params = Params::from_name(&file.params)?;
    let public = decode(&file.public, params.scheme())?;
    if public.params() != params {
        return Err(Failure::usage("key.malformed", "the parameter set is not the public key's"));
    }
    Ok(public)
}

/// A public key's raw form.
pub(crate) fn encode(public: &PublicKey) -> Outcome<Vec<u8>> {
    Ok(match public.params().oid() {
        Some(_) => public.to_bytes(),
        None => public_key_to_bytes(public)?.to_vec(),
    })
}

/// Decodes a raw public key; QRL's, of 67 bytes, and AidosKuneen's, of 65, have no length that one with
/// an identifier could have.
fn decode(bytes: &[u8], scheme: Scheme) -> Outcome<PublicKey> {
    Ok(match bytes.len() {
        67 => public_key_from_bytes(bytes)?,
        65 => aidos::public_key_from_bytes(bytes)?,
        _ => PublicKey::from_bytes(scheme, bytes)?,
    })
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
                public_of(&KeyFile::from_text(text).map_err(|error| named(&self.public, error))?)?
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
        decode(bytes, scheme).map_err(|failure| {
            match PublicKey::from_bytes(Scheme::XmssMt, bytes) {
                Ok(other) if self.params.is_none() => failure.hint(need_params(other.params())),
                _ => failure,
            }
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

/// Where a new key's tree is kept, of which it has only the top one.
fn cache_file(key: &Path, layers: u32) -> PathBuf {
    with_suffix(&cache_base(key), &format!(".layer{}", layers - 1))
}

/// Where a key's trees are kept.
pub(crate) fn cache_base(key: &Path) -> PathBuf {
    with_suffix(&resolved(key), ".nodes")
}

/// The key's own name, where it was named by symbolic links: what belongs to a key lies beside the key
/// itself, so that it has one state by whatever name it is used.
pub(crate) fn resolved(key: &Path) -> PathBuf {
    io::target(key)
}

/// How DER's SEQUENCE begins.
const DER: u8 = 0x30;

const KIND: &str = "xmss";
/// Bytes of an encoded secret key before its seeds.
const SECRET_HEADER: usize = 9;
