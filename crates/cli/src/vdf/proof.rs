//! `tetralith vdf prove` and `tetralith vdf verify`.

use super::eval::{SaveClock, stopped_by_signal, tell_fault};
use super::state::State;
use super::{Job, name, read_modulus, read_number, squarings};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access, Output};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tetralith_vdf::eval::{CHECK_EVERY, Trouble};
use tetralith_vdf::{Error, Modulus, Options, Proof, Prover, System};

/// What to prove, and how.
#[derive(Args, Debug)]
pub(crate) struct Prove {
    #[command(flatten)]
    job: Job,
    /// The proof system
    #[arg(long, value_enum, default_value_t = Kind::Wesolowski)]
    proof: Kind,
    /// Segments of an n-wesolowski proof [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    segments: Option<u8>,
    /// Mebibytes for values that are recorded while squaring
    #[arg(long, default_value_t = 256, value_name = "MIB")]
    memory: u32,
    /// Keep the state in files that begin with this name, every minute and when stopped, and go on from
    /// it; they are removed when the proof is written
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Kind {
    /// One group element; the quickest to verify
    Wesolowski,
    /// Several Wesolowski proofs, nearly all made while squaring with a second thread
    NWesolowski,
    /// One group element for each halving of T; the cheapest to make
    Pietrzak,
}

impl Kind {
    fn system(self) -> System {
        match self {
            Kind::Wesolowski => System::Wesolowski,
            Kind::NWesolowski => System::Segmented,
            Kind::Pietrzak => System::Pietrzak,
        }
    }
}

impl Prove {
    fn options(&self, context: Context) -> Outcome<Options> {
        let mut options = Options {
            memory: u64::from(self.memory) << 20,
            threads: context.threads,
            ..Options::default()
        };
        match (self.segments, self.proof) {
            (None, _) => {}
            (Some(segments), Kind::NWesolowski) => options.segments = usize::from(segments),
            (Some(_), _) => {
                let message = "only an n-wesolowski proof has --segments";
                return Err(Failure::usage("usage.arguments", message)
                    .hint("give --proof n-wesolowski, or leave --segments out"));
            }
        }
        Ok(options)
    }
}

/// Runs `tetralith vdf prove`; prints y, as `eval` does.
pub(super) fn prove(context: Context, command: &Prove) -> Outcome {
    let options = command.options(context)?;
    command.output.check()?;
    let (modulus, x) = command.job.read(context)?;
    let iterations = command.job.count.value();
    let checkpoint = command.checkpoint.as_deref();
    let state = checkpoint.map(|path| State::claim(path, Some(&command.output))).transpose()?;
    let start = Instant::now();
    let mut prover = Prover::new(command.proof.system(), &modulus, &x, iterations, options)?;
    let progress = context.progress("proving", iterations, "squarings");
    let mut squared = start;
    let mut clock = SaveClock::new(state.is_some())?;
    let mut first = true;
    let result = prover.run_kept(checkpoint, &mut |step| {
        tell_trouble(context, step.trouble);
        let damaged = step.trouble == Some(Trouble::Damaged);
        if std::mem::take(&mut first) && (step.done > CHECK_EVERY || damaged) {
            let text = format!("going on after {}", squarings(step.done));
            context.log("checkpoint.resumed", text, json!({ "done": step.done }));
        }
        tell_fault(context, step.fault);
        progress.set(step.done);
        if !step.proving {
            squared = Instant::now();
        }
        clock.next()
    });
    progress.finish();
    let (y, proof) = match result {
        Err(Error::Cancelled) => return Err(stopped_by_signal()),
        result => result.map_err(|error| at_run(error, checkpoint))?,
    };
    let bytes = proof.to_bytes();
    command.output.write(&bytes, Access::Public)?;
    if let Some(kept) = checkpoint {
        // The proof is written: what is left behind is in nobody's way.
        if let Err(error) = Prover::forget(kept) {
            context.log("checkpoint.left", format!("{}: {error}", kept.display()), json!({}));
        }
    }
    let fields = json!({
        "y": y.to_string(), "proof": command.output.output, "bytes": bytes.len(),
        "system": proof.system().name(), "modulus": name(&modulus), "iterations": iterations,
        "seconds": start.elapsed().as_secs_f64(),
        "seconds_after_last_squaring": squared.elapsed().as_secs_f64(),
    });
    context.wrote(&command.output, "vdf.proved", y, fields)
}

/// Tells what happened to the files of a run.
fn tell_trouble(context: Context, trouble: Option<Trouble>) {
    match trouble {
        None => {}
        Some(Trouble::Damaged) => {
            let text = "what was kept of the run is damaged; going back to what is whole";
            context.log("checkpoint.damaged", text, json!({}));
        }
    }
}

/// Names the files of a run in an error of theirs.
fn at_run(error: Error, path: Option<&Path>) -> Failure {
    let Some(path) = path else { return error.into() };
    let hint = match error {
        Error::CheckpointMemory => "give the --memory with which it was begun".to_owned(),
        Error::Io(_) => {
            "what was kept before is intact; make room and run the command again".into()
        }
        Error::CheckpointDamaged(_) => format!(
            "delete {}: with the --memory, --threads and --segments that it was begun with, the same \
             command goes on from the other files",
            kept(path)
        ),
        _ => return error.into(),
    };
    let failure = Failure::from(error);
    let message = format!("{}: {}", path.display(), failure.message);
    Failure { message, ..failure }.hint(hint)
}

/// The files that are there of the two in which a run keeps what it is.
fn kept(path: &Path) -> String {
    let names = [".run", ".run.copy"].map(|end| format!("{}{end}", path.display()));
    let there: Vec<String> = names.into_iter().filter(|name| Path::new(name).exists()).collect();
    there.join(" and ")
}

/// A proof, and what it is expected to be about.
#[derive(Args, Debug)]
pub(crate) struct Verify {
    /// The proofs; `-` is standard input
    #[arg(value_name = "PROOF", required = true)]
    proofs: Vec<PathBuf>,
    /// Expect this modulus: rsa2048, lcs35, hex digits, or @FILE
    #[arg(short = 'N', long, value_name = "MODULUS")]
    modulus: Option<String>,
    /// Expect this input, hex or @FILE
    #[arg(short, value_name = "XHEX")]
    x: Option<String>,
    /// Expect this output, hex or @FILE
    #[arg(short, value_name = "YHEX")]
    y: Option<String>,
    /// Expect 2^LOG2 squarings
    #[arg(short = 't', long, value_name = "LOG2", conflicts_with = "iterations", value_parser = clap::value_parser!(u8).range(0..=63))]
    log2: Option<u8>,
    /// Expect T squarings
    #[arg(short = 'T', long, value_name = "T", value_parser = super::parse_count)]
    iterations: Option<u64>,
}

/// A proof of 64 segments or 55 halvings for the largest modulus is shorter.
const MAX_PROOF: u64 = 1 << 20;

/// Runs `tetralith vdf verify`: all proofs at once, and a line for each. A file that is no proof hides
/// none of the others.
pub(super) fn verify(context: Context, command: &Verify) -> Outcome {
    let modulus = command.modulus.as_deref().map(read_modulus).transpose()?;
    let read = |path: &PathBuf| read_proof(context, command, path, modulus.as_ref());
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
            context.answer(describe(proof), fields(proof))
        }
        _ => tell_all(context, &command.proofs, &results),
    }
}

/// A line for each of several proofs; the worst failure is the command's.
fn tell_all(context: Context, paths: &[PathBuf], results: &[Outcome<Proof>]) -> Outcome {
    let mut rows = Vec::new();
    for (path, result) in paths.iter().zip(results) {
        let (text, mut row) = match result {
            Ok(proof) => (describe(proof), fields(proof)),
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

fn read_proof(
    context: Context,
    command: &Verify,
    path: &Path,
    modulus: Option<&Modulus>,
) -> Outcome<Proof> {
    let bytes = io::read(path, MAX_PROOF)?;
    let proof = match modulus {
        Some(modulus) => Proof::from_bytes_modulo(&bytes, modulus)?,
        None => Proof::from_bytes(&bytes)?,
    };
    expect(context, command, path, &proof)?;
    Ok(proof)
}

fn describe(proof: &Proof) -> String {
    let statement = proof.statement();
    let (count, modulus) = (squarings(statement.iterations), name(&statement.modulus));
    format!("valid: {} proof of {count} modulo {modulus}, y up to its sign", proof.system().name())
}

fn fields(proof: &Proof) -> Value {
    let statement = proof.statement();
    json!({
        "system": proof.system().name(), "modulus": name(&statement.modulus),
        "bits": statement.modulus.bits(), "iterations": statement.iterations,
        "x": statement.x.to_string(), "y": statement.y.residue().to_string(),
    })
}

/// Holds the proof's statement against what was given on the command line.
fn expect(context: Context, command: &Verify, path: &Path, proof: &Proof) -> Outcome {
    let statement = proof.statement();
    match &command.modulus {
        Some(_) => {} // compared when the proof was read
        None if [Modulus::rsa2048(), Modulus::lcs35()].contains(&statement.modulus) => {}
        None => {
            let text = format!(
                "{}: the modulus is no preset and -N was not given: whoever made it can prove anything",
                path.display()
            );
            context.event("vdf.modulus", text, json!({ "file": path.display().to_string() }));
        }
    }
    if let Some(text) = &command.x {
        proof.expect_input(&read_number(context, &statement.modulus, text, "x")?)?;
    }
    if let Some(text) = &command.y {
        proof.expect_output(&read_number(context, &statement.modulus, text, "y")?)?;
    }
    let expected = command.iterations.or(command.log2.map(|log2| 1 << log2));
    Ok(expected.map_or(Ok(()), |expected| proof.expect_iterations(expected))?)
}
