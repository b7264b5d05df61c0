//! Many rows in, an answer for each out: in order, in bounded memory, in any format of
//! [`tetralith_columns`].
//!
//! Rows are read in blocks of bounded size. All cores answer one block while the next is read. A bad row
//! is answered like any other.

mod answers;
mod source;
mod worker;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use answers::Answers;
use rayon::prelude::*;
use serde_json::json;
use source::Source;
use std::path::{Path, PathBuf};
use tetralith_columns::{Block, Error, Field, Format};

pub(crate) use worker::{Columns, Decode};

/// Where rows come from and answers go.
#[derive(clap::Args, Debug)]
pub(crate) struct Batch {
    /// Rows as Parquet, Arrow IPC, CSV or JSON lines: a file, a folder of files, or `-` for standard input
    #[arg(value_name = "ROWS")]
    rows: PathBuf,
    /// The format of the rows, instead of what the file's first bytes or its name tell
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// Write the answers to this file
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
    /// The format of the answers [default: what the file's name tells, else jsonl]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    output_format: Option<Format>,
    /// Replace the file where it exists
    #[arg(long)]
    force: bool,
    /// Stop naming failed rows on standard error after this many
    #[arg(long, default_value_t = 10, value_name = "N")]
    name_failures: u64,
}

fn formats() -> impl clap::builder::TypedValueParser<Value = Format> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

/// The values of a row's answer, one for each of the job's fields, or why there are none.
pub(crate) type Answer = Result<Vec<Vec<u8>>, String>;

/// What is done with rows.
pub(crate) trait Job: Sync {
    /// The verb, for events.
    const VERB: &'static str;
    /// The failure when some rows failed.
    const FAILED: (Exit, &'static str);
    /// The columns that are looked for.
    const COLUMNS: Columns;
    /// The columns of the answers: `row`, `ok`, the job's own, and `error` last.
    const FIELDS: &'static [Field];

    /// Answers the rows of a block, in order.
    fn answer(&self, rows: &Block) -> Vec<Answer>;
}

/// Answers all rows.
pub(crate) fn run<J: Job>(context: Context, batch: &Batch, job: &J) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(context.threads).build();
    let pool = pool.map_err(|error| Failure::new(Exit::Environment, "io.threads", error))?;
    let mut source = Source::open(&batch.rows, batch.format, J::COLUMNS)?;
    let mut answers = Answers::open(batch, J::FIELDS)?;
    let mut tally = Tally { rows: 0, failed: 0 };
    let progress = context.progress(J::VERB, source.total(), "rows");
    let mut next = source.next_block();
    // The rows before a fault of the file are answered before the fault is reported.
    let end = loop {
        let block = match next {
            Ok(Some(block)) => block,
            Ok(None) => break Ok(()),
            Err(failure) => break Err(failure),
        };
        let (file, first, parts) = (block.file, block.first, block.parts);
        let answer = || parts.into_par_iter().flat_map_iter(|part| job.answer(&part.decode()));
        let (following, answered) =
            join(&pool, || source.next_block(), || answer().collect::<Vec<Answer>>());
        for (row, answer) in (first..).zip(&answered) {
            tally.count::<J>(context, batch, file.as_deref(), row, answer);
        }
        answers.write(tally.rows + 1 - answered.len() as u64, &answered)?;
        progress.set(tally.rows);
        next = following;
    };
    progress.finish();
    if tally.rows == 0 && end.is_ok() {
        let message = format!("{} has no rows, expected at least one", named(&batch.rows));
        return Err(Failure::usage("input.empty", message));
    }
    answers.finish()?;
    end?;
    tally.finish::<J>(context)
}

/// Does one thing on this thread and another on the pool, at once.
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

/// A path in a message.
fn named(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// The failure that an error of a file is.
fn failure(path: &Path, format: Format, error: &Error) -> Failure {
    let message = format!("{}: {error}", named(path));
    let code = match format {
        Format::Parquet => "input.parquet",
        Format::Arrow => "input.arrow",
        Format::Csv => "input.csv",
        _ => "input.jsonl",
    };
    match error {
        Error::Read(_) => Failure::new(Exit::Environment, "io.file", message),
        Error::Write(_) => Failure::new(Exit::Environment, "io.stream", message),
        Error::Stopped { .. } => Failure::usage(code, message)
            .hint("write the file again with smaller pages or record batches, or as CSV"),
        _ => Failure::usage(code, message),
    }
}

struct Tally {
    rows: u64,
    failed: u64,
}

impl Tally {
    /// Counts a row, which is row `row` of `file` where there are several files.
    fn count<J: Job>(
        &mut self,
        context: Context,
        batch: &Batch,
        file: Option<&Path>,
        row: u64,
        answer: &Answer,
    ) {
        self.rows += 1;
        let Err(error) = answer else { return };
        self.failed += 1;
        if self.failed <= batch.name_failures {
            let (text, fields) = match file {
                None => (format!("row {row}: {error}"), json!({ "row": row })),
                Some(file) => {
                    let file = named(file);
                    let text = format!("{file}, row {row}: {error}");
                    (text, json!({ "row": self.rows, "file": file, "file_row": row }))
                }
            };
            context.event(&format!("{}.failed", J::VERB), text, fields);
        }
    }

    fn finish<J: Job>(&self, context: Context) -> Outcome {
        let Tally { rows, failed } = self;
        let fields = json!({ "rows": rows, "failed": failed });
        context.event(
            &format!("{}.done", J::VERB),
            format!("{rows} rows, {failed} failed"),
            fields,
        );
        if *failed > 0 {
            let (exit, code) = J::FAILED;
            let failure = Failure::new(exit, code, format!("{failed} of {rows} rows failed"));
            return Err(failure.with("rows", (*rows).into()).with("failed", (*failed).into()));
        }
        // After the lines of the rows, the object of the whole.
        if context.json { context.answer("", json!({ "rows": rows, "failed": 0 })) } else { Ok(()) }
    }
}
