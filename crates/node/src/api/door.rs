//! Who is let in: the host that a request names, the token that it shows, and its body in time.

use super::Tokens;
use super::answers::Failure;
use super::server::{Busy, PATIENCE};
use crate::config::Config;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::sync::Arc;
use subtle::{Choice, ConstantTimeEq};
use tokio::time::timeout;

/// The longest body of a request, in bytes.
const MAX_BODY: usize = 1 << 20;

/// What a route asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing: a probe.
    Open,
    /// No token, but no page of a browser either: it would reach loopback under the node's own address.
    Program,
    /// Either token.
    Read,
    /// The token that may do everything.
    Full,
}

/// What callers are held against.
#[derive(Clone)]
pub(super) struct Door {
    hosts: Arc<[String]>,
    /// SHA-256 of the tokens.
    full: [u8; 32],
    read: [u8; 32],
    role: Role,
}

impl Door {
    pub(super) fn new(config: &Config, listening: Option<SocketAddr>, tokens: &Tokens) -> Self {
        let address = listening.unwrap_or(config.api);
        let mut hosts = vec![address.to_string(), format!("localhost:{}", address.port())];
        hosts.extend(config.api_hosts.iter().map(|host| host.to_ascii_lowercase()));
        Door {
            hosts: hosts.into(),
            full: Sha256::digest(tokens.full.as_bytes()).into(),
            read: Sha256::digest(tokens.read.as_bytes()).into(),
            role: Role::Full,
        }
    }

    pub(super) fn with(self, role: Role) -> Self {
        Door { role, ..self }
    }

    /// Checks the host, and then the token.
    fn check(&self, request: &Request) -> Result<(), Failure> {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let host = request.uri().authority().map(|host| host.as_str()).or(host);
        let host = host.unwrap_or_default().to_ascii_lowercase();
        if !self.hosts.contains(&host) {
            let message = format!("host {host:?} is not this node (expected {})", self.hosts[0]);
            let failure = Failure::new(StatusCode::MISDIRECTED_REQUEST, "api.host", message);
            return Err(failure.hint("behind a proxy, list its name in api_hosts in node.toml"));
        }
        let given = request.headers().get(header::AUTHORIZATION);
        let token = given.and_then(|value| bearer(value.as_bytes())).unwrap_or_default();
        let hash: [u8; 32] = Sha256::digest(token).into();
        let may_read = hash.ct_eq(&self.full) | hash.ct_eq(&self.read);
        let may = match self.role {
            Role::Open => Choice::from(1),
            Role::Program if request.headers().contains_key(header::ORIGIN) => may_read,
            Role::Program => Choice::from(1),
            Role::Read => may_read,
            Role::Full => hash.ct_eq(&self.full),
        };
        if may.into() {
            return Ok(());
        }
        if may_read.into() {
            let message = "the read token does not allow this";
            let failure = Failure::new(StatusCode::FORBIDDEN, "api.role", message);
            return Err(failure.hint("send the token of the node's api.token file"));
        }
        let message = "the bearer token is missing or wrong";
        let failure = Failure::new(StatusCode::UNAUTHORIZED, "api.token", message);
        Err(failure
            .hint("send the token of the node's api.token file: Authorization: Bearer TOKEN"))
    }
}

/// Lets a request through that the door's role allows, with its whole body.
///
/// While the body is on its way, the connection may still have to go for another; from then on it
/// keeps its place until the answer.
pub(super) async fn pass(State(door): State<Door>, request: Request, next: Next) -> Response {
    if let Err(failure) = door.check(&request) {
        return failure.into_response();
    }
    let (head, body) = request.into_parts();
    let too_long = || {
        let message = format!("the body is longer than {MAX_BODY} bytes, or was cut off");
        Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "request.body", message)
    };
    let body = match timeout(PATIENCE, to_bytes(body, MAX_BODY)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return too_long().into_response(),
        Err(_) => {
            let message = format!("no whole body within {} s", PATIENCE.as_secs());
            let failure = Failure::new(StatusCode::REQUEST_TIMEOUT, "request.timeout", message);
            return failure.into_response();
        }
    };
    let _serving = head.extensions.get::<Busy>().cloned().map(Busy::begin);
    next.run(Request::from_parts(head, Body::from(body))).await
}

/// The token after the scheme, whose case does not matter, and its spaces (RFC 9110 §11.4).
fn bearer(credentials: &[u8]) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer";
    let (scheme, rest) = credentials.split_at_checked(SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) || rest.first() != Some(&b' ') {
        return None;
    }
    Some(rest.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_may_be_in_any_case() {
        for given in [&b"Bearer x"[..], b"bearer x", b"BEARER  x"] {
            assert_eq!(bearer(given), Some(&b"x"[..]));
        }
        for given in [&b"Bearerx"[..], b"Bearer", b"Basic x", b"x", b""] {
            assert_eq!(bearer(given), None);
        }
    }
}
