//! The socket side: one request a line, one object a line.
//!
//! ```text
//! {"submit":{…},"token":"…"}   {"status":"ID"}   {"watch":"ID"}   {"cancel":"ID","token":"…"}
//! ```
//!
//! `watch` answers with a line for each event until the challenge has ended; then the next request is
//! read.

use super::store::Store;
use crate::failure::{Failure, Outcome};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::BufReader;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt,
};
use tokio::sync::Semaphore;

/// Connections at once, over all sockets.
const MOST_CONNECTIONS: usize = 256;
/// A connection that asks for nothing is closed after this.
const IDLE: Duration = Duration::from_secs(600);
/// How often a watcher is told what it knows.
const AGAIN: Duration = Duration::from_secs(30);
const MAX_LINE: u64 = super::http::MAX_BODY as u64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    submit: Option<Value>,
    status: Option<String>,
    watch: Option<String>,
    cancel: Option<String>,
    #[serde(default)]
    token: String,
}

/// What a connection needs.
#[derive(Clone)]
pub(super) struct Service {
    store: Arc<Store>,
    token: Arc<super::Token>,
    connections: Arc<Semaphore>,
}

impl Service {
    pub(super) fn new(store: Arc<Store>, token: Arc<super::Token>) -> Self {
        Self { store, token, connections: Arc::new(Semaphore::new(MOST_CONNECTIONS)) }
    }

    /// Serves one connection in a task of its own; beyond the bound it is closed at once.
    pub(super) fn take(&self, stream: impl AsyncRead + AsyncWrite + Send + 'static) {
        let Ok(permit) = self.connections.clone().try_acquire_owned() else { return };
        let service = self.clone();
        tokio::spawn(async move {
            let (reader, mut writer) = tokio::io::split(stream);
            // A client that goes away ends its connection and nothing else.
            let _ = service.serve(BufReader::new(reader), &mut writer).await;
            drop(permit);
        });
    }

    async fn serve(
        &self,
        mut reader: impl AsyncBufRead + Unpin,
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> std::io::Result<()> {
        loop {
            let mut line = Vec::new();
            let mut bounded = (&mut reader).take(MAX_LINE + 1);
            let read = bounded.read_until(b'\n', &mut line);
            match tokio::time::timeout(IDLE, read).await {
                Ok(Ok(0)) | Err(_) => return Ok(()),
                Ok(read) => read?,
            };
            if line.len() as u64 > MAX_LINE {
                // What follows is the rest of a line that nobody knows the end of.
                let message = format!("a line is at most {MAX_LINE} bytes");
                let failure = Failure::usage("request.too_long", message);
                return write(writer, &failure.to_json()).await;
            }
            match self.answer(&line).await {
                Ok(Reply::Value(value)) => write(writer, &value).await?,
                Ok(Reply::Watch(entry)) => {
                    let mut listener = entry.listen();
                    loop {
                        let ended = listener.borrow_and_update().is_final();
                        write(writer, &entry.describe()).await?;
                        if ended {
                            break;
                        }
                        // Said again after a while, so that a client that went away is noticed.
                        let changed = tokio::time::timeout(AGAIN, listener.changed());
                        if matches!(changed.await, Ok(Err(_))) {
                            break;
                        }
                    }
                }
                Err(failure) => write(writer, &failure.to_json()).await?,
            }
        }
    }

    async fn answer(&self, line: &[u8]) -> Outcome<Reply> {
        let value = super::parse_json(line)?;
        let request: Line = serde_json::from_value(value)
            .map_err(|error| Failure::usage("request.malformed", error))?;
        let store = self.store.clone();
        match request {
            Line { submit: Some(challenge), status: None, watch: None, cancel: None, token } => {
                self.token.check(token.as_bytes())?;
                let entry = super::apart(move || store.submit(challenge)).await?;
                Ok(Reply::Value(entry.describe()))
            }
            Line { submit: None, status: Some(id), watch: None, cancel: None, .. } => {
                Ok(Reply::Value(store.find(&id)?.describe()))
            }
            Line { submit: None, status: None, watch: Some(id), cancel: None, .. } => {
                Ok(Reply::Watch(store.find(&id)?))
            }
            Line { submit: None, status: None, watch: None, cancel: Some(id), token } => {
                self.token.check(token.as_bytes())?;
                super::apart(move || store.cancel(&id)).await?;
                Ok(Reply::Value(json!({ "ok": true })))
            }
            _ => {
                let message = "a line holds one of submit, status, watch and cancel";
                Err(Failure::usage("request.malformed", message))
            }
        }
    }
}

enum Reply {
    Value(Value),
    Watch(Arc<super::store::Entry>),
}

async fn write(writer: &mut (impl AsyncWrite + Unpin), value: &Value) -> std::io::Result<()> {
    let line = format!("{value}\n");
    let written = async {
        writer.write_all(line.as_bytes()).await?;
        writer.flush().await
    };
    // Who does not read what was asked for does not keep a connection from others.
    tokio::time::timeout(IDLE, written).await.map_err(|_| std::io::ErrorKind::TimedOut)?
}
