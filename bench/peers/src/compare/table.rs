//! Rows as text.

use crate::row::Row;

/// A duration in the unit that reads best.
pub fn duration(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

/// A cycle count with three digits or so; estimates bear a `~`.
pub fn cycles(counted: Option<f64>, estimated: Option<f64>) -> String {
    let scaled = |cycles: f64| match cycles {
        cycles if cycles < 1e4 => format!("{cycles:.0}"),
        cycles if cycles < 1e6 => format!("{:.1} k", cycles / 1e3),
        cycles => format!("{:.2} M", cycles / 1e6),
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
