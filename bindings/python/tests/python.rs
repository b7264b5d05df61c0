//! Runs the Python package's tests: pytest over the vectors, the README's example, the types.
//!
//! The package is laid out as a wheel has it, with the shared library that cargo built for this test.
//! Its tools come from PyPI into a virtual environment below `target`, once.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// The folder of this test, where cargo puts the library as well.
fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().expect("a folder").to_owned()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&told));
}

/// The newest shared library of this crate.
fn library() -> PathBuf {
    let names = std::fs::read_dir(folder()).expect("readable").map(|e| e.expect("an entry").path());
    let ours = names.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("lib_tetralith") && name.ends_with(".so")
    });
    let changed =
        |path: &PathBuf| path.metadata().and_then(|data| data.modified()).expect("a time");
    ours.max_by_key(changed).expect("cargo builds the library before its tests")
}

/// A virtual environment with the test requirements, made where it is missing or they changed.
fn environment(at: &Path) -> PathBuf {
    let requirements = Path::new(HERE).join("tests/requirements.txt");
    let wanted = std::fs::read(&requirements).expect("the requirements");
    let installed = at.join("requirements.txt");
    let python = at.join("bin/python");
    if std::fs::read(&installed).ok().as_ref() != Some(&wanted) {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(at));
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
        run(Command::new(&python).args(pip).arg(&requirements));
        std::fs::write(installed, wanted).expect("a note of what is installed");
    }
    python
}

/// Copies a folder of Python files.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder of the package") {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name())).expect("an entry");
        if from.is_file() {
            std::fs::copy(&from, to.join(name)).expect("a copy");
        } else if name != "__pycache__" {
            copy(&from, &to.join(name));
        }
    }
}

/// Copies the package's files beside the library.
fn package(to: &Path) {
    let package = to.join("tetralith");
    copy(&Path::new(HERE).join("python/tetralith"), &package);
    std::fs::copy(library(), package.join("_tetralith.abi3.so")).expect("a copy");
}

#[test]
fn the_python_package_passes_its_tests() {
    let target = folder().ancestors().nth(2).expect("the target folder").join("python");
    std::fs::create_dir_all(&target).expect("a folder");
    let python = environment(&target.join("environment"));
    let place = tempfile::tempdir().expect("a folder");
    package(place.path());
    let here = |name: &str| Path::new(HERE).join(name);
    let run_python = |arguments: &[&str], paths: &[PathBuf]| {
        run(Command::new(&python)
            .args(arguments)
            .args(paths)
            .env("PYTHONPATH", place.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(place.path()));
    };
    let modules = place.path().join("tetralith");
    let config = here("pyproject.toml");
    let config = config.to_str().expect("text");
    run_python(
        &[
            "-m",
            "pytest",
            "-c",
            config,
            "--rootdir",
            HERE,
            "--doctest-modules",
            "--doctest-glob=*.md",
        ],
        &[here("tests"), here("README.md"), here("../../docs/python.md"), modules.clone()],
    );
    run_python(&["-m", "mypy", "--config-file", config, "--cache-dir=/dev/null"], &[modules]);
}
