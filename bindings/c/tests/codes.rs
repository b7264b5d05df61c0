//! Holds the table of the libraries' codes in docs/command.md against their sources.

use std::collections::BTreeSet;
use std::path::Path;

/// An exit code and a dotted code.
type Code = (u8, String);

/// The files with the one mapping that each library has.
const MAPPINGS: [&str; 8] = [
    "keyfile/src/lib.rs",
    "keyring/src/error.rs",
    "tss/src/engine.rs",
    "tss/src/engine/blame.rs",
    "vdf/src/error.rs",
    "vrf/src/error.rs",
    "xmss/src/error.rs",
    "xmss/src/state/mod.rs",
];

/// The pairs such as `(2, "input.length")` of a source file.
fn mapped(source: &str) -> BTreeSet<Code> {
    let pairs = source.split('(').filter_map(|part| {
        let (exit, rest) = part.split_once(", \"")?;
        Some((exit.parse().ok()?, rest.split_once("\")")?.0.to_owned()))
    });
    pairs.collect()
}

/// The rows of the table: an exit code, then codes in backquotes.
fn documented() -> BTreeSet<Code> {
    let table = include_str!("../../../docs/command.md").split("| exit | `code` |").nth(1);
    let rows = table.expect("the table").lines().skip(2).take_while(|row| row.starts_with('|'));
    let codes = rows.flat_map(|row| {
        let exit = row.split('|').nth(1).and_then(|exit| exit.trim().parse().ok());
        let exit: u8 = exit.expect("an exit code");
        row.split('`').skip(1).step_by(2).map(move |code| (exit, code.to_owned()))
    });
    codes.collect()
}

#[test]
fn the_libraries_codes_are_documented() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let mut all = BTreeSet::new();
    for file in MAPPINGS {
        let source = std::fs::read_to_string(crates.join(file)).expect("a source file");
        let found = mapped(&source);
        assert!(!found.is_empty(), "{file} maps no error to a code");
        all.extend(found);
    }
    assert_eq!(all, documented());
}
