//! `tetralith vdf`: evaluate a delay, prove it, verify it, seal and open files.

mod bench;
mod daemon;
mod eval;
mod proof;
mod seal;
mod state;

pub(crate) use bench::any_modulus;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::io;
use clap::Args;
use std::num::IntErrorKind;
use std::path::Path;
use tetralith_vdf::{Count, Error, Modulus, Residue, parse_hex};

/// The verbs of `tetralith vdf`.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    /// Compute x^(2^T) mod N and print it in hex, as wide as N
    Eval(eval::Eval),
    /// Compute x^(2^T) mod N and write a proof of it
    Prove(proof::Prove),
    /// Verify a proof
    Verify(proof::Verify),
    /// Encrypt a file so that it takes T squarings to open
    Seal(seal::Seal),
    /// Open a sealed file, however long that takes
    Open(seal::Open),
    /// Make a modulus, forget its factors, and print it in hex
    Modulus(seal::NewModulus),
    /// Report how fast this machine squares, and what it lacks to be faster
    Bench(bench::Bench),
    /// Serve challenges over HTTP and sockets, on reserved threads, through restarts
    Daemon(daemon::Daemon),
}

/// Runs one of them.
pub(crate) fn run(context: Context, command: Command) -> Outcome {
    match command {
        Command::Eval(command) => eval::run(context, &command),
        Command::Prove(command) => proof::prove(context, &command),
        Command::Verify(command) => proof::verify(context, &command),
        Command::Seal(command) => seal::seal(context, &command),
        Command::Open(command) => seal::open(context, &command),
        Command::Modulus(command) => seal::modulus(context, &command),
        Command::Bench(command) => bench::run(context, &command),
        Command::Daemon(command) => daemon::run(context, &command),
    }
}

/// What is computed: the modulus, the input, and how often it is squared.
#[derive(Args, Debug)]
struct Job {
    /// The modulus: rsa2048, lcs35, hex digits, or @FILE with one of these
    #[arg(short = 'N', long, default_value = "rsa2048", value_name = "MODULUS")]
    modulus: String,
    #[command(flatten)]
    count: Squarings,
    /// The input in hex, or @FILE with hex; `-` is standard input
    #[arg(value_name = "XHEX")]
    x: String,
}

/// The number of squarings, in one of two ways.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Squarings {
    /// Square 2^LOG2 times
    #[arg(short = 't', long, value_name = "LOG2", value_parser = clap::value_parser!(u8).range(0..=63))]
    log2: Option<u8>,
    /// Square T times
    #[arg(short = 'T', long, value_name = "T", value_parser = parse_count)]
    iterations: Option<u64>,
}

/// Reads T; that it is at most 2^63 is for the library to say, but for what is no `u64` at all.
fn parse_count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => "T is at most 2^63".into(),
        _ => "T is a number of squarings in decimal digits".to_owned(),
    })
}

/// Reads mebibytes for the values of a proof. With none it would take a hundred times its squarings.
fn parse_memory(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(mebibytes @ 1..) => Ok(mebibytes),
        _ => Err(format!("a proof takes a whole number of mebibytes, from 1 to {}", u32::MAX)),
    }
}

impl Squarings {
    /// T, which clap has made sure is given.
    fn value(&self) -> u64 {
        self.iterations.unwrap_or_else(|| 1 << self.log2.unwrap_or_default())
    }
}

impl Job {
    /// Reads the modulus and the input. An input that is not below N is reduced, and that is said: here, and
    /// by the third value.
    fn read(&self, context: Context) -> Outcome<(Modulus, Residue, bool)> {
        let modulus = read_modulus(&self.modulus)?;
        let (x, reduced) = read_number(context, &modulus, &self.x, "x")?;
        Ok((modulus, x, reduced))
    }
}

/// A preset's name, hex digits, or a file with one of them.
fn read_modulus(text: &str) -> Outcome<Modulus> {
    Ok(Modulus::parse(from_file(text)?.trim())?)
}

/// A number modulo N in hex, or a file with hex, and whether it was not below N.
fn read_number(
    context: Context,
    modulus: &Modulus,
    text: &str,
    what: &'static str,
) -> Outcome<(Residue, bool)> {
    let (number, reduced) = modulus.reduce(&parse_hex(&from_file(text)?, what)?);
    if reduced {
        let message = format!("{what} is not below the modulus: it was reduced");
        let fields = serde_json::json!({ what: number.to_string() });
        context.log("vdf.reduced", message, fields);
    }
    Ok((number, reduced))
}

/// The text, or for `@FILE` the file's.
fn from_file(text: &str) -> Outcome<String> {
    match text.strip_prefix('@').or((text == "-").then_some(text)) {
        Some(path) => io::read_text(Path::new(path), MAX_HEX),
        None => Ok(text.to_owned()),
    }
}

/// The longest file of hex that is read.
const MAX_HEX: u64 = 1 << 16;

/// The preset that the modulus is.
fn preset(modulus: &Modulus) -> Option<&'static str> {
    match modulus {
        m if *m == Modulus::rsa2048() => Some("rsa2048"),
        m if *m == Modulus::lcs35() => Some("lcs35"),
        _ => None,
    }
}

/// The preset's name, or the digits of another modulus: what `-N` takes.
fn name(modulus: &Modulus) -> String {
    preset(modulus).map_or_else(|| hex::encode(modulus.to_bytes()), str::to_owned)
}

/// `2^20 squarings`, `1 squaring`.
fn squarings(count: u64) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} squaring{plural}", Count(count))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (exit, code) = match &error {
            Error::Invalid | Error::Sealed | Error::NotResidue { .. } => {
                (Exit::Verification, "verification.failed")
            }
            Error::OtherModulus
            | Error::OtherInput
            | Error::OtherOutput
            | Error::OtherIterations { .. } => (Exit::Verification, "verification.other_statement"),
            Error::CheckpointOther(_) => (Exit::State, "state.checkpoint"),
            Error::CheckpointMemory => (Exit::State, "state.memory"),
            Error::CheckpointDamaged(_) => (Exit::Environment, "checkpoint.damaged"),
            Error::Faulty(_) => (Exit::Environment, "machine.faulty"),
            Error::Cancelled => (Exit::Environment, "interrupted"),
            Error::Io(_) => (Exit::Environment, "io.file"),
            Error::Hex { .. } => (Exit::Usage, "input.hex"),
            Error::ModulusZero
            | Error::ModulusOne
            | Error::ModulusEven
            | Error::ModulusSize { .. }
            | Error::ModulusPrime
            | Error::ModulusSmallFactor
            | Error::ModulusPower { .. } => (Exit::Usage, "input.modulus"),
            _ => (Exit::Usage, "input.malformed"),
        };
        Failure::new(exit, code, error)
    }
}
