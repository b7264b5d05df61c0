//! The JSON of the API, as the server, its clients and the OpenAPI document know it.
//!
//! Requests are decoded strictly: an unknown field is refused.

use crate::log::{Basis, ReceiptRecord, State};
use crate::proof::Proof;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Asks for a new key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeygenRequest {
    /// How many nodes sign.
    pub threshold: u8,
    /// The nodes that get a share, by name or identity; without it all configured nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parties: Option<Vec<String>>,
}

/// Asks for a signature: exactly one of `message`, `message_hex` and `digest` is given. A message is
/// hashed with SHA-256.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignRequest {
    /// The key's name, 32 hex digits.
    pub key: String,
    /// A message as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A message as hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_hex: Option<String>,
    /// The digest itself, 64 hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The nodes that may sign, by name or identity; without it all that have a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signers: Option<Vec<String>>,
}

/// Asks for a new sharing of a key: without `threshold` and `parties` a refresh.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReshareRequest {
    /// The key's name, 32 hex digits.
    pub key: String,
    /// How many nodes sign from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<u8>,
    /// The nodes that have a share from then on, by name or identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parties: Option<Vec<String>>,
}

/// Approves a signature, or a resharing if it has `threshold` or `parties`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ApprovalRequest {
    /// A signature; `signers` is refused.
    Signature(SignRequest),
    /// One resharing.
    Resharing(ReshareRequest),
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Party {
    /// What people call it.
    pub name: String,
    /// Its identity.
    pub id: String,
}

/// A key of which the node has a share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyInfo {
    /// True; not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// Its name, 32 hex digits.
    pub key: String,
    /// The signature scheme, such as `dkls23-secp256k1`.
    pub scheme: String,
    /// In hex: a compressed point.
    pub public_key: String,
    /// How many nodes sign.
    pub threshold: u8,
    /// The nodes that have a share.
    pub parties: Vec<Party>,
    /// Every party has said that its share is stored.
    pub confirmed: bool,
    /// The number of the sharing in use.
    pub sharing: u64,
    /// Sharings that not all parties are known to have stored.
    pub unsettled_sharings: Vec<u64>,
    /// The ceremony that made it, where the answer is to a request for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceremony: Option<String>,
}

/// The keys of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyList {
    /// True.
    pub ok: bool,
    /// All of them.
    pub keys: Vec<KeyInfo>,
}

/// A key from which this node has gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftKey {
    /// True.
    pub ok: bool,
    /// Its name.
    pub key: String,
    /// In hex.
    pub public_key: Option<String>,
    /// True: this node has no share any more.
    pub left: bool,
    /// The ceremony that shared it among others.
    pub ceremony: String,
}

/// What a resharing ended with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Reshared {
    /// The key with its new sharing.
    Key(KeyInfo),
    /// This node has left.
    Left(LeftKey),
}

/// A signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    /// True.
    pub ok: bool,
    /// The key's name.
    pub key: String,
    /// What is signed, in hex.
    pub digest: String,
    /// r, s and the recovery number, 65 bytes in hex.
    pub signature: String,
    /// Who signed.
    pub signers: Vec<Party>,
    /// The ceremony's name.
    pub ceremony: String,
}

/// What is approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Approved {
    /// True.
    pub ok: bool,
    /// The key's name.
    pub key: String,
    /// The digest, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The resharing's name, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resharing: Option<String>,
}

/// A share that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deleted {
    /// True.
    pub ok: bool,
    /// The key's name.
    pub key: String,
}

/// A ceremony in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CeremonyInfo {
    /// True; not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    /// Its name, in hex.
    pub id: String,
    /// `keygen`, `sign` or `reshare`.
    pub kind: String,
    /// The key that it makes or uses.
    pub key: Option<String>,
    /// What is signed, in hex.
    pub digest: Option<String>,
    /// Who proposed it.
    pub proposer: Party,
    /// Who took part; before the start, who was asked.
    pub participants: Vec<Party>,
    /// How it stands.
    pub state: State,
    /// Milliseconds since 1970.
    pub started_ms: u64,
    /// Milliseconds since 1970.
    pub ended_ms: Option<u64>,
    /// The public key or the signature, in hex.
    pub result: Option<String>,
    /// Why it ended without a result.
    pub reason: Option<String>,
    /// Who is blamed.
    pub blames: Vec<BlameInfo>,
}

/// One blame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlameInfo {
    /// The blamed node.
    pub peer: Party,
    /// The round in which it failed; 0 is the joining.
    pub round: u8,
    /// What it failed.
    pub fault: String,
    /// What the blame rests on.
    pub evidence: Basis,
    /// Who says so.
    pub reporter: Party,
    /// Signed statements of the blamed node.
    pub receipts: Vec<ReceiptRecord>,
    /// What convinces anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub proof: Option<Proof>,
}

/// The latest ceremonies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CeremonyList {
    /// True.
    pub ok: bool,
    /// The newest first.
    pub ceremonies: Vec<CeremonyInfo>,
}

/// A peer of the node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerInfo {
    /// What people call it.
    pub name: String,
    /// Its identity.
    pub id: String,
    /// Where it listens.
    pub address: String,
    /// A connection to it is open.
    pub connected: bool,
    /// Messages of it that were dropped.
    pub dropped_messages: u64,
    /// The last measured round trip.
    pub round_trip_ms: Option<f64>,
}

/// A share file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DamagedShare {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub reason: String,
}

/// The node and its peers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusInfo {
    /// True.
    pub ok: bool,
    /// What people call the node.
    pub name: String,
    /// Its identity.
    pub id: String,
    /// The program's version.
    pub version: String,
    /// The signature scheme.
    pub scheme: String,
    /// Seconds since its start.
    pub uptime_s: u64,
    /// Keys of which it has a share.
    pub keys: u64,
    /// Ceremonies that run.
    pub ceremonies_running: u64,
    /// Ceremonies that wait.
    pub ceremonies_waiting: u64,
    /// Share files that cannot be read.
    pub damaged_shares: Vec<DamagedShare>,
    /// Keys whose share is not there.
    pub lost_shares: Vec<String>,
    /// All configured nodes.
    pub peers: Vec<PeerInfo>,
}

/// It runs, or is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fine {
    /// True.
    pub ok: bool,
}

/// What every request gets that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureInfo {
    /// False.
    pub ok: bool,
    /// A stable code, such as `api.token`.
    pub code: String,
    /// What failed.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The ceremony that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceremony: Option<CeremonyInfo>,
}
