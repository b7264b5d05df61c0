//! Compiles and runs a C program against the libraries, as a user would: static, shared, and under
//! valgrind.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of this test, where cargo puts the libraries as well.
fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().expect("a folder").to_owned()
}

/// The newest library of this crate with that ending.
fn library(ending: &str) -> PathBuf {
    let names = std::fs::read_dir(folder()).expect("readable").map(|e| e.expect("an entry").path());
    let ours = names.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("libtetralith_c") && name.ends_with(ending)
    });
    let changed =
        |path: &PathBuf| path.metadata().and_then(|data| data.modified()).expect("a time");
    ours.max_by_key(changed).expect("cargo builds the library before its tests")
}

fn compile(library: &Path, out: &Path) {
    let here = env!("CARGO_MANIFEST_DIR");
    let output = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-I"])
        .arg(format!("{here}/include"))
        .arg(format!("{here}/tests/program.c"))
        .arg(library)
        .args(["-lpthread", "-ldl", "-lm", "-lgcc_s"])
        .arg(format!("-Wl,-rpath,{}", library.parent().expect("a folder").display()))
        .arg("-o")
        .arg(out)
        .output()
        .expect("the tests need a C compiler: cc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// N, x, y and T of a known answer with 2^t squarings.
fn known_answer(t: u64) -> [String; 4] {
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/vdf/rsa2048_squaring.json");
    let text = std::fs::read_to_string(vectors).expect("the vectors");
    let vectors: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let cases = vectors["cases"].as_array().expect("cases");
    let case = cases.iter().find(|case| case["t"] == t).expect("the case");
    let modulus = tetralith_vdf::Modulus::rsa2048().to_bytes();
    let modulus = modulus.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = |value: &serde_json::Value| value.as_str().expect("hex").to_owned();
    [modulus, text(&vectors["x"]), text(&case["y"]), (1u64 << t).to_string()]
}

fn right(output: &Output) {
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_program_linked_statically_and_dynamically() {
    let place = tempfile::tempdir().expect("a folder");
    for (ending, name) in [(".a", "static"), (".so", "shared")] {
        let program = place.path().join(name);
        compile(&library(ending), &program);
        right(&Command::new(&program).args(known_answer(16)).output().expect("runs"));
    }
}

#[test]
fn no_memory_is_lost_or_overrun() {
    let place = tempfile::tempdir().expect("a folder");
    let program = place.path().join("checked");
    compile(&library(".a"), &program);
    let output = Command::new("valgrind")
        .args([
            "--quiet",
            "--error-exitcode=77",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite",
        ])
        // Valgrind knows no AVX-512.
        .env("TETRALITH_KERNEL", "portable")
        .arg(&program)
        .args(known_answer(5))
        .output()
        .expect("the tests need valgrind");
    right(&output);
}
