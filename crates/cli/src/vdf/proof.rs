//! `tetralith vdf prove`.

use super::eval::{SaveClock, stopped_by_signal, tell_fault};
use super::state::State;
use super::{Job, Task, name, squarings, warn_factorable};
use crate::context::{Context, Progress, Waiting};
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access, Output};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tetralith_vdf::eval::{CHECK_EVERY, Trouble};
use tetralith_vdf::{Error, Options, Progress as Step, Prover, System};

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
    #[arg(long, default_value_t = 256, value_name = "MIB", value_parser = super::parse_memory)]
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
    command.output.check_result()?;
    let task = command.job.read(context)?;
    let Task { modulus, x, iterations, .. } = &task;
    let iterations = *iterations;
    let checkpoint = command.checkpoint.as_deref().map(io::target);
    let checkpoint = checkpoint.as_deref();
    let state = checkpoint.map(|path| State::claim(path, Some(&command.output))).transpose()?;
    let start = Instant::now();
    let mut prover = Prover::new(command.proof.system(), modulus, x, iterations, options)?;
    warn_factorable(context, modulus, "prove");
    let mut report = Report::new(context, iterations);
    let mut squared = start;
    let mut clock = SaveClock::new(state.is_some())?;
    let mut first = true;
    let result = prover.run_kept(checkpoint, &mut |step| {
        tell_trouble(context, step.trouble);
        let damaged = step.trouble == Some(Trouble::Damaged);
        if std::mem::take(&mut first) && (step.done > CHECK_EVERY || damaged) {
            let text = format!("going on after {}", squarings(step.done));
            context.event("checkpoint.resumed", text, json!({ "done": step.done }));
        }
        tell_fault(context, step.fault);
        report.tell(&step);
        if !step.proving {
            squared = Instant::now();
        }
        clock.next()
    });
    report.finish();
    let (y, proof) = match result {
        Err(Error::Cancelled) => return Err(stopped_by_signal()),
        result => result.map_err(|error| at_run(error, checkpoint))?,
    };
    let bytes = proof.to_bytes();
    let at = command.output.keep(&bytes, Access::Public)?;
    if let Some(kept) = checkpoint {
        // The proof is written: what is left behind is in nobody's way.
        if let Err(error) = Prover::forget(kept) {
            context.event("checkpoint.left", format!("{}: {error}", kept.display()), json!({}));
        }
    }
    let mut fields = json!({
        "y": y.to_string(), "x": x.to_string(), "input": task.input(), "proof": at,
        "bytes": bytes.len(), "system": proof.system().name(), "modulus": name(modulus),
        "modulus_bits": modulus.bits(), "iterations": iterations,
        "seconds": start.elapsed().as_secs_f64(),
        "seconds_after_last_squaring": squared.elapsed().as_secs_f64(),
    });
    if task.reduced {
        fields["reduced"] = true.into();
    }
    context.kept((&command.output, &at), "vdf.proved", y, fields)
}

/// Progress in two jobs: the squarings, whose end can be told, and then the proof.
struct Report {
    context: Context,
    squaring: Progress,
    proving: Option<Waiting>,
}

impl Report {
    fn new(context: Context, iterations: u64) -> Self {
        let squaring = context.progress("squaring", iterations, "squarings");
        Self { context, squaring, proving: None }
    }

    fn tell(&mut self, step: &Step) {
        if !step.proving {
            self.squaring.set(step.done);
            return;
        }
        self.squaring.finish();
        self.proving.get_or_insert_with(|| self.context.waiting("proving")).tell();
    }

    fn finish(&self) {
        self.squaring.finish();
        self.proving.iter().for_each(Waiting::finish);
    }
}

/// Tells what happened to the files of a run.
fn tell_trouble(context: Context, trouble: Option<Trouble>) {
    match trouble {
        None => {}
        Some(Trouble::Damaged) => {
            let text = "part of the saved run is corrupt; resuming from the last intact part";
            context.event("checkpoint.damaged", text, json!({}));
        }
    }
}

/// Names the files of a run in an error of theirs.
fn at_run(error: Error, path: Option<&Path>) -> Failure {
    let Some(path) = path else { return error.into() };
    let hint = match error {
        Error::CheckpointMemory => "rerun with the --memory of the first run".to_owned(),
        Error::Io(_) => {
            "the previous state is intact; free disk space and rerun the command".into()
        }
        Error::CheckpointDamaged(_) => format!(
            "delete {}: with the --memory, --threads and --segments of the first run, the same \
             command resumes from the other files",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_squarings_and_then_the_proof() {
        let context = Context { json: false, quiet: true, threads: 1 };
        let mut report = Report::new(context, 9);
        let step = Step { done: 9, iterations: 9, proving: false, fault: None, trouble: None };
        report.tell(&step);
        assert!(report.proving.is_none());
        report.tell(&Step { proving: true, ..step });
        // What a line says of the proof has no end and no speed.
        let line = report.proving.as_ref().expect("it is proved").line();
        assert_eq!(line, json!({ "event": "progress", "job": "proving", "seconds": 0.0 }));
        report.finish();
    }
}
