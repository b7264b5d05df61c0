//! Any bytes as the file of an interrupted key, and real ones with bytes changed: resumed, or refused, and
//! the key that is built from it is the right one.

use crate::changes;
use std::path::PathBuf;
use std::sync::LazyLock;
use tetralith_xmss::{Derivation, HashFunction, Params, Partial, Progress, Seeds};

struct Fixture {
    path: PathBuf,
    public: Vec<u8>,
    file: Vec<u8>,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let path = base.join(format!("tetralith-fuzz-partial-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let partial = Partial::begin(&path, &seeds(), b"a note").expect("begun");
    let key = seeds().build_with(&partial, &Progress::silent()).expect("a key");
    let public = key.public_key().to_bytes();
    drop(partial);
    let file = std::fs::read(&path).expect("what was kept");
    Fixture { path, public, file }
});

fn seeds() -> Seeds {
    let params = Params::qrl(HashFunction::Sha2, 4).expect("a set");
    Seeds::from_bytes(params, Derivation::PrfCounter, &[0; 96]).expect("seeds")
}

/// Runs one input: how, and the file, or the changes of a good one.
pub(crate) fn run(data: &[u8]) {
    let Fixture { path, public, file } = &*FIXTURE;
    let Some((&how, rest)) = data.split_first() else { return };
    let mut bytes = rest.to_vec();
    if how % 4 == 0 {
        bytes.clone_from(file);
        changes::apply(rest, &mut bytes);
    }
    std::fs::write(path, &bytes).expect("a temporary file");
    let note = Partial::note(path);
    let resumed = Partial::resume(path, &seeds());
    if let Ok(partial) = resumed {
        assert!(note.is_ok());
        let key = seeds().build_with(&partial, &Progress::silent()).expect("a key");
        assert_eq!(key.public_key().to_bytes(), *public);
    }
    std::fs::remove_file(path).expect("deleted");
}
