//! VRF: real block headers, the standard's examples, and a thousand proofs at once.

use super::Demo;
use crate::failure::{Exit, Failure, Outcome};
use serde_json::{Value, json};
use std::fmt::Write;
use tetralith_vrf::{SecretKey, Suite};

macro_rules! vector {
    ($name:literal) => {
        include_bytes!(concat!("../../vectors/", $name))
    };
}

/// Headers of Cardano's pre-production network.
const HEADERS: [(&str, &[u8]); 4] = [
    ("preprod_70070331.cbor", vector!("preprod_70070331.cbor")),
    ("preprod_70070379.cbor", vector!("preprod_70070379.cbor")),
    ("preprod_70070426.cbor", vector!("preprod_70070426.cbor")),
    ("preprod_70070464.cbor", vector!("preprod_70070464.cbor")),
];
const NONCES: &[u8] = vector!("nonces.json");
const EXAMPLES: &[u8] = vector!("ecvrf_vectors.json");

/// How many proofs are verified at once.
const MANY: u64 = 1000;
/// The index of the one among them whose proof is spoiled.
const SPOILED: u64 = 500;

pub(super) fn run(demo: &mut Demo) -> Outcome {
    headers(demo)?;
    examples(demo)?;
    many(demo)?;
    study(demo)
}

/// Measures what the published study measured.
fn study(demo: &mut Demo) -> Outcome {
    let arguments = ["vrf", "bench", "--rows", "200", "--csv", "Results.csv"];
    demo.measures("Measure the columns of the published VRF study", &arguments, |value| {
        let column = |column: &Value| {
            let number = |name: &str| column[name].as_f64().unwrap_or_default();
            format!(
                "{} {:.1} µs ({:.2} of verif; published {:.0} µs, {:.2})",
                text(column, "column"),
                number("least_s") * 1e6,
                number("ratio"),
                number("published_s") * 1e6,
                number("published_ratio")
            )
        };
        let columns = value["columns"].as_array().map(Vec::as_slice).unwrap_or_default();
        columns.iter().map(column).collect::<Vec<_>>().join("; ")
    })
}

/// Reads a vector file that is part of this program.
fn vectors(bytes: &[u8], list: &str) -> Outcome<Vec<Value>> {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    value[list].as_array().cloned().ok_or_else(|| {
        Failure::new(Exit::Environment, "demo.vectors", format!("no {list} in the vectors"))
    })
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Verifies the four headers with their epoch's nonce, and one with another epoch's.
fn headers(demo: &mut Demo) -> Outcome {
    let nonces = vectors(NONCES, "headers")?;
    for (name, header) in HEADERS {
        demo.file(name, header)?;
        let entry = nonces.iter().find(|entry| text(entry, "file") == name);
        let nonce = entry.map(|entry| text(entry, "nonce")).unwrap_or_default();
        demo.succeeds(
            "Verify the VRF proof in a Cardano block header",
            &["vrf", "verify-header", name, "--nonce", nonce],
        )?;
    }
    let (other, first) = (text(&nonces[3], "nonce").to_owned(), HEADERS[0].0);
    let arguments = ["vrf", "verify-header", first, "--nonce", &other];
    demo.fails("Verify one with another epoch's nonce", &arguments, Exit::Verification)?;
    Ok(())
}

/// Proves and verifies the examples of RFC 9381, appendix B.
fn examples(demo: &mut Demo) -> Outcome {
    let examples = vectors(EXAMPLES, "vectors")?;
    let mut equal = 0;
    for example in &examples {
        let suite = match text(example, "suite") {
            "ECVRF-P256-SHA256-TAI" => "rfc9381-p256-sha256-tai",
            "ECVRF-P256-SHA256-SSWU" => "rfc9381-p256-sha256-sswu",
            "ECVRF-EDWARDS25519-SHA512-TAI" => "rfc9381-edwards25519-sha512-tai",
            _ => "rfc9381-edwards25519-sha512-ell2",
        };
        let key = format!("rfc-{}.key", example["example"]);
        demo.file("rfc.seed", text(example, "SK").as_bytes())?;
        let alpha = text(example, "alpha");
        let quiet = ["vrf", "keygen", "--suite", suite, "-o", &key, "--seed-file", "rfc.seed"];
        demo.quietly(&quiet)?;
        let says = format!("Prove example {} of RFC 9381", example["example"]);
        let proved = demo.succeeds(&says, &["vrf", "prove", "-k", &key, "--alpha", alpha])?;
        let (proof, public) = (text(example, "pi"), text(example, "PK"));
        let arguments = ["vrf", "verify", "--suite", suite, "-p", public, "-s", proof];
        let arguments = [&arguments[..], &["--alpha", alpha]].concat();
        let verified = demo.succeeds("Verify the standard's proof", &arguments)?;
        let same_output = text(&verified, "output") == text(example, "beta");
        equal += usize::from(same_output && text(&proved, "proof") == proof);
    }
    let told = format!("{equal} of {} proofs and outputs are the standard's", examples.len());
    demo.checks(
        "Compare proofs and outputs with the standard",
        "RFC 9381, appendix B",
        if equal == examples.len() { Ok(told) } else { Err(told) },
    )
}

/// Verifies many proofs under as many keys, one of them spoiled.
fn many(demo: &mut Demo) -> Outcome {
    let suite = Suite::Draft03Cardano;
    let mut rows = String::new();
    for i in 0..MANY {
        let mut seed = [1; 32];
        seed[..8].copy_from_slice(&i.to_be_bytes());
        let key = SecretKey::from_bytes(suite, &seed)?;
        let alpha = if i == SPOILED { (i + 1).to_be_bytes() } else { i.to_be_bytes() };
        let row = json!({
            "public_key": hex::encode(key.public_key().as_bytes()),
            "alpha": hex::encode(i.to_be_bytes()),
            "proof": hex::encode(key.prove(&alpha)?.as_bytes()),
        });
        let _ = writeln!(rows, "{row}");
    }
    demo.file("rows.jsonl", rows.as_bytes())?;
    let arguments = ["vrf", "verify-batch", "--suite", suite.name(), "rows.jsonl"];
    let mut answers =
        demo.lines("Verify 1000 proofs, one of them spoiled", &arguments, Exit::Verification)?;
    answers.retain(|answer| answer["row"].is_u64());
    let valid = answers.iter().filter(|answer| answer["ok"] == true).count() as u64;
    let found = answers.get(SPOILED as usize).is_some_and(|answer| answer["ok"] == false);
    let told = format!("{valid} of {} valid, row {} is not", answers.len(), SPOILED + 1);
    demo.checks(
        "Look for the spoiled row",
        "the 1000 verdicts, in the order of the rows",
        if found && valid == MANY - 1 { Ok(told) } else { Err(told) },
    )
}
