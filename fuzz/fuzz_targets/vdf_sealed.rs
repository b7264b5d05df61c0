//! Any bytes as a sealed file: what parses encodes to the same bytes, and opening cannot panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_vdf::timelock::Sealed;

fuzz_target!(|bytes: &[u8]| {
    let Ok(sealed) = Sealed::from_bytes(bytes) else { return };
    assert_eq!(sealed.to_bytes(), bytes);
    let _ = sealed.open(sealed.base());
});
