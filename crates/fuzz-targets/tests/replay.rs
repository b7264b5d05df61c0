//! Every target runs its seeds, what the fuzzer has found (`fuzz/corpus`), and small changes of both.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};
use tetralith_fuzz_targets::{TARGETS, Target};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let Ok(found) = std::fs::read_dir(fuzz().join("corpus").join(target.name)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Each input whole, then cut and with one bit changed for as long as a test may take.
fn replay(target: &Target) {
    let inputs = [target.seeds(), corpus(target)].concat();
    assert!(!inputs.is_empty(), "{} has no corpus", target.name);
    let start = std::time::Instant::now();
    let mut runs = 0;
    for (number, input) in inputs.iter().enumerate() {
        (target.run)(input);
        runs += 1;
        if start.elapsed().as_secs_f64() > 1.0 {
            continue;
        }
        for at in
            [input.len() / 2, input.len().saturating_sub(1), (number * 37) % (input.len() + 1)]
        {
            (target.run)(&input[..at]);
            let mut changed = input.clone();
            if let Some(byte) = changed.get_mut(at) {
                *byte ^= 1 << (number % 8);
            }
            (target.run)(&changed);
            runs += 2;
        }
    }
    println!("{}: {runs} executions of {} inputs", target.name, inputs.len());
}

macro_rules! tests {
    ($($name:ident)*) => {
        $(#[test] fn $name() { replay(&Target::named(stringify!($name))); })*

        #[test]
        fn every_target_is_here() {
            let here = [$(stringify!($name)),*];
            assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), here);
        }
    };
}

tests! {
    columns_arrow columns_parquet columns_text edwards25519_lanes keyfile_text node_config node_wire
    vdf_request tss_encodings tss_messages tss_points vdf_checkpoint vdf_kept vdf_modulus vdf_proof
    vdf_sealed vrf_header vrf_many vrf_prove vrf_verify xmss_aidos xmss_partial xmss_public_key
    xmss_state xmss_verify
}

/// Each target is a binary for libFuzzer, and each corpus and dictionary belongs to one.
#[test]
fn every_target_is_registered() {
    let manifest = std::fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for target in TARGETS {
        let name = target.name;
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        let binary =
            std::fs::read_to_string(fuzz().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(binary.contains(&format!("fuzz!({name})")), "{name}");
    }
    for folder in ["corpus", "dict", "fuzz_targets"] {
        // There is no corpus until the fuzzer has added to the seeds.
        let entries = std::fs::read_dir(fuzz().join(folder)).into_iter().flatten();
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(TARGETS.iter().any(|target| target.name == name), "{}", path.display());
        }
    }
}

/// The corpora stay small: they are for everybody who clones the repository.
#[test]
fn the_corpora_are_small() {
    let size: usize = TARGETS.iter().flat_map(corpus).map(|input| input.len()).sum();
    assert!(size < 2 << 20, "{size} bytes");
}
