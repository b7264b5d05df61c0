//! The JSON of go-tss, with its names.

use crate::config::GoTss;
use crate::wire::{self, Failed};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// The body of `POST /keygen`. As in go-tss, unknown fields are ignored.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(in crate::api) struct KeygenRequest {
    pub(super) keys: Vec<String>,
    pub(super) block_height: i64,
    pub(super) tss_version: String,
    /// `ecdsa`, also if it is empty.
    pub(super) algo: String,
}

/// The answer to it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api) struct KeygenAnswer {
    pub(super) algo: &'static str,
    pub(super) pub_key: String,
    pub(super) pool_address: String,
    pub(super) status: Status,
    pub(super) blame: Blame,
}

/// The body of `POST /keysign`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(in crate::api) struct KeysignRequest {
    pub(super) pool_pub_key: String,
    pub(super) messages: Vec<String>,
    pub(super) signer_pub_keys: Vec<String>,
    pub(super) block_height: i64,
    pub(super) tss_version: String,
}

/// The answer to it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api) struct KeysignAnswer {
    pub(super) signatures: Option<Vec<Signature>>,
    pub(super) status: Status,
    pub(super) blame: Blame,
}

/// One signature, in base64.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api) struct Signature {
    pub(super) signed_msg: String,
    pub(super) r: String,
    pub(super) s: String,
    pub(super) recovery_id: String,
}

impl Signature {
    /// The signature of 65 bytes r, s, recovery number of a message.
    pub(super) fn new(message: &[u8], signature: &[u8]) -> Self {
        let part =
            |from: usize, to: usize| STANDARD.encode(signature.get(from..to).unwrap_or_default());
        Signature {
            signed_msg: STANDARD.encode(message),
            r: part(0, 32),
            s: part(32, 64),
            recovery_id: part(64, 65),
        }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::api) struct Status(u8);

impl Status {
    pub(super) const SUCCESS: Status = Status(1);
    pub(super) const FAIL: Status = Status(2);
}

/// Who is blamed.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::api) struct Blame {
    fail_reason: String,
    /// go-tss calls its field for "was unicast" so.
    is_broadcast: bool,
    round: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blame_peers: Vec<BlamedNode>,
}

/// A blamed node.
#[derive(Debug, Serialize, JsonSchema)]
struct BlamedNode {
    pubkey: String,
    /// In base64: what it is blamed for, in words.
    data: Option<String>,
}

/// What go-tss says where a node sent nothing in time, and where a check failed.
const TIMEOUT: &str = "Tss timeout";
const BROKEN: &str = "tss share verification failed";

impl Blame {
    /// Blames those of a failure; `key` finds the public key by which clients name a node.
    pub(super) fn new(failed: &Failed, key: impl Fn(&wire::Blamed) -> String) -> Self {
        let first = failed.blamed.first();
        let fail_reason = match first {
            _ if failed.reason.starts_with(crate::meeting::SYNC_FAIL) => {
                crate::meeting::SYNC_FAIL.to_owned()
            }
            Some(blamed) if blamed.absent => TIMEOUT.to_owned(),
            Some(_) => BROKEN.to_owned(),
            None => failed.reason.clone(),
        };
        let round = first.filter(|blamed| blamed.round > 0);
        let peers = failed.blamed.iter().map(|blamed| BlamedNode {
            pubkey: key(blamed),
            data: Some(STANDARD.encode(&blamed.fault)),
        });
        Blame {
            fail_reason,
            is_broadcast: false,
            round: round.map(|blamed| format!("round {}", blamed.round)).unwrap_or_default(),
            blame_peers: peers.collect(),
        }
    }
}

/// The answer to `GET /status`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::api) struct NodeStatus {
    pub(super) start_time: String,
    pub(super) successful_keygen: u64,
    pub(super) failed_keygen: u64,
    pub(super) successful_keysign: u64,
    pub(super) failed_keysign: u64,
    pub(super) current_keygen: String,
    pub(super) current_keysign: String,
}

/// Reads a message in base64: the digest that is signed, as an integer of at most 32 bytes.
///
/// go-tss cuts a longer one to its first 32 bytes, so that many messages have one signature; here it is
/// refused.
pub(super) fn digest(message: &str) -> Option<(Vec<u8>, [u8; 32])> {
    let bytes = STANDARD.decode(message).ok()?;
    if bytes.is_empty() || bytes.len() > 32 {
        return None;
    }
    let mut digest = [0; 32];
    digest[32 - bytes.len()..].copy_from_slice(&bytes);
    Some((bytes, digest))
}

/// The signers that go-tss wants of so many parties: two thirds, rounded up.
pub(super) fn threshold(parties: usize) -> usize {
    (2 * parties).div_ceil(3)
}

/// The name by which clients know a node: its public key, or its identity where it has none.
pub(super) fn party_key(gotss: &GoTss, name: &str, id: &libp2p::PeerId) -> String {
    gotss.parties.get(name).cloned().unwrap_or_else(|| id.to_string())
}

/// A time of the system's clock in UTC, as in RFC 3339.
pub(super) fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, second) = (since / 86_400, since % 86_400);
    // Years that begin in March put the leap day at their end.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + later;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_are_written_as_in_rfc_3339() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
        ];
        for (seconds, text) in cases {
            assert_eq!(rfc3339(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn thresholds_are_those_of_go_tss() {
        let pairs = [(2, 2), (3, 2), (4, 3), (5, 4), (6, 4), (9, 6), (30, 20)];
        pairs.iter().for_each(|(parties, signers)| assert_eq!(threshold(*parties), *signers));
    }

    #[test]
    fn messages_are_integers_of_at_most_32_bytes() {
        let mut expected = [0; 32];
        expected[31] = 7;
        assert_eq!(digest("Bw==").map(|read| read.1), Some(expected));
        assert!(digest(&STANDARD.encode([1; 32])).is_some());
        for wrong in ["", "x", &STANDARD.encode([1; 33])] {
            assert!(digest(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn failures_have_the_names_of_go_tss() {
        let blamed =
            |absent| wire::Blamed { peer: vec![].into(), round: 2, fault: "f".into(), absent };
        let failed = Failed { reason: "r".into(), blamed: vec![blamed(true)] };
        let json = serde_json::to_string(&Blame::new(&failed, |_| "key".into())).unwrap();
        assert_eq!(
            json,
            "{\"fail_reason\":\"Tss timeout\",\"is_broadcast\":false,\"round\":\"round 2\",\
             \"blame_peers\":[{\"pubkey\":\"key\",\"data\":\"Zg==\"}]}"
        );
        let failed = Failed { reason: "r".into(), blamed: vec![blamed(false)] };
        assert_eq!(Blame::new(&failed, |_| String::new()).fail_reason, BROKEN);
        let json = serde_json::to_string(&Blame::default()).unwrap();
        assert_eq!(json, "{\"fail_reason\":\"\",\"is_broadcast\":false,\"round\":\"\"}");
    }
}
