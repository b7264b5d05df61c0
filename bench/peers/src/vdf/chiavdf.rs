//! chiavdf's Python wheel: a class group of unknown order, another group than ours.
//!
//! An iteration is a squaring of a form with a 1024-bit discriminant, so its rows stand in a group of
//! their own. The wheel goes into a virtual environment below the build folder; where there is no
//! Python, or no wheel for it, the rows are left out and that is said.

use crate::clock;
use crate::measure::{Case, Runner, Times};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

const PEER: &str = "chiavdf 1.2.0 (wheel)";
const PARAMS: &str = "class-group-1024";
const ITERATIONS: usize = 50_000;

#[derive(Deserialize)]
struct Taken {
    prove: Vec<f64>,
    verify: Vec<f64>,
}

/// Measures, or says why not.
pub fn run(runner: &mut Runner) {
    let names = ["vdf.iteration_with_proof", "vdf.wesolowski.verify"];
    if !names.iter().any(|name| runner.wants(name, PARAMS, PEER)) {
        return;
    }
    let mut clocks: Vec<f64> = clock::gigahertz().into_iter().collect();
    let taken = match python().and_then(|python| times(&python, runner.budget.as_secs_f64())) {
        Ok(taken) => taken,
        Err(why) => return eprintln!("tetralith-peers: chiavdf is left out: {why}"),
    };
    clocks.extend(clock::gigahertz());
    let each = taken.prove.iter().map(|ns| ns / ITERATIONS as f64).collect();
    for (name, n, ns) in [(names[0], ITERATIONS, each), (names[1], ITERATIONS, taken.verify)] {
        let times = Times { ns, clocks: clocks.clone(), ..Times::default() };
        runner.push(Case::new(name, PARAMS, PEER).n(n).bytes(200), times);
    }
}

/// The interpreter of an environment that has the wheel.
fn python() -> Result<PathBuf, String> {
    let folder = Path::new(env!("OUT_DIR")).join("chiavdf");
    let python = folder.join("bin/python");
    let has = |python: &Path| succeeds(Command::new(python).args(["-c", "import chiavdf"]));
    if has(&python).is_err() {
        succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let wheel = ["-m", "pip", "install", "--quiet", "--only-binary", ":all:", "chiavdf==1.2.0"];
        succeeds(Command::new(&python).args(wheel))?;
        has(&python)?;
    }
    Ok(python)
}

fn times(python: &Path, seconds: f64) -> Result<Taken, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("python/chiavdf_times.py");
    let mut command = Command::new(python);
    command.arg(script).args([ITERATIONS.to_string(), seconds.to_string()]);
    serde_json::from_slice(&succeeds(&mut command)?).map_err(|error| error.to_string())
}

/// What a command prints, or its last words.
fn succeeds(command: &mut Command) -> Result<Vec<u8>, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program}: {}", error.trim().lines().last().unwrap_or("failed")))
}
