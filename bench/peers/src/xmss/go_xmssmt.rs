//! go-xmssmt, by the Go program in `go/`, where Go is installed.
//!
//! Its keys are derived from the seeds as RFC 8391 first said, so its root is another one; it must
//! verify the other peers' signature, and purecrypto must verify its.

use super::Reference;
use crate::clock;
use crate::measure::{self, Case, Runner};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

const PEER: &str = "go-xmssmt 1.5.2";

#[derive(Deserialize)]
struct Times {
    public: String,
    signature: String,
    keygen: Vec<f64>,
    sign: Vec<f64>,
    verify: Vec<f64>,
}

/// Checks and measures; says so where there is no Go.
pub fn run(runner: &mut Runner, set: &str, reference: Option<&Reference>) -> Result<(), String> {
    let names = ["xmss.keygen", "xmss.sign", "xmss.verify"];
    if !names.iter().any(|name| runner.wants(name, set, PEER)) {
        return Ok(());
    }
    let Some(program) = build()? else {
        eprintln!("tetralith-peers: no go command; go-xmssmt is left out");
        return Ok(());
    };
    let seeds = super::seeds();
    let message = super::message();
    let mut command = Command::new(program);
    command.arg(set).args(seeds.chunks(32).map(hex::encode)).arg(hex::encode(message));
    command.arg(runner.budget.as_secs_f64().to_string());
    if let Some(reference) = reference {
        command.args([hex::encode(&reference.public), hex::encode(&reference.signature)]);
    }
    let mut clocks: Vec<f64> = clock::gigahertz().into_iter().collect();
    let output = command.output().map_err(|error| format!("{PEER}: {error}"))?;
    clocks.extend(clock::gigahertz());
    if !output.status.success() {
        return Err(format!("{PEER}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let times: Times =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("{PEER}: {error}"))?;
    check(set, &times)?;
    let bytes = times.signature.len() / 2;
    for (name, ns, bytes) in [
        ("xmss.keygen", times.keygen, 64),
        ("xmss.sign", times.sign, bytes),
        ("xmss.verify", times.verify, bytes),
    ] {
        if runner.wants(name, set, PEER) {
            let case = Case::new(name, set, PEER).bytes(bytes);
            let clocks = clocks.clone();
            runner.push(case, measure::Times { ns, clocks, ..Default::default() });
        }
    }
    Ok(())
}

/// Builds the program, or returns nothing where there is no Go.
fn build() -> Result<Option<std::path::PathBuf>, String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
    let program = Path::new(env!("OUT_DIR")).join("go-xmssmt");
    let mut command = Command::new("go");
    command.args(["build", "-buildvcs=false", "-o"]).arg(&program).arg(".").current_dir(sources);
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("go build: {error}")),
        Ok(output) if output.status.success() => Ok(Some(program)),
        Ok(output) => Err(format!("go build: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

#[cfg(feature = "purecrypto")]
fn check(set: &str, times: &Times) -> Result<(), String> {
    let bytes = |text: &str| hex::decode(text).map_err(|error| format!("{PEER}: {error}"));
    let mut verifier = (super::purecrypto::peer().verifier)(set, &bytes(&times.public)?);
    if verifier.verify(&super::message(), &bytes(&times.signature)?) {
        return Ok(());
    }
    Err(format!("{PEER}: purecrypto refuses its signature for {set}"))
}

#[cfg(not(feature = "purecrypto"))]
fn check(set: &str, times: &Times) -> Result<(), String> {
    let public = hex::decode(&times.public).map_err(|error| format!("{PEER}: {error}"))?;
    let fits = public.len() == 64;
    if fits { Ok(()) } else { Err(format!("{PEER}: a wrong public key for {set}")) }
}
