//! Any text as a key of AidosKuneen/xmss: read, or refused, and never a panic.

use tetralith_xmss::aidos::{Key, public_key_from_bytes};

/// Runs one input.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(key) = public_key_from_bytes(bytes) {
        let _ = key.verify(b"", &vec![0; key.params().signature_bytes()]);
    }
    if let Ok(text) = core::str::from_utf8(bytes)
        && let Ok(key) = Key::from_json(text)
    {
        assert!(key.leaf() <= key.params().signatures());
    }
}
