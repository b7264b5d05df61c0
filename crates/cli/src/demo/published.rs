//! The figures that others published, and ours beside them.

use super::Part;
use crate::bench::{Results, Row, duration, over_height};
use crate::plot::{Bar, bars};
use crate::report::escape;

/// A figure somebody published: what it compares with here, who and where, and its value in ns.
struct Published {
    name: &'static str,
    params: &'static str,
    who: &'static str,
    ns: f64,
}

const fn published(
    name: &'static str,
    params: &'static str,
    who: &'static str,
    ns: f64,
) -> Published {
    Published { name, params, who, ns }
}

const MS: f64 = 1e6;
const US: f64 = 1e3;
const S: f64 = 1e9;
const RYZEN: &str = "AidosKuneen/xmss, Ryzen 1700X, 16 threads";
const CELERON: &str = "AidosKuneen/xmss, Celeron G1840, 2 threads";
const STUDY: &str = "IOHK's VRF study";

const XMSS: [Published; 16] = [
    published("xmss.keygen", "XMSS-SHA2_10_256", RYZEN, 180.0 * MS),
    published("xmss.keygen", "XMSS-SHA2_16_256", RYZEN, 9.03 * S),
    published("xmss.keygen", "XMSS-SHA2_20_256", RYZEN, 187.0 * S),
    published("xmss.keygen", "XMSS-SHA2_10_256", CELERON, 760.0 * MS),
    published("xmss.keygen", "XMSS-SHA2_16_256", CELERON, 49.8 * S),
    published("xmss.keygen", "XMSS-SHA2_20_256", CELERON, 820.0 * S),
    published("xmss.sign", "XMSS-SHA2_10_256", RYZEN, 4.94 * MS),
    published("xmss.sign", "XMSS-SHA2_16_256", RYZEN, 5.36 * MS),
    published("xmss.sign", "XMSS-SHA2_10_256", CELERON, 6280.0 * US),
    published("xmss.sign", "XMSS-SHA2_16_256", CELERON, 8.27 * MS),
    published("xmss.verify", "XMSS-SHA2_10_256", RYZEN, 411.0 * US),
    published("xmss.verify", "XMSS-SHA2_16_256", RYZEN, 420.0 * US),
    published("xmss.verify", "XMSS-SHA2_10_256", CELERON, 487.0 * US),
    published("xmss.verify", "XMSS-SHA2_16_256", CELERON, 519.0 * US),
    published("xmss.verify_many", "XMSS-SHA2_10_256", RYZEN, 411.0 * US),
    published("xmss.verify_many", "XMSS-SHA2_16_256", RYZEN, 420.0 * US),
];

const VDF: [Published; 3] = [
    published("vdf.square", "2048", "sqr, Ivy Bridge (4562 cycles)", S / 721_704.0),
    published("vdf.square", "2048", "sqr, Broadwell-E (2260 cycles)", S / 1.50e6),
    published("vdf.square", "2048", "sqr, Cannon Lake, AVX-512 IFMA (771 cycles)", S / 2.86e6),
];

const VRF: [Published; 12] = [
    published("vrf.verify", "draft03-cardano", STUDY, 206.0 * US),
    published("vrf.verify", "draft03-cardano", "the study, variable time", 152.0 * US),
    published("vrf.verify", "draft03-cardano", "the study, and Blake2b", 151.0 * US),
    published("vrf.verify", "draft03-cardano", "the study, and try and increment", 139.0 * US),
    published("vrf.verify", "draft03-cardano", "the study's Results.csv, verif_opt", 142.0 * US),
    published("vrf.verify", "draft03-blake2b", "Results.csv, verif_opt_blake", 142.0 * US),
    published("vrf.verify", "draft03-tai", "Results.csv, verif_try_inc", 135.0 * US),
    published("vrf.verify", "draft13-batchcompat", "Results.csv, batch_compatible", 124.0 * US),
    published("vrf.verify_many", "draft03-cardano", STUDY, 206.0 * US),
    published("vrf.verify_many", "draft03-cardano", "the study, batch (its own format)", 75.0 * US),
    published("vrf.verify_batchcompat", "draft13-batchcompat", "the study, batch", 75.0 * US),
    published(
        "vrf.verify_batchcompat",
        "draft13-batchcompat",
        "the study, batch and both",
        62.0 * US,
    ),
];

const TSS: [Published; 4] = [
    published("tss.keygen", "3-of-4", "go-tss report, 4 nodes, with the network", 12.21 * S),
    published("tss.sign", "3-of-4", "go-tss report, 4 nodes, with the network", 13.95 * S),
    published("tss.keygen", "7-of-10", "go-tss report's fit, 10 nodes, with the network", 27.5 * S),
    published("tss.sign", "7-of-10", "go-tss report's fit, 10 nodes, with the network", 7.48 * S),
];

/// The published figures of a part beside the rows of this run, as a table and a plot.
pub(super) fn figures(part: Part, results: &Results) -> String {
    let published: &[Published] = match part {
        Part::Xmss => &XMSS,
        Part::Vdf => &VDF,
        Part::Vrf => &VRF,
        Part::Tss => &TSS,
        Part::Bench => &[],
    };
    let mut html = String::from(
        "<table><tr><th>job</th><th>parameters</th><th class=n>here</th><th>kernel, threads</th>\
         <th>published</th><th class=n>figure</th><th class=n>ratio</th></tr>\n",
    );
    let mut drawn: Vec<Bar> = Vec::new();
    for figure in published {
        let Some(row) = best(results, figure) else {
            if part == Part::Xmss && results.results.iter().any(|row| row.name == figure.name) {
                html += &format!(
                    "<tr><td>{}</td><td>{}</td><td class=n>not measured</td><td></td><td>{}</td>\
                     <td class=n>{}</td><td></td></tr>\n",
                    escape(figure.name),
                    escape(figure.params),
                    escape(figure.who),
                    duration(figure.ns)
                );
            }
            continue;
        };
        html += &format!(
            "<tr><td>{}</td><td>{}</td><td class=n>{}</td><td>{}, {}</td><td>{}</td>\
             <td class=n>{}</td><td class=n>{:.1}</td></tr>\n",
            escape(figure.name),
            escape(figure.params),
            duration(row.ns_median),
            escape(&row.kernel),
            row.threads,
            escape(figure.who),
            duration(figure.ns),
            figure.ns / row.ns_median
        );
        let ours = format!("{} {}, here", row.name, row.params);
        if drawn.iter().all(|bar| bar.label != ours) {
            drawn.push(Bar::measured(ours, row.ns_median / US));
        }
        drawn.push(Bar::published(figure.who, figure.ns / US));
    }
    if drawn.is_empty() {
        return String::new();
    }
    let heights = match part {
        Part::Xmss => over_height(results),
        Part::Vdf => crate::report::proving_plot(results),
        _ => String::new(),
    };
    html + "</table>\n" + &bars("time for one, here and as published", "µs", &drawn) + &heights
}

/// The fastest row of this run that does the same job.
fn best<'a>(results: &'a Results, figure: &Published) -> Option<&'a Row> {
    let same = |row: &&Row| row.name == figure.name && row.params == figure.params;
    let rows = results.results.iter().filter(same);
    rows.min_by(|a, b| a.ns_median.total_cmp(&b.ns_median))
}
