//! Verification of one signature or of many.
//!
//! Many signatures are verified together: the chains of all of them share the lanes, then their
//! L-trees, then their paths, level by level. One signature is a batch of one. A message that comes in
//! parts is hashed as it comes ([`StreamVerifier`]). Everything is public.
//! RFC 8391 §4.1.10 (Algorithms 13, 14) and §4.2.5 (Algorithm 17).

use crate::Error;
use crate::address::{TreePlace, Type};
use crate::hash::{MessageHash, Value, h_msg};
use crate::keys::{PublicKey, length};
use crate::lanes::chains::{Chain, longest_first};
use crate::lanes::trees::Pair;
use crate::lanes::{Engine, Prefix, value};
use crate::params::Params;
use crate::wots::{LAST, digits};
use core::cell::Cell;
use rayon::prelude::*;
use std::collections::HashMap;
use tetralith_kernels::threads;

/// A signature, decoded as far as its length and index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature<'a> {
    params: Params,
    index: u64,
    /// r ‖ (WOTS+ signature ‖ authentication path) for each layer
    rest: &'a [u8],
}

impl<'a> Signature<'a> {
    /// Decodes `idx ‖ r ‖ sig_ots ‖ auth ‖ …`.
    ///
    /// # Errors
    /// [`Error::Length`], or [`Error::IndexOutOfRange`].
    /// RFC 8391 §4.1.8 and §4.2.3.
    pub fn from_bytes(params: Params, bytes: &'a [u8]) -> Result<Self, Error> {
        length("signature", params.signature_bytes(), bytes.len())?;
        let (index, rest) = bytes.split_at(params.index_bytes());
        let index = index.iter().fold(0, |index, byte| index << 8 | u64::from(*byte));
        if index >= params.signatures() {
            return Err(Error::IndexOutOfRange { index, limit: params.signatures() });
        }
        Ok(Self { params, index, rest })
    }

    /// The index of the one-time key that made it.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Whether it has this index, and begins with this randomizer.
    pub(crate) fn is_of(&self, index: u64, r: &Value) -> bool {
        self.index == index && self.r() == &r[..self.params.n()]
    }

    fn r(&self) -> &[u8] {
        &self.rest[..self.params.n()]
    }

    /// The WOTS+ signature and the path of a layer.
    fn layer(&self, layer: u32) -> (&'a [u8], &'a [u8]) {
        let p = self.params;
        let ots = p.len() * p.n();
        let size = ots + p.tree_height() as usize * p.n();
        let at = p.n() + layer as usize * size;
        self.rest[at..at + size].split_at(ots)
    }

    /// The tree that signs on a layer, and the leaf in it.
    fn place(&self, layer: u32) -> (TreePlace, u32) {
        place(self.params, self.index, layer)
    }
}

/// The tree that signs on a layer for an index, and the leaf in it.
pub(crate) fn place(p: Params, index: u64, layer: u32) -> (TreePlace, u32) {
    let height = p.tree_height();
    let leaf = (index >> (height * layer)) & ((1 << height) - 1);
    let tree = index >> (height * (layer + 1));
    (TreePlace { layer, tree }, leaf as u32)
}

/// What one verification needs.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The signer's public key.
    pub public_key: &'a PublicKey,
    /// The message.
    pub message: &'a [u8],
    /// The encoded signature.
    pub signature: &'a [u8],
}

/// A signature whose message is hashed already.
#[derive(Clone, Copy)]
struct Hashed<'a> {
    public_key: &'a PublicKey,
    signature: Signature<'a>,
    digest: Value,
}

impl<'a> Hashed<'a> {
    fn of(item: Item<'a>, signature: Signature<'a>) -> Self {
        let (p, root) = (signature.params, item.public_key.root());
        let digest = h_msg(p, signature.r(), root, signature.index, item.message);
        Self { public_key: item.public_key, signature, digest }
    }

    /// Compares the root that the signature leads to with the key's.
    fn check(&self, root: &Value) -> Result<(), Error> {
        match root[..self.signature.params.n()] == *self.public_key.root() {
            true => Ok(()),
            false => Err(Error::Verification),
        }
    }
}

impl PublicKey {
    /// Verifies a signature.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::IndexOutOfRange`] where the signature is malformed,
    /// [`Error::Verification`] where it is not valid.
    ///
    /// # Security
    /// Variable time; everything is public.
    /// RFC 8391 §4.1.10, Algorithm 14; §4.2.5, Algorithm 17.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        let mut stream = self.verify_stream(signature)?;
        stream.update(message);
        stream.finish()
    }

    /// Starts to verify the signature of a message that comes in parts.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::IndexOutOfRange`] where the signature is malformed.
    pub fn verify_stream<'a>(&'a self, signature: &'a [u8]) -> Result<StreamVerifier<'a>, Error> {
        let signature = Signature::from_bytes(self.params(), signature)?;
        let hash = MessageHash::new(self.params(), signature.r(), self.root(), signature.index);
        Ok(StreamVerifier::of(self, signature, hash))
    }
}

/// Verifies the signature of a message that comes in parts, in constant memory.
///
/// [`PublicKey::verify_stream`] makes one. As a [`Write`](std::io::Write) it takes a message by
/// [`std::io::copy`] and never fails.
///
/// ```
/// # use tetralith_xmss::{Params, PublicKey};
/// # let params = Params::XMSS_SHA2_10_256;
/// # let (public_key, signature) = (PublicKey::from_parts(params, &[0; 64])?, [0; 2500]);
/// let mut stream = public_key.verify_stream(&signature)?;
/// stream.update(b"mess");
/// stream.update(b"age");
/// assert_eq!(stream.finish(), public_key.verify(b"message", &signature));
/// # Ok::<(), tetralith_xmss::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is verified before `finish`"]
pub struct StreamVerifier<'a> {
    public_key: &'a PublicKey,
    signature: Signature<'a>,
    hash: MessageHash,
}

impl core::fmt::Debug for StreamVerifier<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "StreamVerifier({}, index {})", self.signature.params, self.signature.index)
    }
}

impl<'a> StreamVerifier<'a> {
    /// Takes the place of one that was given the message already.
    pub(crate) fn of(
        public_key: &'a PublicKey,
        signature: Signature<'a>,
        hash: MessageHash,
    ) -> Self {
        Self { public_key, signature, hash }
    }

    /// The index of the signature.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.signature.index
    }

    /// Appends a part of the message.
    pub fn update(&mut self, part: &[u8]) {
        self.hash.update(part);
    }

    /// Verifies the signature of all the parts.
    ///
    /// # Errors
    /// [`Error::Verification`]: it is not valid.
    ///
    /// # Security
    /// Variable time; everything is public.
    /// RFC 8391 §4.1.10, Algorithm 14; §4.2.5, Algorithm 17.
    pub fn finish(self) -> Result<(), Error> {
        let hashed = self.hashed();
        match roots(hashed.signature.params, &[hashed]).first() {
            Some(root) => hashed.check(root),
            None => Err(Error::Verification),
        }
    }

    /// Verifies many signatures together, and says of each whether it is valid.
    ///
    /// The results are exactly those of [`finish`](Self::finish). Large batches use the current rayon
    /// pool's threads.
    pub fn finish_many(streams: Vec<Self>) -> Vec<Result<(), Error>> {
        let hashed: Vec<_> = streams.into_iter().map(Self::hashed).map(Ok).collect();
        verify_all(hashed, |hashed| hashed.signature.params, |hashed| *hashed)
    }

    fn hashed(self) -> Hashed<'a> {
        let Self { public_key, signature, hash } = self;
        Hashed { public_key, signature, digest: hash.finish() }
    }
}

impl std::io::Write for StreamVerifier<'_> {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        self.update(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Verifies many signatures together, under one key or several, and says of each whether it is valid.
///
/// The results are exactly those of verifying one at a time. Large batches use the current rayon pool's threads.
pub fn verify_many(items: &[Item<'_>]) -> Vec<Result<(), Error>> {
    let decoded = items.iter().map(|item| {
        let params = item.public_key.params();
        Ok((*item, Signature::from_bytes(params, item.signature)?))
    });
    let hashed = |(item, signature): &(_, _)| Hashed::of(*item, *signature);
    verify_all(decoded.collect(), |(_, signature)| signature.params, hashed)
}

/// Verifies what is well formed, in groups of one parameter set, each on one thread that also does what
/// `hashed` does.
fn verify_all<'a, T: Sync>(
    list: Vec<Result<T, Error>>,
    params: impl Fn(&T) -> Params,
    hashed: impl Fn(&T) -> Hashed<'a> + Sync,
) -> Vec<Result<(), Error>> {
    let mut results: Vec<Result<(), Error>> = Vec::with_capacity(list.len());
    let mut by_params: HashMap<Params, Vec<(usize, T)>> = HashMap::new();
    for (i, item) in list.into_iter().enumerate() {
        results.push(item.map(|item| by_params.entry(params(&item)).or_default().push((i, item))));
    }
    let verify = |params, group: &[(usize, T)]| -> Vec<_> {
        let hashed: Vec<_> = group.iter().map(|(_, item)| hashed(item)).collect();
        let roots = roots(params, &hashed);
        hashed.iter().zip(&roots).map(|(hashed, root)| hashed.check(root)).collect()
    };
    for (params, list) in by_params {
        // Waking another thread costs as much as a third of a verification.
        let verified: Vec<_> = if list.len() <= GROUP {
            verify(params, &list)
        } else {
            threads::install(|| {
                list.par_chunks(GROUP).flat_map_iter(|group| verify(params, group)).collect()
            })
        };
        for ((i, _), result) in list.iter().zip(verified) {
            results[*i] = result;
        }
    }
    results
}

/// Prefixes made once for each key, tree and address type.
struct Prefixes<'a> {
    params: Params,
    /// The last of each address type: most batches are of one key, and of one tree on each layer.
    recent: [Option<(&'a [u8], TreePlace, u32)>; 3],
    known: HashMap<(&'a [u8], TreePlace, u32), u32>,
    list: Vec<Prefix>,
}

impl<'a> Prefixes<'a> {
    fn find(&mut self, seed: &'a [u8], place: TreePlace, kind: Type) -> u32 {
        if let Some((known, at, found)) = self.recent[kind as usize]
            && (known, at) == (seed, place)
        {
            return found;
        }
        if let Some((seed, place, found)) = self.recent[kind as usize] {
            self.known.insert((seed, place, kind as u32), found);
        }
        let found = self.known.get(&(seed, place, kind as u32)).copied().unwrap_or_else(|| {
            self.list.push(Prefix::prf(self.params, seed, &place.head(kind)));
            self.list.len() as u32 - 1
        });
        self.recent[kind as usize] = Some((seed, place, found));
        found
    }
}

/// Computes the roots that the signatures lead to.
///
/// A thread keeps the lanes for the next time, which are not cheap to make beside one signature.
fn roots(p: Params, items: &[Hashed<'_>]) -> Vec<Value> {
    thread_local! {
        static KEPT: Cell<Option<Box<Engine>>> = const { Cell::new(None) };
    }
    let kept = KEPT.take().filter(|engine| engine.params == p);
    let mut engine = kept.unwrap_or_else(|| Box::new(Engine::new(p)));
    let roots = roots_in(&mut engine, items);
    KEPT.set(Some(engine));
    roots
}

fn roots_in(engine: &mut Engine, items: &[Hashed<'_>]) -> Vec<Value> {
    let p = engine.params;
    let mut nodes: Vec<Value> = items.iter().map(|item| item.digest).collect();
    let mut prefixes =
        Prefixes { params: p, recent: [None; 3], known: HashMap::new(), list: Vec::new() };
    for layer in 0..p.layers() {
        let mut values = leaves(engine, &mut prefixes, items, layer, &nodes);
        climb(engine, &mut prefixes, items, layer, &mut values);
        for (node, bytes) in nodes.iter_mut().zip(values.chunks(p.n() * p.len())) {
            *node = value(&bytes[..p.n()]);
        }
    }
    nodes
}

/// Completes the chains and compresses them: item `i`'s leaf is value `i·len`.
///
/// RFC 8391 §3.1.6, Algorithm 6, and §4.1.10, Algorithm 13 lines 2 to 5.
fn leaves<'a>(
    engine: &mut Engine,
    prefixes: &mut Prefixes<'a>,
    items: &[Hashed<'a>],
    layer: u32,
    messages: &[Value],
) -> Vec<u8> {
    let p = engine.params;
    let mut values = Vec::with_capacity(items.len() * p.len() * p.n());
    let mut chains = Vec::with_capacity(items.len() * p.len());
    let mut keys = Vec::with_capacity(items.len());
    for (Hashed { public_key, signature, .. }, message) in items.iter().zip(messages) {
        let seed = public_key.seed();
        let (place, ots) = signature.place(layer);
        let prefix = prefixes.find(seed, place, Type::Ots);
        keys.push((prefixes.find(seed, place, Type::LTree), ots));
        let slot = chains.len() as u32;
        let digits = digits(p, &message[..p.n()]);
        chains.extend((0..p.len() as u32).map(|chain| {
            let start = digits[chain as usize].into();
            Chain { prefix, ots, chain, start, end: LAST, slot: slot + chain }
        }));
        values.extend_from_slice(signature.layer(layer).0);
    }
    engine.run_chains(&prefixes.list, longest_first(chains).into_iter(), &mut values);
    engine.l_trees(&prefixes.list, &keys, &mut values);
    values
}

/// Walks the authentication paths: item `i`'s root replaces its leaf at value `i·len`.
///
/// RFC 8391 §4.1.10, Algorithm 13 lines 6 to 15.
fn climb<'a>(
    engine: &mut Engine,
    prefixes: &mut Prefixes<'a>,
    items: &[Hashed<'a>],
    layer: u32,
    values: &mut [u8],
) {
    let p = engine.params;
    let (n, len) = (p.n(), p.len() as u32);
    let mut pairs = Vec::with_capacity(items.len());
    let places: Vec<(u32, u32)> = items
        .iter()
        .map(|item| {
            let (place, leaf) = item.signature.place(layer);
            (prefixes.find(item.public_key.seed(), place, Type::HashTree), leaf)
        })
        .collect();
    for level in 0..p.tree_height() {
        pairs.clear();
        for ((i, item), &(prefix, leaf)) in (0..).zip(items).zip(&places) {
            let at = level as usize * n;
            let sibling = &item.signature.layer(layer).1[at..at + n];
            let (node, other) = (i * len, i * len + 1);
            values[other as usize * n..][..n].copy_from_slice(sibling);
            let right = leaf >> level & 1 == 1;
            pairs.push(Pair {
                prefix,
                tail: [0, level, leaf >> level >> 1],
                left: if right { other } else { node },
                right: if right { node } else { other },
                out: node,
            });
        }
        engine.hash_pairs(&prefixes.list, &pairs, values);
    }
}

/// The root that a signature leads to, whatever the key's own is.
#[cfg(test)]
pub(crate) fn root_of(p: Params, root_seed: &[u8], message: &[u8], bytes: &[u8]) -> Value {
    let public_key = &PublicKey::from_parts(p, root_seed).expect("a root and a seed");
    let signature = Signature::from_bytes(p, bytes).expect("a well-formed signature");
    let item = Item { public_key, message, signature: bytes };
    roots(p, &[Hashed::of(item, signature)])[0]
}

/// Signatures verified together at most: enough to fill every lane, few enough that memory for their
/// values and chains is not fetched from the system each time, as it is for 64, which take 2 % longer.
const GROUP: usize = 32;
