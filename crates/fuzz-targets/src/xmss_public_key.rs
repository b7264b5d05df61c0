//! Keys in every form: raw, QRL, DER and PEM, certificates, PKCS#8, and QRL addresses.
use tetralith_xmss::{PublicKey, Scheme, pkcs8, pkix, qrl};

/// Runs one input.
pub(crate) fn run(bytes: &[u8]) {
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
    if let Ok(key) = pkcs8::Key::from_der(bytes) {
        assert!(key.next() < key.public_key().params().signatures());
    }
    if let Ok(text) = core::str::from_utf8(bytes) {
        let _ = pkcs8::Key::from_pem(text);
        if let Ok(address) = text.parse::<qrl::Address>() {
            assert!(address.to_string().eq_ignore_ascii_case(text));
        }
        let _ = pkix::from_pem(text);
        let _ = pkix::key_of_pem(text);
    }
}
