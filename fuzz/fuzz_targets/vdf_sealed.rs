//! Any bytes as a sealed file: the header that parses encodes to the same bytes, and opening cannot panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_vdf::timelock::Header;

fuzz_target!(|bytes: &[u8]| {
    let mut source = bytes;
    let Ok(header) = Header::read(&mut source) else { return };
    assert_eq!(header.to_bytes(), bytes[..bytes.len() - source.len()]);
    let _ = header.open(header.base(), &mut source, &mut Vec::new());
});
