//! Key shares at rest: one sealed key file for each, written whole; its share is never replaced.
//!
//! The readable part of a file names the scheme and the group's public key. The sealed part holds
//! the share and everything that a signature depends on: who the parties are, in which order, and
//! how many sign. So nobody without the storage key can make a node sign with other parties.
//!
//! The peers with which the share must not be used again are in the sealed part too: they belong to
//! this share, and no other file's loss or restoration makes them usable. The file is then written
//! anew and renamed over the old one, with the same share.

use crate::ceremony::lock;
use crate::error::Error;
use crate::folder::{read_bounded, replace, sync_folder, write_new};
use crate::identity::domain_hash;
use libp2p::PeerId;
use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};
use rand_core::CryptoRng;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tetralith_keyfile::{Cost, KeyFile, MAX_TEXT, Protection};
use zeroize::{Zeroize, Zeroizing};

const KIND: &str = "tss-share";
/// The most bytes before an item of CBOR.
const HEAD: usize = 9;
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
    /// The peers whose pairwise setup in this share is retired; none before the first.
    #[n(3)]
    retired: Option<Vec<ByteVec>>,
}

/// A share's file, opened.
struct Opened {
    key: Key,
    share: Zeroizing<Vec<u8>>,
    retired: Vec<PeerId>,
}

/// The shares of a node.
#[derive(Debug)]
pub(crate) struct Shares {
    folder: PathBuf,
    storage_key: StorageKey,
    keys: Mutex<BTreeMap<KeyId, Arc<Key>>>,
    /// The files that could not be read when they were last needed, and why. They stay where they are.
    damaged: Mutex<BTreeMap<String, String>>,
    /// The keys that this node must have a share of.
    expected: Mutex<BTreeSet<KeyId>>,
    /// What the files said of retired setups when they were opened.
    retired: Vec<(KeyId, PeerId)>,
}

/// What shares are sealed under; full entropy, so its derivation need not be slow.
struct StorageKey(Box<Zeroizing<[u8; 32]>>);

impl core::fmt::Debug for StorageKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("StorageKey")
    }
}

impl Shares {
    /// Opens every share of the folder once. A damaged one is set apart: it is reported, and the others
    /// are served.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub(crate) fn open(
        folder: &Path,
        storage_key: Box<Zeroizing<[u8; 32]>>,
    ) -> Result<Self, Error> {
        let storage_key = StorageKey(storage_key);
        let (mut keys, mut damaged) = (BTreeMap::new(), BTreeMap::new());
        let mut retired = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(Error::file(folder))? {
            let path = entry.map_err(Error::file(folder))?.path();
            if path.extension().is_some_and(|extension| extension == "share") {
                match read_named(&path, &storage_key) {
                    Ok(opened) => {
                        let id = opened.key.id;
                        retired.extend(opened.retired.into_iter().map(|peer| (id, peer)));
                        keys.insert(id, Arc::new(opened.key));
                    }
                    Err(error) => drop(damaged.insert(file_name(&path), error.to_string())),
                }
            }
        }
        let (keys, damaged) = (Mutex::new(keys), Mutex::new(damaged));
        let expected = Mutex::default();
        Ok(Shares { folder: folder.to_owned(), storage_key, keys, damaged, expected, retired })
    }

    /// The retired pairwise setups, as the files had them when they were opened.
    pub(crate) fn retired(&self) -> &[(KeyId, PeerId)] {
        &self.retired
    }

    /// Names the keys that this node must have a share of, besides those that it has.
    pub(crate) fn expect(&self, keys: &[KeyId]) {
        let mut expected = lock(&self.expected);
        expected.extend(keys);
        expected.extend(self.lock().keys());
    }

    /// The files that are damaged, by name, and why.
    pub(crate) fn damaged(&self) -> Vec<(String, String)> {
        lock(&self.damaged).iter().map(|(file, why)| (file.clone(), why.clone())).collect()
    }

    /// The keys whose file is not there.
    pub(crate) fn lost(&self) -> Vec<KeyId> {
        let expected: Vec<_> = lock(&self.expected).iter().copied().collect();
        expected.into_iter().filter(|id| !self.path(id).exists()).collect()
    }

    /// Deletes the share of a key for good.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be deleted.
    pub(crate) fn delete(&self, id: &KeyId) -> Result<(), Error> {
        let path = self.path(id);
        std::fs::remove_file(&path).map_err(Error::file(&path))?;
        self.lock().remove(id);
        lock(&self.expected).remove(id);
        sync_folder(&self.folder)
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
        write_new(&path, self.seal(&key, share, &[], rng)?.as_bytes())?;
        let key = Arc::new(key);
        self.lock().insert(key.id, key.clone());
        lock(&self.expected).insert(key.id);
        Ok(key)
    }

    /// Reads the share of a key.
    pub(crate) fn share(&self, id: &KeyId) -> Result<Zeroizing<Vec<u8>>, Error> {
        Ok(self.opened(id)?.share)
    }

    /// Writes into the share's file that it must not be used with `peer` again.
    pub(crate) fn retire(
        &self,
        id: &KeyId,
        peer: &PeerId,
        rng: &mut impl CryptoRng,
    ) -> Result<(), Error> {
        let Opened { key, share, mut retired } = self.opened(id)?;
        if !retired.contains(peer) {
            retired.push(*peer);
            replace(&self.path(id), self.seal(&key, &share, &retired, rng)?.as_bytes())?;
        }
        Ok(())
    }

    fn opened(&self, id: &KeyId) -> Result<Opened, Error> {
        let path = self.path(id);
        let read = read_named(&path, &self.storage_key);
        let mut damaged = lock(&self.damaged);
        match &read {
            // It may have been restored.
            Ok(_) => drop(damaged.remove(&file_name(&path))),
            Err(error) => drop(damaged.insert(file_name(&path), error.to_string())),
        }
        read
    }

    /// The text of a share's file.
    fn seal(
        &self,
        key: &Key,
        share: &[u8],
        retired: &[PeerId],
        rng: &mut impl CryptoRng,
    ) -> Result<Zeroizing<String>, Error> {
        let encoded = |peers: &[PeerId]| peers.iter().map(|id| id.to_bytes().into()).collect();
        let mut sealed = Sealed {
            threshold: key.threshold,
            parties: encoded(&key.parties),
            share: share.to_vec().into(),
            retired: (!retired.is_empty()).then(|| encoded(retired)),
        };
        // Room for all of it from the beginning: a vector that grows leaves copies of the share behind.
        let peers = key.parties.iter().chain(retired).map(|id| id.to_bytes().len() + HEAD);
        let len = peers.sum::<usize>() + share.len() + 5 * HEAD;
        let mut secret = Zeroizing::new(Vec::with_capacity(len));
        minicbor::encode(&sealed, &mut *secret).expect("a vector takes all bytes");
        sealed.share.zeroize();
        let protection = Protection::Key(&self.storage_key.0);
        let file = KeyFile::public(KIND, &key.scheme, &key.public_key)
            .seal(&secret, protection, Cost::STANDARD, rng)
            .map_err(Error::key_file(&self.path(&key.id)))?;
        Ok(file.to_text())
    }

    fn path(&self, id: &KeyId) -> PathBuf {
        self.folder.join(format!("{id}.share"))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<KeyId, Arc<Key>>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads the share of the key that names the file.
fn read_named(path: &Path, storage_key: &StorageKey) -> Result<Opened, Error> {
    let opened = read(path, storage_key)?;
    let id = opened.key.id;
    if path.file_stem() != Some(id.to_string().as_ref()) {
        let reason = format!("holds a share of key {id}, not of the key it is named after");
        return Err(Error::Malformed { path: path.to_owned(), reason });
    }
    Ok(opened)
}

fn read(path: &Path, storage_key: &StorageKey) -> Result<Opened, Error> {
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
    let peers = |list: &[ByteVec]| {
        let peers = list.iter().map(|bytes| PeerId::from_bytes(bytes));
        peers.collect::<Result<Vec<_>, _>>().map_err(|_| malformed("names no peer"))
    };
    let retired = peers(sealed.retired.as_deref().unwrap_or_default())?;
    let key = Key {
        id: KeyId::of(&file.params, &file.public),
        scheme: file.params,
        public_key: file.public,
        threshold: sealed.threshold,
        parties: peers(&sealed.parties)?,
    };
    Ok(Opened { key, share, retired })
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
        Shares::open(folder, Box::new(Zeroizing::new([storage_key; 32])))
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

    /// What is retired is in the share's file, and the share in it stays the same.
    #[test]
    fn retirements_are_kept_with_the_share() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let shares = open(folder.path(), 1).unwrap();
        shares.insert(key(), b"share", &mut rng).unwrap();
        let (id, peers) = (key().id, key().parties);
        assert!(shares.retire(&KeyId([0; 16]), &peers[1], &mut rng).is_err());
        for peer in [peers[1], peers[2], peers[1]] {
            shares.retire(&id, &peer, &mut rng).unwrap();
        }
        let shares = open(folder.path(), 1).unwrap();
        assert_eq!(shares.retired(), [(id, peers[1]), (id, peers[2])]);
        assert_eq!(shares.share(&id).unwrap().as_slice(), b"share");
        assert_eq!(*shares.key(&id).unwrap(), key());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
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
        let set_apart = |storage_key| {
            let shares = open(folder.path(), storage_key).unwrap();
            let damaged = shares.damaged();
            assert!(damaged.len() == 1 && shares.keys().is_empty(), "{damaged:?}");
            assert!(shares.share(&key().id).is_err());
            assert_eq!(damaged[0].0, format!("{}.share", key().id));
        };
        set_apart(2);
        std::fs::write(&path, text.replace("010203", "010204")).unwrap();
        set_apart(1);
        std::fs::write(&path, &text[..100]).unwrap();
        set_apart(1);
        std::fs::write(&path, text).unwrap();
        assert!(open(folder.path(), 1).unwrap().damaged().is_empty());
    }

    #[test]
    fn a_damaged_share_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let shares = open(folder.path(), 1).unwrap();
        shares.insert(key(), b"share", &mut rng).unwrap();
        let (public_key, id) = (vec![4], KeyId::of("test", &[4]));
        shares.insert(Key { id, public_key, ..key() }, b"other", &mut rng).unwrap();
        std::fs::write(shares.path(&id), "{}").unwrap();
        let shares = open(folder.path(), 1).unwrap();
        assert_eq!(shares.keys().len(), 1);
        assert_eq!(shares.share(&key().id).unwrap().as_slice(), b"share");
        assert_eq!(shares.damaged().len(), 1);
        // A file that is gone is missed only if the key is known from elsewhere.
        shares.expect(&[id]);
        assert!(shares.lost().is_empty());
        std::fs::remove_file(shares.path(&id)).unwrap();
        assert_eq!(shares.lost(), [id]);
        shares.delete(&key().id).unwrap();
        assert!(shares.keys().is_empty() && shares.lost() == [id]);
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
