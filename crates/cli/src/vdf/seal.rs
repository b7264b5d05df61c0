//! `tetralith vdf seal`, `open` and `modulus`.

use super::eval::Watched;
use super::squarings;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access, Output};
use crate::random;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use tetralith_vdf::timelock::{self, SEAL_BITS, Sealed};
use tetralith_vdf::{Evaluation, Modulus};

/// What to seal, and for how long.
#[derive(Args, Debug)]
#[group(id = "delay_or_count", required = true, multiple = false, args = ["delay", "log2", "iterations"])]
pub(crate) struct Seal {
    /// For how long at the reference speed: 30s, 10m, 2h, 7d
    #[arg(long, value_name = "TIME", value_parser = parse_delay)]
    delay: Option<f64>,
    /// For 2^LOG2 squarings
    #[arg(short = 't', long, value_name = "LOG2", value_parser = clap::value_parser!(u8).range(0..=63))]
    log2: Option<u8>,
    /// For T squarings
    #[arg(short = 'T', long, value_name = "T", value_parser = super::parse_count)]
    iterations: Option<u64>,
    /// The reference speed of --delay in squarings per second, or `measured` for this machine's
    /// [default: 10000000]
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// The file to seal; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// The largest file that is sealed or opened: all of it is held in memory.
const MAX_FILE: u64 = 4 << 30;

/// Runs `tetralith vdf seal`.
pub(super) fn seal(context: Context, command: &Seal) -> Outcome {
    if command.rate.is_some() && command.delay.is_none() {
        let message = "--rate says what --delay counts by, and there is no --delay";
        return Err(Failure::usage("usage.arguments", message)
            .hint("give --delay instead of the number of squarings, or leave --rate out"));
    }
    command.output.check()?;
    let iterations = match (command.delay, command.log2, command.iterations) {
        (Some(seconds), _, _) => count(seconds, rate(command.rate.as_deref())?)?,
        (_, Some(log2), _) => 1 << log2,
        (_, _, iterations) => iterations.unwrap_or_default(),
    };
    let file = io::read(&command.file, MAX_FILE)?;
    let start = Instant::now();
    let sealed = timelock::seal(&file, iterations, SEAL_BITS, &mut random::system())?;
    let seconds = start.elapsed().as_secs_f64();
    command.output.write(&sealed.to_bytes(), Access::Public)?;
    let text = format!("sealed for {}", squarings(iterations));
    let fields = json!({
        "sealed": command.output.output, "iterations": iterations, "seconds": seconds,
    });
    context.wrote(&command.output, "vdf.sealed", text, fields)
}

/// `1.5h` in seconds.
fn parse_delay(text: &str) -> Result<f64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err("a time is a number with ms, s, m, h or d behind it: 10m".into()),
    };
    match digits.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number * unit),
        _ => Err(format!("{digits:?} is not a number")),
    }
}

/// Squarings that take so long at so many a second.
fn count(seconds: f64, rate: f64) -> Outcome<u64> {
    let count = (seconds * rate).round();
    if count <= (1u64 << 63) as f64 {
        Ok(count as u64)
    } else {
        Err(Failure::usage("input.delay", "the delay is of more than 2^63 squarings"))
    }
}

/// The reference speed: given, measured, or about what the fastest processors do.
fn rate(text: Option<&str>) -> Outcome<f64> {
    let Some(text) = text else { return Ok(10e6) };
    if text == "measured" {
        return measured();
    }
    match text.parse::<f64>() {
        Ok(rate) if rate >= 1.0 && rate.is_finite() => Ok(rate),
        _ => {
            let message = format!("--rate {text}: give squarings per second, or `measured`");
            Err(Failure::usage("input.rate", message))
        }
    }
}

/// Squarings per second of this machine, over about a fifth of a second.
fn measured() -> Outcome<f64> {
    let modulus = Modulus::rsa2048();
    let (x, _) = modulus.reduce(&[3]);
    let mut evaluation = Evaluation::new(&modulus, &x, 1 << 40)?;
    evaluation.advance(1 << 12)?;
    let (start, from) = (Instant::now(), evaluation.done());
    while start.elapsed().as_millis() < 200 {
        evaluation.advance(1 << 14)?;
    }
    Ok((evaluation.done() - from) as f64 / start.elapsed().as_secs_f64())
}

/// What to open, and where to keep the state.
#[derive(Args, Debug)]
pub(crate) struct Open {
    /// The sealed file; `-` is standard input
    #[arg(value_name = "SEALED")]
    sealed: PathBuf,
    /// Keep the state in this file, every minute and when stopped, and go on from it
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

/// Runs `tetralith vdf open`.
pub(super) fn open(context: Context, command: &Open) -> Outcome {
    command.output.check()?;
    let sealed = Sealed::from_bytes(&io::read(&command.sealed, MAX_FILE)?)?;
    let start = Instant::now();
    let mut watched = Watched::new(context, command.checkpoint.as_deref(), Some(&command.output))?;
    let mut evaluation = watched.start(sealed.modulus(), sealed.base(), sealed.iterations())?;
    let y = watched.run(&mut evaluation)?;
    let file = sealed.open(&y)?;
    command.output.write(&file, Access::Owner)?;
    let text = format!("opened after {}", squarings(sealed.iterations()));
    let fields = json!({
        "file": command.output.output, "bytes": file.len(), "iterations": sealed.iterations(),
        "seconds": start.elapsed().as_secs_f64(),
    });
    context.wrote(&command.output, "vdf.opened", text, fields)
}

/// The size of the new modulus.
#[derive(Args, Debug)]
pub(crate) struct NewModulus {
    /// Its bits, a multiple of 128 from 256 to 8192
    #[arg(long, default_value_t = 2048, value_name = "BITS", value_parser = parse_bits)]
    bits: u32,
}

fn parse_bits(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(bits @ 256..=8192) if bits % 128 == 0 => Ok(bits),
        _ => Err("a new modulus has a multiple of 128 bits, from 256 to 8192".into()),
    }
}

/// Runs `tetralith vdf modulus`.
pub(super) fn modulus(context: Context, command: &NewModulus) -> Outcome {
    let modulus = timelock::random_modulus(command.bits, &mut random::system())?;
    context.event(
        "vdf.trust",
        "the factors are forgotten; others must trust that you did not keep them, for who knows them \
         skips every delay modulo this number",
        json!({}),
    );
    let digits = hex::encode(modulus.to_bytes());
    context.answer(&digits, json!({ "modulus": digits, "bits": modulus.bits() }))
}
