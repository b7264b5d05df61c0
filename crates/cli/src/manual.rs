//! Completions, manual pages and the closing part of the help, all from the command line itself.

use crate::failure::{Exit, Failure, Outcome};
use clap::{Args, CommandFactory};
use std::fmt::Write;
use std::path::PathBuf;

/// Which shell to complete for.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Where to write the manual.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// Write every page into this folder [default: print the main page]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// The end of `tetralith --help` and of the manual: environment and exit codes.
pub(crate) fn closing() -> String {
    let mut text = String::from(
        "Environment:\n  \
         TETRALITH_PASSPHRASE  the passphrase of key files, where no --passphrase-file is given\n  \
         TETRALITH_KERNEL      auto, portable, shani, avx2, avx512, armsha, armsha512 or simd128:\n\
         \x20                       force a kernel, for tests\n\n\
         Exit codes:\n",
    );
    for (code, meaning) in Exit::TABLE {
        let _ = writeln!(text, "  {code}  {meaning}");
    }
    text.trim_end().to_owned()
}

/// Prints the script that completes commands and options.
pub(crate) fn completions(command: &Completions) -> Outcome {
    let mut script = Vec::new();
    let mut cli = crate::Cli::command();
    clap_complete::generate(command.shell, &mut cli, "tetralith", &mut script);
    crate::io::write("-".as_ref(), &script, crate::io::Access::Public, false)
}

/// Writes the manual pages, one for each command, or prints the main one.
pub(crate) fn man(command: &Man) -> Outcome {
    let failed = |error: std::io::Error| Failure::new(Exit::Environment, "io.file", error);
    match &command.output {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(failed)?;
            clap_mangen::generate_to(crate::Cli::command(), folder).map_err(failed)
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(crate::Cli::command()).render(&mut page).map_err(failed)?;
            crate::io::write("-".as_ref(), &page, crate::io::Access::Public, false)
        }
    }
}
