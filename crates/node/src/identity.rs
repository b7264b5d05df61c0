//! Who a node is: an Ed25519 key whose public half is its libp2p peer identity.
//!
//! The same key proves the node in each connection's handshake and signs every message of a
//! ceremony, so that an accusation can show what its subject really sent.

use libp2p::PeerId;
use libp2p::identity::{Keypair, PublicKey, ed25519};
use rand_core::CryptoRng;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// A node's signing key; its clones share it, and where one is moved no copy stays behind.
#[derive(Clone)]
pub struct Identity {
    keypair: Arc<Keypair>,
    id: PeerId,
}

impl core::fmt::Debug for Identity {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Identity({})", self.id)
    }
}

impl Identity {
    /// Makes the identity of a 32-byte seed (RFC 8032 §5.1.5).
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let mut seed = Zeroizing::new(*seed);
        let secret = ed25519::SecretKey::try_from_bytes(seed.as_mut_slice())
            .expect("any 32 bytes are an Ed25519 seed");
        let keypair = Arc::new(Keypair::from(ed25519::Keypair::from(secret)));
        let id = keypair.public().to_peer_id();
        Identity { keypair, id }
    }

    /// The peer identity, which contains the public key.
    #[must_use]
    pub fn id(&self) -> PeerId {
        self.id
    }

    pub(crate) fn keypair(&self) -> &Keypair {
        &self.keypair
    }

    /// Signs `statement` with Ed25519.
    pub(crate) fn sign(&self, statement: &[u8]) -> [u8; 64] {
        let signature = self.sign_and_leave(statement);
        wipe_stack::<{ 8 << 10 }>();
        signature.try_into().expect("an Ed25519 signature has 64 bytes")
    }

    #[inline(never)]
    fn sign_and_leave(&self, statement: &[u8]) -> Vec<u8> {
        self.keypair.sign(statement).expect("an Ed25519 key signs anything")
    }
}

/// Overwrites `N` bytes of the stack below its caller's frame: what was called before from there, and not
/// inlined, left its secrets in them.
#[inline(never)]
pub(crate) fn wipe_stack<const N: usize>() {
    let mut frames = [0u8; N];
    frames.zeroize();
}

/// Draws a new 32-byte seed.
pub(crate) fn new_seed(rng: &mut impl CryptoRng) -> Zeroizing<[u8; 32]> {
    let mut seed = Zeroizing::new([0; 32]);
    rng.fill_bytes(seed.as_mut_slice());
    seed
}

/// The Ed25519 key inside a peer identity; `None` for identities of other kinds, which are hashes.
pub(crate) fn verifying_key(id: &PeerId) -> Option<ed25519::PublicKey> {
    let multihash: &libp2p::multihash::Multihash<64> = id.as_ref();
    const IDENTITY_HASH: u64 = 0;
    if multihash.code() != IDENTITY_HASH {
        return None;
    }
    PublicKey::try_decode_protobuf(multihash.digest()).ok()?.try_into_ed25519().ok()
}

/// Orders parties the same way everywhere: by the bytes of their identities.
pub(crate) fn sorted(mut ids: Vec<PeerId>) -> Vec<PeerId> {
    ids.sort_by_key(|id| id.to_bytes());
    ids.dedup();
    ids
}

/// Hashes `parts` under a domain, each with its length before it.
pub(crate) fn domain_hash(domain: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in core::iter::once(&domain.as_bytes()).chain(parts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_contains_its_verifying_key() {
        let identity = Identity::from_seed(&[7; 32]);
        let key = verifying_key(&identity.id()).unwrap();
        let signature = identity.sign(b"statement");
        assert!(key.verify(b"statement", &signature));
        assert!(!key.verify(b"statements", &signature));
        assert_eq!(format!("{identity:?}"), format!("Identity({})", identity.id()));
    }

    #[test]
    fn domain_hashes_are_unambiguous() {
        assert_ne!(domain_hash("a", &[b"bc"]), domain_hash("ab", &[b"c"]));
        assert_ne!(domain_hash("a", &[b"b", b"c"]), domain_hash("a", &[b"bc"]));
    }
}
