//! The self-contained HTML pages that `demo` and `bench --html` write.

use crate::bench::{Machine, Results, duration};
use crate::plot::{self, Line};
use std::fmt::Write;

/// The style of every page: no script, no font, no picture from elsewhere.
const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #c1121f }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { line-height: 1.2 } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line) }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
td.n, th.n { text-align: right; white-space: nowrap }
code, pre { font: 13px/1.45 ui-monospace, monospace } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 }
td span { overflow-wrap: anywhere }
.ok { color: var(--good); font-weight: 600 } .bad { color: var(--bad); font-weight: 600 }
.small { font-size: 13px; opacity: .75 } svg { max-width: 100%; height: auto; background: #fff }
";

/// Escapes text for HTML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A whole page around `body`.
pub(crate) fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{body}\n\
         </body></html>\n"
    )
}

/// One line about the machine.
pub(crate) fn machine(machine: &Machine) -> String {
    let features = if machine.features.is_empty() {
        "portable only".into()
    } else {
        machine.features.join(", ")
    };
    format!(
        "<p class=\"small\">{}, {} cores; kernels: {}; {}; {}; tetralith {}</p>\n",
        escape(&machine.cpu),
        machine.cores,
        escape(&features),
        escape(&machine.os),
        escape(&machine.rustc),
        escape(&machine.version)
    )
}

/// The page of `bench --html`.
pub(crate) fn bench_page(results: &Results) -> String {
    let plots = crate::bench::over_height(results) + &proving_plot(results);
    page("Tetralith: measurements", &(machine(&results.machine) + &plots + &bench_table(results)))
}

/// What proofs of delay cost after the last squaring, over T; nothing where none was measured.
pub(crate) fn proving_plot(results: &Results) -> String {
    let mut lines: Vec<Line> = Vec::new();
    for row in &results.results {
        let Some(share) = row.share else { continue };
        let name = row.name.trim_start_matches("vdf.").trim_end_matches(".proving");
        let label = format!("{name}, {} threads", row.threads);
        let point = (row.n.ilog2(), 100.0 * share);
        match lines.iter_mut().find(|line| line.label == label) {
            Some(line) => line.points.push(point),
            None => lines.push(Line { label, points: vec![point] }),
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    plot::lines("proofs of delay at 2048 bits", "log2 T", "% of T after the last squaring", &lines)
}

/// The rows of a measurement as a table.
pub(crate) fn bench_table(results: &Results) -> String {
    let mut body = String::from(
        "<table><tr><th>job</th><th>parameters</th><th>kernel</th><th class=n>threads</th>\
         <th class=n>n</th><th class=n>median</th><th class=n>least</th><th class=n>90 %</th>\
         <th class=n>cycles</th><th class=n>per second</th></tr>\n",
    );
    for row in &results.results {
        let cycles = row.cycles_median.map_or("–".into(), |cycles| format!("{cycles:.0}"));
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td class=n>{}</td><td class=n>{}</td>\
             <td class=n>{}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{cycles}</td>\
             <td class=n>{:.1}</td></tr>",
            escape(&row.name),
            escape(&row.params),
            escape(&row.kernel),
            row.threads,
            row.n,
            duration(row.ns_median),
            duration(row.ns_min),
            duration(row.ns_p90),
            row.per_second
        );
    }
    body + "</table>\n"
}
