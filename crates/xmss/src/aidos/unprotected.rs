//! Signing by index, for programs that keep the state themselves as AidosKuneen/xmss does.
//!
//! That library signs with whatever index its caller's object holds, at any height, and writes the state
//! of a tree traversal even where that runs past the last leaf. Its replacement for Go needs the same
//! results, and keeps a durable record of every index before it calls this.

use super::json::{self, Merkle, Node, Priv, Stack};
use super::traversal::Traversal;
use crate::address::{TreePlace, Type};
use crate::hash::MessageHash;
use crate::keys::length;
use crate::lanes::trees::Pair;
use crate::lanes::{Engine, Prefix};
use crate::sign::randomizer;
use crate::tree::{Tree, leaf_group};
use crate::verify::place;
use crate::{Derivation, Error, Params, Progress, PublicKey, SecretKey, Seeds};
use core::fmt;
use std::collections::HashMap;
use zeroize::Zeroizing;

/// A key that signs with any index that it is told.
///
/// # Security
/// Nothing here remembers which indices were used. Two different messages under one index let anybody
/// forge signatures: record an index durably, with its message, before you call
/// [`sign_at`](Self::sign_at). Wiped on drop.
pub struct UnprotectedKey {
    key: SecretKey,
    engine: Engine,
    /// The tree in use of each layer.
    trees: Vec<Option<Tree>>,
    beyond: Beyond,
}

impl fmt::Debug for UnprotectedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnprotectedKey")
    }
}

/// The parameters of a key: XMSS of a height where `layers` is 0, otherwise XMSS^MT.
///
/// # Errors
/// [`Error::NotAidos`]: a height outside 1 to 20, or for XMSS^MT one that is not 20, 40 or 60 or not a
/// multiple of the layers, or a tree higher than 20.
pub fn params(height: u32, layers: u32) -> Result<Params, Error> {
    let refused = || {
        let why = format!("of height {height} with {layers} layers");
        Err(Error::NotAidos { why })
    };
    let params = match (height, layers) {
        (1..=20, 0) => super::params(height).or_else(|| Params::unnamed(height, 0)),
        (20 | 40 | 60, 1..=15) if height.is_multiple_of(layers) => Params::unnamed(height, layers),
        _ => return refused(),
    };
    params.filter(|params| params.tree_height() <= 20).map_or_else(refused, Ok)
}

impl UnprotectedKey {
    /// Computes the key of `SK_SEED ‖ SK_PRF ‖ SEED`.
    ///
    /// # Errors
    /// As [`params`], and [`Error::Length`] where the seeds are not 96 bytes.
    pub fn new(height: u32, layers: u32, seeds: &[u8]) -> Result<Self, Error> {
        let params = params(height, layers)?;
        let seeds = Seeds::from_bytes(params, Derivation::PrfCounter, seeds)?;
        let mut key = seeds.build(&Progress::silent())?;
        let mut trees: Vec<_> = (0..params.layers()).map(|_| None).collect();
        if let Some(top) = trees.last_mut() {
            *top = key.take_tree();
        }
        Ok(Self { engine: Engine::new(params), key, trees, beyond: Beyond::default() })
    }

    /// The root, which with SEED is the public key.
    #[must_use]
    pub fn root(&self) -> &[u8] {
        self.key.root()
    }

    /// The length of a signature: that library's XMSS^MT writes an index in eight bytes.
    #[must_use]
    pub fn signature_bytes(&self) -> usize {
        signature_bytes(self.key.params())
    }

    /// Signs a message with an index, again and again if it is told so.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`]; [`Error::Fault`] where the signature made does not verify.
    ///
    /// # Security
    /// See [`UnprotectedKey`]. Constant time but for the message's digest.
    pub fn sign_at(&mut self, index: u64, message: &[u8]) -> Result<Vec<u8>, Error> {
        let p = self.key.params();
        if index >= p.signatures() {
            return Err(Error::IndexOutOfRange { index, limit: p.signatures() });
        }
        let r = randomizer(&self.key, index);
        let r = tetralith_kernels::ct::public(*r);
        let mut hash = MessageHash::new(p, &r[..p.n()], self.key.root(), index);
        hash.update(message);
        let mut signed = hash.finish()[..p.n()].to_vec();
        let mut out = index.to_be_bytes()[8 - p.index_bytes()..].to_vec();
        out.extend_from_slice(&r[..p.n()]);
        for layer in 0..p.layers() {
            let (at, leaf) = place(p, index, layer);
            out.extend(crate::wots::sign(&mut self.engine, &self.key, at, leaf, &signed));
            let tree = self.tree(at)?;
            tree.auth_path(leaf, &mut out)?;
            signed = tree.root().to_vec();
        }
        tetralith_kernels::ct::public_bytes(&mut out);
        self.key.public_key().verify(message, &out).map_err(|_| Error::Fault)?;
        let extended = vec![0; signature_bytes(p) - out.len()];
        Ok([extended, out].concat())
    }

    /// Encodes a tree at a leaf, up to and including the first that does not exist, byte for byte as that
    /// library does.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`].
    ///
    /// # Security
    /// Holds the seeds in the clear.
    pub fn tree_json(
        &mut self,
        layer: u32,
        tree: u64,
        leaf: u32,
    ) -> Result<Zeroizing<String>, Error> {
        let (p, at) = (self.key.params(), TreePlace { layer, tree });
        let height = p.tree_height();
        let trees = 1 << (p.height() - height * (layer.min(p.layers() - 1) + 1));
        if layer >= p.layers() || tree >= trees {
            return Err(Error::IndexOutOfRange { index: tree, limit: trees });
        }
        if leaf > 1 << height {
            return Err(Error::IndexOutOfRange { index: leaf.into(), limit: 1 << height });
        }
        let root = self.tree(at)?.root().to_vec();
        let mut node = |height, index| self.node(at, height, index);
        let auth = (0..height).map(|level| node(level, leaf >> level ^ 1).map(|n| n[..].into()));
        let auth = auth.collect::<Result<_, _>>()?;
        let stacks = (0..).zip(Traversal::at(height, leaf).stacks).map(|(level, stack)| {
            let nodes = stack.nodes.into_iter().map(|(height, index)| {
                Ok(Node { node: node(height, index)?[..].into(), height, index })
            });
            let nodes = nodes.collect::<Result<_, Error>>()?;
            Ok(Stack { stack: nodes, height: level, leaf: stack.leaf, layer, tree })
        });
        let stacks = stacks.collect::<Result<_, Error>>()?;
        let priv_ = Priv {
            msg_seed: self.key.sk_prf().into(),
            wots_seed: self.key.sk_seed().into(),
            pub_seed: self.key.seed().into(),
            root: root[..].into(),
        };
        json::write(&Merkle { leaf, height, auth, priv_, stacks, layer, tree })
    }

    /// The tree at a place, computed where it is not the one in use.
    fn tree(&mut self, at: TreePlace) -> Result<&mut Tree, Error> {
        let slot = &mut self.trees[at.layer as usize];
        match slot {
            Some(tree) if tree.place == at => {}
            _ => *slot = Some(Tree::build(&self.key, at, &(), &Progress::silent())?),
        }
        slot.as_mut().ok_or(Error::Fault)
    }

    /// A node of the tree, or of what follows if it had no end.
    fn node(&mut self, at: TreePlace, height: u32, index: u32) -> Result<[u8; 32], Error> {
        let mut node = [0; 32];
        if index < 1 << (self.key.params().tree_height() - height) {
            self.tree(at)?.node(height, index as usize, &mut node)?;
            return Ok(node);
        }
        Ok(self.beyond.node(&mut self.engine, &self.key, at, height, index))
    }
}

/// Nodes beyond a tree's last leaf, kept while one tree is in use.
#[derive(Default)]
struct Beyond {
    at: Option<TreePlace>,
    nodes: HashMap<(u32, u32), [u8; 32]>,
}

impl Beyond {
    fn node(
        &mut self,
        engine: &mut Engine,
        key: &SecretKey,
        at: TreePlace,
        height: u32,
        index: u32,
    ) -> [u8; 32] {
        if self.at != Some(at) {
            *self = Self { at: Some(at), nodes: HashMap::new() };
        }
        if let Some(node) = self.nodes.get(&(height, index)) {
            return *node;
        }
        if height == 0 {
            // A group of leaves costs little more than one.
            let mut leaves = [0; 32 * GROUP as usize];
            let first = index - index % GROUP;
            leaf_group(engine, key, at, first, &mut leaves);
            for (i, leaf) in (first..).zip(leaves.chunks_exact(32)) {
                let mut node = [0; 32];
                node.copy_from_slice(leaf);
                self.nodes.insert((0, i), node);
            }
            return self.nodes[&(0, index)];
        }
        let mut values = [0; 96];
        for (i, value) in (2 * index..).zip(values.chunks_exact_mut(32).take(2)) {
            value.copy_from_slice(&self.node(engine, key, at, height - 1, i));
        }
        let prefixes = [Prefix::prf(key.params(), key.seed(), &at.head(Type::HashTree))];
        let tail = [0, height - 1, index];
        let pair = Pair { prefix: 0, tail, left: 0, right: 1, out: 2 };
        engine.hash_pairs(&prefixes, &[pair], &mut values);
        let mut node = [0; 32];
        node.copy_from_slice(&values[64..]);
        self.nodes.insert((height, index), node);
        node
    }
}

/// Verifies a signature of that library under `root ‖ SEED`.
///
/// # Errors
/// As [`params`]; [`Error::Length`], [`Error::IndexOutOfRange`] and [`Error::Verification`].
pub fn verify(
    height: u32,
    layers: u32,
    root_seed: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), Error> {
    let params = params(height, layers)?;
    let key = PublicKey::from_parts(params, root_seed)?;
    length("signature", signature_bytes(params), signature.len())?;
    let (extended, signature) = signature.split_at(signature.len() - params.signature_bytes());
    if extended.iter().any(|byte| *byte != 0) {
        let what = "signature";
        return Err(Error::Malformed { what, why: "an index beyond the last leaf" });
    }
    key.verify(message, signature)
}

fn signature_bytes(p: Params) -> usize {
    let extended = if p.scheme() == crate::Scheme::XmssMt { 8 - p.index_bytes() } else { 0 };
    p.signature_bytes() + extended
}

/// As the kernels have lanes.
const GROUP: u32 = 32;
