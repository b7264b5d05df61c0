//! Any bytes as a key share, a public package or a signature: no panic, and one value has one
//! encoding.

use tetralith_tss::keys::{KeyShare, PublicKeyPackage};
use tetralith_tss::sign::Signature;

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    if let Ok(share) = KeyShare::from_bytes(data) {
        assert_eq!(&share.to_bytes()[..], data);
    }
    if let Ok(package) = PublicKeyPackage::from_bytes(data) {
        assert_eq!(package.to_bytes(), data);
    }
    if let Ok(signature) = Signature::from_bytes(data) {
        assert_eq!(&signature.to_bytes()[..], data);
    }
}
