//! Who is let in: the host that a request names, the token that it shows, and its body in time.

use super::answers::Failure;
use super::server::{Address, Busy, PATIENCE};
use crate::budget::Bucket;
use crate::ceremony::lock;
use crate::config::Config;
use crate::tokens::{Caller, Role, Tokens};
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::time::{Instant, timeout};

/// The longest body of a request, in bytes.
const MAX_BODY: usize = 1 << 20;

/// What a route asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Nothing: a probe.
    Open,
    /// No token, but no page of a browser either: it would reach loopback under the node's own address.
    Program,
    /// A token with this role.
    Role(Role),
}

/// What callers are held against.
#[derive(Clone)]
pub(super) struct Door {
    hosts: Arc<[String]>,
    tokens: Arc<Tokens>,
    rates: Rates,
    need: Need,
}

impl Door {
    pub(super) fn new(config: &Config, listening: Option<SocketAddr>, tokens: Tokens) -> Self {
        let address = listening.unwrap_or(config.api);
        let mut hosts = vec![address.to_string(), format!("localhost:{}", address.port())];
        if address.ip().is_unspecified() {
            hosts.push(format!("127.0.0.1:{}", address.port()));
        }
        hosts.extend(config.api_hosts.iter().map(|host| host.to_ascii_lowercase()));
        let rates = Rates::new(config.clients.requests_per_second);
        Door { hosts: hosts.into(), tokens: Arc::new(tokens), rates, need: Need::Open }
    }

    pub(super) fn with(self, need: Need) -> Self {
        Door { need, ..self }
    }

    /// Checks the host, then the token, and then how much its owner has sent.
    fn check(&self, request: &Request) -> Result<Caller, Failure> {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let host = request.uri().authority().map(|host| host.as_str()).or(host);
        let host = host.unwrap_or_default().to_ascii_lowercase();
        if !self.hosts.contains(&host) {
            let message = format!("host {host:?} is not this node (expected {})", self.hosts[0]);
            let failure = Failure::new(StatusCode::MISDIRECTED_REQUEST, "api.host", message);
            return Err(failure.hint("list the name in api_hosts in node.toml"));
        }
        let given = request.headers().get(header::AUTHORIZATION);
        let token = given.and_then(|value| bearer(value.as_bytes()));
        let known = token.and_then(|token| self.tokens.find(token));
        let address = request.extensions().get::<Address>().map(|address| address.0.to_string());
        let stranger = || format!("address {}", address.as_deref().unwrap_or("unknown"));
        let who = known.as_ref().map_or_else(stranger, |caller| format!("token {}", caller.name));
        if !self.rates.take(&who) {
            return Err(Failure::limited(&who, self.rates.per_second));
        }
        let page = request.headers().contains_key(header::ORIGIN);
        let role = match (self.need, known) {
            (Need::Open, known) => return Ok(known.unwrap_or_else(nobody)),
            (Need::Program, Some(caller)) if caller.may(Role::Request) => return Ok(caller),
            // A token that allows less than none does is no use here.
            (Need::Program, _) if !page => {
                let roles = vec![Role::Request, Role::Approve];
                return Ok(Caller { name: "gotss".into(), roles });
            }
            (Need::Role(role), Some(caller)) if caller.may(role) => return Ok(caller),
            (Need::Role(role), Some(caller)) => Some((role, caller)),
            (Need::Program, Some(caller)) => Some((Role::Request, caller)),
            (_, None) => None,
        };
        if let Some((role, caller)) = role {
            let (name, role) = (caller.name, role.as_str());
            let message = format!("token {name:?} does not have the role {role}");
            let failure = Failure::new(StatusCode::FORBIDDEN, "api.role", message);
            let hint =
                format!("tetralith node token FOLDER NAME --role {role} makes one that has it");
            return Err(failure.hint(hint));
        }
        let message = "the bearer token is missing or wrong";
        let failure = Failure::new(StatusCode::UNAUTHORIZED, "api.token", message);
        Err(failure
            .hint("send the token of the node's api.token file: Authorization: Bearer TOKEN"))
    }
}

/// Who asks a probe without a token.
fn nobody() -> Caller {
    Caller { name: String::new(), roles: Vec::new() }
}

/// How much each caller may send.
#[derive(Clone)]
struct Rates {
    per_second: u32,
    callers: Arc<Mutex<HashMap<String, Bucket>>>,
}

/// Callers that are counted at the same time; with more, those that have sent nothing lately go.
const MOST_CALLERS: usize = 10_000;

impl Rates {
    fn new(per_second: u32) -> Self {
        Rates { per_second, callers: Arc::default() }
    }

    fn take(&self, who: &str) -> bool {
        let now = Instant::now();
        let mut callers = lock(&self.callers);
        if let Some(bucket) = callers.get_mut(who) {
            return bucket.take(now);
        }
        if callers.len() >= MOST_CALLERS {
            callers.retain(|_, bucket| !bucket.is_full(now));
        }
        if callers.len() >= MOST_CALLERS {
            return false;
        }
        let rate = f64::from(self.per_second);
        let mut bucket = Bucket::new(rate, rate, now);
        let taken = bucket.take(now);
        callers.insert(who.to_owned(), bucket);
        taken
    }
}

/// Lets a request through that the door allows, with its whole body.
///
/// While the body is on its way, the connection may still have to go for another; from then on it
/// keeps its place until the answer.
pub(super) async fn pass(State(door): State<Door>, request: Request, next: Next) -> Response {
    let caller = match door.check(&request) {
        Ok(caller) => caller,
        Err(failure) => return failure.into_response(),
    };
    let (mut head, body) = request.into_parts();
    head.extensions.insert(caller);
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
    fn each_caller_has_its_own_rate() {
        let rates = Rates::new(5);
        assert_eq!((0..50).filter(|_| rates.take("token a")).count(), 5);
        assert!(rates.take("token b"));
        (0..2 * MOST_CALLERS).for_each(|count| {
            let _ = rates.take(&count.to_string());
        });
        assert!(lock(&rates.callers).len() <= MOST_CALLERS);
    }

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
