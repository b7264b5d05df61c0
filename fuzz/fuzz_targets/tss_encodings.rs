//! Any bytes as a key share, a public package or a signature: no panic, and one value has one
//! encoding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_tss::keys::{KeyShare, PublicKeyPackage};
use tetralith_tss::sign::Signature;

fuzz_target!(|data: &[u8]| {
    if let Ok(share) = KeyShare::from_bytes(data) {
        assert_eq!(&share.to_bytes()[..], data);
    }
    if let Ok(package) = PublicKeyPackage::from_bytes(data) {
        assert_eq!(package.to_bytes(), data);
    }
    if let Ok(signature) = Signature::from_bytes(data) {
        assert_eq!(&signature.to_bytes()[..], data);
    }
});
