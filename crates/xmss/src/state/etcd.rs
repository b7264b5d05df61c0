//! The etcd store, for several signers of one key.
//!
//! A name for each key, through etcd's JSON gateway of version 3. A commit is one transaction that puts
//! the record if the name's revision and value are still those that were read: of two signers that read
//! the same record one finds it gone. Reads are linearizable.
//!
//! Where the connection breaks before the answer, the commit may have taken place; that is an error
//! here, and [`Reservations`](super::Reservations) then never uses what it asked for.

use super::tls::{Tls, provider};
use super::url::{decoded, take};
use super::{Record, StateError, StateStore};
use crate::base64;
use core::fmt;
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};
use zeroize::Zeroizing;

/// The state of a key in an etcd cluster.
pub struct EtcdStore {
    agent: Agent,
    at: Cluster,
    /// The member that is asked; after a failure the next.
    member: usize,
    token: Option<Zeroizing<String>>,
    key_id: [u8; 32],
    cluster_id: String,
    /// The record that was last read or written.
    last: Option<Last>,
}

/// A record in the cluster: its epoch, and its value in base64 with the revision of its name. The value
/// is compared too, for a cluster that is put back from a snapshot gives its revisions again.
struct Last {
    epoch: u64,
    value: String,
    revision: String,
}

/// What a URL names.
struct Cluster {
    members: Vec<String>,
    /// User and password.
    user: Option<(String, Zeroizing<String>)>,
    prefix: String,
    tls: Option<Tls>,
}

impl fmt::Debug for EtcdStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EtcdStore")
    }
}

impl EtcdStore {
    /// Connects to the cluster of a URL, `etcd://USER:PASSWORD@HOST:PORT,HOST:PORT/PREFIX`, for the
    /// state of the key of that [`key_id`](super::key_id).
    ///
    /// User, password and prefix may be left out; the prefix is then `tetralith`. Over TLS the URL is
    /// `etcds://…?cacert=FILE`, with `&cert=FILE&key=FILE` for a cluster that wants to know its clients.
    /// [`Noted`](super::Noted) joins it with the note beside the key.
    ///
    /// # Errors
    /// [`StateError::Url`], or [`StateError::Io`] where no member can be reached.
    ///
    /// # Security
    /// Without TLS a cluster on other machines is for a network that is trusted, or is reached through a
    /// tunnel. Neither the URL nor the password is in any error.
    pub fn open(url: &str, key_id: [u8; 32]) -> Result<Self, StateError> {
        Self::open_within(PATIENCE, url, key_id)
    }

    fn open_within(patience: Duration, url: &str, key_id: [u8; 32]) -> Result<Self, StateError> {
        let at = Cluster::parse(url)?;
        let config = Agent::config_builder()
            .timeout_global(Some(patience))
            .http_status_as_error(false)
            .max_redirects(0)
            // A proxy of the environment is not for this.
            .proxy(None)
            .tls_config(at.tls.as_ref().map(client_tls).transpose()?.unwrap_or_default())
            .build();
        let mut store = Self {
            agent: config.into(),
            at,
            member: 0,
            token: None,
            key_id,
            cluster_id: String::new(),
            last: None,
        };
        store.load()?;
        Ok(store)
    }

    /// Reads a key's record, for showing a status.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`StateError::Missing`], [`StateError::Damaged`].
    pub fn peek(url: &str, key_id: [u8; 32]) -> Result<Record, StateError> {
        Self::open(url, key_id)?.load()?.ok_or(StateError::Missing)
    }

    /// Asks one member. It is asked twice only where it took the log-in for ended, and did nothing.
    fn ask(&mut self, path: &str, body: &Value) -> Result<Value, StateError> {
        let known = self.token.is_some();
        let answer = self.log_in().and_then(|()| match self.send(path, body)? {
            (401, _) if known => {
                self.token = None;
                self.log_in()?;
                self.send(path, body)
            }
            answer => Ok(answer),
        });
        let answer = answer.and_then(|(status, answer)| match status {
            200 => Ok(answer),
            _ => {
                let why = answer["error"].as_str().or(answer["message"].as_str());
                let why = format!("etcd: {}", why.unwrap_or("refused"));
                Err(if matches!(status, 401 | 403) {
                    StateError::Denied(why)
                } else {
                    StateError::Io(why)
                })
            }
        });
        if answer.is_err() {
            self.member = (self.member + 1) % self.at.members.len();
            self.token = None;
        }
        answer
    }

    /// Sends one request to one member, once.
    fn send(&mut self, path: &str, body: &Value) -> Result<(u16, Value), StateError> {
        let failed = |error: &dyn fmt::Display| StateError::Io(format!("etcd: {error}"));
        let unanswered = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => failed(&"no answer in time"),
            error => failed(&error),
        };
        let scheme = if self.at.tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{}/v3/{path}", self.at.members[self.member]);
        let mut request = self.agent.post(&url).header("content-type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", token.as_str());
        }
        let mut response = request.send(body.to_string().as_bytes()).map_err(unanswered)?;
        let body = response.body_mut().with_config().limit(ANSWER_LIMIT).read_to_vec();
        let body = body.map_err(unanswered)?;
        let status = response.status().as_u16();
        let answer = serde_json::from_slice(&body)
            .map_err(|_| failed(&format!("status {status} without JSON")))?;
        Ok((status, answer))
    }

    /// Logs in where the URL has a user.
    fn log_in(&mut self) -> Result<(), StateError> {
        let (Some((name, password)), None) = (&self.at.user, &self.token) else { return Ok(()) };
        let body = json!({ "name": name, "password": password.as_str() });
        let (_, answer) = self.send("auth/authenticate", &body)?;
        let refused = || StateError::Denied("etcd: the log-in was refused".into());
        let token = answer["token"].as_str().ok_or_else(refused)?;
        self.token = Some(Zeroizing::new(token.to_owned()));
        Ok(())
    }

    fn name(&self) -> String {
        let mut name = format!("{}/xmss/", self.at.prefix);
        for byte in self.key_id {
            name += &format!("{byte:02x}");
        }
        base64::encode(name.as_bytes())
    }

    fn read(&mut self) -> Result<Option<Record>, StateError> {
        self.last = None;
        let answer = self.ask("kv/range", &json!({ "key": self.name() }))?;
        answer["header"]["cluster_id"].as_str().ok_or(MALFORMED)?.clone_into(&mut self.cluster_id);
        let Some(pair) = answer["kvs"].get(0) else { return Ok(None) };
        let value = pair["value"].as_str().ok_or(MALFORMED)?;
        let record = Record::from_bytes(&base64::decode(value.as_bytes()).map_err(|_| MALFORMED)?)?;
        if record.key_id != self.key_id {
            return Err(StateError::OtherKey);
        }
        let revision = pair["mod_revision"].as_str().ok_or(MALFORMED)?.to_owned();
        self.last = Some(Last { epoch: record.epoch, value: value.to_owned(), revision });
        Ok(Some(record))
    }
}

impl StateStore for EtcdStore {
    fn load(&mut self) -> Result<Option<Record>, StateError> {
        let mut record = self.read();
        for _ in 0..self.at.members.len() {
            // Another member, or this one with a new token; reading twice does no harm.
            match &record {
                Err(StateError::Io(_)) => record = self.read(),
                _ => break,
            }
        }
        record
    }

    fn commit(&mut self, expected: Option<u64>, record: &Record) -> Result<(), StateError> {
        let name = self.name();
        let equal = |target: &str, part: &str, value: &str| json!({ "key": name, "target": target, "result": "EQUAL", part: value });
        let compare = match (expected, self.last.take()) {
            (None, _) => vec![equal("CREATE", "create_revision", "0")],
            (Some(epoch), Some(last)) if last.epoch == epoch => vec![
                equal("MOD", "mod_revision", &last.revision),
                equal("VALUE", "value", &last.value),
            ],
            _ => return Err(StateError::Conflict { expected }),
        };
        let value = base64::encode(&record.to_bytes());
        let put = json!({ "request_put": { "key": name, "value": value } });
        let answer = self.ask("kv/txn", &json!({ "compare": compare, "success": [put] }))?;
        let header = &answer["header"];
        if header["cluster_id"].as_str() != Some(&self.cluster_id) {
            return Err(StateError::Copied);
        }
        // What is false is left out of an answer.
        if answer["succeeded"].as_bool() != Some(true) {
            return Err(StateError::Conflict { expected });
        }
        let revision = header["revision"].as_str().ok_or(MALFORMED)?;
        self.last = Some(Last { epoch: record.epoch, value, revision: revision.to_owned() });
        Ok(())
    }

    fn place(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"tetralith place\netcd\0");
        hash.update(&self.cluster_id);
        hash.finalize().into()
    }

    fn shared(&self) -> bool {
        true
    }
}

impl Cluster {
    /// Reads a URL. No part of a wrong one is in the error: it could be the password.
    fn parse(url: &str) -> Result<Self, StateError> {
        let wrong =
            StateError::Url("an etcd URL is etcd://USER:PASSWORD@HOST:PORT,HOST:PORT/PREFIX");
        let (url, files) = take(url, ["cacert", "cert", "key"])?;
        let (rest, tls) = match (url.strip_prefix("etcd://"), url.strip_prefix("etcds://")) {
            (Some(rest), _) if files == [const { None }; 3] => (rest, None),
            (_, Some(rest)) => (rest, Some(Self::tls(&files)?)),
            (Some(_), _) => {
                return Err(StateError::Url("an etcd URL with TLS begins with etcds://"));
            }
            (None, None) => return Err(wrong),
        };
        let (user, rest) = match rest.rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, rest),
        };
        let user = match user.map(|user| user.split_once(':')) {
            Some(Some((name, password))) => {
                Some((decoded(name)?, Zeroizing::new(decoded(password)?)))
            }
            Some(None) => {
                return Err(StateError::Url("the etcd URL has a user without a password"));
            }
            None => None,
        };
        let (hosts, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = if prefix.is_empty() { "tetralith" } else { prefix };
        let mut members = Vec::new();
        for host in hosts.split(',') {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
            if host.is_empty() || !host.bytes().all(plain) {
                return Err(wrong);
            }
            let port = host.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
            members.push(if port { host.to_owned() } else { format!("{host}:2379") });
        }
        Ok(Self { members, user, prefix: prefix.to_owned(), tls })
    }

    fn tls(files: &[Option<String>; 3]) -> Result<Tls, StateError> {
        match files {
            [Some(roots), None, None] => Tls::read(roots, None),
            [Some(roots), Some(certificate), Some(key)] => {
                Tls::read(roots, Some((certificate, key)))
            }
            _ => Err(StateError::Url(
                "etcds:// wants cacert=FILE, the cluster's authority, and cert=FILE and key=FILE both or neither",
            )),
        }
    }
}

fn client_tls(tls: &Tls) -> Result<TlsConfig, StateError> {
    let certificates = |all: &[CertificateDer<'static>]| -> Vec<_> {
        all.iter().map(|one| Certificate::from_der(one).to_owned()).collect()
    };
    let client = match &tls.client {
        None => None,
        Some((chain, key)) => {
            let key = PrivateKey::from_pem(key).map_err(|why| StateError::Io(why.to_string()))?;
            Some(ClientCert::new_with_certs(&certificates(chain), key))
        }
    };
    Ok(TlsConfig::builder()
        .unversioned_rustls_crypto_provider(provider())
        .root_certs(RootCerts::new_with_certs(&certificates(&tls.roots)))
        .client_cert(client)
        .build())
}

/// A member answers with something else than etcd would.
const MALFORMED: StateError = StateError::Damaged("etcd's answer is not well formed");
/// The longest that one member is given for one answer, its connection included.
const PATIENCE: Duration = Duration::from_secs(10);
/// More than a record in base64, in JSON.
const ANSWER_LIMIT: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_says_nothing_is_left() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("etcd://{}", listener.local_addr().unwrap());
        let start = std::time::Instant::now();
        let patience = Duration::from_millis(300);
        let error = EtcdStore::open_within(patience, &url, [0; 32]).unwrap_err();
        assert!(error.to_string().ends_with("etcd: no answer in time"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn urls_name_clusters() {
        let cluster = Cluster::parse("etcd://a,b:1,[::1]:2,[::1]/x/y").unwrap();
        assert_eq!(cluster.members, ["a:2379", "b:1", "[::1]:2", "[::1]:2379"]);
        assert_eq!((cluster.prefix.as_str(), cluster.user.is_none()), ("x/y", true));
        let cluster = Cluster::parse("etcd://me:p%40ss:w@rd@h").unwrap();
        let (name, password) = cluster.user.unwrap();
        assert_eq!((name.as_str(), password.as_str()), ("me", "p@ss:w@rd"));
        assert_eq!((cluster.members[0].as_str(), cluster.prefix.as_str()), ("h:2379", "tetralith"));
        for bad in [
            "etcd:h",
            "etcd://",
            "etcd://u:secret@",
            "etcd://u:secret%2@h",
            "etcd://a b",
            "etcd://secret@h",
            "etcd://u:secret@h,",
            "etcd://u:secret@h?x",
            "etcd://u:secret@h?cacert=x",
            "etcds://u:secret@h",
            "etcds://u:secret@h?cacert=x&cert=y",
        ] {
            let error = EtcdStore::open(bad, [0; 32]).unwrap_err();
            assert!(matches!(error, StateError::Url(_)), "{bad}: {error}");
            assert!(!error.to_string().contains("secret"), "{bad}: {error}");
        }
    }
}
