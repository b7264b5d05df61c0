//! Any text as a key file: what parses is written the same again, and opening it cannot panic.

use tetralith_keyfile::KeyFile;

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let Ok(file) = KeyFile::from_text(text) else { return };
    assert_eq!(file.to_text().as_str(), text);
    if !file.is_encrypted() {
        let _ = file.open(None);
    }
}
