//! `tetralith node top`: watch a node from a terminal, near it or far.
//!
//! Two threads ask the node, one for its state every few seconds and one for its events; this one draws and
//! reads keys. What is shown is in [`model`], how it looks in [`view`].

mod model;
mod source;
mod view;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::tss::{Client, OfNode};
use model::{Doing, Model, Wish};
use ratatui::Terminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde_json::json;
use source::News;
use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Watches a node.
#[derive(clap::Args, Debug)]
pub(crate) struct Command {
    #[command(flatten)]
    of: OfNode,
    /// Draw once to standard output and end, in this many columns and lines
    #[arg(long, value_name = "COLUMNSxLINES", value_parser = size)]
    once: Option<(u16, u16)>,
}

/// How long the screen stays as it is where nothing happens; durations of what runs grow by it.
const FRAME: Duration = Duration::from_millis(100);
/// How long `--once` waits for the node's first answer and its kept events.
const FIRST: Duration = Duration::from_secs(10);
const SETTLED: Duration = Duration::from_millis(300);

fn size(text: &str) -> Result<(u16, u16), String> {
    let wrong = || format!("{text:?} is not COLUMNSxLINES, such as 100x40");
    let (columns, lines) = text.split_once('x').ok_or_else(wrong)?;
    let side = |text: &str| text.parse().ok().filter(|side| (20..=500).contains(side));
    side(columns).zip(side(lines)).ok_or_else(wrong)
}

/// Runs `tetralith node top`.
pub(super) fn run(context: Context, command: &Command) -> Outcome {
    let client = || Client::of(&command.of);
    // A wrong token or address is an error of the command, not a picture.
    client()?.get("/v1/status")?;
    let (news, hear) = channel();
    source::start(client()?, client()?, &news);
    if let Some((columns, lines)) = command.once {
        return once(context, &hear, columns, lines);
    }
    if !std::io::stdout().is_terminal() {
        return Err(Failure::usage("terminal.missing", "standard output is not a terminal")
            .hint("draw once with --once 100x40"));
    }
    let failed = |error| Failure::new(Exit::Environment, "terminal.failed", error);
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let end = watch(&mut terminal, &hear, &news, &client);
    ratatui::restore();
    end
}

/// Draws and reads keys until the user leaves.
fn watch(
    terminal: &mut Terminal<impl ratatui::backend::Backend<Error = std::io::Error>>,
    hear: &Receiver<News>,
    news: &Sender<News>,
    client: &dyn Fn() -> Outcome<Client>,
) -> Outcome {
    let failed = |error: std::io::Error| Failure::new(Exit::Environment, "terminal.failed", error);
    let mut model = Model::default();
    loop {
        hear.try_iter().for_each(|news| model.hear(news));
        terminal.draw(|frame| view::draw(frame, &mut model)).map_err(failed)?;
        if !event::poll(FRAME).map_err(failed)? {
            continue;
        }
        let Event::Key(key) = event::read().map_err(failed)? else { continue };
        match pressed(&mut model, key) {
            Some(Wish::Leave) => return Ok(()),
            Some(Wish::Post { path, body }) => source::post(client()?, path, body, news.clone()),
            None => {}
        }
    }
}

/// Does what a key means.
fn pressed(model: &mut Model, key: KeyEvent) -> Option<Wish> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
        return Some(Wish::Leave);
    }
    if let Doing::Asking { .. } = model.doing {
        return model.typed(key.code);
    }
    match key.code {
        KeyCode::Char('q') => return Some(Wish::Leave),
        KeyCode::Esc if matches!(model.doing, Doing::Looking) => return Some(Wish::Leave),
        KeyCode::Esc => model.doing = Doing::Looking,
        KeyCode::Tab | KeyCode::Right | KeyCode::Char('l') => model.turn(1),
        KeyCode::BackTab | KeyCode::Left | KeyCode::Char('h') => model.turn(-1),
        KeyCode::Down | KeyCode::Char('j') => model.step(1),
        KeyCode::Up | KeyCode::Char('k') => model.step(-1),
        KeyCode::PageDown => model.step(10),
        KeyCode::PageUp => model.step(-10),
        KeyCode::Home | KeyCode::Char('g') => model.step(isize::MIN),
        KeyCode::End | KeyCode::Char('G') => model.step(isize::MAX),
        KeyCode::Enter => model.open(),
        KeyCode::Char('s') => model.ask(false),
        KeyCode::Char('a') => model.ask(true),
        _ => {}
    }
    None
}

/// Draws one picture, as text without colors.
fn once(context: Context, hear: &Receiver<News>, columns: u16, lines: u16) -> Outcome {
    let mut model = Model::default();
    let end = Instant::now() + FIRST;
    let mut wait = FIRST;
    while let Ok(news) = hear.recv_timeout(wait) {
        model.hear(news);
        if Instant::now() > end {
            break;
        }
        if model.is_known() {
            wait = SETTLED;
        }
    }
    let backend = ratatui::backend::TestBackend::new(columns, lines);
    let Ok(mut terminal) = Terminal::new(backend);
    let Ok(_) = terminal.draw(|frame| view::draw(frame, &mut model));
    let text = view::text(terminal.backend().buffer());
    context.answer(text.clone(), json!({ "screen": text }))
}

#[cfg(test)]
mod tests;
