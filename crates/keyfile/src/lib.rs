//! Key files with a readable public part and a passphrase-encrypted secret part.
//!
//! One format serves every kind of key (`docs/key-file.md`): JSON text whose `kind`, `params` and
//! `public` anyone can read, and whose `secret` is sealed with XChaCha20-Poly1305 under a key that
//! Argon2id derives from a passphrase. The readable part is bound to the secret as associated data,
//! so that neither can be exchanged alone. A file without a passphrase says so in its text.
//!
//! Decoding is strict: an unknown field, another version, or any text that this crate would not have
//! written itself is refused. The cost of Argon2id is bounded on both sides: a hostile file cannot
//! occupy the machine, and a weak one, which a guess of its passphrase costs little, is not opened.
//!
//! ```
//! # use rand_core::SeedableRng;
//! # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
//! use tetralith_keyfile::{Cost, KeyFile, Protection};
//! let public = KeyFile::public("vrf", "draft03-cardano", b"public key");
//! let file = public.seal(b"secret key", Protection::Passphrase(b"correct horse"), Cost::LEAST, &mut rng)?;
//! let read = KeyFile::from_text(&file.to_text())?;
//! assert_eq!(read.public, b"public key");
//! assert_eq!(read.open(Some(b"correct horse"))?.as_slice(), b"secret key");
//! assert!(read.open(Some(b"wrong")).is_err());
//! # Ok::<(), tetralith_keyfile::Error>(())
//! ```
//!
//! # Security
//! The passphrase and the secret are zeroized in this crate's own memory. What the caller, the
//! operating system's page cache or swap keep is not covered.

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{Key, KeyInit, XChaCha20Poly1305, XNonce};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

mod exposure;

pub use exposure::Exposure;

/// Why a key file cannot be read, written or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is longer than [`MAX_TEXT`].
    #[error("key file is {0} bytes long, at most {MAX_TEXT} are read")]
    TooLong(usize),
    /// The text is not the JSON of a key file; the reason names the field or the place.
    #[error("not a key file: {0}")]
    Malformed(String),
    /// The `version` is not one that this crate knows.
    #[error("key file has version {0}, this program reads version {VERSION}")]
    Version(u32),
    /// The parsed file would be written otherwise.
    #[error("key file is not in its canonical form (spacing, order or number format differ)")]
    NotCanonical,
    /// The checksum of an unencrypted file is not that of its content.
    #[error("the key file was changed: its checksum does not fit its content")]
    Checksum,
    /// Argon2id's parameters are outside the bounds of [`Cost`].
    #[error(
        "key file asks for Argon2id with {memory_kib} KiB of memory and {passes} passes; accepted are \
         {} to {} KiB and {} to {} passes",
        Cost::LEAST.memory_kib, Cost::MOST.memory_kib, Cost::LEAST.passes, Cost::MOST.passes
    )]
    CostOutOfBounds {
        /// Memory in KiB.
        memory_kib: u32,
        /// Number of passes.
        passes: u32,
    },
    /// A passphrase is needed and none was given.
    #[error("the key is encrypted and no passphrase was given")]
    PassphraseNeeded,
    /// A passphrase was given for a file that is not encrypted.
    #[error("the key is not encrypted, yet a passphrase was given")]
    NotEncrypted,
    /// The passphrase is wrong, or the file was changed.
    #[error("wrong passphrase, or the key file was changed")]
    WrongPassphrase,
    /// The file is sealed under a passphrase, not under a random key.
    #[error("the file is sealed under a passphrase, not under a node's storage key")]
    NotOfKey,
    /// The file holds no secret part.
    #[error("the file holds a public key only")]
    NoSecret,
}

impl Error {
    /// The stable, dotted code of this kind of failure, such as `key.passphrase`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.class().1
    }

    /// The exit code of the command for it: 2, malformed input.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.class().0
    }

    fn class(&self) -> (u8, &'static str) {
        match self {
            // Not 1: nothing was verified, and a script would take it for a bad signature.
            Error::WrongPassphrase => (2, "key.passphrase"),
            Error::PassphraseNeeded => (2, "key.passphrase_needed"),
            Error::NotEncrypted => (2, "key.not_encrypted"),
            Error::NoSecret => (2, "key.no_secret"),
            _ => (2, "key.malformed"),
        }
    }
}

/// The version that is written and read.
pub const VERSION: u32 = 1;
/// The longest text that is read, in bytes.
pub const MAX_TEXT: usize = 8 << 20;
const FORMAT: &str = "tetralith-key";

/// How hard Argon2id makes each guess of a passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    memory_kib: u32,
    passes: u32,
}

impl Cost {
    /// 64 MiB and three passes: about a fifth of a second on today's machines (RFC 9106 §4, second
    /// recommendation).
    pub const STANDARD: Cost = Cost { memory_kib: 65_536, passes: 3 };
    /// 19 MiB and two passes, the least that is accepted with a passphrase.
    pub const LEAST: Cost = Cost { memory_kib: 19_456, passes: 2 };
    /// 256 MiB and eight passes, the most that is accepted: some seconds.
    pub const MOST: Cost = Cost { memory_kib: 1 << 18, passes: 8 };
    /// What a random key is stretched with, which nobody can guess: as little as there is.
    const KEY: Cost = Cost { memory_kib: 8, passes: 1 };

    fn within_bounds(self) -> Result<Self, Error> {
        let Cost { memory_kib, passes } = self;
        let memory_ok = (Self::LEAST.memory_kib..=Self::MOST.memory_kib).contains(&memory_kib);
        let passes_ok = (Self::LEAST.passes..=Self::MOST.passes).contains(&passes);
        let error = Error::CostOutOfBounds { memory_kib, passes };
        if memory_ok && passes_ok { Ok(self) } else { Err(error) }
    }
}

/// How the secret part of a key file is protected.
#[derive(Clone, Copy)]
pub enum Protection<'a> {
    /// Encrypted under this passphrase.
    Passphrase(&'a [u8]),
    /// Encrypted under this random key. No cost is asked for: it cannot be guessed.
    Key(&'a [u8; 32]),
    /// Not at all; the caller has been asked and said so.
    None,
}

/// A key file: a readable public part and a secret part.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyFile {
    /// What the key is for: `xmss`, `vrf`, `tss-share`, …
    pub kind: String,
    /// The parameter set, suite or curve, by name.
    pub params: String,
    /// The public key in its own standard's encoding.
    pub public: Vec<u8>,
    secret: Secret,
}

#[derive(Clone, PartialEq, Eq)]
enum Secret {
    Absent,
    Plain(Zeroizing<Vec<u8>>),
    Sealed { cost: Cost, salt: [u8; 16], nonce: [u8; 24], ciphertext: Vec<u8> },
}

impl core::fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeyFile").field("kind", &self.kind).field("params", &self.params).finish()
    }
}

impl KeyFile {
    /// Makes a file that holds a public key only.
    #[must_use]
    pub fn public(kind: &str, params: &str, public: &[u8]) -> Self {
        KeyFile {
            kind: kind.to_owned(),
            params: params.to_owned(),
            public: public.to_vec(),
            secret: Secret::Absent,
        }
    }

    /// Adds the secret part.
    ///
    /// # Errors
    /// The cost is outside its bounds, or the secret is longer than the cipher allows.
    ///
    /// # Security
    /// A fresh salt and nonce are drawn for every call.
    pub fn seal(
        mut self,
        secret: &[u8],
        protection: Protection<'_>,
        cost: Cost,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, Error> {
        self.secret = match protection {
            Protection::None => Secret::Plain(Zeroizing::new(secret.to_vec())),
            Protection::Passphrase(passphrase) => {
                self.sealed(secret, passphrase, cost.within_bounds()?, rng)?
            }
            Protection::Key(key) => self.sealed(secret, key, Cost::KEY, rng)?,
        };
        Ok(self)
    }

    fn sealed(
        &self,
        secret: &[u8],
        passphrase: &[u8],
        cost: Cost,
        rng: &mut impl CryptoRng,
    ) -> Result<Secret, Error> {
        let (mut salt, mut nonce) = ([0; 16], [0; 24]);
        rng.fill_bytes(&mut salt);
        rng.fill_bytes(&mut nonce);
        let payload = Payload { msg: secret, aad: &self.header() };
        let ciphertext = cipher(passphrase, &salt, cost)?
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| Error::Malformed("the secret is too long to encrypt".into()))?;
        Ok(Secret::Sealed { cost, salt, nonce, ciphertext })
    }

    /// Says whether a passphrase is needed to open the file.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        matches!(self.secret, Secret::Sealed { .. })
    }

    /// Returns the secret part.
    ///
    /// # Errors
    /// The passphrase is missing, superfluous or wrong, the cost is outside its bounds, or the file
    /// has no secret part.
    pub fn open(&self, passphrase: Option<&[u8]>) -> Result<Zeroizing<Vec<u8>>, Error> {
        match (&self.secret, passphrase) {
            (Secret::Absent, _) => Err(Error::NoSecret),
            (Secret::Plain(secret), None) => Ok(secret.clone()),
            (Secret::Plain(_), Some(_)) => Err(Error::NotEncrypted),
            (Secret::Sealed { .. }, None) => Err(Error::PassphraseNeeded),
            (Secret::Sealed { cost, .. }, Some(passphrase)) => {
                cost.within_bounds()?;
                self.unsealed(passphrase)
            }
        }
    }

    /// Returns the secret part of a file that is sealed under a random key.
    ///
    /// # Errors
    /// The key is wrong, the file is not sealed under a [`Protection::Key`], or it has no secret part.
    pub fn open_with_key(&self, key: &[u8; 32]) -> Result<Zeroizing<Vec<u8>>, Error> {
        match &self.secret {
            Secret::Absent => Err(Error::NoSecret),
            Secret::Plain(_) => Err(Error::NotEncrypted),
            Secret::Sealed { cost, .. } if *cost != Cost::KEY => Err(Error::NotOfKey),
            Secret::Sealed { .. } => self.unsealed(key),
        }
    }

    fn unsealed(&self, passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let Secret::Sealed { cost, salt, nonce, ciphertext } = &self.secret else {
            return Err(Error::NotEncrypted);
        };
        let payload = Payload { msg: ciphertext, aad: &self.header() };
        cipher(passphrase, salt, *cost)?
            .decrypt(&XNonce::from(*nonce), payload)
            .map(Zeroizing::new)
            .map_err(|_| Error::WrongPassphrase)
    }

    /// Writes the file's text, which ends with a newline.
    ///
    /// # Security
    /// The text of an unencrypted file contains the secret.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        let plain = match &self.secret {
            Secret::Plain(secret) => digits(secret),
            _ => Zeroizing::new(String::new()),
        };
        let text = Text {
            format: FORMAT.into(),
            version: VERSION,
            kind: self.kind.clone(),
            params: self.params.clone(),
            public: hex::encode(&self.public),
            secret: match &self.secret {
                Secret::Absent => None,
                Secret::Plain(secret) => {
                    Some(SecretText::Plain { plain: &plain, checksum: self.checksum(secret) })
                }
                Secret::Sealed { cost, salt, nonce, ciphertext } => Some(SecretText::Sealed {
                    kdf: "argon2id".into(),
                    memory_kib: cost.memory_kib,
                    passes: cost.passes,
                    salt: hex::encode(salt),
                    cipher: "xchacha20-poly1305".into(),
                    nonce: hex::encode(nonce),
                    ciphertext: hex::encode(ciphertext),
                }),
            },
        };
        // All the room at once: a string that grew would leave digits of the secret in freed memory. JSON
        // writes a character in six bytes at most, and the field names take less than a kibibyte.
        let escaped = 6 * (self.kind.len() + self.params.len());
        let sealed =
            if let Secret::Sealed { ciphertext, .. } = &self.secret { ciphertext.len() } else { 0 };
        let room = 1024 + escaped + plain.len() + 2 * (self.public.len() + sealed);
        let mut json = Zeroizing::new(Vec::with_capacity(room));
        serde_json::to_writer_pretty(&mut *json, &text).expect("strings and numbers become JSON");
        json.push(b'\n');
        debug_assert!(json.len() <= room);
        let json = String::from_utf8(std::mem::take(&mut *json));
        Zeroizing::new(json.expect("JSON is UTF-8"))
    }

    /// Reads a file's text, strictly.
    ///
    /// # Errors
    /// The text is too long, is not a key file of this version, or is not what [`Self::to_text`]
    /// would write.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_TEXT {
            return Err(Error::TooLong(text.len()));
        }
        let parsed: Text<'_> = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Error::Malformed(match error.is_data() {
                true => error.to_string(),
                false => format!("no JSON at line {line}, column {column}"),
            })
        })?;
        if parsed.format != FORMAT {
            return Err(Error::Malformed(format!("format is not {FORMAT:?}")));
        }
        if parsed.version != VERSION {
            return Err(Error::Version(parsed.version));
        }
        let checksum = match &parsed.secret {
            Some(SecretText::Plain { checksum, .. }) => Some(checksum.clone()),
            _ => None,
        };
        let file = KeyFile {
            public: bytes("public", &parsed.public)?,
            secret: parsed.secret.map_or(Ok(Secret::Absent), Secret::from_text)?,
            kind: parsed.kind,
            params: parsed.params,
        };
        if let (Secret::Plain(secret), Some(checksum)) = (&file.secret, checksum)
            && file.checksum(secret) != checksum
        {
            return Err(Error::Checksum);
        }
        if file.to_text().as_str() == text { Ok(file) } else { Err(Error::NotCanonical) }
    }

    /// What shows a wrong digit in a file that is not encrypted: SHA-256 of the readable part and the
    /// secret, in hex.
    fn checksum(&self, secret: &[u8]) -> String {
        hex::encode(Sha256::new_with_prefix(self.header()).chain_update(secret).finalize())
    }

    /// The readable part as associated data: each field with its length before it.
    fn header(&self) -> Vec<u8> {
        let mut header = format!("{FORMAT} v{VERSION}").into_bytes();
        for field in [self.kind.as_bytes(), self.params.as_bytes(), &self.public] {
            header.extend_from_slice(&(field.len() as u64).to_be_bytes());
            header.extend_from_slice(field);
        }
        header
    }
}

impl Secret {
    fn from_text(text: SecretText<'_>) -> Result<Self, Error> {
        match text {
            SecretText::Plain { plain, .. } => {
                // All the room at once, as in `to_text`.
                let mut secret = Zeroizing::new(vec![0; plain.len() / 2]);
                hex::decode_to_slice(plain, &mut secret)
                    .map_err(|error| Error::Malformed(format!("plain: {error}")))?;
                Ok(Secret::Plain(secret))
            }
            SecretText::Sealed { kdf, memory_kib, passes, salt, cipher, nonce, ciphertext } => {
                if kdf != "argon2id" || cipher != "xchacha20-poly1305" {
                    return Err(Error::Malformed(format!(
                        "unknown kdf {kdf:?} or cipher {cipher:?}"
                    )));
                }
                Ok(Secret::Sealed {
                    cost: match (Cost { memory_kib, passes }) {
                        Cost::KEY => Cost::KEY,
                        cost => cost.within_bounds()?,
                    },
                    salt: array("salt", &salt)?,
                    nonce: array("nonce", &nonce)?,
                    ciphertext: bytes("ciphertext", &ciphertext)?,
                })
            }
        }
    }
}

/// Argon2id of RFC 9106 into a XChaCha20-Poly1305 key.
fn cipher(passphrase: &[u8], salt: &[u8; 16], cost: Cost) -> Result<XChaCha20Poly1305, Error> {
    let out_of_bounds =
        |_| Error::CostOutOfBounds { memory_kib: cost.memory_kib, passes: cost.passes };
    let params = Params::new(cost.memory_kib, cost.passes, 1, Some(32)).map_err(out_of_bounds)?;
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase, salt, key.as_mut_slice())
        .map_err(|error| Error::Malformed(error.to_string()))?;
    Ok(XChaCha20Poly1305::new(&Key::from(*key)))
}

/// A secret's hex digits, in memory that is wiped.
fn digits(secret: &[u8]) -> Zeroizing<String> {
    let mut digits = vec![0; 2 * secret.len()];
    hex::encode_to_slice(secret, &mut digits).expect("two digits a byte");
    Zeroizing::new(String::from_utf8(digits).expect("hex digits are ASCII"))
}

fn bytes(field: &str, text: &str) -> Result<Vec<u8>, Error> {
    hex::decode(text).map_err(|error| Error::Malformed(format!("{field}: {error}")))
}

fn array<const N: usize>(field: &str, text: &str) -> Result<[u8; N], Error> {
    let wrong_length = |found: Vec<u8>| {
        Error::Malformed(format!("{field} is {} bytes long, {N} are needed", found.len()))
    };
    bytes(field, text)?.try_into().map_err(wrong_length)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text<'a> {
    format: String,
    version: u32,
    kind: String,
    params: String,
    public: String,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    secret: Option<SecretText<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "its secret is neither an encrypted one nor a plain one"
)]
enum SecretText<'a> {
    Sealed {
        kdf: String,
        memory_kib: u32,
        passes: u32,
        salt: String,
        cipher: String,
        nonce: String,
        ciphertext: String,
    },
    Plain {
        // Borrowed from the text: a copy would be freed with the secret in it.
        plain: &'a str,
        checksum: String,
    },
}

#[cfg(test)]
mod tests;
