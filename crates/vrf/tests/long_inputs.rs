//! Long inputs are hashed where they are: verifying many proofs of them takes no memory by their length.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)] // the helpers of tests may panic as tests do

use tetralith_vrf::{Error, Row, SecretKey, Suite, verify_many};

/// The peak of this process's memory so far, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The only test of its process, since the peak is of the whole process.
#[test]
fn eight_long_inputs_are_not_copied() {
    let alpha = vec![7; 32 << 20];
    for suite in [Suite::Draft03Cardano, Suite::Edwards25519Ell2, Suite::Edwards25519Tai] {
        let key = SecretKey::from_bytes(suite, &[1; 32]).unwrap();
        let (output, proof) = key.evaluate(&alpha).unwrap();
        let public = key.public_key();
        let row = |alpha| Row { public_key: public.as_bytes(), alpha, proof: proof.as_bytes() };
        let mut rows = vec![row(&alpha[..]); 8];
        rows[3] = row(&alpha[1..]);
        let before = peak();
        let verdicts = verify_many(suite, &rows);
        let grown = peak() - before;
        assert!(grown < 32 << 10, "{suite}: {grown} KiB more");
        for (i, verdict) in verdicts.into_iter().enumerate() {
            assert_eq!(verdict, if i == 3 { Err(Error::Invalid) } else { Ok(output) }, "{suite}");
        }
    }
}
