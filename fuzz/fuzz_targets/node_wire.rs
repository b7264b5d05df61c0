//! Any bytes as what a peer sends, and as its body behind a right signature: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = tetralith_node::decodes(bytes);
});
