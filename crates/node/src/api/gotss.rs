//! The routes of go-tss, for its clients: its paths, its JSON and its rules.
//!
//! Every party posts the same request to its own node, and the nodes agree on who proposes it
//! ([`crate::meeting`]). Posting a request approves it at the node: it helps to sign these digests
//! when another proposes them.

mod run;
pub(super) mod types;

use super::Api;
use super::answers::Failure;
use crate::tokens::Caller;
use axum::Extension;
use axum::Json;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use core::sync::atomic::{AtomicU64, Ordering};
use run::{Keygen, Keysign};
use std::time::SystemTime;
use types::{KeygenAnswer, KeysignAnswer, NodeStatus, Status};

/// What `/status` counts.
pub(super) struct Counts {
    started: SystemTime,
    /// New keys and signatures: those that succeeded, failed, and run.
    keygens: [AtomicU64; 3],
    keysigns: [AtomicU64; 3],
}

impl Default for Counts {
    fn default() -> Self {
        let (keygens, keysigns) = Default::default();
        Counts { started: SystemTime::now(), keygens, keysigns }
    }
}

/// Routes that need no token.
pub(super) fn probes() -> Router<Api> {
    Router::new().route("/ping", get(|| async {})).route("/p2pid", get(p2pid))
}

/// Routes that read.
pub(super) fn reading() -> Router<Api> {
    Router::new().route("/status", get(status)).route("/nodestatus", get(status))
}

/// Routes that make keys and signatures.
pub(super) fn changing() -> Router<Api> {
    Router::new().route("/keygen", post(keygen)).route("/keysign", post(keysign))
}

async fn p2pid(State(api): State<Api>) -> String {
    api.shared.me().to_string()
}

async fn status(State(api): State<Api>) -> Json<NodeStatus> {
    let count = |counts: &[AtomicU64; 3], which: usize| counts[which].load(Ordering::Relaxed);
    let Counts { started, keygens, keysigns } = &*api.counts;
    let current = |counts| match count(counts, RUNNING) {
        0 => String::new(),
        running => format!("{running} running"),
    };
    Json(NodeStatus {
        start_time: types::rfc3339(*started),
        successful_keygen: count(keygens, 0),
        failed_keygen: count(keygens, 1),
        successful_keysign: count(keysigns, 0),
        failed_keysign: count(keysigns, 1),
        current_keygen: current(keygens),
        current_keysign: current(keysigns),
    })
}

/// The place of those that run in [`Counts`].
const RUNNING: usize = 2;

/// Counts a request that is served; what it returned is counted by the caller.
struct Running<'a>(&'a [AtomicU64; 3]);

impl<'a> Running<'a> {
    fn begin(counts: &'a [AtomicU64; 3]) -> Self {
        counts[RUNNING].fetch_add(1, Ordering::Relaxed);
        Running(counts)
    }

    fn end(self, status: Status) {
        self.0[usize::from(status != Status::SUCCESS)].fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0[RUNNING].fetch_sub(1, Ordering::Relaxed);
    }
}

async fn keygen(State(api): State<Api>, body: Bytes) -> Result<impl IntoResponse, Failure> {
    let request = Keygen::read(&api, &body)?;
    // A client that goes away leaves the others with a node that takes part to the end.
    let answer = spawned(async move {
        let running = Running::begin(&api.counts.keygens);
        let answer: KeygenAnswer = request.run(&api).await?;
        running.end(answer.status);
        Ok(answer)
    });
    answer.await.map(Json)
}

async fn keysign(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    body: Bytes,
) -> Result<impl IntoResponse, Failure> {
    let request = Keysign::read(&api, &body)?;
    let answer = spawned(async move {
        let running = Running::begin(&api.counts.keysigns);
        let answer: KeysignAnswer = request.run(&api, &caller).await?;
        running.end(answer.status);
        Ok(answer)
    });
    answer.await.map(Json)
}

async fn spawned<T: Send + 'static>(
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    tokio::spawn(work).await.map_err(|_| Failure::from(crate::Error::Stopping))?
}
