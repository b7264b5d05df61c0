//! `node.toml`: what an operator decides about a node.
//!
//! Decoding is strict: an unknown field is refused, and every error names its field by its path.
//! Nothing in the file is secret; the identity and the API token are files of their own.

mod clients;
mod policy;

use crate::error::Error;
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Duration;

pub use clients::{Clients, GoTss, Hook, Tls};
pub use policy::{KeygenPolicy, Policy, SignPolicy};

/// A checked configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What people call the node, in logs and answers.
    pub name: String,
    /// Where peers connect, such as `/ip4/0.0.0.0/tcp/7100`.
    pub listen: Multiaddr,
    /// Where the HTTP API listens; beyond loopback only with TLS.
    pub api: SocketAddr,
    /// Names by which requests may address the API besides its own address, such as a proxy's.
    pub api_hosts: Vec<String>,
    /// How long the phases of a ceremony may take.
    pub timeouts: Timeouts,
    /// What the node holds at most.
    pub limits: Limits,
    /// What this node agrees to when others propose it.
    pub policy: Policy,
    /// How clients reach the API.
    pub clients: Clients,
    /// The only nodes that are talked to.
    pub peers: Vec<Peer>,
}

/// Another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What people call it.
    pub name: String,
    /// Its identity: the hash of its public key, which the connection's handshake proves.
    pub id: PeerId,
    /// Where it listens.
    pub address: Multiaddr,
}

/// How long the phases of a ceremony may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timeouts {
    /// Milliseconds for all participants to answer a proposal.
    pub join_ms: u64,
    /// Milliseconds for each round, from a node's own messages to the last one that it needs.
    pub round_ms: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts { join_ms: 3_000, round_ms: 15_000 }
    }
}

impl Timeouts {
    /// The time for all participants to answer a proposal.
    #[must_use]
    pub fn join(&self) -> Duration {
        Duration::from_millis(self.join_ms)
    }

    /// The time for each round.
    #[must_use]
    pub fn round(&self) -> Duration {
        Duration::from_millis(self.round_ms)
    }
}

/// What the node holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of one message between nodes.
    pub message_bytes: usize,
    /// Ceremonies that run at the same time.
    pub ceremonies: usize,
    /// Those of them that one peer has proposed, or this node's API was asked for.
    pub ceremonies_per_peer: usize,
    /// New keys that one peer may propose within an hour.
    pub keygens_per_hour: usize,
    /// Connections of API clients at the same time.
    pub http_connections: usize,
    /// Requests of API clients that wait for a ceremony; further ones are told to come back later.
    pub queue: usize,
    /// Milliseconds that a request waits at most until its ceremony begins.
    pub queue_ms: u64,
    /// Messages that one peer may send within a second; further ones are answered with "busy".
    pub messages_per_second: usize,
    /// Proposals that one peer may send within a second; further ones are dropped.
    pub proposals_per_second: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message_bytes: 128 << 10,
            ceremonies: 64,
            ceremonies_per_peer: 8,
            keygens_per_hour: 30,
            http_connections: 256,
            queue: 128,
            queue_ms: 30_000,
            messages_per_second: 2_000,
            proposals_per_second: 200,
        }
    }
}

/// The file's own shape: what is parsed by hand stays text until its field can be named.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: String,
    listen: String,
    api: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    api_hosts: Vec<String>,
    #[serde(default)]
    timeouts: Timeouts,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    policy: Policy,
    #[serde(default, skip_serializing_if = "is_default")]
    clients: Clients,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    peers: Vec<PeerText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerText {
    name: String,
    id: String,
    address: String,
}

fn is_default(clients: &Clients) -> bool {
    *clients == Clients::default()
}

impl Config {
    /// Reads the text of `node.toml`.
    ///
    /// # Errors
    /// The text is not TOML, a field is unknown or missing, or a value cannot be used; the error
    /// names the field.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        let text: Text = toml::from_str(text).map_err(|error| Error::Config {
            field: "node.toml".into(),
            reason: error.to_string().trim_end().to_owned(),
        })?;
        let api = text.api.parse().map_err(|error| {
            Error::config("api", format!("{:?}: {error}, expected IP:PORT", text.api))
        })?;
        let peers = text.peers.into_iter().enumerate().map(|(index, peer)| peer.check(index));
        let config = Config {
            listen: tcp_address("listen", &text.listen)?,
            api,
            peers: peers.collect::<Result<_, _>>()?,
            name: text.name,
            api_hosts: text.api_hosts,
            timeouts: text.timeouts,
            limits: text.limits,
            policy: text.policy,
            clients: text.clients,
        };
        config.check()?;
        Ok(config)
    }

    /// Writes the text of `node.toml`.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let peers = self.peers.iter().map(|peer| PeerText {
            name: peer.name.clone(),
            id: peer.id.to_string(),
            address: peer.address.to_string(),
        });
        let text = Text {
            name: self.name.clone(),
            listen: self.listen.to_string(),
            api: self.api.to_string(),
            api_hosts: self.api_hosts.clone(),
            timeouts: self.timeouts,
            limits: self.limits,
            policy: self.policy.clone(),
            clients: self.clients.clone(),
            peers: peers.collect(),
        };
        toml::to_string(&text).expect("strings, numbers and tables become TOML")
    }

    /// The name of a peer, or its identity where it is not configured.
    #[must_use]
    pub fn peer_name(&self, id: &PeerId) -> String {
        let peer = self.peers.iter().find(|peer| peer.id == *id);
        peer.map_or_else(|| id.to_string(), |peer| peer.name.clone())
    }

    fn check(&self) -> Result<(), Error> {
        check_name("name", &self.name)?;
        self.clients.check(&self.name, &self.peers, self.api.ip())?;
        in_range("timeouts.join_ms", self.timeouts.join_ms, 10, 600_000)?;
        in_range("timeouts.round_ms", self.timeouts.round_ms, 10, 3_600_000)?;
        in_range("limits.message_bytes", self.limits.message_bytes as u64, 1 << 10, 64 << 20)?;
        let limits = &self.limits;
        in_range("limits.ceremonies", limits.ceremonies as u64, 1, 1_000)?;
        in_range("limits.ceremonies_per_peer", limits.ceremonies_per_peer as u64, 1, 1_000)?;
        in_range("limits.keygens_per_hour", limits.keygens_per_hour as u64, 0, 10_000)?;
        in_range("limits.http_connections", limits.http_connections as u64, 1, 100_000)?;
        in_range("limits.queue", limits.queue as u64, 1, 100_000)?;
        in_range("limits.queue_ms", limits.queue_ms, 10, 3_600_000)?;
        in_range("policy.least_threshold", self.policy.least_threshold.into(), 2, 255)?;
        let per_second = [
            ("limits.messages_per_second", limits.messages_per_second),
            ("limits.proposals_per_second", limits.proposals_per_second),
        ];
        for (field, value) in per_second {
            in_range(field, value as u64, 1, 1_000_000)?;
        }
        if self.peers.len() > MAX_PEERS {
            let reason = format!("{} peers, at most {MAX_PEERS}", self.peers.len());
            return Err(Error::config("peers", reason));
        }
        if let KeygenPolicy::Only(names) = &self.policy.keygen {
            let known = |name: &&String| self.peers.iter().any(|peer| peer.name == **name);
            if let Some(stranger) = names.iter().find(|name| !known(name)) {
                let reason = format!("{stranger:?} is not the name of a peer");
                return Err(Error::config("policy.keygen", reason));
            }
        }
        for (index, peer) in self.peers.iter().enumerate() {
            let before = &self.peers[..index];
            if before.iter().any(|other| other.id == peer.id) {
                return Err(Error::config(format!("peers[{index}].id"), "is listed twice"));
            }
            if peer.name == self.name || before.iter().any(|other| other.name == peer.name) {
                let reason = format!("{:?} is the name of two nodes", peer.name);
                return Err(Error::config(format!("peers[{index}].name"), reason));
            }
        }
        Ok(())
    }
}

/// The most peers that a node may have.
const MAX_PEERS: usize = 255;

impl PeerText {
    fn check(self, index: usize) -> Result<Peer, Error> {
        let field = |name: &str| format!("peers[{index}].{name}");
        check_name(&field("name"), &self.name)?;
        let id: PeerId = self.id.parse().map_err(|error| {
            Error::config(field("id"), format!("{:?} is not a peer identity: {error}", self.id))
        })?;
        if crate::identity::verifying_key(&id).is_none() {
            return Err(Error::config(field("id"), "is not an Ed25519 identity"));
        }
        Ok(Peer { id, address: tcp_address(&field("address"), &self.address)?, name: self.name })
    }
}

fn tcp_address(field: &str, text: &str) -> Result<Multiaddr, Error> {
    let address: Multiaddr = text.parse().map_err(|error| {
        Error::config(field, format!("{text:?} is not a multiaddress: {error}"))
    })?;
    let parts: Vec<_> = address.iter().collect();
    match parts.as_slice() {
        [Protocol::Ip4(_) | Protocol::Ip6(_), Protocol::Tcp(_)] => Ok(address),
        _ => {
            let reason = format!("{text:?} is not of the form /ip4/ADDRESS/tcp/PORT");
            Err(Error::config(field, reason))
        }
    }
}

pub(crate) fn check_name(field: &str, name: &str) -> Result<(), Error> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(good) {
        let reason = format!("{name:?} must be 1 to 64 letters, digits, '-', '_' or '.'");
        return Err(Error::config(field, reason));
    }
    Ok(())
}

fn in_range(field: &str, value: u64, least: u64, most: u64) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::config(field, format!("{value} is outside {least} to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo";

    fn good() -> String {
        format!(
            "name = \"a\"\nlisten = \"/ip4/127.0.0.1/tcp/7100\"\napi = \"127.0.0.1:7200\"\n\n\
             [timeouts]\njoin_ms = 500\n\n\
             [[peers]]\nname = \"b\"\nid = \"{ID}\"\naddress = \"/ip4/127.0.0.1/tcp/7101\"\n"
        )
    }

    #[test]
    fn what_is_written_is_read() {
        let config = Config::from_toml(&good()).unwrap();
        assert_eq!(config.timeouts, Timeouts { join_ms: 500, ..Timeouts::default() });
        assert_eq!(config.policy.sign, SignPolicy::Approved);
        assert_eq!(Config::from_toml(&config.to_toml()).unwrap(), config);
        assert_eq!(config.peer_name(&config.peers[0].id), "b");
    }

    /// Each case: what is replaced, by what, and what the error must name.
    #[test]
    fn malformed_configurations_name_their_field() {
        let cases = [
            ("name = \"a\"", "name = \"\"", "name: "),
            ("name = \"a\"", "name = \"a b\"", "name: "),
            ("name = \"a\"", "", "missing field `name`"),
            ("name = \"a\"", "name = 3", "name"),
            ("name = \"a\"", "name = \"b\"", "peers[0].name: "),
            ("api = ", "color = \"red\"\napi = ", "unknown field `color`"),
            ("join_ms", "join_seconds", "unknown field `join_seconds`"),
            ("500", "-1", "join_ms"),
            ("500", "0", "timeouts.join_ms: "),
            ("127.0.0.1:7200", "7200", "api: "),
            ("127.0.0.1:7200", "0.0.0.0:7200", "api: "),
            ("/ip4/127.0.0.1/tcp/7100", "127.0.0.1:7100", "listen: "),
            ("/ip4/127.0.0.1/tcp/7100", "/ip4/127.0.0.1/udp/7100", "listen: "),
            ("/ip4/127.0.0.1/tcp/7101", "/dns/x/tcp/1", "peers[0].address: "),
            (ID, "12D3KooW", "peers[0].id: "),
            (ID, "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N", "peers[0].id: "),
            ("[[peers]]", "[limits]\nmessage_bytes = 1\n[[peers]]", "limits.message_bytes: "),
            ("[[peers]]", "[policy]\nsign = \"all\"\n[[peers]]", "sign"),
            ("[[peers]]", "[policy]\nkeygen = \"all\"\n[[peers]]", "keygen"),
            ("[[peers]]", "[policy]\nkeygen = 3\n[[peers]]", "keygen"),
            ("[[peers]]", "[policy]\nkeygen = [\"z\"]\n[[peers]]", "policy.keygen: \"z\""),
            ("[[peers]]", "[limits]\nceremonies_per_peer = 0\n[[peers]]", "ceremonies_per_peer: "),
            ("[[peers]]", "[limits]\nkeygens_per_hour = 99999\n[[peers]]", "keygens_per_hour: "),
            ("[[peers]]", "[limits]\nqueue = 0\n[[peers]]", "limits.queue: "),
            ("[[peers]]", "[policy]\nleast_threshold = 1\n[[peers]]", "least_threshold: "),
            ("[[peers]]", "[limits]\nmessages_per_second = 0\n[[peers]]", "messages_per_second: "),
            (
                "[[peers]]",
                "[limits]\nproposals_per_second = 0\n[[peers]]",
                "proposals_per_second: ",
            ),
            ("[[peers]]", "[[peers", "node.toml: "),
        ];
        for (from, to, named) in cases {
            assert!(good().contains(from), "{from}");
            let error = Config::from_toml(&good().replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(named), "{to}: {error}");
        }
    }

    #[test]
    fn a_peer_cannot_be_listed_twice() {
        let peer = format!(
            "[[peers]]\nname = \"c\"\nid = \"{ID}\"\naddress = \"/ip4/127.0.0.1/tcp/7101\"\n"
        );
        let error = Config::from_toml(&(good() + &peer)).unwrap_err();
        assert_eq!(error.to_string(), "configuration: peers[1].id: is listed twice");
    }
}
