//! `tetralith demo`: all four jobs on real input, through the command itself.
//!
//! Every step runs this program again as a user would, in a temporary folder, and reads the JSON that
//! it prints. A step that does not end as it should ends the demonstration with exit code 1 after the
//! report is written, so that the report shows what failed.

mod published;
mod tss;
mod vdf;
mod vrf;
mod xmss;

use crate::bench::{Machine, Results};
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::report;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

/// What to demonstrate, and where the report goes.
#[derive(clap::Args, Debug)]
pub(crate) struct Command {
    /// Write the report here, replacing an earlier one
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,
    /// Demonstrate these only
    #[arg(value_enum)]
    only: Vec<Part>,
}

/// The parts of the demonstration.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Xmss,
    Vdf,
    Vrf,
    Tss,
    /// The measurements for the report's plots
    Bench,
}

const PARTS: [Part; 5] = [Part::Xmss, Part::Vdf, Part::Vrf, Part::Tss, Part::Bench];

/// One thing that was done.
struct Step {
    part: Part,
    says: String,
    command: String,
    result: Result<String, String>,
    took: Duration,
}

/// The running demonstration.
struct Demo {
    context: Context,
    program: PathBuf,
    folder: tempfile::TempDir,
    part: Part,
    steps: Vec<Step>,
    bench: Option<Results>,
}

/// Runs the demonstration and writes the report.
pub(crate) fn run(context: Context, command: &Command) -> Outcome {
    let start = Instant::now();
    let environment = |error: std::io::Error| Failure::new(Exit::Environment, "io.file", error);
    let mut demo = Demo {
        context,
        program: std::env::current_exe().map_err(environment)?,
        folder: tempfile::Builder::new()
            .prefix("tetralith-demo-")
            .tempdir()
            .map_err(environment)?,
        part: Part::Xmss,
        steps: Vec::new(),
        bench: None,
    };
    let parts = if command.only.is_empty() { PARTS.to_vec() } else { command.only.clone() };
    let ended = parts.into_iter().try_for_each(|part| demo.run_part(part));
    let page = demo.page(start.elapsed());
    crate::io::write(&command.output, page.as_bytes(), crate::io::Access::Public, true)?;
    ended?;
    let done = demo.steps.len();
    let report = command.output.display();
    context.answer(
        format!("{done} steps, all as they should be; the report is {report}"),
        json!({ "steps": done, "report": command.output, "seconds": start.elapsed().as_secs_f64() }),
    )
}

impl Demo {
    fn run_part(&mut self, part: Part) -> Outcome {
        self.part = part;
        match part {
            Part::Xmss => xmss::run(self),
            Part::Vdf => vdf::run(self),
            Part::Vrf => vrf::run(self),
            Part::Tss => tss::run(self),
            Part::Bench => self.measure(),
        }
    }

    /// A path in the demonstration's folder.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the demonstration's folder.
    fn file(&self, name: &str, bytes: &[u8]) -> Outcome<PathBuf> {
        let path = self.path(name);
        crate::io::write(&path, bytes, crate::io::Access::Public, true)?;
        Ok(path)
    }

    /// This program with these arguments, ready to start in the demonstration's folder.
    fn process(&self, arguments: &[&str]) -> Process {
        let mut process = Process::new(&self.program);
        process
            .args(arguments)
            .current_dir(self.folder.path())
            .env("TETRALITH_PASSPHRASE", "the demonstration's passphrase")
            .stdin(Stdio::null());
        process
    }

    /// Runs a command that must succeed, and returns what it prints.
    fn succeeds(&mut self, says: &str, arguments: &[&str]) -> Outcome<Value> {
        self.ends(says, arguments, 0, summary)
    }

    /// Runs a command that must succeed, and tells what `tell` makes of what it prints.
    fn measures(
        &mut self,
        says: &str,
        arguments: &[&str],
        tell: impl Fn(&Value) -> String,
    ) -> Outcome {
        self.ends(says, arguments, 0, tell).map(drop)
    }

    /// Runs a command that must fail with this exit code, and returns what it prints.
    fn fails(&mut self, says: &str, arguments: &[&str], exit: Exit) -> Outcome<Value> {
        self.ends(says, arguments, exit as i32, |value| {
            format!("refused, as it must be: {}", value["message"].as_str().unwrap_or("?"))
        })
    }

    /// Runs a preparation that must succeed, and is not a step of its own.
    fn quietly(&mut self, arguments: &[&str]) -> Outcome {
        let output = self.process(arguments).arg("--json").output().map_err(start_failed)?;
        if output.status.success() {
            return Ok(());
        }
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        self.step("Prepare", &shown(arguments), Err(told), Duration::ZERO)
    }

    fn ends(
        &mut self,
        says: &str,
        arguments: &[&str],
        exit: i32,
        tell: impl Fn(&Value) -> String,
    ) -> Outcome<Value> {
        let mut values = self.answers(says, arguments, exit, |values| match values {
            [value] => Ok(tell(value)),
            _ => Err(format!("{} objects were printed", values.len())),
        })?;
        Ok(values.pop().unwrap_or_default())
    }

    /// Runs a command that answers with an object a line and ends with this exit code.
    fn lines(&mut self, says: &str, arguments: &[&str], exit: Exit) -> Outcome<Vec<Value>> {
        self.answers(says, arguments, exit as i32, |values| Ok(format!("{} lines", values.len())))
    }

    fn answers(
        &mut self,
        says: &str,
        arguments: &[&str],
        exit: i32,
        tell: impl Fn(&[Value]) -> Result<String, String>,
    ) -> Outcome<Vec<Value>> {
        let start = Instant::now();
        let mut process = self.process(arguments);
        process.arg("--json").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process.spawn().map_err(start_failed)?;
        let (events, context) = (child.stderr.take(), self.context);
        let output = std::thread::scope(|scope| {
            scope.spawn(move || events.into_iter().for_each(|events| relay(context, events)));
            child.wait_with_output()
        });
        let output = output.map_err(start_failed)?;
        let took = start.elapsed();
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
        let values = lines.unwrap_or_default();
        let result = if output.status.code() == Some(exit) && !values.is_empty() {
            tell(&values)
        } else {
            let message = values.first().and_then(|value| value["message"].as_str());
            let message = message.unwrap_or(text.trim());
            Err(format!("{} where {exit} was expected: {message}", output.status))
        };
        self.step(says, &shown(arguments), result, took)?;
        Ok(values)
    }

    /// Records a step that is not a command of ours, such as a check with someone else's code.
    fn checks(&mut self, says: &str, how: &str, result: Result<String, String>) -> Outcome {
        self.step(says, how, result, Duration::ZERO)
    }

    fn step(
        &mut self,
        says: &str,
        command: &str,
        result: Result<String, String>,
        took: Duration,
    ) -> Outcome {
        let (part, says, command) = (self.part, says.to_owned(), command.to_owned());
        let told = match &result {
            Ok(text) | Err(text) => text.clone(),
        };
        let mark = if result.is_ok() { "ok  " } else { "FAIL" };
        let name = format!("{part:?}").to_lowercase();
        let line = format!("{mark} {name:<5} {says}: {told} [{:.2} s]", took.as_secs_f64());
        let fields = json!({ "part": name, "command": command, "seconds": took.as_secs_f64() });
        self.context.event("demo.step", line, fields);
        let failed = result.is_err().then(|| format!("{says}: {told}"));
        self.steps.push(Step { part, says, command, result, took });
        failed.map_or(Ok(()), |message| {
            Err(Failure::new(Exit::Verification, "demo.step", message)
                .hint("the report shows every step; run the failing command by itself"))
        })
    }

    /// Measures every job briefly, for the report's plots: about a minute and a half, at most two.
    fn measure(&mut self) -> Outcome {
        let arguments = ["bench", "all", "--seconds", "0.1", "--within", "90"];
        let value = self.ends("Measure every job on this machine", &arguments, 0, |value| {
            let count = |name| value[name].as_array().map_or(0, Vec::len);
            let rows = format!("{} rows, in the table below", count("results"));
            match count("left_out") {
                0 => rows,
                left => format!("{rows}; {left} more by tetralith bench all"),
            }
        })?;
        self.bench = serde_json::from_value(value).ok();
        Ok(())
    }

    fn page(&self, took: Duration) -> String {
        let machine = Machine::describe();
        let failed = self.steps.iter().filter(|step| step.result.is_err()).count();
        let mut body = report::machine(&machine);
        body += &format!(
            "<p>{} steps in {:.0} s, <span class={}>{failed} failed</span>. Every step is a command \
             that was run for this page, on real input, or a check of its result by other code. \
             Published figures are their authors', on their machines; the ratios say how much \
             faster this machine and this code are together.</p>\n",
            self.steps.len(),
            took.as_secs_f64(),
            if failed == 0 { "ok" } else { "bad" }
        );
        for (part, title) in [
            (Part::Xmss, "XMSS: signatures whose state cannot be reused"),
            (Part::Vdf, "VDF: squaring, proofs of delay, a time-lock"),
            (Part::Vrf, "VRF: proofs that chains already have"),
            (Part::Tss, "TSS: four nodes, one key that none of them holds"),
            (Part::Bench, "Measurements"),
        ] {
            body += &self.section(part, title);
        }
        report::page("Tetralith: the demonstration's report", &body)
    }

    fn section(&self, part: Part, title: &str) -> String {
        let mut steps = self.steps.iter().filter(|step| step.part == part).peekable();
        if steps.peek().is_none() {
            return String::new();
        }
        let mut html = format!("<h2>{}</h2>\n<table>", report::escape(title));
        html += "<tr><th>step</th><th>result</th><th class=n>time</th></tr>\n";
        for step in steps {
            let (class, result) = match &step.result {
                Ok(text) => ("ok", text),
                Err(text) => ("bad", text),
            };
            let took = match step.took {
                Duration::ZERO => String::new(),
                took => crate::bench::duration(took.as_nanos() as f64),
            };
            html += &format!(
                "<tr><td>{}<pre>{}</pre></td><td><span class={class}>{}</span></td>\
                 <td class=n>{took}</td></tr>\n",
                report::escape(&step.says),
                report::escape(&step.command),
                report::escape(result)
            );
        }
        html += "</table>\n";
        if let Some(results) = &self.bench {
            html += &match part {
                Part::Bench => report::bench_table(results),
                part => published::figures(part, results),
            };
        }
        html
    }
}

/// Tells of a command's events as if they were this one's; its progress is left out.
fn relay(context: Context, events: impl std::io::Read) {
    for line in BufReader::new(events).lines().map_while(Result::ok) {
        let mut fields = match serde_json::from_str(&line) {
            Ok(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        let [name, text] = ["event", "message"].map(|field| fields.remove(field));
        match (name.as_ref().and_then(Value::as_str), text.as_ref().and_then(Value::as_str)) {
            (Some("progress"), _) => {}
            (Some(name), Some(text)) => context.event(name, text, Value::Object(fields)),
            _ => context.event("demo.said", &line, json!({})),
        }
    }
}

fn start_failed(error: std::io::Error) -> Failure {
    Failure::new(Exit::Environment, "demo.start", error)
}

/// The command as a user would type it, without the paths of the temporary folder.
fn shown(arguments: &[&str]) -> String {
    let quoted = arguments.iter().map(|argument| {
        let name = Path::new(argument).file_name().and_then(|name| name.to_str());
        let short = if argument.starts_with('/') { name.unwrap_or(argument) } else { argument };
        match short.chars().count() {
            0..=40 => short.to_owned(),
            _ => short.chars().take(24).chain("…".chars()).collect(),
        }
    });
    format!("tetralith {}", quoted.collect::<Vec<_>>().join(" "))
}

/// The fields of a result that fit a line.
fn summary(value: &Value) -> String {
    let short = |value: &Value| match value {
        Value::String(text) if text.chars().count() > 40 => {
            Some(text.chars().take(20).chain("…".chars()).collect())
        }
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    };
    let fields = value.as_object().into_iter().flatten().filter(|(name, _)| *name != "ok");
    let told = fields.filter_map(|(name, value)| Some(format!("{name} {}", short(value)?)));
    let told: Vec<String> = told.take(4).collect();
    if told.is_empty() { "done".into() } else { told.join(", ") }
}
