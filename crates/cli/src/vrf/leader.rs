//! `tetralith vrf leader-schedule`.

use super::input::open_key;
use super::network::{ByronArgs, NetworkArgs, nonce, slots_of};
use super::utc;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::passphrase::PassphraseArgs;
use rayon::prelude::*;
use serde_json::json;
use std::ops::Range;
use std::path::PathBuf;
use tetralith_vrf::cardano::{LeaderCheck, Network, Ratio, leader_slots};
use tetralith_vrf::{Error, SecretKey, Suite};

/// How many slots one thread decides at a time.
const THREAD_SLOTS: u64 = 512;

/// Decides who leads.
#[derive(clap::Args, Debug)]
pub(crate) struct LeaderSchedule {
    /// The VRF signing key: a cardano-cli text envelope, bech32 (vrf_sk1...), 64 bytes raw or in hex, or
    /// a key file of suite draft03-cardano
    #[arg(short, long, value_name = "FILE")]
    key: PathBuf,
    /// The epoch's nonce
    #[arg(long, value_name = "HEX")]
    nonce: String,
    /// The pool's share of the active stake, such as 0.0012, 1.2e-3 or 31337/22000000
    #[arg(long, value_name = "RATIO")]
    stake: Ratio,
    /// The active slot coefficient [default: the network's, else 0.05]
    #[arg(long, value_name = "RATIO")]
    coefficient: Option<Ratio>,
    /// The epoch; needs --network or --genesis
    #[arg(long, value_name = "N", conflicts_with_all = ["first_slot", "slots"])]
    epoch: Option<u64>,
    /// The first slot to decide
    #[arg(long, value_name = "SLOT", required_unless_present = "epoch")]
    first_slot: Option<u64>,
    /// How many slots to decide
    #[arg(long, value_name = "N", default_value_t = 432_000)]
    slots: u64,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    byron: ByronArgs,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(super) fn leader_schedule(context: Context, command: &LeaderSchedule) -> Outcome {
    let nonce = nonce("the nonce", &command.nonce)?;
    let network = command.network.read(command.byron)?;
    let coefficient = match (&command.coefficient, &network) {
        (Some(given), _) => given.clone(),
        (None, Some(network)) => network.coefficient().clone(),
        (None, None) => "0.05".parse().map_err(Error::from)?,
    };
    let check = LeaderCheck::new(&command.stake, &coefficient).map_err(Error::from)?;
    let slots = range(command, network.as_ref())?;
    let key = open_key(context, &command.key, &command.passphrase)?;
    if key.suite() != Suite::Draft03Cardano {
        let message = format!("a key of suite {} leads no slot", key.suite());
        return Err(Failure::usage("input.suite", message)
            .hint(format!("give a key of suite {}", Suite::Draft03Cardano)));
    }
    let led = schedule(context, (&key, &nonce, &check), slots.clone())?;
    answer(context, network.as_ref(), &slots, &led)
}

/// The slots to decide.
fn range(command: &LeaderSchedule, network: Option<&Network>) -> Outcome<Range<u64>> {
    if let Some(epoch) = command.epoch {
        let Some(network) = network else {
            let message = "--epoch needs a network that counts epochs";
            return Err(
                Failure::usage("usage.arguments", message).hint("give --network or --genesis")
            );
        };
        return slots_of(network, epoch);
    }
    let first = command.first_slot.unwrap_or_default(); // clap wants one of the two
    let end = first.checked_add(command.slots).ok_or_else(|| {
        Failure::usage("input.range", "the last slot is beyond the largest slot number")
    })?;
    Ok(first..end)
}

fn answer(context: Context, network: Option<&Network>, slots: &Range<u64>, led: &[u64]) -> Outcome {
    let time = |slot: u64| network.and_then(|network| network.time_of(slot)).map(utc::text);
    let decided = slots.end - slots.start;
    let mut fields = json!({ "slots": led, "decided": decided });
    if let Some(network) = network {
        fields["epoch"] = network.epoch_of(slots.start).into();
        let row = |slot: &u64| json!({ "slot": slot, "utc": time(*slot) });
        fields["schedule"] = led.iter().map(row).collect();
    }
    let line = |slot: &u64| match time(*slot) {
        Some(time) => format!("{slot}  {time}"),
        None => slot.to_string(),
    };
    let text = match led {
        [] => format!("no slot is led, of {decided} decided"),
        _ => led.iter().map(line).collect::<Vec<String>>().join("\n"),
    };
    context.answer(text, fields)
}

fn schedule(
    context: Context,
    (key, nonce, check): (&SecretKey, &[u8; 32], &LeaderCheck),
    slots: Range<u64>,
) -> Outcome<Vec<u64>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(context.threads).build();
    let pool = pool.map_err(|error| Failure::new(Exit::Environment, "io.threads", error))?;
    let (first, end) = (slots.start, slots.end);
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
