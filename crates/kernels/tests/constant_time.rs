//! No branch and no address depends on a secret: valgrind watches the libraries work on secrets.
//!
//! Examples of five crates mark secrets as undefined ([`tetralith_kernels::ct`]) and work on them;
//! memcheck reports what a secret decides. They are built as a release is, with the marks switched
//! on. Controls that do branch on a secret, one in each threshold protocol, show that the test can fail.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Builds the examples, and gives their folder.
fn build() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = root.join("target/constant-time");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(&root).args(["build", "--release", "--locked", "--quiet"]);
    cargo.args(["--no-default-features", "--features", "tetralith-kernels/valgrind"]);
    for name in ["kernels", "xmss", "vdf", "vrf", "tss"] {
        cargo.args(["-p", &format!("tetralith-{name}")]);
        cargo.args(["--example", &format!("constant_time_{name}")]);
    }
    // Line numbers, for a report that says where.
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only");
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "none");
    let status = cargo.arg("--target-dir").arg(&target).status().unwrap();
    assert!(status.success(), "the examples build");
    target.join("release/examples")
}

fn valgrind(folder: &Path, name: &str, kernel: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99", "--leak-check=no", "--num-callers=20"]);
    let known = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/constant_time.supp");
    command.arg(format!("--suppressions={known}"));
    command.arg(folder.join(format!("constant_time_{name}"))).args(arguments);
    // One thread: more would only take turns.
    command.env("TETRALITH_KERNEL", kernel).env("RAYON_NUM_THREADS", "1");
    command.output().expect("valgrind runs: `.ci/test-tools` installs it")
}

#[test]
fn no_secret_decides_a_branch_or_an_address() {
    let folder = build();
    let control = valgrind(&folder, "kernels", "portable", &["control"]);
    assert_eq!(control.status.code(), Some(99), "valgrind sees a branch on a secret");
    let control = valgrind(&folder, "tss", "portable", &["control"]);
    let said = String::from_utf8_lossy(&control.stdout);
    let dkls23 = ["dkls23-keygen", "dkls23-refresh", "dkls23-reshare", "dkls23-sign"];
    for protocol in dkls23.into_iter().chain(["frost-keygen", "frost-sign"]) {
        let line = said.lines().find(|line| line.starts_with(protocol)).unwrap_or_default();
        let errors: Option<u64> = line.split(' ').nth(1).and_then(|count| count.parse().ok());
        assert!(errors > Some(0), "valgrind sees the branch planted in {protocol}: {said}");
    }
    for name in ["kernels", "xmss", "vdf", "vrf", "tss"] {
        let run = valgrind(&folder, name, "portable", &[]);
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(said.starts_with("checked: true"), "{name} speaks to valgrind: {said}");
        assert!(run.status.success(), "{name}: {said}\n{}", String::from_utf8_lossy(&run.stderr));
    }
    // Valgrind knows AVX2, and no AVX-512.
    if tetralith_kernels::cpu::has(tetralith_kernels::cpu::Family::Avx2) {
        for name in ["vrf", "tss"] {
            let run = valgrind(&folder, name, "avx2", &[]);
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(said.starts_with("checked: true"), "{name} speaks to valgrind: {said}");
            let errors = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{name} with AVX2: {said}\n{errors}");
        }
    }
}
