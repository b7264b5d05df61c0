//! The records of a state, and secret keys.
use tetralith_xmss::{SecretKey, state::Record};

/// Runs one input.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(record) = Record::from_bytes(bytes) {
        assert_eq!(record.to_bytes(), bytes);
    }
    if let Ok(key) = SecretKey::from_bytes(bytes) {
        assert_eq!(*key.to_bytes(), bytes);
    }
}
