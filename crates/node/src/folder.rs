//! A node's folder: configuration, identity, API token, key shares and the ceremony log.
//!
//! | file | content | readable by |
//! |---|---|---|
//! | `node.toml` | the configuration | everyone |
//! | `node.key` | identity seed and storage key, in a key file under the passphrase | owner |
//! | `api.token` | what API clients show to change anything | owner |
//! | `read.token` | what API clients show that may only read | owner |
//! | `node.db` | the ceremony log (SQLite) | owner |
//! | `shares/` | one key file for each key share, sealed under the storage key | owner |
//! | `lock` | held by the process that runs the node | owner |
//!
//! The passphrase guards one file by a slow key derivation; the storage key inside it has full
//! entropy, so that storing and reading shares costs no further slow derivations, and changing the
//! passphrase rewrites one file.

use crate::config::Config;
use crate::error::Error;
use crate::identity::{Identity, new_seed, wipe_stack};
use rand_core::CryptoRng;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tetralith_keyfile::{Cost, Exposure, KeyFile, Protection};
use zeroize::Zeroizing;

const KEY_KIND: &str = "node";
const KEY_PARAMS: &str = "ed25519";
/// The longest small file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Where a node keeps what it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

/// The secrets of a folder, opened.
pub(crate) struct Secrets {
    pub(crate) identity: Identity,
    /// What key shares are sealed under. In a box, so that no copy stays where it was moved from.
    pub(crate) storage: Box<Zeroizing<[u8; 32]>>,
}

impl Folder {
    /// Names a folder, which need not exist yet.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Folder { root: root.to_owned() }
    }

    /// The folder's path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of `node.toml`.
    #[must_use]
    pub fn config_path(&self) -> PathBuf {
        self.root.join("node.toml")
    }

    /// The path of the file that holds the API token.
    #[must_use]
    pub fn token_path(&self) -> PathBuf {
        self.root.join("api.token")
    }

    pub(crate) fn key_path(&self) -> PathBuf {
        self.root.join("node.key")
    }

    pub(crate) fn shares_path(&self) -> PathBuf {
        self.root.join("shares")
    }

    pub(crate) fn database_path(&self) -> PathBuf {
        self.root.join("node.db")
    }

    /// Makes the folder with a new identity and API token, and returns the identity.
    ///
    /// The configuration is written by [`Self::write_config`], once the peers are known.
    ///
    /// # Errors
    /// [`Error::Exists`] if the folder holds an identity already; [`Error::File`] if it cannot be
    /// written.
    pub fn create(
        &self,
        protection: Protection<'_>,
        cost: Cost,
        rng: &mut impl CryptoRng,
    ) -> Result<Identity, Error> {
        if self.key_path().exists() {
            return Err(Error::Exists(self.key_path()));
        }
        make_private_folder(&self.root)?;
        make_private_folder(&self.shares_path())?;
        let seed = new_seed(rng);
        let identity = Identity::from_seed(&seed);
        let secret = Zeroizing::new([*seed, *new_seed(rng)].concat());
        let file = KeyFile::public(KEY_KIND, KEY_PARAMS, &identity.id().to_bytes())
            .seal(&secret, protection, cost, rng)
            .map_err(Error::key_file(&self.key_path()))?;
        self.read_token(rng)?;
        let token = Zeroizing::new(hex::encode(new_seed(rng).as_slice()));
        write_new(&self.token_path(), token.as_bytes())?;
        write_new(&self.key_path(), file.to_text().as_bytes())?;
        Ok(identity)
    }

    /// Writes `node.toml`, replacing an earlier one.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be written.
    pub fn write_config(&self, config: &Config) -> Result<(), Error> {
        replace(&self.config_path(), config.to_toml().as_bytes())
    }

    /// Reads and checks `node.toml`.
    ///
    /// # Errors
    /// The file cannot be read, or [`Error::Config`] names what is wrong in it.
    pub fn config(&self) -> Result<Config, Error> {
        Config::from_toml(&read_text(&self.config_path())?)
    }

    /// Reads the API token.
    ///
    /// # Errors
    /// The file cannot be read, or does not hold a token.
    pub fn token(&self) -> Result<Zeroizing<String>, Error> {
        token(self.token_path())
    }

    /// Reads the token that may only read, and makes it where there is none.
    pub(crate) fn read_token(&self, rng: &mut impl CryptoRng) -> Result<Zeroizing<String>, Error> {
        let path = self.root.join("read.token");
        if !path.exists() {
            let token = Zeroizing::new(hex::encode(new_seed(rng).as_slice()));
            write_new(&path, token.as_bytes())?;
        }
        token(path)
    }

    /// Says whether a passphrase is needed to start the node.
    ///
    /// # Errors
    /// The key file cannot be read.
    pub fn needs_passphrase(&self) -> Result<bool, Error> {
        Ok(self.key_file()?.is_encrypted())
    }

    /// Opens the identity and the storage key.
    ///
    /// # Security
    /// The copies that the compiler leaves on the stack are overwritten.
    pub(crate) fn open(&self, passphrase: Option<&[u8]>) -> Result<Secrets, Error> {
        let opened = self.open_and_leave(passphrase);
        wipe_stack::<{ 64 << 10 }>();
        opened
    }

    #[inline(never)]
    fn open_and_leave(&self, passphrase: Option<&[u8]>) -> Result<Secrets, Error> {
        let path = self.key_path();
        check_private(&path)?;
        let file = self.key_file()?;
        let secret = file.open(passphrase).map_err(Error::key_file(&path))?;
        let malformed =
            |reason: &str| Error::Malformed { path: path.clone(), reason: reason.into() };
        let (seed, storage) = secret.split_at_checked(32).ok_or_else(|| malformed("too short"))?;
        let to_key = |bytes: &[u8]| <[u8; 32]>::try_from(bytes).map(Zeroizing::new);
        let seed = to_key(seed).map_err(|_| malformed("too short"))?;
        let storage = to_key(storage).map_err(|_| malformed("the secret is not 64 bytes long"))?;
        let storage = Box::new(storage);
        let identity = Identity::from_seed(&seed);
        if identity.id().to_bytes() != file.public {
            return Err(malformed("the public part is not that of the secret part"));
        }
        Ok(Secrets { identity, storage })
    }

    /// Takes the folder for this process until the returned file is dropped or the process ends.
    pub(crate) fn lock(&self) -> Result<std::fs::File, Error> {
        let path = self.root.join("lock");
        let mut options = std::fs::OpenOptions::new();
        options.create(true).truncate(false).write(true);
        owner_only(&mut options);
        let file = options.open(&path).map_err(Error::file(&path))?;
        file.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => {
                Error::Malformed { path, reason: "another process runs this node".into() }
            }
            std::fs::TryLockError::Error(source) => Error::File { path, source },
        })?;
        Ok(file)
    }

    fn key_file(&self) -> Result<KeyFile, Error> {
        let path = self.key_path();
        let text = Zeroizing::new(read_text(&path)?);
        let file = KeyFile::from_text(&text).map_err(Error::key_file(&path))?;
        if (file.kind.as_str(), file.params.as_str()) != (KEY_KIND, KEY_PARAMS) {
            let reason = format!("is a key of kind {:?}, not a node's", file.kind);
            return Err(Error::Malformed { path, reason });
        }
        Ok(file)
    }
}

/// Reads a token: 64 hex digits.
fn token(path: PathBuf) -> Result<Zeroizing<String>, Error> {
    check_private(&path)?;
    let text = Zeroizing::new(read_text(&path)?);
    let token = text.trim();
    if token.len() != 64 || !token.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(Error::Malformed { path, reason: "is not 64 hex digits".into() });
    }
    Ok(Zeroizing::new(token.to_owned()))
}

/// Writes a whole new file, readable by its owner only; an existing one stays.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Temporary files are made with mode 0600, which the rename keeps.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::file(path))?;
    file.write_all(bytes).map_err(Error::file(path))?;
    file.as_file().sync_all().map_err(Error::file(path))?;
    file.persist_noclobber(path).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::Exists(path.to_owned()),
        _ => Error::file(path)(error.error),
    })?;
    sync_folder(folder)
}

/// Warns about a secret file that other users may read, and refuses one that everyone may change.
pub(crate) fn check_private(path: &Path) -> Result<(), Error> {
    let found = std::fs::metadata(path).map_err(Error::file(path))?;
    match Exposure::of(&found) {
        Exposure::Private => Ok(()),
        Exposure::Readable(mode) => {
            let path = path.display();
            tracing::warn!(
                "{path} has mode {mode:o}: other users can read it; run chmod 600 {path}"
            );
            Ok(())
        }
        Exposure::Writable(mode) => Err(Error::Exposed { path: path.to_owned(), mode }),
    }
}

/// Writes a whole file, readable by its owner only, over an earlier one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(Error::file(path))?;
    file.write_all(bytes).map_err(Error::file(path))?;
    file.as_file().sync_all().map_err(Error::file(path))?;
    file.persist(path).map_err(|error| Error::file(path)(error.error))?;
    sync_folder(folder)
}

/// Reads a text file, at most 1 MiB of it.
fn read_text(path: &Path) -> Result<String, Error> {
    read_bounded(path, MAX_FILE)
}

/// Reads a text file and refuses more than `limit` bytes.
pub(crate) fn read_bounded(path: &Path, limit: u64) -> Result<String, Error> {
    let file = std::fs::File::open(path).map_err(Error::file(path))?;
    // Room for all of it from the beginning: a text that grows leaves copies of secrets behind.
    let len = file.metadata().map_err(Error::file(path))?.len().min(limit);
    let mut text = String::with_capacity(len as usize + 64);
    file.take(limit + 1).read_to_string(&mut text).map_err(Error::file(path))?;
    if text.len() as u64 > limit {
        let reason = format!("is longer than {limit} bytes");
        return Err(Error::Malformed { path: path.to_owned(), reason });
    }
    Ok(text)
}

fn make_private_folder(path: &Path) -> Result<(), Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(Error::file(path))
}

fn owner_only(options: &mut std::fs::OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// Makes a rename in `folder` durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    std::fs::File::open(folder).and_then(|f| f.sync_all()).map_err(Error::file(folder))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;

    fn new_folder(protection: Protection<'_>) -> (tempfile::TempDir, Folder, Identity) {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::new(&root.path().join("a"));
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let identity = folder.create(protection, Cost::LEAST, &mut rng).unwrap();
        (root, folder, identity)
    }

    #[test]
    fn a_new_folder_opens_with_its_passphrase() {
        let (_root, folder, identity) = new_folder(Protection::Passphrase(b"pass"));
        assert!(folder.needs_passphrase().unwrap());
        assert_eq!(folder.open(Some(b"pass")).unwrap().identity.id(), identity.id());
        assert!(matches!(folder.open(Some(b"wrong")), Err(Error::KeyFile { .. })));
        assert_eq!(folder.token().unwrap().len(), 64);
    }

    #[test]
    fn an_identity_is_never_replaced() {
        let (_root, folder, _) = new_folder(Protection::None);
        let mut rng = ChaCha20Rng::from_seed([2; 32]);
        let again = folder.create(Protection::None, Cost::LEAST, &mut rng);
        assert!(matches!(again, Err(Error::Exists(_))));
    }

    #[cfg(unix)]
    #[test]
    fn secrets_are_readable_by_their_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let (_root, folder, _) = new_folder(Protection::None);
        for path in [folder.key_path(), folder.token_path()] {
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
        }
        let mode = std::fs::metadata(folder.shares_path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_folder_runs_once_at_a_time() {
        let (_root, folder, _) = new_folder(Protection::None);
        let held = folder.lock().unwrap();
        let error = folder.lock().unwrap_err().to_string();
        assert!(error.contains("another process runs this node"), "{error}");
        drop(held);
        folder.lock().unwrap();
    }

    #[test]
    fn malformed_folders_say_what_is_wrong() {
        let (_root, folder, _) = new_folder(Protection::None);
        std::fs::write(folder.token_path(), "short").unwrap();
        assert!(folder.token().unwrap_err().to_string().contains("is not 64 hex digits"));
        let text = std::fs::read_to_string(folder.key_path()).unwrap();
        let file = KeyFile::from_text(&text).unwrap();
        let rewritten = |kind: &str, public: &[u8]| {
            let (secret, mut rng) = (file.open(None).unwrap(), ChaCha20Rng::from_seed([8; 32]));
            let changed = KeyFile::public(kind, KEY_PARAMS, public);
            let sealed = changed.seal(&secret, Protection::None, Cost::LEAST, &mut rng).unwrap();
            sealed.to_text().to_string()
        };
        let other = [&[1], &file.public[1..]].concat();
        let cases = [
            (rewritten("vrf", &file.public), "is a key of kind \"vrf\""),
            (rewritten(KEY_KIND, &other), "not that of the secret"),
            (text.replace("\"node\"", "\"vrf\""), "its checksum does not fit"),
            (text[..40].to_owned(), "not a key file"),
            ("x".repeat(2 << 20), "longer than"),
        ];
        for (text, named) in cases {
            std::fs::write(folder.key_path(), text).unwrap();
            let error = folder.open(None).err().unwrap().to_string();
            assert!(error.contains(named), "{error}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn secrets_that_everyone_may_change_are_refused() {
        use std::os::unix::fs::PermissionsExt;
        let (_root, folder, _) = new_folder(Protection::None);
        let chmod = |path: &Path, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        for path in [folder.key_path(), folder.token_path()] {
            let is_refused = || {
                let found = [folder.token().err(), folder.open(None).err()];
                found.into_iter().flatten().any(|error| matches!(error, Error::Exposed { .. }))
            };
            for (mode, refused) in [(0o600, false), (0o644, false), (0o666, true), (0o602, true)] {
                chmod(&path, mode);
                assert_eq!(is_refused(), refused, "{} {mode:o}", path.display());
            }
            chmod(&path, 0o600);
        }
    }
}
