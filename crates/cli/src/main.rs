//! The `tetralith` command: one file a noun.
//!
//! `main` reads the arguments and hands the verb, with a [`context::Context`] for speaking, to the
//! noun's file. A failure becomes one line or one JSON object, and the exit code of [`failure::Exit`].

mod batch;
mod bench;
mod cluster;
mod context;
mod demo;
mod failure;
mod interrupt;
mod io;
mod manual;
mod node;
mod passphrase;
mod plot;
mod random;
mod report;
mod tss;
mod vdf;
mod vrf;
mod xmss;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use context::{Context, printable};
use failure::{Exit, Failure, Outcome};
use std::io::Write;
use std::process::ExitCode;

/// Fast, trustworthy cryptography for ledgers
///
/// XMSS: post-quantum signatures with a state that cannot be reused. VDF: sequential squaring with
/// proofs of delay, and time-locks. VRF: verifiable randomness and exact verification of many proofs.
/// TSS: nodes that hold a key together and sign together.
///
/// Every command prints its result, and nothing else, on standard output; events and progress go to
/// standard error. With --json the result, or the failure, is one JSON object. `-` names standard
/// input or output. Secrets are never read from the command line.
#[derive(Parser, Debug)]
#[command(name = "tetralith", version, after_long_help = manual::closing())]
struct Cli {
    /// Print the result, or the failure, as one JSON object
    #[arg(long, global = true)]
    json: bool,
    /// Print no events and no progress
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Use this many threads for heavy work [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(subcommand)]
    noun: Noun,
}

#[derive(Subcommand, Debug)]
enum Noun {
    /// Hash-based signatures with a durable state (RFC 8391, SP 800-208)
    #[command(subcommand)]
    Xmss(xmss::Command),
    /// Verifiable delay: squarings, proofs and time-locks
    #[command(subcommand)]
    Vdf(vdf::Command),
    /// Verifiable random functions (RFC 9381 and the deployed drafts)
    #[command(subcommand)]
    Vrf(vrf::Command),
    /// Threshold keys and signatures, through a node's API
    #[command(subcommand)]
    Tss(tss::Command),
    /// Signing nodes
    #[command(subcommand)]
    Node(node::Command),
    /// Some nodes on this machine, for trials
    Cluster(cluster::Command),
    /// Measure what each job costs on this machine
    Bench(bench::Command),
    /// Do all four jobs on real input, and write a report
    Demo(demo::Command),
    /// Print a shell's completion script
    Completions(manual::Completions),
    /// Write the manual pages
    Man(manual::Man),
    /// Decode a file of rows for another process of this program
    #[command(hide = true)]
    DecodeRows(batch::Decode),
}

fn main() -> ExitCode {
    let json = std::env::args_os().any(|argument| argument == "--json");
    let outcome = match Cli::try_parse() {
        Ok(cli) => run(cli),
        Err(error) => match refused(error, json) {
            None => return ExitCode::SUCCESS,
            Some(failure) => Err(failure),
        },
    };
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    // Where nobody can be told, the exit code still says it.
    if json {
        let object = failure.to_json().to_string();
        let _ = writeln!(std::io::stdout(), "{}", printable(&object));
    } else {
        let _ = writeln!(std::io::stderr(), "error: {}", printable(&failure.message));
        if let Some(hint) = &failure.hint {
            let _ = writeln!(std::io::stderr(), "hint: {}", printable(hint));
        }
    }
    ExitCode::from(failure.exit as u8)
}

fn run(cli: Cli) -> Outcome {
    if let Noun::DecodeRows(command) = &cli.noun {
        return command.run(); // before there are threads, whose stacks count as memory
    }
    tetralith_kernels::cpu::check().map_err(|error| {
        Failure::new(Exit::Environment, "kernel.unavailable", error)
            .hint("unset TETRALITH_KERNEL, or choose a kernel that this CPU has")
    })?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cli.threads.map_or(cores, usize::from);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Failure::new(Exit::Environment, "threads.start", error))?;
    let context = Context { json: cli.json, quiet: cli.quiet, threads };
    match cli.noun {
        Noun::Xmss(command) => xmss::run(context, command),
        Noun::Vdf(command) => vdf::run(context, command),
        Noun::Vrf(command) => vrf::run(context, command),
        Noun::Tss(command) => tss::run(context, command),
        Noun::Node(command) => node::run(context, command),
        Noun::Cluster(command) => cluster::run(context, &command),
        Noun::Bench(command) => bench::run(context, command),
        Noun::Demo(command) => demo::run(context, &command),
        Noun::Completions(command) => manual::completions(&command),
        Noun::Man(command) => manual::man(&command),
        Noun::DecodeRows(command) => command.run(),
    }
}

/// Turns clap's refusal into ours; `None` when it was a request for help or the version.
fn refused(error: clap::Error, json: bool) -> Option<Failure> {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return None;
    }
    if json {
        let text = error.to_string();
        // What is missing or wrong stands in the paragraph's further lines.
        let said = text.lines().skip_while(|line| !line.starts_with("error: "));
        let said: Vec<&str> = said.take_while(|line| !line.is_empty()).map(str::trim).collect();
        let said = said.join(" ");
        let message = said.strip_prefix("error: ").unwrap_or("a verb is missing");
        let failure = Failure::usage("usage.arguments", message);
        return Some(failure.hint("tetralith help lists the commands and their options"));
    }
    let _ = error.print();
    std::process::exit(i32::from(Exit::Usage as u8));
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
