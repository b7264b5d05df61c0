//! `tetralith vdf eval`, and the loop that all long evaluations share.

use super::state::State;
use super::{Job, Task, name, squarings};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::io::{self, Output};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tetralith_vdf::eval::CHECK_EVERY;
use tetralith_vdf::{Checkpoint, Error, Evaluation, Fault, Modulus, Next, Residue};

/// What to compute, and where to keep its state.
#[derive(Args, Debug)]
pub(crate) struct Eval {
    #[command(flatten)]
    job: Job,
    /// Keep the state in this file, every minute and when stopped, and go on from it
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
}

/// Runs `tetralith vdf eval`.
pub(super) fn run(context: Context, command: &Eval) -> Outcome {
    let task = command.job.read(context)?;
    let Task { modulus, x, iterations, .. } = &task;
    let iterations = *iterations;
    let start = Instant::now();
    let checkpoint = command.checkpoint.as_deref().map(io::target);
    let mut watched = Watched::new(context, checkpoint.as_deref(), None)?;
    let mut evaluation = watched.start(modulus, x, iterations)?;
    if let Err(flaw) = modulus.check_provable() {
        context.event("vdf.modulus", format!("{flaw}; it is squared all the same"), json!({}));
    }
    let from = evaluation.done();
    let y = watched.run(&mut evaluation)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut fields = json!({
        "y": y.to_string(), "x": x.to_string(), "input": task.input(), "modulus": name(modulus),
        "modulus_bits": modulus.bits(), "iterations": iterations, "seconds": seconds, "kernel": evaluation.kernel(),
        "per_second": ((iterations - from) as f64 / seconds.max(1e-9)).round(),
    });
    if task.reduced {
        fields["reduced"] = true.into();
    }
    context.answer(y, fields)
}

/// An evaluation with progress, checkpoints and signals.
pub(super) struct Watched<'a> {
    context: Context,
    state: Option<State<'a>>,
    clock: SaveClock,
}

/// Says when a state is to be saved, and when to stop.
pub(super) struct SaveClock {
    /// Set by signals where a state can be written.
    stopped: Interrupt,
    saved: Instant,
}

const SAVE_EVERY: Duration = Duration::from_secs(60);

impl SaveClock {
    /// Catches signals, where a state is `kept`.
    pub(super) fn new(kept: bool) -> Outcome<Self> {
        let stopped = if kept { Interrupt::catch_once()? } else { Interrupt::default() };
        Ok(Self { stopped, saved: Instant::now() })
    }

    /// What to do after a stretch of squarings.
    pub(super) fn next(&mut self) -> Next {
        if self.stopped.came() {
            return Next::Stop;
        }
        if self.saved.elapsed() < SAVE_EVERY {
            return Next::GoOn;
        }
        self.saved = Instant::now();
        Next::Save
    }
}

impl<'a> Watched<'a> {
    /// Takes the checkpoint's name, which is not that of the result.
    pub(super) fn new(
        context: Context,
        checkpoint: Option<&'a Path>,
        output: Option<&Output>,
    ) -> Outcome<Self> {
        let state = checkpoint.map(|path| State::claim(path, output)).transpose()?;
        Ok(Self { context, clock: SaveClock::new(state.is_some())?, state })
    }

    /// Goes on from the checkpoint where there is one, else begins.
    pub(super) fn start(
        &self,
        modulus: &Modulus,
        x: &Residue,
        iterations: u64,
    ) -> Outcome<Evaluation> {
        let found = match &self.state {
            Some(State { path, .. }) => {
                Checkpoint::load(path).map_err(|error| at_checkpoint(error, path))?
            }
            None => None,
        };
        let Some((checkpoint, problem)) = found else {
            return Ok(Evaluation::new(modulus, x, iterations)?);
        };
        if let Some(problem) = problem {
            let text = format!("{problem}; resuming from the previous checkpoint");
            self.context.event("checkpoint.damaged", text, json!({}));
        }
        checkpoint.expect(modulus, x, iterations)?;
        let text = format!("going on after {}", squarings(checkpoint.done()));
        self.context.event("checkpoint.resumed", text, json!({ "done": checkpoint.done() }));
        Ok(Evaluation::resume(&checkpoint)?)
    }

    /// Squares to the end, or until a signal, after which the state is in the checkpoint.
    pub(super) fn run(&mut self, evaluation: &mut Evaluation) -> Outcome<Residue> {
        let progress = self.context.progress("squaring", evaluation.iterations(), "squarings");
        progress.set(evaluation.done());
        loop {
            if let Some(result) = evaluation.result() {
                progress.finish();
                // The result is worth more than the file that would lead to it.
                if let Err(failure) = self.save(evaluation) {
                    self.context.event("checkpoint.unsaved", &failure.message, json!({}));
                }
                return Ok(result);
            }
            let step = evaluation.advance(CHECK_EVERY)?;
            tell_fault(self.context, step.fault);
            progress.set(step.done);
            let next = self.clock.next();
            if next != Next::GoOn {
                self.save(evaluation)?;
            }
            if next == Next::Stop {
                progress.finish();
                return Err(interrupted(evaluation));
            }
        }
    }

    /// Writes the checkpoint, where one is wanted.
    fn save(&self, evaluation: &mut Evaluation) -> Outcome {
        if let Some(State { path, .. }) = &self.state {
            let (checkpoint, fault) = evaluation.checkpoint()?;
            tell_fault(self.context, fault);
            checkpoint.save(path).map_err(|error| {
                let message = format!("{}: {error}", path.display());
                Failure::new(Exit::Environment, "io.file", message).hint(
                    "the previous checkpoint is intact; free disk space and rerun the command",
                )
            })?;
        }
        Ok(())
    }
}

/// Tells of an error of the machine that the check found.
pub(super) fn tell_fault(context: Context, fault: Option<Fault>) {
    if let Some(fault) = fault {
        let fields = json!({ "found_at": fault.found_at, "back_to": fault.back_to });
        context.event("vdf.fault", fault, fields);
    }
}

/// Names the checkpoint in an error of its files, and what may be done about it.
fn at_checkpoint(error: Error, path: &Path) -> Failure {
    let mut previous = path.as_os_str().to_owned();
    previous.push(".previous");
    let previous = Path::new(&previous);
    let (name, copy) = (path.display(), previous.display());
    let (about, hint) = match (&error, path.exists(), previous.exists()) {
        (Error::Io(_), ..) => (&name, "make it readable, or name another checkpoint".into()),
        (Error::Magic { .. } | Error::Version { .. }, true, _) => {
            (&name, "name another checkpoint".into())
        }
        (_, true, false) => {
            (&name, "there is no earlier checkpoint; delete it to start over".into())
        }
        (_, true, true) => {
            (&name, format!("{copy} cannot be used either; delete both to start over"))
        }
        (_, false, _) => (&copy, "delete it to start over".into()),
    };
    let failure = Failure::from(error);
    let message = format!("{about}: {}", failure.message);
    Failure { message, ..failure }.hint(hint)
}

fn interrupted(evaluation: &Evaluation) -> Failure {
    let message = format!("stopped by a signal after {}", squarings(evaluation.done()));
    Failure { message, ..stopped_by_signal() }
}

/// The failure of a run whose state is kept.
pub(super) fn stopped_by_signal() -> Failure {
    Failure::new(Exit::Environment, "interrupted", "stopped by a signal")
        .hint("rerun the same command to resume from the checkpoint")
}
