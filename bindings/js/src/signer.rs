//! Signing with a state that JavaScript's store keeps, committed before a signature exists.
//!
//! A store in a browser answers later, and a [`StateStore`] at once. So a signature takes three calls, in
//! this order only: [`Keeper::lease`] makes the record that spends an index, the package's files
//! commit it durably and say so by [`Keeper::confirm`], and [`Keeper::sign`] uses the index. A lease that was
//! not confirmed is never used.

use crate::errors::{Failure, Kind};
use crate::xmss::PublicKey;
use rand_core::Rng;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::rc::Rc;
use tetralith_xmss::state::{self, Holder, Record, StateError, StateStore};
use tetralith_xmss::{Params, Progress, SecretKey, Signer};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

/// The record on its way between a signer and JavaScript's store.
#[derive(Clone, Debug)]
struct Shelf {
    record: Rc<RefCell<Option<Record>>>,
    place: [u8; 32],
}

impl Shelf {
    fn new(place: &str, record: Option<&[u8]>) -> Result<Self, Failure> {
        let record = record.map(Record::from_bytes).transpose().map_err(refused)?;
        let place = Sha256::digest(place).into();
        Ok(Shelf { record: Rc::new(RefCell::new(record)), place })
    }
}

impl StateStore for Shelf {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        Ok(self.record.borrow().clone())
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        let mut stored = self.record.borrow_mut();
        if stored.as_ref().map(|record| record.epoch) != expected {
            return Err(StateError::Conflict { expected });
        }
        *stored = Some(record.clone());
        Ok(())
    }

    fn place(&self) -> [u8; 32] {
        self.place
    }

    /// Other tabs and processes sign with the same state, one after the other.
    fn shared(&self) -> bool {
        true
    }
}

fn refused(error: StateError) -> Failure {
    tetralith_xmss::Error::State(error).into()
}

/// How far the signature under way has come.
#[derive(Debug, PartialEq)]
enum Step {
    Idle,
    Leased,
    Confirmed,
    /// A lease was not confirmed: what the store holds is unknown.
    Broken,
}

/// A key with its state in JavaScript's store.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Keeper {
    signer: Signer<Shelf>,
    shelf: Shelf,
    secret: Zeroizing<Vec<u8>>,
    step: Step,
}

/// What the store knows a key by, from its secret.
#[wasm_bindgen(js_name = keyIdOfSecret)]
pub fn key_id_of_secret(secret: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let key = SecretKey::from_bytes(&Zeroizing::new(secret))?;
    Ok(state::key_id(&key.public_key()).to_vec())
}

fn store_id() -> [u8; 16] {
    let mut id = [0; 16];
    crate::system_rng().fill_bytes(&mut id);
    id
}

impl Keeper {
    fn with(key: SecretKey, shelf: Shelf) -> Result<Keeper, Failure> {
        let secret = key.to_bytes();
        let signer = Signer::open(key, shelf.clone(), Holder::new("javascript"))?;
        Ok(Keeper { signer, shelf, secret, step: Step::Idle })
    }
}

#[wasm_bindgen]
impl Keeper {
    /// Makes a key and the first record of its state, which [`record`](Self::record) gives.
    pub fn generate(params: &str, place: &str, now: f64) -> Result<Keeper, Failure> {
        let params = Params::from_name(params)?;
        let key = SecretKey::generate(params, &mut crate::system_rng(), &Progress::silent())?;
        let mut shelf = Shelf::new(place, None)?;
        state::create(&mut shelf, &key.public_key(), 0, store_id(), now as u64).map_err(refused)?;
        Self::with(key, shelf)
    }

    pub fn open(secret: Vec<u8>, place: &str, record: Option<Vec<u8>>) -> Result<Keeper, Failure> {
        let key = SecretKey::from_bytes(&Zeroizing::new(secret))?;
        Self::with(key, Shelf::new(place, record.as_deref())?)
    }

    /// Makes a lost or copied state usable again from the index `next` on; [`record`](Self::record) gives
    /// the record to commit.
    pub fn restore(
        secret: Vec<u8>,
        place: &str,
        record: Option<Vec<u8>>,
        next: u64,
        now: f64,
    ) -> Result<Keeper, Failure> {
        let key = SecretKey::from_bytes(&Zeroizing::new(secret))?;
        let mut shelf = Shelf::new(place, record.as_deref())?;
        state::restore(&mut shelf, &key.public_key(), next, None, store_id(), now as u64)
            .map_err(refused)?;
        Self::with(key, shelf)
    }

    /// The record as of the last change.
    pub fn record(&self) -> Vec<u8> {
        self.shelf.record.borrow().as_ref().map(Record::to_bytes).unwrap_or_default()
    }

    #[wasm_bindgen(js_name = keyId)]
    pub fn key_id(&self) -> Vec<u8> {
        state::key_id(&self.signer.public_key()).to_vec()
    }

    #[wasm_bindgen(js_name = publicKey)]
    pub fn public_key(&self) -> PublicKey {
        PublicKey::of(self.signer.public_key())
    }

    #[wasm_bindgen(js_name = exposeSecret)]
    pub fn expose_secret(&self) -> Vec<u8> {
        self.secret.to_vec()
    }

    pub fn left(&self) -> f64 {
        self.signer.status().left as f64
    }

    /// Spends an index: takes the record that the store holds, and returns the one to commit.
    pub fn lease(&mut self, record: Vec<u8>, now: f64) -> Result<Vec<u8>, Failure> {
        if self.step != Step::Idle {
            self.step = Step::Broken;
            let text = "a commit of this key's state did not end, so the store's state is unknown";
            return Err(Failure::new(Kind::State, "state.unknown", text).hint("open the key again"));
        }
        let record = Record::from_bytes(&record).map_err(refused)?;
        *self.shelf.record.borrow_mut() = Some(record);
        self.signer.reserve(1, now as u64)?;
        self.step = Step::Leased;
        Ok(self.record())
    }

    /// Says that the record of the lease is durable.
    pub fn confirm(&mut self) {
        self.step = if self.step == Step::Leased { Step::Confirmed } else { Step::Broken };
    }

    /// Signs with the index whose lease is durable.
    pub fn sign(&mut self, message: &[u8], now: f64) -> Result<Vec<u8>, Failure> {
        if self.step != Step::Confirmed {
            self.step = Step::Broken;
            let text = "the index of this signature was not committed";
            return Err(Failure::new(Kind::State, "state.refused", text));
        }
        self.step = Step::Idle;
        Ok(self.signer.sign(message, now as u64)?)
    }
}
