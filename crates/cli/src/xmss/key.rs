//! Key files, and public keys in all their forms.

use super::{params, store, with_suffix};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access, Output};
use crate::passphrase::{NewPassphrase, PassphraseArgs};
use serde_json::json;
use std::path::{Path, PathBuf};
use tetralith_keyfile::{Cost, KeyFile};
use tetralith_xmss::qrl::{ExtendedSeed, public_key_from_bytes, public_key_to_bytes};
use tetralith_xmss::{Params, Partial, PublicKey, Scheme, SecretKey, aidos, pkix};
use zeroize::Zeroizing;

/// The secret part of a key file: the key, and for QRL the seed that it was expanded from.
pub(crate) struct Secret {
    pub(crate) key: SecretKey,
    pub(crate) qrl: Option<ExtendedSeed>,
}

impl Secret {
    /// Opens the secret part of a key file.
    pub(crate) fn open(file: &KeyFile, passphrase: &PassphraseArgs) -> Outcome<Self> {
        Self::decode(file, &passphrase.open(file)?)
    }

    /// Opens the secret part with a passphrase that is known already.
    pub(crate) fn open_with(file: &KeyFile, passphrase: &NewPassphrase) -> Outcome<Self> {
        Self::decode(file, &file.open(passphrase.bytes())?)
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
        let cached = self.key.save_cache(&cache_base(path));
        let removed = cached.and_then(|()| partial.map_or(Ok(()), Partial::remove));
        let written = removed.map_err(Failure::from).and_then(|()| staged.finish());
        match written {
            Ok(()) => store::replaced(path),
            Err(_) => created.take_back(store, path)?,
        }
        written
    }
}

/// Tells of a key that was written.
pub(crate) fn told(context: Context, what: &str, path: &Path, public: &PublicKey) -> Outcome {
    let (params, count) = (public.params().to_string(), public.params().signatures());
    let raw = hex::encode(encode(public)?);
    context.answer(
        format!("{what} {}: {params}, {count} signatures", path.display()),
        json!({ "key": path.display().to_string(), "params": params, "signatures": count,
                "public": raw }),
    )
}

/// Reads a key file.
pub(crate) fn read(path: &Path) -> Outcome<KeyFile> {
    let file = KeyFile::from_text(&Zeroizing::new(io::read_text(path, 1 << 23)?))?;
    if file.kind != KIND {
        let message = format!("{} holds a key for {}, not for xmss", path.display(), file.kind);
        return Err(Failure::usage("key.kind", message));
    }
    Ok(file)
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
    /// The public key: raw, PEM, or a key file
    #[arg(short, long, value_name = "PUB")]
    public: PathBuf,
    /// The parameter set of a raw key. An XMSS^MT key needs it: XMSS and XMSS^MT share identifiers
    #[arg(long, value_parser = params, value_name = "NAME")]
    params: Option<Params>,
}

impl PublicArgs {
    /// Reads the key.
    pub(crate) fn read(&self) -> Outcome<PublicKey> {
        let bytes = io::read(&self.public, 1 << 23)?;
        let public = match core::str::from_utf8(&bytes) {
            Ok(text) if text.contains("-----BEGIN PUBLIC KEY-----") => pkix::from_pem(text)?,
            Ok(text) if text.starts_with('{') => public_of(&KeyFile::from_text(text)?)?,
            _ => decode(&bytes, self.params.map_or(Scheme::Xmss, Params::scheme))?,
        };
        match self.params {
            Some(params) if params != public.params() => {
                let message = format!("the key is of {}, not {params}", public.params());
                Err(Failure::usage("xmss.params", message))
            }
            _ => Ok(public),
        }
    }
}

/// Where a key's trees are kept.
pub(crate) fn cache_base(key: &Path) -> PathBuf {
    with_suffix(key, ".nodes")
}

const KIND: &str = "xmss";
/// Bytes of an encoded secret key before its seeds.
const SECRET_HEADER: usize = 9;
