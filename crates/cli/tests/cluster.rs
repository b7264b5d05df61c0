//! The `sh` examples that start a cluster, in the README and in `docs/`, run as they are written.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process that gets the interrupt of a user at the end, and is waited for.
struct Interrupted(Child);

impl Drop for Interrupted {
    fn drop(&mut self) {
        let pid = self.0.id().to_string();
        let _ = Command::new("kill").args(["-INT", &pid]).status();
        let _ = self.0.wait();
    }
}

fn command(line: &str, folder: &Path) -> Command {
    let ours = Path::new(env!("CARGO_BIN_EXE_tetralith")).parent().expect("a folder");
    let path = std::env::var("PATH").expect("a path");
    let mut command = Command::new("sh");
    // `exec`, so that a signal reaches the command itself.
    command.args(["-c", &format!("exec {line}")]).current_dir(folder);
    command.env("PATH", format!("{}:{path}", ours.display()));
    command.env("TETRALITH_PASSPHRASE", "correct horse battery staple");
    command
}

/// Runs one block: what ends in `&` until it says that it runs, the rest one by one.
fn run(block: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("README.md"), "A file to sign.\n").expect("a file");
    let mut running = Vec::new();
    for line in block.lines().map(|line| line.split(" #").next().unwrap_or_default().trim()) {
        if let Some(line) = line.strip_suffix('&') {
            let mut child =
                command(line, folder.path()).stdout(Stdio::piped()).spawn().expect("sh");
            let mut said = BufReader::new(child.stdout.take().expect("its output"));
            running.push(Interrupted(child));
            let mut first = String::new();
            said.read_line(&mut first).expect("a line");
            assert!(first.contains("run"), "{line}: {first:?}");
        } else {
            let output = command(line, folder.path()).output().expect("sh");
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{line}: {told}");
            assert!(!output.stdout.is_empty(), "{line} says nothing");
        }
    }
    assert!(!running.is_empty());
}

#[test]
fn the_examples_of_a_cluster_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = std::fs::read_dir(root.join("docs")).expect("docs/");
    let pages = docs.map(|entry| entry.expect("an entry").path()).chain([root.join("README.md")]);
    let mut blocks = 0;
    for page in pages.filter(|page| page.extension().is_some_and(|kind| kind == "md")) {
        let text = std::fs::read_to_string(&page).expect("the page");
        let shell = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        for block in shell.filter(|block| block.contains("tetralith cluster")) {
            run(block);
            blocks += 1;
        }
    }
    assert!(blocks >= 2, "the README and docs/tss.md start a cluster");
}
