//! `verify-batch`.

use super::key::PublicArgs;
use super::{SIGNATURE_LIMIT, unnamed, with_suffix};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::io::{self, Source};
use rayon::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};
use tetralith_xmss::{PublicKey, StreamVerifier};

/// Arguments of `verify-batch`.
#[derive(clap::Args, Debug)]
pub(crate) struct VerifyBatch {
    #[command(flatten)]
    public: PublicArgs,
    /// The signed files; each one's signature is FILE.sig
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A file without a valid signature, and why.
struct Bad<'a> {
    file: &'a Path,
    why: Failure,
}

/// Verifies many signatures of one key together and names those that are not valid.
///
/// One that is malformed or cannot be read does not keep the others from being verified. The exit code is
/// that of the least harmless: a signature that does not verify, then one that is malformed, then one that
/// cannot be read.
pub(crate) fn verify_batch(context: Context, arguments: VerifyBatch) -> Outcome {
    if arguments.files.iter().any(|file| file == Path::new("-")) {
        return Err(unnamed().hint("tetralith xmss verify -s SIGNATURE - verifies standard input"));
    }
    let public = arguments.public.read()?;
    let mut bad = Vec::new();
    let progress = context.progress("verifying", arguments.files.len() as u64, "signatures");
    let mut done = 0;
    progress.set(done);
    for files in arguments.files.chunks(AT_ONCE) {
        let found = verify(&arguments.public, &public, files);
        for Bad { file, why } in &found {
            let name = file.display().to_string();
            let fields = json!({ "file": name, "code": why.code });
            context.event("invalid", format!("{name}: {}", why.message), fields);
        }
        bad.extend(found);
        done += files.len() as u64;
        progress.set(done);
    }
    progress.finish();
    let count = arguments.files.len();
    if bad.is_empty() {
        return context.answer(format!("{count} signatures are valid"), json!({ "valid": count }));
    }
    Err(told(&bad, count))
}

fn verify<'a>(arguments: &PublicArgs, public: &PublicKey, files: &'a [PathBuf]) -> Vec<Bad<'a>> {
    let mut bad = Vec::new();
    let mut read = Vec::new();
    for file in files {
        match io::read(&with_suffix(file, ".sig"), SIGNATURE_LIMIT) {
            Ok(signature) => read.push((file, signature)),
            Err(why) => bad.push(Bad { file, why }),
        }
    }
    let hashed: Vec<Outcome<StreamVerifier<'_>>> = read
        .par_iter()
        .map(|(file, signature)| {
            let stream = public.verify_stream(signature);
            let mut stream = stream.map_err(|error| arguments.unfit(public, signature, error))?;
            Source::open(file)?.read(|part| stream.update(part))?;
            Ok(stream)
        })
        .collect();
    let mut streams = Vec::with_capacity(read.len());
    let mut names = Vec::with_capacity(read.len());
    for ((file, _), hashed) in read.iter().zip(hashed) {
        match hashed {
            Ok(stream) => {
                streams.push(stream);
                names.push(*file);
            }
            Err(why) => bad.push(Bad { file, why }),
        }
    }
    for (file, result) in names.into_iter().zip(StreamVerifier::finish_many(streams)) {
        if let Err(error) = result {
            bad.push(Bad { file, why: error.into() });
        }
    }
    bad
}

/// The failure of a batch, with the files that are not valid.
fn told(bad: &[Bad<'_>], count: usize) -> Failure {
    let worst = bad.iter().map(|bad| bad.why.exit).min_by_key(|exit| *exit as u8);
    let (exit, code) = match worst {
        Some(Exit::Environment) => (Exit::Environment, "io.file"),
        Some(Exit::Usage) => (Exit::Usage, "input.malformed"),
        _ => (Exit::Verification, "verification.failed"),
    };
    let names: Vec<_> = bad.iter().take(NAMED).map(|bad| bad.file.display().to_string()).collect();
    let more = match bad.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message =
        format!("{} of {count} signatures are not valid: {}{more}", bad.len(), names.join(", "));
    let list = bad.iter().map(|Bad { file, why }| {
        json!({ "file": file.display().to_string(), "code": why.code, "message": why.message })
    });
    let invalid = serde_json::Value::Array(list.collect());
    let failure = Failure::new(exit, code, message).with("valid", json!(count - bad.len()));
    let failure = failure.with("invalid", invalid);
    match bad.iter().find_map(|bad| bad.why.hint.as_deref()) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Files whose signatures are held in memory together.
const AT_ONCE: usize = 1024;
/// Files that the message names at most.
const NAMED: usize = 10;
