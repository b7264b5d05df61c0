//! One run: `tetralith bench`, the peers, `tetralith bench` again; ratios, files, a plot.

mod files;
mod groups;
mod plot;
pub mod table;

use crate::clock;
use crate::row::{Machine, Results, Row};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to compare, and where to store it.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// The job: xmss, vdf or vrf
    #[arg(value_parser = ["xmss", "vdf", "vrf"])]
    pub noun: String,
    /// The `tetralith` command
    #[arg(long, default_value = "target/release/tetralith", value_name = "FILE")]
    pub ours: PathBuf,
    /// Take our rows from this output of `tetralith --json bench` instead; may be given twice
    #[arg(long, value_name = "FILE")]
    pub ours_json: Vec<PathBuf>,
    /// Take the peers' rows from this output instead of measuring them
    #[arg(long, value_name = "FILE")]
    pub peers_json: Option<PathBuf>,
    /// Take everything from this stored comparison instead, to draw and write it again
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ours_json", "peers_json", "date"])]
    pub stored: Option<PathBuf>,
    /// Store the figures below this folder
    #[arg(long, value_name = "FOLDER")]
    pub results: Option<PathBuf>,
    /// The date in the names of the files
    #[arg(long, default_value = "undated")]
    pub date: String,
}

/// Everything that a comparison measured; stored as JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Comparison {
    pub noun: String,
    pub date: String,
    pub machine: Machine,
    pub peers_machine: Machine,
    /// The clock in GHz before and after each part of the run, by a chain of dependent additions.
    pub clock_ghz_estimated: Vec<f64>,
    /// Our rows, once for each run of `tetralith bench`.
    pub ours: Vec<Vec<Row>>,
    pub peers: Vec<Row>,
}

/// Runs, prints and stores a comparison.
pub fn run(arguments: &Arguments, global: &crate::Arguments) -> Result<(), String> {
    let comparison = measure(arguments, global)?;
    let groups = groups::join(&comparison);
    print!("{}", table::text(&comparison, &groups));
    if let Some(folder) = &arguments.results {
        let stem = files::store(folder, &comparison, &groups)?;
        println!("stored: {}.{{json,csv,md,svg}}", stem.display());
    }
    Ok(())
}

fn measure(arguments: &Arguments, global: &crate::Arguments) -> Result<Comparison, String> {
    if let Some(file) = &arguments.stored {
        let comparison: Comparison = read(file)?;
        if comparison.noun == arguments.noun {
            return Ok(comparison);
        }
        return Err(format!("{} is of {}", file.display(), comparison.noun));
    }
    let mut comparison = Comparison {
        noun: arguments.noun.clone(),
        date: arguments.date.clone(),
        ..Comparison::default()
    };
    let tick = |comparison: &mut Comparison| {
        comparison.clock_ghz_estimated.extend(clock::gigahertz());
    };
    tick(&mut comparison);
    let add = |comparison: &mut Comparison, results: Option<Results>| {
        if let Some(results) = results {
            comparison.machine = results.machine;
            comparison.ours.push(results.results);
        }
    };
    let twice = arguments.ours_json.is_empty();
    if twice {
        add(&mut comparison, ours(arguments, global)?);
        tick(&mut comparison);
    }
    for file in &arguments.ours_json {
        add(&mut comparison, Some(read::<Results>(file)?));
    }
    let peers = match &arguments.peers_json {
        Some(file) => read::<Results>(file)?,
        None => peers(arguments, global)?,
    };
    (comparison.peers, comparison.peers_machine) = (peers.results, peers.machine);
    tick(&mut comparison);
    if twice && !comparison.ours.is_empty() {
        add(&mut comparison, ours(arguments, global)?);
        tick(&mut comparison);
    }
    Ok(comparison)
}

/// Runs `tetralith bench`; nothing where there is no such command.
fn ours(arguments: &Arguments, global: &crate::Arguments) -> Result<Option<Results>, String> {
    if !arguments.ours.exists() {
        eprintln!("tetralith-peers: no {}; the peers only", arguments.ours.display());
        return Ok(None);
    }
    eprintln!("== tetralith bench {}", arguments.noun);
    let bench = || {
        let mut command = Command::new(&arguments.ours);
        command.args(["--quiet", "--json", "bench", &arguments.noun]);
        command
    };
    let mut command = bench();
    if arguments.noun == "xmss" {
        command.args(["--heights", &heights(global)]);
    }
    let mut results = output(command, global, None)?;
    if arguments.noun == "vrf" && results.machine.features.iter().any(|name| name == "avx512") {
        // What a machine with AVX2 alone would do, beside the same peers.
        eprintln!("== TETRALITH_KERNEL=avx2 tetralith bench vrf --only {MANY}");
        let mut command = bench();
        command.env("TETRALITH_KERNEL", "avx2");
        let rows = output(command, global, Some(MANY))?.results;
        results.results.extend(rows.into_iter().filter(|row| row.kernel == "avx2"));
    }
    Ok(Some(results))
}

/// The names of our rows with many verifications begin so.
const MANY: &str = "vrf.verify_";

/// Runs this program for the peers, in a process of its own as ours is.
fn peers(arguments: &Arguments, global: &crate::Arguments) -> Result<Results, String> {
    eprintln!("== peers {}", arguments.noun);
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command.args(["--json", &arguments.noun]);
    command.args(["--heights", &heights(global)]);
    if let Some(core) = global.core {
        command.args(["--core", &core.to_string()]);
    }
    output(command, global, None)
}

fn heights(global: &crate::Arguments) -> String {
    global.heights.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// Runs a bench; of the rows that were asked for, or else of those of `only`.
fn output(
    mut command: Command,
    global: &crate::Arguments,
    only: Option<&str>,
) -> Result<Results, String> {
    command.args(["--seconds", &global.seconds.to_string()]);
    if let Some(only) = global.only.as_deref().or(only) {
        command.args(["--only", only]);
    }
    command.stderr(std::process::Stdio::inherit());
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stdout)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{command:?}: {error}"))
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, String> {
    let text = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", file.display()))
}
