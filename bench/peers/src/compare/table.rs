//! Rows and comparisons as text.

use super::Comparison;
use super::groups::{Entry, Group};
use crate::row::Row;
use std::fmt::Write;

/// A duration in the unit that reads best.
pub fn duration(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

/// A cycle count with a few digits; an estimate bears a `~`.
pub fn cycles(counted: Option<f64>, estimated: Option<f64>) -> String {
    let scaled = |cycles: f64| match cycles {
        cycles if cycles < 1e4 => format!("{cycles:.0}"),
        cycles if cycles < 1e6 => format!("{:.1} k", cycles / 1e3),
        cycles => format!("{:.1} M", cycles / 1e6),
    };
    match (counted, estimated) {
        (Some(counted), _) => scaled(counted),
        (None, Some(estimated)) => format!("~{}", scaled(estimated)),
        (None, None) => "–".into(),
    }
}

/// One row, as it is measured.
pub fn line(row: &Row) -> String {
    format!(
        "{:<24} {:<34} {:<38} {:>5} {:>11} {:>11} {:>11} {:>10}",
        row.name,
        row.params,
        row.kernel,
        row.n,
        duration(row.ns_median),
        duration(row.ns_min),
        duration(row.ns_p90),
        cycles(row.cycles_median, row.cycles_estimated)
    )
}

/// The machine and the run, a line each.
pub fn machine(comparison: &Comparison) -> String {
    let (ours, peers) = (&comparison.machine, &comparison.peers_machine);
    let clocks = comparison.clock_ghz_estimated.iter().map(|clock| format!("{clock:.2}"));
    format!(
        "{} ({} cores), {}\n{}; {}\ntetralith {} with kernels {}; {}\n\
         clock before, between and after, estimated: {} GHz\n",
        peers.cpu,
        peers.cores,
        peers.features.join(" "),
        peers.os,
        peers.rustc,
        if ours.version.is_empty() { "not measured" } else { &ours.version },
        if ours.features.is_empty() { "–".into() } else { ours.features.join(" ") },
        peers.version,
        clocks.collect::<Vec<_>>().join(", ")
    )
}

/// "3.94" or a dash.
pub fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or("–".into(), |ratio| format!("{ratio:.2}"))
}

/// Who made a row.
pub fn who(entry: &Entry) -> String {
    let row = &entry.row;
    let name = if entry.ours { format!("tetralith {}", row.kernel) } else { row.kernel.clone() };
    let threads =
        if row.threads > 1 { format!(", {} threads", row.threads) } else { String::new() };
    match (&row.nearest, entry.ours) {
        (Some(_), false) => format!("{name}{threads} [{}]", row.params),
        _ => format!("{name}{threads}"),
    }
}

/// The whole comparison for a terminal.
pub fn text(comparison: &Comparison, groups: &[Group]) -> String {
    let mut text = machine(comparison);
    let _ = writeln!(text, "faster: by how many times ours beats the best of the other side");
    for group in groups {
        let _ = writeln!(
            text,
            "\n{:<60} {:>5} {:>11} {:>11} {:>10} {:>7} {:>8} {:>6}",
            format!("{} {}", group.name, group.params),
            "n",
            "median",
            "least",
            "cycles",
            "faster",
            "by least",
            "drift"
        );
        for entry in &group.entries {
            let row = &entry.row;
            let _ = writeln!(
                text,
                "  {:<58} {:>5} {:>11} {:>11} {:>10} {:>7} {:>8} {:>6}",
                who(entry),
                row.n,
                duration(row.ns_median),
                duration(row.ns_min),
                cycles(row.cycles_median, row.cycles_estimated),
                ratio(entry.faster),
                ratio(entry.faster_least),
                ratio(entry.drift)
            );
        }
    }
    text
}
