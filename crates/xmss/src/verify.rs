//! Verification of one signature or of many.
//!
//! Many signatures are verified together: the chains of all of them share the lanes, then their
//! L-trees, then their paths, level by level. One signature is a batch of one. Everything is public.
//! RFC 8391 §4.1.10 (Algorithms 13, 14) and §4.2.5 (Algorithm 17).

use crate::Error;
use crate::address::{TreePlace, Type};
use crate::hash::{Value, h_msg};
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
#[derive(Clone, PartialEq, Eq, Debug)]
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
        let item = Item { public_key: self, message, signature };
        let decoded = Signature::from_bytes(self.params(), signature)?;
        match roots(self.params(), &[(0, item, decoded)]).first() {
            Some(root) if root[..self.params().n()] == *self.root() => Ok(()),
            _ => Err(Error::Verification),
        }
    }
}

/// Verifies many signatures together, under one key or several, and says of each whether it is valid.
///
/// The results are exactly those of verifying one at a time. Large batches use the current rayon pool's threads.
pub fn verify_many(items: &[Item<'_>]) -> Vec<Result<(), Error>> {
    let mut results: Vec<Result<(), Error>> = Vec::new();
    let mut by_params: HashMap<Params, Vec<(usize, Item<'_>, Signature<'_>)>> = HashMap::new();
    for (i, item) in items.iter().enumerate() {
        let params = item.public_key.params();
        match Signature::from_bytes(params, item.signature) {
            Ok(signature) => {
                results.push(Ok(()));
                by_params.entry(params).or_default().push((i, *item, signature));
            }
            Err(error) => results.push(Err(error)),
        }
    }
    for (params, list) in by_params {
        // Waking another thread costs as much as a third of a verification.
        let roots: Vec<Value> = if list.len() <= GROUP {
            roots(params, &list)
        } else {
            threads::install(|| {
                let groups = list.par_chunks(GROUP);
                groups.flat_map_iter(|group| roots(params, group)).collect()
            })
        };
        for ((i, item, _), root) in list.iter().zip(roots) {
            if root[..params.n()] != *item.public_key.root() {
                results[*i] = Err(Error::Verification);
            }
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
fn roots(p: Params, items: &[(usize, Item<'_>, Signature<'_>)]) -> Vec<Value> {
    thread_local! {
        static KEPT: Cell<Option<Box<Engine>>> = const { Cell::new(None) };
    }
    let kept = KEPT.take().filter(|engine| engine.params == p);
    let mut engine = kept.unwrap_or_else(|| Box::new(Engine::new(p)));
    let roots = roots_in(&mut engine, items);
    KEPT.set(Some(engine));
    roots
}

fn roots_in(engine: &mut Engine, items: &[(usize, Item<'_>, Signature<'_>)]) -> Vec<Value> {
    let p = engine.params;
    let mut nodes: Vec<Value> = items
        .iter()
        .map(|(_, item, s)| h_msg(p, s.r(), item.public_key.root(), s.index, item.message))
        .collect();
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
    items: &[(usize, Item<'a>, Signature<'_>)],
    layer: u32,
    messages: &[Value],
) -> Vec<u8> {
    let p = engine.params;
    let mut values = Vec::with_capacity(items.len() * p.len() * p.n());
    let mut chains = Vec::with_capacity(items.len() * p.len());
    let mut keys = Vec::with_capacity(items.len());
    for ((_, item, signature), message) in items.iter().zip(messages) {
        let seed = item.public_key.seed();
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
    items: &[(usize, Item<'a>, Signature<'_>)],
    layer: u32,
    values: &mut [u8],
) {
    let p = engine.params;
    let (n, len) = (p.n(), p.len() as u32);
    let mut pairs = Vec::with_capacity(items.len());
    let places: Vec<(u32, u32)> = items
        .iter()
        .map(|(_, item, signature)| {
            let (place, leaf) = signature.place(layer);
            (prefixes.find(item.public_key.seed(), place, Type::HashTree), leaf)
        })
        .collect();
    for level in 0..p.tree_height() {
        pairs.clear();
        for ((i, (_, _, signature)), &(prefix, leaf)) in (0..).zip(items).zip(&places) {
            let at = level as usize * n;
            let sibling = &signature.layer(layer).1[at..at + n];
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
    roots(p, &[(0, item, signature)])[0]
}

/// Signatures verified together at most: enough to fill every lane, few enough that memory for their
/// values and chains is not fetched from the system each time, as it is for 64, which take 2 % longer.
const GROUP: usize = 32;
