//! RFC 8391's algorithms as they are written, one hash at a time: the oracle of the tests.
//!
//! Names and order are the standard's. A tree is computed anew for each signature, which only small
//! heights bear.

use crate::hash::{Value, h_msg, prf, spec::*};
use crate::keys::{Derivation, SecretKey};
use crate::params::Params;

/// RFC 8391 §2.5.
#[derive(Clone, Copy, Default)]
struct Adrs([u32; 8]);

impl Adrs {
    fn new(layer: u32, tree: u64, kind: u32) -> Self {
        Self([layer, (tree >> 32) as u32, tree as u32, kind, 0, 0, 0, 0])
    }

    fn with(mut self, word: usize, value: u32) -> Self {
        self.0[word] = value;
        self
    }

    fn bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (bytes, word) in bytes.chunks_mut(4).zip(self.0) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }
}

fn xor(p: Params, a: &Value, b: &Value) -> Vec<u8> {
    a.iter().zip(b).take(p.n()).map(|(a, b)| a ^ b).collect()
}

fn key_and_mask(p: Params, seed: &[u8], adrs: Adrs, which: u32) -> Value {
    *prf(p, seed, &adrs.with(7, which).bytes())
}

/// Algorithm 2.
fn chain(p: Params, mut x: Value, i: u32, s: u32, seed: &[u8], adrs: Adrs) -> Value {
    for step in i..i + s {
        let adrs = adrs.with(6, step);
        let key = key_and_mask(p, seed, adrs, 0);
        let mask = key_and_mask(p, seed, adrs, 1);
        x = f(p, &key[..p.n()], &xor(p, &x, &mask));
    }
    x
}

/// Algorithm 7.
fn rand_hash(p: Params, left: &Value, right: &Value, seed: &[u8], adrs: Adrs) -> Value {
    let key = key_and_mask(p, seed, adrs, 0);
    let masks = [1, 2].map(|which| key_and_mask(p, seed, adrs, which));
    h(p, &key[..p.n()], &[xor(p, left, &masks[0]), xor(p, right, &masks[1])].concat())
}

/// Algorithm 8.
fn l_tree(p: Params, mut pk: Vec<Value>, seed: &[u8], adrs: Adrs) -> Value {
    let mut height = 0;
    while pk.len() > 1 {
        pk = (0..)
            .zip(pk.chunks(2))
            .map(|(i, pair)| match pair {
                [l, r] => rand_hash(p, l, r, seed, adrs.with(5, height).with(6, i)),
                _ => pair[0],
            })
            .collect();
        height += 1;
    }
    pk[0]
}

/// SP 800-208 §6.2, or the older derivation.
fn wots_secret(key: &SecretKey, adrs: Adrs, i: u32) -> Value {
    let p = key.params();
    match key.derivation() {
        Derivation::PrfKeygen => prf_keygen(p, key.sk_seed(), key.seed(), &adrs.with(5, i).bytes()),
        Derivation::PrfCounter => {
            let ots_seed = prf(p, key.sk_seed(), &adrs.bytes());
            let mut counter = [0; 32];
            counter[28..].copy_from_slice(&i.to_be_bytes());
            *prf(p, &ots_seed[..p.n()], &counter)
        }
    }
}

/// Algorithm 1 and the checksum of Algorithm 5.
fn digits(p: Params, m: &[u8]) -> Vec<u32> {
    let base_w = |x: &[u8], len: usize| -> Vec<u32> {
        x.iter().flat_map(|byte| [u32::from(byte >> 4), u32::from(byte & 15)]).take(len).collect()
    };
    let mut msg = base_w(m, p.len_1());
    let csum: u32 = msg.iter().map(|digit| 15 - digit).sum();
    msg.extend(base_w(&(csum << 4).to_be_bytes()[2..], 3));
    msg
}

fn leaf(key: &SecretKey, layer: u32, tree: u64, i: u32) -> Value {
    let (p, seed) = (key.params(), key.seed());
    let ots = Adrs::new(layer, tree, 0).with(4, i);
    let pk = (0..p.len() as u32)
        .map(|j| chain(p, wots_secret(key, ots, j), 0, 15, seed, ots.with(5, j)))
        .collect();
    l_tree(p, pk, seed, Adrs::new(layer, tree, 1).with(4, i))
}

/// Algorithm 9, by recursion.
fn tree_hash(key: &SecretKey, layer: u32, tree: u64, height: u32, i: u32) -> Value {
    if height == 0 {
        return leaf(key, layer, tree, i);
    }
    let [l, r] = [2 * i, 2 * i + 1].map(|i| tree_hash(key, layer, tree, height - 1, i));
    let adrs = Adrs::new(layer, tree, 2).with(5, height - 1).with(6, i);
    rand_hash(key.params(), &l, &r, key.seed(), adrs)
}

/// Algorithm 10, or 15: the root.
pub(crate) fn root(key: &SecretKey) -> Value {
    let p = key.params();
    tree_hash(key, p.layers() - 1, 0, p.tree_height(), 0)
}

/// Algorithm 11.
fn tree_sig(key: &SecretKey, layer: u32, tree: u64, i: u32, m: &[u8]) -> Vec<u8> {
    let (p, n) = (key.params(), key.params().n());
    let ots = Adrs::new(layer, tree, 0).with(4, i);
    let mut sig = Vec::new();
    for (j, digit) in (0..).zip(digits(p, &m[..n])) {
        let x = chain(p, wots_secret(key, ots, j), 0, digit, key.seed(), ots.with(5, j));
        sig.extend_from_slice(&x[..n]);
    }
    for level in 0..p.tree_height() {
        sig.extend_from_slice(&tree_hash(key, layer, tree, level, i >> level ^ 1)[..n]);
    }
    sig
}

/// Algorithm 12, or 16.
pub(crate) fn sign(key: &SecretKey, index: u64, m: &[u8]) -> Vec<u8> {
    let (p, n) = (key.params(), key.params().n());
    let mut bytes = [0; 32];
    bytes[24..].copy_from_slice(&index.to_be_bytes());
    let r = *prf(p, key.sk_prf(), &bytes);
    let mut node = h_msg(p, &r[..n], &root(key)[..n], index, m);
    let mut sig = index.to_be_bytes()[8 - p.index_bytes()..].to_vec();
    sig.extend_from_slice(&r[..n]);
    let height = p.tree_height();
    let mut tree = index;
    for layer in 0..p.layers() {
        let i = (tree % (1 << height)) as u32;
        tree >>= height;
        sig.extend(tree_sig(key, layer, tree, i, &node));
        node = tree_hash(key, layer, tree, height, 0);
    }
    sig
}

/// Algorithm 14, or 17: the root that a signature leads to (Algorithm 13 for each layer).
pub(crate) fn root_from_sig(p: Params, root: &[u8], seed: &[u8], m: &[u8], sig: &[u8]) -> Value {
    let n = p.n();
    let (index, rest) = sig.split_at(p.index_bytes());
    let mut tree = index.iter().fold(0, |index, byte| index << 8 | u64::from(*byte));
    let (r, rest) = rest.split_at(n);
    let mut node = h_msg(p, r, root, tree, m);
    let height = p.tree_height();
    for (layer, sig) in (0..).zip(rest.chunks((p.len() + height as usize) * n)) {
        let mut i = (tree % (1 << height)) as u32;
        tree >>= height;
        let (ots, auth) = sig.split_at(p.len() * n);
        let adrs = Adrs::new(layer, tree, 0).with(4, i);
        let pk = (0..)
            .zip(ots.chunks(n))
            .zip(digits(p, &node[..n]))
            .map(|((j, x), digit)| {
                chain(p, crate::lanes::value(x), digit, 15 - digit, seed, adrs.with(5, j))
            })
            .collect();
        node = l_tree(p, pk, seed, Adrs::new(layer, tree, 1).with(4, i));
        for (level, sibling) in (0..).zip(auth.chunks(n)) {
            let sibling = crate::lanes::value(sibling);
            let adrs = Adrs::new(layer, tree, 2).with(5, level).with(6, i >> 1);
            let (l, r) = if i & 1 == 0 { (&node, &sibling) } else { (&sibling, &node) };
            node = rand_hash(p, l, r, seed, adrs);
            i >>= 1;
        }
    }
    node
}

#[cfg(test)]
mod tests;
