//! Files of Parquet and Arrow are decoded in a process of their own: this program again, with a verb that
//! is not listed, under limits of memory and time.

use crate::failure::{Exit, Failure, Outcome};
use std::fs::File;
use std::process::Command;
use tetralith_columns::worker::{Contained, Limits, serve};
use tetralith_columns::{Column, Error, Format, Rows};

/// Lists of columns, by a name that goes on a command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Columns {
    /// For `vrf verify-batch`.
    VrfVerify,
    /// For `vrf prove-batch`.
    VrfProve,
}

impl Columns {
    pub(super) fn list(self) -> &'static [Column] {
        const VRF_VERIFY: &[Column] = &[
            Column::bytes("public_key"),
            Column::bytes("alpha"),
            Column::bytes("proof"),
            Column::text("suite").optional(),
        ];
        const VRF_PROVE: &[Column] = &[Column::bytes("alpha")];
        match self {
            Columns::VrfVerify => VRF_VERIFY,
            Columns::VrfProve => VRF_PROVE,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Columns::VrfVerify => "vrf-verify",
            Columns::VrfProve => "vrf-prove",
        }
    }

    /// Decodes a file in a process of its own.
    pub(super) fn contained(self, file: File, format: Format) -> Result<Rows, Error> {
        let program = std::env::current_exe()
            .map_err(|error| Error::Read(format!("finding this program: {error}")))?;
        let mut command = Command::new(program);
        command.args(["decode-rows", "--format", format.name(), "--columns", self.name()]);
        // It needs nothing of the environment, in which there may be a passphrase.
        #[cfg(unix)]
        command.env_clear();
        Contained::start(command, file, format, self.list(), Limits::STANDARD)
    }
}

/// Decodes standard input, a file, for another process.
#[derive(clap::Args, Debug)]
pub(crate) struct Decode {
    #[arg(long)]
    format: Format,
    #[arg(long)]
    columns: Columns,
}

impl Decode {
    /// Writes what is in the file to standard output.
    pub(crate) fn run(&self) -> Outcome {
        serve(self.format, self.columns.list(), Limits::STANDARD)
            .map_err(|error| Failure::new(Exit::Environment, "io.stream", error))
    }
}
