//! The secret part of a key file.

use crate::Error;
use rand_core::CryptoRng;
use std::path::Path;
use tetralith_keyfile::{Cost, KeyFile, Protection};
use tetralith_xmss::qrl::{ExtendedSeed, public_key_from_bytes, public_key_to_bytes};
use tetralith_xmss::{Params, PublicKey, Scheme, SecretKey, aidos};
use zeroize::Zeroizing;

/// The secret part of a key file: the key, and for QRL the seed that it was expanded from.
///
/// # Security
/// Wiped on drop, as its parts are.
pub struct Secret {
    /// The key.
    pub key: SecretKey,
    /// The seed of a QRL key.
    pub qrl: Option<ExtendedSeed>,
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Opens the secret part of the key file that was read at a path.
    ///
    /// # Errors
    /// [`Error::KeyFile`] for a wrong or missing passphrase; [`Error::Malformed`], [`Error::Key`].
    pub fn open(file: &KeyFile, path: &Path, passphrase: Option<&[u8]>) -> Result<Self, Error> {
        let malformed = |why| Error::Malformed { path: path.to_owned(), why };
        let opened = file.open(passphrase);
        let bytes = opened.map_err(|source| Error::KeyFile { path: path.to_owned(), source })?;
        let public = public_of(file, path)?;
        let size = HEADER + 4 * public.params().n();
        let (key, seed) =
            bytes.split_at_checked(size).ok_or(malformed("the secret part is too short"))?;
        let key = SecretKey::from_bytes(key)?;
        if key.public_key() != public {
            return Err(malformed("the secret part is another key's"));
        }
        let is_qrl = public.params().oid().is_none();
        let qrl = match seed {
            [] => None,
            seed if is_qrl => Some(ExtendedSeed::from_bytes(seed)?),
            _ => return Err(malformed("the secret part has trailing bytes")),
        };
        Ok(Self { key, qrl })
    }

    /// The text of a key file.
    pub(crate) fn seal(
        &self,
        protection: Protection<'_>,
        rng: &mut impl CryptoRng,
        path: &Path,
    ) -> Result<KeyFile, Error> {
        let public = self.key.public_key();
        let file = KeyFile::public(KIND, &public.params().to_string(), &encode(&public)?);
        let mut bytes = Zeroizing::new(self.key.to_bytes().to_vec());
        if let Some(qrl) = &self.qrl {
            bytes.extend_from_slice(&qrl.to_bytes());
        }
        let sealed = file.seal(&bytes, protection, Cost::STANDARD, rng);
        sealed.map_err(|source| Error::KeyFile { path: path.to_owned(), source })
    }
}

/// The public key of a key file, which must be one for xmss.
///
/// # Errors
/// [`Error::Kind`], [`Error::Malformed`], [`Error::Key`].
pub fn public_of(file: &KeyFile, path: &Path) -> Result<PublicKey, Error> {
    if file.kind != KIND {
        return Err(Error::Kind { path: path.to_owned(), found: file.kind.clone() });
    }
    let params = Params::from_name(&file.params)?;
    let public = decode(&file.public, params.scheme())?;
    if public.params() != params {
        let why = "the parameter set is not the public key's";
        return Err(Error::Malformed { path: path.to_owned(), why });
    }
    Ok(public)
}

/// A public key's raw form: `OID ‖ root ‖ SEED`, or for QRL `descriptor ‖ root ‖ SEED`.
///
/// # Errors
/// [`Error::Key`] where a set without an identifier is not one of QRL's.
pub fn encode(public: &PublicKey) -> Result<Vec<u8>, tetralith_xmss::Error> {
    Ok(match public.params().oid() {
        Some(_) => public.to_bytes(),
        None => public_key_to_bytes(public)?.to_vec(),
    })
}

/// Decodes a raw public key; QRL's, of 67 bytes, and AidosKuneen's, of 65, have no length that one with
/// an identifier could have.
///
/// # Errors
/// The bytes are no public key.
pub fn decode(bytes: &[u8], scheme: Scheme) -> Result<PublicKey, tetralith_xmss::Error> {
    match bytes.len() {
        67 => public_key_from_bytes(bytes),
        65 => aidos::public_key_from_bytes(bytes),
        _ => PublicKey::from_bytes(scheme, bytes),
    }
}

/// What the key files of this crate are for.
pub const KIND: &str = "xmss";
/// Bytes of an encoded secret key before its seeds.
const HEADER: usize = 9;
