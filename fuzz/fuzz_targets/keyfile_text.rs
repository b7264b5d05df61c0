//! Any text as a key file: what parses is written the same again, and opening it cannot panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_keyfile::KeyFile;

fuzz_target!(|text: &str| {
    let Ok(file) = KeyFile::from_text(text) else { return };
    assert_eq!(file.to_text().as_str(), text);
    if !file.is_encrypted() {
        let _ = file.open(None);
    }
});
