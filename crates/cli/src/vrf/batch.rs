//! `tetralith vrf verify-batch`: rows in, verdicts out, in order, in bounded memory.
//!
//! Rows are read in blocks, at most so many rows and so many bytes, verified on all cores, and
//! answered before the next block is read. A bad row is answered like any other.

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use tetralith_vrf::{Output, Row, Suite, verify_many};

/// The most rows of a block.
const BLOCK_ROWS: usize = 16_384;
/// A block takes no further row once it has this many bytes.
const BLOCK_BYTES: usize = 16 << 20;
/// The longest line that is read; a longer one is a bad row.
const MAX_LINE: usize = 4 << 20;
/// How many rows one thread verifies at a time.
const THREAD_ROWS: usize = 256;

/// Verifies rows.
#[derive(clap::Args, Debug)]
pub(crate) struct Command {
    /// The suite of all keys and proofs
    #[arg(long, value_name = "NAME", value_parser = super::input::suite())]
    suite: Suite,
    /// Lines of {"public_key": HEX, "alpha": HEX, "proof": HEX}; `-` is standard input
    #[arg(value_name = "FILE")]
    rows: PathBuf,
    /// Stop naming failed rows on standard error after this many
    #[arg(long, default_value_t = 10, value_name = "N")]
    name_failures: u64,
}

/// A row as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    public_key: String,
    alpha: String,
    proof: String,
}

/// A row's decoded bytes.
struct Decoded {
    public_key: Vec<u8>,
    alpha: Vec<u8>,
    proof: Vec<u8>,
}

/// What a row's answer says.
type Verdict = Result<Output, String>;

/// A line as it was read, or what is wrong with it before it is even parsed.
type Raw = Result<Vec<u8>, String>;

pub(super) fn run(context: Context, command: &Command) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(context.threads).build();
    let pool = pool.map_err(|error| Failure::new(Exit::Environment, "io.threads", error))?;
    let mut reader = open(&command.rows)?;
    let mut answers = BufWriter::new(std::io::stdout().lock());
    let mut tally = Tally { rows: 0, failed: 0 };
    let progress = context.progress("verify-batch", 0, "rows");
    loop {
        let block = read_block(&mut reader)
            .map_err(|error| super::stream_failed("reading rows", &error))?;
        if block.is_empty() {
            break;
        }
        let verdicts = pool.install(|| verify_block(command.suite, block));
        for verdict in verdicts {
            tally.answer(context, command, &mut answers, verdict)?;
        }
        progress.set(tally.rows);
    }
    answers.flush().map_err(|error| super::stream_failed("standard output", &error))?;
    progress.finish();
    tally.finish(context)
}

fn open(path: &Path) -> Outcome<BufReader<Box<dyn Read>>> {
    let reader: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(|error| Failure::file(path, &error))?)
    };
    Ok(BufReader::with_capacity(1 << 20, reader))
}

/// Reads the next lines, as many as a block takes; none at the end.
fn read_block(reader: &mut impl BufRead) -> std::io::Result<Vec<Raw>> {
    let (mut block, mut bytes) = (Vec::new(), 0);
    while block.len() < BLOCK_ROWS && bytes < BLOCK_BYTES {
        let Some(line) = read_line(reader)? else { break };
        bytes += line.as_ref().map_or(0, Vec::len);
        block.push(line);
    }
    Ok(block)
}

/// Reads one line without its end; of one that is too long, nothing is kept.
fn read_line(reader: &mut impl BufRead) -> std::io::Result<Option<Raw>> {
    let mut line = Vec::new();
    reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > MAX_LINE {
        reader.skip_until(b'\n')?;
        return Ok(Some(Err(format!("line is longer than {MAX_LINE} bytes"))));
    }
    Ok(Some(Ok(line)))
}

fn verify_block(suite: Suite, block: Vec<Raw>) -> Vec<Verdict> {
    let decoded: Vec<Result<Decoded, String>> =
        block.into_par_iter().map(|line| line.and_then(|line| decode(&line))).collect();
    let parts: Vec<Vec<Verdict>> =
        decoded.par_chunks(THREAD_ROWS).map(|rows| verify_rows(suite, rows)).collect();
    parts.into_iter().flatten().collect()
}

fn decode(line: &[u8]) -> Result<Decoded, String> {
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let field = |name: &str, hex: &str| {
        hex::decode(hex).map_err(|error| format!("{name} is not hex: {error}"))
    };
    Ok(Decoded {
        public_key: field("public_key", &line.public_key)?,
        alpha: field("alpha", &line.alpha)?,
        proof: field("proof", &line.proof)?,
    })
}

fn verify_rows(suite: Suite, rows: &[Result<Decoded, String>]) -> Vec<Verdict> {
    let good: Vec<Row<'_>> = rows
        .iter()
        .flatten()
        .map(|row| Row { public_key: &row.public_key, alpha: &row.alpha, proof: &row.proof })
        .collect();
    let mut verdicts = verify_many(suite, &good).into_iter();
    let mut next = || verdicts.next().expect("one verdict for every decoded row");
    rows.iter()
        .map(|row| match row {
            Ok(_) => next().map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        })
        .collect()
}

struct Tally {
    rows: u64,
    failed: u64,
}

impl Tally {
    fn answer(
        &mut self,
        context: Context,
        command: &Command,
        answers: &mut impl Write,
        verdict: Verdict,
    ) -> Outcome {
        self.rows += 1;
        let row = self.rows;
        let line = match verdict {
            Ok(output) => {
                json!({ "row": row, "ok": true, "output": hex::encode(output.as_bytes()) })
            }
            Err(error) => {
                self.failed += 1;
                if self.failed <= command.name_failures {
                    let text = format!("row {row}: {error}");
                    context.event("verify-batch.failed", text, json!({ "row": row }));
                }
                json!({ "row": row, "ok": false, "error": error })
            }
        };
        writeln!(answers, "{line}").map_err(|error| super::stream_failed("standard output", &error))
    }

    fn finish(&self, context: Context) -> Outcome {
        let Tally { rows, failed } = self;
        let fields = json!({ "rows": rows, "failed": failed });
        context.event("verify-batch.done", format!("{rows} rows, {failed} failed"), fields);
        if *failed > 0 {
            return Err(Failure::verification(format!("{failed} of {rows} rows failed")));
        }
        Ok(())
    }
}
