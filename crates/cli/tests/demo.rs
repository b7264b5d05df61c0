//! The demonstration of all four jobs ends well: real processes, real kills, other people's checks.

use std::process::Command;

#[test]
fn every_step_of_the_demonstration_succeeds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let report = folder.path().join("report.html");
    let output = Command::new(env!("CARGO_BIN_EXE_tetralith"))
        .args(["demo", "xmss", "vdf", "vrf", "tss", "-o"])
        .arg(&report)
        .output()
        .expect("the command starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let page = std::fs::read_to_string(&report).expect("the report");
    assert!(page.contains("<span class=ok>0 failed</span>"), "{told}");
    // Off a terminal too, people read it.
    assert!(told.lines().all(|line| !line.starts_with('{')), "{told}");
}
