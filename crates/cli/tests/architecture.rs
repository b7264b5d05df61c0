//! Holds the dependency picture in ARCHITECTURE.md against what cargo says.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

type Picture = BTreeMap<String, BTreeSet<String>>;

/// The lines of the fenced block: a crate, a colon, the crates that it depends on.
fn drawn() -> Picture {
    let text = include_str!("../../../ARCHITECTURE.md");
    let block = text.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let lines = block.expect("ARCHITECTURE.md has a text block").lines();
    lines
        .map(|line| {
            let (name, needs) = line.split_once(':').expect("name: dependencies");
            (name.to_owned(), needs.split_whitespace().map(str::to_owned).collect())
        })
        .collect()
}

/// What cargo says of the workspace's packages.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    match metadata["packages"].take() {
        Value::Array(packages) => packages,
        other => panic!("packages are {other}"),
    }
}

/// The same, from the manifests; the binary crate `tetralith` is `cli`.
fn built() -> Picture {
    let short = |name: &Value| {
        let name = name.as_str().expect("a name").to_owned();
        if name == "tetralith" { "cli".into() } else { name.replace("tetralith-", "") }
    };
    packages()
        .iter()
        .map(|package| {
            let needs = package["dependencies"].as_array().expect("dependencies");
            let ours =
                needs.iter().filter(|need| need["kind"].is_null() && !need["path"].is_null());
            (short(&package["name"]), ours.map(|need| short(&need["name"])).collect())
        })
        .collect()
}

#[test]
fn the_picture_in_architecture_is_true() {
    assert_eq!(drawn(), built());
}

/// The state of a hash function over a secret is wiped only with the feature `zeroize` of its crate.
#[test]
fn hashes_over_secrets_are_wiped() {
    let packages = packages();
    for name in ["tetralith-keyfile", "tetralith-tss", "tetralith-vrf", "tetralith-xmss"] {
        let package = packages.iter().find(|package| package["name"] == name).expect("there");
        let needs = package["dependencies"].as_array().expect("dependencies");
        let sha2 = needs.iter().find(|need| need["name"] == "sha2").expect("it hashes");
        let features = sha2["features"].as_array().expect("features");
        assert!(features.contains(&"zeroize".into()), "{name}: {features:?}");
    }
}

/// Each direct dependency has a row with its reason, and each row a dependency.
#[test]
fn every_dependency_has_its_reason() {
    let text = include_str!("../../../docs/internals/dependencies.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let explained: BTreeSet<String> = rows
        .flat_map(|(names, reason)| {
            assert!(reason.trim_end_matches([' ', '|']).len() > 5, "{names} has no reason");
            names.split("`, `").map(str::to_owned)
        })
        .collect();
    let mut used = BTreeSet::new();
    for package in packages() {
        for need in package["dependencies"].as_array().expect("dependencies") {
            if need["path"].is_null() {
                used.insert(need["name"].as_str().expect("a name").to_owned());
            }
        }
    }
    assert_eq!(explained, used);
}

/// Kernels choose inside: no crate above them names an architecture, an instruction set or an intrinsic.
#[test]
fn only_kernels_name_an_architecture() {
    // In two parts, for this file is read as well.
    let words = [
        concat!("target_", "arch"),
        concat!("target_", "feature"),
        concat!("feature_", "detected"),
        concat!("core::", "arch"),
        concat!("std::", "arch"),
    ];
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> =
        ["xmss", "vdf", "vrf", "tss", "node", "cli"].map(|name| crates.join(name)).into();
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                read += 1;
                for word in words {
                    assert!(!text.contains(word), "{} names {word}", path.display());
                }
            }
        }
    }
    assert!(read > 100, "{read} sources were read");
}
