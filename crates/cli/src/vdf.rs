//! `tetralith vdf`: evaluate a delay, prove it, verify it, seal and open files.

mod bench;
mod daemon;
mod eval;
mod inspect;
mod proof;
mod seal;
mod speed;
mod state;
mod verify;

pub(crate) use bench::any_modulus;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
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
    Verify(verify::Verify),
    /// Encrypt a file so that it takes T squarings to open
    Seal(seal::Seal),
    /// Open a sealed file, however long that takes
    Open(seal::Open),
    /// Print what a proof, sealed file or checkpoint says, without verifying or opening it
    Inspect(inspect::Inspect),
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
        Command::Verify(command) => verify::run(context, &command),
        Command::Seal(command) => seal::seal(context, &command),
        Command::Open(command) => seal::open(context, &command),
        Command::Inspect(command) => inspect::run(context, &command),
        Command::Modulus(command) => seal::modulus(context, &command),
        Command::Bench(command) => bench::run(context, &command),
        Command::Daemon(command) => daemon::run(context, &command),
    }
}

/// What is computed: the modulus, the input, and how often it is squared.
#[derive(Args, Debug)]
struct Job {
    /// The modulus: rsa2048, lcs35 (eval only), hex digits, or @FILE with one of these
    #[arg(short = 'N', long, default_value = "rsa2048", value_name = "MODULUS")]
    modulus: String,
    #[command(flatten)]
    count: Squarings,
    /// Hash this text to the input; @FILE hashes the bytes of a file, @- those of standard input
    #[arg(long, value_name = "TEXT", conflicts_with = "x")]
    seed: Option<String>,
    /// A raw input in hex, or @FILE with hex; `-` is standard input. Products of raw inputs have
    /// products as outputs: prefer --seed
    #[arg(value_name = "XHEX")]
    x: Vec<String>,
}

/// The number of squarings, in one of two ways.
#[derive(Args, Debug)]
#[group(multiple = false)]
struct Squarings {
    /// Square 2^LOG2 times
    #[arg(short = 't', long, value_name = "LOG2", value_parser = parse_log2)]
    log2: Option<u8>,
    /// Square T times
    #[arg(long, short_alias = 'T', value_name = "T", value_parser = parse_count)]
    iterations: Option<u64>,
}

/// Reads the logarithm of T.
fn parse_log2(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(log2 @ 0..=63) => Ok(log2),
        _ => {
            Err("2^LOG2 squarings: LOG2 is from 0 to 63; --iterations takes the number itself"
                .into())
        }
    }
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
    /// T, where it is given. One that looks like a logarithm is executed as it stands, and that is said.
    fn given(&self, context: Context) -> Option<u64> {
        if let Some(count @ 8..=63) = self.iterations {
            let text = format!("squaring {count} times; 2^{count} squarings are -t {count}");
            context.event("vdf.count", text, serde_json::json!({ "iterations": count }));
        }
        self.iterations.or(self.log2.map(|log2| 1 << log2))
    }
}

/// What a [`Job`] asks for, read.
struct Task {
    modulus: Modulus,
    x: Residue,
    iterations: u64,
    /// Whether x is a hashed seed.
    hashed: bool,
    /// Whether the raw x was not below N.
    reduced: bool,
}

impl Task {
    /// How x came about, for programs.
    fn input(&self) -> &'static str {
        if self.hashed { "seed" } else { "raw" }
    }
}

impl Job {
    /// Reads the modulus, the number of squarings and the input.
    fn read(&self, context: Context) -> Outcome<Task> {
        let raw = match &self.x[..] {
            [] => None,
            [x] => Some(x),
            [first, .., last] => return Err(self.crowded(first, last)),
        };
        let modulus = read_modulus(&self.modulus)?;
        let iterations = self.count.given(context).ok_or_else(|| {
            Failure::usage("usage.arguments", "the number of squarings is missing")
                .hint("add -t LOG2 (--log2) for 2^LOG2 squarings, or --iterations T for T")
        })?;
        let (hashed, (x, reduced)) = match (&self.seed, raw) {
            (Some(seed), _) => {
                let seed = read_seed(seed)?;
                (true, (modulus.hash_to_element(iterations, &seed), false))
            }
            (None, Some(x)) => (false, reduced(context, &modulus, &read_hex(x, "x")?, "x")),
            (None, None) => {
                return Err(Failure::usage("usage.arguments", "the input is missing")
                    .hint("add --seed TEXT, or a raw input in hex"));
            }
        };
        Ok(Task { modulus, x, iterations, hashed, reduced })
    }

    /// Two inputs: the first was probably meant as the number of squarings.
    fn crowded(&self, first: &str, last: &str) -> Failure {
        let message = format!("one input is expected, and there are {}", self.x.len());
        let hint = match (self.count.log2, self.count.iterations, first.parse::<u64>()) {
            (None, None, Ok(log2 @ 0..=63)) => {
                format!("write `-t {log2} {last}` for 2^{log2} squarings of the raw input {last}")
            }
            (None, None, Ok(count)) => {
                format!("write `--iterations {count} {last}` for {count} squarings of {last}")
            }
            _ => format!("leave out all but one of {}", self.x.join(" and ")),
        };
        Failure::usage("usage.arguments", message).hint(hint)
    }
}

/// The bytes of a seed: text, or for `@FILE` those of the file.
fn read_seed(seed: &str) -> Outcome<Vec<u8>> {
    let bytes = match seed.strip_prefix('@') {
        Some(path) => io::read(Path::new(path), MAX_SEED)?,
        None => seed.as_bytes().to_vec(),
    };
    if bytes.is_empty() {
        return Err(Failure::usage("input.seed", "the seed is empty")
            .hint("give --seed some text, or @FILE with a file that is not empty"));
    }
    Ok(bytes)
}

/// The longest file that is hashed as a seed.
const MAX_SEED: u64 = 1 << 28;

/// A preset's name, hex digits, or a file with one of them.
fn read_modulus(text: &str) -> Outcome<Modulus> {
    Ok(Modulus::parse(from_file(text)?.trim())?)
}

/// A big-endian number in hex, or a file with hex.
fn read_hex(text: &str, what: &'static str) -> Outcome<Vec<u8>> {
    Ok(parse_hex(&from_file(text)?, what)?)
}

/// A number modulo N, and whether it was not below N, which is said.
fn reduced(
    context: Context,
    modulus: &Modulus,
    number: &[u8],
    what: &'static str,
) -> (Residue, bool) {
    let (number, reduced) = modulus.reduce(number);
    if reduced {
        let message = format!("{what} is not below the modulus: it was reduced");
        let fields = serde_json::json!({ what: number.to_string() });
        context.event("vdf.reduced", message, fields);
    }
    (number, reduced)
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

/// The preset's name, or the digits of another modulus: what `-N` takes.
fn name(modulus: &Modulus) -> String {
    modulus.preset().map_or_else(|| hex::encode(modulus.to_bytes()), str::to_owned)
}

/// Warns of a modulus that can be factored; `what` it is the modulus of.
fn warn_factorable(context: Context, modulus: &Modulus, what: &str) {
    if modulus.is_factorable() {
        let (event, text) = factorable(modulus, what);
        context.event(event, text, serde_json::json!({ "modulus_bits": modulus.bits() }));
    }
}

/// The event that warns of a modulus that can be factored.
fn factorable(modulus: &Modulus, what: &str) -> (&'static str, String) {
    let text = format!("{what}: {}", modulus.caution());
    ("vdf.factorable", text)
}

/// `2^20 squarings`, `1 squaring`.
fn squarings(count: u64) -> String {
    Count(count).squarings()
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Failure::of(error.exit_code(), error.code(), &error);
        match error {
            Error::ModulusPublished { .. } => {
                failure.hint("use -N rsa2048, or another modulus whose factors nobody knows")
            }
            _ => failure,
        }
    }
}
