//! QRL's seeds, mnemonics and addresses.

use super::key::PublicArgs;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tetralith_xmss::qrl::{Address, Descriptor, ExtendedSeed};
use tetralith_xmss::{Error, HashFunction, Params};
use zeroize::Zeroizing;

/// Arguments of `address`.
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("which").required(true).multiple(true).args(["public", "check"])))]
pub(crate) struct AddressOf {
    /// The public key: raw, in hex, or a key file; with --check, the key that the address must be of
    #[arg(short, long, value_name = "PUB")]
    public: Option<PathBuf>,
    /// Check this address: its form, its descriptor and its checksum, and describe it
    #[arg(long, value_name = "ADDRESS")]
    check: Option<String>,
}

/// Prints a key's address, or checks one.
pub(crate) fn address(context: Context, arguments: AddressOf) -> Outcome {
    let own = arguments.public.map(of_key).transpose()?;
    let Some(text) = arguments.check else {
        // Clap requires one of the two.
        let own = own.ok_or(Failure::usage("input.missing", "no key and no address is given"))?;
        return context.answer(own, fields(&own));
    };
    let given: Address = text.trim().parse().map_err(|error: Error| {
        Failure::from(error).hint("an address is Q and 78 hex digits; compare it with its source")
    })?;
    if own.is_some_and(|own| own != given) {
        return Err(Failure::verification("the address is valid, and it is another key's"));
    }
    let params = given.params();
    let whose = if own.is_some() { "the key's" } else { "valid" };
    let text = format!(
        "{whose}: {params}: XMSS with {} of height {}, {} signatures, address format SHA256_2X",
        hash_name(params.hash()),
        params.height(),
        params.signatures()
    );
    context.answer(text, fields(&given))
}

fn of_key(path: PathBuf) -> Outcome<Address> {
    Address::of(&PublicArgs::from(path).read()?).map_err(|error| {
        Failure::from(error).hint("only QRL's keys have an address: --params QRL-SHA2_10_256")
    })
}

/// What an address says of its key.
fn fields(address: &Address) -> Value {
    let params = address.params();
    json!({ "address": address.to_string(), "params": params.to_string(), "signature": "XMSS",
            "hash": hash_name(params.hash()), "height": params.height(),
            "signatures": params.signatures(), "format": "SHA256_2X" })
}

fn hash_name(hash: HashFunction) -> &'static str {
    match hash {
        HashFunction::Sha2 => "SHA2-256",
        HashFunction::Shake128 => "SHAKE128",
        HashFunction::Shake256 => "SHAKE256",
    }
}

/// The QRL seed of a key.
pub(crate) fn seed(params: Params, bytes: &[u8]) -> Outcome<ExtendedSeed> {
    let descriptor = Descriptor::new(params.hash(), params.height() as u8)?;
    let seed = bytes.try_into().map_err(|_| {
        let message = format!("a QRL seed has 48 bytes, not {}", bytes.len());
        Failure::usage("input.length", message)
    })?;
    Ok(ExtendedSeed::new(descriptor, seed))
}

/// Reads a secret in hex.
pub(crate) fn read_hex(context: Context, path: &Path) -> Outcome<Zeroizing<Vec<u8>>> {
    io::check_private(context, path)?;
    let text = Zeroizing::new(io::read_text(path, 1 << 16)?);
    Ok(Zeroizing::new(io::from_hex("the seed file", &text)?))
}
