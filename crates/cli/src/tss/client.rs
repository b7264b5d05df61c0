//! A client of one node's API, on this machine or elsewhere.

use super::{OfNode, list, text};
use crate::failure::{Exit, Failure, Outcome};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tetralith_node::folder::Folder;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use zeroize::Zeroizing;

/// Where systems keep the certificates that they trust.
const SYSTEM_CA: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];
/// The longest file with a token, in bytes.
const MAX_TOKEN: u64 = 4 << 10;
/// The longest file of certificates, in bytes.
const MAX_PEM: u64 = 4 << 20;

/// A client of one node's API.
pub(crate) struct Client {
    agent: ureq::Agent,
    url: String,
    token: Zeroizing<String>,
}

impl Client {
    /// The client of the node whose folder this is.
    pub(crate) fn of_folder(folder: &Path) -> Outcome<Self> {
        Self::of(&OfNode { node: Some(folder.to_owned()), ..OfNode::default() })
    }

    /// The client of the node that the arguments name.
    pub(crate) fn of(of: &OfNode) -> Outcome<Self> {
        let folder = of.node.as_deref().map(Folder::new);
        let mut roots = of.ca.clone();
        let url = match (&of.url, &folder) {
            (Some(url), _) => url.trim_end_matches('/').to_owned(),
            (None, None) => return Err(Failure::usage("node.missing", "no node is named")),
            (None, Some(folder)) => {
                let config = folder.config()?;
                let mut api = config.api;
                if api.ip().is_unspecified() {
                    api.set_ip([127, 0, 0, 1].into());
                }
                match config.clients.tls {
                    None => format!("http://{api}"),
                    Some(tls) => {
                        // Its certificate, or who signed it, is the first or last in its own file.
                        roots = roots.or(Some(folder.root().join(tls.certificate)));
                        format!("https://{api}")
                    }
                }
            }
        };
        let mut agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .timeout_connect(Some(Duration::from_secs(5)));
        if url.starts_with("https://") {
            agent = agent.https_only(true).tls_config(tls(of, roots.as_deref())?);
        } else if !is_loopback(&url) {
            let message = format!("--url {url:?}: the token would travel in clear");
            return Err(
                Failure::usage("node.url", message).hint("use https:// beyond this machine")
            );
        }
        Ok(Client { agent: agent.build().into(), url, token: token(of, folder.as_ref())? })
    }

    /// The stream of the node's events after the one of this number.
    pub(crate) fn events(&self, last: &str) -> Outcome<impl std::io::Read + use<>> {
        let request = self.agent.get(format!("{}/v1/events", self.url));
        let request = request.header("Authorization", self.bearer().as_str());
        let answer = request.header("Last-Event-ID", last).call();
        if answer.as_ref().is_ok_and(|answer| answer.status().is_success()) {
            let unreachable =
                |error: ureq::Error| Failure::new(Exit::Environment, "node.unreachable", error);
            return answer.map(|answer| answer.into_body().into_reader()).map_err(unreachable);
        }
        let message = match self.answer(answer) {
            Ok(answer) => answer.to_string(),
            Err(failure) => return Err(failure),
        };
        Err(Failure::new(Exit::Environment, "node.failed", message))
    }

    pub(crate) fn get(&self, path: &str) -> Outcome<Value> {
        let request = self.agent.get(format!("{}{path}", self.url));
        self.answer(request.header("Authorization", self.bearer().as_str()).call())
    }

    fn bearer(&self) -> Zeroizing<String> {
        Zeroizing::new(format!("Bearer {}", *self.token))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Outcome<Value> {
        let request = self.agent.post(format!("{}{path}", self.url));
        self.answer(request.header("Authorization", self.bearer().as_str()).send_json(body))
    }

    pub(super) fn delete(&self, path: &str) -> Outcome<Value> {
        let request = self.agent.delete(format!("{}{path}", self.url));
        self.answer(request.header("Authorization", self.bearer().as_str()).call())
    }

    /// Asks for a new key.
    pub(crate) fn keygen(&self, threshold: u8, parties: Option<&[String]>) -> Outcome<Value> {
        let mut request = json!({ "threshold": threshold });
        if let Some(parties) = parties {
            request["parties"] = json!(parties);
        }
        self.post("/v1/keygen", &request)
    }

    /// The key that is meant: the named one, or the only one of which the node has a share.
    pub(super) fn key(&self, named: Option<&str>) -> Outcome<String> {
        if let Some(name) = named {
            return Ok(name.to_owned());
        }
        let answer = self.get("/v1/keys")?;
        let mut keys = list(&answer["keys"]).map(|key| text(&key["key"]).to_owned());
        match (keys.next(), keys.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(Failure::usage("key.missing", "the node has a share of no key")
                .hint("make one: tetralith tss keygen --node FOLDER -t T")),
            (Some(_), Some(_)) => {
                Err(Failure::usage("key.ambiguous", "the node has shares of several keys")
                    .hint("name one by -k; tetralith tss keys --node FOLDER lists them"))
            }
        }
    }

    /// Asks until the node is ready, and `check` in between.
    pub(crate) fn wait_ready(
        &self,
        deadline: Instant,
        check: &mut dyn FnMut() -> Outcome,
    ) -> Outcome {
        loop {
            match self.get("/readyz") {
                Ok(_) => return Ok(()),
                Err(failure) if Instant::now() > deadline => return Err(failure),
                Err(_) => check()?,
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn answer(
        &self,
        answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Outcome<Value> {
        let unreachable = |error: ureq::Error| {
            Failure::new(Exit::Environment, "node.unreachable", format!("{}: {error}", self.url))
                .hint("is the node running? tetralith node run FOLDER")
        };
        let mut response = answer.map_err(unreachable)?;
        let value: Value = response.body_mut().read_json().map_err(unreachable)?;
        if response.status().is_success() {
            return Ok(value);
        }
        Err(refused(response.status().as_u16(), &value))
    }
}

/// What the API refused, as a failure of ours; the API's code is in the message's place for it.
fn refused(status: u16, value: &Value) -> Failure {
    let (exit, code) = match status {
        502 => (Exit::Peers, "ceremony.failed"),
        429 => (Exit::Peers, "node.busy"),
        503 => (Exit::Peers, "peers.quorum"),
        409 if value["code"] == "key.confirmed" => (Exit::State, "key.confirmed"),
        409 => (Exit::State, "key.unconfirmed"),
        400 | 404 => (Exit::Usage, "request.refused"),
        401 => (Exit::Environment, "api.token"),
        _ => (Exit::Environment, "node.failed"),
    };
    let blamed: Vec<String> = list(&value["ceremony"]["blames"])
        .map(|blame| format!("{} ({})", text(&blame["peer"]["name"]), text(&blame["fault"])))
        .collect();
    let message = match blamed.as_slice() {
        [] => text(&value["message"]).to_owned(),
        blamed => format!("{}: {}", text(&value["message"]), blamed.join(", ")),
    };
    let failure = Failure::new(exit, code, message);
    match value["hint"].as_str() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The token: from the file, the environment or the node's folder.
fn token(of: &OfNode, folder: Option<&Folder>) -> Outcome<Zeroizing<String>> {
    let given = match &of.token_file {
        Some(path) => {
            let bytes = Zeroizing::new(crate::io::read(path, MAX_TOKEN)?);
            let text = core::str::from_utf8(&bytes).unwrap_or_default();
            Some(Zeroizing::new(text.trim().to_owned()))
        }
        None => std::env::var("TETRALITH_TOKEN").ok().map(Zeroizing::new),
    };
    match (given, folder) {
        (Some(token), _) => {
            match token.is_empty() || token.chars().any(|c| !c.is_ascii_graphic()) {
                true => Err(Failure::usage("token.malformed", "the token is empty or malformed")),
                false => Ok(token),
            }
        }
        (None, Some(folder)) => Ok(folder.token()?),
        (None, None) => Err(Failure::usage("token.missing", "no token is given")
            .hint("give --token-file FILE, or set TETRALITH_TOKEN")),
    }
}

fn is_loopback(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match host.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => host,
    };
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

/// Whom the connection trusts, and as whom it shows itself.
fn tls(of: &OfNode, roots: Option<&Path>) -> Outcome<TlsConfig> {
    let roots = match roots {
        Some(path) => certificates(path)?,
        None => match SYSTEM_CA.iter().map(Path::new).find(|path| path.exists()) {
            Some(path) => certificates(path)?,
            None => {
                let message = "no file of trusted certificates is known on this system";
                return Err(
                    Failure::new(Exit::Environment, "tls.roots", message).hint("give --ca FILE")
                );
            }
        },
    };
    let client = match (&of.client_certificate, &of.client_key) {
        (Some(certificate), Some(key)) => {
            let text = Zeroizing::new(crate::io::read(key, MAX_PEM)?);
            let key = PrivateKey::from_pem(&text).map_err(|error| malformed(key, &error))?;
            Some(ClientCert::new_with_certs(&certificates(certificate)?, key))
        }
        _ => None,
    };
    Ok(TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&roots))
        .client_cert(client)
        .build())
}

fn certificates(path: &Path) -> Outcome<Vec<Certificate<'static>>> {
    let text = crate::io::read(path, MAX_PEM)?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| malformed(path, &error))? {
            found.push(certificate);
        }
    }
    match found.is_empty() {
        true => Err(malformed(path, &"has no certificate in PEM")),
        false => Ok(found),
    }
}

fn malformed(path: &Path, reason: &dyn std::fmt::Display) -> Failure {
    Failure::usage("input.malformed", format!("{}: {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn tokens_travel_in_clear_on_loopback_alone() {
        for url in ["http://127.0.0.1:7200", "http://localhost", "http://[::1]:1", "http://[::1]"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in
            ["http://127.0.0.1.evil:1", "http://a@b", "http://10.0.0.1", "ftp://localhost", ""]
        {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
