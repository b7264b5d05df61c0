//! The connections of the API: how many there are, how long each may keep its place, and which one goes
//! when another needs it.
//!
//! A connection on which no request is being served holds its place at the pleasure of those that come
//! later: when all places are taken, the one that came first is closed. So idle and half-open
//! connections, however many, keep nobody out.

use super::answers::Failure;
use crate::ceremony::lock;
use axum::Router;
use axum::http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// A request's head must arrive within this, and then its body.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// How long a connection that is turned away may take to hear why, and how many do at once.
const FAREWELL: Duration = Duration::from_secs(1);
const FAREWELLS: usize = 16;
/// Where file descriptors run out: idle connections that are closed, and how long they may take.
const EVICTED_AT_ONCE: usize = 32;
const NO_DESCRIPTORS: Duration = Duration::from_millis(10);

/// Serves at most `most` connections until `stop` turns true, and then ends those that are idle.
///
/// Not cancel safe: dropping the future closes all connections.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    most: usize,
    mut stop: watch::Receiver<bool>,
) {
    let places = Places { open: Arc::default(), most };
    let farewells = Arc::new(Semaphore::new(FAREWELLS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => break,
            accepted = listener.accept() => accepted,
        };
        while connections.try_join_next().is_some() {}
        let Ok((stream, address)) = accepted else {
            // Out of descriptors: idle connections have some to give.
            (0..EVICTED_AT_ONCE).any(|_| !places.evict());
            sleep(NO_DESCRIPTORS).await;
            continue;
        };
        if let Some(place) = places.take() {
            let (router, address) = (router.clone(), Address(address.ip()));
            connections.spawn(admit(stream, tls.clone(), address, place, router, stop.clone()));
        } else if tls.is_some() {
            // Who speaks TLS would not understand why.
        } else if let Ok(permit) = farewells.clone().try_acquire_owned() {
            tokio::spawn(async move {
                let _ = timeout(FAREWELL, turn_away(stream)).await;
                drop(permit);
            });
        }
    }
    while connections.join_next().await.is_some() {}
}

/// Serves one connection, after the handshake where TLS is spoken.
async fn admit(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    address: Address,
    place: Place,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    let Some(tls) = tls else { return converse(stream, address, place, router, stop).await };
    let shaken = tokio::select! {
        shaken = timeout(PATIENCE, tls.accept(stream)) => shaken,
        () = place.seat.evicted.notified() => return,
        _ = stop.wait_for(|stop| *stop) => return,
    };
    match shaken {
        Ok(Ok(stream)) => converse(stream, address, place, router, stop).await,
        Ok(Err(error)) => tracing::debug!(event = "tls_failed", address = %address.0, %error),
        Err(_) => {}
    }
}

/// Serves one connection until it ends, is evicted, or the node stops.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    address: Address,
    place: Place,
    router: Router,
    mut stop: watch::Receiver<bool>,
) {
    let seat = place.seat.clone();
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Busy(seat.busy.clone()));
        request.extensions_mut().insert(Closer(seat.clone()));
        request.extensions_mut().insert(address);
        router.call(request)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = core::pin::pin!(connection);
    tokio::select! {
        // A client that goes away ends its connection and nothing else.
        _ = connection.as_mut() => return,
        () = place.seat.evicted.notified() => return,
        _ = stop.wait_for(|stop| *stop) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Says why there is no place. What the client has sent is read: otherwise the system drops the answer
/// with the connection.
async fn turn_away(mut stream: TcpStream) -> std::io::Result<()> {
    let message = "every connection serves a request";
    let body = Failure::new(StatusCode::SERVICE_UNAVAILABLE, "node.busy", message).to_json();
    let body = body.to_string();
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nretry-after: 1\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    let mut sent = [0; 1024];
    for _ in 0..64 {
        if stream.read(&mut sent).await? == 0 {
            break;
        }
    }
    Ok(())
}

/// The places of all connections, by the order in which they were taken.
#[derive(Clone)]
struct Places {
    open: Arc<Mutex<Open>>,
    most: usize,
}

#[derive(Default)]
struct Open {
    seats: BTreeMap<u64, Arc<Seat>>,
    next: u64,
}

#[derive(Default)]
struct Seat {
    /// Requests that are being served.
    busy: Arc<AtomicUsize>,
    evicted: Notify,
}

/// A connection's place; dropping it frees it.
struct Place {
    number: u64,
    seat: Arc<Seat>,
    open: Arc<Mutex<Open>>,
}

impl Places {
    /// A place, for which the oldest idle connection has to go if all are taken.
    fn take(&self) -> Option<Place> {
        if lock(&self.open).seats.len() >= self.most && !self.evict() {
            return None;
        }
        let mut open = lock(&self.open);
        let (number, seat) = (open.next, Arc::<Seat>::default());
        open.next += 1;
        open.seats.insert(number, seat.clone());
        Some(Place { number, seat, open: self.open.clone() })
    }

    /// Closes the oldest connection on which nothing is served.
    fn evict(&self) -> bool {
        let mut open = lock(&self.open);
        let idle = open.seats.iter().find(|(_, seat)| seat.busy.load(Ordering::Relaxed) == 0);
        let Some(number) = idle.map(|(number, _)| *number) else { return false };
        if let Some(seat) = open.seats.remove(&number) {
            seat.evicted.notify_one();
        }
        true
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.open).seats.remove(&self.number);
    }
}

/// Where a request comes from; an extension of each request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address(pub(super) IpAddr);

/// Marks a connection as one that serves a request; an extension of each request.
#[derive(Clone)]
pub(super) struct Busy(Arc<AtomicUsize>);

impl Busy {
    /// Keeps the connection from being evicted until the returned value is dropped.
    pub(super) fn begin(self) -> Serving {
        self.0.fetch_add(1, Ordering::Relaxed);
        Serving(self.0)
    }
}

/// Closes its connection; an extension of each request.
#[derive(Clone)]
pub(super) struct Closer(Arc<Seat>);

impl Closer {
    /// Closes the connection, also in the middle of an answer.
    pub(super) fn close(&self) {
        self.0.evicted.notify_one();
    }
}

/// A request that is being served.
pub(super) struct Serving(Arc<AtomicUsize>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_idle_connection_goes() {
        let places = Places { open: Arc::default(), most: 2 };
        let first = places.take().unwrap();
        let second = places.take().unwrap();
        let serving = Busy(first.seat.busy.clone()).begin();
        let third = places.take().unwrap();
        let seats = || lock(&places.open).seats.keys().copied().collect::<Vec<_>>();
        assert_eq!(seats(), [first.number, third.number], "the first one serves");
        let also = Busy(third.seat.busy.clone()).begin();
        assert!(places.take().is_none(), "both serve");
        drop(serving);
        let fourth = places.take().unwrap();
        assert_eq!(seats(), [third.number, fourth.number]);
        drop((first, second, third, fourth, also));
        assert!(seats().is_empty());
    }
}
