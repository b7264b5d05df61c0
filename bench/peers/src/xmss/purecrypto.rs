//! purecrypto: many-lane SHA-256, the whole tree kept in memory.

use super::{Key, Peer, Seeds, Verifier, oid};
use ::purecrypto::xmss::{XmssParamSet, XmssPrivateKey, XmssPublicKey};

/// The peer.
pub fn peer() -> Peer {
    Peer { name: "purecrypto 0.10.4".into(), keygen, verifier }
}

fn keygen(set: &str, seeds: &Seeds) -> Option<Box<dyn Key>> {
    let set = XmssParamSet::from_oid(oid(set))?;
    Some(Box::new(XmssPrivateKey::from_seed(set, seeds)))
}

impl Key for XmssPrivateKey {
    fn public(&self) -> Vec<u8> {
        tail(self.public_key().to_bytes())
    }

    fn sign(&mut self, message: &[u8]) -> Vec<u8> {
        XmssPrivateKey::sign(self, message).expect("the key is not used up")
    }
}

/// Without an identifier in front.
fn tail(bytes: &[u8]) -> Vec<u8> {
    bytes[bytes.len() - 64..].to_vec()
}

fn verifier(set: &str, public: &[u8]) -> Box<dyn Verifier> {
    let set = XmssParamSet::from_oid(oid(set)).expect("the set that made the key");
    Box::new(XmssPublicKey::from_bytes(set, public).expect("the key that was made"))
}

impl Verifier for XmssPublicKey {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> bool {
        XmssPublicKey::verify(self, message, signature)
    }
}
