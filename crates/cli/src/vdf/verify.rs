//! `tetralith vdf verify`.

use super::{Squarings, factorable, name, read_hex, read_modulus, read_seed, reduced, squarings};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tetralith_vdf::{Modulus, Proof, Statement};

/// A proof, and what it is expected to be about.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The proofs; `-` is standard input
    #[arg(value_name = "PROOF", required = true)]
    proofs: Vec<PathBuf>,
    /// Expect this modulus: rsa2048, hex digits, or @FILE with one of these
    #[arg(short = 'N', long, value_name = "MODULUS")]
    modulus: Option<String>,
    /// Expect the input that this seed is hashed to; @FILE hashes the bytes of a file
    #[arg(long, value_name = "TEXT", conflicts_with = "x")]
    seed: Option<String>,
    /// Expect this raw input, hex or @FILE
    #[arg(short, value_name = "XHEX")]
    x: Option<String>,
    /// Expect this output, hex or @FILE
    #[arg(short, value_name = "YHEX")]
    y: Option<String>,
    #[command(flatten)]
    count: Squarings,
}

/// A proof of 64 segments or 55 halvings for the largest modulus is shorter.
const MAX_PROOF: u64 = 1 << 20;

/// Runs `tetralith vdf verify`: all proofs at once, and a line for each. A file that is no proof hides
/// none of the others.
pub(super) fn run(context: Context, command: &Verify) -> Outcome {
    let expected = Expected::read(context, command)?;
    let read = |path: &PathBuf| expected.proof(context, path);
    let mut results: Vec<Outcome<Proof>> = command.proofs.iter().map(read).collect();
    let proofs: Vec<Proof> = results.iter().flatten().cloned().collect();
    let read = results.iter_mut().filter(|result| result.is_ok());
    for (result, verdict) in read.zip(Proof::verify_many(&proofs, context.threads)) {
        if let Err(error) = verdict {
            *result = Err(error.into());
        }
    }
    match &results[..] {
        [result] => {
            let proof = result.as_ref().map_err(Clone::clone)?;
            context.answer(expected.describe(proof), fields(proof))
        }
        _ => tell_all(context, &expected, &command.proofs, &results),
    }
}

/// A line for each of several proofs; the worst failure is the command's.
fn tell_all(
    context: Context,
    expected: &Expected,
    paths: &[PathBuf],
    results: &[Outcome<Proof>],
) -> Outcome {
    let mut rows = Vec::new();
    for (path, result) in paths.iter().zip(results) {
        let (text, mut row) = match result {
            Ok(proof) => (expected.describe(proof), fields(proof)),
            Err(failure) => (
                format!("refused: {}", failure.message),
                json!({ "code": failure.code, "message": failure.message }),
            ),
        };
        row["file"] = path.display().to_string().into();
        row["valid"] = result.is_ok().into();
        rows.push(row);
        if !context.json {
            context.line(&format!("{}: {text}", path.display()))?;
        }
    }
    let failed: Vec<&Failure> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    let Some(first) = failed.iter().min_by_key(|failure| failure.exit as u8) else {
        return if context.json { context.answer("", json!({ "proofs": rows })) } else { Ok(()) };
    };
    let message = format!("{} of {} proofs do not verify", failed.len(), results.len());
    Err(Failure::new(first.exit, first.code, message).with("proofs", rows.into()))
}

/// What a proof is expected to be about, read once for all proofs.
struct Expected {
    modulus: Option<Modulus>,
    iterations: Option<u64>,
    seed: Option<Vec<u8>>,
    x: Option<Vec<u8>>,
    y: Option<Vec<u8>>,
}

impl Expected {
    fn read(context: Context, command: &Verify) -> Outcome<Self> {
        let modulus = command.modulus.as_deref().map(read_modulus).transpose()?;
        modulus.iter().try_for_each(Modulus::check_provable)?;
        let number = |text: &Option<String>, what| {
            text.as_deref().map(|text| read_hex(text, what)).transpose()
        };
        Ok(Self {
            modulus,
            iterations: command.count.given(context),
            seed: command.seed.as_deref().map(read_seed).transpose()?,
            x: number(&command.x, "x")?,
            y: number(&command.y, "y")?,
        })
    }

    /// Reads a proof and compares its statement.
    fn proof(&self, context: Context, path: &Path) -> Outcome<Proof> {
        let bytes = io::read(path, MAX_PROOF)?;
        let proof = match &self.modulus {
            Some(modulus) => Proof::from_bytes_modulo(&bytes, modulus)?,
            None => Proof::from_bytes(&bytes)?,
        };
        let Statement { modulus, iterations, .. } = proof.statement();
        if self.modulus.is_none() && modulus.preset().is_none() {
            let text = format!(
                "{}: the modulus is no preset and -N was not given: whoever made it can prove anything",
                path.display()
            );
            context.event("vdf.modulus", text, json!({ "file": path.display().to_string() }));
        }
        if modulus.is_factorable() {
            let (event, text) = factorable(modulus, &path.display().to_string());
            context.event(event, text, json!({ "file": path.display().to_string() }));
        }
        self.iterations.map_or(Ok(()), |expected| proof.expect_iterations(expected))?;
        if let Some(seed) = &self.seed {
            proof.expect_input(&modulus.hash_to_element(*iterations, seed))?;
        }
        if let Some(x) = &self.x {
            proof.expect_input(&reduced(context, modulus, x, "x").0)?;
        }
        if let Some(y) = &self.y {
            proof.expect_output(&reduced(context, modulus, y, "y").0)?;
        }
        Ok(proof)
    }

    /// What a right proof says, and whether its x was compared.
    fn describe(&self, proof: &Proof) -> String {
        let statement = proof.statement();
        let (system, count) = (proof.system().name(), squarings(statement.iterations));
        let modulus = match statement.modulus.preset() {
            Some(name) => name.to_owned(),
            None => format!("a number of {} bits", statement.modulus.bits()),
        };
        let x = match (&self.seed, &self.x) {
            (Some(_), _) => "x is the hash of the seed",
            (None, Some(_)) => "x is the raw number given",
            (None, None) => "x was not compared",
        };
        format!("valid: {system} proof of {count} modulo {modulus}, y up to its sign; {x}")
    }
}

fn fields(proof: &Proof) -> Value {
    let statement = proof.statement();
    json!({
        "factorable": statement.modulus.is_factorable(),
        "system": proof.system().name(), "modulus": name(&statement.modulus),
        "modulus_bits": statement.modulus.bits(), "iterations": statement.iterations,
        "x": statement.x.to_string(), "y": statement.y.residue().to_string(),
    })
}
