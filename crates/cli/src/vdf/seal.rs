//! `tetralith vdf seal`, `open` and `modulus`.

use super::eval::Watched;
use super::{speed, squarings, warn_factorable};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access, Named, Output, Source};
use crate::random;
use clap::Args;
use serde_json::json;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tetralith_vdf::timelock::{self, Header, SEAL_BITS};
use tetralith_vdf::{Error, Evaluation, Modulus, Residue};

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
    #[arg(long, short_alias = 'T', value_name = "T", value_parser = super::parse_count)]
    iterations: Option<u64>,
    /// The reference speed of --delay in squarings per second, or `measured` for this machine's
    /// [default: 10000000]
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Bits of the modulus, a multiple of 128 from 256 to 8192
    #[arg(long, default_value_t = SEAL_BITS, value_name = "BITS", value_parser = parse_bits)]
    bits: u32,
    /// The file to seal; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// Runs `tetralith vdf seal`.
pub(super) fn seal(context: Context, command: &Seal) -> Outcome {
    if command.rate.is_some() && command.delay.is_none() {
        let message = "--rate says what --delay counts by, and there is no --delay";
        return Err(Failure::usage("usage.arguments", message)
            .hint("give --delay instead of the number of squarings, or leave --rate out"));
    }
    command.output.check_result()?;
    let rate = command.delay.map(|_| rate(command.rate.as_deref(), command.bits)).transpose()?;
    let iterations = match (command.delay.zip(rate), command.log2, command.iterations) {
        (Some((seconds, rate)), _, _) => count(seconds, rate)?,
        (None, Some(log2), _) => 1 << log2,
        (None, None, iterations) => iterations.unwrap_or_default(),
    };
    if iterations == 0 {
        let text = "sealed for no squarings at all: anyone opens it at once";
        context.event("vdf.delay", text, json!({ "iterations": 0 }));
    }
    let mut source = Source::open(&command.file)?;
    let start = Instant::now();
    let mut growing = command.output.grow(Access::Public)?;
    let header = timelock::seal(
        &mut Named { inner: &mut source, path: &command.file },
        &mut Named { inner: &mut growing, path: &command.output.output },
        iterations,
        command.bits,
        &mut random::system(),
    )?;
    source.unchanged()?;
    warn_factorable(context, header.modulus(), "seal");
    let seconds = start.elapsed().as_secs_f64();
    let at = growing.keep()?;
    let counted = rate.map(|rate| format!(", counted at {}", speed::per_second(rate)));
    let text = format!("sealed for {}{}", squarings(iterations), counted.unwrap_or_default());
    let fields = json!({
        "sealed": at, "iterations": iterations, "rate": rate, "modulus_bits": command.bits,
        "seconds": seconds,
    });
    context.kept((&command.output, &at), "vdf.sealed", text, fields)
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
fn rate(text: Option<&str>, bits: u32) -> Outcome<f64> {
    let Some(text) = text else { return Ok(10e6) };
    if text == "measured" {
        return Ok(speed::measured(bits.into(), MEASURING)?.best);
    }
    match text.parse::<f64>() {
        Ok(rate) if rate >= 1.0 && rate.is_finite() => Ok(rate),
        _ => {
            let message = format!("--rate {text}: give squarings per second, or `measured`");
            Err(Failure::usage("input.rate", message))
        }
    }
}

/// How long the speed is measured.
const MEASURING: Duration = Duration::from_secs(1);

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
    command.output.check_result()?;
    let source = Source::open(&command.sealed)?;
    let len = source.len();
    let mut source = BufReader::new(Named { inner: source, path: &command.sealed });
    let header = Header::read(&mut source)?;
    // A file that was cut off shows before the squarings, unless it ends between two chunks.
    len.map(|len| header.file_len(len)).transpose()?;
    let start = Instant::now();
    let checkpoint = command.checkpoint.as_deref().map(io::target);
    let mut watched = Watched::new(context, checkpoint.as_deref(), Some(&command.output))?;
    let mut evaluation = watched.start(header.modulus(), header.base(), header.iterations())?;
    estimate(context, &evaluation, header.modulus())?;
    let y = watched.run(&mut evaluation)?;
    let (at, bytes) = decrypt(&header, &y, &mut source, &command.output)?;
    let text = format!("opened after {}", squarings(header.iterations()));
    let fields = json!({
        "file": at, "bytes": bytes, "iterations": header.iterations(),
        "seconds": start.elapsed().as_secs_f64(),
    });
    context.kept((&command.output, &at), "vdf.opened", text, fields)
}

/// Decrypts into the output, which is named only if all of it is authentic.
fn decrypt(
    header: &Header,
    y: &Residue,
    source: &mut dyn Read,
    output: &Output,
) -> Outcome<(PathBuf, u64)> {
    let mut target = Counted { inner: output.grow(Access::Owner)?, path: &output.output, bytes: 0 };
    let opened = header.open(y, source, &mut target);
    let Counted { inner, bytes, .. } = target;
    match opened {
        Ok(len) => Ok((inner.keep()?, len)),
        Err(error @ Error::Io(_)) => Err(error.into()),
        Err(error) => {
            let failure = Failure::from(error);
            let name = output.output.display();
            let message = match output.is_stream() {
                false => format!("{}; nothing was written to {name}", failure.message),
                true if bytes == 0 => failure.message,
                true => {
                    let beginning = "bytes of the file were written before that: discard them";
                    format!("{}; {bytes} {beginning}", failure.message)
                }
            };
            Err(Failure { message, ..failure }.with("written", bytes.into()))
        }
    }
}

/// Counts what it writes, and names the file in errors.
struct Counted<'a, T> {
    inner: T,
    path: &'a Path,
    bytes: u64,
}

impl<T: Write> Write for Counted<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = Named { inner: &mut self.inner, path: self.path }.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Named { inner: &mut self.inner, path: self.path }.flush()
    }
}

/// Says how long opening will take, unless it is over at once.
fn estimate(context: Context, evaluation: &Evaluation, modulus: &Modulus) -> Outcome {
    let left = evaluation.iterations() - evaluation.done();
    if left < AT_ONCE {
        return Ok(());
    }
    // Other work that slows the measurement slows the opening as well.
    let rate = speed::measured(modulus.bits(), MEASURING / 10)?.mean;
    let seconds = left as f64 / rate;
    let text = format!(
        "opening takes {} more, about {} at {} here",
        squarings(left),
        speed::duration(seconds),
        speed::per_second(rate)
    );
    let fields =
        json!({ "iterations": left, "per_second": rate.round(), "seconds": seconds.round() });
    context.event("vdf.estimate", text, fields);
    Ok(())
}

/// Squarings that take less time than to measure how long they take.
const AT_ONCE: u64 = 1 << 20;

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
        "the factors are forgotten; others must trust that you did not keep them, because whoever knows \
         them skips every delay modulo this number",
        json!({}),
    );
    warn_factorable(context, &modulus, "modulus");
    let digits = hex::encode(modulus.to_bytes());
    context.answer(&digits, json!({ "modulus": digits, "modulus_bits": modulus.bits() }))
}
