//! Any bytes as a Cardano header, block, chunk, key or ratio: no panic.

use tetralith_vrf::Suite;
use tetralith_vrf::cardano::{Chunk, Header, Ratio, signing_key_from_cbor};

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    if let Ok(header) = Header::from_cbor(data) {
        let _ = header.verify_vrf(&[0; 32]);
    }
    for block in Chunk::new(data).flatten() {
        assert!(block.offset < data.len());
    }
    let _ = signing_key_from_cbor(Suite::Draft03Cardano, data);
    if let Ok(text) = core::str::from_utf8(data) {
        let _ = text.parse::<Ratio>();
        let _ = text.parse::<Suite>();
    }
}
