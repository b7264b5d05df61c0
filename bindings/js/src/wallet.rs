//! QRL's wallets, for programs of qrllib: keys of an extended seed that sign at an index the caller names.
//!
//! Such a program keeps the index itself, so the state of a [`Wallet`] is as volatile as the program. What
//! is kept here is a note of each index that signed in this instance of the module, with the digest
//! of its message: a second message at the same index is refused, whichever object asks. The same message
//! gives the same signature again, which is harmless.

use crate::errors::{Failure, Kind};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use tetralith_xmss::qrl::{self, Address, ExtendedSeed};
use tetralith_xmss::state::{self, Holder, Volatile};
use tetralith_xmss::{Progress, SecretKey, Signer};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

thread_local! {
    /// The digest of the message that each index of each key signed.
    static SIGNED: RefCell<HashMap<([u8; 32], u64), [u8; 32]>> = RefCell::default();
}

/// A wallet's key.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Wallet {
    seed: ExtendedSeed,
    signer: Signer<Volatile>,
}

fn signer(key: SecretKey) -> Result<Signer<Volatile>, Failure> {
    let mut store = Volatile::new();
    state::create(&mut store, &key.public_key(), 0, [1; 16], 0)
        .map_err(tetralith_xmss::Error::State)?;
    Ok(Signer::open(key, store, Holder::new("qrllib"))?)
}

#[wasm_bindgen]
impl Wallet {
    /// Computes the key of an extended seed of 51 bytes.
    #[wasm_bindgen(js_name = fromExtendedSeed)]
    pub fn from_extended_seed(seed: Vec<u8>) -> Result<Wallet, Failure> {
        let seed = ExtendedSeed::from_bytes(&Zeroizing::new(seed))?;
        let signer = signer(seed.secret_key(&Progress::silent())?)?;
        Ok(Wallet { seed, signer })
    }

    #[wasm_bindgen(js_name = publicKey)]
    pub fn public_key(&self) -> Result<Vec<u8>, Failure> {
        Ok(qrl::public_key_to_bytes(&self.signer.public_key())?.to_vec())
    }

    pub fn address(&self) -> Result<String, Failure> {
        Ok(Address::of(&self.signer.public_key())?.to_string())
    }

    pub fn signatures(&self) -> f64 {
        self.signer.params().signatures() as f64
    }

    /// Signs at an index, unless that index has signed another message in this instance.
    pub fn sign(&mut self, index: u32, message: &[u8]) -> Result<Vec<u8>, Failure> {
        let index = u64::from(index);
        if index >= self.signer.params().signatures() {
            return Err(state::StateError::Exhausted { limit: self.signer.params().signatures() })
                .map_err(|error| Failure::from(tetralith_xmss::Error::State(error)));
        }
        let key_id = state::key_id(&self.signer.public_key());
        let digest = Sha256::digest(message).into();
        // The note is made before the signature exists.
        let noted =
            SIGNED.with_borrow_mut(|signed| *signed.entry((key_id, index)).or_insert(digest));
        if noted != digest {
            let text = format!("index {index} of this key has signed another message already");
            return Err(Failure::new(Kind::State, "state.used", text).hint(
                "set an index that has never signed, and keep it where a restart cannot lose it",
            ));
        }
        if self.signer.status().next > index {
            self.signer = signer(self.seed.secret_key(&Progress::silent())?)?;
        }
        if self.signer.status().next < index {
            self.signer.resume_at(index, 0)?;
        }
        Ok(self.signer.sign(message, 0)?)
    }
}

/// Whether a signature under an extended public key of 67 bytes is valid; malformed ones are not.
#[wasm_bindgen(js_name = walletVerify)]
pub fn verify(message: &[u8], signature: &[u8], public_key: &[u8]) -> bool {
    let key = qrl::public_key_from_bytes(public_key);
    key.is_ok_and(|key| key.verify(message, signature).is_ok())
}

#[wasm_bindgen(js_name = wordsOfBytes)]
pub fn words_of_bytes(bytes: Vec<u8>) -> Result<String, Failure> {
    Ok(qrl::words_of_bytes(&Zeroizing::new(bytes))?.to_string())
}

#[wasm_bindgen(js_name = bytesOfWords)]
pub fn bytes_of_words(text: String) -> Result<Vec<u8>, Failure> {
    Ok(qrl::bytes_of_words(&Zeroizing::new(text))?.to_vec())
}

/// The 39 bytes of the address of an extended public key.
#[wasm_bindgen(js_name = addressOfKey)]
pub fn address_of_key(public_key: &[u8]) -> Result<Vec<u8>, Failure> {
    let key = qrl::public_key_from_bytes(public_key)?;
    Ok(Address::of(&key)?.to_bytes().to_vec())
}
