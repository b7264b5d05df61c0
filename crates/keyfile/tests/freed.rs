//! What is left of a secret in freed memory: nothing, in writing, reading and opening a key file.

use rand_core::SeedableRng;
use tetralith_kernels::freed::{Freed, Keeping};
use tetralith_keyfile::{Cost, KeyFile, Protection};

#[global_allocator]
static ALLOCATOR: Keeping = Keeping;

/// A secret of `len` bytes, and the names that its bytes and its hex digits are searched by.
fn secret(len: usize) -> (Vec<u8>, [(String, Vec<u8>); 2]) {
    let bytes: Vec<u8> = (0..len).map(|i| (i * i * 31 + i * 7 + 5) as u8).collect();
    let digits = hex::encode(&bytes).into_bytes();
    (bytes.clone(), [("the secret".to_owned(), bytes), ("its digits".to_owned(), digits)])
}

#[test]
fn no_secret_is_left_in_freed_memory() {
    let mut rng = chacha20::ChaCha20Rng::from_seed([3; 32]);
    // Short, and so long that buffers that grow would move several times.
    for len in [32, 136, 4096, 60_000] {
        let (bytes, names) = secret(len);
        let public = KeyFile::public("vrf \"\n\u{1}\"", "draft03-cardano", &[7; 300]);
        // A random key takes the same path as a passphrase, without Argon2's memory to search.
        let key = [4; 32];
        for protection in [Protection::None, Protection::Key(&key)] {
            let is_plain = matches!(protection, Protection::None);
            let mut freed = Freed::default();
            freed.watch(|| {
                let file = public.clone().seal(&bytes, protection, Cost::LEAST, &mut rng);
                let text = file.expect("sealed").to_text();
                let read = KeyFile::from_text(&text).expect("read");
                let opened = if is_plain { read.open(None) } else { read.open_with_key(&key) };
                assert!(opened.expect("opens").as_slice() == bytes);
            });
            assert_eq!(freed.found(&names), [""; 0], "{len} bytes");
        }
    }
}

/// A wrong digit, a wrong checksum and another spelling are refused without a copy of the secret.
#[test]
fn a_refused_file_leaves_none_either() {
    let mut rng = chacha20::ChaCha20Rng::from_seed([4; 32]);
    let (bytes, names) = secret(4096);
    let file = KeyFile::public("vrf", "draft03-cardano", b"key");
    let file = file.seal(&bytes, Protection::None, Cost::LEAST, &mut rng).expect("sealed");
    let text = file.to_text();
    for (name, altered) in [
        ("a wrong checksum", text.replace("\"checksum\": \"", "\"checksum\": \"0")),
        ("another spelling", text.replace(": ", ":")),
        ("an odd digit", text.replace("\",\n    \"checksum", "0\",\n    \"checksum")),
        ("an unknown field", text.replace("\"kind\"", "\"sort\": 1, \"kind\"")),
        ("a field too many", text.replace("\"plain\"", "\"salt\": \"00\", \"plain\"")),
    ] {
        let mut freed = Freed::default();
        freed.watch(|| assert!(KeyFile::from_text(&altered).is_err(), "{name}"));
        assert_eq!(freed.found(&names), [""; 0], "{name}");
    }
}
