//! TSS: four node processes make a key, sign, lose one of them, and sign again.

use super::Demo;
use crate::failure::{Exit, Failure, Outcome};
use crate::tss::Client;
use k256::ecdsa::signature::hazmat::PrehashVerifier;
use k256::ecdsa::{Signature, VerifyingKey};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const NODES: usize = 4;
/// The node that is killed after it has signed.
const KILLED: usize = 3;
const MESSAGE: &[u8] = b"four nodes, one key that none of them holds\n";
/// How long the nodes have to find each other.
const START: Duration = Duration::from_secs(30);

/// Running nodes, killed with this value.
struct Nodes(Vec<Child>);

impl Drop for Nodes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // What has ended cannot be killed again.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(super) fn run(demo: &mut Demo) -> Outcome {
    let failed = |error: std::io::Error| Failure::new(Exit::Environment, "demo.start", error);
    let count = NODES.to_string();
    demo.succeeds(
        "Make four folders, each with an identity and its peers",
        &["cluster", "--nodes", &count, "--dir", "nodes", "--init-only"],
    )?;
    let mut nodes = Nodes(Vec::new());
    for i in 1..=NODES {
        let folder = format!("nodes/node-{i}");
        let mut process = demo.process(&["node", "run", &folder, "-q", "--threads", "2"]);
        let child = process.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(failed)?;
        nodes.0.push(child);
    }
    wait(demo, &(1..=NODES).collect::<Vec<_>>())?;
    let arguments = ["tss", "keygen", "--node", "nodes/node-1", "--threshold", "3"];
    let key = demo.succeeds("Make a key that any three of them can sign with", &arguments)?;
    demo.file("message.txt", MESSAGE)?;
    sign(demo, &key, 2, &["--signers", "node-1,node-2,node-3"])?;
    let killed = nodes.0[KILLED - 1].kill();
    nodes.0[KILLED - 1].wait().map_err(failed)?;
    let told = format!("node-{KILLED} is gone");
    let told = killed.map(|()| told).map_err(|error| error.to_string());
    demo.checks("Kill one node", "kill -9", told)?;
    sign(demo, &key, 1, &[])?;
    let arguments = ["tss", "ceremonies", "--node", "nodes/node-1"];
    demo.succeeds("Read the log of ceremonies", &arguments)?;
    Ok(())
}

/// Waits until these nodes have found each other.
fn wait(demo: &mut Demo, nodes: &[usize]) -> Outcome {
    let start = Instant::now();
    for i in nodes {
        let client = Client::of_folder(&demo.path(&format!("nodes/node-{i}")))?;
        client.wait_ready(start + START, &mut || Ok(()))?;
    }
    let told = format!("all ready after {:.2} s", start.elapsed().as_secs_f64());
    demo.checks("Start four processes, tetralith node run", "GET /readyz of each", Ok(told))
}

/// Signs by way of one node, and verifies with code that is not ours.
fn sign(demo: &mut Demo, key: &Value, by: usize, signers: &[&str]) -> Outcome {
    let name = key["key"].as_str().unwrap_or_default().to_owned();
    let folder = format!("nodes/node-{by}");
    let arguments = ["tss", "sign", "--node", &folder, "-k", &name, "message.txt"];
    let arguments = [&arguments[..], signers].concat();
    let signed = demo.succeeds(&format!("Ask node-{by} for a signature"), &arguments)?;
    let signers: Vec<&str> = signed["signers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|signer| signer["name"].as_str())
        .collect();
    let told = format!("valid for the group's key; signed by {}", signers.join(", "));
    demo.checks(
        "Verify the signature with k256's ecdsa",
        "VerifyingKey::verify_prehash of SHA-256(message)",
        verify(key, &signed).map(|()| told),
    )
}

/// Verifies a signature of the message under the group's key with k256.
fn verify(key: &Value, signed: &Value) -> Result<(), String> {
    let bytes = |value: &Value| hex::decode(value.as_str().unwrap_or_default()).ok();
    let public = bytes(&key["public_key"]).ok_or("the public key is not hex")?;
    let signature = bytes(&signed["signature"]).ok_or("the signature is not hex")?;
    let public = VerifyingKey::from_sec1_bytes(&public).map_err(|error| error.to_string())?;
    let signature = signature.get(..64).ok_or("the signature is too short")?;
    let signature = Signature::from_slice(signature).map_err(|error| error.to_string())?;
    let digest = Sha256::digest(MESSAGE);
    public.verify_prehash(&digest, &signature).map_err(|error| error.to_string())
}
