//! `verify-batch`.

use super::key::PublicArgs;
use super::{MESSAGE_LIMIT, SIGNATURE_LIMIT, with_suffix};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io;
use serde_json::json;
use std::path::PathBuf;
use tetralith_xmss::{Item, verify_many};

/// Arguments of `verify-batch`.
#[derive(clap::Args, Debug)]
pub(crate) struct VerifyBatch {
    #[command(flatten)]
    public: PublicArgs,
    /// The signed files; each one's signature is FILE.sig
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Verifies many signatures of one key together and names those that are not valid.
pub(crate) fn verify_batch(context: Context, arguments: VerifyBatch) -> Outcome {
    let public = arguments.public.read()?;
    let mut invalid = Vec::new();
    let progress = context.progress("verifying", arguments.files.len() as u64, "signatures");
    let mut done = 0;
    progress.set(done);
    for files in arguments.files.chunks(AT_ONCE) {
        let read: Vec<(Vec<u8>, Vec<u8>)> = files
            .iter()
            .map(|file| {
                let signature = io::read(&with_suffix(file, ".sig"), SIGNATURE_LIMIT)?;
                Ok((io::read(file, MESSAGE_LIMIT)?, signature))
            })
            .collect::<Outcome<_>>()?;
        let items: Vec<Item<'_>> = read
            .iter()
            .map(|(message, signature)| Item { public_key: &public, message, signature })
            .collect();
        for (file, result) in files.iter().zip(verify_many(&items)) {
            if let Err(error) = result {
                let name = file.display().to_string();
                context.event("invalid", format!("{name}: {error}"), json!({ "file": name }));
                invalid.push(name);
            }
        }
        done += files.len() as u64;
        progress.set(done);
    }
    progress.finish();
    let count = arguments.files.len();
    if !invalid.is_empty() {
        let message = format!("{} of {count} signatures are not valid", invalid.len());
        return Err(Failure::verification(message));
    }
    context.answer(format!("{count} signatures are valid"), json!({ "valid": count }))
}

/// Files held in memory together.
const AT_ONCE: usize = 1024;
