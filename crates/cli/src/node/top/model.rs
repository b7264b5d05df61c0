//! What is known of the node, and what the user looks at.

use super::source::{News, State};
use ratatui::crossterm::event::KeyCode;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Ceremonies that are kept.
const MOST_KEPT: usize = 60;
/// The longest message that is typed.
const MOST_TYPED: usize = 4096;

/// The parts of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Panel {
    /// Ceremonies, as rounds by party.
    #[default]
    Ceremonies,
    /// Peers with latency.
    Peers,
    /// Keys with sharings.
    Keys,
    /// Who is blamed.
    Blame,
}

impl Panel {
    pub(super) const ALL: [Panel; 4] = [Panel::Ceremonies, Panel::Peers, Panel::Keys, Panel::Blame];
}

/// What the user does.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Doing {
    /// Looks at the panels.
    #[default]
    Looking,
    /// Looks at one thing; the number is the first line shown.
    Reading { title: String, text: String, from: u16 },
    /// Types a message to sign or approve.
    Asking { key: String, approve: bool, typed: String },
}

/// What a key asks for that the model cannot do.
#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    /// The end.
    Leave,
    /// A request to the node.
    Post { path: &'static str, body: Value },
}

/// One ceremony.
#[derive(Clone, Debug, Default)]
pub(super) struct Ceremony {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) key: String,
    pub(super) proposer: String,
    /// Identities and names.
    pub(super) parties: Vec<(String, String)>,
    /// Rounds and when their messages were there, by identity.
    pub(super) rounds: HashMap<String, Vec<(u64, u64)>>,
    pub(super) state: String,
    pub(super) begun: u64,
    pub(super) started: Option<u64>,
    pub(super) ended: Option<u64>,
    pub(super) reason: String,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) state: Option<State>,
    pub(super) trouble: Option<String>,
    pub(super) live: bool,
    pub(super) ceremonies: BTreeMap<String, Ceremony>,
    pub(super) panel: Panel,
    pub(super) selected: [usize; 4],
    pub(super) doing: Doing,
    /// The time of the node's latest event, and when it came: what runs is measured by it.
    clock: Option<(u64, std::time::Instant)>,
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn parties(value: &Value) -> Vec<(String, String)> {
    let party = |party: &Value| (text(&party["id"]).to_owned(), text(&party["name"]).to_owned());
    list(value).iter().map(party).collect()
}

impl Model {
    /// Says whether the node has answered.
    pub(super) fn is_known(&self) -> bool {
        self.state.is_some()
    }

    /// Takes in what is heard.
    pub(super) fn hear(&mut self, news: News) {
        match news {
            News::State(state) => {
                state.ceremonies.iter().for_each(|record| self.remember(record));
                (self.state, self.trouble) = (Some(*state), None);
            }
            News::Trouble(message) => self.trouble = Some(message),
            News::Live(live) => self.live = live,
            News::Event(event) => self.happened(&event),
            News::Answer(answer) => self.answered(answer),
        }
        while self.ceremonies.len() > MOST_KEPT {
            let oldest = self.ceremonies.values().min_by_key(|it| it.begun).map(|it| it.id.clone());
            let Some(oldest) = oldest else { break };
            self.ceremonies.remove(&oldest);
        }
    }

    fn known(&mut self, id: &str) -> &mut Ceremony {
        self.ceremonies.entry(id.to_owned()).or_insert_with(|| Ceremony {
            id: id.to_owned(),
            state: "running".to_owned(),
            ..Ceremony::default()
        })
    }

    /// A ceremony as the log has it.
    fn remember(&mut self, record: &Value) {
        let it = self.known(text(&record["id"]));
        it.kind = text(&record["kind"]).to_owned();
        it.key = text(&record["key"]).to_owned();
        it.proposer = text(&record["proposer"]["name"]).to_owned();
        it.reason = text(&record["reason"]).to_owned();
        if it.begun == 0 {
            it.begun = record["started_ms"].as_u64().unwrap_or_default();
        }
        if it.started.is_none() {
            it.parties = parties(&record["participants"]);
        }
        if record["state"] != "running" {
            it.state = text(&record["state"]).to_owned();
            it.ended = record["ended_ms"].as_u64();
        }
    }

    fn happened(&mut self, event: &Value) {
        let at = event["ms"].as_u64().unwrap_or_default();
        if at > 0 {
            self.clock = Some((at, std::time::Instant::now()));
        }
        let Some(id) = event["ceremony"].as_str() else { return };
        let it = self.known(id);
        if it.begun == 0 {
            it.begun = at;
        }
        match text(&event["event"]) {
            "ceremony_proposed" => {
                it.kind = text(&event["kind"]).to_owned();
                it.key = text(&event["key"]).to_owned();
                it.proposer = text(&event["proposer"]["name"]).to_owned();
                it.begun = at;
                it.parties = parties(&event["candidates"]);
            }
            "ceremony_started" => {
                it.started = Some(at);
                it.parties = parties(&event["participants"]);
            }
            "round" => {
                let rounds = it.rounds.entry(text(&event["party"]["id"]).to_owned()).or_default();
                let round = event["round"].as_u64().unwrap_or_default();
                if rounds.iter().all(|(known, _)| *known != round) {
                    rounds.push((round, at));
                }
            }
            "ceremony_ended" => {
                it.kind = text(&event["kind"]).to_owned();
                it.key = text(&event["key"]).to_owned();
                it.state = text(&event["state"]).to_owned();
                it.reason = text(&event["reason"]).to_owned();
                it.ended = Some(at);
            }
            _ => {}
        }
    }

    /// The node's time now, as far as it is known.
    pub(super) fn now(&self) -> u64 {
        let elapsed = |(at, when): &(u64, std::time::Instant)| {
            at.saturating_add(u64::try_from(when.elapsed().as_millis()).unwrap_or(u64::MAX))
        };
        self.clock.as_ref().map_or(0, elapsed)
    }

    /// Ceremonies: those that run, and then the latest.
    pub(super) fn shown(&self) -> Vec<&Ceremony> {
        let mut all: Vec<_> = self.ceremonies.values().collect();
        all.sort_by_key(|it| (it.state != "running", core::cmp::Reverse(it.begun)));
        all
    }

    pub(super) fn peers(&self) -> &[Value] {
        self.state.as_ref().map(|state| list(&state.status["peers"])).unwrap_or_default()
    }

    pub(super) fn keys(&self) -> &[Value] {
        self.state.as_ref().map(|state| state.keys.as_slice()).unwrap_or_default()
    }

    /// Each blame with its ceremony, the latest first.
    pub(super) fn blames(&self) -> Vec<(&Value, &Value)> {
        let records = self.state.iter().flat_map(|state| &state.ceremonies);
        records.flat_map(|it| list(&it["blames"]).iter().map(move |blame| (it, blame))).collect()
    }

    fn count(&self) -> usize {
        match self.panel {
            Panel::Ceremonies => self.ceremonies.len(),
            Panel::Peers => self.peers().len(),
            Panel::Keys => self.keys().len(),
            Panel::Blame => self.blames().len(),
        }
    }

    /// Goes to another panel.
    pub(super) fn turn(&mut self, by: isize) {
        let at = (self.panel as isize + by).rem_euclid(Panel::ALL.len() as isize);
        self.panel = Panel::ALL[at as usize];
    }

    /// Moves the selection, or the text that is read.
    pub(super) fn step(&mut self, by: isize) {
        if let Doing::Reading { from, text, .. } = &mut self.doing {
            let last = text.lines().count().saturating_sub(1);
            *from = usize::from(*from).saturating_add_signed(by).min(last) as u16;
            return;
        }
        let last = self.count().saturating_sub(1);
        let selected = &mut self.selected[self.panel as usize];
        *selected = selected.saturating_add_signed(by).min(last);
    }

    /// What is selected in a panel; it stays within what there is.
    pub(super) fn selection(&mut self, panel: Panel, count: usize) -> usize {
        let selected = &mut self.selected[panel as usize];
        *selected = (*selected).min(count.saturating_sub(1));
        *selected
    }

    /// Opens what is selected.
    pub(super) fn open(&mut self) {
        if let Doing::Reading { .. } = self.doing {
            self.doing = Doing::Looking;
            return;
        }
        let at = self.selected[self.panel as usize];
        let found = match self.panel {
            Panel::Peers => self.peers().get(at).map(|peer| ("Peer", peer.clone())),
            Panel::Keys => self.keys().get(at).map(|key| ("Key", key.clone())),
            Panel::Blame => self.blames().get(at).map(|(ceremony, blame)| {
                let mut evidence = (*blame).clone();
                evidence["ceremony"] = ceremony["id"].clone();
                ("Blame and its evidence", evidence)
            }),
            Panel::Ceremonies => {
                let id = self.shown().get(at).map(|it| it.id.clone());
                let records = self.state.iter().flat_map(|state| &state.ceremonies);
                let named =
                    |record: &&Value| id.is_some() && record["id"].as_str() == id.as_deref();
                records.clone().find(named).map(|record| ("Ceremony", record.clone()))
            }
        };
        if let Some((title, value)) = found {
            let text = serde_json::to_string_pretty(&value).unwrap_or_default();
            self.doing = Doing::Reading { title: title.to_owned(), text, from: 0 };
        }
    }

    /// Asks for a message to sign or approve with the selected key.
    pub(super) fn ask(&mut self, approve: bool) {
        let at = self.selected[Panel::Keys as usize];
        if let Some(key) = self.keys().get(at).map(|key| text(&key["key"]).to_owned()) {
            self.doing = Doing::Asking { key, approve, typed: String::new() };
        }
    }

    /// A key while a message is typed.
    pub(super) fn typed(&mut self, code: KeyCode) -> Option<Wish> {
        let Doing::Asking { key, approve, typed } = &mut self.doing else { return None };
        match code {
            KeyCode::Char(c) if typed.len() < MOST_TYPED => typed.push(c),
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Esc => self.doing = Doing::Looking,
            KeyCode::Enter if !typed.is_empty() => {
                let path = if *approve { "/v1/approvals" } else { "/v1/sign" };
                let body = json!({ "key": key, "message": typed });
                let text = "The node was asked.".to_owned();
                let title = if *approve { "Approve" } else { "Sign" }.to_owned();
                self.doing = Doing::Reading { title, text, from: 0 };
                return Some(Wish::Post { path, body });
            }
            _ => {}
        }
        None
    }

    fn answered(&mut self, answer: Result<Value, String>) {
        let (title, text) = match answer {
            Ok(value) if value["signature"].is_string() => ("Signed", value),
            Ok(value) => ("Approved", value),
            Err(message) => ("Refused", Value::String(message)),
        };
        let text = match text {
            Value::String(message) => message,
            value => serde_json::to_string_pretty(&value).unwrap_or_default(),
        };
        self.doing = Doing::Reading { title: title.to_owned(), text, from: 0 };
    }
}
