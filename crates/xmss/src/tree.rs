//! Merkle trees kept whole: every node from the leaves to the root.
//!
//! A kept tree makes authentication paths free. Leaves are computed in groups, in parallel; they are
//! public, as all nodes are. RFC 8391 §4.1.6 (treeHash) and §4.1.10, all nodes at once.

use crate::address::{TreePlace, Type};
use crate::keys::SecretKey;
use crate::lanes::chains::Chain;
use crate::lanes::trees::Pair;
use crate::lanes::{Engine, Prefix};
use crate::{Error, wots};
use core::sync::atomic::{AtomicU64, Ordering};
use rayon::prelude::*;
use zeroize::Zeroizing;

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

/// One tree of the hypertree with all its nodes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) place: TreePlace,
    height: u32,
    n: usize,
    /// Level after level from the leaves up, `n` bytes a node.
    nodes: Vec<u8>,
}

impl Tree {
    /// Computes the tree with all leaves, on rayon's threads.
    pub(crate) fn build(
        key: &SecretKey,
        place: TreePlace,
        progress: &Progress<'_>,
    ) -> Result<Self, Error> {
        let p = key.params();
        let (n, height) = (p.n(), p.tree_height());
        let mut nodes = vec![0; n * Self::node_count(height)];
        let leaves = 1u64 << height;
        let done = AtomicU64::new(0);
        nodes[..n << height].par_chunks_mut(n * GROUP).enumerate().try_for_each_init(
            || Engine::new(p),
            |engine, (group, out)| {
                leaf_group(engine, key, place, (group * GROUP) as u32, out);
                let count = (out.len() / n) as u64;
                let done = done.fetch_add(count, Ordering::Relaxed) + count;
                if (progress.report)(done, leaves) { Ok(()) } else { Err(Error::Cancelled) }
            },
        )?;
        let mut tree = Self { place, height, n, nodes };
        tree.hash_levels(key);
        Ok(tree)
    }

    /// Takes nodes that were stored; the caller has checked that they are this tree's.
    pub(crate) fn from_nodes(place: TreePlace, height: u32, n: usize, nodes: Vec<u8>) -> Self {
        debug_assert_eq!(nodes.len(), n * Self::node_count(height));
        Self { place, height, n, nodes }
    }

    /// Nodes of a tree of this height.
    pub(crate) fn node_count(height: u32) -> usize {
        (2usize << height) - 1
    }

    pub(crate) fn nodes(&self) -> &[u8] {
        &self.nodes
    }

    pub(crate) fn root(&self) -> &[u8] {
        &self.nodes[self.nodes.len() - self.n..]
    }

    /// Appends the authentication path of a leaf. RFC 8391 §4.1.9, buildAuth.
    pub(crate) fn auth_path(&self, leaf: u32, out: &mut Vec<u8>) {
        for level in 0..self.height {
            let sibling = (leaf >> level) ^ 1;
            let at = self.index(level, sibling as usize) * self.n;
            out.extend_from_slice(&self.nodes[at..at + self.n]);
        }
    }

    /// Where a node lies: the levels below it hold 2^(height+1) − 2^(height+1−level) nodes.
    fn index(&self, level: u32, i: usize) -> usize {
        (2usize << self.height) - (2usize << (self.height - level)) + i
    }

    fn hash_levels(&mut self, key: &SecretKey) {
        let p = key.params();
        let prefixes = [Prefix::prf(p, key.seed(), &self.place.head(Type::HashTree))];
        let mut engine = Engine::new(p);
        let mut pairs = Vec::new();
        for level in 0..self.height {
            let count = 1usize << (self.height - level - 1);
            let (below, above) = (self.index(level, 0), self.index(level + 1, 0));
            for part in (0..count).step_by(PAIRS) {
                pairs.clear();
                pairs.extend((part..count.min(part + PAIRS)).map(|i| Pair {
                    prefix: 0,
                    tail: [0, level, i as u32],
                    left: (below + 2 * i) as u32,
                    right: (below + 2 * i + 1) as u32,
                    out: (above + i) as u32,
                }));
                engine.hash_pairs(&prefixes, &pairs, &mut self.nodes);
            }
        }
    }
}

/// Computes the leaves `first ‥` into `out`.
///
/// RFC 8391 §4.1.6, Algorithm 9 lines 3 to 6; SP 800-208 §6.2.
fn leaf_group(engine: &mut Engine, key: &SecretKey, place: TreePlace, first: u32, out: &mut [u8]) {
    let p = key.params();
    let (n, len) = (p.n(), p.len() as u32);
    let count = (out.len() / n) as u32;
    let mut values = Zeroizing::new(vec![0; count as usize * p.len() * n]);
    wots::secrets(engine, key, place, first, &mut values);
    let mut chains = (0..count * len)
        .map(|slot| Chain {
            prefix: 0,
            ots: first + slot / len,
            chain: slot % len,
            start: 0,
            end: wots::LAST,
            slot,
        })
        .collect();
    let prefixes =
        [Type::Ots, Type::LTree].map(|kind| Prefix::prf(p, key.seed(), &place.head(kind)));
    engine.run_chains(&prefixes, &mut chains, &mut values);
    let keys: Vec<_> = (0..count).map(|i| (1, first + i)).collect();
    engine.l_trees(&prefixes, &keys, &mut values);
    for (leaf, key) in out.chunks_mut(n).zip(values.chunks(n * p.len())) {
        leaf.copy_from_slice(&key[..n]);
    }
}

/// Leaves computed together: enough to fill the widest lanes at every level of an L-tree but the
/// last, few enough that their chains stay in the second-level cache.
const GROUP: usize = 32;
/// Pairs of nodes listed at a time.
const PAIRS: usize = 1024;
