//! QRL's seeds, mnemonics and addresses.

use super::key::PublicArgs;
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::io;
use serde_json::json;
use std::path::Path;
use tetralith_xmss::Params;
use tetralith_xmss::qrl::{Address, Descriptor, ExtendedSeed};
use zeroize::Zeroizing;

/// Arguments of `address`.
#[derive(clap::Args, Debug)]
pub(crate) struct AddressOf {
    #[command(flatten)]
    public: PublicArgs,
}

/// Prints an address.
pub(crate) fn address(context: Context, arguments: AddressOf) -> Outcome {
    let public = arguments.public.read()?;
    let address = Address::of(&public).map_err(|error| {
        Failure::from(error).hint("only QRL's keys have an address: --params QRL-SHA2_10_256")
    })?;
    context.answer(address, json!({ "address": address.to_string() }))
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
