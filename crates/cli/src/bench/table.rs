//! The rows as text and as CSV.

use super::{Results, Row};
use std::fmt::Write;

/// A duration in the unit that reads best.
pub(crate) fn duration(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

fn cycles(cycles: Option<f64>) -> String {
    match cycles {
        None => "–".into(),
        Some(cycles) if cycles < 1e4 => format!("{cycles:.0}"),
        Some(cycles) if cycles < 1e6 => format!("{:.1} k", cycles / 1e3),
        Some(cycles) => format!("{:.2} M", cycles / 1e6),
    }
}

/// One row.
pub(super) fn line(row: &Row) -> String {
    let share = row.share.zip(row.share_least).map_or(String::new(), |(share, least)| {
        format!("  {:.1} % of T, at the least {:.1} %", 100.0 * share, 100.0 * least)
    });
    let cpu = row.cpu_ns_min.zip(row.cores_had).map_or(String::new(), |(cpu, cores)| {
        format!(
            "  {:.0} a second at the least time; {} of CPU, {:.0} a second and core; had {cores:.1} cores",
            1e9 / row.ns_min,
            duration(cpu),
            1e9 / cpu
        )
    });
    format!(
        "{:<24} {:<34} {:<10} {:>2} {:>5} {:>11} {:>11} {:>11} {:>9}{share}{cpu}",
        row.name,
        row.params,
        row.kernel,
        row.threads,
        row.n,
        duration(row.ns_median),
        duration(row.ns_min),
        duration(row.ns_p90),
        cycles(row.cycles_median)
    )
}

/// The whole table, with the machine above it.
pub(super) fn text(results: &Results) -> String {
    let machine = &results.machine;
    let mut text = format!(
        "{}, {} cores, kernels: {}; {}; {}; tetralith {}\n{:<24} {:<34} {:<10} {:>2} {:>5} {:>11} {:>11} {:>11} {:>9}\n",
        machine.cpu,
        machine.cores,
        if machine.features.is_empty() { "portable".into() } else { machine.features.join(" ") },
        machine.os,
        machine.rustc,
        machine.version,
        "name",
        "params",
        "kernel",
        "th",
        "n",
        "median",
        "least",
        "90 %",
        "cycles"
    );
    for row in &results.results {
        let _ = writeln!(text, "{}", line(row));
    }
    text.trim_end().to_owned()
}

/// The rows as CSV with a header line.
pub(super) fn csv(results: &Results) -> String {
    let mut text = String::from(
        "name,params,kernel,threads,n,unit,ns_median,ns_min,ns_p90,cycles_median,per_second,bytes\n",
    );
    for row in &results.results {
        let cycles = row.cycles_median.map_or(String::new(), |cycles| cycles.to_string());
        let bytes = row.bytes.map_or(String::new(), |bytes| bytes.to_string());
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{cycles},{},{bytes}",
            row.name,
            row.params,
            row.kernel,
            row.threads,
            row.n,
            row.unit,
            row.ns_median,
            row.ns_min,
            row.ns_p90,
            row.per_second
        );
    }
    text
}
