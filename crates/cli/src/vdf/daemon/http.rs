//! The HTTP side: JSON in, JSON out, events as they come.

use super::connection::{AGAIN, Places, REQUEST};
use super::request::{self, MAX_REQUEST};
use super::store::{Entry, Store};
use crate::failure::{Exit, Failure};
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

#[derive(Clone)]
struct Api {
    store: Arc<Store>,
    token: Arc<super::Token>,
    listeners: Arc<Semaphore>,
    /// Clients that listen to events at once.
    most_listeners: usize,
}

type Answer<T = Json<Value>> = Result<T, Refusal>;

/// A failure with its HTTP status.
struct Refusal(Failure);

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match (self.0.code, self.0.exit) {
            ("api.token", _) => StatusCode::UNAUTHORIZED,
            ("request.too_long", _) => StatusCode::PAYLOAD_TOO_LARGE,
            ("request.timeout", _) => StatusCode::REQUEST_TIMEOUT,
            ("route.method", _) => StatusCode::METHOD_NOT_ALLOWED,
            ("challenge.unknown" | "challenge.no_proof" | "route.unknown", _) => {
                StatusCode::NOT_FOUND
            }
            ("daemon.busy" | "daemon.full", _) => StatusCode::SERVICE_UNAVAILABLE,
            (_, Exit::Usage | Exit::Verification) => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, Json(self.0.to_json())).into_response()
    }
}

/// Serves at most `most` connections, of which half may listen, until the runtime ends.
pub(super) async fn serve(
    listener: tokio::net::TcpListener,
    store: Arc<Store>,
    token: Arc<super::Token>,
    most: usize,
) {
    let most_listeners = most.div_ceil(2);
    let listeners = Arc::new(Semaphore::new(most_listeners));
    let service = TowerToHyperService::new(router(Api { store, token, listeners, most_listeners }));
    let places = Places::new(most, refusal(most));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await; // out of descriptors: wait for some to close
            continue;
        };
        let Some((stream, permit)) = places.admit(stream) else { continue };
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(REQUEST)
            .max_buf_size(MAX_REQUEST)
            .serve_connection(TokioIo::new(stream), service.clone());
        tokio::spawn(async move {
            let _ = connection.await; // a client that goes away ends its connection and nothing else
            drop(permit);
        });
    }
}

/// What a connection is told for which there is no place.
fn refusal(most: usize) -> Vec<u8> {
    let message = format!("{most} connections are open already");
    let body = Failure::new(Exit::State, "daemon.busy", message).to_json().to_string();
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
    let refuse = |code, message| async move { Refusal(Failure::usage(code, message)) };
    Router::new()
        .route("/healthz", get(|| async { Json(json!({ "ok": true })) }))
        .route("/v1/challenges", get(list))
        .route("/v1/challenges/{id}", get(status))
        .route("/v1/challenges/{id}/events", get(events))
        .route("/v1/challenges/{id}/proof", get(proof))
        .merge(changing)
        .fallback(move || refuse("route.unknown", "there is no such route"))
        .method_not_allowed_fallback(move || refuse("route.method", "another method is needed"))
        .layer(DefaultBodyLimit::max(MAX_REQUEST))
        .with_state(api)
}

/// Lets through who shows the token.
async fn authorize(State(api): State<Api>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).map(|value| value.as_bytes());
    match api.token.check(given.and_then(bearer).unwrap_or_default()) {
        Ok(()) => next.run(request).await,
        Err(failure) => Refusal(failure).into_response(),
    }
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
        Failure::usage("request.timeout", message)
    })?;
    let body = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let message = format!("a request is at most {MAX_REQUEST} bytes");
            Failure::usage("request.too_long", message)
        }
        _ => Failure::usage("request.body", error.body_text()),
    })?;
    let request = request::object(&body).map_err(Failure::from)?;
    // Tests of a new modulus take a while.
    let answer = super::apart(move || api.store.submit(request)).await?;
    Ok((StatusCode::ACCEPTED, Json(answer)))
}

async fn list(State(api): State<Api>) -> Json<Value> {
    Json(json!({ "ok": true, "challenges": api.store.list() }))
}

async fn status(State(api): State<Api>, Path(id): Path<String>) -> Answer {
    Ok(Json(api.store.find(&id)?.describe()))
}

async fn cancel(State(api): State<Api>, Path(id): Path<String>) -> Answer {
    super::apart(move || api.store.cancel(&id)).await?;
    Ok(Json(json!({ "ok": true })))
}

async fn proof(State(api): State<Api>, Path(id): Path<String>) -> Answer<Response> {
    let bytes = super::apart(move || api.store.proof(&*api.store.find(&id)?)).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

/// Server-sent events: the status now, at each change, and at the end; a comment where there was none
/// for a while.
async fn events(State(api): State<Api>, Path(id): Path<String>) -> Answer<Response> {
    let entry = api.store.find(&id)?;
    let permit = api.listeners.try_acquire_owned().map_err(|_| {
        let message = format!("{} clients listen already", api.most_listeners);
        Failure::new(Exit::State, "daemon.busy", message)
    })?;
    let body = Body::from_stream(stream(entry, permit));
    Ok(([(header::CONTENT_TYPE, "text/event-stream")], body).into_response())
}

fn stream(
    entry: Arc<Entry>,
    permit: OwnedSemaphorePermit,
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
    fn the_scheme_has_no_case() {
        for given in ["Bearer a b", "bearer a b", "BEARER   a b"] {
            assert_eq!(bearer(given.as_bytes()), Some(&b"a b"[..]), "{given}");
        }
        for given in ["", "Bearer", "Bearera b", "Basic a b", "Bearer\ta b"] {
            assert_eq!(bearer(given.as_bytes()), None, "{given}");
        }
    }
}
