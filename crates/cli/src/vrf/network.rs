//! Which network, and the nonces of its epochs.

use crate::failure::{Failure, Outcome};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tetralith_vrf::cardano::{Network, Ratio};

/// The network that counts slots and epochs.
#[derive(clap::Args, Clone, Debug)]
#[group(multiple = false)]
pub(super) struct NetworkArgs {
    /// The network, by its name
    #[arg(long, value_name = "NAME", value_parser = Network::NAMES)]
    network: Option<String>,
    /// The network's shelley-genesis.json
    #[arg(long, value_name = "FILE")]
    genesis: Option<PathBuf>,
}

/// How many Byron epochs come first on a network that is not known.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct ByronArgs {
    /// The number of Byron epochs that the network of --genesis begins with [default: by the network's
    /// magic number on mainnet, preprod and preview, else 0]
    #[arg(long, value_name = "N", requires = "genesis")]
    byron_epochs: Option<u64>,
}

/// What is read of Shelley's genesis file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Genesis {
    system_start: String,
    network_magic: u64,
    epoch_length: u64,
    slot_length: f64,
    active_slots_coeff: f64,
}

impl NetworkArgs {
    /// The network, where one was given.
    pub(super) fn read(&self, byron: ByronArgs) -> Outcome<Option<Network>> {
        if let Some(path) = &self.genesis {
            let text = crate::io::read_text(path, 16 << 20)?;
            let bad = |what: String| {
                let message = format!("{}: {what}", path.display());
                Failure::usage("input.genesis", message)
                    .hint("give the network's shelley-genesis.json")
            };
            let genesis: Genesis =
                serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
            return network_of(&genesis, byron).map(Some).map_err(bad);
        }
        Ok(self.network.as_deref().and_then(Network::named))
    }
}

fn network_of(genesis: &Genesis, byron: ByronArgs) -> Result<Network, String> {
    let start = super::utc::parse(&genesis.system_start);
    let start = start.ok_or_else(|| format!("systemStart is {:?}", genesis.system_start))?;
    let millis = genesis.slot_length * 1000.0;
    if !(1.0..1e12).contains(&millis) || millis.fract() != 0.0 {
        return Err(format!("slotLength is {}, expected whole milliseconds", genesis.slot_length));
    }
    // The shortest decimal that is the number, which is what the file says.
    let coefficient: Ratio =
        genesis.active_slots_coeff.to_string().parse().map_err(|error| format!("{error}"))?;
    let by_magic = Network::byron_epochs_of(genesis.network_magic).unwrap_or(0);
    let byron_epochs = byron.byron_epochs.unwrap_or(by_magic);
    Network::new(start, byron_epochs, genesis.epoch_length, millis as u64, coefficient)
        .map_err(|error| error.to_string())
}

/// Where epoch nonces come from.
#[derive(clap::Args, Clone, Debug)]
#[group(multiple = false)]
pub(super) struct NonceArgs {
    /// The epoch nonce of every header that brings none
    #[arg(long, value_name = "HEX")]
    nonce: Option<String>,
    /// The nonces of epochs: a JSON object such as {"368": HEX}; needs --network or --genesis
    #[arg(long, value_name = "FILE")]
    nonces: Option<PathBuf>,
}

/// Epoch nonces.
#[derive(Clone, Debug)]
pub(super) enum Nonces {
    /// Only those that rows bring.
    None,
    One([u8; 32]),
    Epochs(Box<Network>, BTreeMap<u64, [u8; 32]>),
}

impl NonceArgs {
    pub(super) fn read(&self, network: Option<Network>) -> Outcome<Nonces> {
        if let Some(text) = &self.nonce {
            return nonce("the nonce", text).map(Nonces::One);
        }
        let Some(path) = &self.nonces else { return Ok(Nonces::None) };
        let Some(network) = network else {
            let message = "--nonces is by epoch, and no network counts them";
            return Err(
                Failure::usage("usage.arguments", message).hint("give --network or --genesis")
            );
        };
        let text = crate::io::read_text(path, 64 << 20)?;
        let all: BTreeMap<u64, String> = serde_json::from_str(&text).map_err(|error| {
            let message = format!("{}: {error}", path.display());
            Failure::usage("input.nonces", message)
                .hint("write a JSON object such as {\"368\": HEX}")
        })?;
        let read = |(epoch, text): (u64, String)| {
            let what = format!("{}: the nonce of epoch {epoch}", path.display());
            Ok((epoch, nonce(&what, &text)?))
        };
        let all = all.into_iter().map(read).collect::<Outcome<_>>()?;
        Ok(Nonces::Epochs(Box::new(network), all))
    }
}

impl Nonces {
    /// The nonce for a slot, or what is missing.
    pub(super) fn of_slot(&self, slot: u64) -> Result<[u8; 32], String> {
        match self {
            Nonces::None => Err("no nonce is given".into()),
            Nonces::One(nonce) => Ok(*nonce),
            Nonces::Epochs(network, all) => {
                let epoch = network.epoch_of(slot);
                all.get(&epoch)
                    .copied()
                    .ok_or_else(|| format!("--nonces has none for epoch {epoch}"))
            }
        }
    }
}

/// Reads a nonce in hex.
pub(super) fn nonce(what: &str, text: &str) -> Outcome<[u8; 32]> {
    let bytes = crate::io::from_hex(what, text)?;
    bytes.as_slice().try_into().map_err(|_| {
        let message = format!("{what} is {} bytes long, expected 32", bytes.len());
        Failure::usage("input.length", message)
    })
}

/// Refuses epochs that have no slots to lead.
pub(super) fn slots_of(network: &Network, epoch: u64) -> Outcome<std::ops::Range<u64>> {
    network.slots_of(epoch).ok_or_else(|| {
        let message = format!("epoch {epoch} is Byron's, or its slots have no numbers");
        Failure::usage("input.range", message).hint("give an epoch of Shelley or later")
    })
}
