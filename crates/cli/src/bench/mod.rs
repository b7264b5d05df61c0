//! `tetralith bench`: what each job costs on this machine, in rows that stay comparable.
//!
//! A row's figures are of one `op`: one key, signature, proof or squaring, also where a call does
//! many (`n` of them, or a block of squarings). They are the median, the least and the 90th
//! percentile of several calls, in nanoseconds of wall time, with user-mode core cycles of all
//! measuring threads where the system lets us count them, else `null`.

mod cycles;
mod figures;
mod machine;
mod row;
mod table;
mod tss;
mod vdf;
mod vrf;
mod xmss;

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use cycles::Cycles;
pub(crate) use figures::over_height;
pub(crate) use machine::Machine;
pub(crate) use row::{Case, Results, Row};
use std::path::PathBuf;
use std::time::{Duration, Instant};
pub(crate) use table::duration;

/// What to measure, and where to write it.
#[derive(clap::Args, Debug)]
pub(crate) struct Command {
    /// What to measure
    #[arg(value_enum)]
    what: What,
    /// Also write the rows as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Also write a page with the rows and the machine
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Seconds of measuring for each row
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = parse_seconds)]
    seconds: f64,
    /// Begin no row after this many seconds; of `all`, each job has an equal share of them
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    within: Option<f64>,
    /// Measure only rows whose name and parameters contain this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Measure XMSS keys of these heights as well: 16 takes seconds, 20 minutes [default: 16, of SHA2
    /// only]
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = clap::value_parser!(u8).range(10..=20))]
    heights: Vec<u8>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Xmss,
    Vdf,
    Vrf,
    Tss,
    All,
}

/// Measures cases one after another.
pub(crate) struct Runner {
    pub(crate) context: Context,
    /// Heights of XMSS keys that were asked for; none stands for the default.
    pub(crate) heights: Vec<u8>,
    budget: Duration,
    /// When no further row is begun, and those that were not for it.
    deadline: Option<Instant>,
    left_out: Vec<String>,
    only: Option<String>,
    /// The names and parameters of rows that were not asked for.
    others: Vec<(String, String)>,
    cycles: Cycles,
    /// CPU times of the row being measured, where it is to have them.
    cpu: Vec<f64>,
    rows: Vec<Row>,
}

/// Fewer calls than this give no median worth its name.
const LEAST_CALLS: usize = 5;
const MOST_CALLS: usize = 1001;

impl Runner {
    /// Says whether a case was asked for; lets a bench skip costly preparation.
    pub(crate) fn wants(&mut self, name: &str, params: &str) -> bool {
        let only = self.only.as_deref();
        let wanted = only.is_none_or(|only| format!("{name} {params}").contains(only));
        if !wanted {
            self.others.push((name.to_owned(), params.to_owned()));
            return false;
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let row = format!("{name} {params}");
            if !self.left_out.contains(&row) {
                self.left_out.push(row);
            }
            return false;
        }
        true
    }

    /// Gives the next of `jobs` jobs its share of the time until `end`.
    fn share(&mut self, end: Option<Instant>, jobs: u32) {
        let now = Instant::now();
        self.deadline = end.map(|end| now + end.saturating_duration_since(now) / jobs);
    }

    /// Refuses an `--only` that no row was measured for, and names the rows that there are.
    fn check_only(&self) -> Outcome {
        let (Some(only), true, [first, ..]) = (&self.only, self.rows.is_empty(), &self.others[..])
        else {
            return Ok(());
        };
        let mut names: Vec<&str> = self.others.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names.dedup();
        let message = format!("no row has {only:?} in its name and parameters");
        let hint = format!(
            "rows are called {}; with their parameters, for example, {:?}",
            names.join(", "),
            format!("{} {}", first.0, first.1)
        );
        Err(Failure::usage("bench.only", message).hint(hint))
    }

    /// Measures `call`, which does `ops` operations, after one call that is not counted.
    pub(crate) fn measure(&mut self, case: Case, ops: u64, mut call: impl FnMut()) {
        self.try_measure(case, ops, || {
            call();
            Ok(())
        })
        .expect("a call that cannot fail");
    }

    /// As [`Self::measure`], for a call that may fail.
    pub(crate) fn try_measure(
        &mut self,
        case: Case,
        ops: u64,
        mut call: impl FnMut() -> Outcome,
    ) -> Outcome {
        if !self.wants(case.name, &case.params) {
            return Ok(());
        }
        call()?;
        let (start, mut ns, mut cycles) = (Instant::now(), Vec::new(), Vec::new());
        let mut cpu = Vec::new();
        while ns.len() < MOST_CALLS && (ns.len() < LEAST_CALLS || start.elapsed() < self.budget) {
            let cpu_before = self.cycles.cpu_ns();
            let (before, clock) = (self.cycles.read(), Instant::now());
            call()?;
            ns.push(clock.elapsed().as_nanos() as f64 / ops as f64);
            if let (Some(before), Some(after)) = (before, self.cycles.read()) {
                cycles.push((after - before) as f64 / ops as f64);
            }
            if let (Some(before), Some(after)) = (cpu_before, self.cycles.cpu_ns()) {
                cpu.push((after - before) as f64 / ops as f64);
            }
        }
        if case.with_cpu {
            self.cpu = cpu;
        }
        self.push(case, &mut ns, &mut cycles, &mut []);
        Ok(())
    }

    /// Makes something that takes long, once, and records how long it took if that was asked for.
    pub(crate) fn timed<T>(&mut self, case: Case, call: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        let (before, clock) = (self.cycles.read(), Instant::now());
        let made = call()?;
        let ns = clock.elapsed().as_nanos() as f64;
        let cycles = before.zip(self.cycles.read()).map(|(before, after)| (after - before) as f64);
        if self.wants(case.name, &case.params) {
            let mut cycles: Vec<f64> = cycles.into_iter().collect();
            self.push(case, &mut [ns], &mut cycles, &mut []);
        }
        Ok(made)
    }

    /// Measures in a process of its own without vector instructions, and takes its rows.
    fn portable(&mut self, noun: &str, only: &str) -> Outcome {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::new(Exit::Environment, "bench.portable", error)
        };
        let program = std::env::current_exe().map_err(|error| failed(&error))?;
        let output = std::process::Command::new(program)
            .env("TETRALITH_KERNEL", figures::PORTABLE)
            .args(["--quiet", "--json", "--threads", "1", "bench", noun, "--only", only])
            .args(["--seconds", &self.budget.as_secs_f64().to_string()])
            .args(self.deadline.iter().flat_map(|deadline| {
                let left = deadline.saturating_duration_since(Instant::now());
                ["--within".into(), left.as_secs_f64().to_string()]
            }))
            .output()
            .map_err(|error| failed(&error))?;
        let results: Results =
            serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))?;
        for row in results.results {
            let fields = serde_json::to_value(&row).unwrap_or_default();
            self.context.event("bench.row", table::line(&row), fields);
            self.rows.push(row);
        }
        self.left_out.extend(results.left_out);
        Ok(())
    }

    /// Measures a part of each call, whose nanoseconds it returns, and those of what it is a share of.
    pub(crate) fn measure_share(
        &mut self,
        case: Case,
        mut call: impl FnMut() -> Outcome<[f64; 2]>,
    ) -> Outcome {
        if !self.wants(case.name, &case.params) {
            return Ok(());
        }
        let (start, mut ns, mut wholes) = (Instant::now(), Vec::new(), Vec::new());
        while ns.len() < MOST_CALLS && (ns.len() < LEAST_CALLS || start.elapsed() < self.budget) {
            let [part, whole] = call()?;
            ns.push(part);
            wholes.push(whole);
        }
        self.push(case, &mut ns, &mut [], &mut wholes);
        Ok(())
    }

    fn push(&mut self, case: Case, ns: &mut [f64], cycles: &mut [f64], wholes: &mut [f64]) {
        let median = |values: &mut [f64]| (!values.is_empty()).then(|| percentile(values, 50));
        let mut shares: Vec<f64> = ns.iter().zip(&*wholes).map(|(ns, whole)| ns / whole).collect();
        let ns_median = percentile(ns, 50);
        let mut cpu = std::mem::take(&mut self.cpu);
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let row = Row {
            name: case.name.into(),
            params: case.params,
            kernel: case.kernel,
            threads: case.threads,
            n: case.n,
            unit: "op".into(),
            ns_median,
            ns_min: percentile(ns, 0),
            ns_p90: percentile(ns, 90),
            cycles_median: median(cycles),
            per_second: 1e9 / ns_median,
            cpu_ns_min: (!cpu.is_empty()).then(|| percentile(&mut cpu, 0)),
            cores_had: (!cpu.is_empty()).then(|| sum(&cpu) / sum(ns)),
            bytes: case.bytes,
            share: median(&mut shares),
            share_least: (!wholes.is_empty()).then(|| percentile(ns, 0) / percentile(wholes, 0)),
        };
        let fields = serde_json::to_value(&row).unwrap_or_default();
        self.context.event("bench.row", table::line(&row), fields);
        self.rows.push(row);
    }
}

/// The nearest-rank percentile; sorts.
fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

/// Reads how long to measure, at most an hour.
pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds, from 0 to 3600".into()),
    }
}

/// Runs `tetralith bench`.
pub(crate) fn run(context: Context, command: Command) -> Outcome {
    let budget = Duration::from_secs_f64(command.seconds);
    let results = measure(context, &command, budget)?;
    if let Some(path) = &command.csv {
        crate::io::write(path, table::csv(&results).as_bytes(), crate::io::Access::Public, true)?;
    }
    if let Some(path) = &command.html {
        let page = crate::report::bench_page(&results);
        crate::io::write(path, page.as_bytes(), crate::io::Access::Public, true)?;
    }
    if context.json {
        let json = serde_json::to_value(&results).unwrap_or_default();
        return context.answer("", json);
    }
    context.line(&table::text(&results))
}

fn measure(context: Context, command: &Command, budget: Duration) -> Outcome<Results> {
    let (heights, only) = (command.heights.clone(), command.only.clone());
    let mut runner = Runner {
        context,
        heights,
        budget,
        deadline: None,
        left_out: Vec::new(),
        only,
        others: Vec::new(),
        cycles: Cycles::new(),
        cpu: Vec::new(),
        rows: Vec::new(),
    };
    let jobs: [(What, fn(&mut Runner) -> Outcome); 4] = [
        (What::Xmss, xmss::run),
        (What::Vdf, vdf::run),
        (What::Vrf, vrf::run),
        (What::Tss, tss::run),
    ];
    let wanted = jobs.iter().filter(|(noun, _)| command.what == *noun || command.what == What::All);
    let end = command.within.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    let mut left = wanted.clone().count() as u32;
    for (_, run) in wanted {
        runner.share(end, left);
        run(&mut runner)?;
        left -= 1;
    }
    if runner.left_out.is_empty() {
        runner.check_only()?;
    } else {
        let text = format!(
            "{} rows were left out to end in time: give more seconds by --within, or leave it out",
            runner.left_out.len()
        );
        context.event("bench.left_out", text, serde_json::json!({ "rows": runner.left_out }));
    }
    let machine = Machine::describe();
    Ok(Results { machine, results: runner.rows, left_out: runner.left_out })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles() {
        let mut values = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(percentile(&mut values, 0), 1.0);
        assert_eq!(percentile(&mut values, 50), 3.0);
        assert_eq!(percentile(&mut values, 90), 4.0);
    }
}
