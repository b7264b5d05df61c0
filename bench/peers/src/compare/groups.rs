//! Joins our rows with the peers' by what they measure.

use super::Comparison;
use crate::row::Row;

/// A row with how many times faster ours is than the best of the other side.
#[derive(Clone, Debug)]
pub struct Entry {
    pub row: Row,
    pub ours: bool,
    /// For ours the second run's median through the first's.
    pub drift: Option<f64>,
    /// By the medians: the best peer's time through this row's, or this peer's through our best.
    pub faster: Option<f64>,
    /// The same by the least times, which a busy machine disturbs least.
    pub faster_least: Option<f64>,
}

/// Rows that do the same job.
#[derive(Clone, Debug)]
pub struct Group {
    pub name: String,
    pub params: String,
    pub entries: Vec<Entry>,
}

/// All groups: first those that we have rows for, in their order, then the peers' own.
pub fn join(comparison: &Comparison) -> Vec<Group> {
    let clock = mean(comparison.clock_ghz_estimated.iter().copied());
    let ours = merge(&comparison.ours, clock);
    let mut keys: Vec<(String, String)> = Vec::new();
    let ours_keys = ours.iter().map(|entry| (entry.row.name.clone(), entry.row.params.clone()));
    let peers_keys = comparison.peers.iter().map(|row| (row.name.clone(), params(row).to_owned()));
    for key in ours_keys.chain(peers_keys) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let groups =
        keys.into_iter().map(|(name, params)| group(&ours, &comparison.peers, name, params));
    groups.filter(|group| !group.entries.is_empty()).collect()
}

/// The `params` that a peer's row stands against.
fn params(row: &Row) -> &str {
    row.nearest.as_deref().unwrap_or(&row.params)
}

/// The peers' name of a job that only we have: many verifications are compared with single ones.
fn single(name: &str) -> &str {
    let name = name.strip_suffix("_many").unwrap_or(name);
    name.strip_suffix(".online").unwrap_or(name)
}

/// Merges the runs of ours: medians are averaged, least times are the least.
fn merge(runs: &[Vec<Row>], clock: Option<f64>) -> Vec<Entry> {
    let same = |a: &Row, b: &Row| {
        (&a.name, &a.params, &a.kernel, a.threads, a.n)
            == (&b.name, &b.params, &b.kernel, b.threads, b.n)
    };
    let Some(first) = runs.first() else { return Vec::new() };
    let merged = first.iter().map(|row| {
        let again = runs[1..].iter().filter_map(|run| run.iter().find(|other| same(row, other)));
        let all: Vec<&Row> = std::iter::once(row).chain(again).collect();
        let average =
            |field: fn(&Row) -> f64| mean(all.iter().map(|row| field(row))).unwrap_or(0.0);
        let mut merged = row.clone();
        merged.ns_median = average(|row| row.ns_median);
        merged.ns_p90 = average(|row| row.ns_p90);
        merged.per_second = 1e9 / merged.ns_median;
        merged.ns_min = all.iter().map(|row| row.ns_min).fold(f64::INFINITY, f64::min);
        merged.cycles_median = mean(all.iter().filter_map(|row| row.cycles_median));
        merged.clock_ghz_estimated = clock;
        // The least time is nearest to time on the core, which the peers' estimate takes.
        merged.cycles_estimated = clock.map(|clock| clock * merged.ns_min);
        let drift = all.get(1).map(|again| again.ns_median / row.ns_median);
        Entry { row: merged, ours: true, drift, faster: None, faster_least: None }
    });
    merged.collect()
}

fn group(ours: &[Entry], peers: &[Row], name: String, wanted: String) -> Group {
    let mut entries: Vec<Entry> = ours
        .iter()
        .filter(|entry| entry.row.name == name && entry.row.params == wanted)
        .cloned()
        .collect();
    let sizes: Vec<usize> = entries.iter().map(|entry| entry.row.n).collect();
    let same_job =
        |row: &&Row| row.name == name || (row.name == single(&name) && !sizes.is_empty());
    let theirs: Vec<&Row> =
        peers.iter().filter(same_job).filter(|row| params(row) == wanted).collect();
    for entry in &mut entries {
        // A single call of a peer stands against any batch of ours, a batch against its own size.
        let rivals = theirs.iter().filter(|row| row.n == 1 || row.n == entry.row.n);
        let rivals: Vec<&Row> = rivals.copied().collect();
        entry.faster = least(&rivals, |row| row.ns_median).map(|ns| ns / entry.row.ns_median);
        entry.faster_least = least(&rivals, |row| row.ns_min).map(|ns| ns / entry.row.ns_min);
    }
    let best: Vec<Row> = entries
        .iter()
        .filter(|entry| entry.row.threads == 1)
        .map(|entry| entry.row.clone())
        .collect();
    let best: Vec<&Row> = best.iter().collect();
    let theirs = theirs.into_iter().map(|row| Entry {
        row: row.clone(),
        ours: false,
        drift: None,
        faster: least(&best, |row| row.ns_median).map(|ns| row.ns_median / ns),
        faster_least: least(&best, |row| row.ns_min).map(|ns| row.ns_min / ns),
    });
    entries.extend(theirs.collect::<Vec<_>>());
    Group { name, params: wanted, entries }
}

fn least(rows: &[&Row], field: fn(&Row) -> f64) -> Option<f64> {
    rows.iter().map(|row| field(row)).min_by(f64::total_cmp)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, params: &str, kernel: &str, n: usize, ns: f64) -> Row {
        let (name, params, kernel) = (name.into(), params.into(), kernel.into());
        Row { name, params, kernel, threads: 1, n, ns_median: ns, ns_min: ns, ..Row::default() }
    }

    #[test]
    fn many_is_compared_with_single_and_with_batches_of_its_size() {
        let peers = vec![
            row("vrf.verify", "s", "single", 1, 100.0),
            row("vrf.verify_many", "s", "batch", 64, 60.0),
            row("vrf.verify_many", "s", "batch", 200, 50.0),
        ];
        let ours = vec![
            vec![row("vrf.verify_many", "s", "wide", 64, 10.0)],
            vec![row("vrf.verify_many", "s", "wide", 64, 20.0)],
        ];
        let groups = join(&Comparison { ours, peers, ..Comparison::default() });
        assert_eq!(groups[0].name, "vrf.verify_many");
        let ours = &groups[0].entries[0];
        assert_eq!((ours.row.ns_median, ours.drift), (15.0, Some(2.0)));
        assert_eq!((ours.faster, ours.faster_least), (Some(4.0), Some(6.0)));
        let peers: Vec<_> = groups[0].entries[1..].iter().map(|entry| entry.faster_least).collect();
        assert_eq!(peers, [Some(10.0), Some(6.0), Some(5.0)]);
    }

    #[test]
    fn a_peer_of_another_suite_stands_against_the_nearest() {
        let mut peer = row("vrf.verify", "own", "peer", 1, 100.0);
        peer.nearest = Some("s".into());
        let ours = vec![vec![row("vrf.verify", "s", "wide", 1, 50.0)]];
        let groups = join(&Comparison { ours, peers: vec![peer], ..Comparison::default() });
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].entries[1].faster, Some(2.0));
    }

    #[test]
    fn peers_alone_have_no_ratio() {
        let peers = vec![row("vdf.square", "2048", "peer", 1, 100.0)];
        let groups = join(&Comparison { peers, ..Comparison::default() });
        assert_eq!(groups[0].entries[0].faster, None);
    }
}
