use super::model::Panel;
use super::source::State;
use super::*;
use ratatui::backend::TestBackend;
use serde_json::Value;

fn press(model: &mut Model, code: KeyCode) -> Option<Wish> {
    pressed(model, KeyEvent::new(code, KeyModifiers::NONE))
}

fn drawn(model: &mut Model, columns: u16, lines: u16) -> String {
    let Ok(mut terminal) = Terminal::new(TestBackend::new(columns, lines));
    let Ok(_) = terminal.draw(|frame| view::draw(frame, model));
    view::text(terminal.backend().buffer())
}

fn party(name: &str) -> Value {
    json!({ "name": name, "id": format!("id-{name}") })
}

/// A node with two peers, a key, a ceremony that failed and one that runs.
fn model() -> Model {
    let mut model = Model::default();
    let blame = json!({
        "peer": party("carol"), "reporter": party("alice"), "round": 2, "evidence": "proof",
        "fault": "failed multiplication", "receipts": [], "proof": { "messages": ["ab"] },
    });
    let failed = json!({
        "id": "f1", "kind": "sign", "key": "00112233445566778899aabbccddeeff", "state": "failed",
        "proposer": party("bob"), "participants": [party("alice"), party("bob")],
        "started_ms": 500, "ended_ms": 700, "reason": "carol: failed multiplication",
        "blames": [blame],
    });
    let peer = |name: &str, connected: bool, ms: Option<f64>| {
        json!({ "name": name, "id": name, "address": format!("/dns/{name}/tcp/7100"),
                "connected": connected, "round_trip_ms": ms, "dropped_messages": 0 })
    };
    let key = json!({
        "key": "00112233445566778899aabbccddeeff", "public_key": "02ab", "scheme": "dkls23",
        "threshold": 2, "parties": [party("alice"), party("bob"), party("carol")],
        "confirmed": true, "sharing": 3, "addresses": { "ethereum": "0xabcd" },
    });
    let state = State {
        status: json!({
            "name": "alice", "version": "0.1.0", "uptime_s": 7500, "ceremonies_running": 1,
            "ceremonies_waiting": 2, "peers": [peer("bob", true, Some(12.25)), peer("carol", false, None)],
        }),
        keys: vec![key],
        ceremonies: vec![failed],
        unready: None,
    };
    model.hear(News::State(Box::new(state)));
    model.hear(News::Live(true));
    let event = |kind: &str, ms: u64, more: Value| {
        let mut event = json!({ "event": kind, "ms": ms, "ceremony": "c1" });
        more.as_object().unwrap().iter().for_each(|(name, value)| event[name] = value.clone());
        News::Event(event)
    };
    let parties = json!([party("alice"), party("bob")]);
    let key = "00112233445566778899aabbccddeeff";
    let begun =
        json!({ "kind": "sign", "key": key, "proposer": party("alice"), "candidates": parties });
    model.hear(event("ceremony_proposed", 1000, begun));
    model.hear(event("ceremony_started", 1100, json!({ "participants": parties })));
    model.hear(event("round", 1150, json!({ "party": party("alice"), "round": 1 })));
    model.hear(event("round", 1200, json!({ "party": party("bob"), "round": 1 })));
    model
}

#[test]
fn a_large_terminal_shows_everything() {
    let mut model = model();
    let text = drawn(&mut model, 150, 40);
    for expected in [
        "alice  ready   live   1 running, 2 waiting  up 2 h  version 0.1.0",
        "▸ running    sign    00112233",
        "asked by alice",
        "bob          join",
        "failed     sign    00112233   200 ms  asked by bob  carol: failed multiplication",
        "● bob          12.2 ms",
        "○ carol        not connected",
        "/dns/carol/tcp/7100",
        "2-of-3  0011223344556677",
        "dkls23  sharing 3",
        "ethereum 0xabcd",
        "proof      carol",
        "failed multiplication (sign, by alice)",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
    // Rounds stand where their messages came: alice's before bob's.
    let lane = |name: &str| text.lines().find(|line| line.contains(&format!("  {name} "))).unwrap();
    let one = |line: &str| line.chars().skip_while(|c| *c != 'j').position(|c| c == '1');
    assert!(one(lane("alice")).is_some() && one(lane("bob")).is_some(), "{text}");
    // The end of it.
    model.hear(News::Event(json!({
        "event": "ceremony_ended", "ms": 1300, "ceremony": "c1", "state": "done", "kind": "sign",
        "key": "00112233445566778899aabbccddeeff", "reason": null,
    })));
    let text = drawn(&mut model, 150, 40);
    assert!(text.contains("done       sign    00112233   300 ms"), "{text}");
}

#[test]
fn a_small_terminal_shows_one_panel_and_keys_move() {
    let mut model = model();
    let text = drawn(&mut model, 60, 16);
    assert!(text.contains("Ceremonies (2)") && !text.contains("Peers ("), "{text}");
    assert!(press(&mut model, KeyCode::Tab).is_none());
    let text = drawn(&mut model, 60, 16);
    assert!(text.contains("Peers (2)") && text.contains("▸ ● bob"), "{text}");
    press(&mut model, KeyCode::Down);
    press(&mut model, KeyCode::Down);
    let text = drawn(&mut model, 60, 16);
    assert!(text.contains("▸ ○ carol"), "the last stays selected: {text}");
    press(&mut model, KeyCode::BackTab);
    assert_eq!(model.panel, Panel::Ceremonies);
    press(&mut model, KeyCode::Left);
    assert_eq!(model.panel, Panel::Blame);
    press(&mut model, KeyCode::Enter);
    let text = drawn(&mut model, 60, 16);
    assert!(
        text.contains("Blame and its evidence") && text.contains("\"ceremony\": \"f1\""),
        "{text}"
    );
    press(&mut model, KeyCode::End);
    press(&mut model, KeyCode::Esc);
    assert_eq!(model.doing, Doing::Looking);
    assert_eq!(press(&mut model, KeyCode::Char('q')), Some(Wish::Leave));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(pressed(&mut model, interrupt), Some(Wish::Leave));
}

#[test]
fn a_message_is_signed_or_approved() {
    let mut model = model();
    for (key, path) in [('s', "/v1/sign"), ('a', "/v1/approvals")] {
        press(&mut model, KeyCode::Char(key));
        "hex".chars().for_each(|c| drop(press(&mut model, KeyCode::Char(c))));
        press(&mut model, KeyCode::Backspace);
        assert!(drawn(&mut model, 100, 30).contains("he▏"));
        let body = json!({ "key": "00112233445566778899aabbccddeeff", "message": "he" });
        assert_eq!(press(&mut model, KeyCode::Enter), Some(Wish::Post { path, body }));
        model.hear(News::Answer(Ok(json!({ "signature": "beef" }))));
        assert!(drawn(&mut model, 100, 30).contains("\"signature\": \"beef\""));
        press(&mut model, KeyCode::Esc);
    }
    model.hear(News::Answer(Err("the read token does not allow this".to_owned())));
    assert!(drawn(&mut model, 100, 30).contains("Refused"));
}

/// Nothing that a node says makes it fail, and no terminal is too small.
#[test]
fn any_answer_and_any_size_are_drawn() {
    let mut model = Model::default();
    assert!(drawn(&mut model, 80, 24).contains("asking the node"));
    model.hear(News::Trouble("unreachable".to_owned()));
    for value in
        [json!(null), json!([1]), json!({ "ceremony": "x", "ms": u64::MAX, "round": u64::MAX })]
    {
        model.hear(News::Event(value.clone()));
        let mut state = State { status: value.clone(), ..State::default() };
        state.keys = vec![value.clone()];
        state.ceremonies = vec![value.clone()];
        model.hear(News::State(Box::new(state)));
        let end = json!({ "event": "round", "ceremony": "x", "ms": 1, "round": 0, "party": null });
        model.hear(News::Event(end));
        for (columns, lines) in [(1, 1), (20, 5), (300, 100), (91, 26)] {
            for panel in Panel::ALL {
                model.panel = panel;
                drawn(&mut model, columns, lines);
                model.open();
                drawn(&mut model, columns, lines);
                model.doing = Doing::Looking;
            }
        }
    }
    for number in 0..500 {
        model.hear(News::Event(
            json!({ "event": "x", "ceremony": format!("{number}"), "ms": number }),
        ));
    }
    assert!(model.ceremonies.len() <= 60);
}
