//! How many connections there may be, and how long each may keep its place.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Sleep, sleep, timeout};

/// A request that was begun must end within this.
pub(crate) const REQUEST: Duration = Duration::from_secs(10);
/// A client that takes nothing of an answer is left after this.
pub(crate) const STALLED: Duration = Duration::from_secs(30);
/// How often a listener is told what it knows, so that one that went away is noticed.
pub(crate) const AGAIN: Duration = Duration::from_secs(30);
/// What one that is turned away may take, and how many of those at once are told why.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);
const MOST_FAREWELLS: usize = 64;

/// Places for connections. Where all are taken, the connection that has been idle for the longest time gives up
/// its place to a new one: connections that ask for nothing keep nobody out.
#[derive(Clone)]
pub(crate) struct Places {
    seats: Arc<Mutex<Seats>>,
    farewells: Arc<Semaphore>,
    /// What is said where there is no place.
    refusal: Arc<[u8]>,
}

struct Seats {
    most: usize,
    next: u64,
    taken: BTreeMap<u64, Taken>,
}

struct Taken {
    /// Since when nothing is done for the connection.
    idle: Option<Instant>,
    evicted: Arc<Notify>,
}

/// How long a connection keeps its place, though it is idle.
const IDLE_AT_LEAST: Duration = Duration::from_secs(1);

impl Seats {
    /// A free place, or that of the connection that has been idle for the longest time.
    fn take(&mut self) -> Option<(u64, Arc<Notify>)> {
        if self.taken.len() >= self.most {
            let idle = self.taken.iter().filter_map(|(id, taken)| Some((taken.idle?, *id)));
            let (since, id) = idle.min()?;
            if since.elapsed() < IDLE_AT_LEAST {
                return None;
            }
            let taken = self.taken.remove(&id)?;
            taken.evicted.notify_one();
        }
        let (id, evicted) = (self.next, Arc::new(Notify::new()));
        self.next += 1;
        self.taken.insert(id, Taken { idle: Some(Instant::now()), evicted: evicted.clone() });
        Some((id, evicted))
    }
}

/// A connection's place, until it is dropped.
pub(crate) struct Seat {
    id: u64,
    seats: Arc<Mutex<Seats>>,
    evicted: Arc<Notify>,
}

impl Seat {
    /// Ends when the place is needed for another connection.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// Something is done for the connection until the value is dropped.
    pub(crate) fn busy(&self) -> Busy {
        set_idle(&self.seats, self.id, None);
        Busy { id: self.id, seats: self.seats.clone() }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        locked(&self.seats).taken.remove(&self.id);
    }
}

/// A request that is worked on; its connection keeps its place.
pub(crate) struct Busy {
    id: u64,
    seats: Arc<Mutex<Seats>>,
}

impl Drop for Busy {
    fn drop(&mut self) {
        set_idle(&self.seats, self.id, Some(Instant::now()));
    }
}

fn set_idle(seats: &Mutex<Seats>, id: u64, since: Option<Instant>) {
    if let Some(taken) = locked(seats).taken.get_mut(&id) {
        taken.idle = since;
    }
}

fn locked(seats: &Mutex<Seats>) -> MutexGuard<'_, Seats> {
    // Each change is one insertion, removal or assignment.
    seats.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Places {
    pub(crate) fn new(most: usize, refusal: Vec<u8>) -> Places {
        let farewells = Arc::new(Semaphore::new(MOST_FAREWELLS));
        let seats = Seats { most, next: 0, taken: BTreeMap::new() };
        Places { seats: Arc::new(Mutex::new(seats)), farewells, refusal: refusal.into() }
    }

    /// A place for a connection, which is told where there is none.
    pub(crate) fn admit<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
        &self,
        stream: S,
    ) -> Option<(Patient<S>, Seat)> {
        let found = locked(&self.seats).take();
        if let Some((id, evicted)) = found {
            let seat = Seat { id, seats: self.seats.clone(), evicted };
            return Some((Patient::new(stream, STALLED), seat));
        }
        if let Ok(permit) = self.farewells.clone().try_acquire_owned() {
            let refusal = self.refusal.clone();
            tokio::spawn(async move {
                let _ = timeout(FAREWELL, turn_away(stream, &refusal)).await;
                drop(permit);
            });
        }
        None
    }
}

/// What the client has sent is read, for else the system drops our answer with the connection.
async fn turn_away(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    refusal: &[u8],
) -> io::Result<()> {
    stream.write_all(refusal).await?;
    stream.shutdown().await?;
    let mut sent = [0; 1024];
    for _ in 0..64 {
        if stream.read(&mut sent).await? == 0 {
            break;
        }
    }
    Ok(())
}

/// A connection that fails when nothing can be written for a while.
pub(crate) struct Patient<S> {
    stream: S,
    patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    fn new(stream: S, patience: Duration) -> Patient<S> {
        Patient { stream, patience, stalled: None }
    }

    fn written<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.written(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.stream).poll_shutdown(context);
        self.written(context, ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(future)
    }

    #[test]
    fn one_that_takes_nothing_is_left() {
        block_on(async {
            let (ours, mut theirs) = tokio::io::duplex(16);
            let mut ours = Patient::new(ours, Duration::from_millis(50));
            ours.write_all(&[1; 16]).await.expect("room");
            let error = ours.write_all(&[2; 16]).await.expect_err("no room");
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            // Who takes something, however slowly, is not.
            let (ours, _) = (Patient::new(ours.stream, Duration::from_millis(200)), ());
            let writing = tokio::spawn(async move {
                let mut ours = ours;
                ours.write_all(&[3; 64]).await
            });
            for _ in 0..80 {
                tokio::time::sleep(Duration::from_millis(5)).await;
                theirs.read_u8().await.expect("a byte");
            }
            writing.await.expect("ends").expect("written");
        });
    }

    #[test]
    fn one_too_many_is_told() {
        block_on(async {
            let places = Places::new(1, b"full".to_vec());
            let (ours, _theirs) = tokio::io::duplex(16);
            let first = places.admit(ours).expect("a place");
            let (ours, mut theirs) = tokio::io::duplex(16);
            assert!(places.admit(ours).is_none());
            theirs.write_all(b"GET /").await.expect("written");
            let mut told = [0; 4];
            theirs.read_exact(&mut told).await.expect("told");
            assert_eq!(&told, b"full");
            drop(first);
            assert!(places.admit(theirs).is_some());
        });
    }

    #[test]
    fn the_longest_idle_gives_up_its_place() {
        block_on(async {
            let places = Places::new(2, b"full".to_vec());
            let admit = || places.admit(tokio::io::duplex(16).0);
            let (first, second) = (admit().expect("a place").1, admit().expect("a place").1);
            assert!(admit().is_none());
            let age = || {
                for taken in locked(&places.seats).taken.values_mut() {
                    taken.idle = taken.idle.map(|since| since - IDLE_AT_LEAST);
                }
            };
            age();
            let working = first.busy();
            let third = admit().expect("the place of the second").1;
            timeout(FAREWELL, second.evicted()).await.expect("the second is told");
            drop(second);
            // The first is busy and the third is new; then the first is idle for longer.
            assert!(admit().is_none());
            drop(working);
            age();
            drop(third.busy());
            assert!(admit().is_some());
            timeout(FAREWELL, first.evicted()).await.expect("the first is told");
        });
    }
}
