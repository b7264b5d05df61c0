//! Measures the peers of Tetralith's primitives, and compares a run of `tetralith bench` with them.
//!
//! The peers are linked into this program alone, which is never published. It prints the rows of
//! `tetralith bench NOUN --json`, with the peer and its version as `kernel`.

mod clock;
mod compare;
mod measure;
mod row;
mod vdf;
mod vrf;
mod xmss;

use clap::Parser;
use measure::Runner;
use std::process::ExitCode;

/// Measures the peers of Tetralith's primitives side by side
#[derive(Parser, Debug)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Seconds of measuring for each row
    #[arg(long, global = true, default_value_t = 1.0, value_name = "SECONDS")]
    seconds: f64,
    /// Measure only rows whose name, parameters and peer contain this text
    #[arg(long, global = true, value_name = "TEXT")]
    only: Option<String>,
    /// Print one JSON object, and no progress
    #[arg(long, global = true)]
    json: bool,
    /// The core to stay on; by default the last one
    #[arg(long, global = true, value_name = "CORE")]
    core: Option<usize>,
    /// Tree heights for xmss: 10, 16 or 20
    #[arg(long, global = true, value_delimiter = ',', default_values_t = [10])]
    heights: Vec<u32>,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// XMSS: key generation, signing, verification
    Xmss,
    /// Squaring modulo N
    Vdf,
    /// Verifiable randomness: proving and verification
    Vrf,
    /// Runs `tetralith bench`, the peers, and `tetralith bench` again, and prints and stores ratios
    Compare(compare::Arguments),
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("tetralith-peers: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if let Command::Compare(compare) = &arguments.command {
        return compare::run(compare, arguments);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut runner = Runner::new(arguments.seconds, arguments.only.clone(), arguments.json);
    if !clock::pin(arguments.core.unwrap_or(cores - 1)) {
        eprintln!("tetralith-peers: cannot stay on one core; going on");
    }
    match &arguments.command {
        Command::Xmss => xmss::run(&mut runner, &arguments.heights)?,
        Command::Vdf => vdf::run(&mut runner)?,
        Command::Vrf => vrf::run(&mut runner)?,
        Command::Compare(_) => unreachable!("returned above"),
    }
    if arguments.json {
        let results = runner.finish();
        println!("{}", serde_json::to_string(&results).map_err(|error| error.to_string())?);
    }
    Ok(())
}
