//! Any bytes as the file of an interrupted key: gone on with, or refused, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tetralith_xmss::{Derivation, HashFunction, Params, Partial, Seeds};

fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("tetralith-fuzz-{}", std::process::id()));
    std::fs::write(&path, bytes).expect("a temporary file");
    let _ = Partial::note(&path);
    let params = Params::qrl(HashFunction::Sha2, 4).expect("a set");
    let seeds = Seeds::from_bytes(params, Derivation::PrfCounter, &[0; 96]).expect("seeds");
    let _ = Partial::resume(&path, &seeds);
    std::fs::remove_file(&path).expect("deleted");
});
