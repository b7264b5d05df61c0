//! Any bytes as a checkpoint; the checksum is made right, so that the fields behind it are reached.

use sha2::{Digest, Sha256};
use tetralith_vdf::{Checkpoint, Evaluation};

/// Runs one input.
pub(crate) fn run(body: &[u8]) {
    let bytes = [body, &Sha256::digest(body)[..]].concat();
    let Ok(checkpoint) = Checkpoint::from_bytes(&bytes) else { return };
    assert_eq!(checkpoint.to_bytes(), bytes);
    let mut evaluation = Evaluation::resume(&checkpoint).expect("a checkpoint that was read");
    let _ = evaluation.advance(3);
}
