//! Cardano's text forms of VRF keys and hashes: cardano-cli's text envelopes, bech32, and the 64 bytes of
//! a signing key with its public key.
//!
//! CIP-5 (prefixes), cardano-api `TextEnvelope`

use crate::failure::{Failure, Outcome};
use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};
use serde::Deserialize;
use tetralith_vrf::{SecretKey, Suite};
use zeroize::Zeroizing;

/// The suite of all of them.
const SUITE: Suite = Suite::Draft03Cardano;

/// A cardano-cli text envelope. Its CBOR may be secret: hex needs no escapes, so it is borrowed from the
/// text, which the caller clears.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "cborHex")]
    cbor_hex: &'a str,
}

impl<'a> Envelope<'a> {
    /// None where the text is none.
    fn read(text: &'a str) -> Option<Envelope<'a>> {
        serde_json::from_str(text).ok()
    }

    fn cbor(&self, expected: &str) -> Outcome<Zeroizing<Vec<u8>>> {
        if self.kind != expected {
            let message = format!("the text envelope is of type {:?}", self.kind);
            return Err(Failure::usage("input.malformed", message)
                .hint(format!("give one of type {expected}")));
        }
        crate::io::from_hex("the text envelope's CBOR", self.cbor_hex).map(Zeroizing::new)
    }
}

/// A VRF signing key: a text envelope, bech32 `vrf_sk`, or 64 bytes, raw or in hex, also as CBOR. None
/// where the file is something else.
pub(super) fn signing_key(file: &[u8]) -> Outcome<Option<SecretKey>> {
    let text = std::str::from_utf8(file).unwrap_or_default().trim();
    let cbor = if let Some(envelope) = Envelope::read(text) {
        envelope.cbor("VrfSigningKey_PraosVRF")?
    } else if text.starts_with("vrf_sk1") {
        with_head(&Zeroizing::new(of_bech32("vrf_sk", text)?))
    } else if file.len() == 64 {
        with_head(file)
    } else {
        let Ok(bytes) = hex::decode(text).map(Zeroizing::new) else { return Ok(None) };
        match bytes.len() {
            64 => with_head(&bytes),
            66 => bytes,
            _ => return Ok(None),
        }
    };
    Ok(Some(tetralith_vrf::cardano::signing_key_from_cbor(SUITE, &cbor)?))
}

/// A byte string of 64 bytes in CBOR.
fn with_head(key: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut cbor = Zeroizing::new(Vec::with_capacity(2 + key.len()));
    cbor.extend_from_slice(&[0x58, 0x40]);
    cbor.extend_from_slice(key);
    cbor
}

/// A VRF verification key: a text envelope, or bech32 `vrf_vk`. None where the text is something else.
pub(super) fn verification_key(text: &str) -> Outcome<Option<Vec<u8>>> {
    let text = text.trim();
    if text.starts_with("vrf_vk1") {
        return of_bech32("vrf_vk", text).map(Some);
    }
    let Some(envelope) = Envelope::read(text) else { return Ok(None) };
    let cbor = envelope.cbor("VrfVerificationKey_PraosVRF")?;
    match cbor.strip_prefix(&[0x58, 0x20]) {
        Some(key) if key.len() == 32 => Ok(Some(key.to_vec())),
        _ => {
            let message = "the text envelope's CBOR is not a byte string of 32 bytes";
            Err(Failure::usage("input.malformed", message))
        }
    }
}

/// The hash of a VRF key: hex, or bech32 `vrf_vkh`.
pub(super) fn key_hash(text: &str) -> Outcome<[u8; 32]> {
    let bytes = match text.starts_with("vrf_vkh1") {
        true => of_bech32("vrf_vkh", text)?,
        false => crate::io::from_hex("the VRF key hash", text)?,
    };
    bytes.as_slice().try_into().map_err(|_| {
        let message = format!("the VRF key hash is {} bytes long, expected 32", bytes.len());
        Failure::usage("input.length", message)
    })
}

fn of_bech32(prefix: &str, text: &str) -> Outcome<Vec<u8>> {
    // What is wrong is not echoed: the text may be a secret.
    let checked = CheckedHrpstring::new::<Bech32>(text).ok();
    let checked = checked.filter(|checked| checked.hrp().as_str() == prefix);
    checked.map(|checked| checked.byte_iter().collect()).ok_or_else(|| {
        let message = format!("not valid bech32 with the prefix {prefix}");
        Failure::usage("input.bech32", message)
            .hint("check that the text is complete: its last 6 characters are a checksum")
    })
}

/// Bytes as bech32.
pub(super) fn to_bech32(prefix: &str, bytes: &[u8]) -> String {
    let prefix = Hrp::parse(prefix).expect("our prefixes are lowercase letters");
    bech32::encode::<Bech32>(prefix, bytes).expect("keys and hashes are short")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_the_same_key() {
        let key = SecretKey::from_bytes(SUITE, &[7; 32]).expect("a key");
        let public = key.public_key().as_bytes().to_vec();
        let pair = [&[7; 32], &public[..]].concat();
        let (hexed, cbor) = (hex::encode(&pair), format!("5840{}", hex::encode(&pair)));
        let envelope = |kind: &str, cbor: &str| {
            serde_json::json!({ "type": kind, "description": "", "cborHex": cbor }).to_string()
        };
        let sk = to_bech32("vrf_sk", &pair);
        for file in [
            pair.clone(),
            hexed.clone().into_bytes(),
            format!("{hexed}\n").into_bytes(),
            cbor.clone().into_bytes(),
            format!("{sk}\n").into_bytes(),
            envelope("VrfSigningKey_PraosVRF", &cbor).into_bytes(),
        ] {
            let read = signing_key(&file).expect("valid").expect("a signing key");
            assert_eq!(read.expose_bytes(), key.expose_bytes());
        }
        let vk = to_bech32("vrf_vk", &public);
        let vk_cbor = format!("5820{}", hex::encode(&public));
        for text in [vk.clone(), envelope("VrfVerificationKey_PraosVRF", &vk_cbor)] {
            assert_eq!(verification_key(&text).expect("valid"), Some(public.clone()));
        }
        // A wrong type, a wrong checksum, a wrong prefix, another pair.
        assert!(signing_key(envelope("VrfVerificationKey_PraosVRF", &vk_cbor).as_bytes()).is_err());
        assert!(verification_key(&envelope("VrfSigningKey_PraosVRF", &cbor)).is_err());
        let mut wrong = sk.clone();
        let last = wrong.pop().expect("a character");
        wrong.push(if last == 'q' { 'p' } else { 'q' });
        assert!(signing_key(wrong.as_bytes()).is_err());
        assert!(verification_key(&vk.replace("vrf_vk1", "vrf_vk11")).is_err());
        let mut other = pair;
        other[40] ^= 1;
        assert!(signing_key(&other).is_err());
        for none in ["", "00", "{}", "hello"] {
            assert!(signing_key(none.as_bytes()).expect("no key").is_none());
            assert_eq!(verification_key(none).expect("no key"), None);
        }
        assert_eq!(key_hash(&to_bech32("vrf_vkh", &[9; 32])).expect("a hash"), [9; 32]);
        assert_eq!(key_hash(&"09".repeat(32)).expect("a hash"), [9; 32]);
        assert!(key_hash("09").is_err() && key_hash(&vk).is_err());
    }
}
