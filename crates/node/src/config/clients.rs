//! How clients reach the API, and who decides on what they ask: TLS, rates, the approval hook, go-tss.

use crate::error::Error;
use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};
use ripemd::Ripemd160;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How clients reach the API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Clients {
    /// Requests that one client may send within a second: one token, or one address without a token.
    pub requests_per_second: u32,
    /// Certificate and key of the API; without them it listens on loopback only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Who is asked about each ceremony.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook: Option<Hook>,
    /// The routes of go-tss; without this table they do not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gotss: Option<GoTss>,
}

impl Default for Clients {
    fn default() -> Self {
        Clients { requests_per_second: 1_000, tls: None, hook: None, gotss: None }
    }
}

/// How the API proves who it is. Paths are relative to the node's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificates of the API in PEM, its own first.
    pub certificate: PathBuf,
    /// The private key in PEM.
    pub key: PathBuf,
    /// The certificates in PEM of who may have signed a client's; with it, every client needs one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clients: Option<PathBuf>,
}

/// The program or server that allows or denies each ceremony.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// A server on loopback, such as `http://127.0.0.1:9000/policy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Milliseconds that it has to answer.
    #[serde(default = "hook_ms")]
    pub timeout_ms: u64,
}

fn hook_ms() -> u64 {
    1_000
}

/// Where a hook's URL may point.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

impl Clients {
    pub(super) fn check(&self, own: &str, peers: &[super::Peer], api: IpAddr) -> Result<(), Error> {
        let rate = self.requests_per_second;
        super::in_range("clients.requests_per_second", rate.into(), 1, 1_000_000)?;
        if !api.is_loopback() && self.tls.is_none() {
            let reason =
                format!("{api} is not a loopback address; set clients.tls to listen on it");
            return Err(Error::config("api", reason));
        }
        if let Some(hook) = &self.hook {
            hook.check()?;
        }
        let Some(gotss) = &self.gotss else { return Ok(()) };
        if gotss.without_token && !api.is_loopback() {
            let reason = format!("api listens on {api}, beyond loopback");
            return Err(Error::config("clients.gotss.without_token", reason));
        }
        gotss.check(own, peers)
    }
}

impl Hook {
    fn check(&self) -> Result<(), Error> {
        super::in_range("clients.hook.timeout_ms", self.timeout_ms, 1, 600_000)?;
        if self.url.is_some() != self.command.is_empty() {
            let reason = "exactly one of url and command is needed";
            return Err(Error::config("clients.hook", reason));
        }
        let Some(url) = &self.url else { return Ok(()) };
        let rest = url.strip_prefix("http://").unwrap_or_default();
        let host = rest.split('/').next().unwrap_or_default();
        let host =
            host.rsplit_once(':').filter(|(name, _)| !name.ends_with(':')).map_or(host, |h| h.0);
        if !LOOPBACK.contains(&host) {
            let reason = format!("{url:?} is not of the form http://127.0.0.1:PORT/PATH");
            return Err(Error::config("clients.hook.url", reason));
        }
        Ok(())
    }
}

/// The routes of go-tss, for its clients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoTss {
    /// The prefix of public keys in bech32, such as `thorpub`; addresses have it without `pub`.
    #[serde(default = "thorpub")]
    pub prefix: String,
    /// Lets clients use these routes without a token, as go-tss does; on loopback only.
    #[serde(default)]
    pub without_token: bool,
    /// Milliseconds that a request waits for the same request at enough other nodes.
    #[serde(default = "party_ms")]
    pub party_ms: u64,
    /// Milliseconds that the proposer of a request may take for its ceremonies.
    #[serde(default = "result_ms")]
    pub result_ms: u64,
    /// The public key by which clients name each node, this one included: by the node's name.
    pub parties: BTreeMap<String, String>,
}

fn thorpub() -> String {
    "thorpub".into()
}

fn party_ms() -> u64 {
    60_000
}

fn result_ms() -> u64 {
    120_000
}

/// What Amino writes before the 33 bytes of a public key on secp256k1.
const AMINO: [u8; 5] = [0xeb, 0x5a, 0xe9, 0x87, 33];

impl GoTss {
    pub(super) fn check(&self, own: &str, peers: &[super::Peer]) -> Result<(), Error> {
        let field = |name: &str| format!("clients.gotss.{name}");
        if self.hrp().is_none() || self.address_hrp().is_none() {
            let reason =
                format!("{:?} is not a lower-case prefix that ends in \"pub\"", self.prefix);
            return Err(Error::config(field("prefix"), reason));
        }
        super::in_range(&field("party_ms"), self.party_ms, 10, 3_600_000)?;
        super::in_range(&field("result_ms"), self.result_ms, 10, 3_600_000)?;
        let mut keys = Vec::new();
        for (name, text) in &self.parties {
            let field = field(&format!("parties.{name}"));
            if name != own && !peers.iter().any(|peer| peer.name == *name) {
                return Err(Error::config(field, "is not the name of a node"));
            }
            let key = self.decode_key(text).ok_or_else(|| {
                let expected = &self.prefix;
                let reason =
                    format!("{text:?} is not a secp256k1 public key in bech32 ({expected}1…)");
                Error::config(&field, reason)
            })?;
            if keys.contains(&key) {
                return Err(Error::config(field, "is the key of two nodes"));
            }
            keys.push(key);
        }
        if !self.parties.contains_key(own) {
            let reason = format!("this node's own key is missing: {own} = \"{}1…\"", self.prefix);
            return Err(Error::config(field("parties"), reason));
        }
        Ok(())
    }

    /// How long a request waits for the same request at other nodes.
    #[must_use]
    pub fn party(&self) -> Duration {
        Duration::from_millis(self.party_ms)
    }

    /// How long the proposer of a request may take.
    #[must_use]
    pub fn result(&self) -> Duration {
        Duration::from_millis(self.result_ms)
    }

    fn hrp(&self) -> Option<Hrp> {
        let lower = self.prefix.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        Hrp::parse(&self.prefix).ok().filter(|_| lower && self.prefix.len() <= 20)
    }

    fn address_hrp(&self) -> Option<Hrp> {
        Hrp::parse(self.prefix.strip_suffix("pub")?).ok()
    }

    /// The text of a compressed public key, as the Cosmos SDK writes it: bech32 of Amino's encoding.
    #[must_use]
    pub fn encode_key(&self, key: &[u8]) -> String {
        let bytes = [&AMINO, key].concat();
        let encoded = self.hrp().and_then(|hrp| bech32::encode::<Bech32>(hrp, &bytes).ok());
        encoded.unwrap_or_default()
    }

    /// Reads [`Self::encode_key`]; `None` for other prefixes, other kinds of keys and wrong checksums.
    #[must_use]
    pub fn decode_key(&self, text: &str) -> Option<[u8; 33]> {
        let decoded = CheckedHrpstring::new::<Bech32>(text).ok()?;
        if decoded.hrp() != self.hrp()? {
            return None;
        }
        let bytes: Vec<u8> = decoded.byte_iter().collect();
        let key: [u8; 33] = bytes.strip_prefix(&AMINO)?.try_into().ok()?;
        matches!(key[0], 2 | 3).then_some(key)
    }

    /// The account address of a public key: bech32 of RIPEMD-160 of SHA-256.
    #[must_use]
    pub fn address(&self, key: &[u8]) -> String {
        let hash = Ripemd160::digest(Sha256::digest(key));
        let encoded = self.address_hrp().and_then(|hrp| bech32::encode::<Bech32>(hrp, &hash).ok());
        encoded.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gotss(prefix: &str) -> GoTss {
        GoTss {
            prefix: prefix.into(),
            without_token: false,
            party_ms: party_ms(),
            result_ms: result_ms(),
            parties: BTreeMap::new(),
        }
    }

    /// The generator's address is BIP 173's example key; the key's text begins as all of Cosmos do.
    #[test]
    fn keys_and_addresses_are_those_of_cosmos() {
        let key = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
        let key: [u8; 33] = hex::decode(key).unwrap().try_into().unwrap();
        let thor = gotss("tthorpub");
        let text = thor.encode_key(&key);
        assert!(text.starts_with("tthorpub1addwnpepq"), "{text}");
        assert_eq!(thor.decode_key(&text), Some(key));
        assert_eq!(gotss("thorpub").decode_key(&text), None);
        assert_eq!(thor.decode_key(&text.replace('q', "p")), None);
        // The program of BIP 173's P2WPKH address is the same hash, after its version.
        let hash = hex::decode("751e76e8199196d454941c45d1b3a323f1433bd6").unwrap();
        let address = bech32::encode::<Bech32>(Hrp::parse("tthor").unwrap(), &hash).unwrap();
        assert_eq!(thor.address(&key), address);
    }

    #[test]
    fn hooks_are_on_loopback_or_programs() {
        let hook = |url: Option<&str>, command: &[&str]| {
            let command = command.iter().map(|part| (*part).into()).collect();
            Hook { url: url.map(Into::into), command, timeout_ms: 5 }.check().is_ok()
        };
        assert!(hook(Some("http://127.0.0.1:9000/policy"), &[]));
        assert!(hook(Some("http://[::1]:9000"), &[]) && hook(Some("http://localhost/x"), &[]));
        assert!(hook(None, &["/bin/policy", "x"]));
        assert!(!hook(None, &[]) && !hook(Some("http://127.0.0.1/"), &["x"]));
        for url in ["https://127.0.0.1/", "http://policy.example/", "http://127.0.0.1.evil/", ""] {
            assert!(!hook(Some(url), &[]), "{url}");
        }
    }

    #[test]
    fn beyond_loopback_there_is_tls() {
        let all = IpAddr::from([0, 0, 0, 0]);
        let tls = Tls { certificate: "c".into(), key: "k".into(), clients: None };
        let encrypted = Clients { tls: Some(tls), ..Clients::default() };
        assert!(Clients::default().check("a", &[], all).is_err());
        assert!(encrypted.check("a", &[], all).is_ok());
        let gotss = GoTss { without_token: true, ..gotss("thorpub") };
        let open = Clients { gotss: Some(gotss), ..encrypted };
        let error = open.check("a", &[], all).unwrap_err().to_string();
        assert!(error.contains("clients.gotss.without_token"), "{error}");
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let key = gotss("thorpub").encode_key(&[2; 33]);
        let parties = |names: &[&str]| GoTss {
            parties: names.iter().map(|name| ((*name).into(), key.clone())).collect(),
            ..gotss("thorpub")
        };
        assert!(parties(&["a"]).check("a", &[]).is_ok());
        let cases = [
            (parties(&["a", "b"]), "clients.gotss.parties.b: is not the name"),
            (parties(&[]), "clients.gotss.parties: this node's own key"),
            (GoTss { prefix: "thor".into(), ..parties(&["a"]) }, "clients.gotss.prefix"),
            (GoTss { prefix: "ppub".into(), ..parties(&["a"]) }, "clients.gotss.parties.a"),
            (GoTss { party_ms: 1, ..parties(&["a"]) }, "clients.gotss.party_ms"),
        ];
        for (gotss, named) in cases {
            let error = gotss.check("a", &[]).unwrap_err().to_string();
            assert!(error.contains(named), "{named}: {error}");
        }
    }
}
