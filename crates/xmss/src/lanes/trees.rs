//! Hashing pairs of nodes: L-trees and Merkle trees, for one key or for many.
//!
//! What was tried: two thirds of a node's hash, its key and masks, are known from its address. For all
//! levels that do not fill the lanes, 44 nodes of one verification, they were computed beforehand in the
//! wide lanes, and only the last third level by level. One signature took 107.0 instead of 108.7
//! kilocycles on Zen 5, within the noise, and each of a batch 88 instead of 84.5: three values more for
//! each node go in and out of lanes, and a node alone is hashed with its key and masks side by side already.

use super::{Engine, Prefix};

/// One node to compute: `values[out] ← RAND_HASH(values[left], values[right])`.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) prefix: u32,
    /// The address words 4 to 6: what they mean depends on the prefix's address type.
    pub(crate) tail: [u32; 3],
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) out: u32,
}

impl Engine {
    /// Computes nodes of one level; no node's output may be another's input, unless that one comes
    /// before it.
    ///
    /// RFC 8391 §4.1.4, Algorithm 7, for many pairs.
    pub(crate) fn hash_pairs(&mut self, prefixes: &[Prefix], pairs: &[Pair], values: &mut [u8]) {
        let n = self.params.n();
        let mut rest = pairs;
        while !rest.is_empty() {
            let few = rest.len() <= self.few;
            let lanes = if few { &mut self.narrow } else { &mut self.wide };
            let (group, after) = rest.split_at(rest.len().min(lanes.width()));
            for (lane, pair) in group.iter().enumerate() {
                lanes.set_prefix(lane, &prefixes[pair.prefix as usize]);
                lanes.set_tail(lane, [pair.tail[0], pair.tail[1], pair.tail[2], 0]);
                lanes.put(lane, false, slot(values, pair.left, n));
                lanes.put(lane, true, slot(values, pair.right, n));
            }
            lanes.h(group.len());
            for (lane, pair) in group.iter().enumerate() {
                let at = pair.out as usize * n;
                lanes.take(lane, &mut values[at..at + n]);
            }
            rest = after;
        }
    }

    /// Compresses WOTS+ public keys to leaves. `keys[i]` is (prefix, OTS index) of the key whose
    /// `len` values begin at value `i·len`, where its leaf is left.
    ///
    /// RFC 8391 §4.1.5, Algorithm 8, for many keys level by level.
    pub(crate) fn l_trees(&mut self, prefixes: &[Prefix], keys: &[(u32, u32)], values: &mut [u8]) {
        let len = self.params.len() as u32;
        let mut pairs = Vec::with_capacity(keys.len() * self.params.len() / 2);
        let (mut width, mut height) = (len, 0);
        while width > 1 {
            pairs.clear();
            for (key, &(prefix, ots)) in (0..).zip(keys) {
                let base = key * len;
                pairs.extend((0..width / 2).map(|i| Pair {
                    prefix,
                    tail: [ots, height, i],
                    left: base + 2 * i,
                    right: base + 2 * i + 1,
                    out: base + i,
                }));
            }
            self.hash_pairs(prefixes, &pairs, values);
            if width % 2 == 1 {
                for key in 0..keys.len() as u32 {
                    let n = self.params.n();
                    let from = (key * len + width - 1) as usize * n;
                    let to = (key * len + width / 2) as usize * n;
                    values.copy_within(from..from + n, to);
                }
            }
            width = width.div_ceil(2);
            height += 1;
        }
    }
}

fn slot(values: &[u8], index: u32, n: usize) -> &[u8] {
    let at = index as usize * n;
    &values[at..at + n]
}
