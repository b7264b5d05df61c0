//! Holds the dependency picture in ARCHITECTURE.md against what cargo says.

use std::collections::{BTreeMap, BTreeSet};
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

/// The same, from the manifests; the binary crate `tetralith` is `cli`.
fn built() -> Picture {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let short = |name: &serde_json::Value| {
        let name = name.as_str().expect("a name").to_owned();
        if name == "tetralith" { "cli".into() } else { name.replace("tetralith-", "") }
    };
    let packages = metadata["packages"].as_array().expect("packages");
    packages
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
