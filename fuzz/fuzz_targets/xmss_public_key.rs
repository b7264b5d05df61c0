//! Public keys in every form: raw, QRL, DER and PEM, and certificates.
#![no_main]
use libfuzzer_sys::fuzz_target;
use tetralith_xmss::{PublicKey, Scheme, pkix, qrl};

fuzz_target!(|bytes: &[u8]| {
    for scheme in [Scheme::Xmss, Scheme::XmssMt] {
        if let Ok(key) = PublicKey::from_bytes(scheme, bytes) {
            assert_eq!(key.to_bytes(), bytes);
        }
    }
    if let Ok(key) = qrl::public_key_from_bytes(bytes) {
        assert_eq!(qrl::public_key_to_bytes(&key).expect("a QRL key"), *bytes);
    }
    let _ = qrl::Address::from_bytes(bytes);
    let _ = pkix::from_der(bytes);
    let _ = pkix::Certificate::from_der(bytes);
    let _ = pkix::key_of_der(bytes);
    if let Ok(text) = core::str::from_utf8(bytes) {
        let _ = pkix::from_pem(text);
        let _ = pkix::key_of_pem(text);
    }
});
