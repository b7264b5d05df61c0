//! Records the compilers.

use std::env;
use std::process::Command;

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    println!("cargo::rustc-env=PEERS_RUSTC={}", first_line(Command::new(rustc).arg("--version")));
    let cc = env::var("CC").unwrap_or_else(|_| "cc".into());
    println!("cargo::rustc-env=PEERS_CC={}", first_line(Command::new(cc).arg("--version")));
    println!("cargo::rerun-if-changed=build.rs");
}

/// The first line that a command prints, or "unknown".
fn first_line(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    text.lines().next().unwrap_or("unknown").to_owned()
}
