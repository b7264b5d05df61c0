//! VRF: keys, proofs, and columns of proofs.

use crate::columns::values;
use crate::errors::Failure;
use crate::system_rng;
use tetralith_vrf::{Row, Suite};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

fn suite(name: &str) -> Result<Suite, Failure> {
    Ok(name.parse::<Suite>()?)
}

/// The names of all suites.
#[wasm_bindgen]
pub fn suites() -> Vec<String> {
    Suite::ALL.iter().map(|suite| suite.name().to_owned()).collect()
}

/// A secret key, wiped when it is freed.
#[wasm_bindgen]
#[derive(Debug)]
pub struct SecretKey(tetralith_vrf::SecretKey);

#[wasm_bindgen]
impl SecretKey {
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(suite_name: &str, secret: Vec<u8>) -> Result<SecretKey, Failure> {
        let secret = Zeroizing::new(secret);
        Ok(SecretKey(tetralith_vrf::SecretKey::from_bytes(suite(suite_name)?, &secret)?))
    }

    pub fn generate(suite_name: &str) -> Result<SecretKey, Failure> {
        let suite = suite(suite_name)?;
        Ok(SecretKey(tetralith_vrf::SecretKey::generate(suite, &mut system_rng())))
    }

    pub fn suite(&self) -> String {
        self.0.suite().name().to_owned()
    }

    #[wasm_bindgen(js_name = publicKey)]
    pub fn public_key(&self) -> Vec<u8> {
        self.0.public_key().as_bytes().to_vec()
    }

    #[wasm_bindgen(js_name = exposeBytes)]
    pub fn expose_bytes(&self) -> Vec<u8> {
        self.0.expose_bytes().to_vec()
    }

    pub fn prove(&self, alpha: &[u8]) -> Result<Vec<u8>, Failure> {
        Ok(self.0.prove(alpha)?.as_bytes().to_vec())
    }
}

#[wasm_bindgen(js_name = vrfVerify)]
pub fn verify(
    suite_name: &str,
    public_key: &[u8],
    alpha: &[u8],
    proof: &[u8],
) -> Result<Vec<u8>, Failure> {
    let output = tetralith_vrf::verify(suite(suite_name)?, public_key, alpha, proof)?;
    Ok(output.as_bytes().to_vec())
}

#[wasm_bindgen(js_name = proofToHash)]
pub fn proof_to_hash(suite_name: &str, proof: &[u8]) -> Result<Vec<u8>, Failure> {
    Ok(tetralith_vrf::proof_to_hash(suite(suite_name)?, proof)?.as_bytes().to_vec())
}

#[wasm_bindgen(js_name = validateKey)]
pub fn validate_key(suite_name: &str, public_key: &[u8]) -> Result<(), Failure> {
    Ok(tetralith_vrf::validate_key(suite(suite_name)?, public_key)?)
}

/// A verdict for each row, 1 for valid. Each is that of [`verify`] alone.
#[wasm_bindgen(js_name = verifyMany)]
pub fn verify_many(
    suite_name: &str,
    public_keys: &[u8],
    public_key_offsets: &[u32],
    alphas: &[u8],
    alpha_offsets: &[u32],
    proofs: &[u8],
    proof_offsets: &[u32],
) -> Result<Vec<u8>, Failure> {
    let suite = suite(suite_name)?;
    let public_keys = values("publicKey", public_keys, public_key_offsets)?;
    let alphas = values("alpha", alphas, alpha_offsets)?;
    let proofs = values("proof", proofs, proof_offsets)?;
    let rows = public_keys.zip(alphas).zip(proofs);
    let rows = rows.map(|((public_key, alpha), proof)| Row { public_key, alpha, proof });
    let verdicts = tetralith_vrf::verify_many(suite, &rows.collect::<Vec<_>>());
    Ok(verdicts.iter().map(|verdict| u8::from(verdict.is_ok())).collect())
}
