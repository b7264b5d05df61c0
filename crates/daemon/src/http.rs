//! The HTTP side: JSON in, JSON out, events as they come.

use crate::connection::{AGAIN, Busy, Places, REQUEST};
use crate::error::{Error, Kind};
use crate::log::Log;
use crate::request::{self, MAX_REQUEST};
use crate::store::{Entry, Store};
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Request, State};
use axum::http::Uri;
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Extension, Json, Router};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

#[derive(Clone)]
struct Api {
    store: Arc<Store>,
    token: Arc<crate::tokens::Tokens>,
    log: Arc<Log>,
    hosts: Arc<Hosts>,
    listeners: Arc<Semaphore>,
    /// Clients that listen to events at once.
    most_listeners: usize,
}

type Answer<T = Json<Value>> = Result<T, Refusal>;

/// A failure with its HTTP status.
struct Refusal(Error);

impl From<Error> for Refusal {
    fn from(failure: Error) -> Self {
        Self(failure)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match (self.0.code, self.0.kind) {
            ("api.token", _) => StatusCode::UNAUTHORIZED,
            ("request.host", _) => StatusCode::MISDIRECTED_REQUEST,
            ("request.too_long", _) => StatusCode::PAYLOAD_TOO_LARGE,
            ("request.timeout", _) => StatusCode::REQUEST_TIMEOUT,
            ("route.method", _) => StatusCode::METHOD_NOT_ALLOWED,
            ("challenge.unknown" | "challenge.no_proof" | "route.unknown", _) => {
                StatusCode::NOT_FOUND
            }
            ("daemon.busy" | "daemon.full", _) => StatusCode::SERVICE_UNAVAILABLE,
            (_, Kind::Usage | Kind::Verification) => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, Json(self.0.to_json())).into_response()
    }
}

/// The names under which the daemon answers; none means all.
///
/// A page in a browser can have its own name resolved to 127.0.0.1 and then ask this daemon (DNS rebinding),
/// but the browser says that name as `Host`.
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    /// Those that were `given`; where only this machine can connect to `address`, its local names too.
    pub(crate) fn new(address: Option<SocketAddr>, given: &[String]) -> Self {
        let mut names: Vec<String> = given.iter().map(|name| name.to_ascii_lowercase()).collect();
        if let Some(address) = address.filter(|address| address.ip().is_loopback()) {
            names.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
            names.push(match address.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        Self(names)
    }

    /// Whether a request for this host, with or without a port, is meant for us.
    fn accept(&self, host: Option<&str>) -> bool {
        let Some(host) = host else { return self.0.is_empty() };
        let port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
        let name =
            host.rsplit_once(':').filter(|(_, digits)| port(digits)).map_or(host, |(n, _)| n);
        self.0.is_empty() || self.0.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// What the service shares with the rest of the daemon.
pub(crate) struct Shared {
    pub(crate) store: Arc<Store>,
    pub(crate) token: Arc<crate::tokens::Tokens>,
    pub(crate) log: Arc<Log>,
    pub(crate) hosts: Hosts,
}

/// Serves at most `most` connections, of which half may listen, until the runtime ends.
pub(crate) async fn serve(listener: tokio::net::TcpListener, shared: Shared, most: usize) {
    let most_listeners = most.div_ceil(2);
    let listeners = Arc::new(Semaphore::new(most_listeners));
    let Shared { store, token, log, hosts } = shared;
    let hosts = Arc::new(hosts);
    let api = Api { store: store.clone(), token, log, hosts, listeners, most_listeners };
    let service = TowerToHyperService::new(router(api));
    let places = Places::new(most, refusal(most));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await; // out of descriptors: wait for some to close
            continue;
        };
        let Some((stream, seat)) = places.admit(stream) else {
            store.metrics.turned_away();
            continue;
        };
        let (service, seat) = (service.clone(), Arc::new(seat));
        let sitting = seat.clone();
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(REQUEST)
            .max_buf_size(MAX_REQUEST)
            .serve_connection(
                TokioIo::new(stream),
                service_fn(move |mut request: hyper::Request<Incoming>| {
                    let busy = Arc::new(sitting.busy());
                    // Whoever answers little by little keeps it.
                    request.extensions_mut().insert(busy.clone());
                    let answer = service.call(request);
                    async move {
                        let answer = answer.await;
                        drop(busy);
                        answer
                    }
                }),
            );
        tokio::spawn(async move {
            tokio::select! {
                _ = connection => {} // a client that goes away ends its connection and nothing else
                () = seat.evicted() => {}
            }
        });
    }
}

/// What a connection is told for which there is no place.
fn refusal(most: usize) -> Vec<u8> {
    let message = format!("{most} connections are open already");
    let body = Error::new(Kind::State, "daemon.busy", message).to_json().to_string();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nretry-after: 1\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn router(api: Api) -> Router {
    let changing = Router::new()
        .route("/v1/challenges", post(submit))
        .route("/v1/challenges/{id}", delete(cancel))
        .layer(from_fn_with_state(api.clone(), authorize));
    let reading = Router::new()
        .route("/metrics", get(metrics))
        .route("/v1/challenges", get(list))
        .route("/v1/challenges/{id}", get(status))
        .route("/v1/challenges/{id}/events", get(events))
        .route("/v1/challenges/{id}/proof", get(proof))
        .layer(from_fn_with_state(api.clone(), authorize_reader));
    let refuse = |code, message| async move { Refusal(Error::usage(code, message)) };
    Router::new()
        .route("/healthz", get(|| async { Json(json!({ "ok": true })) }))
        .merge(reading)
        .merge(changing)
        .fallback(move || refuse("route.unknown", "there is no such route"))
        .method_not_allowed_fallback(move || refuse("route.method", "another method is needed"))
        .layer(DefaultBodyLimit::max(MAX_REQUEST))
        .layer(from_fn_with_state(api.clone(), watch_requests))
        .with_state(api)
}

/// Refuses requests that are meant for another host; counts and tells of the others.
async fn watch_requests(State(api): State<Api>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let host = request.headers().get(header::HOST).map(|host| host.to_str().unwrap_or("?"));
    let accepted = api.hosts.accept(host);
    let what = format!("{} {}", request.method(), shortened(request.uri().path()));
    let response = if accepted {
        next.run(request).await
    } else {
        let failure = Error::usage("request.host", "this daemon does not answer for that host");
        Refusal(failure.hint("ask by the address it listens on, or start it with --host NAME"))
            .into_response()
    };
    let status = response.status();
    api.store.metrics.request("http", status.is_success());
    api.log.request("http", &what, status.as_str(), start.elapsed());
    response
}

/// A path as the log has it.
fn shortened(path: &str) -> String {
    path.chars().take(100).collect()
}

/// Lets through who shows the token.
async fn authorize(State(api): State<Api>, request: Request, next: Next) -> Response {
    match api.token.check(given(&request)) {
        Ok(()) => next.run(request).await,
        Err(failure) => Refusal(failure).into_response(),
    }
}

/// Lets through who may read: everyone, unless the daemon is private.
async fn authorize_reader(State(api): State<Api>, request: Request, next: Next) -> Response {
    match api.token.check_reader(given(&request)) {
        Ok(()) => next.run(request).await,
        Err(failure) => Refusal(failure).into_response(),
    }
}

/// The token that a request shows.
fn given(request: &Request) -> &[u8] {
    let given = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    given.and_then(bearer).unwrap_or_default()
}

/// What follows the scheme, whose case does not matter, and its spaces (RFC 9110, section 11.4).
fn bearer(credentials: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = credentials.split_at_checked(b"Bearer".len())?;
    let spaces = token.iter().take_while(|&&byte| byte == b' ').count();
    (scheme.eq_ignore_ascii_case(b"Bearer") && spaces > 0).then(|| &token[spaces..])
}

async fn submit(State(api): State<Api>, request: Request) -> Answer<(StatusCode, Json<Value>)> {
    let body = timeout(REQUEST, Bytes::from_request(request, &())).await.map_err(|_| {
        let message = format!("a request must end within {} seconds", REQUEST.as_secs());
        Error::usage("request.timeout", message)
    })?;
    let body = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let message = format!("a request is at most {MAX_REQUEST} bytes");
            Error::usage("request.too_long", message)
        }
        _ => Error::usage("request.body", error.body_text()),
    })?;
    let request = request::object(&body).map_err(Error::from)?;
    // Tests of a new modulus take a while.
    let answer = crate::apart(move || api.store.submit(request)).await?;
    Ok((StatusCode::ACCEPTED, Json(answer)))
}

/// Challenges of a page, unless it says otherwise, and the most.
const PAGE: usize = 100;
const LONGEST_PAGE: usize = 1000;

/// Which part of the list is wanted: the identifier before it, and its length.
fn page(query: &str) -> Result<(Option<&str>, usize), String> {
    let (mut after, mut limit) = (None, None);
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("after", id)) if after.is_none() => after = Some(id),
            Some(("limit", number)) if limit.is_none() => {
                let number = number.parse().ok().filter(|n| (1..=LONGEST_PAGE).contains(n));
                limit = Some(number.ok_or(format!("{part}: expected 1 to {LONGEST_PAGE}"))?);
            }
            _ => return Err(format!("{part}: expected limit=N and after=ID, each once")),
        }
    }
    Ok((after, limit.unwrap_or(PAGE)))
}

async fn list(State(api): State<Api>, uri: Uri) -> Answer {
    let (after, limit) = page(uri.query().unwrap_or_default())
        .map_err(|message| Error::usage("request.query", message))?;
    let (challenges, next) = api.store.list(after, limit);
    Ok(Json(json!({ "ok": true, "challenges": challenges, "next": next })))
}

async fn metrics(State(api): State<Api>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, api.store.metrics_page()).into_response()
}

async fn status(State(api): State<Api>, Path(id): Path<String>) -> Answer {
    Ok(Json(api.store.find(&id)?.describe()))
}

async fn cancel(State(api): State<Api>, Path(id): Path<String>) -> Answer {
    crate::apart(move || api.store.cancel(&id)).await?;
    Ok(Json(json!({ "ok": true })))
}

async fn proof(State(api): State<Api>, Path(id): Path<String>) -> Answer<Response> {
    let bytes = crate::apart(move || api.store.proof(&*api.store.find(&id)?)).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

/// Server-sent events: the status now, at each change, and at the end; a comment where there was none
/// for a while.
async fn events(
    State(api): State<Api>,
    Path(id): Path<String>,
    Extension(busy): Extension<Arc<Busy>>,
) -> Answer<Response> {
    let entry = api.store.find(&id)?;
    let permit = api.listeners.try_acquire_owned().map_err(|_| {
        let message = format!("{} clients listen already", api.most_listeners);
        Error::new(Kind::State, "daemon.busy", message)
    })?;
    let body = Body::from_stream(stream(entry, (permit, busy)));
    Ok(([(header::CONTENT_TYPE, "text/event-stream")], body).into_response())
}

fn stream(
    entry: Arc<Entry>,
    permit: (OwnedSemaphorePermit, Arc<Busy>),
) -> impl futures_util::Stream<Item = Result<String, std::convert::Infallible>> {
    let mut listener = entry.listen();
    listener.mark_changed(); // the first event is the status now
    futures_util::stream::unfold(Some((entry, listener, permit)), |state| async {
        let (entry, mut listener, permit) = state?;
        let Ok(changed) = timeout(AGAIN, listener.changed()).await else {
            return Some((Ok(":\n\n".to_owned()), Some((entry, listener, permit))));
        };
        changed.ok()?;
        let (value, ended) = entry.heard(&mut listener);
        let state = value["state"].as_str().unwrap_or("status");
        let event = format!("event: {state}\ndata: {value}\n\n");
        Some((Ok(event), (!ended).then_some((entry, listener, permit))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_list() {
        assert_eq!(page(""), Ok((None, PAGE)));
        assert_eq!(page("limit=7&after=ab"), Ok((Some("ab"), 7)));
        for wrong in ["limit=0", "limit=1001", "limit=", "limit=1&limit=2", "from=1", "after"] {
            assert!(page(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn hosts_of_a_local_daemon() {
        let local = Hosts::new("127.0.0.1:7300".parse().ok(), &["Delay.Example".into()]);
        for host in ["localhost", "LOCALHOST:7300", "127.0.0.1:1", "[::1]:7300", "delay.example"] {
            assert!(local.accept(Some(host)), "{host}");
        }
        for host in
            ["evil.example", "evil.example:7300", "127.0.0.1.evil.example", "", "localhost.:80"]
        {
            assert!(!local.accept(Some(host)), "{host}");
        }
        assert!(!local.accept(None));
        // Whoever listens for others need not know by which names they come.
        let public = Hosts::new("0.0.0.0:7300".parse().ok(), &[]);
        assert!(public.accept(Some("anything")) && public.accept(None));
        let named = Hosts::new("0.0.0.0:7300".parse().ok(), &["a.example".into()]);
        assert!(named.accept(Some("a.example:80")) && !named.accept(Some("b.example")));
    }

    #[test]
    fn the_scheme_has_no_case() {
        for given in ["Bearer a b", "bearer a b", "BEARER   a b"] {
            assert_eq!(bearer(given.as_bytes()), Some(&b"a b"[..]), "{given}");
        }
        for given in ["", "Bearer", "Bearera b", "Basic a b", "Bearer\ta b"] {
            assert_eq!(bearer(given.as_bytes()), None, "{given}");
        }
    }
}
