//! Requests of go-tss's clients, from the JSON to the answer.

use super::types::{self, Blame, KeygenAnswer, KeygenRequest, KeysignAnswer, KeysignRequest};
use super::types::{Signature, Status};
use crate::api::Api;
use crate::api::answers::Failure;
use crate::ceremony::{Refusal, Request, Shared, threshold_of};
use crate::config::GoTss;
use crate::identity::{domain_hash, sorted};
use crate::log::{Basis, CeremonyRecord};
use crate::meeting::Asked;
use crate::shares::{Key, KeyId};
use crate::tokens::Caller;
use crate::wire::{Blamed, CeremonyId, Failed, Outcome, peer};
use libp2p::PeerId;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use tokio::task::JoinSet;

const KEYGEN: &str = "tetralith/node/gotss-keygen/1";
const KEYSIGN: &str = "tetralith/node/gotss-keysign/1";
/// Messages of one request.
const MOST_MESSAGES: usize = 255;

/// A request for a new key.
pub(super) struct Keygen {
    asked: Asked,
    threshold: u8,
}

/// A request for signatures.
pub(super) struct Keysign {
    asked: Asked,
    key: Arc<Key>,
    /// The messages as they were given, and the digests that they are; the greatest first, as in go-tss.
    messages: Vec<(Vec<u8>, [u8; 32])>,
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::invalid("request.malformed", error))
}

fn config(shared: &Shared) -> Result<&GoTss, Failure> {
    let off = || Failure::not_found("route.unknown", "there is no such route");
    shared.config.clients.gotss.as_ref().ok_or_else(off)
}

/// The nodes of which clients know these public keys, this node among them.
fn nodes(shared: &Shared, keys: &[String]) -> Result<Vec<PeerId>, Failure> {
    let gotss = config(shared)?;
    let find = |text: &String| {
        let named = gotss.parties.iter().find(|(_, key)| *key == text).map(|(name, _)| name);
        let id = named.and_then(|name| match *name == shared.config.name {
            true => Some(shared.me()),
            false => shared.config.peers.iter().find(|peer| peer.name == *name).map(|peer| peer.id),
        });
        id.ok_or_else(|| {
            Failure::invalid("request.party", format!("{text:?} is the key of no configured node"))
                .hint("clients.gotss.parties in node.toml has the key of each node")
        })
    };
    let nodes = sorted(keys.iter().map(find).collect::<Result<_, _>>()?);
    if !nodes.contains(&shared.me()) {
        let own = types::party_key(gotss, &shared.config.name, &shared.me());
        let message = format!("the key of this node is missing: {own}");
        return Err(Failure::invalid("request.party", message));
    }
    Ok(nodes)
}

/// The name of a request: a hash of everything that its nodes must agree on.
fn name(domain: &str, version: &str, height: i64, nodes: &[PeerId], what: &[&[u8]]) -> CeremonyId {
    let nodes: Vec<_> = nodes.iter().map(|id| id.to_bytes()).collect();
    let count = (nodes.len() as u64).to_be_bytes();
    let height = height.to_be_bytes();
    let mut parts: Vec<&[u8]> = vec![version.as_bytes(), &height, &count];
    parts.extend(nodes.iter().map(Vec::as_slice));
    parts.extend(what);
    CeremonyId(domain_hash(domain, &parts))
}

impl Keygen {
    pub(super) fn read(api: &Api, body: &[u8]) -> Result<Self, Failure> {
        let request: KeygenRequest = json(body)?;
        if !matches!(request.algo.as_str(), "" | "ecdsa") {
            let message = format!("algo {:?} (expected \"ecdsa\")", request.algo);
            return Err(Failure::invalid("request.algo", message));
        }
        let nodes = nodes(&api.shared, &request.keys)?;
        let threshold = u8::try_from(types::threshold(nodes.len())).unwrap_or(u8::MAX);
        threshold_of(threshold, nodes.len())
            .map_err(|reason| Failure::invalid("request.invalid", reason))?;
        let least = api.shared.config.policy.least_threshold;
        if threshold < least {
            let message =
                format!("threshold {threshold} is below policy.least_threshold ({least})");
            return Err(Failure::invalid("policy.threshold", message));
        }
        let id = name(KEYGEN, &request.tss_version, request.block_height, &nodes, &[]);
        let needed = nodes.len();
        Ok(Keygen { asked: Asked { id, nodes, needed }, threshold })
    }

    pub(super) async fn run(self, api: &Api) -> Result<KeygenAnswer, Failure> {
        let gotss = config(&api.shared)?;
        let made = |outcome: &Outcome| {
            let Outcome::Made(id) = outcome else { return None };
            let key = api.shared.shares.key(&KeyId((*id).into()))?;
            let same = key.parties == self.asked.nodes && key.threshold == self.threshold;
            same.then_some(key)
        };
        let hold = |parties: Vec<PeerId>| {
            let (api, threshold) = (api.clone(), self.threshold);
            async move {
                let end = api.hold(Request::Keygen { threshold, parties }).await;
                match end.map(|record| record.key.as_deref().and_then(KeyId::from_hex)) {
                    Ok(Some(id)) => Outcome::Made(id.0.into()),
                    Ok(None) => Outcome::Failed(Failed::default()),
                    Err(refusal) => Outcome::Failed(failed(refusal)),
                }
            }
        };
        let (party, result) = (gotss.party(), gotss.result());
        let checks = |outcome: &Outcome| made(outcome).is_some();
        let end = api.shared.meet(&self.asked, party, result, checks, hold).await;
        let key = end.map(|outcome| made(&outcome));
        Ok(match key {
            Ok(key) => {
                let public = key.map(|key| key.public_key.clone()).unwrap_or_default();
                KeygenAnswer {
                    algo: "ecdsa",
                    pub_key: gotss.encode_key(&public),
                    pool_address: gotss.address(&public),
                    status: Status::SUCCESS,
                    blame: Blame::default(),
                }
            }
            Err(failed) => KeygenAnswer {
                algo: "ecdsa",
                pub_key: String::new(),
                pool_address: String::new(),
                status: Status::FAIL,
                blame: blame(&api.shared, gotss, &failed),
            },
        })
    }
}

impl Keysign {
    pub(super) fn read(api: &Api, body: &[u8]) -> Result<Self, Failure> {
        let request: KeysignRequest = json(body)?;
        let (shared, pool) = (&api.shared, &request.pool_pub_key);
        let public = config(shared)?.decode_key(pool).ok_or_else(|| {
            let message = format!("pool_pub_key {pool:?} is not a secp256k1 public key in bech32");
            Failure::invalid("key.malformed", message)
        })?;
        let mut keys = shared.shares.keys().into_iter();
        let key = keys.find(|key| key.public_key == public).ok_or_else(|| {
            Failure::not_found("key.unknown", format!("this node has no share of {pool}"))
        })?;
        let nodes = match request.signer_pub_keys.is_empty() {
            true => key.parties.clone(),
            false => nodes(shared, &request.signer_pub_keys)?,
        };
        if let Some(other) = nodes.iter().find(|id| !key.parties.contains(id)) {
            let message = format!("{} has no share of the key", shared.name(other));
            return Err(Failure::invalid("request.signers", message));
        }
        let needed = usize::from(key.threshold);
        if nodes.len() < needed {
            let message = format!("{} signers are named, {needed} are needed", nodes.len());
            return Err(Failure::invalid("request.signers", message));
        }
        let count = request.messages.len();
        if !(1..=MOST_MESSAGES).contains(&count) {
            let message = format!("{count} messages (expected 1 to {MOST_MESSAGES})");
            return Err(Failure::invalid("request.messages", message));
        }
        let read = |message: &String| {
            types::digest(message).ok_or_else(|| {
                let message = format!("message {message:?} is not 1 to 32 bytes in base64");
                Failure::invalid("request.messages", message)
                    .hint("a message is the digest that is signed")
            })
        };
        let mut messages = request.messages.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        messages.sort_by_key(|(_, digest)| std::cmp::Reverse(*digest));
        let mut what: Vec<&[u8]> = vec![&key.public_key];
        what.extend(messages.iter().map(|(message, _)| message.as_slice()));
        let id = name(KEYSIGN, &request.tss_version, request.block_height, &nodes, &what);
        Ok(Keysign { asked: Asked { id, nodes, needed }, key, messages })
    }

    pub(super) async fn run(self, api: &Api, caller: &Caller) -> Result<KeysignAnswer, Failure> {
        let gotss = config(&api.shared)?;
        api.check_confirmed(self.key.id).await?;
        let (key, digests): (_, Vec<_>) =
            (self.key.id, self.messages.iter().map(|(_, digest)| *digest).collect());
        api.agree(caller, key, &digests).await?;
        let checks = |outcome: &Outcome| {
            let Outcome::Signed(signatures) = outcome else { return false };
            let verifies = |(digest, signature): (_, &minicbor::bytes::ByteVec)| {
                api.shared.engine.verifies(&self.key.public_key, digest, signature)
            };
            signatures.len() == digests.len() && digests.iter().zip(signatures).all(verifies)
        };
        let hold = |candidates: Vec<PeerId>| {
            let (api, digests) = (api.clone(), digests.clone());
            async move {
                match sign(&api, key, digests, candidates).await {
                    Ok(all) => Outcome::Signed(all.into_iter().map(Into::into).collect()),
                    Err(refusal) => Outcome::Failed(failed(refusal)),
                }
            }
        };
        let (party, result) = (gotss.party(), gotss.result());
        Ok(match api.shared.meet(&self.asked, party, result, checks, hold).await {
            Ok(Outcome::Signed(signatures)) => {
                let pairs = self.messages.iter().zip(&signatures);
                let signatures = pairs.map(|((m, _), signature)| Signature::new(m, signature));
                KeysignAnswer {
                    signatures: Some(signatures.collect()),
                    status: Status::SUCCESS,
                    blame: Blame::default(),
                }
            }
            Ok(_) => return Err(crate::Error::Stopping.into()),
            Err(failed) => KeysignAnswer {
                signatures: None,
                status: Status::FAIL,
                blame: blame(&api.shared, gotss, &failed),
            },
        })
    }
}

/// Signs all digests, as many at a time as this node may hold ceremonies.
async fn sign(
    api: &Api,
    key: KeyId,
    digests: Vec<[u8; 32]>,
    candidates: Vec<PeerId>,
) -> Result<Vec<Vec<u8>>, Refusal> {
    let at_once = api.shared.config.limits.ceremonies_per_peer;
    let mut signatures = vec![Vec::new(); digests.len()];
    let mut running = JoinSet::new();
    let mut left = digests.into_iter().enumerate();
    loop {
        while running.len() < at_once
            && let Some((index, digest)) = left.next()
        {
            let (api, candidates) = (api.clone(), Some(candidates.clone()));
            let request = Request::Sign { key, digest, candidates };
            running.spawn(async move { (index, api.hold(request).await) });
        }
        let Some(ended) = running.join_next().await else { return Ok(signatures) };
        let (index, end) = ended.map_err(|_| Refusal::Internal(crate::Error::Stopping))?;
        let signature = end?.result.and_then(|result| hex::decode(result).ok());
        signatures[index] = signature.unwrap_or_default();
    }
}

/// What the others are told of a refusal.
fn failed(refusal: Refusal) -> Failed {
    match refusal {
        Refusal::Invalid(reason) | Refusal::Busy(reason) | Refusal::Denied(reason) => {
            Failed { reason, blamed: Vec::new() }
        }
        Refusal::Internal(error) => Failed { reason: error.to_string(), blamed: Vec::new() },
        Refusal::Failed(failed) => of_record(&failed.record),
    }
}

fn of_record(record: &CeremonyRecord) -> Failed {
    let blamed = record.blames.iter().filter_map(|blame| {
        let peer: PeerId = blame.peer.parse().ok()?;
        Some(Blamed {
            peer: peer.to_bytes().into(),
            round: blame.round,
            fault: blame.fault.clone(),
            absent: blame.evidence == Basis::Absence,
        })
    });
    Failed { reason: record.reason.clone().unwrap_or_default(), blamed: blamed.collect() }
}

fn blame(shared: &Shared, gotss: &GoTss, failed: &Failed) -> Blame {
    tracing::info!(event = "request_failed", reason = failed.reason);
    Blame::new(failed, |blamed| match peer(&blamed.peer) {
        Ok(id) => types::party_key(gotss, &shared.name(&id), &id),
        Err(_) => String::new(),
    })
}
