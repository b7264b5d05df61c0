//! Server-sent events of real nodes: what a ceremony's listeners hear, and how many may listen.
#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

mod nodes;

use nodes::Nodes;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

/// A client that listens.
struct Listening {
    reader: Box<dyn BufRead>,
}

impl Listening {
    fn to(nodes: &Nodes, index: usize, after: Option<&str>) -> Result<Self, (u16, String)> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_recv_body(Some(Duration::from_secs(60)))
            .build()
            .into();
        let token = std::fs::read_to_string(nodes.folder(index).join("read.token")).unwrap();
        let mut request = agent
            .get(format!("http://{}/v1/events", nodes.api(index)))
            .header("authorization", format!("Bearer {}", token.trim()));
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        let mut answer = request.call().unwrap();
        let status = answer.status().as_u16();
        if status != 200 {
            return Err((status, answer.body_mut().read_to_string().unwrap()));
        }
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        let reader: Box<dyn Read> = Box::new(answer.into_body().into_reader());
        let mut listening = Listening { reader: Box::new(BufReader::new(reader)) };
        // The first line is a comment: what happens from here on is heard.
        listening.line();
        Ok(listening)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.reader.read_line(&mut line).unwrap() > 0, "the stream ended");
        line.trim_end().to_owned()
    }

    /// The next event: its number and what it says.
    fn next(&mut self) -> (String, Value) {
        let (mut id, mut kind) = (String::new(), String::new());
        loop {
            let line = self.line();
            match line.split_once(": ") {
                Some(("id", text)) => id = text.to_owned(),
                Some(("event", text)) => kind = text.to_owned(),
                Some(("data", text)) => {
                    let value: Value = serde_json::from_str(text).unwrap();
                    assert_eq!(value["event"], kind.as_str());
                    return (id, value);
                }
                _ => {}
            }
        }
    }

    /// Events up to the first of this kind.
    fn until(&mut self, kind: &str) -> Vec<(String, Value)> {
        let end = Instant::now() + Duration::from_secs(60);
        let mut heard = Vec::new();
        loop {
            heard.push(self.next());
            if heard.last().unwrap().1["event"] == kind {
                return heard;
            }
            assert!(Instant::now() < end, "{heard:?}");
        }
    }
}

#[test]
fn a_listener_hears_a_ceremony_and_its_blame() {
    let mut nodes = Nodes::start(2, &[("join_ms", "2000"), ("round_ms", "4000")]);
    let mut listening = Listening::to(&nodes, 0, None).unwrap();
    let key = nodes.keygen(0, 2);
    let made = listening.until("ceremony_ended");
    let kinds: Vec<_> = made.iter().map(|(_, event)| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["ceremony_proposed", "ceremony_started"], "{made:?}");
    let ceremony = &made[0].1["ceremony"];
    assert!(made.iter().all(|(_, event)| event["ceremony"] == *ceremony), "{made:?}");
    let candidates = made[0].1["candidates"].as_array().unwrap();
    assert_eq!((candidates.len(), &candidates[0]["name"].is_string()), (2, &true));
    for party in ["node-1", "node-2"] {
        let of = made.iter().filter(|(_, e)| e["event"] == "round" && e["party"]["name"] == party);
        let mut rounds: Vec<_> = of.map(|(_, event)| event["round"].as_u64().unwrap()).collect();
        rounds.sort_unstable();
        let each: Vec<u64> = (1..=rounds.len() as u64).collect();
        assert!(rounds.len() > 1 && rounds == each, "each once, none left out: {rounds:?}");
    }
    let last = &made.last().unwrap().1;
    assert_eq!((&last["state"], &last["kind"]), (&json!("done"), &json!("keygen")), "{last}");
    assert_eq!(last["key"], key.as_str());

    // The second node ends; a signature without it fails, and it is blamed.
    nodes.kill(1);
    let gone = listening.until("peer_disconnected");
    assert_eq!(gone.last().unwrap().1["peer"]["name"], "node-2");
    assert_eq!(nodes.sign(0, &key, "alone").0, 502);
    let failed = listening.until("ceremony_ended");
    let blame = failed.iter().find(|(_, event)| event["event"] == "blame").unwrap();
    assert_eq!(blame.1["peer"]["name"], "node-2", "{failed:?}");
    assert_eq!(blame.1["reporter"]["name"], "node-1");
    assert_eq!(blame.1["evidence"], "absence");
    assert_eq!(failed.last().unwrap().1["state"], "failed");
    nodes.run(1);
    let back = listening.until("peer_connected");
    assert_eq!(back.last().unwrap().1["peer"]["name"], "node-2");

    // Who comes back hears what came after the event that it names, and with 0 all that is kept.
    let mut again = Listening::to(&nodes, 0, Some(&gone.last().unwrap().0)).unwrap();
    assert_eq!(again.next().1["event"], failed[0].1["event"]);
    let mut all = Listening::to(&nodes, 0, Some("0")).unwrap();
    let before = all.until("ceremony_ended");
    assert!(before.iter().any(|(number, _)| *number == made[0].0), "{before:?}");
    // Nothing of the stream is lost meanwhile, and its numbers grow.
    let heard: Vec<_> = [made, gone, failed, back].concat();
    assert!(heard.iter().map(|(id, _)| id.parse::<u64>().unwrap()).is_sorted());
    assert_eq!(Listening::to(&nodes, 0, Some("x")).err().unwrap().0, 400);
}

#[test]
fn so_many_listen_and_a_stop_ends_them() {
    let nodes = Nodes::start(2, &[]);
    let mut listening: Vec<_> = (0..16).map(|_| Listening::to(&nodes, 0, None).unwrap()).collect();
    let (status, text) = Listening::to(&nodes, 0, None).err().unwrap();
    assert!(status == 429 && text.contains("events.full"), "{status} {text}");
    drop(listening.pop());
    let end = Instant::now() + Duration::from_secs(30);
    while Listening::to(&nodes, 0, None).is_err() {
        assert!(Instant::now() < end, "a place that became free is given again");
        std::thread::sleep(Duration::from_millis(50));
    }
    let key = nodes.keygen(0, 2);
    for listening in &mut listening {
        assert_eq!(listening.until("ceremony_ended").last().unwrap().1["key"], key.as_str());
    }
    // Listeners do not keep a node from stopping.
    let begun = Instant::now();
    nodes.signal(0, "TERM");
    for listening in &mut listening {
        let mut rest = Vec::new();
        let _ = listening.reader.read_to_end(&mut rest);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
