//! XMSS: public keys, verification, QRL's formats, and the hash functions that QRL's programs call.

use crate::columns::values;
use crate::errors::{Failure, Kind};
use std::collections::BTreeMap;
use tetralith_kernels::keccak::{RATE_128, RATE_256};
use tetralith_xmss::qrl::{self, Address};
use tetralith_xmss::{Item, Params, Scheme, Signature, pkix};
use wasm_bindgen::prelude::wasm_bindgen;

/// The names of all parameter sets.
#[wasm_bindgen]
pub fn params() -> Vec<String> {
    Params::all().map(|params| params.to_string()).collect()
}

/// The root of a key's tree and its public seed.
#[wasm_bindgen]
#[derive(Debug)]
pub struct PublicKey(tetralith_xmss::PublicKey);

impl PublicKey {
    pub fn of(key: tetralith_xmss::PublicKey) -> PublicKey {
        PublicKey(key)
    }
}

#[wasm_bindgen]
impl PublicKey {
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(data: &[u8], multi_tree: bool) -> Result<PublicKey, Failure> {
        let scheme = if multi_tree { Scheme::XmssMt } else { Scheme::Xmss };
        Ok(PublicKey(tetralith_xmss::PublicKey::from_bytes(scheme, data)?))
    }

    #[wasm_bindgen(js_name = fromPem)]
    pub fn from_pem(text: &str) -> Result<PublicKey, Failure> {
        Ok(PublicKey(pkix::key_of_pem(text)?))
    }

    #[wasm_bindgen(js_name = fromDer)]
    pub fn from_der(data: &[u8]) -> Result<PublicKey, Failure> {
        Ok(PublicKey(pkix::key_of_der(data)?))
    }

    #[wasm_bindgen(js_name = fromQrl)]
    pub fn from_qrl(data: &[u8]) -> Result<PublicKey, Failure> {
        Ok(PublicKey(qrl::public_key_from_bytes(data)?))
    }

    pub fn params(&self) -> String {
        self.0.params().to_string()
    }

    #[wasm_bindgen(js_name = signatureSize)]
    pub fn signature_size(&self) -> usize {
        self.0.params().signature_bytes()
    }

    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    #[wasm_bindgen(js_name = toPem)]
    pub fn to_pem(&self) -> Result<String, Failure> {
        Ok(pkix::to_pem(&self.0)?)
    }

    #[wasm_bindgen(js_name = toDer)]
    pub fn to_der(&self) -> Result<Vec<u8>, Failure> {
        Ok(pkix::to_der(&self.0)?)
    }

    #[wasm_bindgen(js_name = toQrl)]
    pub fn to_qrl(&self) -> Result<Vec<u8>, Failure> {
        Ok(qrl::public_key_to_bytes(&self.0)?.to_vec())
    }

    #[wasm_bindgen(js_name = qrlAddress)]
    pub fn qrl_address(&self) -> Result<String, Failure> {
        Ok(Address::of(&self.0)?.to_string())
    }

    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Failure> {
        Ok(self.0.verify(message, signature)?)
    }

    #[wasm_bindgen(js_name = signatureIndex)]
    pub fn signature_index(&self, signature: &[u8]) -> Result<u64, Failure> {
        Ok(Signature::from_bytes(self.0.params(), signature)?.index())
    }
}

/// A verdict for each row, 1 for valid. Each is that of decoding the key and [`PublicKey::verify`] alone.
#[wasm_bindgen(js_name = xmssVerifyMany)]
pub fn verify_many(
    multi_tree: bool,
    public_keys: &[u8],
    public_key_offsets: &[u32],
    messages: &[u8],
    message_offsets: &[u32],
    signatures: &[u8],
    signature_offsets: &[u32],
) -> Result<Vec<u8>, Failure> {
    let scheme = if multi_tree { Scheme::XmssMt } else { Scheme::Xmss };
    let public_keys = values("publicKey", public_keys, public_key_offsets)?;
    let messages = values("message", messages, message_offsets)?;
    let signatures = values("signature", signatures, signature_offsets)?;
    let rows: Vec<_> = public_keys.zip(messages).zip(signatures).collect();
    // Many rows have few keys.
    let mut keys = BTreeMap::new();
    for &((key, _), _) in &rows {
        let decode = || tetralith_xmss::PublicKey::from_bytes(scheme, key).ok();
        keys.entry(key).or_insert_with(decode);
    }
    let known = |key: &[u8]| keys.get(key).and_then(Option::as_ref);
    let items = rows.iter().filter_map(|&((key, message), signature)| {
        Some(Item { public_key: known(key)?, message, signature })
    });
    let verdicts = tetralith_xmss::verify_many(&items.collect::<Vec<_>>());
    let mut verdicts = verdicts.iter().map(Result::is_ok);
    let placed = rows
        .iter()
        .map(|((key, _), _)| u8::from(known(key).is_some() && verdicts.next().unwrap_or(false)));
    Ok(placed.collect())
}

/// Whether the text is a QRL address: its form, its descriptor and its checksum.
#[wasm_bindgen(js_name = qrlAddressIsValid)]
pub fn qrl_address_is_valid(address: &str) -> bool {
    let digits = address.strip_prefix('Q').and_then(|digits| hex::decode(digits).ok());
    digits.is_some_and(|bytes| Address::from_bytes(&bytes).is_ok())
}

#[wasm_bindgen]
pub fn sha256(data: &[u8]) -> Vec<u8> {
    use sha2::Digest;
    sha2::Sha256::digest(data).to_vec()
}

/// The longest output that the two functions below give.
const MAX_OUTPUT: u32 = 1 << 24;

fn shake(rate: usize, length: u32, data: &[u8]) -> Result<Vec<u8>, Failure> {
    if length > MAX_OUTPUT {
        let message =
            format!("{length} bytes of output asked for, at most {MAX_OUTPUT} are possible");
        return Err(Failure::new(Kind::Malformed, "input.length", message));
    }
    let mut out = vec![0; length as usize];
    tetralith_kernels::keccak::shake(rate, &[data], &mut out);
    Ok(out)
}

#[wasm_bindgen]
pub fn shake128(length: u32, data: &[u8]) -> Result<Vec<u8>, Failure> {
    shake(RATE_128, length, data)
}

#[wasm_bindgen]
pub fn shake256(length: u32, data: &[u8]) -> Result<Vec<u8>, Failure> {
    shake(RATE_256, length, data)
}
