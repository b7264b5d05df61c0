//! `tetralith vrf verify-header` and `leader-schedule`.

use super::input::open_key;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::passphrase::PassphraseArgs;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use tetralith_vrf::cardano::{
    CardanoError, Header, HeaderVrf, LeaderCheck, Ratio, leader_slots, signing_key_from_cbor,
};
use tetralith_vrf::{Error, SecretKey, Suite};
use zeroize::Zeroizing;

/// The most bytes of a block; they are 90,112 today, and twice that in hex.
const MAX_BLOCK: u64 = 4 << 20;

/// How many slots one thread decides at a time.
const THREAD_SLOTS: u64 = 512;

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
}

/// Decides who leads.
#[derive(clap::Args, Debug)]
pub(crate) struct LeaderSchedule {
    /// The VRF signing key: a cardano-cli text envelope, or a key file of suite draft03-cardano
    #[arg(short, long, value_name = "FILE")]
    key: PathBuf,
    /// The epoch's nonce
    #[arg(long, value_name = "HEX")]
    nonce: String,
    /// The pool's share of the active stake, such as 0.0012 or 31337/22000000
    #[arg(long, value_name = "RATIO")]
    stake: Ratio,
    /// The active slot coefficient
    #[arg(long, value_name = "RATIO", default_value = "0.05")]
    coefficient: Ratio,
    /// The first slot of the epoch
    #[arg(long, value_name = "SLOT")]
    first_slot: u64,
    /// How many slots to decide
    #[arg(long, value_name = "N", default_value_t = 432_000)]
    slots: u64,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

fn nonce(text: &str) -> Outcome<[u8; 32]> {
    let bytes = crate::io::from_hex("the nonce", text)?;
    bytes.as_slice().try_into().map_err(|_| {
        let message = format!("the nonce is {} bytes long, expected 32", bytes.len());
        Failure::usage("input.length", message)
    })
}

pub(super) fn verify_header(context: Context, command: &VerifyHeader) -> Outcome {
    let nonce = nonce(&command.nonce)?;
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
    let (slot, block, era) = (header.slot, header.block_number, header.era_name());
    let mut fields = json!({
        "slot": slot,
        "block_number": block,
        "era": era,
        "hash": hex::encode(header.hash),
        "vrf_key": hex::encode(header.vrf_key),
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
const CHECKED: [&str; 2] = ["vrf_proof", "vrf_output"];
const NOT_CHECKED: [&str; 3] = ["operational_certificate", "kes_signature", "stake"];
const LEFT: &str = "certificate, KES and stake not checked";

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

/// A cardano-cli text envelope.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "cborHex")]
    cbor_hex: String,
}

fn read_key(context: Context, command: &LeaderSchedule) -> Outcome<SecretKey> {
    let text = Zeroizing::new(crate::io::read_text(&command.key, 1 << 20)?);
    let Ok(envelope) = serde_json::from_str::<Envelope>(&text) else {
        let key = open_key(context, &command.key, &command.passphrase)?;
        if key.suite() != Suite::Draft03Cardano {
            let message = format!("a key of suite {} leads no slot", key.suite());
            return Err(Failure::usage("input.suite", message));
        }
        return Ok(key);
    };
    if envelope.kind != "VrfSigningKey_PraosVRF" {
        let message = format!("the text envelope is of type {:?}", envelope.kind);
        return Err(Failure::usage("input.malformed", message)
            .hint("a VRF signing key's type is VrfSigningKey_PraosVRF"));
    }
    let cbor_hex = Zeroizing::new(envelope.cbor_hex);
    let cbor = Zeroizing::new(crate::io::from_hex("the signing key's CBOR", &cbor_hex)?);
    Ok(signing_key_from_cbor(Suite::Draft03Cardano, &cbor)?)
}

pub(super) fn leader_schedule(context: Context, command: &LeaderSchedule) -> Outcome {
    let nonce = nonce(&command.nonce)?;
    let check = LeaderCheck::new(command.stake, command.coefficient).map_err(Error::from)?;
    let key = read_key(context, command)?;
    let end = command.first_slot.checked_add(command.slots).ok_or_else(|| {
        Failure::usage("input.range", "the last slot is beyond the largest slot number")
    })?;
    let slots = schedule(context, (&key, &nonce, &check), command.first_slot, end)?;
    let lines: Vec<String> = slots.iter().map(u64::to_string).collect();
    context.answer(lines.join("\n"), json!({ "slots": slots, "decided": command.slots }))
}

fn schedule(
    context: Context,
    (key, nonce, check): (&SecretKey, &[u8; 32], &LeaderCheck),
    first: u64,
    end: u64,
) -> Outcome<Vec<u64>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(context.threads).build();
    let pool = pool.map_err(|error| Failure::new(Exit::Environment, "io.threads", error))?;
    let progress = context.progress("leader-schedule", end - first, "slots");
    let done = std::sync::atomic::AtomicU64::new(0);
    let parts = (end - first).div_ceil(THREAD_SLOTS);
    let led: Result<Vec<Vec<u64>>, Error> = pool.install(|| {
        (0..parts)
            .into_par_iter()
            .map(|part| {
                let from = first + part * THREAD_SLOTS;
                let to = end.min(from.saturating_add(THREAD_SLOTS));
                let led = leader_slots(key, nonce, check, from..to);
                let order = std::sync::atomic::Ordering::Relaxed;
                progress.set(done.fetch_add(to - from, order) + (to - from));
                led
            })
            .collect()
    });
    progress.finish();
    Ok(led?.concat())
}

impl From<CardanoError> for Failure {
    fn from(error: CardanoError) -> Failure {
        Error::Cardano(error).into()
    }
}
