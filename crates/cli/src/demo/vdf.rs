//! VDF: 2^20 squarings of the known-answer input, two proofs of them, and a time-lock.

use super::Demo;
use crate::failure::{Exit, Failure, Outcome};
use serde_json::Value;

const VECTORS: &str = include_str!("../../vectors/rsa2048_squaring.json");

/// What is hashed to the input of the proofs.
const SEED: &str = "a demo of Tetralith";

pub(super) fn run(demo: &mut Demo) -> Outcome {
    let (x, y) = known_answer().ok_or_else(|| {
        Failure::new(Exit::Environment, "demo.vectors", "the known answers are malformed")
    })?;
    let value = demo.succeeds(
        "Square a raw input 2^20 times mod RSA-2048",
        &["vdf", "eval", "-N", "rsa2048", "-t", "20", &x],
    )?;
    let same = value["y"].as_str() == Some(&y);
    let told = "y is the published value".to_owned();
    demo.checks(
        "Compare with the known answer",
        "vectors/vdf/rsa2048_squaring.json, t = 20",
        if same { Ok(told) } else { Err(format!("y is {}", value["y"])) },
    )?;
    for proof in ["wesolowski", "pietrzak"] {
        let file = format!("{proof}.proof");
        demo.succeeds(
            &format!("Square a hashed seed and prove it ({proof})"),
            &[
                "vdf", "prove", "-N", "rsa2048", "-t", "20", "--seed", SEED, "--proof", proof,
                "-o", &file,
            ],
        )?;
        demo.succeeds(
            &format!("Verify the {proof} proof"),
            &["vdf", "verify", &file, "-N", "rsa2048", "--seed", SEED, "-t", "20"],
        )?;
        demo.fails(
            "Ask whether it proves twice as many squarings",
            &["vdf", "verify", &file, "-N", "rsa2048", "--seed", SEED, "-t", "21"],
            Exit::Verification,
        )?;
    }
    demo.file("secret.txt", b"not before three seconds of squaring\n")?;
    demo.succeeds(
        "Seal a file for about three seconds",
        &["vdf", "seal", "--delay", "3s", "secret.txt", "-o", "secret.sealed"],
    )?;
    demo.succeeds("Open it by squaring", &["vdf", "open", "secret.sealed", "-o", "opened.txt"])?;
    let opened = std::fs::read(demo.path("opened.txt")).ok();
    let same = opened.as_deref() == std::fs::read(demo.path("secret.txt")).ok().as_deref();
    let told = "the opened file is the sealed one".to_owned();
    demo.checks(
        "Compare the two files",
        "cmp secret.txt opened.txt",
        if same && opened.is_some() { Ok(told) } else { Err("they differ".into()) },
    )
}

/// x and y of the case with 2^20 squarings.
fn known_answer() -> Option<(String, String)> {
    let vectors: Value = serde_json::from_str(VECTORS).ok()?;
    let case = vectors["cases"].as_array()?.iter().find(|case| case["t"] == 20)?;
    Some((vectors["x"].as_str()?.to_owned(), case["y"].as_str()?.to_owned()))
}
