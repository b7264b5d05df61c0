//! Watching a node: metrics for Prometheus, and events as they happen.

use super::answers::Failure;
use super::server::Closer;
use super::{Api, unready};
use crate::ceremony::Shared;
use crate::events::{Event, LISTENERS, Listener};
use crate::metrics::{Gauges, PeerGauges};
use crate::transport::PeerState;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use libp2p::futures::stream;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::{self, Sender};
use tokio::time::timeout;

/// Events that wait until a client has read those before them, beyond what its connection takes.
const WAITING: usize = 64;
/// A client that takes nothing for so long is disconnected.
const PATIENCE: Duration = Duration::from_secs(10);
/// Where nothing happens for so long, a comment is sent.
const QUIET: Duration = Duration::from_secs(15);

/// Milliseconds of the last measured round trip to a peer.
pub(super) fn round_trip_ms(state: &PeerState) -> Option<f64> {
    state.round_trip().map(|took| (took.as_secs_f64() * 1e6).round() / 1e3)
}

/// Prometheus text.
pub(super) async fn metrics(State(api): State<Api>) -> Result<Response, Failure> {
    let shared = &api.shared;
    let (own, peers) = shared.turns.waiting();
    let connected = shared.transport.connected();
    let gauges = |peer: &crate::config::Peer| {
        let state = shared.transport.state(&peer.id);
        PeerGauges {
            name: peer.name.clone(),
            connected: connected.contains(&peer.id),
            round_trip: state.and_then(PeerState::round_trip),
            queues: state.map(PeerState::queues).unwrap_or_default(),
            dropped: shared.budgets.drops(&peer.id),
        }
    };
    let now = Gauges {
        ready: unready(shared).await?.is_none(),
        running: shared.turns.running(),
        waiting: [own, peers],
        keys: shared.shares.keys().len(),
        damaged_shares: shared.shares.damaged().len(),
        lost_shares: shared.shares.lost().len(),
        listeners: shared.events.listeners(),
        peers: shared.config.peers.iter().map(gauges).collect(),
    };
    let text = shared.metrics.to_text(&now);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// Server-sent events: those after `Last-Event-ID`, or from now on, until the client goes.
///
/// A task of its own hands them over, so that a client that does not read holds up nothing: it is told
/// what it missed, if it reads again soon, and disconnected.
pub(super) async fn events(
    State(api): State<Api>,
    Extension(closer): Extension<Closer>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let after = match headers.get("last-event-id") {
        None => None,
        Some(value) => {
            Some(value.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
                Failure::invalid("request.header", "Last-Event-ID is not the number of an event")
            })?)
        }
    };
    let listener = api.shared.events.listen(after).ok_or_else(|| {
        let message = format!("{LISTENERS} clients listen to events already");
        Failure::new(StatusCode::TOO_MANY_REQUESTS, "events.full", message)
    })?;
    let (told, hear) = mpsc::channel::<String>(WAITING);
    tokio::spawn(hand_over(api.shared.clone(), listener, told, closer));
    let texts = stream::unfold(hear, |mut hear| async {
        let text = hear.recv().await?;
        Some((Ok::<_, Infallible>(text), hear))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((kind, Body::from_stream(texts)).into_response())
}

/// Hands events over until the client goes, falls behind, or the node stops.
async fn hand_over(
    shared: Arc<Shared>,
    mut listener: Listener,
    told: Sender<String>,
    closer: Closer,
) {
    let mut stop = shared.stop.clone();
    let end = tokio::select! {
        _ = stop.wait_for(|stop| *stop) => return,
        () = told.closed() => return,
        end = feed(&mut listener, &told) => end,
    };
    let Some(missed) = end else { return };
    shared.events.note_slow();
    if told.is_closed() || timeout(PATIENCE, told.send(note(missed))).await.is_err() {
        closer.close();
    }
}

/// Hands over until the client falls behind; then the number of events that it missed at least.
async fn feed(listener: &mut Listener, told: &Sender<String>) -> Option<u64> {
    let hand = async |text| match timeout(PATIENCE, told.send(text)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(None),
        Err(_) => Err(Some(1)),
    };
    let opening = if listener.missed > 0 { note(listener.missed) } else { ":\n\n".to_owned() };
    if let Err(end) = hand(opening).await {
        return end;
    }
    for event in core::mem::take(&mut listener.before) {
        if let Err(end) = hand(frame(&event)).await {
            return end;
        }
    }
    loop {
        let text = match timeout(QUIET, listener.next.recv()).await {
            Ok(Ok(event)) => frame(&event),
            Ok(Err(RecvError::Lagged(missed))) => return Some(missed),
            Ok(Err(RecvError::Closed)) => return None,
            Err(_) => ":\n\n".to_owned(),
        };
        if let Err(end) = hand(text).await {
            return end;
        }
    }
}

/// One event as the stream has it.
fn frame(event: &Event) -> String {
    format!("id: {}\nevent: {}\ndata: {}\n\n", event.number, event.kind, event.text)
}

/// Says that events are missing before the next one.
fn note(missed: u64) -> String {
    format!("event: missed\ndata: {{\"event\":\"missed\",\"missed\":{missed}}}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Events;
    use serde_json::json;

    /// A client that reads nothing for a while loses its stream, after all that it was handed.
    #[tokio::test]
    async fn who_falls_behind_is_dropped_with_a_note() {
        let events = Events::new();
        let mut listener = events.listen(None).unwrap();
        let (told, mut hear) = mpsc::channel(WAITING);
        let feeding = tokio::spawn(async move { feed(&mut listener, &told).await });
        assert_eq!(hear.recv().await.unwrap(), ":\n\n");
        for n in 0..1000 {
            events.tell("round", json!({ "n": n }));
            if n < WAITING {
                tokio::task::yield_now().await;
            }
        }
        let mut heard = 0;
        while let Some(text) = hear.recv().await {
            assert!(
                text.contains(&format!("\"n\":{heard}}}"))
                    || text.contains(&format!("\"n\":{heard},")),
                "{text}"
            );
            heard += 1;
        }
        let missed = feeding.await.unwrap().unwrap();
        assert!(heard >= 1 && missed > 0 && heard + missed <= 1000, "{heard} {missed}");
        assert_eq!(note(7), "event: missed\ndata: {\"event\":\"missed\",\"missed\":7}\n\n");
    }

    #[tokio::test]
    async fn who_goes_is_left() {
        let events = Events::new();
        let mut listener = events.listen(None).unwrap();
        let (told, hear) = mpsc::channel(WAITING);
        drop(hear);
        assert_eq!(feed(&mut listener, &told).await, None);
    }
}
