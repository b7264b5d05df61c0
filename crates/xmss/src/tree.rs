//! Merkle trees kept whole: every node from the leaves to the root.
//!
//! A kept tree makes authentication paths free. Leaves are computed in groups, in parallel; they are
//! public, as all nodes are. RFC 8391 §4.1.6 (treeHash) and §4.1.10, all nodes at once.

use crate::address::{TreePlace, Type};
#[cfg(feature = "file")]
use crate::cache::NodeFile;
use crate::keys::SecretKey;
use crate::lanes::chains::Chain;
use crate::lanes::trees::Pair;
use crate::lanes::{Engine, Prefix};
use crate::params::Params;
use crate::{Error, wots};
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use rayon::prelude::*;
use tetralith_kernels::ct;
use tetralith_kernels::threads;
use tetralith_kernels::wipe::Wiped;

/// How far a computation of leaves has come; returning `false` cancels it.
pub struct Progress<'a> {
    report: &'a (dyn Fn(u64, u64) -> bool + Sync),
}

impl<'a> Progress<'a> {
    /// Reports by calling `report(done, of)` with counts of leaves, from any thread and in any order;
    /// the work stops soon after it returns `false`.
    pub fn new(report: &'a (dyn Fn(u64, u64) -> bool + Sync)) -> Self {
        Self { report }
    }

    /// Reports to nobody.
    #[must_use]
    pub fn silent() -> Self {
        Self { report: &|_, _| true }
    }
}

impl core::fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Progress")
    }
}

/// Leaves that outlive the process that computes them, in parts of [`PART`].
pub(crate) trait Kept: Sync {
    /// Fills in the leaves of a part; `false` where it must be computed.
    fn load(&self, part: usize, leaves: &mut [u8]) -> bool;

    /// Keeps the leaves of a part.
    fn save(&self, part: usize, leaves: &[u8]) -> Result<(), Error>;
}

/// Keeps nothing.
impl Kept for () {
    fn load(&self, _: usize, _: &mut [u8]) -> bool {
        false
    }

    fn save(&self, _: usize, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }
}

/// Counts leaves over all threads.
struct Counter<'a, 'b> {
    done: AtomicU64,
    leaves: u64,
    progress: &'a Progress<'b>,
}

impl Counter<'_, '_> {
    /// Reports `count` leaves more.
    fn add(&self, count: u64) -> Result<(), Error> {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        if (self.progress.report)(done, self.leaves) { Ok(()) } else { Err(Error::Cancelled) }
    }
}

/// One tree of the hypertree with all its nodes, in memory or in a cache file.
pub(crate) struct Tree {
    pub(crate) place: TreePlace,
    shape: Shape,
    root: Vec<u8>,
    nodes: Nodes,
}

enum Nodes {
    Memory(Vec<u8>),
    #[cfg(feature = "file")]
    File(Box<NodeFile>),
}

/// How a tree's nodes lie one after the other: level after level from the leaves up, `n` bytes each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) height: u32,
    pub(crate) n: usize,
}

impl Shape {
    pub(crate) fn of(p: Params) -> Self {
        Self { height: p.tree_height(), n: p.n() }
    }

    /// Bytes of all nodes.
    pub(crate) fn bytes(self) -> usize {
        self.n * ((2 << self.height) - 1)
    }

    /// Where a node lies: the levels below it hold 2^(height+1) − 2^(height+1−level) nodes.
    fn index(self, level: u32, i: usize) -> usize {
        (2 << self.height) - (2 << (self.height - level)) + i
    }

    /// Where the bytes of a leaf's sibling on a level begin.
    fn sibling(self, level: u32, leaf: u32) -> usize {
        self.n * self.index(level, (leaf >> level ^ 1) as usize)
    }
}

impl Tree {
    /// Computes the tree with all leaves, on rayon's threads; those that `kept` has are taken.
    pub(crate) fn build(
        key: &SecretKey,
        place: TreePlace,
        kept: &dyn Kept,
        progress: &Progress<'_>,
    ) -> Result<Self, Error> {
        let p = key.params();
        if p.tree_height() > MAX_HEIGHT {
            return Err(Error::TooTall(p));
        }
        let shape = Shape::of(p);
        let mut nodes = vec![0; shape.bytes()];
        let leaves = 1u64 << shape.height;
        let parts: Vec<_> = nodes[..shape.n << shape.height]
            .chunks_mut(shape.n * PART)
            .enumerate()
            .filter_map(|(part, out)| (!kept.load(part, out)).then_some((part, out)))
            .collect();
        let missing: usize = parts.iter().map(|(_, out)| out.len() / shape.n).sum();
        let counter = Counter { done: AtomicU64::new(leaves - missing as u64), leaves, progress };
        counter.add(0)?;
        threads::install(|| {
            parts.into_par_iter().with_max_len(1).try_for_each(|(part, out)| {
                leaf_part(key, place, part, out, &counter)?;
                kept.save(part, out)
            })
        })?;
        hash_levels(key, place, shape, &mut nodes);
        // The root is the public key, and every other node is in some signature's path.
        ct::public_bytes(&mut nodes);
        let root = nodes[nodes.len() - shape.n..].to_vec();
        Ok(Self { place, shape, root, nodes: Nodes::Memory(nodes) })
    }

    /// A tree of any nodes.
    #[cfg(all(test, feature = "file"))]
    pub(crate) fn of_nodes(place: TreePlace, shape: Shape, nodes: Vec<u8>) -> Self {
        let root = nodes[nodes.len() - shape.n..].to_vec();
        Self { place, shape, root, nodes: Nodes::Memory(nodes) }
    }

    /// Opens a tree that was stored.
    #[cfg(feature = "file")]
    pub(crate) fn from_file(
        place: TreePlace,
        shape: Shape,
        mut file: NodeFile,
    ) -> Result<Self, Error> {
        let mut root = vec![0; shape.n];
        file.read(shape.bytes() - shape.n, &mut root)?;
        Ok(Self { place, shape, root, nodes: Nodes::File(Box::new(file)) })
    }

    /// All nodes, where they are in memory.
    #[cfg(feature = "file")]
    pub(crate) fn in_memory(&self) -> Option<&[u8]> {
        match &self.nodes {
            Nodes::Memory(nodes) => Some(nodes),
            Nodes::File(_) => None,
        }
    }

    pub(crate) fn root(&self) -> &[u8] {
        &self.root
    }

    /// Copies one node.
    ///
    /// # Errors
    /// The cache file is damaged.
    #[cfg(feature = "json")]
    pub(crate) fn node(&mut self, level: u32, index: usize, out: &mut [u8]) -> Result<(), Error> {
        self.copy(self.shape.n * self.shape.index(level, index), out)
    }

    fn copy(&mut self, at: usize, out: &mut [u8]) -> Result<(), Error> {
        match &mut self.nodes {
            Nodes::Memory(nodes) => out.copy_from_slice(&nodes[at..at + out.len()]),
            #[cfg(feature = "file")]
            Nodes::File(file) => file.read(at, out)?,
        }
        Ok(())
    }

    /// Appends the authentication path of a leaf.
    ///
    /// # Errors
    /// The cache file is damaged; then nothing was appended.
    /// RFC 8391 §4.1.9, buildAuth.
    pub(crate) fn auth_path(&mut self, leaf: u32, out: &mut Vec<u8>) -> Result<(), Error> {
        let Shape { height, n } = self.shape;
        let mut path = vec![0; height as usize * n];
        for (level, node) in (0..height).zip(path.chunks_mut(n)) {
            self.copy(self.shape.sibling(level, leaf), node)?;
        }
        out.extend_from_slice(&path);
        Ok(())
    }
}

/// Computes the nodes above the leaves.
fn hash_levels(key: &SecretKey, place: TreePlace, shape: Shape, nodes: &mut [u8]) {
    let p = key.params();
    let prefixes = [Prefix::prf(p, key.seed(), &place.head(Type::HashTree))];
    let mut engine = Engine::new(p);
    let mut pairs = Vec::new();
    for level in 0..shape.height {
        let count = 1usize << (shape.height - level - 1);
        let (below, above) = (shape.index(level, 0), shape.index(level + 1, 0));
        for part in (0..count).step_by(PAIRS) {
            pairs.clear();
            pairs.extend((part..count.min(part + PAIRS)).map(|i| Pair {
                prefix: 0,
                tail: [0, level, i as u32],
                left: (below + 2 * i) as u32,
                right: (below + 2 * i + 1) as u32,
                out: (above + i) as u32,
            }));
            engine.hash_pairs(&prefixes, &pairs, nodes);
        }
    }
}

/// Computes the leaves of a part, a group at a time, so that no thread waits long for another.
fn leaf_part(
    key: &SecretKey,
    place: TreePlace,
    part: usize,
    out: &mut [u8],
    counter: &Counter<'_, '_>,
) -> Result<(), Error> {
    let n = key.params().n();
    out.par_chunks_mut(n * GROUP).enumerate().with_max_len(1).try_for_each_init(
        || Engine::new(key.params()),
        |engine, (group, out)| {
            leaf_group(engine, key, place, (part * PART + group * GROUP) as u32, out);
            counter.add((out.len() / n) as u64)
        },
    )
}

/// Computes the leaves `first ‥` into `out`.
///
/// RFC 8391 §4.1.6, Algorithm 9 lines 3 to 6; SP 800-208 §6.2.
pub(crate) fn leaf_group(
    engine: &mut Engine,
    key: &SecretKey,
    place: TreePlace,
    first: u32,
    out: &mut [u8],
) {
    let p = key.params();
    let (n, len) = (p.n(), p.len() as u32);
    let count = (out.len() / n) as u32;
    let mut values = Wiped::zeros(count as usize * p.len() * n);
    wots::secrets(engine, key, place, first, &mut values);
    let prefixes =
        [Type::Ots, Type::LTree].map(|kind| Prefix::prf(p, key.seed(), &place.head(kind)));
    engine.run_chains(&prefixes, WholeKeys { len, first, next: 0..count * len }, &mut values);
    let keys: Vec<_> = (0..count).map(|i| (1, first + i)).collect();
    engine.l_trees(&prefixes, &keys, &mut values);
    for (leaf, key) in out.chunks_mut(n).zip(values.chunks(n * p.len())) {
        leaf.copy_from_slice(&key[..n]);
    }
}

/// All chains of consecutive WOTS+ keys, from end to end.
struct WholeKeys {
    len: u32,
    first: u32,
    next: Range<u32>,
}

impl Iterator for WholeKeys {
    type Item = Chain;

    fn next(&mut self) -> Option<Chain> {
        let slot = self.next.next()?;
        let (ots, chain) = (self.first + slot / self.len, slot % self.len);
        Some(Chain { prefix: 0, ots, chain, start: 0, end: wots::LAST, slot })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.next.size_hint()
    }
}

impl ExactSizeIterator for WholeKeys {}

/// Leaves computed together: enough to fill the widest lanes at every level of an L-tree but the
/// last, few enough that their chains stay in the second-level cache.
const GROUP: usize = 32;
/// Leaves kept together while a key is computed.
pub(crate) const PART: usize = 1024;
/// The highest tree that is kept whole, 64 MB of nodes for n = 32; QRL's higher ones only verify.
const MAX_HEIGHT: u32 = 20;
/// Pairs of nodes listed at a time.
const PAIRS: usize = 1024;
