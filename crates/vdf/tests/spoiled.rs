//! Recorded values that a failing memory changes: the proof that comes of them is noticed, and made again.

#![allow(clippy::unwrap_used)] // helpers of tests

use tetralith_vdf::eval::CHECK_EVERY;
use tetralith_vdf::{Modulus, Next, Options, Prover, System};

const T: u64 = 2 * CHECK_EVERY + 345;

#[test]
fn no_proof_is_lost_by_a_flipped_bit() {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"spoiled");
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (System::Wesolowski, 0),
        (System::Segmented, 0),
        (System::Segmented, 3),
        (System::Pietrzak, 0),
    ];
    for (system, segment) in cases {
        for threads in [1, 2] {
            for kept in [None, Some(folder.path().join("run"))] {
                let options = Options { threads, memory: 1 << 20, ..Options::default() };
                let mut prover = Prover::new(system, &modulus, &x, T, options).unwrap();
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
                // A segment that another thread proves is made again there, and nobody need know.
                let last = (system, segment) != (System::Segmented, 0);
                assert_eq!(faults.len(), usize::from(last), "{system:?} {segment} {threads}");
                for fault in faults {
                    assert!(fault.back_to < fault.found_at && fault.found_at == T);
                }
                Prover::forget(&folder.path().join("run")).unwrap();
            }
        }
    }
}
