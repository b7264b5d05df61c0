//! The signer over a state: each index once, and trees from files, damaged ones made anew.

use super::holder;
use tetralith_xmss::state::{StateError, Volatile, create};
use tetralith_xmss::{Derivation, Error, HashFunction, Params, Progress, SecretKey, Signer};

fn small_key() -> SecretKey {
    let params = Params::qrl(HashFunction::Sha2, 6).unwrap();
    SecretKey::from_seeds(params, Derivation::PrfCounter, &[3; 96], &Progress::silent()).unwrap()
}

#[test]
fn a_signer_signs_each_index_once_and_keeps_its_trees() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("key");
    let key = small_key();
    let public = key.public_key();
    key.save_cache(&base).unwrap();
    let bytes = key.to_bytes();
    let mut store = Volatile::new();
    create(&mut store, &public, 0, [0; 16], 0).unwrap();
    let mut signer = Signer::open(SecretKey::from_bytes(&bytes).unwrap(), store, holder()).unwrap();
    signer.set_cache(&base);
    signer.set_batch(7);
    let cache = folder.path().join("key.layer0");
    let good = std::fs::read(&cache).unwrap();
    for index in 0..64u32 {
        if index == 40 {
            // A damaged cache is found and made anew, in the middle of work.
            let mut bad = good.clone();
            bad[100] ^= 1;
            std::fs::write(&cache, bad).unwrap();
        }
        let message = index.to_be_bytes();
        if index % 3 == 0 {
            // Prepared ahead, a signature is the same; the vectors hold for those that are not.
            signer.prepare_ahead(2).unwrap();
        }
        let signature = signer.sign(&message, 0).unwrap();
        assert_eq!(signature[..4], message);
        assert_eq!(public.verify(&message, &signature), Ok(()));
    }
    let exhausted = StateError::Exhausted { limit: 64 };
    assert_eq!(signer.sign(b"one more", 0), Err(Error::State(exhausted)));
    assert_eq!(signer.close(0).unwrap().used, 64);
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("key");
    let key = small_key();
    let public = key.public_key();
    key.save_cache(&base).unwrap();
    let cache = folder.path().join("key.layer0");
    let good = std::fs::read(&cache).unwrap();
    let bytes = key.to_bytes();
    let damages: [&dyn Fn(&mut Vec<u8>); 4] = [
        &|bytes| bytes[0] ^= 1,
        &|bytes| bytes[50] ^= 1,
        &|bytes| bytes.truncate(bytes.len() - 1),
        &|bytes| bytes.clear(),
    ];
    for damage in damages {
        let mut bad = good.clone();
        damage(&mut bad);
        std::fs::write(&cache, bad).unwrap();
        let mut store = Volatile::new();
        create(&mut store, &public, 5, [0; 16], 0).unwrap();
        let mut signer =
            Signer::open(SecretKey::from_bytes(&bytes).unwrap(), store, holder()).unwrap();
        signer.set_cache(&base);
        let signature = signer.sign(b"m", 0).unwrap();
        assert_eq!(public.verify(b"m", &signature), Ok(()));
        assert_eq!(std::fs::read(&cache).unwrap(), good);
    }
}
