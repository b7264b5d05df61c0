//! Any bytes as a proof: a proof that parses encodes to the same bytes, and verifying it cannot panic.

use tetralith_vdf::{Proof, System};

/// Runs one input.
pub(crate) fn run(bytes: &[u8]) {
    let Ok(proof) = Proof::from_bytes(bytes) else { return };
    assert_eq!(proof.to_bytes(), bytes);
    if proof.system() != System::Segmented && proof.statement().modulus.bits() <= 2048 {
        let _ = proof.verify();
    }
}
