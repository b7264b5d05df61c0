//! Any key, input and proof of any suite: no panic, and many say what one says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_vrf::{Row, Suite, verify, verify_many};

fuzz_target!(|data: (u8, u8, Vec<u8>)| {
    let (suite, split, bytes) = data;
    let suite = Suite::ALL[usize::from(suite) % Suite::ALL.len()];
    let (key_len, proof_len) = (suite.public_key_len(), suite.proof_len());
    if bytes.len() < key_len + proof_len {
        let at = usize::from(split).min(bytes.len());
        let _ = verify(suite, &bytes[..at], b"", &bytes[at..]);
        return;
    }
    let (public_key, rest) = bytes.split_at(key_len);
    let (proof, alpha) = rest.split_at(proof_len);
    let row = Row { public_key, alpha, proof };
    let verdict = verify(suite, public_key, alpha, proof);
    let many = verify_many(suite, &vec![row; usize::from(split % 20)]);
    assert!(many.iter().all(|other| *other == verdict));
});
