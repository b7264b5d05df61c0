//! The socket side: one request a line, one object a line.
//!
//! ```text
//! {"submit":{…},"token":"…"}   {"cancel":"ID","token":"…"}
//! {"status":"ID"}   {"watch":"ID"}   {"proof":"ID"}   (with "token" too where the daemon is private)
//! ```
//!
//! `watch` answers with a line for each event until the challenge has ended, the last one with the proof;
//! then the next request is read.

use crate::connection::{AGAIN, FAREWELL, Places, REQUEST, Seat};
use crate::error::{Error, Kind, Outcome};
use crate::log::Log;
use crate::request::{Ask, Line, MAX_REQUEST};
use crate::store::Store;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::BufReader;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A connection that asks for nothing is closed after this.
const IDLE: Duration = Duration::from_secs(600);
const MAX_LINE: u64 = MAX_REQUEST as u64;

/// What a connection needs.
#[derive(Clone)]
pub(crate) struct Service {
    store: Arc<Store>,
    token: Arc<crate::tokens::Tokens>,
    told: Arc<Log>,
    places: Places,
    /// Connections that may watch at once, half of all: a watcher is never idle.
    watchers: Arc<Semaphore>,
}

impl Service {
    /// A service of at most `most` connections.
    pub(crate) fn new(
        store: Arc<Store>,
        token: Arc<crate::tokens::Tokens>,
        told: Arc<Log>,
        most: usize,
    ) -> Self {
        let message = format!("{most} connections are open already");
        let refusal = Error::new(Kind::State, "daemon.busy", message).to_json();
        let watchers = Arc::new(Semaphore::new(most.div_ceil(2)));
        Self {
            store,
            token,
            told,
            watchers,
            places: Places::new(most, format!("{refusal}\n").into()),
        }
    }

    /// Serves one connection in a task of its own; beyond the bound it is told so and closed.
    pub(crate) fn take(&self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let Some((stream, seat)) = self.places.admit(stream) else {
            self.store.metrics.turned_away();
            return;
        };
        let service = self.clone();
        tokio::spawn(async move {
            let (reader, mut writer) = tokio::io::split(stream);
            let evicted = tokio::select! {
                // A client that goes away ends its connection and nothing else.
                _ = service.serve(BufReader::new(reader), &mut writer, &seat) => false,
                () = seat.evicted() => true,
            };
            if evicted {
                let message = "the connection was idle, and its place was needed";
                let failure = Error::new(Kind::State, "daemon.idle", message);
                let _ = timeout(FAREWELL, write(&mut writer, &failure.to_json())).await;
            }
        });
    }

    async fn serve(
        &self,
        mut reader: impl AsyncBufRead + Unpin,
        writer: &mut (impl AsyncWrite + Unpin),
        seat: &Seat,
    ) -> std::io::Result<()> {
        loop {
            // Waiting for a request may take long, and sending one may not.
            match timeout(IDLE, reader.fill_buf()).await {
                Ok(Ok([])) | Err(_) => return Ok(()),
                Ok(begun) => begun.map(|_| ())?,
            }
            let mut line = Vec::new();
            let mut bounded = (&mut reader).take(MAX_LINE + 1);
            let Ok(read) = timeout(REQUEST, bounded.read_until(b'\n', &mut line)).await else {
                let message = format!("a line must end within {} seconds", REQUEST.as_secs());
                return write(writer, &Error::usage("request.timeout", message).to_json()).await;
            };
            read?;
            if line.len() as u64 > MAX_LINE {
                // What follows is the rest of a line that nobody knows the end of.
                let message = format!("a line is at most {MAX_LINE} bytes");
                let failure = Error::usage("request.too_long", message);
                return write(writer, &failure.to_json()).await;
            }
            let _busy = seat.busy();
            let start = Instant::now();
            let (kind, answer) = match Line::parse(&line) {
                Ok(line) => (line.ask.kind(), self.answer(line).await),
                Err(fault) => ("malformed", Err(fault.into())),
            };
            let outcome = answer.as_ref().map_or_else(|failure| failure.code, |_| "ok");
            self.told.request("lines", kind, outcome, start.elapsed());
            self.store.metrics.request("lines", answer.is_ok());
            match answer {
                Ok(Reply::Value(value)) => write(writer, &value).await?,
                Ok(Reply::Watch(entry, _permit)) => {
                    let mut listener = entry.listen();
                    loop {
                        let (mut event, ended) = entry.heard(&mut listener);
                        if ended && let Ok(proof) = self.proof(entry.clone()).await {
                            event["proof_hex"] = proof.into();
                        }
                        write(writer, &event).await?;
                        if ended {
                            break;
                        }
                        // Said again after a while, so that a client that went away is noticed.
                        let changed = timeout(AGAIN, listener.changed());
                        if matches!(changed.await, Ok(Err(_))) {
                            break;
                        }
                    }
                }
                Err(failure) => write(writer, &failure.to_json()).await?,
            }
        }
    }

    /// The proof of a challenge that has ended with one, in hex.
    async fn proof(&self, entry: Arc<crate::store::Entry>) -> Outcome<String> {
        let store = self.store.clone();
        crate::apart(move || Ok(hex::encode(store.proof(&entry)?))).await
    }

    async fn answer(&self, Line { ask, token }: Line) -> Outcome<Reply> {
        let store = self.store.clone();
        let token = token.as_bytes();
        match &ask {
            Ask::Submit(_) | Ask::Cancel(_) => self.token.check(token)?,
            Ask::Status(_) | Ask::Watch(_) | Ask::Proof(_) => self.token.check_reader(token)?,
        }
        match ask {
            Ask::Submit(challenge) => {
                Ok(Reply::Value(crate::apart(move || store.submit(challenge)).await?))
            }
            Ask::Status(id) => Ok(Reply::Value(store.find(&id)?.describe())),
            Ask::Watch(id) => {
                let entry = store.find(&id)?;
                let permit = self.watchers.clone().try_acquire_owned().map_err(|_| {
                    Error::new(Kind::State, "daemon.busy", "too many connections watch already")
                })?;
                Ok(Reply::Watch(entry, permit))
            }
            Ask::Proof(id) => {
                let proof = self.proof(store.find(&id)?).await?;
                Ok(Reply::Value(json!({ "ok": true, "id": id, "proof_hex": proof })))
            }
            Ask::Cancel(id) => {
                crate::apart(move || store.cancel(&id)).await?;
                Ok(Reply::Value(json!({ "ok": true })))
            }
        }
    }
}

enum Reply {
    Value(Value),
    Watch(Arc<crate::store::Entry>, OwnedSemaphorePermit),
}

async fn write(writer: &mut (impl AsyncWrite + Unpin), value: &Value) -> std::io::Result<()> {
    let line = format!("{value}\n");
    writer.write_all(line.as_bytes()).await?;
    writer.flush().await
}
