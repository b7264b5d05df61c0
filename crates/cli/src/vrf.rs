//! `tetralith vrf`.

mod batch;
mod bench;
mod cardano;
mod headers;
mod input;
mod leader;
mod network;
mod text_keys;
mod utc;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::io::{Access, Output};
use crate::passphrase::{NewPassphraseArgs, PassphraseArgs};
use input::{Alpha, Bytes, open_key};
use serde_json::json;
use std::path::PathBuf;
use tetralith_keyfile::{Cost, KeyFile};
use tetralith_vrf::{Error, Proof, PublicKey, SecretKey, Suite};
use zeroize::Zeroizing;

/// The `kind` of VRF keys in key files.
const KIND: &str = "vrf";

/// The verbs of `tetralith vrf`.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum Command {
    /// Make a secret key
    Keygen(Keygen),
    /// Print the public key of a key file
    Pub(Pub),
    /// Prove the output of an input
    Prove(Prove),
    /// Verify a proof and print its output
    Verify(Verify),
    /// Print the output of a proof without verifying it
    Hash(Hash),
    /// Verify many proofs of Parquet, Arrow, CSV or JSON lines, with a verdict for each
    VerifyBatch(batch::VerifyBatch),
    /// Prove many inputs of Parquet, Arrow, CSV or JSON lines with one key
    ProveBatch(batch::ProveBatch),
    /// Verify the VRF proof of a Cardano block header
    VerifyHeader(cardano::VerifyHeader),
    /// Verify the VRF proofs of many Cardano block headers, from lines or chunk files
    VerifyHeaders(headers::Command),
    /// Print the slots that a Cardano pool leads
    LeaderSchedule(leader::LeaderSchedule),
    /// Measure the columns of the published study of VRF verification
    Bench(bench::Bench),
}

/// Makes a secret key.
#[derive(clap::Args, Debug)]
pub(crate) struct Keygen {
    /// The suite that the key is of
    #[arg(long, value_name = "NAME", value_parser = input::suite())]
    suite: Suite,
    #[command(flatten)]
    output: Output,
    /// Take the 32 secret bytes from this file, raw or hex, instead of the system's randomness
    #[arg(long, value_name = "FILE")]
    seed_file: Option<PathBuf>,
    #[command(flatten)]
    passphrase: NewPassphraseArgs,
}

/// Prints a public key.
#[derive(clap::Args, Debug)]
pub(crate) struct Pub {
    /// The key file
    key: PathBuf,
}

/// Proves.
#[derive(clap::Args, Debug)]
pub(crate) struct Prove {
    /// The key file
    #[arg(short, long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    alpha: Alpha,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// Verifies.
#[derive(clap::Args, Debug)]
pub(crate) struct Verify {
    /// The suite of key and proof
    #[arg(long, value_name = "NAME", value_parser = input::suite())]
    suite: Suite,
    /// The public key in hex or bech32 (vrf_vk1...), or @FILE: raw, hex, bech32, a cardano-cli text
    /// envelope or a key file
    #[arg(short, long, value_name = "HEX")]
    public_key: Bytes,
    /// The proof in hex, or @FILE, raw or hex
    #[arg(short = 's', long, value_name = "HEX")]
    proof: Bytes,
    /// The output that the proof must be of, in hex, or @FILE, raw or hex
    #[arg(long, value_name = "HEX")]
    output: Option<Bytes>,
    #[command(flatten)]
    alpha: Alpha,
}

/// Hashes a proof.
#[derive(clap::Args, Debug)]
pub(crate) struct Hash {
    /// The suite of the proof
    #[arg(long, value_name = "NAME", value_parser = input::suite())]
    suite: Suite,
    /// The proof in hex, or @FILE, raw or hex
    proof: Bytes,
}

/// Runs one of them.
pub(crate) fn run(context: Context, command: Command) -> Outcome {
    match command {
        Command::Keygen(command) => keygen(context, &command),
        Command::Pub(command) => public(context, &command),
        Command::Prove(command) => prove(context, &command),
        Command::Verify(command) => verify(context, &command),
        Command::Hash(command) => hash(context, &command),
        Command::VerifyBatch(command) => batch::verify(context, &command),
        Command::ProveBatch(command) => batch::prove(context, &command),
        Command::VerifyHeader(command) => cardano::verify_header(context, &command),
        Command::VerifyHeaders(command) => headers::run(context, &command),
        Command::LeaderSchedule(command) => leader::leader_schedule(context, &command),
        Command::Bench(command) => bench::run(context, &command),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::of(error.exit_code(), error.code(), error)
    }
}

fn keygen(context: Context, command: &Keygen) -> Outcome {
    command.output.check()?;
    let key = match &command.seed_file {
        None => SecretKey::generate(command.suite, &mut crate::random::system()),
        Some(path) => {
            crate::io::check_private(context, path)?;
            let read = Zeroizing::new(crate::io::read(path, 1 << 10)?);
            SecretKey::from_bytes(command.suite, &input::raw_or_hex(&read, 32))?
        }
    };
    let passphrase = command.passphrase.for_new(context)?;
    let public_key = key.public_key();
    let file = KeyFile::public(KIND, command.suite.name(), public_key.as_bytes()).seal(
        key.expose_bytes(),
        passphrase.protection(),
        Cost::STANDARD,
        &mut crate::random::system(),
    )?;
    command.output.write(file.to_text().as_bytes(), Access::Owner)?;
    if command.output.output == *"-" {
        return Ok(());
    }
    let public_key = hex::encode(public_key.as_bytes());
    let fields = json!({ "suite": command.suite.name(), "public_key": &public_key });
    context.answer(&public_key, fields)
}

fn public(context: Context, command: &Pub) -> Outcome {
    let (suite, file) = input::read_key_file(&command.key)?;
    let key = PublicKey::from_bytes(suite, &file.public)?;
    let public_key = hex::encode(key.as_bytes());
    let mut fields = json!({ "suite": suite.name(), "public_key": &public_key });
    if suite == Suite::Draft03Cardano {
        // As a pool's registration and cardano-cli have it.
        let hash = tetralith_vrf::cardano::vrf_key_hash(key.as_bytes());
        fields["bech32"] = text_keys::to_bech32("vrf_vk", key.as_bytes()).into();
        fields["key_hash"] = hex::encode(hash).into();
        fields["key_hash_bech32"] = text_keys::to_bech32("vrf_vkh", &hash).into();
    }
    context.answer(&public_key, fields)
}

fn prove(context: Context, command: &Prove) -> Outcome {
    let key = open_key(context, &command.key, &command.passphrase)?;
    let (output, proof) = key.evaluate(&command.alpha.read()?)?;
    let (output, proof) = (hex::encode(output.as_bytes()), hex::encode(proof.as_bytes()));
    let fields = json!({ "suite": key.suite().name(), "proof": &proof, "output": output });
    context.answer(&proof, fields)
}

fn verify(context: Context, command: &Verify) -> Outcome {
    let suite = command.suite;
    let public_key = command.public_key.read_public_key(suite)?;
    let key = PublicKey::from_bytes(suite, &public_key)?;
    let proof = Proof::from_bytes(suite, &command.proof.read("the proof", suite.proof_len())?)?;
    let expected = match &command.output {
        Some(output) => {
            let bytes = output.read("the output", suite.output_len())?;
            Some(tetralith_vrf::Output::from_bytes(suite, &bytes)?)
        }
        None => None,
    };
    let output = key.verify(&command.alpha.read()?, &proof)?;
    if expected.is_some_and(|expected| expected != output) {
        return Err(Failure::verification("the proof is valid, and of another output"));
    }
    let output = hex::encode(output.as_bytes());
    context.answer(&output, json!({ "suite": suite.name(), "output": &output }))
}

fn hash(context: Context, command: &Hash) -> Outcome {
    let suite = command.suite;
    let proof = command.proof.read("the proof", suite.proof_len())?;
    let output = hex::encode(tetralith_vrf::proof_to_hash(suite, &proof)?.as_bytes());
    context.answer(&output, json!({ "suite": suite.name(), "output": &output, "verified": false }))
}

/// The failure of a stream that cannot be read or written.
fn stream_failed(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Environment, "io.stream", format!("{what}: {error}"))
}
