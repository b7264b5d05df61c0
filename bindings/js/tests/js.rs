//! Runs the JavaScript package's tests in Node: the vectors, malformed inputs, the README's examples.
//!
//! The modules are built as for development, below `target/js`; `make js` builds and tries those that
//! are published.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&told));
}

#[test]
fn the_javascript_package_passes_its_tests() {
    let place = tempfile::tempdir().expect("a folder");
    let here = Path::new(HERE);
    run(Command::new("sh")
        .arg(here.join("assemble"))
        .arg("dev")
        .arg(place.path())
        .env("CARGO", env!("CARGO")));
    let files = std::fs::read_dir(here.join("tests")).expect("the tests");
    let files = files.map(|file| file.expect("an entry").path());
    let tests = files.filter(|path| path.to_string_lossy().ends_with(".test.mjs"));
    run(Command::new("node")
        .arg("--test")
        .args(tests)
        .env("TETRALITH_PACKAGE", place.path())
        .current_dir(place.path()));
}
