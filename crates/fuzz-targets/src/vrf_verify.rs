//! Any key, input and proof of any suite: no panic, and many say what one says. An input is the suite's
//! number, how many rows, the key, the proof and the VRF's input.

use tetralith_vrf::{Row, Suite, verify, verify_many};

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Some((&[suite, split], bytes)) = data.split_first_chunk() else { return };
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
    let many = verify_many(suite, &vec![row; usize::from(split % 12)]);
    assert!(many.iter().all(|other| *other == verdict));
}
