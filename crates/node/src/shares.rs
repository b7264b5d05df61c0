//! Key shares at rest: one sealed key file for each, written whole; its share is never replaced.
//!
//! The readable part of a file names the scheme and the group's public key. The sealed part holds
//! the share and everything that a signature depends on: who the parties are, in which order, and
//! how many sign. So nobody without the storage key can make a node sign with other parties.
//!
//! The peers with which the share must not be used again are in the sealed part too: they belong to
//! this share, and no other file's loss or restoration makes them usable. The file is then written
//! anew and renamed over the old one, with the same share.
//!
//! A key has *sharings*, numbered from 0, each with a file of its own. A resharing first stores the new
//! share beside the old one ([`Shares::prepare`]). The old one is deleted only with the signed word of
//! every party that it has stored its new share ([`Shares::commit`]): until somebody has all these
//! words, nobody deletes anything and all can use the old sharing; from then on, all can use the new
//! one. The words are kept with the share, for parties that missed some of them.

use crate::ceremony::lock;
use crate::error::Error;
use crate::folder::{read_bounded, replace, sync_folder, write_new};
use crate::identity::domain_hash;
use crate::wire::CeremonyId;
use libp2p::PeerId;
use minicbor::bytes::{ByteArray, ByteVec};
use minicbor::{Decode, Encode};
use rand_core::CryptoRng;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tetralith_keyfile::{Cost, KeyFile, MAX_TEXT, Protection};
use zeroize::{Zeroize, Zeroizing};

const KIND: &str = "tss-share";
/// How the names of files begin that are being written.
const TEMPORARY: &str = ".tmp";
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

/// The name of one sharing of a key, as far as one node is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SharingId {
    pub(crate) key: KeyId,
    pub(crate) number: u64,
}

impl SharingId {
    /// The name of the file of its share.
    fn file(&self) -> String {
        let SharingId { key, number } = self;
        if *number == 0 { format!("{key}.share") } else { format!("{key}.{number}.share") }
    }

    /// The sharing whose file has this name.
    fn of_file(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".share")?;
        let (key, number) = match stem.split_once('.') {
            None => (stem, 0),
            Some((key, number)) => (key, number.parse().ok()?),
        };
        let id = SharingId { key: KeyId::from_hex(key)?, number };
        (id.file() == name).then_some(id)
    }
}

/// What a node knows of one sharing of a key, without the share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// The key's name.
    pub(crate) id: KeyId,
    /// The number of the sharing; 0 is the one that the key was made with.
    pub(crate) number: u64,
    /// The protocol and curve, such as `dkls23-secp256k1`.
    pub(crate) scheme: String,
    /// The group's public key, in the scheme's encoding.
    pub(crate) public_key: Vec<u8>,
    /// How many parties sign.
    pub(crate) threshold: u8,
    /// All parties; the position, from 1, is the party's number.
    pub(crate) parties: Vec<PeerId>,
}

impl Key {
    /// The name of the sharing.
    pub(crate) fn sharing(&self) -> SharingId {
        SharingId { key: self.id, number: self.number }
    }
}

/// How a sharing stands at this node.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) key: Arc<Key>,
    /// The resharing that made it; none for a key's first sharing.
    pub(crate) made: Option<CeremonyId>,
    /// The signed words of all its parties that they have stored their shares; none before all are known.
    pub(crate) stored: Vec<Vec<u8>>,
}

impl Held {
    /// Says whether every party has stored its share, so that older sharings are replaced.
    pub(crate) fn is_settled(&self) -> bool {
        self.made.is_none() || !self.stored.is_empty()
    }
}

/// Shares of one key that wait for others at most, before a refresh is refused: each is a file.
pub(crate) const MOST_UNSETTLED: usize = 64;

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
    /// The number of the sharing, from 1.
    #[n(4)]
    number: Option<u64>,
    /// The resharing that made it.
    #[n(5)]
    made: Option<ByteArray<32>>,
    /// The words of all parties that they have stored their shares.
    #[n(6)]
    stored: Option<Vec<ByteVec>>,
}

/// A share's file, opened.
struct Opened {
    held: Held,
    share: Zeroizing<Vec<u8>>,
    retired: Vec<PeerId>,
}

/// The shares of a node.
#[derive(Debug)]
pub(crate) struct Shares {
    folder: PathBuf,
    storage_key: StorageKey,
    keys: Mutex<BTreeMap<SharingId, Held>>,
    /// Held while files are changed: what is read, and written back changed, must not change between.
    writing: Mutex<()>,
    /// The files that could not be read when they were last needed, and why. They stay where they are.
    damaged: Mutex<BTreeMap<String, String>>,
    /// The keys that this node must have a share of.
    expected: Mutex<BTreeSet<KeyId>>,
    /// What the files said of retired setups when they were opened.
    retired: Vec<(SharingId, PeerId)>,
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
            if file_name(&path).starts_with(TEMPORARY) {
                // A crash left it in the middle of a write; it may hold a share that was replaced since.
                std::fs::remove_file(&path).map_err(Error::file(&path))?;
            } else if path.extension().is_some_and(|extension| extension == "share") {
                match read_named(&path, &storage_key) {
                    Ok(opened) => {
                        let id = opened.held.key.sharing();
                        retired.extend(opened.retired.into_iter().map(|peer| (id, peer)));
                        keys.insert(id, opened.held);
                    }
                    Err(error) => drop(damaged.insert(file_name(&path), error.to_string())),
                }
            }
        }
        let (keys, damaged) = (Mutex::new(keys), Mutex::new(damaged));
        let (expected, writing) = (Mutex::default(), Mutex::default());
        let folder = folder.to_owned();
        let mut shares = Shares { folder, storage_key, keys, writing, damaged, expected, retired };
        // A crash may have come between a commit and the end of what it replaces.
        for key in shares.keys() {
            if shares.is_settled(&key) {
                shares.remove(key.id, |id| id.number < key.number)?;
            }
        }
        let kept: BTreeSet<SharingId> = shares.lock().keys().copied().collect();
        shares.retired.retain(|(id, _)| kept.contains(id));
        Ok(shares)
    }

    /// The retired pairwise setups, as the files had them when they were opened.
    pub(crate) fn retired(&self) -> &[(SharingId, PeerId)] {
        &self.retired
    }

    /// Names the keys that this node must have a share of, besides those that it has.
    pub(crate) fn expect(&self, keys: &[KeyId]) {
        let mut expected = lock(&self.expected);
        expected.extend(keys);
        expected.extend(self.lock().keys().map(|id| id.key));
    }

    /// The files that are damaged, by name, and why.
    pub(crate) fn damaged(&self) -> Vec<(String, String)> {
        lock(&self.damaged).iter().map(|(file, why)| (file.clone(), why.clone())).collect()
    }

    /// The keys whose share's file is not there.
    pub(crate) fn lost(&self) -> Vec<KeyId> {
        let expected: Vec<_> = lock(&self.expected).iter().copied().collect();
        let damaged: Vec<_> = lock(&self.damaged).keys().cloned().collect();
        let of =
            |key: &KeyId, name: &str| SharingId::of_file(name).is_some_and(|id| id.key == *key);
        let lost = |key: &KeyId| match self.key(key) {
            Some(held) => !self.path(&held.sharing()).exists(),
            None => !damaged.iter().any(|name| of(key, name) && self.folder.join(name).exists()),
        };
        expected.into_iter().filter(lost).collect()
    }

    /// Deletes all shares of a key for good.
    ///
    /// # Errors
    /// [`Error::File`] if one cannot be deleted.
    pub(crate) fn delete(&self, id: &KeyId) -> Result<(), Error> {
        let _writing = lock(&self.writing);
        self.remove(*id, |_| true)?;
        lock(&self.expected).remove(id);
        Ok(())
    }

    /// Deletes the shares of the sharings before one in which this node has no part.
    ///
    /// # Errors
    /// [`Error::File`] if one cannot be deleted.
    pub(crate) fn leave(&self, new: &SharingId) -> Result<(), Error> {
        let _writing = lock(&self.writing);
        self.remove(new.key, |id| id.number < new.number)?;
        if self.key(&new.key).is_none() {
            lock(&self.expected).remove(&new.key);
        }
        Ok(())
    }

    /// Deletes the files of some of a key's sharings, whether or not they can be read.
    fn remove(&self, key: KeyId, which: impl Fn(&SharingId) -> bool) -> Result<(), Error> {
        let mut removed = false;
        for entry in std::fs::read_dir(&self.folder).map_err(Error::file(&self.folder))? {
            let path = entry.map_err(Error::file(&self.folder))?.path();
            let id = SharingId::of_file(&file_name(&path));
            if !id.is_some_and(|id| id.key == key && which(&id)) {
                continue;
            }
            std::fs::remove_file(&path).map_err(Error::file(&path))?;
            removed = true;
        }
        // Of those too whose file was lost before.
        let stays = |id: &SharingId| id.key != key || !which(id);
        self.lock().retain(|id, _| stays(id));
        lock(&self.damaged).retain(|name, _| SharingId::of_file(name).is_none_or(|id| stays(&id)));
        if removed { sync_folder(&self.folder) } else { Ok(()) }
    }

    /// The sharing in use of every key, by name.
    pub(crate) fn keys(&self) -> Vec<Arc<Key>> {
        let mut keys: Vec<KeyId> = self.lock().keys().map(|id| id.key).collect();
        keys.dedup();
        keys.iter().filter_map(|key| self.key(key)).collect()
    }

    /// The sharing in use of the key of this name: the latest of which all parties have their shares.
    pub(crate) fn key(&self, id: &KeyId) -> Option<Arc<Key>> {
        self.sharings(id).first().map(|held| held.key.clone())
    }

    /// The sharings of a key that may be used: the one in use, and later ones of which some parties may
    /// not have stored their shares.
    pub(crate) fn sharings(&self, key: &KeyId) -> Vec<Held> {
        let all = SharingId { key: *key, number: 0 }..=SharingId { key: *key, number: u64::MAX };
        let all: Vec<Held> = self.lock().range(all).map(|(_, held)| held.clone()).collect();
        let first = all.iter().rposition(Held::is_settled).unwrap_or(0);
        all.into_iter().skip(first).collect()
    }

    /// One sharing.
    pub(crate) fn sharing(&self, id: &SharingId) -> Option<Arc<Key>> {
        self.lock().get(id).map(|held| held.key.clone())
    }

    /// The sharing that a resharing made.
    pub(crate) fn made_by(&self, ceremony: &CeremonyId) -> Option<Held> {
        self.lock().values().find(|held| held.made == Some(*ceremony)).cloned()
    }

    /// The sharings of which this node does not know that all parties have stored their shares.
    pub(crate) fn unsettled(&self) -> Vec<Held> {
        self.lock().values().filter(|held| !held.is_settled()).cloned().collect()
    }

    fn is_settled(&self, key: &Key) -> bool {
        self.lock().get(&key.sharing()).is_some_and(Held::is_settled)
    }

    /// Says why no share of a sharing with this number can be stored, if it cannot.
    pub(crate) fn refuses(&self, id: &SharingId, most_unsettled: usize) -> Option<String> {
        let sharings = self.sharings(&id.key);
        let latest = sharings.last()?.key.number;
        if latest >= id.number {
            return Some(format!("this node has a share of sharing {latest}"));
        }
        let unsettled = sharings.iter().filter(|held| !held.is_settled()).count();
        (unsettled >= most_unsettled).then(|| {
            format!("{unsettled} resharings of the key were not stored by all of their nodes")
        })
    }

    /// Stores the share of a new key, durably, and refuses to replace one.
    pub(crate) fn insert(
        &self,
        key: Key,
        share: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Arc<Key>, Error> {
        let held = Held { key: Arc::new(key), made: None, stored: Vec::new() };
        self.write_new(held, share, rng)
    }

    /// Stores the share of a new sharing, durably, beside the others.
    ///
    /// # Errors
    /// This node has a share of the same or of a later sharing, or the file cannot be written.
    pub(crate) fn prepare(
        &self,
        key: Key,
        made: CeremonyId,
        share: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Arc<Key>, Error> {
        let id = key.sharing();
        let held = Held { key: Arc::new(key), made: Some(made), stored: Vec::new() };
        let _writing = lock(&self.writing);
        if let Some(reason) = self.refuses(&id, 2 * MOST_UNSETTLED) {
            return Err(Error::Malformed { path: self.path(&id), reason });
        }
        self.write_new(held, share, rng)
    }

    fn write_new(
        &self,
        held: Held,
        share: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Arc<Key>, Error> {
        let (key, id) = (held.key.clone(), held.key.sharing());
        write_new(&self.path(&id), self.seal(&held, share, &[], rng)?.as_bytes())?;
        self.lock().insert(id, held);
        lock(&self.expected).insert(id.key);
        Ok(key)
    }

    /// Keeps the words of all parties that they have stored their shares of this sharing, and then
    /// deletes all earlier ones.
    ///
    /// # Errors
    /// The share cannot be read, or a file cannot be written or deleted. Then a restart goes on.
    pub(crate) fn commit(
        &self,
        id: &SharingId,
        stored: Vec<Vec<u8>>,
        rng: &mut impl CryptoRng,
    ) -> Result<(), Error> {
        let _writing = lock(&self.writing);
        let Opened { mut held, share, retired } = self.opened(id)?;
        if !held.is_settled() {
            held.stored = stored;
            replace(&self.path(id), self.seal(&held, &share, &retired, rng)?.as_bytes())?;
            self.lock().insert(*id, held);
        }
        self.remove(id.key, |other| other.number < id.number)
    }

    /// Reads the share of a sharing.
    pub(crate) fn share(&self, id: &SharingId) -> Result<Zeroizing<Vec<u8>>, Error> {
        Ok(self.opened(id)?.share)
    }

    /// Writes into the share's file that it must not be used with `peer` again.
    pub(crate) fn retire(
        &self,
        id: &SharingId,
        peer: &PeerId,
        rng: &mut impl CryptoRng,
    ) -> Result<(), Error> {
        let _writing = lock(&self.writing);
        let Opened { held, share, mut retired } = self.opened(id)?;
        if !retired.contains(peer) {
            retired.push(*peer);
            replace(&self.path(id), self.seal(&held, &share, &retired, rng)?.as_bytes())?;
        }
        Ok(())
    }

    fn opened(&self, id: &SharingId) -> Result<Opened, Error> {
        let path = self.path(id);
        let read = read_named(&path, &self.storage_key);
        let mut damaged = lock(&self.damaged);
        match &read {
            // It may have been restored.
            Ok(_) => drop(damaged.remove(&file_name(&path))),
            // A sharing that was replaced meanwhile is no damage.
            Err(error) if self.lock().contains_key(id) => {
                damaged.insert(file_name(&path), error.to_string());
            }
            Err(_) => {}
        }
        read
    }

    /// The text of a share's file.
    fn seal(
        &self,
        held: &Held,
        share: &[u8],
        retired: &[PeerId],
        rng: &mut impl CryptoRng,
    ) -> Result<Zeroizing<String>, Error> {
        let key = &held.key;
        let encoded = |peers: &[PeerId]| peers.iter().map(|id| id.to_bytes().into()).collect();
        let mut sealed = Sealed {
            threshold: key.threshold,
            parties: encoded(&key.parties),
            share: share.to_vec().into(),
            retired: (!retired.is_empty()).then(|| encoded(retired)),
            number: Some(key.number).filter(|number| *number > 0),
            made: held.made.map(|made| made.0.into()),
            stored: (!held.stored.is_empty())
                .then(|| held.stored.iter().map(|word| word.clone().into()).collect()),
        };
        // Room for all of it from the beginning: a vector that grows leaves copies of the share behind.
        let peers = key.parties.iter().chain(retired).map(|id| id.to_bytes().len() + HEAD);
        let words = held.stored.iter().map(|word| word.len() + HEAD);
        let len = peers.sum::<usize>() + words.sum::<usize>() + share.len() + 8 * HEAD + 32;
        let mut secret = Zeroizing::new(Vec::with_capacity(len));
        minicbor::encode(&sealed, &mut *secret).expect("a vector takes all bytes");
        sealed.share.zeroize();
        let protection = Protection::Key(&self.storage_key.0);
        let file = KeyFile::public(KIND, &key.scheme, &key.public_key)
            .seal(&secret, protection, Cost::STANDARD, rng)
            .map_err(Error::key_file(&self.path(&key.sharing())))?;
        Ok(file.to_text())
    }

    fn path(&self, id: &SharingId) -> PathBuf {
        self.folder.join(id.file())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<SharingId, Held>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads the share of the sharing that names the file.
fn read_named(path: &Path, storage_key: &StorageKey) -> Result<Opened, Error> {
    let opened = read(path, storage_key)?;
    let id = opened.held.key.sharing();
    if file_name(path) != id.file() {
        let reason = format!("holds the share that belongs into {}", id.file());
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
        number: sealed.number.unwrap_or_default(),
        scheme: file.params,
        public_key: file.public,
        threshold: sealed.threshold,
        parties: peers(&sealed.parties)?,
    };
    let made = sealed.made.map(|made| CeremonyId(made.into()));
    let stored = sealed.stored.unwrap_or_default().into_iter().map(Into::into).collect();
    let held = Held { key: Arc::new(key), made, stored };
    Ok(Opened { held, share, retired })
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
        let id = KeyId::of(&scheme, &public_key);
        Key { id, number: 0, scheme, public_key, threshold: 2, parties }
    }

    fn first() -> SharingId {
        key().sharing()
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
        assert_eq!(shares.share(&first()).unwrap().as_slice(), b"share");
        assert_eq!(shares.keys().len(), 1);
    }

    /// What is retired is in the share's file, and the share in it stays the same.
    #[test]
    fn retirements_are_kept_with_the_share() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let shares = open(folder.path(), 1).unwrap();
        shares.insert(key(), b"share", &mut rng).unwrap();
        let (id, peers) = (first(), key().parties);
        let other = SharingId { key: KeyId([0; 16]), number: 0 };
        assert!(shares.retire(&other, &peers[1], &mut rng).is_err());
        for peer in [peers[1], peers[2], peers[1]] {
            shares.retire(&id, &peer, &mut rng).unwrap();
        }
        let shares = open(folder.path(), 1).unwrap();
        assert_eq!(shares.retired(), [(id, peers[1]), (id, peers[2])]);
        assert_eq!(shares.share(&id).unwrap().as_slice(), b"share");
        assert_eq!(*shares.key(&id.key).unwrap(), key());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_share_is_sealed_and_damage_shows_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let shares = open(folder.path(), 1).unwrap();
        shares.insert(key(), b"a very secret share", &mut rng).unwrap();
        let path = shares.path(&first());
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&hex::encode(b"secret")));
        let set_apart = |storage_key| {
            let shares = open(folder.path(), storage_key).unwrap();
            let damaged = shares.damaged();
            assert!(damaged.len() == 1 && shares.keys().is_empty(), "{damaged:?}");
            assert!(shares.share(&first()).is_err());
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
        let other = SharingId { key: id, number: 0 };
        std::fs::write(shares.path(&other), "{}").unwrap();
        let shares = open(folder.path(), 1).unwrap();
        assert_eq!(shares.keys().len(), 1);
        assert_eq!(shares.share(&first()).unwrap().as_slice(), b"share");
        assert_eq!(shares.damaged().len(), 1);
        // A file that is gone is missed only if the key is known from elsewhere.
        shares.expect(&[id]);
        assert!(shares.lost().is_empty());
        std::fs::remove_file(shares.path(&other)).unwrap();
        assert_eq!(shares.lost(), [id]);
        shares.delete(&key().id).unwrap();
        assert!(shares.keys().is_empty() && shares.lost() == [id]);
    }

    /// The new share lies beside the old one until all parties' words are there; whatever a crash leaves
    /// of a commit, a restart ends it.
    #[test]
    fn a_new_sharing_replaces_the_old_one_once_all_have_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let shares = open(folder.path(), 1).unwrap();
        shares.insert(key(), b"old", &mut rng).unwrap();
        shares.retire(&first(), &key().parties[1], &mut rng).unwrap();
        let new = |number| Key { number, ..key() };
        let (made, id) = (CeremonyId([7; 32]), new(1).sharing());
        shares.prepare(new(1), made, b"new", &mut rng).unwrap();
        for number in [0, 1] {
            assert!(shares.prepare(new(number), made, b"other", &mut rng).is_err());
        }
        std::fs::write(folder.path().join(".tmpabc"), "a write that a crash cut off").unwrap();

        let shares = open(folder.path(), 1).unwrap();
        assert!(!folder.path().join(".tmpabc").exists());
        assert_eq!(*shares.key(&key().id).unwrap(), key(), "the old one is in use");
        assert_eq!(shares.sharings(&key().id).len(), 2);
        assert_eq!(shares.unsettled().len(), 1);
        assert_eq!(*shares.made_by(&made).unwrap().key, new(1));
        assert_eq!(shares.share(&first()).unwrap().as_slice(), b"old");
        assert_eq!(shares.share(&id).unwrap().as_slice(), b"new");

        let old = std::fs::read(shares.path(&first())).unwrap();
        let words = vec![vec![1; 100], vec![2; 100], vec![3; 100]];
        shares.commit(&id, words.clone(), &mut rng).unwrap();
        assert!(shares.share(&first()).is_err() && shares.damaged().is_empty());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        // A crash between the commit and the deletion of the old share, or a restored backup.
        std::fs::write(shares.path(&first()), old).unwrap();
        let shares = open(folder.path(), 1).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(*shares.key(&key().id).unwrap(), new(1));
        assert_eq!(shares.made_by(&made).unwrap().stored, words);
        assert!(shares.retired().is_empty(), "the old setup is gone, and with it what was retired");
        assert_eq!(shares.share(&id).unwrap().as_slice(), b"new");
        shares.retire(&id, &key().parties[2], &mut rng).unwrap();
        assert_eq!(open(folder.path(), 1).unwrap().made_by(&made).unwrap().stored, words);
    }

    #[test]
    fn a_share_under_another_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = ChaCha20Rng::from_seed([1; 32]);
        let shares = open(folder.path(), 1).unwrap();
        shares.insert(key(), b"share", &mut rng).unwrap();
        let other = SharingId { key: KeyId([9; 16]), number: 0 };
        std::fs::copy(shares.path(&first()), shares.path(&other)).unwrap();
        assert!(matches!(shares.share(&other), Err(Error::Malformed { .. })));
    }
}
