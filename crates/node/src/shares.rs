//! Key shares at rest: one sealed key file for each, written whole, never replaced.
//!
//! The readable part of a file names the scheme and the group's public key. The sealed part holds
//! the share and everything that a signature depends on: who the parties are, in which order, and
//! how many sign. So nobody without the storage key can make a node sign with other parties.

use crate::error::Error;
use crate::folder::{read_bounded, write_new};
use crate::identity::domain_hash;
use libp2p::PeerId;
use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};
use rand_core::CryptoRng;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tetralith_keyfile::{Cost, KeyFile, MAX_TEXT, Protection};
use zeroize::{Zeroize, Zeroizing};

const KIND: &str = "tss-share";
const KEY_ID: &str = "tetralith/node/key/1";

/// The name of a key: a hash of its scheme and public key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct KeyId(pub(crate) [u8; 16]);

impl KeyId {
    /// The name of `public_key` in `scheme`.
    pub(crate) fn of(scheme: &str, public_key: &[u8]) -> Self {
        let hash = domain_hash(KEY_ID, &[scheme.as_bytes(), public_key]);
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        KeyId(id)
    }

    /// Reads 32 hex digits.
    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        hex::decode(text).ok()?.try_into().ok().map(KeyId)
    }
}

impl core::fmt::Display for KeyId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl core::fmt::Debug for KeyId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl Serialize for KeyId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a node knows of a key, without the share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The key's name.
    pub(crate) id: KeyId,
    /// The protocol and curve, such as `dkls23-secp256k1`.
    pub(crate) scheme: String,
    /// The group's public key, in the scheme's encoding.
    pub(crate) public_key: Vec<u8>,
    /// How many parties sign.
    pub(crate) threshold: u8,
    /// All parties; the position, from 1, is the party's number.
    pub(crate) parties: Vec<PeerId>,
}

/// The sealed part of a file.
#[derive(Encode, Decode)]
#[cbor(array)]
struct Sealed {
    #[n(0)]
    threshold: u8,
    #[n(1)]
    parties: Vec<ByteVec>,
    #[n(2)]
    share: ByteVec,
}

/// The shares of a node.
#[derive(Debug)]
pub(crate) struct Shares {
    folder: PathBuf,
    storage_key: StorageKey,
    keys: Mutex<BTreeMap<KeyId, Arc<Key>>>,
}

/// What shares are sealed under; full entropy, so its derivation need not be slow.
struct StorageKey(Zeroizing<[u8; 32]>);

impl core::fmt::Debug for StorageKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("StorageKey")
    }
}

impl Shares {
    /// Opens every share of the folder once, so that a damaged one shows now.
    pub(crate) fn open(folder: &Path, storage_key: Zeroizing<[u8; 32]>) -> Result<Self, Error> {
        let storage_key = StorageKey(storage_key);
        let mut keys = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(Error::file(folder))? {
            let path = entry.map_err(Error::file(folder))?.path();
            if path.extension().is_some_and(|extension| extension == "share") {
                let (key, _share) = read(&path, &storage_key)?;
                keys.insert(key.id, Arc::new(key));
            }
        }
        Ok(Shares { folder: folder.to_owned(), storage_key, keys: Mutex::new(keys) })
    }

    /// All keys, by name.
    pub(crate) fn keys(&self) -> Vec<Arc<Key>> {
        self.lock().values().cloned().collect()
    }

    /// The key of this name.
    pub(crate) fn key(&self, id: &KeyId) -> Option<Arc<Key>> {
        self.lock().get(id).cloned()
    }

    /// Stores a share, durably, and refuses to replace one.
    pub(crate) fn insert(
        &self,
        key: Key,
        share: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Arc<Key>, Error> {
        let path = self.path(&key.id);
        let parties = key.parties.iter().map(|id| id.to_bytes().into()).collect();
        let mut sealed = Sealed { threshold: key.threshold, parties, share: share.to_vec().into() };
        let secret = minicbor::to_vec(&sealed).expect("a vector takes all bytes");
        sealed.share.zeroize();
        let secret = Zeroizing::new(secret);
        let protection = Protection::Key(&self.storage_key.0);
        let file = KeyFile::public(KIND, &key.scheme, &key.public_key)
            .seal(&secret, protection, Cost::STANDARD, rng)
            .map_err(Error::key_file(&path))?;
        write_new(&path, file.to_text().as_bytes())?;
        let key = Arc::new(key);
        self.lock().insert(key.id, key.clone());
        Ok(key)
    }

    /// Reads the share of a key.
    pub(crate) fn share(&self, id: &KeyId) -> Result<Zeroizing<Vec<u8>>, Error> {
        let path = self.path(id);
        let (key, share) = read(&path, &self.storage_key)?;
        if key.id != *id {
            return Err(Error::Malformed { path, reason: format!("holds a share of {}", key.id) });
        }
        Ok(share)
    }

    fn path(&self, id: &KeyId) -> PathBuf {
        self.folder.join(format!("{id}.share"))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<KeyId, Arc<Key>>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(path: &Path, storage_key: &StorageKey) -> Result<(Key, Zeroizing<Vec<u8>>), Error> {
    let malformed =
        |reason: &str| Error::Malformed { path: path.to_owned(), reason: reason.into() };
    let text = Zeroizing::new(read_bounded(path, MAX_TEXT as u64)?);
    let file = KeyFile::from_text(&text).map_err(Error::key_file(path))?;
    if file.kind != KIND {
        return Err(malformed("is not a key share"));
    }
    let secret = file.open_with_key(&storage_key.0).map_err(Error::key_file(path))?;
    let sealed: Sealed =
        minicbor::decode(&secret).map_err(|error| malformed(&error.to_string()))?;
    let share = Zeroizing::new(sealed.share.into());
    let parties = sealed.parties.iter().map(|bytes| PeerId::from_bytes(bytes));
    let key = Key {
        id: KeyId::of(&file.params, &file.public),
        scheme: file.params,
        public_key: file.public,
        threshold: sealed.threshold,
        parties: parties.collect::<Result<_, _>>().map_err(|_| malformed("names no peer"))?,
    };
    Ok((key, share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;
    use chacha20::ChaCha20Rng;
    use rand_core::SeedableRng;

    fn key() -> Key {
        let parties = (1..=3).map(|seed| Identity::from_seed(&[seed; 32]).id()).collect();
        let (scheme, public_key) = ("test".to_owned(), vec![1, 2, 3]);
        Key { id: KeyId::of(&scheme, &public_key), scheme, public_key, threshold: 2, parties }
    }

    fn open(folder: &Path, storage_key: u8) -> Result<Shares, Error> {
        Shares::open(folder, Zeroizing::new([storage_key; 32]))
    }

    #[test]
    fn shares_survive_a_restart_and_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let shares = open(folder.path(), 1).unwrap();
        shares.insert(key(), b"share", &mut rng).unwrap();
        assert!(matches!(shares.insert(key(), b"other", &mut rng), Err(Error::Exists(_))));
        let shares = open(folder.path(), 1).unwrap();
        assert_eq!(*shares.key(&key().id).unwrap(), key());
        assert_eq!(shares.share(&key().id).unwrap().as_slice(), b"share");
        assert_eq!(shares.keys().len(), 1);
    }

    #[test]
    fn a_share_is_sealed_and_damage_shows_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let shares = open(folder.path(), 1).unwrap();
        shares.insert(key(), b"a very secret share", &mut rng).unwrap();
        let path = shares.path(&key().id);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&hex::encode(b"secret")));
        assert!(matches!(open(folder.path(), 2), Err(Error::KeyFile { .. })));
        std::fs::write(&path, text.replace("010203", "010204")).unwrap();
        assert!(matches!(open(folder.path(), 1), Err(Error::KeyFile { .. })));
        std::fs::write(&path, &text[..100]).unwrap();
        assert!(matches!(open(folder.path(), 1), Err(Error::KeyFile { .. })));
    }

    #[test]
    fn a_share_under_another_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let shares = open(folder.path(), 1).unwrap();
        shares.insert(key(), b"share", &mut rng).unwrap();
        let other = KeyId([9; 16]);
        std::fs::copy(shares.path(&key().id), shares.path(&other)).unwrap();
        assert!(matches!(shares.share(&other), Err(Error::Malformed { .. })));
    }
}
