//! `tetralith vdf inspect`: what a file says, without verifying, opening or squaring anything.

use super::{name, squarings};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use clap::Args;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use tetralith_vdf::timelock::Header;
use tetralith_vdf::{Checkpoint, Modulus, Proof, Statement};

/// What to look at.
#[derive(Args, Debug)]
pub(crate) struct Inspect {
    /// A proof, a sealed file or a checkpoint; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Proofs and checkpoints are shorter, and so is what stands before a sealed file's ciphertext.
const MAX_READ: u64 = 1 << 20;

/// Runs `tetralith vdf inspect`.
pub(super) fn run(context: Context, command: &Inspect) -> Outcome {
    let (bytes, size) = begin(&command.file)?;
    let fields = match bytes.get(..4) {
        Some(b"TVDP") => proof(&Proof::from_bytes(&bytes)?),
        Some(b"TVDS") => sealed(&Header::read(&mut &bytes[..])?, size),
        Some(b"TVDC") => checkpoint(&Checkpoint::from_bytes(&bytes)?),
        Some(b"TVDR" | b"TVDK") => {
            let message = format!("{} belongs to the state of `vdf prove`", command.file.display());
            return Err(Failure::usage("input.malformed", message).hint(
                "inspect the checkpoint itself: the name without .run, .run.copy or .tapeN",
            ));
        }
        _ => {
            let message =
                format!("{} is no proof, sealed file or checkpoint", command.file.display());
            return Err(Failure::usage("input.malformed", message));
        }
    };
    let mut text = String::new();
    for (key, value) in fields.as_object().into_iter().flatten() {
        let value = match (&key[..], value) {
            ("iterations" | "done", count) => squarings(count.as_u64().unwrap_or_default()),
            (_, Value::String(value)) => value.clone(),
            (_, value) => value.to_string(),
        };
        text += &format!("{key:13} {value}\n");
    }
    context.answer(text.trim_end(), fields)
}

/// The beginning of a file, and its size where that is known.
fn begin(path: &Path) -> Outcome<(Vec<u8>, Option<u64>)> {
    let failed = |error: std::io::Error| Failure::file(path, &error);
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_READ).read_to_end(&mut bytes).map_err(failed)?;
        return Ok((bytes, None));
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().ok().filter(|found| found.is_file()).map(|found| found.len());
    file.take(MAX_READ).read_to_end(&mut bytes).map_err(failed)?;
    Ok((bytes, size))
}

/// The modulus, its size, and what speaks against it.
fn about_modulus(fields: &mut Value, modulus: &Modulus) {
    fields["modulus"] = name(modulus).into();
    fields["modulus_bits"] = modulus.bits().into();
    if modulus.is_factorable() {
        fields["factorable"] = true.into();
    }
}

fn proof(proof: &Proof) -> Value {
    let Statement { modulus, x, iterations, y } = proof.statement();
    let mut fields = json!({
        "kind": "proof", "system": proof.system().name(), "verified": false,
        "x": x.to_string(), "iterations": iterations, "y": y.residue().to_string(),
    });
    about_modulus(&mut fields, modulus);
    fields
}

/// The length of the file inside follows from the size, and is not authenticated before it is opened.
fn sealed(header: &Header, size: Option<u64>) -> Value {
    let mut fields = json!({
        "kind": "sealed", "version": header.version() as u8, "iterations": header.iterations(),
        "size": size,
    });
    match size.map(|size| header.file_len(size)) {
        Some(Ok(len)) => fields["file_bytes"] = len.into(),
        Some(Err(error)) => fields["damaged"] = error.to_string().into(),
        None => {}
    }
    about_modulus(&mut fields, header.modulus());
    fields
}

/// Its checksum and its value were checked when it was read.
fn checkpoint(checkpoint: &Checkpoint) -> Value {
    let mut fields = json!({
        "kind": "checkpoint", "x": checkpoint.x().to_string(),
        "iterations": checkpoint.iterations(), "done": checkpoint.done(), "whole": true,
    });
    about_modulus(&mut fields, checkpoint.modulus());
    fields
}
