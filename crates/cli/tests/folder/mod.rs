//! What lies in a folder that a command has worked in.

use std::path::Path;

/// The names of all files there, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}
