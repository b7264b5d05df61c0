//! The seeds get through the doors: a seed that its decoder refuses is of no use.

#![allow(clippy::unwrap_used)] // helpers of tests

use tetralith_fuzz_targets::Target;
use tetralith_xmss::{PublicKey, Scheme, pkix, qrl};

fn all(target: &str, accepted: impl Fn(&[u8]) -> bool) {
    let seeds = Target::named(target).seeds();
    let refused: Vec<usize> = (0..seeds.len()).filter(|&at| !accepted(&seeds[at])).collect();
    assert!(refused.is_empty(), "{target} refuses its seeds {refused:?}");
}

fn text(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).unwrap()
}

#[test]
fn keys_and_messages_are_read() {
    use tetralith_tss::keys::{KeyShare, PublicKeyPackage};
    all("keyfile_text", |seed| tetralith_keyfile::KeyFile::from_text(text(seed)).is_ok());
    all("node_config", |seed| tetralith_node::config::Config::from_toml(text(seed)).is_ok());
    all("node_wire", tetralith_node::decodes);
    all("tss_encodings", |seed| {
        KeyShare::from_bytes(seed).is_ok() || PublicKeyPackage::from_bytes(seed).is_ok()
    });
    all("xmss_public_key", |seed| {
        let raw = [Scheme::Xmss, Scheme::XmssMt];
        raw.iter().any(|&scheme| PublicKey::from_bytes(scheme, seed).is_ok())
            || qrl::public_key_from_bytes(seed).is_ok()
            || pkix::from_der(seed).is_ok()
            || core::str::from_utf8(seed).is_ok_and(|text| {
                pkix::from_pem(text).is_ok()
                    || pkix::key_of_pem(text).is_ok()
                    || text.parse::<qrl::Address>().is_ok()
            })
    });
    all("xmss_state", |seed| {
        tetralith_xmss::state::Record::from_bytes(seed).is_ok()
            || tetralith_xmss::SecretKey::from_bytes(seed).is_ok()
    });
    all("xmss_aidos", |seed| {
        use tetralith_xmss::aidos::{Key, public_key_from_bytes};
        public_key_from_bytes(seed).is_ok()
            || core::str::from_utf8(seed).is_ok_and(|text| Key::from_json(text).is_ok())
    });
}

#[test]
fn delays_and_proofs_are_read() {
    use tetralith_vrf::{Suite, verify};
    all("vdf_proof", |seed| tetralith_vdf::Proof::from_bytes(seed).is_ok());
    all("vdf_modulus", |seed| tetralith_vdf::Modulus::from_bytes(seed).is_ok());
    all("vdf_sealed", |seed| {
        seed[0] == 0 || tetralith_vdf::timelock::Header::read(&mut &seed[1..]).is_ok()
    });
    all("vdf_checkpoint", |seed| {
        use sha2::{Digest, Sha256};
        let whole = [seed, &Sha256::digest(seed)[..]].concat();
        tetralith_vdf::Checkpoint::from_bytes(&whole).is_ok()
    });
    all("vrf_verify", |seed| {
        let suite = Suite::ALL[usize::from(seed[0])];
        let (key, rest) = seed[2..].split_at(suite.public_key_len());
        let (proof, alpha) = rest.split_at(suite.proof_len());
        verify(suite, key, alpha, proof).is_ok()
    });
}
