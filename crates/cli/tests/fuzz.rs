//! Every file of `fuzz/fuzz_targets` is registered, so that `make fuzz` runs it.

use std::path::Path;

#[test]
fn every_fuzz_target_is_registered() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).expect("fuzz/Cargo.toml");
    let targets = std::fs::read_dir(fuzz.join("fuzz_targets")).expect("the targets");
    for target in targets {
        let name = target.expect("an entry").file_name().into_string().expect("UTF-8");
        let line = format!("path = \"fuzz_targets/{name}\"");
        assert!(manifest.contains(&line), "{name} is not registered in fuzz/Cargo.toml");
    }
}
