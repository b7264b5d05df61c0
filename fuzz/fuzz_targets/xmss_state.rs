//! The records of a state, and secret keys.
#![no_main]
use libfuzzer_sys::fuzz_target;
use tetralith_xmss::{SecretKey, state::Record};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(record) = Record::from_bytes(bytes) {
        assert_eq!(record.to_bytes(), bytes);
    }
    if let Ok(key) = SecretKey::from_bytes(bytes) {
        assert_eq!(*key.to_bytes(), bytes);
    }
});
