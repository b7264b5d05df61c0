//! How commands speak: results on standard output, events and progress on standard error.
//!
//! Nothing but the result goes to standard output, as text, or with `--json` as one object.
//! Progress is a bar on a terminal and a line now and then elsewhere. JSON comes with `--json` alone.

use crate::failure::{Exit, Failure, Outcome};
use crate::io::Output;
use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A text in which nothing moves a terminal's cursor, colours it or turns the order of what is read: what
/// servers, peers and files say is printed too. Lines and tabs stay; all else is written as JSON would.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let acts = |c: char| {
        let order = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2066}'..='\u{2069}');
        (c.is_control() && !matches!(c, '\n' | '\t')) || order
    };
    if !text.contains(acts) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match acts(c) {
            true => out += &format!("\\u{:04x}", u32::from(c)),
            false => out.push(c),
        }
    }
    out.into()
}

/// The options that every command has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    /// Number of threads that heavy work may use, at least 1.
    pub(crate) threads: usize,
}

impl Context {
    /// Prints the result: `text` for people, or with `--json` `fields`, an object, with `ok: true`.
    pub(crate) fn answer(&self, text: impl Display, fields: Value) -> Outcome {
        let line = if self.json {
            let mut object = json!({ "ok": true });
            if let (Value::Object(all), Value::Object(fields)) = (&mut object, fields) {
                all.extend(fields);
            }
            object.to_string()
        } else {
            text.to_string()
        };
        self.line(&line)
    }

    /// Prints the result of a command that wrote to `output`; what was written to standard output is all
    /// that goes there, and the result is then told as an event.
    pub(crate) fn wrote(
        &self,
        output: &Output,
        name: &str,
        text: impl Display,
        fields: Value,
    ) -> Outcome {
        if output.is_stdout() {
            self.event(name, text, fields);
            return Ok(());
        }
        self.answer(text, fields)
    }

    /// The same for a result that is `at` another name, as that of `output` was taken meanwhile: it is told
    /// of, and the command fails.
    pub(crate) fn kept(
        &self,
        (output, at): (&Output, &Path),
        name: &str,
        text: impl Display,
        fields: Value,
    ) -> Outcome {
        if output.output == at {
            return self.wrote(output, name, text, fields);
        }
        if !self.json {
            self.line(&text.to_string())?;
        }
        let (taken, at) = (output.output.display(), at.display());
        let message = format!("{taken} was taken meanwhile: the result is in {at}");
        let mut failure = Failure::new(Exit::Environment, "io.exists", message)
            .hint("the file is complete: move it to its place");
        if let Value::Object(fields) = fields {
            failure.fields.extend(fields);
        }
        Err(failure)
    }

    /// Prints one line of a result that has many, without buffering all of it.
    pub(crate) fn line(&self, line: &str) -> Outcome {
        writeln!(std::io::stdout().lock(), "{}", printable(line)).map_err(|error| {
            Failure::new(Exit::Environment, "io.stdout", format!("standard output: {error}"))
        })
    }

    /// Tells of an event on standard error: a line of text, or with `--json` an object.
    pub(crate) fn event(&self, name: &str, text: impl Display, fields: Value) {
        if self.quiet {
            return;
        }
        if self.json {
            let mut object = json!({ "event": name, "message": text.to_string() });
            if let (Value::Object(all), Value::Object(fields)) = (&mut object, fields) {
                all.extend(fields);
            }
            said(&printable(&object.to_string()));
        } else {
            said(&printable(&text.to_string()));
        }
    }

    /// Starts a progress report over `total` steps of `unit`, such as `squarings`.
    pub(crate) fn progress(&self, job: &'static str, total: u64, unit: &'static str) -> Progress {
        let show = if self.quiet {
            Show::Nothing
        } else if !std::io::stderr().is_terminal() {
            Show::Lines { json: self.json }
        } else {
            let template = "{msg} {wide_bar} {percent}%  {rate}  {eta} left";
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                    let _ = write!(out, "{}/s", HumanCount(state.per_sec() as u64));
                });
            Show::Bar(ProgressBar::new(total).with_style(style).with_message(job))
        };
        let now = Instant::now();
        Progress {
            job,
            unit,
            total,
            show,
            start: now,
            from: Mutex::new(None),
            last: Mutex::new(now),
        }
    }
    /// Starts a report of a job whose end nobody can tell.
    pub(crate) fn waiting(&self, job: &'static str) -> Waiting {
        let show = if self.quiet {
            Show::Nothing
        } else if !std::io::stderr().is_terminal() {
            Show::Lines { json: self.json }
        } else {
            let style = ProgressStyle::with_template("{msg} {spinner} {elapsed}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            Show::Bar(ProgressBar::new_spinner().with_style(style).with_message(job))
        };
        let now = Instant::now();
        Waiting { job, show, start: now, last: now }
    }
}

/// A running report of a job whose end nobody can tell.
pub(crate) struct Waiting {
    job: &'static str,
    show: Show,
    start: Instant,
    last: Instant,
}

impl Waiting {
    /// Tells that the job still runs.
    pub(crate) fn tell(&mut self) {
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.tick(),
            Show::Lines { .. } if self.last.elapsed() < LINE_EVERY => {}
            Show::Lines { json } => {
                self.last = Instant::now();
                let seconds = self.start.elapsed().as_secs_f64();
                said(&match json {
                    true => self.line().to_string(),
                    false => format!("progress: {} for {seconds:.0} s", self.job),
                });
            }
        }
    }

    /// Ends the report.
    pub(crate) fn finish(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
    }

    /// For how long the job has run: there is no telling how long it will.
    pub(crate) fn line(&self) -> Value {
        let seconds = self.start.elapsed().as_secs_f64().round();
        json!({ "event": "progress", "job": self.job, "seconds": seconds })
    }
}

enum Show {
    Nothing,
    /// Lines of text, or of JSON with `--json`.
    Lines {
        json: bool,
    },
    Bar(ProgressBar),
}

/// A running progress report; may be told from several threads.
pub(crate) struct Progress {
    job: &'static str,
    unit: &'static str,
    total: u64,
    show: Show,
    start: Instant,
    /// The first count that was told: where a resumed job began.
    from: Mutex<Option<u64>>,
    last: Mutex<Instant>,
}

/// The time between two lines of a progress report that is not on a terminal.
const LINE_EVERY: Duration = Duration::from_secs(2);

impl Progress {
    /// Tells that `done` steps of the total are done.
    pub(crate) fn set(&self, done: u64) {
        let from = *lock(&self.from).get_or_insert(done);
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => {
                bar.set_position(done);
                if from == done {
                    // What was done before is seen, and then does not count as speed.
                    bar.tick();
                    bar.reset_eta();
                }
            }
            Show::Lines { json } => {
                let mut last = lock(&self.last);
                if last.elapsed() >= LINE_EVERY {
                    *last = Instant::now();
                    self.line(*json, done, from);
                }
            }
        }
    }

    /// Ends the report.
    pub(crate) fn finish(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
    }

    fn line(&self, json: bool, done: u64, from: u64) {
        let rate = (done - from.min(done)) as f64 / self.start.elapsed().as_secs_f64().max(1e-9);
        let left = (self.total.saturating_sub(done)) as f64 / rate.max(1e-9);
        if !json {
            let Progress { job, unit, total, .. } = self;
            let of = if *total == 0 { String::new() } else { format!(" of {total}") };
            let end = if *total == 0 { String::new() } else { format!(", {left:.0} s left") };
            said(&format!("progress: {job}, {done}{of} {unit}, {rate:.0} a second{end}"));
            return;
        }
        let object = json!({
            "event": "progress", "job": self.job, "unit": self.unit, "done": done,
            "total": self.total, "per_second": rate.round(), "left_s": left.round(),
        });
        said(&object.to_string());
    }
}

/// Writes a line to standard error. Work goes on where nobody can be told, as when a terminal was closed.
fn said(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Locks, also when another thread panicked while it held the lock: the values stay meaningful.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal() {
        let plain = "Zürich\t1 — ✓\nnext";
        assert_eq!(printable(plain), plain);
        for (text, expected) in [
            ("red \u{1b}[31m", "red \\u001b[31m"),
            ("\r\u{8}\u{7f}\0", "\\u000d\\u0008\\u007f\\u0000"),
            ("\u{9b}2J", "\\u009b2J"),
            ("\u{202e}evil\u{2066}", "\\u202eevil\\u2066"),
        ] {
            assert_eq!(printable(text), expected);
            // In an object it means the same.
            let object = serde_json::json!({ "x": text }).to_string();
            let read: serde_json::Value = serde_json::from_str(&printable(&object)).unwrap();
            assert_eq!(read["x"], text);
        }
    }

    #[test]
    fn what_was_done_before_is_no_speed() {
        let bar = ProgressBar::hidden();
        bar.set_length(u64::MAX);
        let (show, now) = (Show::Bar(bar.clone()), Instant::now());
        let (from, last) = (Mutex::new(None), Mutex::new(now));
        let progress =
            Progress { job: "job", unit: "steps", total: u64::MAX, show, start: now, from, last };
        let before = 1 << 60;
        for step in 0..10 {
            progress.set(before + 1000 * step);
            std::thread::sleep(Duration::from_millis(5));
            bar.tick();
        }
        assert!(bar.per_sec() > 0.0 && bar.per_sec() < 1e7, "{}", bar.per_sec());
    }
}
