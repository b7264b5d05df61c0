//! Recorded values that a failing memory changes: the proof that comes of them is noticed, and made again.

#![allow(clippy::unwrap_used)] // helpers of tests

use sha2::{Digest, Sha256};
use tetralith_vdf::eval::CHECK_EVERY;
use tetralith_vdf::{Error, Modulus, Next, Options, Prover, System};

const T: u64 = 2 * CHECK_EVERY + 345;

#[test]
fn no_proof_is_lost_by_a_flipped_bit() {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"spoiled");
    let folder = tempfile::tempdir().unwrap();
    let (few, much) = (1 << 20, 1 << 26);
    let cases = [
        (System::Wesolowski, 0, T, few),
        // All values are recorded where the kernel does that.
        (System::Wesolowski, 0, T / 16, much),
        (System::Segmented, 0, T, few),
        (System::Segmented, 3, T, few),
        (System::Pietrzak, 0, T, few),
    ];
    for (system, segment, iterations, memory) in cases {
        for threads in [1, 2] {
            for kept in [None, Some(folder.path().join("run"))] {
                let options = Options { threads, memory, ..Options::default() };
                let mut prover = Prover::new(system, &modulus, &x, iterations, options).unwrap();
                prover.inject_fault(segment);
                let mut faults = Vec::new();
                let run = prover.run_kept(kept.as_deref(), &mut |progress| {
                    faults.extend(progress.fault);
                    assert_eq!(progress.trouble, None);
                    Next::GoOn
                });
                let (y, proof) = run.unwrap();
                proof.verify().unwrap();
                assert_eq!(proof.statement().y, y.element(&modulus), "{system:?} {segment}");
                let [fault] = faults[..] else { panic!("{system:?} {segment}: {faults:?}") };
                assert!(fault.back_to <= fault.found_at && fault.found_at <= iterations);
                Prover::forget(&folder.path().join("run")).unwrap();
            }
        }
    }
}

/// The check modulo c says nothing where x is 0 or ±1 modulo c, so that proofs are verified there.
#[test]
fn a_flipped_bit_is_found_for_any_x() {
    let modulus = Modulus::rsa2048();
    let (c, mut found) = (4_194_287u32, 0);
    for x in [1, 2, c - 1, c, c + 1] {
        let (x, _) = modulus.reduce(&x.to_be_bytes());
        for t in [0, 1, 254, 255, 256, 257, 1000, 5000] {
            for spoiled in [false, true] {
                let mut prover =
                    Prover::new(System::Wesolowski, &modulus, &x, t, Options::default()).unwrap();
                if spoiled {
                    prover.inject_fault(0);
                }
                let mut faults = 0;
                let (y, proof) = (prover.run(&mut |progress| {
                    faults += usize::from(progress.fault.is_some());
                    std::ops::ControlFlow::Continue(())
                }))
                .unwrap();
                proof.verify().unwrap();
                assert_eq!(proof.statement().y, y.element(&modulus));
                assert!(faults <= usize::from(spoiled), "{t}");
                found += faults;
            }
        }
    }
    // Below 2^255 the quotient is zero, and no value is used; and any value's exponent may be zero.
    assert!(found > 5, "{found}");
}

/// Earlier versions kept proofs that nobody had checked.
#[test]
fn a_kept_proof_that_is_wrong() {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"kept");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut prover =
        Prover::new(System::Segmented, &modulus, &x, 2 * T, Options::default()).unwrap();
    let stopped = prover.run_kept(Some(&path), &mut |progress| {
        if progress.done > 3 * T / 2 { Next::Stop } else { Next::Save }
    });
    assert!(matches!(stopped, Err(Error::Cancelled)));
    for name in ["run.run", "run.run.copy"] {
        let name = folder.path().join(name);
        let mut bytes = std::fs::read(&name).unwrap();
        let end = bytes.len() - 32;
        assert_eq!(bytes[end..], Sha256::digest(&bytes[..end])[..]);
        bytes[end - 1] ^= 1;
        let hash = Sha256::digest(&bytes[..end]);
        bytes[end..].copy_from_slice(&hash);
        std::fs::write(&name, &bytes).unwrap();
    }
    let (_, proof) = prover.run_kept(Some(&path), &mut |_| Next::GoOn).unwrap();
    proof.verify().unwrap();
}
