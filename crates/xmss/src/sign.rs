//! Signing: a secret key, its state, and the trees it is working in.
//!
//! The index is leased and committed before the first secret of it is computed. Trees are kept whole,
//! one for each layer, so that authentication paths cost nothing; a tree that is left behind is
//! replaced by the next one. RFC 8391 §4.1.9 (Algorithms 11, 12), §4.2.4 (Algorithm 16).

use crate::address::TreePlace;
use crate::hash::{MessageHash, Value, prf};
use crate::keys::{PublicKey, SecretKey, WRONG_ROOT};
use crate::lanes::Engine;
use crate::params::Params;
use crate::state::{Holder, Lease, Reservations, StateStore, Status};
use crate::tree::{Progress, Tree};
use crate::verify::{Signature, StreamVerifier, place};
use crate::{Error, wots};
use std::collections::VecDeque;
use tetralith_kernels::ct;
use tetralith_kernels::wipe::Wiped;
use zeroize::Zeroizing;

/// A tree in use and, above the lowest layer, its signature of the root below.
struct Layer {
    tree: Tree,
    /// The root that was signed, the leaf that signed it, and the WOTS+ signature.
    signed: Option<(Vec<u8>, u32, Vec<u8>)>,
}

/// What a coming signature needs and its message does not decide.
struct Ahead {
    index: u64,
    r: Zeroizing<Value>,
    table: Wiped,
}

/// Signs messages with a key, an index each.
///
/// Neither `Clone` nor `Copy`. It refuses to work in a forked child.
pub struct Signer<S> {
    key: SecretKey,
    state: Reservations<S>,
    layers: Vec<Option<Layer>>,
    engine: Engine,
    batch: u64,
    check: bool,
    fencing: u64,
    ahead: VecDeque<Ahead>,
    /// Tables that were used and wait to be wiped.
    spent: Vec<Ahead>,
    /// Where trees are kept between runs.
    #[cfg(feature = "file")]
    cache: Option<std::path::PathBuf>,
    /// Why a tree was not kept.
    unstored: Option<Error>,
}

impl<S> core::fmt::Debug for Signer<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Signer({})", self.key.params())
    }
}

impl<S: StateStore> Signer<S> {
    /// Opens a key with its state. Trees are computed when they are first needed.
    ///
    /// # Errors
    /// As [`Reservations::open`].
    pub fn open(mut key: SecretKey, store: S, holder: Holder) -> Result<Self, Error> {
        let state = Reservations::open(store, &key.public_key(), holder)?;
        let mut layers: Vec<_> = (0..key.params().layers()).map(|_| None).collect();
        if let Some(top) = layers.last_mut() {
            *top = key.take_tree().map(|tree| Layer { tree, signed: None });
        }
        Ok(Self {
            engine: Engine::new(key.params()),
            key,
            state,
            layers,
            batch: 1,
            check: true,
            fencing: 0,
            ahead: VecDeque::new(),
            spent: Vec::new(),
            #[cfg(feature = "file")]
            cache: None,
            unstored: None,
        })
    }

    /// Keeps trees in files whose names begin with `base`, and looks for them there.
    ///
    /// They are checksummed, and made again where they are missing or damaged where they are read.
    #[cfg(feature = "file")]
    pub fn set_cache(&mut self, base: &std::path::Path) {
        self.cache = Some(base.to_owned());
    }

    /// Why the last tree that was made could not be kept, if so: the next signer makes it again.
    #[must_use]
    pub fn unstored(&self) -> Option<&Error> {
        self.unstored.as_ref()
    }

    /// Raises the first index that may be used. See [`Reservations::resume_at`].
    ///
    /// # Errors
    /// As [`Reservations::resume_at`].
    pub fn resume_at(&mut self, index: u64, now: u64) -> Result<(), Error> {
        Ok(self.state.resume_at(index, now)?)
    }

    /// Sets how many indices a commit leases when the lease is used up: 1 unless set.
    ///
    /// More are faster; a crash loses those that were not used.
    pub fn set_batch(&mut self, batch: u64) {
        self.batch = batch.max(1);
    }

    /// Sets whether a signature is verified before it is released: yes unless set.
    ///
    /// # Security
    /// It finds faults of memory and processor that make an invalid signature, which could tell of the
    /// secret. A fault in a node of a tree, which the path then agrees with, it cannot find.
    pub fn set_check(&mut self, check: bool) {
        self.check = check;
    }

    /// The fencing number of the lease that the last signature's index is from; 0 before the first.
    #[must_use]
    pub fn fencing(&self) -> u64 {
        self.fencing
    }

    /// Leases indices now, so that the next signatures need no commit.
    ///
    /// # Errors
    /// As [`Reservations::reserve`].
    pub fn reserve(&mut self, count: u64, now: u64) -> Result<Lease, Error> {
        Ok(self.state.reserve(count, now)?)
    }

    /// Signs a message with the next index.
    ///
    /// `now`: seconds since 1970, for the record.
    ///
    /// # Errors
    /// [`Error::State`]; then no index was used that could be used again. [`Error::Fault`], where the
    /// signature is wrong, and wrong again with trees that were made anew; see
    /// [`set_check`](Self::set_check).
    ///
    /// # Security
    /// The commit is durable before a secret of the index is touched. Constant time but for the
    /// message's digest.
    /// RFC 8391 §4.1.9, Algorithm 12; §4.2.4, Algorithm 16.
    pub fn sign(&mut self, message: &[u8], now: u64) -> Result<Vec<u8>, Error> {
        let mut stream = self.sign_stream(now)?;
        stream.update(message);
        stream.finish()
    }

    /// Starts to sign a message that comes in parts, with the next index, which is spent now: where
    /// the message cannot be read to its end, the index is lost.
    ///
    /// # Errors
    /// [`Error::State`], as [`sign`](Self::sign).
    ///
    /// # Security
    /// As [`sign`](Self::sign).
    pub fn sign_stream(&mut self, now: u64) -> Result<StreamSigner<'_, S>, Error> {
        let index = self.state.next(self.batch, now)?;
        self.fencing = index.fencing();
        let index = index.into_inner();
        let ahead = self.take_ahead(index);
        let r = ahead.as_ref().map_or_else(|| randomizer(&self.key, index), |a| a.r.clone());
        // The randomizer is part of the signature, and the digest made with it selects how far each
        // chain runs, which the signature shows as well: mark it public.
        let r = ct::public(*r);
        let (p, root) = (self.key.params(), self.key.root());
        let hash = MessageHash::new(p, &r[..p.n()], root, index);
        let check = self.check.then(|| (r, hash.clone()));
        Ok(StreamSigner { signer: self, index, ahead, r, hash, check })
    }

    /// Makes the trees of an index anew after a fault, in memory and in the cache.
    ///
    /// # Security
    /// The root of a lower tree was signed by a one-time key of the tree above it, perhaps in a signature
    /// that was released. If another root took its place, that key would sign twice. So a tree whose
    /// root comes out differently is taken only where this index is the first of the tree.
    fn rebuild(&mut self, index: u64) -> Result<(), Error> {
        self.ahead.clear();
        let old: Vec<_> = self.layers.iter_mut().map(Option::take).collect();
        let p = self.key.params();
        let mut trees = Vec::new();
        for (layer, old) in (0..p.layers()).zip(old) {
            let (at, _) = place(p, index, layer);
            let tree = Tree::build(&self.key, at, &(), &Progress::silent())?;
            let is_first = index.trailing_zeros() >= (layer + 1) * p.tree_height();
            let known = match at == self.key.top() {
                true => Some(self.key.root()),
                false => old.as_ref().map(|old| old.tree.root()).filter(|_| !is_first),
            };
            if known.is_some_and(|root| root != tree.root()) {
                return Err(Error::Fault);
            }
            trees.push(tree);
        }
        for (slot, tree) in self.layers.iter_mut().zip(trees) {
            #[cfg(feature = "file")]
            if let Some(base) = &self.cache {
                self.unstored = crate::cache::save(&self.key, &tree, base).err();
            }
            *slot = Some(Layer { tree, signed: None });
        }
        Ok(())
    }

    /// Makes ready the trees that the next signature needs, which otherwise it does itself: computes
    /// them, or finds them in the cache and reads its path there.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` said so.
    pub fn prepare(&mut self, progress: &Progress<'_>) -> Result<(), Error> {
        let index = self.state.upcoming();
        if index >= self.key.params().signatures() {
            return Ok(());
        }
        let mut path = Vec::new();
        for layer in 0..self.key.params().layers() {
            self.tree(index, layer, progress)?;
            // A damaged cache shows now, before an index is spent, and its progress is seen.
            let (_, leaf) = place(self.key.params(), index, layer);
            self.auth_path(index, layer, leaf, &mut path, progress)?;
        }
        Ok(())
    }

    /// Computes everything of the next signatures that their messages do not decide, so that
    /// [`sign`](Self::sign) has little left to do: 34 kB of chain values for each where n = 32.
    ///
    /// # Errors
    /// As [`sign`](Self::sign), where a tree cannot be made.
    ///
    /// # Security
    /// Nothing of it leaves before its index is committed. What was used is wiped by the next call
    /// of this, by the next signature that finds nothing prepared, or with the signer: wiping takes
    /// longer than the rest of a signature that was prepared.
    pub fn prepare_ahead(&mut self, count: u64) -> Result<(), Error> {
        self.spent.clear();
        self.prepare(&Progress::silent())?;
        let first = self.state.upcoming();
        self.ahead.retain(|ahead| ahead.index >= first);
        let p = self.key.params();
        for index in first..p.signatures().min(first.saturating_add(count)) {
            if self.ahead.iter().all(|ahead| ahead.index != index) {
                let (at, leaf) = place(p, index, 0);
                let table = wots::table(&mut self.engine, &self.key, at, leaf);
                self.ahead.push_back(Ahead { index, r: randomizer(&self.key, index), table });
            }
        }
        Ok(())
    }

    /// How the indices are spent, as of the last commit.
    #[must_use]
    pub fn status(&self) -> Status {
        self.state.status()
    }

    /// How many signatures this signer can still make, as of the last commit.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.state.left()
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        self.key.public_key()
    }

    /// The parameter set.
    #[must_use]
    pub fn params(&self) -> Params {
        self.key.params()
    }

    /// Accounts for what was leased and ends.
    ///
    /// # Errors
    /// As [`Reservations::close`].
    pub fn close(self, now: u64) -> Result<Status, Error> {
        Ok(self.state.close(now)?)
    }

    /// What was prepared for an index, and forgets what was prepared for those before it.
    fn take_ahead(&mut self, index: u64) -> Option<Ahead> {
        while self.ahead.front().is_some_and(|ahead| ahead.index < index) {
            self.ahead.pop_front();
        }
        let ready = self.ahead.front().is_some_and(|ahead| ahead.index == index);
        if !ready {
            self.spent.clear();
        }
        if ready { self.ahead.pop_front() } else { None }
    }

    /// The signature of a message's digest. The index was committed, and is used for this digest only.
    fn sign_digest(
        &mut self,
        index: u64,
        (r, digest): (&[u8], &[u8]),
        ahead: Option<&Ahead>,
    ) -> Result<Vec<u8>, Error> {
        let p = self.key.params();
        let mut out = Vec::with_capacity(p.signature_bytes());
        out.extend_from_slice(&index.to_be_bytes()[8 - p.index_bytes()..]);
        out.extend_from_slice(r);
        for layer in 0..p.layers() {
            let (at, leaf) = place(p, index, layer);
            let below = (layer > 0).then(|| self.root(layer - 1)).transpose()?;
            self.tree(index, layer, &Progress::silent())?;
            match below {
                None => match ahead {
                    Some(ahead) => wots::sign_from_table(p, &ahead.table, digest, &mut out),
                    None => out.extend(wots::sign(&mut self.engine, &self.key, at, leaf, digest)),
                },
                Some(root) => out.extend_from_slice(self.sign_root(layer, leaf, root)?),
            }
            self.auth_path(index, layer, leaf, &mut out, &Progress::silent())?;
        }
        debug_assert_eq!(out.len(), p.signature_bytes());
        // The signature is about to be released: mark it public.
        ct::public_bytes(&mut out);
        Ok(out)
    }

    /// Whether a signature is the one of this index and randomizer, and valid.
    fn is_valid(&self, signature: &[u8], index: u64, (r, hash): (Value, MessageHash)) -> bool {
        let public_key = self.key.public_key();
        let Ok(signature) = Signature::from_bytes(public_key.params(), signature) else {
            return false;
        };
        // The message was hashed with these two before they were put into the signature.
        signature.is_of(index, &r)
            && StreamVerifier::of(&public_key, signature, hash).finish().is_ok()
    }

    /// The signature of the root below, made once while both trees are in use.
    fn sign_root(&mut self, layer: u32, leaf: u32, root: Vec<u8>) -> Result<&[u8], Error> {
        let at = self.layer(layer)?.tree.place;
        let known =
            matches!(&self.layer(layer)?.signed, Some((r, l, _)) if *r == root && *l == leaf);
        if !known {
            let signature = wots::sign(&mut self.engine, &self.key, at, leaf, &root);
            self.layer(layer)?.signed = Some((root, leaf, signature));
        }
        match &self.layer(layer)?.signed {
            Some((_, _, signature)) => Ok(signature),
            None => Err(NO_TREE),
        }
    }

    fn root(&mut self, layer: u32) -> Result<Vec<u8>, Error> {
        Ok(self.layer(layer)?.tree.root().to_vec())
    }

    fn layer(&mut self, layer: u32) -> Result<&mut Layer, Error> {
        self.layers.get_mut(layer as usize).and_then(Option::as_mut).ok_or(NO_TREE)
    }

    /// Makes the tree of a layer that an index needs the one in use.
    fn tree(&mut self, index: u64, layer: u32, progress: &Progress<'_>) -> Result<(), Error> {
        let (at, _) = place(self.key.params(), index, layer);
        let slot = &self.layers[layer as usize];
        if slot.as_ref().is_some_and(|layer| layer.tree.place == at) {
            return Ok(());
        }
        let tree = match self.cached(at) {
            Some(tree) => tree,
            None => self.build(at, progress)?,
        };
        self.layers[layer as usize] = Some(Layer { tree, signed: None });
        Ok(())
    }

    /// A layer's path; where its cache turns out to be damaged, of the tree made anew.
    fn auth_path(
        &mut self,
        index: u64,
        layer: u32,
        leaf: u32,
        out: &mut Vec<u8>,
        progress: &Progress<'_>,
    ) -> Result<(), Error> {
        if self.layer(layer)?.tree.auth_path(leaf, out).is_ok() {
            return Ok(());
        }
        let (at, _) = place(self.key.params(), index, layer);
        let tree = self.build(at, progress)?;
        self.layer(layer)?.tree = tree;
        self.layer(layer)?.tree.auth_path(leaf, out)
    }

    #[cfg(feature = "file")]
    fn cached(&self, at: TreePlace) -> Option<Tree> {
        let tree = crate::cache::open(&self.key, at, self.cache.as_deref()?).ok()?;
        (at != self.key.top() || tree.root() == self.key.root()).then_some(tree)
    }

    #[cfg(not(feature = "file"))]
    fn cached(&self, _: TreePlace) -> Option<Tree> {
        None
    }

    fn build(&mut self, at: TreePlace, progress: &Progress<'_>) -> Result<Tree, Error> {
        let tree = Tree::build(&self.key, at, &(), progress)?;
        if at == self.key.top() && tree.root() != self.key.root() {
            return Err(WRONG_ROOT);
        }
        #[cfg(feature = "file")]
        if let Some(base) = &self.cache {
            // A cache that cannot be written costs time only: a signature does not fail for it.
            self.unstored = crate::cache::save(&self.key, &tree, base).err();
        }
        Ok(tree)
    }
}

/// Signs a message that comes in parts, in constant memory.
///
/// [`Signer::sign_stream`] makes one. As a [`Write`](std::io::Write) it takes a message by
/// [`std::io::copy`] and never fails. Its index is spent: dropped before [`finish`](Self::finish), it
/// is lost.
///
/// ```
/// # use tetralith_xmss::state::{Holder, Volatile};
/// # use tetralith_xmss::{Derivation, Params, Progress, SecretKey, Signer, qrl};
/// # let descriptor = qrl::Descriptor::new(tetralith_xmss::HashFunction::Sha2, 4)?;
/// # let seed = qrl::ExtendedSeed::new(descriptor, &[7; 48]);
/// # let key = seed.secret_key(&Progress::silent())?;
/// # let (public, mut store, now) = (key.public_key(), Volatile::new(), 0);
/// # tetralith_xmss::state::create(&mut store, &public, 0, [1; 16], now)?;
/// let mut signer = Signer::open(key, store, Holder::new("example"))?;
/// let mut stream = signer.sign_stream(now)?;
/// stream.update(b"mess");
/// stream.update(b"age");
/// let signature = stream.finish()?;
/// public.verify(b"message", &signature)?;
/// # Ok::<(), tetralith_xmss::Error>(())
/// ```
#[must_use = "its index is spent already"]
pub struct StreamSigner<'a, S> {
    signer: &'a mut Signer<S>,
    index: u64,
    ahead: Option<Ahead>,
    r: Value,
    hash: MessageHash,
    /// The randomizer and the message once more, to verify the signature by.
    check: Option<(Value, MessageHash)>,
}

impl<S> core::fmt::Debug for StreamSigner<'_, S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "StreamSigner({}, index {})", self.signer.key.params(), self.index)
    }
}

impl<S: StateStore> StreamSigner<'_, S> {
    /// The index that is spent.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Appends a part of the message.
    pub fn update(&mut self, part: &[u8]) {
        self.hash.update(part);
        if let Some((_, hash)) = &mut self.check {
            hash.update(part);
        }
    }

    /// Signs all the parts.
    ///
    /// # Errors
    /// As [`Signer::sign`].
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        let Self { signer, index, ahead, r, hash, check } = self;
        let (n, digest) = (signer.key.params().n(), hash.finish());
        let message = (&r[..n], &digest[..n]);
        let signature = signer.sign_digest(index, message, ahead.as_ref())?;
        signer.spent.extend(ahead);
        let valid = |signer: &Signer<S>, signature: &[u8]| {
            check.clone().is_none_or(|check| signer.is_valid(signature, index, check))
        };
        if valid(signer, &signature) {
            return Ok(signature);
        }
        // Nothing was released, so the index may sign this message, and no other, once more.
        signer.rebuild(index)?;
        let signature = signer.sign_digest(index, message, None)?;
        if valid(signer, &signature) {
            return Ok(signature);
        }
        signer.layers.iter_mut().for_each(|layer| *layer = None);
        Err(Error::Fault)
    }
}

impl<S: StateStore> std::io::Write for StreamSigner<'_, S> {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        self.update(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The signature's `r`: PRF(SK_PRF, toByte(idx, 32)). RFC 8391 §4.1.9, Algorithm 12.
pub(crate) fn randomizer(key: &SecretKey, index: u64) -> Zeroizing<Value> {
    let mut bytes = [0; 32];
    bytes[24..].copy_from_slice(&index.to_be_bytes());
    prf(key.params(), key.sk_prf(), &bytes)
}

/// Cannot be: `tree` is called before.
const NO_TREE: Error = Error::Malformed { what: "signer", why: "a tree is missing" };

#[cfg(test)]
#[cfg(feature = "file")]
mod tests {
    use super::*;
    use crate::cache;
    use crate::seeds::Seeds;
    use crate::state::{FileStore, create};
    use crate::tree::Shape;
    use crate::{Derivation, Signature};
    use std::path::Path;

    fn key(name: &str) -> SecretKey {
        let params = Params::from_name(name).unwrap();
        let seeds = Seeds::from_bytes(params, Derivation::PrfKeygen, &vec![7; 3 * params.n()]);
        let key = seeds.unwrap().build(&Progress::silent()).unwrap();
        // Without its tree, as from a file.
        SecretKey::from_bytes(&key.to_bytes()).unwrap()
    }

    fn signer(name: &str, folder: &Path) -> Signer<FileStore> {
        let (key, holder) = (key(name), Holder::new("test"));
        let mut store = FileStore::open(&folder.join("state"), &holder).unwrap();
        if !folder.join("state").exists() {
            create(&mut store, &key.public_key(), 0, [7; 16], 0).unwrap();
        }
        let mut signer = Signer::open(key, store, holder).unwrap();
        signer.set_cache(&folder.join("nodes"));
        signer
    }

    /// Keeps a layer's first tree with one byte changed, as a fault in memory would have left it.
    fn spoil(key: &SecretKey, layer: u32, byte: impl Fn(&[u8]) -> usize, folder: &Path) {
        let at = TreePlace { layer, tree: 0 };
        let tree = Tree::build(key, at, &(), &Progress::silent()).unwrap();
        let mut nodes = tree.in_memory().unwrap().to_vec();
        let byte = byte(&nodes);
        nodes[byte] ^= 1;
        let spoiled = Tree::of_nodes(at, Shape::of(key.params()), nodes);
        cache::save(key, &spoiled, &folder.join("nodes")).unwrap();
    }

    fn sign(signer: &mut Signer<FileStore>) -> Result<u64, Error> {
        let signature = signer.sign(b"message", 0)?;
        signer.public_key().verify(b"message", &signature)?;
        Ok(Signature::from_bytes(signer.params(), &signature)?.index())
    }

    /// The root of the lower tree is its last node, the sibling of the first leaf its second.
    #[test]
    fn a_fault_in_a_kept_tree_costs_no_index() {
        let root = |nodes: &[u8]| nodes.len() - 1;
        let leaf = |_: &[u8]| 32;
        for (name, layers) in [("QRL-SHA2_4_256", 1), ("XMSSMT-SHA2_20/4_256", 4)] {
            for layer in 0..layers {
                let folder = tempfile::tempdir().unwrap();
                let folder = folder.path();
                spoil(&key(name), layer, leaf, folder);
                assert_eq!(sign(&mut signer(name, folder)), Ok(0), "{name} {layer}");
                // The file is whole again.
                let at = TreePlace { layer, tree: 0 };
                let mut kept = cache::open(&key(name), at, &folder.join("nodes")).unwrap();
                let mut built = Tree::build(&key(name), at, &(), &Progress::silent()).unwrap();
                let (mut path, mut expected) = (Vec::new(), Vec::new());
                kept.auth_path(0, &mut path).unwrap();
                built.auth_path(0, &mut expected).unwrap();
                assert_eq!(path, expected);
            }
        }
        let folder = tempfile::tempdir().unwrap();
        spoil(&key("XMSSMT-SHA2_20/4_256"), 0, root, folder.path());
        assert_eq!(sign(&mut signer("XMSSMT-SHA2_20/4_256", folder.path())), Ok(0));
    }

    #[test]
    fn a_one_time_key_signs_no_second_root() {
        let folder = tempfile::tempdir().unwrap();
        let (name, folder) = ("XMSSMT-SHA2_20/4_256", folder.path());
        assert_eq!(sign(&mut signer(name, folder)), Ok(0));
        // Whether signatures with this root were released nobody knows.
        spoil(&key(name), 0, |nodes| nodes.len() - 1, folder);
        for _ in 0..2 {
            assert_eq!(sign(&mut signer(name, folder)), Err(Error::Fault));
        }
        std::fs::remove_file(folder.join("nodes.layer0")).unwrap();
        assert_eq!(sign(&mut signer(name, folder)), Ok(3));
    }
}
