//! Blame: who is said to have failed, by whom, and proofs that need nobody's word.

use super::{Blame, Client, VerifyBlame, list as items, text};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::io::{Access, Output};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tetralith_node::Ecdsa;
use tetralith_node::proof::{Proof, ProofError};

/// The longest proof that is read, in bytes.
const MAX_PROOF: u64 = 4 << 20;

/// Lists whom failed ceremonies blame, or writes one proof to a file.
pub(super) fn list(context: Context, command: &Blame) -> Outcome {
    let client = Client::of(&command.of)?;
    if let (Some(ceremony), Some(output)) = (&command.proof, &command.output) {
        let output = Output { output: output.clone(), force: command.force };
        return write_proof(context, &client, ceremony, &output);
    }
    let answer = client.get("/v1/ceremonies?limit=1000")?;
    let failed: Vec<&Value> = items(&answer["ceremonies"])
        .filter(|ceremony| {
            items(&ceremony["blames"]).next().is_some() || text(&ceremony["state"]) == "failed"
        })
        .collect();
    let pairs = pairs(&failed);
    let mut lines: Vec<String> = failed.iter().flat_map(|ceremony| lines(ceremony)).collect();
    lines.extend(pairs.iter().map(|((reporter, peer), count)| {
        format!("{reporter} accused {peer} {count} times: one of the two is at fault")
    }));
    if lines.is_empty() {
        lines.push("nobody is blamed".to_owned());
    }
    let counts = pairs.iter().map(
        |((reporter, peer), count)| json!({ "reporter": reporter, "peer": peer, "count": count }),
    );
    let pairs: Vec<Value> = counts.collect();
    context.answer(lines.join("\n"), json!({ "ceremonies": failed, "pairs": pairs }))
}

/// The lines of one failed ceremony: a blame each, or why nobody is blamed.
fn lines(ceremony: &Value) -> Vec<String> {
    let id = text(&ceremony["id"]);
    let blames = items(&ceremony["blames"]).map(|blame| {
        let (peer, reporter) = (text(&blame["peer"]["name"]), text(&blame["reporter"]["name"]));
        let (fault, evidence) = (text(&blame["fault"]), text(&blame["evidence"]));
        format!("{id}  {peer}  {fault}  {evidence} by {reporter}")
    });
    let lines: Vec<String> = blames.collect();
    match lines.is_empty() {
        true => vec![format!("{id}  -  {}", text(&ceremony["reason"]))],
        false => lines,
    }
}

/// How often each node accused each other without a proof.
fn pairs(ceremonies: &[&Value]) -> BTreeMap<(String, String), usize> {
    let mut pairs = BTreeMap::new();
    let blames = ceremonies.iter().flat_map(|ceremony| items(&ceremony["blames"]));
    for blame in blames.filter(|blame| text(&blame["evidence"]) == "accusation") {
        let name = |field: &str| text(&blame[field]["name"]).to_owned();
        *pairs.entry((name("reporter"), name("peer"))).or_default() += 1;
    }
    pairs
}

fn write_proof(context: Context, client: &Client, ceremony: &str, output: &Output) -> Outcome {
    output.check()?;
    let answer = client.get(&format!("/v1/ceremonies/{ceremony}"))?;
    let proof = items(&answer["blames"]).find_map(|blame| blame.get("proof"));
    let Some(proof) = proof else {
        let message = format!("ceremony {ceremony} has no proof of blame");
        return Err(Failure::new(Exit::Verification, "blame.unproved", message)
            .hint("tetralith tss blame --node FOLDER lists which blames are proofs"));
    };
    output.write(format!("{proof}\n").as_bytes(), Access::Public)?;
    let message = format!("wrote {}", output.output.display());
    context.answer(message, json!({ "output": output.output, "ceremony": ceremony }))
}

/// Checks a proof by the messages in it alone.
pub(super) fn verify(context: Context, command: &VerifyBlame) -> Outcome {
    let bytes = crate::io::read(&command.file, MAX_PROOF)?;
    let refused = |error: ProofError| {
        let file = command.file.display();
        match error {
            ProofError::Malformed(_) => {
                Failure::usage("blame.malformed", format!("{file}: {error}"))
            }
            error => Failure::new(Exit::Verification, "blame.refuted", format!("{file}: {error}")),
        }
    };
    let found = Proof::from_json(&bytes).and_then(|proof| proof.verify(&Ecdsa)).map_err(refused)?;
    let text = format!(
        "{} {} in round {} of ceremony {}",
        found.peer, found.fault, found.round, found.ceremony
    );
    context.answer(text, serde_json::to_value(&found).unwrap_or_default())
}
