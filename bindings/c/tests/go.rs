//! Runs the Go module's tests with the libraries that cargo built for this test: embedded and loaded by
//! purego without cgo, and linked by cgo under the race detector.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; the tests need Go 1.25 or later"));
    let told = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&told));
}

/// The newest library of this crate with that ending.
fn newest(ending: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let deps = test.parent().expect("a folder");
    let names = std::fs::read_dir(deps).expect("readable").map(|e| e.expect("an entry").path());
    let ours = names.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let rest = name.strip_prefix("libtetralith").unwrap_or("_");
        name.ends_with(ending) && (rest.starts_with('-') || rest.starts_with('.'))
    });
    let changed =
        |path: &PathBuf| path.metadata().and_then(|data| data.modified()).expect("a time");
    ours.max_by_key(changed).expect("cargo builds the libraries before their tests")
}

/// The search path with the folder of a program before everything else.
fn path(program: &Path) -> std::ffi::OsString {
    let first = program.parent().map(Path::to_owned);
    let rest = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(first.into_iter().chain(std::env::split_paths(&rest))).expect("a path")
}

/// Copies a folder; libraries of another build stay behind.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_dir() {
            copy(&path, &to);
        } else if !matches!(ending, Some("so" | "dylib" | "wasm")) {
            std::fs::copy(&path, &to).expect("a copy");
        }
    }
}

#[test]
fn the_go_module_passes_its_tests() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    copy(&Path::new(HERE).join("../go"), &place("bindings/go"));
    copy(&Path::new(HERE).join("include"), &place("bindings/c/include"));
    std::os::unix::fs::symlink(Path::new(HERE).join("../../vectors"), place("vectors"))
        .expect("a link");
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let embedded = format!("bindings/go/internal/abi/lib/linux_{arch}/libtetralith.so");
    run(Command::new("strip").arg("-g").arg("-o").arg(place(&embedded)).arg(newest(".so")));
    let built = place("built");
    std::fs::create_dir(&built).expect("a folder");
    for ending in [".so", ".a"] {
        std::fs::copy(newest(ending), built.join(format!("libtetralith{ending}"))).expect("a copy");
    }
    run(Command::new("sh")
        .arg(format!("{HERE}/install"))
        .env("PREFIX", place("usr"))
        .env("LIBRARIES", &built));
    let found = Command::new("sh").arg(format!("{HERE}/../../.ci/go")).output().expect("a shell");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    let program = String::from_utf8(found.stdout).expect("a path");
    let go = |module: &str, arguments: &[&str]| {
        let mut command = Command::new(program.trim());
        command.args(arguments).current_dir(place("bindings/go").join(module));
        // The README's program is built by whichever go the test finds.
        command.env("PATH", path(Path::new(program.trim())));
        command.env("PKG_CONFIG_PATH", place("usr/lib/pkgconfig"));
        command.env("LD_LIBRARY_PATH", place("usr/lib"));
        command.env("TETRALITH_AIDOS_STATE", place("state"));
        command
    };
    for module in [".", "compat/aidos"] {
        run(go(module, &["vet", "./..."]).env("CGO_ENABLED", "0"));
        run(go(module, &["test", "./..."]).env("CGO_ENABLED", "0"));
    }
    let race =
        ["test", "-race", "-tags", "tetralith_cgo", "-run", "Goroutines|Cancel|Header", "./..."];
    run(go(".", &race).env("CGO_ENABLED", "1"));
}
