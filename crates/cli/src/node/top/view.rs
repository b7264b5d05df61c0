//! How it looks: four panels, or one at a time where there is little room.

use super::model::{Ceremony, Doing, Model, Panel, list, text as said};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Paragraph, Wrap};
use serde_json::Value;

/// With less room, one panel is shown at a time.
const ROOMY: (u16, u16) = (90, 24);
/// Columns of a party's name before its rounds.
const NAME: usize = 12;
const ROUNDS: [Color; 7] = [
    Color::Cyan,
    Color::Blue,
    Color::Magenta,
    Color::LightRed,
    Color::Yellow,
    Color::Green,
    Color::LightBlue,
];

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, model: &mut Model) {
    let rows = [Constraint::Length(1), Constraint::Min(3), Constraint::Length(1)];
    let [head, body, foot] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(header(model), head);
    frame.render_widget(footer(model), foot);
    if body.width >= ROOMY.0 && body.height >= ROOMY.1 {
        let halves = [Constraint::Percentage(50), Constraint::Percentage(50)];
        let [upper, lower] = Layout::vertical(halves).areas(body);
        let parts = [Constraint::Percentage(34), Constraint::Percentage(33), Constraint::Fill(1)];
        let [peers, keys, blame] = Layout::horizontal(parts).areas(lower);
        for (panel, area) in Panel::ALL.into_iter().zip([upper, peers, keys, blame]) {
            draw_panel(frame, model, panel, area);
        }
    } else {
        draw_panel(frame, model, model.panel, body);
    }
    draw_window(frame, model, body);
}

/// The picture as text, without colors and without spaces at the ends of lines.
pub(super) fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let lines = buffer.content.chunks(width).map(|line| {
        let text: String = line.iter().map(|cell| cell.symbol()).collect();
        text.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn header(model: &Model) -> Line<'static> {
    let Some(state) = &model.state else {
        let waiting = model.trouble.clone().unwrap_or_else(|| "asking the node…".to_owned());
        return Line::from(format!(" {waiting}"));
    };
    let status = &state.status;
    let ready = match &state.unready {
        None => " ready ".black().on_green(),
        Some(why) => format!(" not ready: {why} ").black().on_red(),
    };
    let live =
        if model.live { " live ".black().on_green() } else { " no events ".black().on_yellow() };
    let mut line = vec![
        format!(" {} ", said(&status["name"])).bold(),
        ready,
        " ".into(),
        live,
        format!(
            "  {} running, {} waiting  up {}  version {}",
            status["ceremonies_running"],
            status["ceremonies_waiting"],
            duration(status["uptime_s"].as_u64().unwrap_or_default().saturating_mul(1000)),
            said(&status["version"]),
        )
        .into(),
    ];
    if let Some(trouble) = &model.trouble {
        line.push(format!("  {trouble}").red());
    }
    Line::from(line)
}

fn footer(model: &Model) -> Line<'static> {
    let keys = match model.doing {
        Doing::Asking { .. } => " Enter: send   Esc: leave",
        Doing::Reading { .. } => " ↑↓: move   Esc: back",
        Doing::Looking => {
            " Tab: next panel   ↑↓: move   Enter: open   s: sign   a: approve   q: leave"
        }
    };
    Line::from(keys).dim()
}

fn draw_panel(frame: &mut Frame<'_>, model: &mut Model, panel: Panel, area: Rect) {
    let focused = model.panel == panel;
    let width = area.width.saturating_sub(2);
    let (title, cards) = match panel {
        Panel::Ceremonies => ("Ceremonies", ceremonies(model, usize::from(width))),
        Panel::Peers => ("Peers", model.peers().iter().map(peer).collect()),
        Panel::Keys => ("Keys", model.keys().iter().map(key).collect()),
        Panel::Blame => ("Blame", blames(model)),
    };
    let selected = model.selection(panel, cards.len());
    let border = if focused { Style::new().fg(Color::Cyan) } else { Style::new().dim() };
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(border)
        .title(format!(" {title} ({}) ", cards.len()));
    let inside = usize::from(area.height.saturating_sub(2));
    let (mut lines, mut end) = (Vec::new(), 0);
    let empty = cards.is_empty();
    for (at, card) in cards.into_iter().enumerate() {
        let chosen = focused && at == selected;
        for (row, mut line) in card.into_iter().enumerate() {
            let mark = if chosen && row == 0 { "▸ " } else { "  " };
            line.spans.insert(0, Span::raw(mark));
            lines.push(if chosen && row == 0 { line.add_modifier(Modifier::BOLD) } else { line });
        }
        if at == selected {
            end = lines.len();
        }
    }
    if empty {
        lines.push(Line::from("  none").dim());
    }
    let from = u16::try_from(end.saturating_sub(inside)).unwrap_or(u16::MAX);
    frame.render_widget(Paragraph::new(lines).scroll((from, 0)).block(block), area);
}

/// A ceremony is a line, and one for each party with its rounds.
fn ceremonies(model: &Model, width: usize) -> Vec<Vec<Line<'static>>> {
    let now = model.now();
    let lane = width.saturating_sub(NAME + 4);
    model.shown().into_iter().map(|it| ceremony(it, now, lane)).collect()
}

fn ceremony(it: &Ceremony, now: u64, lane: usize) -> Vec<Line<'static>> {
    let end = it.ended.unwrap_or(now).max(it.begun);
    let color = match it.state.as_str() {
        "done" => Color::Green,
        "running" => Color::Yellow,
        "failed" | "interrupted" => Color::Red,
        _ => Color::Gray,
    };
    let mut first = vec![
        Span::styled(format!("{:<11}", it.state), Style::new().fg(color)),
        Span::raw(format!("{:<8}", it.kind)),
        Span::raw(format!("{:<9}", it.key.get(..8).unwrap_or_default())),
        Span::raw(format!("{:>8}  ", duration(end.saturating_sub(it.begun)))),
        Span::raw(format!("asked by {}", it.proposer)).dim(),
    ];
    if !it.reason.is_empty() {
        first.push(format!("  {}", it.reason).red());
    }
    let mut lines = vec![Line::from(first)];
    if !it.rounds.is_empty() {
        lines.extend(it.parties.iter().map(|(id, name)| rounds(it, id, name, end, lane)));
    }
    lines
}

/// A bar for each round, which ends when the party's message of it was there.
fn rounds(it: &Ceremony, id: &str, name: &str, end: u64, lane: usize) -> Line<'static> {
    let whole = end.saturating_sub(it.begun).max(1);
    let column = |at: u64| {
        let share = at.clamp(it.begun, end) - it.begun;
        usize::try_from(share as u128 * lane as u128 / u128::from(whole)).unwrap_or(lane)
    };
    let shown: String = name.chars().take(NAME).collect();
    let mut spans = vec![Span::raw(format!("{shown:<NAME$} "))];
    let mut from = 0;
    let mut bar = |until: usize, label: String, style: Style| {
        let width = until.saturating_sub(from);
        let label: String = label.chars().take(width).collect();
        spans.push(Span::styled(format!("{label:<width$}"), style));
        from = from.max(until);
    };
    if let Some(started) = it.started {
        bar(column(started), "join".to_owned(), Style::new().black().on_dark_gray());
    }
    let mut seen = it.rounds.get(id).cloned().unwrap_or_default();
    seen.sort_by_key(|(round, at)| (*at, *round));
    for (round, at) in seen {
        let color = ROUNDS[(round.saturating_sub(1) % ROUNDS.len() as u64) as usize];
        bar(column(at), round.to_string(), Style::new().black().bg(color));
    }
    if it.state == "running" {
        bar(lane, "…".to_owned(), Style::new().dim());
    }
    Line::from(spans)
}

fn peer(peer: &Value) -> Vec<Line<'static>> {
    let connected = peer["connected"] == true;
    let dot = if connected { "● ".green() } else { "○ ".red() };
    let latency = match peer["round_trip_ms"].as_f64() {
        Some(ms) if connected => format!("{ms:.1} ms"),
        _ if connected => "connected".to_owned(),
        _ => "not connected".to_owned(),
    };
    let dropped = peer["dropped_messages"].as_u64().filter(|count| *count > 0);
    let dropped = dropped.map(|count| format!("  {count} dropped")).unwrap_or_default();
    vec![
        Line::from(vec![
            dot,
            format!("{:<12} ", said(&peer["name"])).into(),
            latency.into(),
            dropped.yellow(),
        ]),
        Line::from(format!("  {}", said(&peer["address"]))).dim(),
    ]
}

fn key(key: &Value) -> Vec<Line<'static>> {
    let parties = list(&key["parties"]);
    let names: Vec<_> = parties.iter().map(|party| said(&party["name"])).collect();
    let unconfirmed = if key["confirmed"] == true { "" } else { "  unconfirmed" };
    let id = said(&key["key"]).get(..16).unwrap_or_default().to_owned();
    let mut lines = vec![
        Line::from(vec![
            format!("{}-of-{}  {id}", key["threshold"], parties.len()).into(),
            unconfirmed.yellow(),
        ]),
        Line::from(format!("  {}  sharing {}", said(&key["scheme"]), key["sharing"])).dim(),
        Line::from(format!("  {}", names.join(", "))).dim(),
    ];
    let addresses = key["addresses"].as_object();
    lines.extend(
        addresses
            .into_iter()
            .flatten()
            .map(|(chain, address)| Line::from(format!("  {chain} {}", said(address))).dim()),
    );
    lines
}

fn blames(model: &Model) -> Vec<Vec<Line<'static>>> {
    let blame = |(ceremony, blame): (&Value, &Value)| {
        let evidence = said(&blame["evidence"]).to_owned();
        let color = match evidence.as_str() {
            "proof" => Color::Red,
            "accusation" => Color::Yellow,
            _ => Color::Gray,
        };
        let peer = said(&blame["peer"]["name"]).to_owned();
        let (kind, reporter) = (said(&ceremony["kind"]), said(&blame["reporter"]["name"]));
        vec![
            Line::from(vec![
                Span::styled(format!("{evidence:<11}"), Style::new().fg(color)),
                Span::raw(peer),
            ]),
            Line::from(format!("  {} ({kind}, by {reporter})", said(&blame["fault"]))).dim(),
        ]
    };
    model.blames().into_iter().map(blame).collect()
}

/// What is read or typed, above the panels.
fn draw_window(frame: &mut Frame<'_>, model: &Model, body: Rect) {
    let (title, text, from) = match &model.doing {
        Doing::Looking => return,
        Doing::Reading { title, text, from } => (title.clone(), text.clone(), *from),
        Doing::Asking { key, approve, typed } => {
            let verb = if *approve { "Approve" } else { "Sign" };
            let key = key.get(..16).unwrap_or_default();
            (format!("{verb} a message with key {key}…"), format!("{typed}▏"), 0)
        }
    };
    let rows = u16::try_from(text.lines().count() + 2).unwrap_or(u16::MAX);
    let (width, height) = (
        body.width.saturating_sub(4).min(100),
        rows.clamp(5, body.height.saturating_sub(2).max(5)),
    );
    let area = Rect {
        x: body.x + (body.width - width.min(body.width)) / 2,
        y: body.y + body.height.saturating_sub(height) / 2,
        width: width.min(body.width),
        height: height.min(body.height),
    };
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(Style::new().fg(Color::Cyan))
        .title(format!(" {title} "));
    let shown = Paragraph::new(text).wrap(Wrap { trim: false }).scroll((from, 0)).block(block);
    frame.render_widget(Clear, area);
    frame.render_widget(shown, area);
}

/// A duration as people say it.
fn duration(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        60_000..3_600_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    }
}
