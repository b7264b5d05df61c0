//! Any bytes as the state that a prover keeps: the run's file, the values and the checkpoint. Runs that were
//! really stopped, with bytes changed and checksums made right. It goes on from them or says what is wrong;
//! a proof that comes out is of the right form.

use arbitrary::Arbitrary;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::LazyLock;
use tetralith_vdf::{Modulus, Next, Options, Prover, Residue, System};

const SYSTEMS: [System; 3] = [System::Wesolowski, System::Segmented, System::Pietrzak];
/// Few: what is slow is squaring.
const ITERATIONS: u64 = 3000;
const FILES: [&str; 4] = ["", ".run", ".tape0", ".tape1"];

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    system: u8,
    /// Which file, where and what; the last of each file's bytes is a checksum of those before.
    changes: Vec<(u8, u16, u8)>,
    repaired: bool,
    /// Another file instead of one.
    other: Option<(u8, &'a [u8])>,
    cut: Option<(u8, u16)>,
}

struct Fixture {
    modulus: Modulus,
    x: Residue,
    folder: PathBuf,
    /// The files of a stopped run of each system.
    stopped: [[Option<Vec<u8>>; 4]; 3],
}

impl Fixture {
    fn name(&self) -> PathBuf {
        self.folder.join("kept")
    }

    fn prover(&self, system: System) -> Prover {
        let options = Options { memory: 1 << 20, ..Options::default() };
        Prover::new(system, &self.modulus, &self.x, ITERATIONS, options).unwrap()
    }

    fn path(&self, file: usize) -> PathBuf {
        self.folder.join(format!("kept{}", FILES[file]))
    }
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = base.join(format!("tetralith-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let modulus = Modulus::parse("cfa92a1c6559dd55bb75027437309ad3").unwrap();
    let (x, _) = modulus.reduce(&[7]);
    let mut fixture = Fixture { modulus, x, folder, stopped: Default::default() };
    for (i, system) in SYSTEMS.into_iter().enumerate() {
        let mut calls = 0;
        let stopped = fixture.prover(system).run_kept(Some(&fixture.name()), &mut |_| {
            calls += 1;
            if calls == 1 + i % 2 { Next::Stop } else { Next::GoOn }
        });
        assert!(stopped.is_err());
        for file in 0..FILES.len() {
            fixture.stopped[i][file] = std::fs::read(fixture.path(file)).ok();
        }
        Prover::forget(&fixture.name()).unwrap();
    }
    fixture
});

fn changed(input: &Input<'_>, files: &mut [Option<Vec<u8>>; 4]) {
    for &(file, at, byte) in &input.changes {
        if let Some(bytes) = &mut files[usize::from(file) % FILES.len()] {
            let length = bytes.len().max(1);
            if let Some(old) = bytes.get_mut(usize::from(at) % length) {
                *old = byte;
            }
        }
    }
    if let Some((file, bytes)) = input.other {
        files[usize::from(file) % FILES.len()] = Some(bytes.to_vec());
    }
    if let Some((file, at)) = input.cut
        && let Some(bytes) = &mut files[usize::from(file) % FILES.len()]
    {
        bytes.truncate(usize::from(at));
    }
    // The first two end with a hash of all before.
    for bytes in files[..2].iter_mut().flatten().filter(|_| input.repaired) {
        if let Some(body) = bytes.len().checked_sub(32) {
            let digest = Sha256::digest(&bytes[..body]);
            bytes[body..].copy_from_slice(&digest);
        }
    }
}

/// Runs one input.
pub(crate) fn run(data: &[u8]) {
    let Some(input) = crate::read::<Input<'_>>(data) else { return };
    let fixture = &*FIXTURE;
    let which = usize::from(input.system) % SYSTEMS.len();
    let mut files = fixture.stopped[which].clone();
    changed(&input, &mut files);
    Prover::forget(&fixture.name()).unwrap();
    for (i, bytes) in files.iter().enumerate() {
        if let Some(bytes) = bytes {
            std::fs::write(fixture.path(i), bytes).unwrap();
        }
    }
    let result = fixture.prover(SYSTEMS[which]).run_kept(Some(&fixture.name()), &mut |progress| {
        assert!(progress.done <= progress.iterations);
        Next::GoOn
    });
    if let Ok((_, proof)) = result {
        assert!(!proof.to_bytes().is_empty());
    }
}
