//! XMSS keys on a disk.
//!
//! A key is an encrypted file, and beside it lie its state (or a note of where the state is), its trees,
//! and what an interrupted command left. A [`Keyring`] owns the names of these files and the order in
//! which they are written, so that a process may be killed at any moment: no index is used twice, no
//! key exists without its state, and the next call finishes what was interrupted.
//!
//! Nothing is printed here, and no environment variable is read. The clock and the randomness are
//! parameters.
//!
//! ```
//! use tetralith_keyfile::Protection;
//! use tetralith_keyring::{Keyring, NewKey, Options, Secret};
//! use tetralith_xmss::{Params, Progress, SecretKey};
//! # use rand_core::SeedableRng;
//! # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("key");
//! let params = Params::from_name("XMSS-SHA2_10_256")?;
//! let key = SecretKey::generate(params, &mut rng, &Progress::silent())?;
//! let (options, now) = (Options::default(), 1_700_000_000);
//! let secret = Secret { key, qrl: None };
//! let new = NewKey::new(&secret, Protection::Passphrase(b"correct horse"));
//! let keyring = Keyring::create(&path, &options, new, now, &mut rng)?;
//!
//! let mut signer = keyring.signer(Some(b"correct horse"))?;
//! let signature = signer.sign(b"message", now)?;
//! keyring.public_key().verify(b"message", &signature)?;
//! signer.close(now)?;
//! assert_eq!(Keyring::open(&path, &options)?.status()?.status.used, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Security
//! `docs/xmss-state.md` says what is promised, what cannot be, and which test shows it.

mod create;
mod error;
mod export;
mod place;
mod restore;
mod secret;
mod store;

pub use create::NewKey;
pub use error::Error;
pub use export::Export;
pub use place::{Files, Place};
pub use secret::{KIND, Secret, decode, encode, public_of};
pub use store::Store;

use std::io::Read;
use std::path::Path;
use std::time::Duration;
use store::Site;
use tetralith_durable::open_regular;
use tetralith_keyfile::{Exposure, KeyFile, MAX_TEXT};
use tetralith_xmss::state::{self, Lease, StateError};
use tetralith_xmss::{PublicKey, Signer};
use zeroize::Zeroizing;

/// How a key's state is reached.
#[derive(Clone)]
pub struct Options {
    /// The URL of the store: `sqlite:PATH`, `file:PATH`, `postgres://…` or `etcd://…`; where it is
    /// `None`, the state is `sqlite:KEY.state`.
    pub store: Option<String>,
    /// How long to wait for another process that has the state open.
    pub wait: Duration,
    /// The name of this machine, to be told to whoever finds the state in use.
    pub host: String,
}

impl Default for Options {
    /// The state beside the key, ten seconds, and the name that the system has for the machine.
    fn default() -> Self {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = if name.trim().is_empty() { "this host" } else { name.trim() };
        Self { store: None, wait: Duration::from_secs(10), host: host.to_owned() }
    }
}

impl core::fmt::Debug for Options {
    /// Without the URL, which may have a password.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Options").field("wait", &self.wait).finish_non_exhaustive()
    }
}

/// A key file with everything that belongs to it. See the [crate](self).
#[derive(Debug)]
pub struct Keyring {
    site: Site,
    file: KeyFile,
    public: PublicKey,
}

/// How a key's indices are spent, and whether it would sign.
#[derive(Debug)]
pub struct Status {
    /// The counts.
    pub status: state::Status,
    /// Why signing is refused, if it is.
    pub refused: Option<StateError>,
}

impl Keyring {
    /// Reads the key file at a path. The state is not opened.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::KeyFile`], [`Error::Kind`], [`Error::UnknownStore`].
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let mut text = Zeroizing::new(String::new());
        let file = open_regular(path, std::fs::OpenOptions::new().read(true));
        file.and_then(|file| file.take(MAX_TEXT as u64 + 1).read_to_string(&mut text))
            .map_err(Error::file(path))?;
        let file = KeyFile::from_text(&text);
        let file = file.map_err(|source| Error::KeyFile { path: path.to_owned(), source })?;
        Self::of(path, file, options)
    }

    /// As [`open`](Self::open), of a key file that was read at that path already.
    ///
    /// # Errors
    /// [`Error::Kind`], [`Error::Malformed`], [`Error::Key`], [`Error::UnknownStore`].
    pub fn of(path: &Path, file: KeyFile, options: &Options) -> Result<Self, Error> {
        let public = public_of(&file, path)?;
        Ok(Self { site: Site::new(path, options)?, file, public })
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Whether the secret needs a passphrase.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.file.is_encrypted()
    }

    /// The names of the files that belong to the key.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.site.files
    }

    /// Opens the secret.
    ///
    /// # Errors
    /// [`Error::Exposed`] where every user may change the key file; [`Error::KeyFile`] where the passphrase is wrong, missing or superfluous; [`Error::Malformed`].
    pub fn secret(&self, passphrase: Option<&[u8]>) -> Result<Secret, Error> {
        let found = std::fs::metadata(self.site.files.key());
        if let Ok(Exposure::Writable(mode)) = found.map(|found| Exposure::of(&found)) {
            return Err(Error::Exposed { path: self.site.name.clone(), mode });
        }
        Secret::open(&self.file, &self.site.name, passphrase)
    }

    /// Opens the key and its state for signing. Trees are kept beside the key.
    ///
    /// # Errors
    /// As [`secret`](Self::secret), and as [`sign_with`](Self::sign_with).
    pub fn signer(&self, passphrase: Option<&[u8]>) -> Result<Signer<Store>, Error> {
        self.sign_with(self.secret(passphrase)?)
    }

    /// Opens the state for signing with a secret of this key that was opened already.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::State`], [`Error::Linked`].
    pub fn sign_with(&self, secret: Secret) -> Result<Signer<Store>, Error> {
        let store = self.site.open(&self.public)?;
        let opened = Signer::open(secret.key, store, self.site.holder());
        let mut signer = opened.map_err(|error| match error {
            tetralith_xmss::Error::State(error) => self.site.refused(error),
            error => error.into(),
        })?;
        signer.set_cache(&self.site.files.nodes());
        Ok(signer)
    }

    /// How the indices are spent. The state is read and not opened: another process may be signing.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::State`] where it cannot be read or is another key's.
    pub fn status(&self) -> Result<Status, Error> {
        let found = self.site.glance(&self.public)?;
        Ok(Status { status: state::Status::from(&found.record), refused: found.refused })
    }

    /// Hands out `count` indices for good, to a holder that keeps its own count.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::State`].
    pub fn reserve(&self, count: u64, now: u64) -> Result<(Lease, state::Status), Error> {
        let mut state = self.site.reservations(&self.public)?;
        let lease = state.reserve_for(count, now).map_err(|error| self.site.refused(error))?;
        Ok((lease, state.status()))
    }
}
