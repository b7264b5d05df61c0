//! Plots over the height of XMSS trees, as qrllib's report of 2017 has them: time, ratio to a slow
//! implementation, operations a second.

use super::{Results, Row};
use crate::plot::{Line, lines};

/// What is plotted.
const JOBS: [&str; 3] = ["xmss.keygen", "xmss.sign", "xmss.verify"];

/// The three plots; nothing where no heights were measured.
pub(crate) fn over_height(results: &Results) -> String {
    let rows: Vec<(u32, &Row)> =
        results.results.iter().filter_map(|row| Some((height(row)?, row))).collect();
    let wide = rows.iter().any(|(_, row)| row.kernel != PORTABLE);
    let of = |name: &str, portable: bool| {
        let mut points: Vec<(u32, f64)> = rows
            .iter()
            .filter(|(_, row)| row.name == name && (row.kernel == PORTABLE) == portable)
            .map(|(height, row)| (*height, row.ns_median))
            .collect();
        points.sort_by_key(|point| point.0);
        points
    };
    let plot = |title: &str, y: &str, points: &dyn Fn(&str) -> Vec<(u32, f64)>| {
        let all = JOBS.map(|name| Line { label: name.into(), points: points(name) });
        let drawn: Vec<Line> = all.into_iter().filter(|line| !line.points.is_empty()).collect();
        if drawn.is_empty() { String::new() } else { lines(title, "height", y, &drawn) }
    };
    let each = |name: &str, f: fn(f64) -> f64| {
        of(name, !wide).into_iter().map(|(height, ns)| (height, f(ns))).collect()
    };
    let ratio = |name: &str| {
        let slow = of(name, true);
        let same = |height| slow.iter().find(|point| point.0 == height).map(|point| point.1);
        let fast = of(name, false).into_iter();
        fast.filter_map(|(height, ns)| Some((height, same(height)? / ns))).collect()
    };
    let sets = "QRL's keys, and XMSS-SHA2 from height 16 on";
    let plots = [
        plot(&format!("Time over the height: {sets}"), "µs for one", &|name| {
            each(name, |ns| ns / 1e3)
        }),
        plot("How many times faster than plain Rust, one hash at a time", "ratio", &ratio),
        plot("Operations a second over the height", "a second", &|name| each(name, |ns| 1e9 / ns)),
    ];
    plots.concat()
}

/// The height of a single-threaded row that belongs into the plots.
fn height(row: &Row) -> Option<u32> {
    if row.threads != 1 || row.n != 1 {
        return None;
    }
    if let Some(height) = row.params.strip_prefix("QRL-SHA2-256_") {
        return height.parse().ok();
    }
    let height = row.params.strip_prefix("XMSS-SHA2_")?.strip_suffix("_256")?.parse().ok()?;
    (height > 10).then_some(height)
}

/// The kernel that every machine has.
pub(super) const PORTABLE: &str = "portable";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Machine;

    fn row(name: &str, params: &str, kernel: &str, ns: f64) -> Row {
        let (name, params, kernel) = (name.into(), params.into(), kernel.into());
        let (ns_median, ns_min, ns_p90, per_second) = (ns, ns, ns, 1e9 / ns);
        let (unit, cycles_median, bytes) = ("op".into(), None, None);
        let (threads, n) = (1, 1);
        Row {
            name,
            params,
            kernel,
            threads,
            n,
            unit,
            ns_median,
            ns_min,
            ns_p90,
            cycles_median,
            per_second,
            bytes,
            cpu_ns_min: None,
            cores_had: None,
            share: None,
            share_least: None,
        }
    }

    #[test]
    fn heights_of_both_kinds_make_three_plots() {
        let mut results = vec![];
        for job in JOBS {
            results.push(row(job, "QRL-SHA2-256_4", "avx512", 1e5));
            results.push(row(job, "QRL-SHA2-256_4", PORTABLE, 1e6));
            results.push(row(job, "XMSS-SHA2_16_256", "avx512", 1e9));
            results.push(row(job, "XMSS-SHA2_10_256", "avx512", 1e9));
        }
        let heights: Vec<_> = results.iter().filter_map(height).collect();
        assert_eq!(heights, [4, 4, 16, 4, 4, 16, 4, 4, 16]);
        let of = |results| Results { machine: Machine::describe(), results, left_out: vec![] };
        let all = over_height(&of(results.clone()));
        assert_eq!(all.matches("<svg").count(), 3, "{all}");
        // Without a second kernel there is no ratio.
        results.retain(|row| row.kernel == PORTABLE);
        let some = over_height(&of(results));
        assert_eq!(some.matches("<svg").count(), 2);
        let none = of(vec![]);
        assert_eq!(over_height(&none), "");
    }
}
