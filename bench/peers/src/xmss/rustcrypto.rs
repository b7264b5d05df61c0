//! RustCrypto's xmss: a port of the reference code, which rebuilds the tree for each signature.

use super::{Key, Peer, Seeds, Verifier, oid};
use ::xmss::{DetachedSignature, KeyPair, VerifyingKey, XmssParameter};
use ::xmss::{XmssSha2_10_256, XmssSha2_16_256, XmssSha2_20_256};
use ::xmss::{XmssShake_10_256, XmssShake_16_256, XmssShake_20_256};
use ::xmss::{XmssShake256_10_256, XmssShake256_16_256, XmssShake256_20_256};

/// The peer.
pub fn peer() -> Peer {
    Peer { name: "RustCrypto xmss 0.1.0-pre.0".into(), keygen, verifier }
}

fn keygen(set: &str, seeds: &Seeds) -> Option<Box<dyn Key>> {
    Some(match set {
        "XMSS-SHA2_10_256" => pair::<XmssSha2_10_256>(seeds),
        "XMSS-SHA2_16_256" => pair::<XmssSha2_16_256>(seeds),
        "XMSS-SHA2_20_256" => pair::<XmssSha2_20_256>(seeds),
        "XMSS-SHAKE_10_256" => pair::<XmssShake_10_256>(seeds),
        "XMSS-SHAKE_16_256" => pair::<XmssShake_16_256>(seeds),
        "XMSS-SHAKE_20_256" => pair::<XmssShake_20_256>(seeds),
        "XMSS-SHAKE256_10_256" => pair::<XmssShake256_10_256>(seeds),
        "XMSS-SHAKE256_16_256" => pair::<XmssShake256_16_256>(seeds),
        "XMSS-SHAKE256_20_256" => pair::<XmssShake256_20_256>(seeds),
        _ => return None,
    })
}

fn pair<P: XmssParameter + 'static>(seeds: &Seeds) -> Box<dyn Key> {
    Box::new(KeyPair::<P>::from_seed(seeds).expect("three seeds"))
}

impl<P: XmssParameter> Key for KeyPair<P> {
    fn public(&self) -> Vec<u8> {
        self.verifying_key().as_ref()[4..].to_vec()
    }

    fn sign(&mut self, message: &[u8]) -> Vec<u8> {
        let signature = self.signing_key().sign_detached(message);
        signature.expect("the key is not used up").as_ref().to_vec()
    }
}

fn verifier(set: &str, public: &[u8]) -> Box<dyn Verifier> {
    let bytes = [&oid(set).to_be_bytes()[..], public].concat();
    match set {
        "XMSS-SHA2_10_256" => public_key::<XmssSha2_10_256>(&bytes),
        "XMSS-SHA2_16_256" => public_key::<XmssSha2_16_256>(&bytes),
        "XMSS-SHA2_20_256" => public_key::<XmssSha2_20_256>(&bytes),
        "XMSS-SHAKE_10_256" => public_key::<XmssShake_10_256>(&bytes),
        "XMSS-SHAKE_16_256" => public_key::<XmssShake_16_256>(&bytes),
        "XMSS-SHAKE_20_256" => public_key::<XmssShake_20_256>(&bytes),
        "XMSS-SHAKE256_10_256" => public_key::<XmssShake256_10_256>(&bytes),
        "XMSS-SHAKE256_16_256" => public_key::<XmssShake256_16_256>(&bytes),
        _ => public_key::<XmssShake256_20_256>(&bytes),
    }
}

fn public_key<P: XmssParameter + 'static>(bytes: &[u8]) -> Box<dyn Verifier> {
    Box::new(VerifyingKey::<P>::try_from(bytes).expect("the key that was made"))
}

impl<P: XmssParameter> Verifier for VerifyingKey<P> {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(signature) = DetachedSignature::<P>::try_from(signature) else { return false };
        self.verify_detached(&signature, message).is_ok()
    }
}
