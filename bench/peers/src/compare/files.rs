//! Stores a comparison: JSON (everything), CSV, a page of tables, a plot.

use super::groups::Group;
use super::{Comparison, plot, table};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Writes the four files below `folder/<machine>/`; returns their common path without extension.
pub fn store(folder: &Path, comparison: &Comparison, groups: &[Group]) -> Result<PathBuf, String> {
    let folder = folder.join(slug(&comparison.peers_machine.cpu));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let stem = format!("{}-{}", comparison.noun, comparison.date);
    let json = serde_json::to_string_pretty(comparison).map_err(|error| error.to_string())?;
    let plot = plot::draw(comparison, groups)?;
    for (extension, text) in [
        ("json", json + "\n"),
        ("csv", csv(groups)),
        ("md", page(&stem, comparison, groups)),
        ("svg", plot),
    ] {
        let file = folder.join(format!("{stem}.{extension}"));
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(folder.join(stem))
}

/// A folder's name for a machine.
fn slug(cpu: &str) -> String {
    let lower = cpu.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() { "unknown".into() } else { slug }
}

fn csv(groups: &[Group]) -> String {
    let mut text = String::from(
        "group,group_params,side,params,kernel,threads,n,ns_median,ns_min,ns_p90,cycles_median,\
         cycles_estimated,bytes,faster,faster_least,drift\n",
    );
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
    for (group, entry) in
        groups.iter().flat_map(|group| group.entries.iter().map(move |e| (group, e)))
    {
        let row = &entry.row;
        let fields = [
            group.name.clone(),
            group.params.clone(),
            if entry.ours { "tetralith" } else { "peer" }.to_owned(),
            row.params.clone(),
            row.kernel.clone(),
            row.threads.to_string(),
            row.n.to_string(),
            format!("{:.2}", row.ns_median),
            format!("{:.2}", row.ns_min),
            format!("{:.2}", row.ns_p90),
            optional(row.cycles_median),
            optional(row.cycles_estimated),
            row.bytes.map_or(String::new(), |bytes| bytes.to_string()),
            optional(entry.faster),
            optional(entry.faster_least),
            optional(entry.drift),
        ];
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

fn page(stem: &str, comparison: &Comparison, groups: &[Group]) -> String {
    let mut text = format!(
        "# {} side by side, {}\n\n```text\n{}```\n\n![{stem}]({stem}.svg)\n\n\
         *faster*: by how many times ours beats the best of the other side, by the medians and by the \
         least times.\nCycles with a `~` are estimated from the clock, not counted. *Drift*: our \
         second run through our first.\nA suite in brackets is the peer's own, the nearest it has.\n",
        comparison.noun,
        comparison.date,
        table::machine(comparison)
    );
    for group in groups {
        let _ = write!(
            text,
            "\n## {} {}\n| | n | median | least | cycles | faster | by least | drift |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|\n",
            group.name, group.params
        );
        for entry in &group.entries {
            let (row, emphasis) = (&entry.row, if entry.ours { "**" } else { "" });
            let _ = writeln!(
                text,
                "| {emphasis}{}{emphasis} | {} | {} | {} | {} | {} | {} | {} |",
                table::who(entry),
                row.n,
                table::duration(row.ns_median),
                table::duration(row.ns_min),
                table::cycles(row.cycles_median, row.cycles_estimated),
                table::ratio(entry.faster),
                table::ratio(entry.faster_least),
                table::ratio(entry.drift)
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_machine_has_one_folder() {
        assert_eq!(super::slug("AMD EPYC (family 26, model 2)"), "amd-epyc-family-26-model-2");
        assert_eq!(super::slug("…"), "unknown");
    }
}
