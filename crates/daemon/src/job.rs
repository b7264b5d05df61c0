//! A challenge: what is asked, where it stands, and its folder.

use crate::error::{Error, Outcome};
use crate::files;
use crate::request::{Kind, Task};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tetralith_vdf::{Checkpoint, Modulus, Options, Prover, Residue, parse_hex};

/// A challenge that was taken: numbers, not text.
#[derive(Clone, Debug)]
pub(crate) struct Challenge {
    pub(crate) id: String,
    pub(crate) modulus: Modulus,
    pub(crate) x: Residue,
    pub(crate) iterations: u64,
    pub(crate) proof: Kind,
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
    pub(crate) fn from_request(value: Value, most: u64) -> Outcome<(Self, bool)> {
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
        let digits = || hex::encode(self.modulus.to_bytes());
        self.modulus.preset().map_or_else(digits, str::to_owned)
    }

    /// Makes the challenge's folder.
    pub(crate) fn store(&self, jobs: &Path, sequence: u64) -> Outcome {
        let folder = jobs.join(&self.id);
        std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, &error))?;
        let stored = Stored {
            sequence,
            modulus: hex::encode(self.modulus.to_bytes()),
            x: self.x.to_string(),
            iterations: self.iterations,
            proof: self.proof,
        };
        let text = serde_json::to_vec(&stored).unwrap_or_default();
        files::write(&folder.join(REQUEST), &text)
    }

    /// Reads a challenge from its folder, and its place in the order of arrival.
    pub(crate) fn load(folder: &Path) -> Outcome<(u64, Self)> {
        let path = folder.join(REQUEST);
        let text = files::read(&path, MAX_STORED)?;
        let damaged = |error: &dyn std::fmt::Display| {
            Error::usage("challenge.damaged", format!("{}: {error}", path.display()))
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
    pub(crate) fn kept(&self, jobs: &Path) -> PathBuf {
        jobs.join(&self.id).join(KEPT)
    }

    /// How many squarings the state of its run holds.
    pub(crate) fn saved(&self, jobs: &Path) -> u64 {
        let Challenge { modulus, x, iterations, .. } = self;
        let kept = self.kept(jobs);
        match self.proof.system() {
            None => {
                let found = Checkpoint::load(&kept).ok().flatten();
                let ours = |found: &Checkpoint| found.expect(modulus, x, *iterations).is_ok();
                found.map(|(checkpoint, _)| checkpoint).filter(ours).map_or(0, |c| c.done())
            }
            Some(system) => {
                let prover = Prover::new(system, modulus, x, *iterations, Options::default());
                prover.map_or(0, |prover| prover.kept(&kept))
            }
        }
    }

    /// Where damaged files of that state are set aside until the challenge is done.
    pub(crate) fn aside(&self, jobs: &Path) -> PathBuf {
        jobs.join(&self.id).join("damaged")
    }

    /// Sets aside what is kept of a run that could not be taken up, and says whether there was any.
    ///
    /// At first it is the file of the run alone and its copy, for the same run goes on from the others; if
    /// that did not help, or it is of `another` run, all.
    pub(crate) fn set_aside(&self, jobs: &Path, another: bool) -> Outcome<bool> {
        let (folder, aside) = (jobs.join(&self.id), self.aside(jobs));
        let failed = |error: std::io::Error| Error::file(&folder, &error);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let rest = name.to_str().and_then(|name| name.strip_prefix(KEPT));
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                names.push(name);
            }
        }
        let is_run = |name: &OsString| *name == "run.run" || *name == "run.run.copy";
        if !another && !aside.exists() && names.iter().any(is_run) {
            names.retain(is_run);
        }
        std::fs::create_dir_all(&aside).map_err(failed)?;
        for name in &names {
            let to = aside.join(name);
            if to.is_dir() {
                std::fs::remove_dir_all(&to).map_err(failed)?;
            }
            std::fs::rename(folder.join(name), to).map_err(failed)?;
        }
        Ok(!names.is_empty())
    }
}

/// The name of a run's state, with which those of its files begin.
const KEPT: &str = "run";

/// The file that makes a folder a challenge's.
pub(crate) const REQUEST: &str = "request.json";
const MAX_STORED: u64 = 1 << 16;

/// Where a challenge stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Status {
    Queued,
    Running { done: u64, per_second: f64 },
    Done { y: String, proof_bytes: u64, seconds: f64 },
    Failed { code: String, message: String, hint: Option<String> },
}

impl Status {
    pub(crate) fn failed(Error { code, message, hint, .. }: Error) -> Status {
        Status::Failed { code: code.into(), message, hint }
    }

    /// Whether nothing more will happen.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Status::Done { .. } | Status::Failed { .. })
    }
}

/// What clients are told about a challenge.
pub(crate) fn describe(challenge: &Challenge, status: &Status) -> Value {
    let mut value = json!({
        "ok": true, "id": challenge.id, "modulus": challenge.modulus_name(),
        "modulus_bits": challenge.modulus.bits(),
        "factorable": challenge.modulus.is_factorable(), "x": challenge.x.to_string(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_the_run_goes_first() {
        let jobs = tempfile::tempdir().expect("a folder");
        let asked = json!({ "modulus": "cfa92a1c6559dd55bb75027437309ad3", "x": "5", "t": 4 });
        let (challenge, _) = Challenge::from_request(asked, 1 << 20).expect("a challenge");
        challenge.store(jobs.path(), 0).expect("stored");
        let kept = challenge.kept(jobs.path());
        let all = ["", ".new", ".previous", ".run", ".run.copy", ".tape0"];
        let path = |suffix: &str| PathBuf::from(format!("{}{suffix}", kept.display()));
        let make = |suffix: &str| std::fs::write(path(suffix), "?").expect("written");
        let left = || all.iter().filter(|&suffix| path(suffix).exists()).copied();
        all.iter().for_each(|suffix| make(suffix));
        assert!(challenge.set_aside(jobs.path(), false).expect("moved"));
        assert_eq!(left().collect::<Vec<_>>(), ["", ".new", ".previous", ".tape0"]);
        // That did not help.
        [".run", ".run.copy"].into_iter().for_each(make);
        assert!(challenge.set_aside(jobs.path(), false).expect("moved"));
        assert_eq!(left().count(), 0);
        assert!(!challenge.set_aside(jobs.path(), false).expect("nothing to move"));
        assert!(challenge.aside(jobs.path()).join("run.tape0").exists());
        assert!(Challenge::load(&jobs.path().join(&challenge.id)).is_ok());
        // Of another run all goes at once, as does all where there is no file of a run.
        for (others, another) in [(&all[..], true), (&all[..3], false)] {
            std::fs::remove_dir_all(challenge.aside(jobs.path())).expect("removed");
            others.iter().for_each(|suffix| make(suffix));
            assert!(challenge.set_aside(jobs.path(), another).expect("moved"));
            assert_eq!(left().count(), 0);
        }
    }
}
