//! A challenge: what is asked, where it stands, and its folder.

use super::request::{Kind, Task};
use crate::failure::{Failure, Outcome};
use crate::io::{self, Access};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use tetralith_vdf::{Modulus, Residue, parse_hex};

/// A challenge that was taken: numbers, not text.
#[derive(Clone, Debug)]
pub(super) struct Challenge {
    pub(super) id: String,
    pub(super) modulus: Modulus,
    pub(super) x: Residue,
    pub(super) iterations: u64,
    pub(super) proof: Kind,
}

/// A challenge as it lies in its folder.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    sequence: u64,
    modulus: String,
    x: String,
    iterations: u64,
    proof: Kind,
}

impl Challenge {
    /// Reads a request, and says whether its x was not below N.
    pub(super) fn from_request(value: Value, most: u64) -> Outcome<(Self, bool)> {
        let Task { modulus, x, reduced, iterations, proof } = Task::parse(value, most)?;
        Ok((Self::new(modulus, x, iterations, proof), reduced))
    }

    fn new(modulus: Modulus, x: Residue, iterations: u64, proof: Kind) -> Self {
        let mut hash = Sha256::new_with_prefix(b"tetralith vdf challenge v1");
        for field in [&modulus.to_bytes()[..], &x.to_bytes(), &iterations.to_be_bytes()] {
            hash.update((field.len() as u64).to_be_bytes());
            hash.update(field);
        }
        hash.update([proof as u8]);
        let id = hex::encode(&hash.finalize()[..16]);
        Self { id, modulus, x, iterations, proof }
    }

    /// The preset's name, or the digits of another modulus: what a request says.
    fn modulus_name(&self) -> String {
        let preset = |name: &&str| Modulus::parse(name).is_ok_and(|preset| preset == self.modulus);
        match ["rsa2048", "lcs35"].iter().find(|&name| preset(name)) {
            Some(name) => (*name).to_owned(),
            None => hex::encode(self.modulus.to_bytes()),
        }
    }

    /// Makes the challenge's folder.
    pub(super) fn store(&self, jobs: &Path, sequence: u64) -> Outcome {
        let folder = jobs.join(&self.id);
        std::fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, &error))?;
        let stored = Stored {
            sequence,
            modulus: hex::encode(self.modulus.to_bytes()),
            x: self.x.to_string(),
            iterations: self.iterations,
            proof: self.proof,
        };
        let text = serde_json::to_vec(&stored).unwrap_or_default();
        io::write(&folder.join(REQUEST), &text, Access::Public, true)
    }

    /// Reads a challenge from its folder, and its place in the order of arrival.
    pub(super) fn load(folder: &Path) -> Outcome<(u64, Self)> {
        let path = folder.join(REQUEST);
        let text = io::read(&path, MAX_STORED)?;
        let damaged = |error: &dyn std::fmt::Display| {
            Failure::usage("challenge.damaged", format!("{}: {error}", path.display()))
        };
        let stored: Stored = serde_json::from_slice(&text).map_err(|error| damaged(&error))?;
        let modulus = Modulus::parse(&stored.modulus)?;
        let (x, _) = modulus.reduce(&parse_hex(&stored.x, "x")?);
        let challenge = Self::new(modulus, x, stored.iterations, stored.proof);
        if folder.file_name().is_none_or(|name| name != challenge.id.as_str()) {
            return Err(damaged(&"it is of another challenge"));
        }
        Ok((stored.sequence, challenge))
    }

    /// Where the state of its run is kept.
    pub(super) fn kept(&self, jobs: &Path) -> PathBuf {
        jobs.join(&self.id).join("run")
    }
}

/// The file that makes a folder a challenge's.
pub(super) const REQUEST: &str = "request.json";
const MAX_STORED: u64 = 1 << 16;

/// Where a challenge stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Status {
    Queued,
    Running { done: u64, per_second: f64 },
    Done { y: String, proof_bytes: u64, seconds: f64 },
    Failed { code: String, message: String, hint: Option<String> },
}

impl Status {
    pub(super) fn failed(Failure { code, message, hint, .. }: Failure) -> Status {
        Status::Failed { code: code.into(), message, hint }
    }

    /// Whether nothing more will happen.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Status::Done { .. } | Status::Failed { .. })
    }
}

/// What clients are told about a challenge.
pub(super) fn describe(challenge: &Challenge, status: &Status) -> Value {
    let mut value = json!({
        "ok": true, "id": challenge.id, "modulus": challenge.modulus_name(),
        "bits": challenge.modulus.bits(), "x": challenge.x.to_string(),
        "iterations": challenge.iterations, "proof": challenge.proof,
    });
    let more = match status {
        Status::Queued => json!({ "state": "queued" }),
        Status::Running { done, per_second } => {
            let left = challenge.iterations.saturating_sub(*done) as f64 / per_second.max(1e-9);
            let left = if *per_second > 0.0 { json!(left.round()) } else { Value::Null };
            json!({
                "state": "running", "done": done, "per_second": per_second.round(), "left_s": left,
            })
        }
        Status::Done { y, proof_bytes, seconds } => {
            json!({ "state": "done", "y": y, "proof_bytes": proof_bytes, "seconds": seconds })
        }
        Status::Failed { code, message, hint } => {
            json!({ "state": "failed", "code": code, "message": message, "hint": hint })
        }
    };
    if let (Value::Object(all), Value::Object(more)) = (&mut value, more) {
        all.extend(more);
    }
    value
}
