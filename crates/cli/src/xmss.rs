//! `tetralith xmss`.

use crate::context::Context;
use crate::failure::Outcome;

/// The verbs of `tetralith xmss`.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {}

/// Runs one of them.
pub(crate) fn run(_context: Context, command: Command) -> Outcome {
    match command {}
}
