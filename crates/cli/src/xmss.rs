//! `tetralith xmss`.
//!
//! A key is an encrypted file, and beside it its state (`KEY.state`, unless `--store` says otherwise)
//! and its trees (`KEY.nodes.layer…`, which can be made again).

mod aidos;
mod batch;
mod guard;
mod key;
mod keygen;
mod manage;
mod params;
mod pkcs8;
mod qrl;
mod rekey;
mod sealed;
mod sign;
mod store;
mod transfer;

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access, Output, Source};
use guard::Guard;
use key::PublicArgs;
use serde_json::json;
use std::path::{Path, PathBuf};
use store::StoreArgs;
use tetralith_keyring::encode;
use tetralith_xmss::{Error, pkix};

/// The verbs of `tetralith xmss`.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    /// Make a key and its state
    Keygen(keygen::Keygen),
    /// Write a key's public part
    Pub(Pub),
    /// Sign files, each with the key's next index
    Sign(sign::Sign),
    /// Verify a file's signature
    Verify(Verify),
    /// Verify many files, each with its signature beside it
    VerifyBatch(batch::VerifyBatch),
    /// Verify a certificate's signature: a root's by its own key
    VerifyCertificate(VerifyCertificate),
    /// Change the passphrase of a key file
    Passphrase(rekey::Passphrase),
    /// Show how a key's indices are spent
    Status(manage::Status),
    /// Hand out a range of indices for good
    Reserve(manage::Reserve),
    /// Make a lost, copied or rolled-back state usable again
    Restore(manage::Restore),
    /// Print a QRL key's address, or check and describe one
    Address(qrl::AddressOf),
    /// Make a key file of a key of QRL, of AidosKuneen/xmss or in PKCS#8
    Import(transfer::Import),
    /// Move a key to QRL, to AidosKuneen/xmss or into PKCS#8: it no longer signs here
    Export(transfer::Export),
    /// List the parameter sets
    Params,
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

/// Arguments of `verify-certificate`.
#[derive(clap::Args, Debug)]
pub(crate) struct VerifyCertificate {
    /// The issuer's public key, in any form, or its certificate [default: the certificate's own key]
    #[arg(short, long, value_name = "PUB")]
    public: Option<PathBuf>,
    /// The certificate, in PEM or DER
    certificate: PathBuf,
}

/// Runs one of them.
pub(crate) fn run(context: Context, command: Command) -> Outcome {
    match command {
        Command::Keygen(arguments) => keygen::keygen(context, arguments),
        Command::Pub(arguments) => public(context, arguments),
        Command::Sign(arguments) => sign::sign(context, arguments),
        Command::Verify(arguments) => verify(context, arguments),
        Command::VerifyBatch(arguments) => batch::verify_batch(context, arguments),
        Command::Passphrase(arguments) => rekey::change(context, arguments),
        Command::Status(arguments) => manage::status(context, arguments),
        Command::Reserve(arguments) => manage::reserve(context, arguments),
        Command::Restore(arguments) => manage::restore(context, arguments),
        Command::Address(arguments) => qrl::address(context, arguments),
        Command::Import(arguments) => transfer::import(context, arguments),
        Command::Export(arguments) => transfer::export(context, arguments),
        Command::VerifyCertificate(arguments) => verify_certificate(context, arguments),
        Command::Params => params::list(context),
    }
}

fn public(context: Context, arguments: Pub) -> Outcome {
    let public = key::public_of(&key::read(&arguments.key)?, &arguments.key)?;
    let raw = encode(&public)?;
    let bytes = match arguments.format {
        Format::Raw => raw.clone(),
        Format::Pem => pkix::to_pem(&public)
            .map_err(|error| Failure::from(error).hint("QRL's keys are written raw: --format raw"))?
            .into_bytes(),
    };
    let fields = json!({ "params": public.params().to_string(), "public": hex::encode(&raw) });
    match arguments.output {
        Some(output) => {
            let (name, output) =
                (output.display().to_string(), Output { output, force: arguments.force });
            Guard::default().key(&arguments.key, &StoreArgs::default()).check(&output.output)?;
            output.write(&bytes, Access::Public)?;
            context.wrote(
                &output,
                "public",
                format!("{} public key in {name}", public.params()),
                fields,
            )
        }
        None if arguments.format == Format::Pem => {
            context.answer(String::from_utf8_lossy(&bytes).trim_end(), fields)
        }
        None => context.answer(hex::encode(&raw), fields),
    }
}

/// Standard input has no name beside which a signature could be.
pub(crate) fn unnamed() -> Failure {
    Failure::usage("input.unnamed", "standard input has no name to which .sig could be added")
}

fn verify(context: Context, arguments: Verify) -> Outcome {
    if arguments.signature == arguments.file && arguments.file == Path::new("-") {
        let message = "the file and its signature cannot both come from standard input";
        return Err(Failure::usage("input.twice", message).hint("name one of them"));
    }
    let public = arguments.public.read()?;
    let signature = io::read(&arguments.signature, SIGNATURE_LIMIT)?;
    let unfit = |error| arguments.public.unfit(&public, &signature, error);
    let mut stream = public.verify_stream(&signature).map_err(unfit)?;
    let index = stream.index();
    Source::open(&arguments.file)?.read(|part| stream.update(part))?;
    stream.finish().map_err(unfit)?;
    context.answer(
        format!("valid: {}, index {index}", public.params()),
        json!({ "params": public.params().to_string(), "index": index }),
    )
}

fn verify_certificate(context: Context, arguments: VerifyCertificate) -> Outcome {
    let bytes = io::read(&arguments.certificate, 1 << 23)?;
    let certificate = match core::str::from_utf8(&bytes) {
        Ok(text) if text.contains("-----BEGIN ") => pkix::Certificate::from_pem(text)?,
        _ => pkix::Certificate::from_der(&bytes)?,
    };
    let given = arguments.public.map(|path| PublicArgs::from(path).read()).transpose()?;
    let issuer = given.as_ref().unwrap_or(&certificate.public_key);
    certificate.verify(issuer)?;
    let (index, own) = (certificate.index(issuer)?, given.is_none());
    let by = if own { "its own key" } else { "the issuer's key" };
    let params = issuer.params().to_string();
    context.answer(
        format!("valid: signed by {by} of {params}, index {index}; names, dates and extensions are not looked at"),
        json!({ "params": params, "index": index, "self_signed": own }),
    )
}

/// `path` with more text after its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let hint = match &error {
            Error::State(state) => return store::failure(state),
            Error::TooTall(_) => "choose a height up to 20",
            Error::NotAidos { .. } => {
                "keygen --derivation prf-counter makes keys that can be exported there"
            }
            Error::NotPkcs8 => "export it with --format aidos, or a QRL key with --format qrl-seed",
            Error::Fault => "suspected hardware fault: sign on another machine",
            _ => return Failure::of(error.exit_code(), error.code(), error),
        };
        Failure::of(error.exit_code(), error.code(), error).hint(hint)
    }
}

/// More than any signature has.
pub(crate) const SIGNATURE_LIMIT: u64 = 1 << 18;
