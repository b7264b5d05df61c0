//! Packs each crate as it would be published, and checks that what was packed compiles by itself.

use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The members of the workspace that a registry of crates gets, and those that it does not.
fn members() -> (Vec<String>, Vec<String>) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--offline"]).current_dir(ROOT);
    let metadata = cargo.output().expect("cargo runs").stdout;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let (published, own): (Vec<_>, Vec<_>) = packages.partition(|one| one["publish"].is_null());
    let names = |of: Vec<&serde_json::Value>| {
        of.iter().map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
    };
    (names(published), names(own))
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}\n{told}");
    told
}

/// Packs every crate but `own` below `target` and returns where the packages are.
fn pack(target: &Path, own: &[String]) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--workspace", "--offline", "--no-verify", "--allow-dirty", "--quiet"]);
    cargo.arg("--target-dir").arg(target).current_dir(ROOT);
    for name in own {
        cargo.args(["--exclude", name]);
    }
    let told = run(&mut cargo);
    assert!(!told.contains("warning"), "{told}");
    target.join("package")
}

/// Unpacks them side by side; their names are returned.
fn unpack(packages: &Path, to: &Path) -> Vec<String> {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).expect("a folder");
    let files = std::fs::read_dir(packages).expect("the packages");
    let files = files.map(|entry| entry.expect("an entry").path());
    let crates = files.filter(|path| path.extension().is_some_and(|end| end == "crate"));
    let mut names: Vec<String> = crates
        .map(|path| {
            run(Command::new("tar").arg("-xzf").arg(&path).arg("-C").arg(to));
            path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned()
        })
        .collect();
    names.sort();
    names
}

/// A workspace of the unpacked crates with this one's profiles and lock, so that what was compiled for
/// this workspace serves again.
fn workspace(at: &Path, names: &[String]) {
    let manifest = std::fs::read_to_string(Path::new(ROOT).join("Cargo.toml")).expect("readable");
    let line = |text: &str| text.starts_with("members = ") || text.starts_with("exclude = ");
    let mut ours: String =
        manifest.lines().filter(|text| !line(text)).fold(String::new(), |mut all, text| {
            all.push_str(text);
            all.push('\n');
            if text == "[workspace]" {
                all.push_str(&format!("members = {names:?}\n"));
            }
            all
        });
    ours.push_str("\n[patch.crates-io]\n");
    for name in names {
        let (package, _) = name.rsplit_once('-').expect("a version");
        ours.push_str(&format!("{package} = {{ path = {name:?} }}\n"));
    }
    std::fs::write(at.join("Cargo.toml"), ours).expect("writable");
    std::fs::copy(Path::new(ROOT).join("Cargo.lock"), at.join("Cargo.lock")).expect("a copy");
}

#[test]
fn each_packed_crate_has_its_papers_and_compiles_from_what_was_packed() {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let sources = tmp.join("packed");
    let (published, own) = members();
    let _ = std::fs::remove_dir_all(tmp.join("package"));
    let names = unpack(&pack(tmp, &own), &sources);
    assert_eq!(names.len(), published.len(), "{names:?} of {published:?}");
    for name in &names {
        for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(sources.join(name).join(file).is_file(), "{name} has no {file}");
        }
    }
    workspace(&sources, &names);
    let target = std::env::current_exe().expect("a path");
    let target = target.ancestors().nth(3).expect("the target folder");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["check", "--workspace", "--offline", "--quiet"]).current_dir(&sources);
    run(cargo.arg("--target-dir").arg(target));
}
