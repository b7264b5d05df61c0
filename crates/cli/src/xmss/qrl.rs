//! QRL's seeds, mnemonics and addresses.

use super::key::{self, PublicArgs, Secret};
use super::store::StoreArgs;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access, Output};
use crate::passphrase::PassphraseArgs;
use rand_core::CryptoRng;
use serde_json::json;
use std::path::{Path, PathBuf};
use tetralith_xmss::Params;
use tetralith_xmss::qrl::{Address, Descriptor, ExtendedSeed};
use zeroize::Zeroizing;

/// Arguments of `address`.
#[derive(clap::Args, Debug)]
pub(crate) struct AddressOf {
    #[command(flatten)]
    public: PublicArgs,
}

/// Arguments of `import`.
#[derive(clap::Args, Debug)]
#[group(skip)]
pub(crate) struct Import {
    #[command(flatten)]
    from: From,
    /// The first index to use: above every index that the key has ever used; 0 for one never used
    #[arg(long, value_name = "INDEX")]
    resume_at: u64,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// Where an imported key comes from.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
struct From {
    /// A file with QRL's 34 words
    #[arg(long, value_name = "FILE")]
    qrl_mnemonic: Option<PathBuf>,
    /// A file with QRL's extended seed, 51 bytes in hex
    #[arg(long, value_name = "FILE")]
    qrl_seed: Option<PathBuf>,
}

/// What `export` writes.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The 34 words
    QrlMnemonic,
    /// The extended seed, 51 bytes in hex
    QrlSeed,
}

/// Arguments of `export`.
#[derive(clap::Args, Debug)]
pub(crate) struct Export {
    /// The key file
    key: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value = "qrl-mnemonic")]
    format: Form,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// Prints an address.
pub(crate) fn address(context: Context, arguments: AddressOf) -> Outcome {
    let address = Address::of(&arguments.public.read()?)?;
    context.answer(address, json!({ "address": address.to_string() }))
}

/// Makes a key file.
pub(crate) fn import(context: Context, arguments: Import) -> Outcome {
    arguments.output.check()?;
    let seed = match (&arguments.from.qrl_mnemonic, &arguments.from.qrl_seed) {
        (Some(path), _) => {
            ExtendedSeed::from_mnemonic(&Zeroizing::new(io::read_text(path, 1 << 16)?))?
        }
        (_, Some(path)) => ExtendedSeed::from_bytes(&read_hex(path)?)?,
        (None, None) => return Err(Failure::usage("input.missing", "nothing to import")),
    };
    let passphrase = arguments.passphrase.for_new()?;
    let leaves = seed.descriptor().params().signatures();
    let key = Secret::compute(context, leaves, |progress| seed.secret_key(progress))?;
    let secret = Secret { key, qrl: Some(seed) };
    secret.write(&arguments.output, &arguments.store, &passphrase, arguments.resume_at)?;
    key::told(context, "imported", &arguments.output.output, &secret.key.public_key())
}

/// Writes a secret out, where it was asked to.
pub(crate) fn export(context: Context, arguments: Export) -> Outcome {
    arguments.output.check()?;
    let secret = Secret::open(&key::read(&arguments.key)?, &arguments.passphrase)?;
    let Some(seed) = &secret.qrl else {
        return Err(Failure::usage("key.not_qrl", "the key has no QRL seed"));
    };
    let mut text = match arguments.format {
        Form::QrlMnemonic => seed.to_mnemonic(),
        Form::QrlSeed => Zeroizing::new(hex::encode(seed.to_bytes())),
    };
    text.push('\n');
    arguments.output.write(text.as_bytes(), Access::Owner)?;
    if arguments.output.output == Path::new("-") {
        return Ok(());
    }
    let name = arguments.output.output.display().to_string();
    context.answer(format!("secret in {name}"), json!({ "file": name }))
}

/// The QRL seed of a new key: given, or drawn.
pub(crate) fn seed(
    params: Params,
    given: Option<Zeroizing<Vec<u8>>>,
    rng: &mut impl CryptoRng,
) -> Outcome<ExtendedSeed> {
    let descriptor = Descriptor::new(params.hash(), params.height() as u8)?;
    let mut seed = Zeroizing::new([0; 48]);
    match given {
        None => rng.fill_bytes(&mut seed[..]),
        Some(given) if given.len() == seed.len() => seed.copy_from_slice(&given),
        Some(given) => {
            let message = format!("a QRL seed has 48 bytes, not {}", given.len());
            return Err(Failure::usage("input.length", message));
        }
    }
    Ok(ExtendedSeed::new(descriptor, &seed))
}

/// Reads a secret in hex.
pub(crate) fn read_hex(path: &Path) -> Outcome<Zeroizing<Vec<u8>>> {
    let text = Zeroizing::new(io::read_text(path, 1 << 16)?);
    Ok(Zeroizing::new(io::from_hex("the seed file", &text)?))
}
