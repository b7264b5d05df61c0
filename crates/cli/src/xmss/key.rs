//! Key files, and public keys in all their forms.

use super::{params, qrl, store, with_suffix};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access, Output};
use crate::passphrase::PassphraseArgs;
use serde_json::json;
use std::path::{Path, PathBuf};
use tetralith_keyfile::{Cost, KeyFile};
use tetralith_xmss::qrl::{ExtendedSeed, public_key_from_bytes, public_key_to_bytes};
use tetralith_xmss::{Derivation, Params, Progress, PublicKey, Scheme, SecretKey, pkix};
use zeroize::Zeroizing;

/// Arguments of `keygen`.
#[derive(clap::Args, Debug)]
pub(crate) struct Keygen {
    #[command(flatten)]
    pub(super) output: Output,
    /// The parameter set, such as XMSS-SHAKE256_16_192, XMSSMT-SHA2_20/4_256 or QRL-SHAKE_10_256
    #[arg(long, value_parser = params, default_value = "XMSS-SHA2_10_256", value_name = "NAME")]
    params: Params,
    /// Take the seeds from this file, in hex: SK_SEED, SK_PRF and SEED, or a QRL seed of 48 bytes.
    /// The same seeds must never make a second key
    #[arg(long, value_name = "FILE")]
    seed_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) store: store::StoreArgs,
    #[command(flatten)]
    pub(super) passphrase: PassphraseArgs,
}

/// The secret part of a key file: the key, and for QRL the seed that it was expanded from.
pub(crate) struct Secret {
    pub(crate) key: SecretKey,
    pub(crate) qrl: Option<ExtendedSeed>,
}

impl Secret {
    /// Computes a key with a progress report.
    pub(crate) fn compute(
        context: Context,
        leaves: u64,
        make: impl FnOnce(&Progress<'_>) -> Result<SecretKey, tetralith_xmss::Error>,
    ) -> Outcome<SecretKey> {
        let progress = context.progress("making the key", leaves, "leaves");
        let key = make(&Progress::new(&|done, _| {
            progress.set(done);
            true
        }));
        progress.finish();
        Ok(key?)
    }

    /// Opens the secret part of a key file.
    pub(crate) fn open(file: &KeyFile, passphrase: &PassphraseArgs) -> Outcome<Self> {
        let bytes = passphrase.open(file)?;
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
    /// that whatever is interrupted there is no key whose state is missing.
    pub(crate) fn write(
        &self,
        output: &Output,
        store: &store::StoreArgs,
        passphrase: &crate::passphrase::NewPassphrase,
        resume_at: u64,
    ) -> Outcome {
        let public = self.key.public_key();
        let name = public.params().to_string();
        let file = KeyFile::public(KIND, &name, &encode(&public)?);
        let mut rng = crate::random::system();
        let file =
            file.seal(&self.to_bytes(), passphrase.protection(), Cost::STANDARD, &mut rng)?;
        let path = &output.output;
        store::create(store, path, &public, resume_at, output.force)?;
        self.key.save_cache(&cache_base(path))?;
        output.write(file.to_text().as_bytes(), Access::Owner)
    }
}

/// Makes a key.
pub(crate) fn keygen(context: Context, arguments: Keygen) -> Outcome {
    let Keygen { output, params, seed_file, store, passphrase } = arguments;
    output.check()?;
    if output.output == Path::new("-") {
        return Err(Failure::usage("key.stdout", "a key has files beside it and needs a name"));
    }
    let passphrase = passphrase.for_new()?;
    let leaves = 1 << params.tree_height();
    let given = seed_file.as_deref().map(qrl::read_hex).transpose()?;
    let mut rng = crate::random::system();
    let secret = if params.oid().is_none() {
        let seed = qrl::seed(params, given, &mut rng)?;
        let key = Secret::compute(context, leaves, |progress| seed.secret_key(progress))?;
        Secret { key, qrl: Some(seed) }
    } else {
        let key = Secret::compute(context, leaves, |progress| match given {
            Some(seeds) => SecretKey::from_seeds(params, Derivation::PrfKeygen, &seeds, progress),
            None => SecretKey::generate(params, &mut rng, progress),
        })?;
        Secret { key, qrl: None }
    };
    secret.write(&output, &store, &passphrase, 0)?;
    told(context, "made", &output.output, &secret.key.public_key())
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

/// Decodes a raw public key; QRL's, of 67 bytes, has no length that an identifier's could have.
fn decode(bytes: &[u8], scheme: Scheme) -> Outcome<PublicKey> {
    Ok(match bytes.len() {
        67 => public_key_from_bytes(bytes)?,
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
