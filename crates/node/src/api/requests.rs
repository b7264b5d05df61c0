//! What the API is asked: bodies decoded strictly, nodes by name or identity, digests named as such.

use super::answers::Failure;
use crate::ceremony::{self, Request, Shared};
use crate::identity::sorted;
use crate::shares::{Key, KeyId};
use crate::types::{KeygenRequest, ReshareRequest, SignRequest};
use libp2p::PeerId;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Reads the request for a new key; without `parties` all configured nodes take part.
pub(super) fn keygen(shared: &Shared, body: &[u8]) -> Result<Request, Failure> {
    let KeygenRequest { threshold, parties } = json(body)?;
    let least = shared.config.policy.least_threshold;
    if (2..least).contains(&threshold) {
        let message = format!("threshold {threshold} is below policy.least_threshold ({least})");
        return Err(Failure::invalid("policy.threshold", message));
    }
    let parties = match parties {
        Some(names) => nodes(shared, &names)?,
        None => {
            let peers = shared.config.peers.iter().map(|peer| peer.id);
            peers.chain([shared.me()]).collect()
        }
    };
    Ok(Request::Keygen { threshold, parties })
}

/// Reads the request for a signature; without `signers` any of the key's parties take part.
pub(super) fn sign(shared: &Shared, body: &[u8]) -> Result<Request, Failure> {
    let request: SignRequest = json(body)?;
    let (key, digest) = what(shared, &request)?;
    let candidates = request.signers.map(|names| nodes(shared, &names)).transpose()?;
    let other = candidates.iter().flatten().find(|id| !key.parties.contains(id));
    if let Some(other) = other {
        let message = format!("{} has no share of the key", shared.name(other));
        return Err(Failure::invalid("request.signers", message));
    }
    Ok(Request::Sign { key: key.id, digest, candidates })
}

/// Reads the request for a new sharing; what is left out stays as it is.
pub(super) fn reshare(shared: &Shared, body: &[u8]) -> Result<Request, Failure> {
    let (key, threshold, parties) = sharing(shared, json(body)?)?;
    let least = shared.config.policy.least_threshold;
    if threshold < least && threshold != key.threshold {
        let message = format!("threshold {threshold} is below policy.least_threshold ({least})");
        return Err(Failure::invalid("policy.threshold", message));
    }
    Ok(Request::Reshare { key: key.id, threshold, parties })
}

fn sharing(
    shared: &Shared,
    request: ReshareRequest,
) -> Result<(Arc<Key>, u8, Vec<PeerId>), Failure> {
    let key = known_key(shared, &request.key)?;
    let threshold = request.threshold.unwrap_or(key.threshold);
    let parties = match request.parties {
        Some(names) => sorted(nodes(shared, &names)?),
        None => key.parties.clone(),
    };
    Ok((key, threshold, parties))
}

/// What is approved under a key.
pub(super) enum Approval {
    /// A signature of this digest.
    Digest([u8; 32]),
    /// The resharing of this name.
    Resharing([u8; 32]),
}

/// Reads the approval of a digest under a key, or of a new sharing.
pub(super) fn approval(shared: &Shared, body: &[u8]) -> Result<(KeyId, Approval), Failure> {
    let fields: serde_json::Value = json(body)?;
    if fields.get("threshold").or(fields.get("parties")).is_some() {
        let (key, threshold, parties) = sharing(shared, json(body)?)?;
        let name = ceremony::approval(&key.sharing(), threshold, &parties);
        return Ok((key.id, Approval::Resharing(name)));
    }
    let request: SignRequest = json(body)?;
    if request.signers.is_some() {
        return Err(Failure::invalid("request.malformed", "an approval names no signers"));
    }
    let (key, digest) = what(shared, &request)?;
    Ok((key.id, Approval::Digest(digest)))
}

/// The key that is named, by its 32 hex digits.
pub(super) fn known_key(shared: &Shared, id: &str) -> Result<Arc<Key>, Failure> {
    let id = KeyId::from_hex(id).ok_or_else(|| {
        Failure::invalid("key.malformed", "a key's name is 32 hex digits")
            .hint("GET /v1/keys lists them")
    })?;
    shared.shares.key(&id).ok_or_else(|| {
        let message = format!("this node has no share of key {id}");
        Failure::not_found("key.unknown", message).hint("GET /v1/keys lists the keys")
    })
}

/// Reads `limit=N` of a query, at most `most`, 50 if it is not there.
pub(super) fn limit(query: &str, most: u32) -> Result<u32, Failure> {
    if query.is_empty() {
        return Ok(50);
    }
    let value = query.strip_prefix("limit=").and_then(|value| value.parse().ok());
    let value = value.filter(|value| (1..=most).contains(value));
    value.ok_or_else(|| {
        Failure::invalid("request.query", format!("the query is limit=N with N from 1 to {most}"))
    })
}

/// The key and the digest of a request: given as such, or the SHA-256 of the given message.
fn what(shared: &Shared, request: &SignRequest) -> Result<(Arc<Key>, [u8; 32]), Failure> {
    let key = known_key(shared, &request.key)?;
    let malformed = |message: &str| Failure::invalid("request.digest", message);
    let digest = match (&request.message, &request.message_hex, &request.digest) {
        (Some(text), None, None) => Sha256::digest(text.as_bytes()).into(),
        (None, Some(hex), None) => {
            let bytes = hex::decode(hex).map_err(|_| malformed("message_hex is not hex"))?;
            Sha256::digest(bytes).into()
        }
        (None, None, Some(hex)) => {
            let bytes = hex::decode(hex).ok().and_then(|bytes| bytes.try_into().ok());
            bytes.ok_or_else(|| malformed("digest is not 64 hex digits"))?
        }
        _ => {
            let message = "exactly one of message, message_hex and digest is needed";
            return Err(malformed(message).hint("a message is hashed with SHA-256"));
        }
    };
    Ok((key, digest))
}

/// Nodes by name or identity.
fn nodes(shared: &Shared, names: &[String]) -> Result<Vec<PeerId>, Failure> {
    let config = &shared.config;
    let find = |name: &String| {
        let id: Option<PeerId> = name.parse().ok();
        if *name == config.name || id == Some(shared.me()) {
            return Ok(shared.me());
        }
        let peer = config.peers.iter().find(|peer| peer.name == *name || Some(peer.id) == id);
        peer.map(|peer| peer.id).ok_or_else(|| {
            Failure::invalid("request.party", format!("{name:?} is not a configured node"))
                .hint("GET /v1/status lists the peers")
        })
    };
    names.iter().map(find).collect()
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::invalid("request.malformed", error))
}
