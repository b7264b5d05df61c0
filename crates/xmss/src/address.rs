//! The hash function address scheme.
//!
//! An address is eight 32-bit words: layer, tree (two words), type, then three words that depend on
//! the type, and `keyAndMask`. Addresses are public. RFC 8391 §2.5.

/// What an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Type {
    /// A chain of a WOTS+ key.
    Ots = 0,
    /// A node of the tree that compresses a WOTS+ public key.
    LTree = 1,
    /// A node of a Merkle tree.
    HashTree = 2,
}

/// The place of a tree in the hypertree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TreePlace {
    pub(crate) layer: u32,
    pub(crate) tree: u64,
}

impl TreePlace {
    /// The address's first half, for hashes of one type inside this tree.
    pub(crate) fn head(self, kind: Type) -> [u8; 16] {
        let mut head = [0; 16];
        head[..4].copy_from_slice(&self.layer.to_be_bytes());
        head[4..12].copy_from_slice(&self.tree.to_be_bytes());
        head[12..].copy_from_slice(&(kind as u32).to_be_bytes());
        head
    }
}
