//! Where verdicts go: lines of JSON, or Parquet; to standard output, or to a file that is whole or
//! not there.

use super::Verdict;
use crate::failure::{Failure, Outcome};
use crate::io::NewFile;
use crate::vrf::stream_failed;
use serde_json::json;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Verdicts being written.
pub(super) enum Answers {
    Stdout(BufWriter<std::io::Stdout>),
    Lines(BufWriter<NewFile>),
    #[cfg(feature = "parquet")]
    Parquet(Box<tetralith_vrf::parquet::Verdicts<NewFile>>),
}

impl Answers {
    pub(super) fn open(path: &Path, force: bool) -> Outcome<Answers> {
        if path == Path::new("-") {
            return Ok(Answers::Stdout(BufWriter::new(std::io::stdout())));
        }
        let file = NewFile::create(path, force)?;
        if path.extension().is_some_and(|extension| extension == "parquet") {
            return parquet(file);
        }
        Ok(Answers::Lines(BufWriter::new(file)))
    }

    /// Writes verdicts, of which the first is of row `first`.
    pub(super) fn write(&mut self, first: u64, verdicts: &[Verdict]) -> Outcome {
        match self {
            Answers::Stdout(writer) => lines(writer, first, verdicts),
            Answers::Lines(writer) => lines(writer, first, verdicts),
            #[cfg(feature = "parquet")]
            Answers::Parquet(writer) => Ok(writer.write(verdicts)?),
        }
    }

    pub(super) fn finish(self) -> Outcome {
        match self {
            Answers::Stdout(mut writer) => writer.flush().map_err(failed),
            Answers::Lines(writer) => {
                writer.into_inner().map_err(|error| failed(error.into_error()))?.finish()
            }
            #[cfg(feature = "parquet")]
            Answers::Parquet(writer) => writer.finish()?.finish(),
        }
    }
}

#[cfg(feature = "parquet")]
fn parquet(file: NewFile) -> Outcome<Answers> {
    Ok(Answers::Parquet(Box::new(tetralith_vrf::parquet::Verdicts::new(file)?)))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: NewFile) -> Outcome<Answers> {
    Err(super::rows::no_parquet())
}

fn failed(error: std::io::Error) -> Failure {
    stream_failed("writing verdicts", &error)
}

fn lines(writer: &mut impl Write, first: u64, verdicts: &[Verdict]) -> Outcome {
    for (row, verdict) in (first..).zip(verdicts) {
        let line = match verdict {
            Ok(output) => {
                json!({ "row": row, "ok": true, "output": hex::encode(output.as_bytes()) })
            }
            Err(error) => json!({ "row": row, "ok": false, "error": error }),
        };
        writeln!(writer, "{line}").map_err(failed)?;
    }
    Ok(())
}
