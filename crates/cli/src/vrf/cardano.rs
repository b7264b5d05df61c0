//! `tetralith vrf verify-header`.

use super::network::nonce;
use super::text_keys::{key_hash, to_bech32};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use serde_json::json;
use std::path::PathBuf;
use tetralith_vrf::Error;
use tetralith_vrf::cardano::{CardanoError, Header, HeaderVrf};

/// The most bytes of a block; they are 90,112 today, and twice that in hex.
const MAX_BLOCK: u64 = 4 << 20;

/// Verifies a header's VRF proof.
#[derive(clap::Args, Debug)]
pub(crate) struct VerifyHeader {
    /// A header or a whole block of Shelley or later, CBOR or hex text, also in a node's wrappers; `-`
    /// is standard input
    #[arg(value_name = "FILE")]
    header: PathBuf,
    /// The epoch's nonce
    #[arg(long, value_name = "HEX")]
    nonce: String,
    /// The hash of the VRF key that the pool registered, which the header's key must have: hex, or
    /// bech32 (vrf_vkh1...)
    #[arg(long, value_name = "HASH")]
    vrf_key_hash: Option<String>,
}

pub(super) fn verify_header(context: Context, command: &VerifyHeader) -> Outcome {
    let nonce = nonce("the nonce", &command.nonce)?;
    let registered = command.vrf_key_hash.as_deref().map(key_hash).transpose()?;
    let bytes = cbor_or_hex(crate::io::read(&command.header, MAX_BLOCK)?)?;
    let header = Header::from_cbor(&bytes).map_err(Error::Cardano)?;
    header.verify_vrf(&nonce).map_err(|error| {
        let wrong = matches!(error, Error::Cardano(CardanoError::InvalidProof(_)));
        let failure = Failure::from(error);
        if wrong {
            return failure
                .hint(format!("--nonce must be that of the epoch of slot {}", header.slot));
        }
        failure
    })?;
    let key_hash = header.vrf_key_hash();
    if let Some(registered) = registered.filter(|registered| *registered != key_hash) {
        let (got, wanted) = (hex::encode(key_hash), hex::encode(registered));
        let message = format!("the header's VRF key has hash {got}, not {wanted}");
        return Err(Failure::verification(message));
    }
    let (slot, block, era) = (header.slot, header.block_number, header.era_name());
    let mut fields = json!({
        "slot": slot,
        "block_number": block,
        "era": era,
        "hash": hex::encode(header.hash),
        "pool": to_bech32("pool", &header.pool_id()),
        "vrf_key": hex::encode(header.vrf_key),
        "vrf_key_hash": hex::encode(key_hash),
        "leader_value": hex::encode(header.leader_value()),
        "nonce_value": hex::encode(header.nonce_value()),
        "checked": CHECKED,
        "not_checked": NOT_CHECKED,
    });
    let proofs = match &header.vrf {
        HeaderVrf::Praos(both) => {
            fields["output"] = hex::encode(both.output).into();
            "VRF proof"
        }
        HeaderVrf::TPraos { nonce, leader } => {
            fields["nonce_output"] = hex::encode(nonce.output).into();
            fields["leader_output"] = hex::encode(leader.output).into();
            "nonce and leader VRF proofs"
        }
    };
    context.answer(format!("slot {slot}, block {block} ({era}): {proofs} valid; {LEFT}"), fields)
}

/// What is verified of a header, and what is not.
pub(super) const CHECKED: [&str; 2] = ["vrf_proof", "vrf_output"];
pub(super) const NOT_CHECKED: [&str; 3] = ["operational_certificate", "kes_signature", "stake"];
pub(super) const LEFT: &str = "certificate, KES and stake not checked";

/// CBOR as it is, or from hex text, in which no header or block begins.
fn cbor_or_hex(bytes: Vec<u8>) -> Outcome<Vec<u8>> {
    match std::str::from_utf8(&bytes) {
        Ok(text) if bytes.first().is_some_and(u8::is_ascii) => {
            let digits = text.trim();
            crate::io::from_hex("the header", digits.strip_prefix("0x").unwrap_or(digits))
        }
        _ => Ok(bytes),
    }
}

impl From<CardanoError> for Failure {
    fn from(error: CardanoError) -> Failure {
        Error::Cardano(error).into()
    }
}
