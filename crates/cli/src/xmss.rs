//! `tetralith xmss`.
//!
//! A key is an encrypted file, and beside it its state (`KEY.state`, unless `--store` says otherwise)
//! and its trees (`KEY.nodes.layer…`, which can be made again).

mod aidos;
mod batch;
mod key;
mod keygen;
mod manage;
mod qrl;
mod store;
mod transfer;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::io::{self, Access, Output};
use crate::passphrase::PassphraseArgs;
use key::{PublicArgs, Secret};
use serde_json::json;
use std::path::{Path, PathBuf};
use store::StoreArgs;
use tetralith_xmss::{Error, Params, Signature, Signer, pkix};

/// The verbs of `tetralith xmss`.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    /// Make a key and its state
    Keygen(keygen::Keygen),
    /// Write a key's public part
    Pub(Pub),
    /// Sign a file with the key's next index
    Sign(Sign),
    /// Verify a file's signature
    Verify(Verify),
    /// Verify many files, each with its signature beside it
    VerifyBatch(batch::VerifyBatch),
    /// Show how a key's indices are spent
    Status(manage::Status),
    /// Hand out a range of indices for good
    Reserve(manage::Reserve),
    /// Make a lost, copied or rolled-back state usable again
    Restore(manage::Restore),
    /// Print a QRL key's address
    Address(qrl::AddressOf),
    /// Make a key file of a key of QRL or of AidosKuneen/xmss
    Import(transfer::Import),
    /// Move a key to QRL or to AidosKuneen/xmss: it signs no longer here
    Export(transfer::Export),
}

/// The form of a public key.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// RFC 8391: identifier, root and seed; QRL: descriptor, root and seed
    Raw,
    /// SubjectPublicKeyInfo of RFC 9802
    Pem,
}

/// Arguments of `pub`.
#[derive(clap::Args, Debug)]
pub(crate) struct Pub {
    /// The key file
    key: PathBuf,
    /// Write the key to this file; printed in hex, or as PEM, where it is left out
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file where it exists
    #[arg(long)]
    force: bool,
    /// The form of the key
    #[arg(long, value_enum, default_value = "raw")]
    format: Format,
}

/// Arguments of `sign`.
#[derive(clap::Args, Debug)]
pub(crate) struct Sign {
    /// The key file
    #[arg(short, long, value_name = "KEY")]
    key: PathBuf,
    /// Write the signature to this file [default: FILE.sig]
    #[arg(short, long, value_name = "SIG")]
    output: Option<PathBuf>,
    /// Replace the signature where it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// The file to sign
    file: PathBuf,
}

/// Arguments of `verify`.
#[derive(clap::Args, Debug)]
pub(crate) struct Verify {
    #[command(flatten)]
    public: PublicArgs,
    /// The signature
    #[arg(short, long, value_name = "SIG")]
    signature: PathBuf,
    /// The signed file
    file: PathBuf,
}

/// Runs one of them.
pub(crate) fn run(context: Context, command: Command) -> Outcome {
    match command {
        Command::Keygen(arguments) => keygen::keygen(context, arguments),
        Command::Pub(arguments) => public(context, arguments),
        Command::Sign(arguments) => sign(context, arguments),
        Command::Verify(arguments) => verify(context, arguments),
        Command::VerifyBatch(arguments) => batch::verify_batch(context, arguments),
        Command::Status(arguments) => manage::status(context, arguments),
        Command::Reserve(arguments) => manage::reserve(context, arguments),
        Command::Restore(arguments) => manage::restore(context, arguments),
        Command::Address(arguments) => qrl::address(context, arguments),
        Command::Import(arguments) => transfer::import(context, arguments),
        Command::Export(arguments) => transfer::export(context, arguments),
    }
}

fn public(context: Context, arguments: Pub) -> Outcome {
    let public = key::public_of(&key::read(&arguments.key)?)?;
    let raw = key::encode(&public)?;
    let bytes = match arguments.format {
        Format::Raw => raw.clone(),
        Format::Pem => pkix::to_pem(&public)?.into_bytes(),
    };
    let fields = json!({ "params": public.params().to_string(), "public": hex::encode(&raw) });
    match &arguments.output {
        Some(path) => {
            io::write(path, &bytes, Access::Public, arguments.force)?;
            if path == Path::new("-") {
                return Ok(());
            }
            context.answer(format!("{} public key in {}", public.params(), path.display()), fields)
        }
        None if arguments.format == Format::Pem => {
            context.answer(String::from_utf8_lossy(&bytes).trim_end(), fields)
        }
        None => context.answer(hex::encode(&raw), fields),
    }
}

fn sign(context: Context, arguments: Sign) -> Outcome {
    let output = arguments.output.unwrap_or_else(|| with_suffix(&arguments.file, ".sig"));
    // An index is worth more than a message that there was nowhere to write its signature.
    let output = Output { output, force: arguments.force };
    output.check()?;
    let message = io::read(&arguments.file, MESSAGE_LIMIT)?;
    let file = key::read(&arguments.key)?;
    let secret = Secret::open(&file, &arguments.passphrase)?;
    let params = secret.key.params();
    let opened = store::open(&arguments.store, &arguments.key, &secret.key.public_key())?;
    let mut signer = Signer::open(secret.key, opened, store::holder())?;
    signer.set_cache(&key::cache_base(&arguments.key));
    if params.tree_height() > 10 {
        let interrupt = Interrupt::catch()?;
        let report = context.progress("computing trees", 1 << params.tree_height(), "leaves");
        let prepared = signer.prepare(&tetralith_xmss::Progress::new(&|done, _| {
            report.set(done);
            !interrupt.came()
        }));
        report.finish();
        // No index is spent yet: the state is as it was.
        prepared?;
    }
    let signature = signer.sign(&message, store::now())?;
    output.write(&signature, Access::Public)?;
    let fencing = signer.fencing();
    let status = signer.close(store::now())?;
    manage::warn(context, &status);
    let index = Signature::from_bytes(params, &signature)?.index();
    let shown = output.output.display();
    if output.output == Path::new("-") {
        return Ok(());
    }
    context.answer(
        format!("{shown}: index {index}, {} left", status.left),
        json!({ "index": index, "fencing": fencing, "left": status.left,
                "signature": shown.to_string() }),
    )
}

fn verify(context: Context, arguments: Verify) -> Outcome {
    let public = arguments.public.read()?;
    let signature = io::read(&arguments.signature, SIGNATURE_LIMIT)?;
    let message = io::read(&arguments.file, MESSAGE_LIMIT)?;
    public.verify(&message, &signature)?;
    let index = Signature::from_bytes(public.params(), &signature)?.index();
    context.answer(
        format!("valid: {}, index {index}", public.params()),
        json!({ "params": public.params().to_string(), "index": index }),
    )
}

/// `path` with more text after its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The parameter set of that name.
pub(crate) fn params(name: &str) -> Result<Params, String> {
    Params::from_name(name).map_err(|error| format!("{error}; for example XMSS-SHA2_10_256"))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::State(state) => return store::failure(state),
            Error::Verification => return Failure::verification(error),
            Error::UnknownOid { .. } | Error::UnknownParams(_) => "xmss.params",
            Error::Length { .. } => "input.length",
            Error::IndexOutOfRange { .. } => "input.index",
            Error::Fault => {
                return Failure::new(Exit::Environment, "xmss.fault", error)
                    .hint("this machine made a mistake; sign on another");
            }
            Error::Cancelled => return Failure::new(Exit::Environment, "cancelled", error),
            Error::Cache(_) => return Failure::new(Exit::Environment, "io.cache", error),
            Error::Partial(_) => return Failure::new(Exit::Environment, "key.partial", error),
            _ => "input.malformed",
        };
        Failure::usage(code, error)
    }
}

/// The longest message that is read: 1 GiB.
pub(crate) const MESSAGE_LIMIT: u64 = 1 << 30;
/// More than any signature has.
pub(crate) const SIGNATURE_LIMIT: u64 = 1 << 18;
