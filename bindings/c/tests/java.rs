//! Builds the Java package with the shared library that cargo built, and runs its tests on both Javas.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

const JAVA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../java");

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&told));
}

/// The newest shared library of this crate, which cargo puts beside this test.
fn library(deps: &Path) -> PathBuf {
    let names = std::fs::read_dir(deps).expect("readable").map(|e| e.expect("an entry").path());
    let ours = names.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let rest = name.strip_prefix("libtetralith").unwrap_or("_");
        name.ends_with(".so") && (rest.starts_with('-') || rest.starts_with('.'))
    });
    let changed =
        |path: &PathBuf| path.metadata().and_then(|data| data.modified()).expect("a time");
    ours.max_by_key(changed).expect("cargo builds the library before its tests")
}

#[test]
fn the_java_package_passes_its_tests() {
    let test = std::env::current_exe().expect("a path");
    let deps = test.parent().expect("a folder");
    // Below `target`, so that JNA is fetched once.
    let folder = deps.ancestors().nth(2).expect("the target folder").join("java/test");
    let platform = format!("linux-{}={}", std::env::consts::ARCH, library(deps).display());
    run(Command::new("sh").arg(format!("{JAVA}/build")).arg(&folder).arg(platform));
    run(Command::new("sh").arg(format!("{JAVA}/test")).arg(&folder));
}
