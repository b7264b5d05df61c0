//! `tetralith vrf verify-batch`: rows in, verdicts out, in order, in bounded memory.
//!
//! Rows are read in blocks, at most so many rows and so many bytes; while one is verified on all cores
//! the next is read, and each is answered before another is begun. A bad row is answered like any other.

mod answers;
mod rows;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use answers::Answers;
use rayon::prelude::*;
use rows::{Item, Source};
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use tetralith_vrf::{Output, Row, Suite, verify_many};

/// How many rows one thread verifies at a time.
const THREAD_ROWS: usize = 256;

/// Verifies rows.
#[derive(clap::Args, Debug)]
pub(crate) struct Command {
    /// The suite of all keys and proofs
    #[arg(long, value_name = "NAME", value_parser = super::input::suite())]
    suite: Suite,
    /// Lines of {"public_key": HEX, "alpha": HEX, "proof": HEX}, or a Parquet file with these columns;
    /// `-` is standard input, lines only
    #[arg(value_name = "FILE")]
    rows: PathBuf,
    /// Write the verdicts to this file, as Parquet where its name ends in .parquet
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
    /// Replace the file where it exists
    #[arg(long)]
    force: bool,
    /// Stop naming failed rows on standard error after this many
    #[arg(long, default_value_t = 10, value_name = "N")]
    name_failures: u64,
}

/// A row as a line has it.
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

pub(super) fn run(context: Context, command: &Command) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(context.threads).build();
    let pool = pool.map_err(|error| Failure::new(Exit::Environment, "io.threads", error))?;
    let mut source = Source::open(&command.rows)?;
    let mut answers = Answers::open(&command.output, command.force)?;
    let mut tally = Tally { rows: 0, failed: 0 };
    let progress = context.progress("verify-batch", source.total(), "rows");
    let mut block = source.next_block();
    // What was read before a fault of the file is answered before the fault is told.
    let end = loop {
        let items = match block {
            Ok(items) if items.is_empty() => break Ok(()),
            Ok(items) => items,
            Err(failure) => break Err(failure),
        };
        let (next, verdicts) =
            join(&pool, || source.next_block(), || verify_block(command.suite, items));
        for (row, verdict) in (tally.rows + 1..).zip(&verdicts) {
            tally.count(context, command, row, verdict);
        }
        answers.write(tally.rows + 1 - verdicts.len() as u64, &verdicts)?;
        progress.set(tally.rows);
        block = next;
    };
    answers.finish()?;
    progress.finish();
    end?;
    tally.finish(context)
}

/// Does one thing here and another on the pool, at once.
fn join<A, B: Send>(
    pool: &rayon::ThreadPool,
    here: impl FnOnce() -> A,
    there: impl FnOnce() -> B + Send,
) -> (A, B) {
    let mut result = None;
    let slot = &mut result;
    let done = pool.in_place_scope(|scope| {
        scope.spawn(move |_| *slot = Some(there()));
        here()
    });
    (done, result.expect("a scope ends after what it spawned"))
}

fn verify_block(suite: Suite, block: Vec<Item>) -> Vec<Verdict> {
    let decoded: Vec<Result<Decoded, String>> = block.into_par_iter().map(decode).collect();
    let parts: Vec<Vec<Verdict>> =
        decoded.par_chunks(THREAD_ROWS).map(|rows| verify_rows(suite, rows)).collect();
    parts.into_iter().flatten().collect()
}

fn decode(item: Item) -> Result<Decoded, String> {
    let line = match item {
        Item::Bad(reason) => return Err(reason),
        Item::Row(row) => return Ok(row),
        Item::Line(line) => line,
    };
    let line = parse(&line)?;
    let field = |name: &str, digits: &str| {
        hex::decode(digits).map_err(|_| format!("{name} is not hex: {}", not_hex(digits)))
    };
    Ok(Decoded {
        public_key: field("public_key", &line.public_key)?,
        alpha: field("alpha", &line.alpha)?,
        proof: field("proof", &line.proof)?,
    })
}

/// Reads a line, which must be an object; a row's errors speak of the row, which is one line of many.
fn parse(line: &[u8]) -> Result<Line, String> {
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err("this is no JSON object with public_key, alpha and proof".into());
    }
    serde_json::from_slice(line)
        .map_err(|error| error.to_string().replace(" at line 1 column", " at column"))
}

/// Why digits are not hex.
fn not_hex(digits: &str) -> String {
    match digits.char_indices().find(|(_, c)| !c.is_ascii_hexdigit()) {
        Some((at, c)) => format!("{c:?} stands at position {at}"),
        None => format!("{} digits, an odd number", digits.len()),
    }
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
    fn count(&mut self, context: Context, command: &Command, row: u64, verdict: &Verdict) {
        self.rows = row;
        if let Err(error) = verdict {
            self.failed += 1;
            if self.failed <= command.name_failures {
                let text = format!("row {row}: {error}");
                context.event("verify-batch.failed", text, json!({ "row": row }));
            }
        }
    }

    fn finish(&self, context: Context) -> Outcome {
        let Tally { rows, failed } = self;
        let fields = json!({ "rows": rows, "failed": failed });
        context.event("verify-batch.done", format!("{rows} rows, {failed} failed"), fields);
        if *failed > 0 {
            let failure = Failure::verification(format!("{failed} of {rows} rows failed"));
            return Err(failure.with("rows", (*rows).into()).with("failed", (*failed).into()));
        }
        // After the lines of the rows, the object of the whole.
        if context.json { context.answer("", json!({ "rows": rows, "failed": 0 })) } else { Ok(()) }
    }
}
