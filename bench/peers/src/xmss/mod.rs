//! XMSS: key generation, signing, verification, with a message of 32 bytes.
//!
//! All peers get the same three seeds, so they must make the same key and the same first signature,
//! and each must verify that signature and refuse it for another message, before anything is timed.
//! Keys are in memory; nobody here pays for storing state.

#[cfg(feature = "botan")]
mod botan;
mod go_xmssmt;
#[cfg(feature = "liboqs")]
mod liboqs;
#[cfg(feature = "purecrypto")]
mod purecrypto;
#[cfg(feature = "rustcrypto-xmss")]
mod rustcrypto;
#[cfg(feature = "wolfssl")]
mod wolfssl;

use crate::measure::{Case, Runner};
use sha2::{Digest, Sha256};

/// SK_SEED, SK_PRF, PUB_SEED.
pub type Seeds = [u8; 96];

/// A private key that signs once with each index.
pub trait Key {
    /// Root and PUB_SEED.
    fn public(&self) -> Vec<u8>;
    fn sign(&mut self, message: &[u8]) -> Vec<u8>;
}

/// A public key.
pub trait Verifier {
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> bool;
}

/// One peer.
pub struct Peer {
    pub name: String,
    /// `None` where the peer lacks the parameter set.
    pub keygen: fn(set: &str, seeds: &Seeds) -> Option<Box<dyn Key>>,
    /// From root and PUB_SEED.
    pub verifier: fn(set: &str, public: &[u8]) -> Box<dyn Verifier>,
}

fn peers() -> Vec<Peer> {
    vec![
        #[cfg(feature = "purecrypto")]
        purecrypto::peer(),
        #[cfg(feature = "wolfssl")]
        wolfssl::peer(),
        #[cfg(feature = "botan")]
        botan::peer(),
        #[cfg(feature = "rustcrypto-xmss")]
        rustcrypto::peer(),
        #[cfg(feature = "liboqs")]
        liboqs::peer(),
    ]
}

/// The parameter sets of RFC 8391 and SP 800-208 that are measured.
pub fn sets(heights: &[u32]) -> Vec<String> {
    let families = ["SHA2", "SHAKE256", "SHAKE"];
    let of_height = |h: &u32| families.map(|family| format!("XMSS-{family}_{h}_256"));
    heights.iter().flat_map(of_height).collect()
}

/// The algorithm identifier of a parameter set (RFC 8391 §8, SP 800-208 §8).
#[allow(dead_code)] // unused only where every peer is left out
pub fn oid(set: &str) -> u32 {
    let base = match set.split(['-', '_']).nth(1) {
        Some("SHA2") => 0x01,
        Some("SHAKE") => 0x07,
        _ => 0x10,
    };
    base + match set.rsplit('_').nth(1) {
        Some("10") => 0,
        Some("16") => 1,
        _ => 2,
    }
}

/// What every peer must agree on.
pub struct Reference {
    pub public: Vec<u8>,
    pub signature: Vec<u8>,
}

/// Checks, then measures, every peer.
pub fn run(runner: &mut Runner, heights: &[u32]) -> Result<(), String> {
    for set in sets(heights) {
        let mut reference = None;
        for peer in peers() {
            one(runner, &peer, &set, &mut reference)
                .map_err(|what| format!("{}: {what}", peer.name))?;
        }
        go_xmssmt::run(runner, &set, reference.as_ref())?;
    }
    Ok(())
}

fn one(
    runner: &mut Runner,
    peer: &Peer,
    set: &str,
    reference: &mut Option<Reference>,
) -> Result<(), String> {
    let names = ["xmss.keygen", "xmss.sign", "xmss.verify"];
    if !names.iter().any(|name| runner.wants(name, set, &peer.name)) {
        return Ok(());
    }
    let seeds = seeds();
    let Some(mut key) = (peer.keygen)(set, &seeds) else { return Ok(()) };
    let message = message();
    let (public, signature) = (key.public(), key.sign(&message));
    let expected = reference.get_or_insert_with(|| {
        let (public, signature) = (public.clone(), signature.clone());
        Reference { public, signature }
    });
    if public != expected.public {
        return Err(format!("another root for {set}: {}", hex::encode(public)));
    }
    if signature != expected.signature {
        return Err(format!("another first signature for {set}"));
    }
    let mut verifier = (peer.verifier)(set, &public);
    if !verifier.verify(&message, &signature) || verifier.verify(&[0; 32], &signature) {
        return Err(format!("verifies wrongly for {set}"));
    }
    let bytes = signature.len();
    runner.measure(Case::new("xmss.keygen", set, &peer.name).bytes(64), 1, || {
        std::hint::black_box((peer.keygen)(set, &seeds));
    });
    runner.measure(Case::new("xmss.sign", set, &peer.name).bytes(bytes), 1, || {
        std::hint::black_box(key.sign(&message));
    });
    runner.measure(Case::new("xmss.verify", set, &peer.name).bytes(bytes), 1, || {
        assert!(verifier.verify(&message, &signature), "a valid signature verifies");
    });
    Ok(())
}

fn message() -> [u8; 32] {
    Sha256::digest("tetralith xmss message").into()
}

fn seeds() -> Seeds {
    let part = |name: &str| Sha256::digest(format!("tetralith xmss {name}"));
    [part("SK_SEED"), part("SK_PRF"), part("PUB_SEED")].concat().try_into().expect("3 × 32 bytes")
}
