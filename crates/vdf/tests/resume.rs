//! Proofs whose run is stopped, damaged and taken up again.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::Path;
use tetralith_vdf::eval::{CHECK_EVERY, Trouble};
use tetralith_vdf::{Error, Modulus, Next, Options, Proof, Prover, Residue, System};

const SYSTEMS: [System; 3] = [System::Wesolowski, System::Segmented, System::Pietrzak];

/// A little more than four stretches between checks, no multiple of anything.
const T: u64 = 4 * CHECK_EVERY + 12_345;

fn small() -> Modulus {
    use rand_core::SeedableRng;
    let mut rng = chacha20::ChaCha20Rng::seed_from_u64(11);
    tetralith_vdf::timelock::random_modulus(256, &mut rng).unwrap()
}

fn prover(system: System, modulus: &Modulus, x: &Residue, threads: usize) -> Prover {
    let options = Options { memory: 1 << 20, threads, ..Options::default() };
    Prover::new(system, modulus, x, T, options).unwrap()
}

fn whole(system: System, modulus: &Modulus, x: &Residue) -> (Residue, Proof) {
    prover(system, modulus, x, 1).run_kept(None, &mut |_| Next::GoOn).unwrap()
}

/// Runs until the `steps`th call of the watcher that finds new squarings, and stops there.
fn stopped(
    system: System,
    modulus: &Modulus,
    x: &Residue,
    path: &Path,
    steps: u32,
) -> Result<(Residue, Proof), Error> {
    let mut left = steps;
    let threads = 1 + steps as usize % 2;
    prover(system, modulus, x, threads).run_kept(Some(path), &mut |progress| {
        if progress.proving {
            return Next::GoOn;
        }
        left = left.saturating_sub(1);
        if left == 0 { Next::Stop } else { Next::Save }
    })
}

#[test]
fn stopped_runs_end_as_whole_ones() {
    let folder = tempfile::tempdir().unwrap();
    for modulus in [small(), Modulus::rsa2048()] {
        let (x, _) = modulus.reduce(b"stopped");
        for system in SYSTEMS {
            let expected = whole(system, &modulus, &x);
            let path = folder.path().join(format!("{}-{}", system.name(), modulus.bits()));
            let mut stops = 0;
            let ended = loop {
                match stopped(system, &modulus, &x, &path, 2 + stops % 3) {
                    Err(Error::Cancelled) => stops += 1,
                    ended => break ended.unwrap(),
                }
                assert!(stops < 20, "{system:?} does not end");
            };
            assert!(stops > 1, "{system:?}");
            assert_eq!(ended, expected, "{system:?}");
            ended.1.verify().unwrap();
            // What is kept is removed when asked.
            Prover::forget(&path).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let left: Vec<_> = std::fs::read_dir(folder.path())
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|file| file.starts_with(&name))
                .collect();
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

/// Nobody has to wait for a proof that nobody wants; the squarings are kept.
#[test]
fn stopped_while_proving() {
    let folder = tempfile::tempdir().unwrap();
    let modulus = small();
    let (x, _) = modulus.reduce(b"proving");
    for (system, threads) in SYSTEMS.into_iter().zip([1, 2, 2]) {
        let path = folder.path().join(system.name());
        let mut proving = 0;
        let result = prover(system, &modulus, &x, threads).run_kept(Some(&path), &mut |progress| {
            proving += u32::from(progress.proving);
            assert!(!progress.proving || progress.done == T);
            if proving > 0 { Next::Stop } else { Next::GoOn }
        });
        assert!(matches!(result, Err(Error::Cancelled)), "{system:?}");
        let mut squared = 0;
        let again = prover(system, &modulus, &x, threads).run_kept(Some(&path), &mut |progress| {
            squared += u32::from(!progress.proving && progress.done < T);
            Next::GoOn
        });
        assert_eq!((again.unwrap(), squared), (whole(system, &modulus, &x), 0), "{system:?}");
    }
}

/// The same where all values are recorded, if the kernel does that; and with less memory than they took.
#[test]
fn stopped_while_proving_from_all_values() {
    let folder = tempfile::tempdir().unwrap();
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(b"all");
    let path = folder.path().join("run");
    let t = 40_000;
    let prover = |memory| {
        let options = Options { memory, ..Options::default() };
        Prover::new(System::Wesolowski, &modulus, &x, t, options).unwrap()
    };
    let stopped = prover(1 << 26).run_kept(Some(&path), &mut |progress| {
        if progress.proving { Next::Stop } else { Next::GoOn }
    });
    assert!(matches!(stopped, Err(Error::Cancelled)));
    let mut squared = 0;
    let ended = prover(1 << 20).run_kept(Some(&path), &mut |progress| {
        squared += u32::from(!progress.proving && progress.done < t);
        Next::GoOn
    });
    let whole = prover(1 << 20).run_kept(None, &mut |_| Next::GoOn).unwrap();
    assert_eq!((ended.unwrap(), squared), (whole, 0));
}

#[test]
fn damaged_and_foreign_states() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let modulus = small();
    let (x, _) = modulus.reduce(b"damaged");
    let system = System::Wesolowski;
    assert!(matches!(stopped(system, &modulus, &x, &path, 3), Err(Error::Cancelled)));
    // Of another run: refused, and nothing is changed.
    let (other, _) = modulus.reduce(b"another");
    let refused = |result: Result<_, Error>| match result {
        Err(Error::CheckpointOther(what)) => what,
        other => panic!("{:?}", other.map(|_: (Residue, Proof)| ())),
    };
    assert_eq!(refused(stopped(system, &modulus, &other, &path, 2)), "input");
    assert_eq!(refused(stopped(System::Pietrzak, &modulus, &x, &path, 2)), "proof system");
    let mut shorter = Prover::new(system, &modulus, &x, T - 1, Options::default()).unwrap();
    let result = shorter.run_kept(Some(&path), &mut |_| Next::GoOn);
    assert_eq!(refused(result), "number of squarings");
    // Takes the run up to its end, and tells whether it said that something was damaged, and from where.
    let taken_up = || {
        let mut first = None;
        let ended = prover(system, &modulus, &x, 1).run_kept(Some(&path), &mut |progress| {
            let damaged = progress.trouble == Some(Trouble::Damaged);
            first.get_or_insert((damaged, progress.done));
            assert!(!damaged || first == Some((true, progress.done)), "told once");
            if first.is_some_and(|(_, done)| done < progress.done) {
                Next::Stop
            } else {
                Next::GoOn
            }
        });
        assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
        first.unwrap()
    };
    let flip = |path: &Path, at: usize| {
        let mut bytes = std::fs::read(path).unwrap();
        bytes[at] ^= 1;
        std::fs::write(path, &bytes).unwrap();
    };
    // A flipped bit in the newest checkpoint: the one before is taken.
    let (damaged, newest) = taken_up();
    assert!(!damaged && 0 < newest);
    flip(&path, 50);
    let (damaged, before) = taken_up();
    assert!(damaged && before == newest, "{before} {newest}");
    // In both: the last recorded value is.
    let previous = folder.path().join("run.previous");
    flip(&path, 50);
    flip(&previous, 60);
    let (damaged, done) = taken_up();
    assert!(damaged && 0 < done, "{done}");
    // In the recorded values: the last one before it is.
    let tape = folder.path().join("run.tape0");
    flip(&tape, 37 + 4 + 9);
    assert_eq!(taken_up(), (true, 0));
    assert!(matches!(stopped(system, &modulus, &x, &path, 3), Err(Error::Cancelled)));
    let bytes = std::fs::read(&tape).unwrap();
    std::fs::write(&tape, &bytes[..bytes.len() - 9]).unwrap();
    let (damaged, done) = taken_up();
    assert!(damaged && 0 < done, "{done}");
    let ended = stopped(system, &modulus, &x, &path, 99).unwrap();
    assert_eq!(ended, whole(system, &modulus, &x));
    // The file of the run damaged: its copy is read, and where that is damaged too, the run says so.
    let (run, copy) = (folder.path().join("run.run"), folder.path().join("run.run.copy"));
    let bytes = std::fs::read(&run).unwrap();
    for at in [0, 5, 9, bytes.len() - 1] {
        let mut altered = bytes.clone();
        altered[at] ^= 1;
        for bad in [&altered[..], &bytes[..at]] {
            std::fs::write(&run, bad).unwrap();
            std::fs::write(&copy, &bytes).unwrap();
            let mut told = 0;
            let ended = prover(system, &modulus, &x, 1).run_kept(Some(&path), &mut |progress| {
                told += u32::from(progress.trouble == Some(Trouble::Damaged));
                Next::GoOn
            });
            assert_eq!((ended.unwrap(), told), (whole(system, &modulus, &x), 1), "{at}");
            std::fs::write(&run, bad).unwrap();
            std::fs::write(&copy, bad).unwrap();
            let result = stopped(system, &modulus, &x, &path, 99);
            assert!(matches!(result, Err(Error::CheckpointDamaged(_))), "{at}: {result:?}");
        }
    }
}

#[test]
fn files_of_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let modulus = small();
    let (x, _) = modulus.reduce(b"others");
    let path = folder.path().join("run");
    for bytes in [&b"precious"[..], &[7; 100]] {
        std::fs::write(folder.path().join("run.tape0"), bytes).unwrap();
        let result = stopped(System::Wesolowski, &modulus, &x, &path, 99);
        assert!(matches!(result, Err(Error::CheckpointOther(_))), "{result:?}");
        assert_eq!(std::fs::read(folder.path().join("run.tape0")).unwrap(), bytes);
    }
    // A file of the checkpoint's own name, and an evaluation's checkpoint, are no runs to go on with.
    let mut evaluation = tetralith_vdf::Evaluation::new(&modulus, &x, T).unwrap();
    evaluation.advance(CHECK_EVERY).unwrap();
    let path = folder.path().join("other");
    for bytes in [b"precious".to_vec(), evaluation.checkpoint().unwrap().0.to_bytes()] {
        std::fs::write(&path, &bytes).unwrap();
        let result = stopped(System::Wesolowski, &modulus, &x, &path, 99);
        assert!(matches!(result, Err(Error::CheckpointOther(_))), "{result:?}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
}

/// The recorded values of a finished segment are cut before its proof is kept: it is squared again.
#[test]
fn a_finished_segment_with_missing_values() {
    let folder = tempfile::tempdir().unwrap();
    let modulus = small();
    let (x, _) = modulus.reduce(b"segment");
    let path = folder.path().join("run");
    let names = ["run.run", "run.run.copy"].map(|name| folder.path().join(name));
    // The state as it is when the second segment has begun: the first is not proved yet.
    let mut begun = Vec::new();
    let stopped =
        prover(System::Segmented, &modulus, &x, 1).run_kept(Some(&path), &mut |progress| {
            if progress.done <= T * 2 / 3 + 1 {
                return Next::GoOn;
            }
            begun = std::fs::read(&names[0]).unwrap();
            Next::Stop
        });
    assert!(matches!(stopped, Err(Error::Cancelled)));
    names.iter().for_each(|name| std::fs::write(name, &begun).unwrap());
    let tape = folder.path().join("run.tape0");
    let bytes = std::fs::read(&tape).unwrap();
    std::fs::write(&tape, &bytes[..bytes.len() * 2 / 3]).unwrap();
    let mut first = None;
    let ended = prover(System::Segmented, &modulus, &x, 1).run_kept(Some(&path), &mut |progress| {
        first.get_or_insert((progress.trouble, progress.done < T * 2 / 3));
        Next::GoOn
    });
    assert_eq!(ended.unwrap(), whole(System::Segmented, &modulus, &x));
    assert_eq!(first, Some((Some(Trouble::Damaged), true)));
}

/// Where the state can be written no more once all is squared, the proof is made all the same, and not later.
#[test]
fn a_proof_without_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let modulus = small();
    let (x, _) = modulus.reduce(b"unsaved");
    for system in SYSTEMS {
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let kept = inner.join("run");
        let result = prover(system, &modulus, &x, 1).run_kept(Some(&kept), &mut |progress| {
            if progress.done == T && inner.exists() {
                std::fs::remove_dir_all(&inner).unwrap();
            }
            assert_eq!(progress.trouble, None);
            Next::GoOn
        });
        assert_eq!(result.unwrap(), whole(system, &modulus, &x), "{system:?}");
    }
}
