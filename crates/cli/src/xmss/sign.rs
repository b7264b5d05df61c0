//! `sign`: one file or many, each read once and never held whole.
//!
//! Every file and every output is looked at before the first index is spent; if one of them cannot be
//! used, nothing is signed. Afterwards a file that fails does not keep the others from being signed.

use super::guard::Guard;
use super::key;
use super::store::{self, StoreArgs};
use super::{manage, unnamed, with_suffix};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::io::{Access, Output, Source};
use crate::passphrase::PassphraseArgs;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tetralith_xmss::Progress;
use tetralith_xmss::state::{StateError, Status};

/// A signer with a store of any kind.
type Signer = tetralith_xmss::Signer<tetralith_keyring::Store>;

/// Arguments of `sign`.
#[derive(clap::Args, Debug)]
pub(crate) struct Sign {
    /// The key file
    #[arg(short, long, value_name = "KEY")]
    key: PathBuf,
    /// Write the signature to this file, where one FILE is signed [default: FILE.sig]
    #[arg(short, long, value_name = "SIG")]
    output: Option<PathBuf>,
    /// Replace signatures that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// The files to sign, each into FILE.sig; `-` is standard input, alone and with -o
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// A file and where its signature goes.
struct Job {
    file: PathBuf,
    output: Output,
}

/// A signature that was written.
struct Signed {
    index: u64,
    fencing: u64,
}

/// Signs files.
pub(crate) fn sign(context: Context, arguments: Sign) -> Outcome {
    let jobs = jobs(&arguments)?;
    check(&arguments, &jobs)?;
    let keyring = arguments.store.keyring(&arguments.key)?;
    let secret = key::secret(context, &keyring, &arguments.passphrase)?;
    let mut signer = keyring.sign_with(secret)?;
    prepare(context, &mut signer)?;
    let (asked, left) = (jobs.len() as u64, signer.status().left);
    if left == 0 {
        // The state says why.
        signer.sign_stream(store::now()).map(drop)?;
    }
    if asked > left {
        return Err(store::failure(&StateError::NotEnough { asked, left }));
    }
    // One lease for all, so that the state is committed once.
    signer.set_batch(asked);
    let mut done = Vec::with_capacity(jobs.len());
    for job in &jobs {
        let (result, go_on) = match one(&mut signer, job) {
            Ok(result) => (result, true),
            // Nothing is signed, so there is nothing to account for but what the state refuses.
            Err(failure) if done.is_empty() => return Err(failure),
            Err(failure) => (Err(failure), false),
        };
        if jobs.len() > 1 {
            tell(context, job, &result)?;
        }
        done.push((job, result));
        if !go_on {
            break;
        }
    }
    let status = account(context, signer);
    match (jobs.len(), done.pop()) {
        (1, Some((job, result))) => told(context, job, &result?, &status),
        (_, last) => {
            done.extend(last);
            told_all(context, &jobs, &done, &status)
        }
    }
}

fn jobs(arguments: &Sign) -> Outcome<Vec<Job>> {
    let alone = arguments.files.len() == 1;
    if let (Some(_), false) = (&arguments.output, alone) {
        let message = format!("-o names one signature, {} files are given", arguments.files.len());
        return Err(
            Failure::usage("output.single", message).hint("leave -o out: each file gets FILE.sig")
        );
    }
    let job = |file: &PathBuf| {
        let output = match &arguments.output {
            Some(output) => output.clone(),
            None if file == Path::new("-") && alone => return Err(unnamed().hint("give -o SIG")),
            None if file == Path::new("-") => {
                return Err(unnamed().hint("sign standard input alone, with -o SIG"));
            }
            None => with_suffix(file, ".sig"),
        };
        Ok(Job { file: file.clone(), output: Output { output, force: arguments.force } })
    };
    arguments.files.iter().map(job).collect()
}

/// An index is worth more than a message that a file cannot be read or a signature not be written: finds
/// that out before one is spent.
fn check(arguments: &Sign, jobs: &[Job]) -> Outcome {
    let guard = Guard::default().input(arguments.passphrase.file());
    let guard = guard.key(&arguments.key, &arguments.store);
    let mut guard = jobs.iter().fold(guard, |guard, job| guard.input(Some(&job.file)));
    for job in jobs {
        guard.output(&job.output.output)?;
        job.output.check_result()?;
        if job.file == Path::new("-") {
            continue;
        }
        let found = std::fs::metadata(&job.file);
        let found = found.map_err(|error| Failure::file(&job.file, &error))?;
        // To open a pipe is to begin to read it, so only a file is tried.
        if found.is_file() || found.is_dir() {
            drop(Source::open(&job.file)?);
        }
    }
    Ok(())
}

/// Makes the trees ready where that takes long. No index is spent: the state stays as it is.
fn prepare(context: Context, signer: &mut Signer) -> Outcome {
    let height = signer.params().tree_height();
    if height <= 10 {
        return Ok(());
    }
    let interrupt = Interrupt::catch()?;
    let report = context.progress("computing trees", 1 << height, "leaves");
    let prepared = signer.prepare(&Progress::new(&|done, _| {
        report.set(done);
        !interrupt.came()
    }));
    report.finish();
    Ok(prepared?)
}

/// Signs one file. The outer failure is the key's, and any other file would fail as well; the inner one is
/// this file's.
fn one(signer: &mut Signer, job: &Job) -> Outcome<Outcome<Signed>> {
    let room = Source::open(&job.file).and_then(|source| {
        // A full disk shows before an index is spent.
        Ok((source, job.output.reserve(signer.params().signature_bytes())?))
    });
    let (source, room) = match room {
        Ok(room) => room,
        Err(failure) => return Ok(Err(failure)),
    };
    let mut stream = signer.sign_stream(store::now())?;
    let index = stream.index();
    if let Err(failure) = source.read(|part| stream.update(part)) {
        return Ok(Err(spent(failure, index)));
    }
    let signature = stream.finish()?;
    let written = match room {
        Some(mut room) => room.rewrite(&signature).and_then(|()| room.finish()),
        None => job.output.write(&signature, Access::Public),
    };
    let signed = Signed { index, fencing: signer.fencing() };
    Ok(written.map(|()| signed).map_err(|failure| spent(failure, index)))
}

fn spent(failure: Failure, index: u64) -> Failure {
    let then = format!("index {index} is spent; the next signature has another");
    match failure.hint.clone() {
        None => failure.hint(then),
        Some(hint) => failure.hint(format!("{hint}; {then}")),
    }
}

/// Says what to know of the key, and accounts for its indices.
fn account(context: Context, signer: Signer) -> Status {
    if let Some(error) = signer.unstored() {
        let text =
            format!("warning: {error}; until it can be kept, each signature computes a tree");
        context.event("cache.unwritable", text, json!({}));
    }
    let status = signer.status();
    // Signatures are there and their indices spent, whatever comes of the account.
    let status = signer.close(store::now()).unwrap_or_else(|error| {
        let text = format!("warning: the indices of these signatures will count as lost: {error}");
        context.event("state.unsettled", text, json!({}));
        status
    });
    manage::warn(context, &status);
    status
}

/// The answer for one file.
fn told(context: Context, job: &Job, signed: &Signed, status: &Status) -> Outcome {
    let (shown, left) = (job.output.output.display(), status.left);
    let mut fields = entry(job, signed);
    fields["left"] = json!(left);
    let text = format!("{shown}: index {}, {left} left", signed.index);
    context.wrote(&job.output, "signed", text, fields)
}

/// Tells of one file of many, as soon as it is done.
fn tell(context: Context, job: &Job, result: &Outcome<Signed>) -> Outcome {
    match result {
        Ok(_) if context.json => Ok(()),
        Ok(signed) => {
            context.line(&format!("{}: index {}", job.output.output.display(), signed.index))
        }
        Err(why) => {
            let file = job.file.display();
            let fields = json!({ "file": file.to_string(), "code": why.code });
            context.event("failed", format!("{file}: {}", why.message), fields);
            Ok(())
        }
    }
}

/// The answer for many files.
fn told_all(
    context: Context,
    jobs: &[Job],
    done: &[(&Job, Outcome<Signed>)],
    status: &Status,
) -> Outcome {
    let signed: Vec<Value> =
        done.iter().filter_map(|(job, result)| Some(entry(job, result.as_ref().ok()?))).collect();
    let (count, left) = (signed.len(), status.left);
    let Some(first) = done.iter().find_map(|(_, result)| result.as_ref().err()) else {
        let fields = json!({ "signed": signed, "left": left });
        return context.answer(format!("{count} signatures, {left} left"), fields);
    };
    let mut failed: Vec<Value> = Vec::new();
    for (job, result) in done {
        if let Err(why) = result {
            let file = job.file.display().to_string();
            failed.push(json!({ "file": file, "code": why.code, "message": why.message }));
        }
    }
    for job in &jobs[done.len()..] {
        let file = job.file.display().to_string();
        failed.push(json!({ "file": file, "code": "sign.stopped", "message": "not tried" }));
    }
    let message =
        format!("{} of {} files are not signed: {}", failed.len(), jobs.len(), first.message);
    let mut failure = Failure::new(first.exit, first.code, message)
        .with("signed", json!(signed))
        .with("failed", json!(failed))
        .with("left", json!(left));
    failure.hint.clone_from(&first.hint);
    Err(failure)
}

fn entry(job: &Job, signed: &Signed) -> Value {
    json!({ "file": job.file.display().to_string(), "index": signed.index,
            "fencing": signed.fencing, "signature": job.output.output.display().to_string() })
}
