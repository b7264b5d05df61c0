//! Any text as a key of AidosKuneen/xmss: read, or refused, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_xmss::aidos::{Key, public_key_from_bytes};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(key) = public_key_from_bytes(bytes) {
        let _ = key.verify(b"", &vec![0; key.params().signature_bytes()]);
    }
    if let Ok(text) = core::str::from_utf8(bytes) {
        if let Ok(key) = Key::from_json(text) {
            assert!(key.leaf() <= key.params().signatures());
        }
    }
});
