//! Keys of AidosKuneen/xmss, a library for Go.
//!
//! Its keys are XMSS-SHA2_{10,16,20}_256 with the older derivation of the chains
//! ([`Derivation::PrfCounter`]); its public keys are `height ‖ root ‖ SEED`, its signatures those of
//! RFC 8391. A key is kept as JSON: seeds, next leaf, that leaf's authentication path, and the stacks
//! of a tree traversal that computes the next paths. It is read strictly, whatever its spacing; the
//! stacks are not trusted, for this crate keeps whole trees. What is written is, byte for byte, what
//! that library would write at that leaf, so that it can go on.
//!
//! The JSON holds the seeds in the clear.

mod json;
mod traversal;
pub mod unprotected;

use crate::keys::length;
use crate::{Derivation, Error, Params, PublicKey, SecretKey, Seeds};
use core::fmt;
use json::{Merkle, Node, Priv, Stack};
use traversal::Traversal;
use zeroize::Zeroizing;

/// A key as AidosKuneen/xmss keeps it.
///
/// # Security
/// Wiped on drop. What the JSON reader held meanwhile is not.
pub struct Key {
    params: Params,
    leaf: u64,
    /// SK_SEED ‖ SK_PRF ‖ SEED
    seeds: Zeroizing<Vec<u8>>,
    root: Vec<u8>,
    auth: Vec<u8>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// Decodes the JSON of a key.
    ///
    /// # Errors
    /// [`Error::Malformed`], with the rule that is broken, and [`Error::IndexOutOfRange`].
    ///
    /// # Security
    /// Variable time.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let key = json::read(text)?;
        let params = params(key.height).ok_or(malformed("not of height 10, 16 or 20"))?;
        let limit = params.signatures();
        if u64::from(key.leaf) > limit {
            return Err(Error::IndexOutOfRange { index: key.leaf.into(), limit });
        }
        key.check_shape()?;
        let seeds = [&key.priv_.wots_seed, &key.priv_.msg_seed, &key.priv_.pub_seed];
        let mut all = Zeroizing::new(Vec::with_capacity(96));
        seeds.iter().for_each(|seed| all.extend_from_slice(&seed.0[..]));
        let auth = key.auth.iter().flat_map(|node| node.0.iter().copied()).collect();
        let root = key.priv_.root.0.to_vec();
        Ok(Self { params, leaf: key.leaf.into(), seeds: all, root, auth })
    }

    /// The parameter set.
    #[must_use]
    pub fn params(&self) -> Params {
        self.params
    }

    /// The first index that the key has not used.
    #[must_use]
    pub fn leaf(&self) -> u64 {
        self.leaf
    }

    /// The seeds, from which the key is computed.
    #[must_use]
    pub fn seeds(&self) -> Seeds {
        Seeds::of(self.params, Derivation::PrfCounter, self.seeds.clone())
    }

    /// Checks the key that was computed from the seeds against the stored root and path.
    ///
    /// # Errors
    /// [`Error::Malformed`]: the root is another, or the path is not that of the leaf, as where the
    /// leaf's number was changed; [`Error::Cache`] where the key's tree cannot be read.
    pub fn check(&self, key: &mut SecretKey) -> Result<(), Error> {
        if key.root() != self.root {
            return Err(malformed("the root is not that of the seeds"));
        }
        if self.leaf == self.params.signatures() {
            return Ok(());
        }
        let mut path = Vec::new();
        key.tree()?.auth_path(self.leaf as u32, &mut path)?;
        if path == self.auth { Ok(()) } else { Err(malformed("the path is not that of the leaf")) }
    }
}

/// Encodes a key at the first index that it has not used, whose tree is at hand.
///
/// # Errors
/// [`Error::NotAidos`]: the key is not one of AidosKuneen/xmss, which has only
/// [`Derivation::PrfCounter`]; [`Error::IndexOutOfRange`] past the end; [`Error::Cache`] where the
/// tree was not made ready or its cache is damaged.
///
/// # Security
/// Holds the seeds in the clear. Who has it signs from `leaf` on: so nobody else may.
pub fn to_json(key: &mut SecretKey, leaf: u64) -> Result<Zeroizing<String>, Error> {
    let p = key.params();
    if params(p.height()) != Some(p) {
        return Err(Error::NotAidos { why: format!("of {p}") });
    }
    if key.derivation() != Derivation::PrfCounter {
        let why = "whose chains follow from the seeds in the newer way, SP 800-208's";
        return Err(Error::NotAidos { why: why.into() });
    }
    if leaf >= p.signatures() {
        return Err(Error::IndexOutOfRange { index: leaf, limit: p.signatures() });
    }
    let priv_ = Priv {
        msg_seed: key.sk_prf().into(),
        wots_seed: key.sk_seed().into(),
        pub_seed: key.seed().into(),
        root: key.root().into(),
    };
    let mut auth = Vec::new();
    key.tree()?.auth_path(leaf as u32, &mut auth)?;
    let auth = auth.chunks(p.n()).map(Into::into).collect();
    let mut stacks = Vec::new();
    for (level, stack) in (0..).zip(Traversal::at(p.height(), leaf as u32).stacks) {
        let mut nodes = Vec::new();
        for (height, index) in stack.nodes {
            let mut node = vec![0; p.n()];
            // Past the end of the tree the traversal goes on, over nodes that no path will have.
            if u64::from(index) < p.signatures() >> height {
                key.tree()?.node(height, index as usize, &mut node)?;
            }
            nodes.push(Node { node: (&node[..]).into(), height, index });
        }
        stacks.push(Stack { stack: nodes, height: level, leaf: stack.leaf, layer: 0, tree: 0 });
    }
    let height = p.height();
    json::write(&Merkle { leaf: leaf as u32, height, auth, priv_, stacks, layer: 0, tree: 0 })
}

/// Decodes `height ‖ root ‖ SEED`.
///
/// # Errors
/// [`Error::Length`], or [`Error::Malformed`] for another height.
pub fn public_key_from_bytes(bytes: &[u8]) -> Result<PublicKey, Error> {
    length("AidosKuneen public key", 65, bytes.len())?;
    let params = params(bytes[0].into()).ok_or(Error::Malformed {
        what: "AidosKuneen public key",
        why: "not of height 10, 16 or 20",
    })?;
    PublicKey::from_parts(params, &bytes[1..])
}

/// Encodes `height ‖ root ‖ SEED`.
///
/// # Errors
/// [`Error::NotAidos`]: not XMSS-SHA2_{10,16,20}_256.
pub fn public_key_to_bytes(key: &PublicKey) -> Result<Vec<u8>, Error> {
    let p = key.params();
    if params(p.height()) != Some(p) {
        return Err(Error::NotAidos { why: format!("of {p}") });
    }
    Ok([&[p.height() as u8], key.root(), key.seed()].concat())
}

fn params(height: u32) -> Option<Params> {
    let oid = [(10, 1), (16, 2), (20, 3)].into_iter().find(|(known, _)| *known == height)?.1;
    Params::from_oid(crate::Scheme::Xmss, oid).ok()
}

fn malformed(why: &'static str) -> Error {
    Error::Malformed { what: "AidosKuneen key", why }
}
