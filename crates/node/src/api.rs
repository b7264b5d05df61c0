//! The HTTP API on loopback: JSON in, JSON out, behind a bearer token.
//!
//! Each token has roles, and each route needs one; only the probes `/healthz` and `/readyz` need none.
//! Beyond loopback it speaks TLS alone. A request must name this node's own address as its host: a page in a browser that reaches
//! loopback under a name of its own is refused. Every failure is `{"ok":false,"code":…,"message":…,"hint":…}`, with a stable code; the routes are
//! described in `docs/node.md`.

mod answers;
mod door;
mod gotss;
mod openapi;
mod requests;
mod screen;
mod server;
mod tls;
mod watching;

pub(crate) use tls::acceptor;

use crate::ceremony::{Caller as Line, Refusal, Request, Shared, Turn};
use crate::config::SignPolicy;
use crate::error::Error;
use crate::log::CeremonyRecord;
use crate::shares::KeyId;
use crate::tokens::{Caller, Role, Tokens};
use answers::Failure;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};
use axum::{Extension, Json, Router};
use door::{Door, Need};
use requests::Approval;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::timeout_at;
use tokio_rustls::TlsAcceptor;

/// Ceremonies that are listed at once.
const MOST_LISTED: u32 = 1000;

/// What the routes share.
#[derive(Clone)]
struct Api {
    shared: Arc<Shared>,
    started: Instant,
    counts: Arc<gotss::Counts>,
}

type Answer = Result<Json<Value>, Failure>;

/// Serves until `stop` turns true.
pub(crate) fn serve(
    shared: Arc<Shared>,
    listener: tokio::net::TcpListener,
    tls: Option<TlsAcceptor>,
    tokens: Tokens,
    stop: watch::Receiver<bool>,
) -> impl Future<Output = ()> + use<> {
    let most = shared.config.limits.http_connections;
    let door = Door::new(&shared.config, listener.local_addr().ok(), tokens);
    let router = router(Api { shared, started: Instant::now(), counts: Arc::default() }, &door);
    server::serve(listener, tls, router, most, stop)
}

fn router(api: Api, door: &Door) -> Router {
    let behind = |need| from_fn_with_state(door.clone().with(need), door::pass);
    let changing = Router::new()
        .route("/v1/keygen", post(keygen))
        .route("/v1/sign", post(sign))
        .route("/v1/reshare", post(reshare))
        .layer(behind(Need::Role(Role::Request)));
    let approving = Router::new()
        .route("/v1/approvals", post(approve))
        .layer(behind(Need::Role(Role::Approve)));
    let deleting = Router::new()
        .route("/v1/keys/{id}", delete(delete_key))
        .layer(behind(Need::Role(Role::Admin)));
    let reading = Router::new()
        .route("/metrics", get(watching::metrics))
        .route("/v1/events", get(watching::events))
        .route("/v1/status", get(status))
        .route("/v1/keys", get(keys))
        .route("/v1/keys/{id}", get(key))
        .route("/v1/ceremonies", get(ceremonies))
        .route("/v1/ceremonies/{id}", get(ceremony))
        .layer(behind(Need::Role(Role::Read)));
    let gotss = match &api.shared.config.clients.gotss {
        None => Router::new(),
        Some(gotss) => {
            let free = |role| if gotss.without_token { Need::Program } else { Need::Role(role) };
            gotss::probes()
                .layer(behind(Need::Open))
                .merge(gotss::reading().layer(behind(free(Role::Read))))
                .merge(gotss::changing().layer(behind(free(Role::Request))))
        }
    };
    Router::new()
        .route("/healthz", get(|| async { Json(json!({ "ok": true })) }))
        .route("/readyz", get(ready))
        .merge(screen::routes())
        .merge(openapi::routes())
        .fallback(|| async { Failure::not_found("route.unknown", "there is no such route") })
        .layer(behind(Need::Open))
        .merge(changing)
        .merge(approving)
        .merge(deleting)
        .merge(reading)
        .merge(gotss)
        .method_not_allowed_fallback(|| async {
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "route.method", "another method is needed")
        })
        .with_state(api)
}

async fn keygen(State(api): State<Api>, body: Bytes) -> Answer {
    let request = requests::keygen(&api.shared, &body)?;
    let record = api.fulfil(request).await?;
    let id = record.key.as_deref().and_then(KeyId::from_hex);
    let mut answer = api.key_value(&id.ok_or(Error::Stopping)?).await?;
    answer["ceremony"] = json!(record.id);
    Ok(Json(answer))
}

async fn sign(State(api): State<Api>, Extension(caller): Extension<Caller>, body: Bytes) -> Answer {
    let request = requests::sign(&api.shared, &body)?;
    if let Request::Sign { key, digest, .. } = &request {
        api.check_confirmed(*key).await?;
        api.agree(&caller, *key, &[*digest]).await?;
    }
    let record = api.fulfil(request).await?;
    Ok(Json(json!({
        "ok": true,
        "key": record.key,
        "digest": record.digest,
        "signature": record.result,
        "signers": answers::parties(&api.shared, &record.participants),
        "ceremony": record.id,
    })))
}

/// Shares a key anew: a refresh, the recovery of a lost share, or a change of its nodes.
async fn reshare(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    body: Bytes,
) -> Answer {
    let request = requests::reshare(&api.shared, &body)?;
    api.agree_to_reshare(&caller, &request).await?;
    let record = api.fulfil(request).await?;
    let id = record.key.as_deref().and_then(KeyId::from_hex).ok_or(Error::Stopping)?;
    // A node that has left has no share to tell of.
    let mut answer = match api.shared.shares.key(&id) {
        Some(_) => api.key_value(&id).await?,
        None => json!({ "ok": true, "key": id, "public_key": record.result, "left": true }),
    };
    answer["ceremony"] = json!(record.id);
    Ok(Json(answer))
}

/// Deletes this node's share of a key. Who deletes the share of a key that every party confirmed names
/// its public key, for what it guards could be lost.
async fn delete_key(
    State(api): State<Api>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    let key = requests::known_key(&api.shared, &id)?;
    let id = key.id;
    let named = query.as_deref().and_then(|query| query.strip_prefix("public_key="));
    let public_key = hex::encode(&key.public_key);
    if named.is_some_and(|named| named != public_key) {
        let message = format!("the public key of key {id} is {public_key}");
        return Err(Failure::invalid("key.public", message));
    }
    let confirmed = api.shared.blocking(move |shared| shared.log.is_confirmed(&id)).await??;
    if confirmed && named.is_none() {
        let message = format!("every party confirmed key {id}: it may guard something");
        let hint =
            "to delete this node's share for good, add ?public_key= and the key's public key";
        return Err(Failure::new(StatusCode::CONFLICT, "key.confirmed", message).hint(hint));
    }
    api.shared.blocking(move |shared| shared.log.forget(&id)).await??;
    api.shared.blocking(move |shared| shared.shares.delete(&id)).await??;
    tracing::warn!(event = "share_deleted", key = %id);
    Ok(Json(json!({ "ok": true, "key": id })))
}

async fn approve(State(api): State<Api>, body: Bytes) -> Answer {
    match requests::approval(&api.shared, &body)? {
        (key, Approval::Digest(digest)) => {
            api.shared.blocking(move |shared| shared.log.approve(&key, &digest)).await??;
            Ok(Json(json!({ "ok": true, "key": key, "digest": hex::encode(digest) })))
        }
        (key, Approval::Resharing(name)) => {
            api.shared.blocking(move |shared| shared.log.approve_reshare(&key, &name)).await??;
            Ok(Json(json!({ "ok": true, "key": key, "resharing": hex::encode(name) })))
        }
    }
}

async fn keys(State(api): State<Api>) -> Answer {
    let mut keys = Vec::new();
    for key in api.shared.shares.keys() {
        let mut value = api.key_value(&key.id).await?;
        value.as_object_mut().map(|object| object.remove("ok"));
        keys.push(value);
    }
    Ok(Json(json!({ "ok": true, "keys": keys })))
}

async fn key(State(api): State<Api>, Path(id): Path<String>) -> Answer {
    let id = requests::known_key(&api.shared, &id)?.id;
    Ok(Json(api.key_value(&id).await?))
}

async fn ceremonies(State(api): State<Api>, RawQuery(query): RawQuery) -> Answer {
    let most = requests::limit(query.as_deref().unwrap_or_default(), MOST_LISTED)?;
    let latest = api.shared.blocking(move |shared| shared.log.latest(most)).await??;
    let list: Vec<_> = latest.iter().map(|r| answers::ceremony(&api.shared, r)).collect();
    Ok(Json(json!({ "ok": true, "ceremonies": list })))
}

async fn ceremony(State(api): State<Api>, Path(id): Path<String>) -> Answer {
    let found = api.shared.blocking(move |shared| shared.log.ceremony(&id)).await??;
    let unknown = || Failure::not_found("ceremony.unknown", "no such ceremony is in the log");
    let mut value = answers::ceremony(&api.shared, &found.ok_or_else(unknown)?);
    value["ok"] = json!(true);
    Ok(Json(value))
}

async fn status(State(api): State<Api>) -> Answer {
    let shared = &api.shared;
    let connected = shared.transport.connected();
    let peers: Vec<_> = shared
        .config
        .peers
        .iter()
        .map(|peer| {
            json!({
                "name": peer.name,
                "id": peer.id.to_string(),
                "address": peer.address.to_string(),
                "connected": connected.contains(&peer.id),
                "dropped_messages": shared.budgets.drops(&peer.id),
                "round_trip_ms": shared.transport.state(&peer.id).and_then(watching::round_trip_ms),
            })
        })
        .collect();
    Ok(Json(json!({
        "ok": true,
        "name": shared.config.name,
        "id": shared.me().to_string(),
        "version": env!("CARGO_PKG_VERSION"),
        "scheme": shared.engine.scheme(),
        "uptime_s": api.started.elapsed().as_secs(),
        "keys": shared.shares.keys().len(),
        "ceremonies_running": shared.turns.running(),
        "ceremonies_waiting": shared.turns.waiting().0 + shared.turns.waiting().1,
        "damaged_shares": damaged(shared),
        "lost_shares": shared.shares.lost(),
        "peers": peers,
    })))
}

fn damaged(shared: &Shared) -> Vec<Value> {
    let damaged = shared.shares.damaged().into_iter();
    damaged.map(|(file, reason)| json!({ "file": file, "reason": reason })).collect()
}

/// Ready: the folder can be written, no share is damaged or lost, and every key has a quorum of connected
/// parties; without a key, all peers are connected.
async fn ready(State(api): State<Api>) -> Answer {
    match unready(&api.shared).await? {
        Some(failure) => Err(failure),
        None => Ok(Json(json!({ "ok": true }))),
    }
}

/// Why this node is not ready, if it is not.
async fn unready(shared: &Arc<Shared>) -> Result<Option<Failure>, Failure> {
    let unready = |code, message: String, hint: &str| {
        Ok(Some(Failure::new(StatusCode::SERVICE_UNAVAILABLE, code, message).hint(hint)))
    };
    if let Some(reason) = shared.blocking(|shared| shared.disk.trouble()).await? {
        return unready("disk.write", reason, "free space on the disk of the node's folder");
    }
    if let Some((file, _)) = shared.shares.damaged().first() {
        let hint = "restore the file from a backup and restart; GET /v1/status gives the reason";
        return unready("shares.damaged", format!("{file} is damaged"), hint);
    }
    if let Some(key) = shared.shares.lost().first() {
        let hint = "restore the folder shares/ from a backup and restart the node, or run tetralith tss \
                    refresh at another node of the key";
        return unready("shares.lost", format!("the share of key {key} is not there"), hint);
    }
    let connected = shared.transport.connected();
    let there = |id: &&libp2p::PeerId| **id == shared.me() || connected.contains(*id);
    let keys = shared.shares.keys();
    let short = keys
        .iter()
        .find(|key| key.parties.iter().filter(there).count() < usize::from(key.threshold));
    let reason = match short {
        Some(key) => format!("key {} has no quorum of connected nodes", key.id),
        None if keys.is_empty() && connected.len() < shared.config.peers.len() => {
            format!("{} of {} peers are connected", connected.len(), shared.config.peers.len())
        }
        None => return Ok(None),
    };
    unready("peers.quorum", reason, "GET /v1/status names the peers that are not connected")
}

impl Api {
    /// Holds the ceremonies of a request; a refusal is an answer to the client.
    async fn fulfil(&self, request: Request) -> Result<CeremonyRecord, Failure> {
        self.hold(request).await.map_err(|refusal| Failure::refused(&self.shared, refusal))
    }

    /// Holds the ceremonies of a request in a task of its own: a client that goes away stops nothing
    /// that has begun.
    async fn hold(&self, request: Request) -> Result<CeremonyRecord, Refusal> {
        let limits = &self.shared.config.limits;
        let until = tokio::time::Instant::now() + Duration::from_millis(limits.queue_ms);
        let turn = timeout_at(until, self.shared.turns.take(Line::Api, limits.queue)).await;
        let turn = turn.map_err(|_| {
            Refusal::Busy(format!("no ceremony could begin within {} ms", limits.queue_ms))
        })?;
        let turn = turn.map_err(|full| Refusal::Busy(full.to_string()))?;
        let task = tokio::spawn(patient(self.shared.clone(), request, until, turn));
        task.await.map_err(|_| Refusal::Internal(Error::Stopping))?
    }

    /// Approves digests for a caller that may; any other's must be approved already, if this node signs
    /// nothing else.
    async fn agree(
        &self,
        caller: &Caller,
        key: KeyId,
        digests: &[[u8; 32]],
    ) -> Result<(), Failure> {
        let digests = digests.to_vec();
        if caller.may(Role::Approve) {
            let approve = move |shared: &Shared| {
                digests.iter().try_for_each(|digest| shared.log.approve(&key, digest))
            };
            return Ok(self.shared.blocking(approve).await??);
        }
        if self.shared.config.policy.sign == SignPolicy::Peers {
            return Ok(());
        }
        let approved = move |shared: &Shared| {
            let mut left = digests.iter();
            left.try_fold(true, |all, digest| Ok(all && shared.log.is_approved(&key, digest)?))
        };
        let approved: Result<bool, Error> = self.shared.blocking(approved).await?;
        if approved? { Ok(()) } else { Err(unapproved(caller)) }
    }

    /// Refuses to share a key among others for a caller that may not approve it, unless it is approved.
    async fn agree_to_reshare(&self, caller: &Caller, request: &Request) -> Result<(), Failure> {
        let Request::Reshare { key, threshold, parties } = request else { return Ok(()) };
        let Some(old) = self.shared.shares.key(key).filter(|_| !caller.may(Role::Approve)) else {
            return Ok(());
        };
        let parties = crate::identity::sorted(parties.clone());
        if (old.threshold, &old.parties) == (*threshold, &parties) {
            return Ok(());
        }
        let name = crate::ceremony::approval(&old.sharing(), *threshold, &parties);
        let approved = move |shared: &Shared| shared.log.is_reshare_approved(&old.id, &name);
        if self.shared.blocking(approved).await?? { Ok(()) } else { Err(unapproved(caller)) }
    }

    /// Refuses a key of which some party may have no share: what it guards could be lost.
    async fn check_confirmed(&self, id: KeyId) -> Result<(), Failure> {
        if self.shared.blocking(move |shared| shared.log.is_confirmed(&id)).await?? {
            return Ok(());
        }
        let message = format!("not every party confirmed that it has a share of key {id}");
        let hint = "if another node lists the key as confirmed, sign there; otherwise delete it at \
                    each node (DELETE /v1/keys/ID) and make a new one";
        Err(Failure::new(StatusCode::CONFLICT, "key.unconfirmed", message).hint(hint))
    }

    async fn key_value(&self, id: &KeyId) -> Result<Value, Failure> {
        let unknown = || Failure::not_found("key.unknown", format!("no share of key {id} is here"));
        let key = self.shared.shares.key(id).ok_or_else(unknown)?;
        let id = *id;
        let confirmed = self.shared.blocking(move |shared| shared.log.is_confirmed(&id)).await??;
        let parties: Vec<_> = key.parties.iter().map(libp2p::PeerId::to_string).collect();
        let sharings = self.shared.shares.sharings(&id).into_iter();
        let unsettled = sharings.filter(|held| !held.is_settled());
        let unsettled: Vec<u64> = unsettled.map(|held| held.key.number).collect();
        Ok(json!({
            "ok": true,
            "key": key.id,
            "scheme": key.scheme,
            "public_key": hex::encode(&key.public_key),
            "threshold": key.threshold,
            "parties": answers::parties(&self.shared, &parties),
            "confirmed": confirmed,
            "sharing": key.number,
            "unsettled_sharings": unsettled,
        }))
    }
}

fn unapproved(caller: &Caller) -> Failure {
    let message =
        format!("token {:?} may not approve it, and nobody else has at this node", caller.name);
    let failure = Failure::new(StatusCode::FORBIDDEN, "approval.missing", message);
    failure.hint("approve it first with a token of the role approve: POST /v1/approvals")
}

/// Holds the ceremonies of a request, and again while others say that they are busy, until a time.
async fn patient(
    shared: Arc<Shared>,
    request: Request,
    until: tokio::time::Instant,
    _turn: Turn,
) -> Result<CeremonyRecord, Refusal> {
    let mut pause = Duration::from_millis(100);
    loop {
        let end = shared.clone().fulfil(request.clone()).await;
        let Err(Refusal::Failed(failed)) = &end else { return end };
        if !failed.is_busy() {
            return end;
        }
        // All that wait for each other must not come back at the same moment.
        let jitter = f64::from(shared.fresh()[0]) / 255.0;
        let wait = pause.mul_f64(0.5 + jitter);
        if tokio::time::Instant::now() + wait > until {
            return Err(Refusal::Busy(failed.record.reason.clone().unwrap_or_default()));
        }
        tokio::time::sleep(wait).await;
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}
