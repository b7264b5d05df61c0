//! Where answers go: standard output, or a file that is there once it is whole.

use super::{Answer, Batch, failure};
use crate::failure::{Failure, Outcome};
use crate::io::NewFile;
use std::io::{BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use tetralith_columns::{Cell, Error, Field, Format, Shape, Table};

enum Target {
    Stdout(BufWriter<Stdout>),
    File(BufWriter<NewFile>),
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Target::Stdout(writer) => writer.write(bytes),
            Target::File(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Target::Stdout(writer) => writer.flush(),
            Target::File(writer) => writer.flush(),
        }
    }
}

/// Answers being written.
pub(super) struct Answers {
    table: Table<Target>,
    fields: &'static [Field],
    path: PathBuf,
    format: Format,
}

impl Answers {
    pub(super) fn open(batch: &Batch, fields: &'static [Field]) -> Outcome<Answers> {
        let path = &batch.output;
        let is_stdout = path == Path::new("-");
        let by_name = || if is_stdout { None } else { Format::of_path(path) };
        let format = batch.output_format.or_else(by_name).unwrap_or(Format::Jsonl);
        let target = match is_stdout {
            true => Target::Stdout(BufWriter::new(std::io::stdout())),
            false => Target::File(BufWriter::new(NewFile::create(path, batch.force)?)),
        };
        let table = Table::new(format, fields, target);
        let table = table.map_err(|error| failure(path, format, &error))?;
        Ok(Answers { table, fields, path: path.clone(), format })
    }

    /// Writes answers, of which the first is of row `first`.
    pub(super) fn write(&mut self, first: u64, answers: &[Answer]) -> Outcome {
        let rows: Vec<Vec<Cell<'_>>> =
            (first..).zip(answers).map(|(row, answer)| self.cells(row, answer)).collect();
        self.table.write(&rows).map_err(|error| self.failed(&error))
    }

    fn cells<'a>(&self, row: u64, answer: &'a Answer) -> Vec<Cell<'a>> {
        let own = &self.fields[2..self.fields.len() - 1];
        let mut cells = Vec::with_capacity(self.fields.len());
        cells.extend([Cell::Number(row), Cell::Flag(answer.is_ok())]);
        match answer {
            Ok(values) => {
                cells.extend(own.iter().zip(values).map(|(field, value)| match field.shape {
                    Shape::Text => Cell::Text(std::str::from_utf8(value).unwrap_or_default()),
                    _ => Cell::Bytes(value),
                }));
                cells.push(Cell::Null);
            }
            Err(error) => {
                cells.extend(own.iter().map(|_| Cell::Null));
                cells.push(Cell::Text(error));
            }
        }
        cells
    }

    pub(super) fn finish(self) -> Outcome {
        let (path, format) = (self.path, self.format);
        let failed = |error: &dyn std::fmt::Display| {
            failure(&path, format, &Error::Write(error.to_string()))
        };
        match self.table.finish().map_err(|error| failure(&path, format, &error))? {
            Target::Stdout(mut writer) => writer.flush().map_err(|error| failed(&error)),
            Target::File(writer) => {
                writer.into_inner().map_err(|error| failed(error.error()))?.finish()
            }
        }
    }

    fn failed(&self, error: &Error) -> Failure {
        failure(&self.path, self.format, error)
    }
}
