//! What every command has in common: exit codes, JSON failures, completions, manual pages, kernels.

use std::process::{Command, Output};

fn tetralith(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetralith"));
    command.args(arguments).env_remove("TETRALITH_KERNEL");
    command
}

fn output(arguments: &[&str]) -> Output {
    tetralith(arguments).output().expect("the command starts")
}

#[test]
fn the_exit_codes_of_the_page_are_those_of_the_help() {
    let help = String::from_utf8(output(&["--help"]).stdout).expect("UTF-8");
    let page = include_str!("../../../docs/command.md");
    let rows = help.lines().skip_while(|line| !line.starts_with("Exit codes:")).skip(1);
    let rows: Vec<(&str, &str)> = rows.filter_map(|line| line.trim().split_once("  ")).collect();
    assert_eq!(rows.len(), 6, "{help}");
    for (code, meaning) in rows {
        assert!(page.contains(&format!("| {code} | {meaning} |")), "{code} {meaning}");
    }
}

#[test]
fn a_refusal_is_one_object_with_json_and_text_without() {
    let json = output(&["--json", "frobnicate"]);
    assert_eq!(json.status.code(), Some(2));
    let object: serde_json::Value = serde_json::from_slice(&json.stdout).expect("one object");
    assert_eq!(object["ok"], false);
    let text = output(&["frobnicate"]);
    assert_eq!(text.status.code(), Some(2));
    assert!(text.stdout.is_empty() && !text.stderr.is_empty());
}

#[test]
fn an_unknown_kernel_is_refused_with_the_next_step() {
    let refused = tetralith(&["--json", "man"]).env("TETRALITH_KERNEL", "mmx").output();
    let refused = refused.expect("the command starts");
    assert_eq!(refused.status.code(), Some(3));
    let object: serde_json::Value = serde_json::from_slice(&refused.stdout).expect("one object");
    assert_eq!(object["code"], "kernel.unavailable");
    assert!(object["hint"].as_str().is_some_and(|hint| hint.contains("TETRALITH_KERNEL")));
}

#[test]
fn every_shell_has_completions_and_every_command_a_page() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = output(&["completions", shell]);
        assert!(script.status.success() && script.stdout.len() > 1000, "{shell}");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("man");
    assert!(output(&["man", "-o", path.to_str().expect("UTF-8")]).status.success());
    let pages: Vec<String> = std::fs::read_dir(&path)
        .expect("the folder")
        .map(|page| page.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    for noun in ["xmss", "vdf", "vrf", "tss", "node", "bench"] {
        assert!(pages.contains(&format!("tetralith-{noun}.1")), "{noun} of {pages:?}");
    }
}

#[test]
fn help_is_a_success_and_goes_to_standard_output() {
    let help = output(&["help"]);
    assert!(help.status.success() && help.stderr.is_empty() && !help.stdout.is_empty());
}

#[test]
fn a_bench_ends_in_time_and_names_what_it_left_out() {
    let ended = output(&["--json", "--quiet", "bench", "vdf", "--within", "0"]);
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    let result: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("one object");
    assert_eq!(result["results"], serde_json::json!([]));
    let left = result["left_out"].as_array().expect("rows");
    assert!(left.contains(&"vdf.square 2048".into()), "{left:?}");
    let mut command = tetralith(&["--quiet", "bench", "vdf", "--only", "square 1024"]);
    let all =
        command.args(["--within", "600", "--seconds", "0", "--json"]).output().expect("starts");
    let result: serde_json::Value = serde_json::from_slice(&all.stdout).expect("one object");
    assert!(result["results"].as_array().is_some_and(|rows| !rows.is_empty()));
    assert!(result["left_out"].is_null());
}

#[test]
fn a_bench_of_no_row_says_which_there_are() {
    for (noun, named) in [
        ("xmss", "xmss.sign.online"),
        ("vdf", "\"vdf.square 1024\""),
        ("vrf", "vrf.verify_many"),
        ("tss", "tss.frost.sign"),
        ("all", "vdf.seal"),
    ] {
        let refused = output(&["bench", noun, "--only", "nothing\u{1b}"]);
        assert_eq!(refused.status.code(), Some(2), "{noun}");
        let said = String::from_utf8(refused.stderr).expect("UTF-8");
        assert!(said.contains(r#"no row has "nothing\u{1b}" in its name"#), "{said}");
        assert!(said.contains(named) && refused.stdout.is_empty(), "{said}");
    }
}
