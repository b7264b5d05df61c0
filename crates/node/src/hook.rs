//! The approval hook: a program or a server of the operator's that allows or denies each ceremony.
//!
//! It is asked after all of the node's own checks, with what is to be made, and whatever goes wrong with
//! it denies: no answer, a late one, or one that cannot be read.

use crate::ceremony::{Proposed, Request, Shared};
use crate::config::Hook;
use crate::shares::KeyId;
use crate::wire::Job;
use libp2p::PeerId;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{Read, Seek, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest answer that is read, in bytes.
const MAX_ANSWER: u64 = 64 << 10;

/// The answer of a server.
#[derive(Deserialize)]
struct Answer {
    allow: bool,
    #[serde(default)]
    reason: String,
}

impl Shared {
    /// Why the hook denies what this node's own API is asked for, if it does. Blocks.
    pub(crate) fn hook_denies(&self, request: &Request) -> Option<String> {
        let hook = self.config.clients.hook.as_ref()?;
        let fields = match request {
            Request::Keygen { threshold, parties } => {
                json!({ "kind": "keygen", "threshold": threshold, "parties": self.names(parties) })
            }
            Request::Sign { key, digest, .. } => self.signature(key, digest),
            Request::Reshare { key, threshold, parties } => {
                self.resharing(key, *threshold, parties)
            }
        };
        self.denied(hook, fields, self.me())
    }

    /// Why the hook denies a peer's proposal, if it does. Blocks.
    pub(crate) fn hook_refuses(&self, proposed: &Proposed) -> Option<String> {
        let hook = self.config.clients.hook.as_ref()?;
        let mut fields = match (&proposed.job, &proposed.resharing) {
            (Job::Keygen { threshold }, _) => {
                let parties = self.names(&proposed.candidates);
                json!({ "kind": "keygen", "threshold": threshold, "parties": parties })
            }
            (Job::Sign { key, digest, .. }, _) => {
                self.signature(&KeyId((*key).into()), &(*digest).into())
            }
            (Job::Reshare(_), Some(plan)) => {
                self.resharing(&plan.from.key, plan.threshold.t(), &plan.parties)
            }
            (Job::Reshare(_), None) => return Some("a resharing without a plan".into()),
        };
        fields["ceremony"] = json!(proposed.id.to_string());
        self.denied(hook, fields, proposed.proposer)
    }

    fn denied(&self, hook: &Hook, mut payload: Value, proposer: PeerId) -> Option<String> {
        payload["version"] = json!(1);
        payload["node"] = json!(self.config.name);
        payload["proposer"] = json!({ "name": self.name(&proposer), "id": proposer.to_string() });
        let reason = ask(hook, &payload).err()?;
        tracing::warn!(event = "hook_denied", kind = %payload["kind"], reason);
        Some(format!("the approval hook of {} denies it: {reason}", self.config.name))
    }

    fn signature(&self, key: &KeyId, digest: &[u8; 32]) -> Value {
        let public = self.shares.key(key).map(|key| hex::encode(&key.public_key));
        let digest = hex::encode(digest);
        json!({ "kind": "sign", "key": key, "public_key": public, "digest": digest })
    }

    fn resharing(&self, key: &KeyId, threshold: u8, parties: &[PeerId]) -> Value {
        let public = self.shares.key(key).map(|key| hex::encode(&key.public_key));
        let parties = self.names(parties);
        json!({ "kind": "reshare", "key": key, "public_key": public, "threshold": threshold,
            "parties": parties })
    }

    fn names(&self, ids: &[PeerId]) -> Vec<String> {
        ids.iter().map(|id| self.name(id)).collect()
    }
}

/// Asks the hook; an error is why it denies.
fn ask(hook: &Hook, payload: &Value) -> Result<(), String> {
    let time = Duration::from_millis(hook.timeout_ms);
    match (&hook.url, hook.command.split_first()) {
        (Some(url), _) => ask_server(url, payload, time),
        (None, Some((program, arguments))) => run(program, arguments, payload, time),
        (None, None) => Err("neither url nor command is set".into()),
    }
}

fn ask_server(url: &str, payload: &Value, time: Duration) -> Result<(), String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(time))
        .max_redirects(0)
        .proxy(None)
        .build()
        .into();
    let answer = agent.post(url).send_json(payload).map_err(|error| format!("{url}: {error}"))?;
    let mut body = answer.into_body();
    let body = body.with_config().limit(MAX_ANSWER).read_to_vec();
    let body = body.map_err(|error| format!("{url}: {error}"))?;
    let answer: Answer =
        serde_json::from_slice(&body).map_err(|error| format!("{url}: {error}"))?;
    if answer.allow { Ok(()) } else { Err(first_line(&answer.reason)) }
}

/// Runs a program with the payload on its standard input: status 0 allows.
fn run(program: &str, arguments: &[String], payload: &Value, time: Duration) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{program}: {error}");
    let until = Instant::now() + time;
    // Not a pipe: a child of the program could hold that open for long.
    let mut output = tempfile::tempfile().map_err(failed)?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(output.try_clone().map_err(failed)?)
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read it decides all the same; a pipe holds more than a payload.
        let _ = writeln!(input, "{payload}");
    }
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if Instant::now() >= until => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{program}: no answer within {} ms", time.as_millis()));
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    if status.success() {
        return Ok(());
    }
    let mut said = [0; 1024];
    let read = output.rewind().and_then(|()| output.read(&mut said)).unwrap_or(0);
    let said = String::from_utf8_lossy(&said[..read]);
    let line = first_line(&said);
    Err(if line.is_empty() { format!("{program}: {status}") } else { line })
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    line.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(command: &[&str], timeout_ms: u64) -> Hook {
        let command = command.iter().map(|part| (*part).to_owned()).collect();
        Hook { url: None, command, timeout_ms }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_decides_and_everything_wrong_denies() {
        let payload = json!({ "digest": "aa" });
        let sh = |script: &str| ask(&hook(&["sh", "-c", script], 2_000), &payload);
        assert_eq!(sh("grep -q '\"digest\":\"aa\"'"), Ok(()));
        assert_eq!(sh("echo too much; exit 1"), Err("too much".into()));
        assert!(sh("exit 3").unwrap_err().contains('3'));
        let begun = Instant::now();
        let late = ask(&hook(&["sleep", "20"], 50), &payload).unwrap_err();
        assert!(
            late.contains("no answer within 50 ms") && begun.elapsed().as_secs() < 10,
            "{late}"
        );
        assert!(ask(&hook(&["/nowhere/policy"], 1_000), &payload).is_err());
        assert!(ask(&hook(&[], 1_000), &payload).is_err());
    }

    #[test]
    fn a_server_that_does_not_answer_denies() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Some(format!("http://{}/", listener.local_addr().unwrap()));
        let silent = Hook { url, command: Vec::new(), timeout_ms: 50 };
        assert!(ask(&silent, &json!({})).is_err());
    }
}
