//! Where the picture comes from: threads that ask the node's API.

use crate::failure::Outcome;
use crate::tss::Client;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::sync::mpsc::Sender;
use std::thread::{sleep, spawn};
use std::time::Duration;

/// How often the node's state is asked for.
const EVERY: Duration = Duration::from_secs(2);
/// The pause before events are asked for again.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest event that is taken, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// What is heard of the node.
#[derive(Debug)]
pub(super) enum News {
    /// How it stands.
    State(Box<State>),
    /// It did not answer.
    Trouble(String),
    /// Something happened.
    Event(Value),
    /// Events come, or do not.
    Live(bool),
    /// What became of a signature or an approval.
    Answer(Result<Value, String>),
}

/// How a node stands.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) status: Value,
    pub(super) keys: Vec<Value>,
    pub(super) ceremonies: Vec<Value>,
    /// Why it is not ready, if it is not.
    pub(super) unready: Option<String>,
}

/// Asks until nobody hears.
pub(super) fn start(state: Client, events: Client, news: &Sender<News>) {
    let told = news.clone();
    spawn(move || {
        loop {
            let heard = match ask(&state) {
                Ok(state) => News::State(Box::new(state)),
                Err(failure) => News::Trouble(failure.message),
            };
            if told.send(heard).is_err() {
                return;
            }
            sleep(EVERY);
        }
    });
    let told = news.clone();
    spawn(move || {
        let mut last = "0".to_owned();
        while listen(&events, &mut last, &told).is_some() && told.send(News::Live(false)).is_ok() {
            sleep(AGAIN);
        }
    });
}

/// Sends a request whose answer may take long.
pub(super) fn post(client: Client, path: &'static str, body: Value, news: Sender<News>) {
    spawn(move || {
        let answer = client.post(path, &body).map_err(|failure| failure.message);
        // Nobody hears after the end.
        let _ = news.send(News::Answer(answer));
    });
}

fn ask(client: &Client) -> Outcome<State> {
    let list = |mut value: Value, field: &str| match value[field].take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    let status = client.get("/v1/status")?;
    Ok(State {
        status,
        keys: list(client.get("/v1/keys")?, "keys"),
        ceremonies: list(client.get("/v1/ceremonies?limit=50")?, "ceremonies"),
        unready: client.get("/readyz").err().map(|failure| failure.message),
    })
}

/// Hears events until the stream ends; `None` where nobody wants them any more.
fn listen(client: &Client, last: &mut String, told: &Sender<News>) -> Option<()> {
    let Ok(stream) = client.events(last) else { return Some(()) };
    told.send(News::Live(true)).ok()?;
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        let taken = std::io::Read::take(&mut stream, MOST_BYTES).read_line(&mut line);
        match taken {
            Ok(0) | Err(_) => return Some(()),
            Ok(_) => {}
        }
        match line.trim_end().split_once(": ") {
            Some(("id", id)) => *last = id.to_owned(),
            Some(("data", data)) => {
                if let Ok(event) = serde_json::from_str(data) {
                    told.send(News::Event(event)).ok()?;
                }
            }
            _ => {}
        }
    }
}
