//! Any bytes as a proof: a proof that parses encodes to the same bytes, and verifying it cannot panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_vdf::{Proof, System};

fuzz_target!(|bytes: &[u8]| {
    let Ok(proof) = Proof::from_bytes(bytes) else { return };
    assert_eq!(proof.to_bytes(), bytes);
    if proof.system() != System::Segmented && proof.statement().modulus.bits() <= 2048 {
        let _ = proof.verify();
    }
});
