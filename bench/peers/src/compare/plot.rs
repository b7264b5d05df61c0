//! The plot of a comparison: time over the tree height, the modulus size or the batch size.

// Of the command, whose crate has nothing for others.
#[path = "../../../../crates/cli/src/plot/text.rs"]
mod text;

use super::Comparison;
use super::groups::{Entry, Group};
use super::table::who;
use plotters::coord::combinators::BindKeyPoints;
use plotters::prelude::*;
use text::width;

/// A line: its name, whether it is ours, and its points.
struct Series {
    label: String,
    ours: bool,
    points: Vec<(f64, f64)>,
}

/// One coordinate system.
struct Panel {
    title: String,
    x: &'static str,
    y: &'static str,
    /// Empty for ticks at 1, 2 and 5 times the powers of ten.
    x_ticks: Vec<f64>,
    series: Vec<Series>,
}

/// A coordinate system; its lines' names stand beside it.
const PANEL: (u32, u32) = (360, 460);
/// The sizes of names and titles, as the backend is asked for them.
const NAME: f64 = 11.0;
const TITLE: f64 = 15.0;
const COLUMNS: usize = 3;
const OURS: [RGBColor; 4] =
    [RGBColor(26, 127, 55), RGBColor(90, 170, 60), RGBColor(0, 100, 100), RGBColor(120, 140, 20)];
const THEIRS: [RGBColor; 8] = [
    RGBColor(180, 60, 60),
    RGBColor(60, 90, 180),
    RGBColor(200, 130, 30),
    RGBColor(130, 60, 150),
    RGBColor(110, 110, 110),
    RGBColor(40, 150, 190),
    RGBColor(160, 110, 80),
    RGBColor(220, 100, 160),
];

/// The SVG.
pub fn draw(comparison: &Comparison, groups: &[Group]) -> Result<String, String> {
    let panels = match comparison.noun.as_str() {
        "xmss" => xmss(groups),
        "vdf" => vdf(groups),
        _ => vrf(groups),
    };
    let panels: Vec<Panel> = panels.into_iter().filter(|panel| !panel.series.is_empty()).collect();
    let mut svg = String::new();
    panels_to_svg(&mut svg, &panels).map_err(|error| format!("the plot failed: {error}"))?;
    Ok(svg)
}

/// Adds a point to the line of this name.
fn add(series: &mut Vec<Series>, label: String, ours: bool, point: (f64, f64)) {
    match series.iter_mut().find(|line| line.label == label) {
        Some(line) => line.points.push(point),
        None => series.push(Series { label, ours, points: vec![point] }),
    }
}

/// Rows of one thread.
fn entries(group: &Group) -> impl Iterator<Item = &Entry> {
    group.entries.iter().filter(|entry| entry.row.threads == 1)
}

/// Key generation, signing and verification over the height, for each hash family.
fn xmss(groups: &[Group]) -> Vec<Panel> {
    let mut panels = Vec::new();
    for family in ["SHA2", "SHAKE256", "SHAKE"] {
        for job in ["keygen", "sign", "verify"] {
            let mut series = Vec::new();
            for group in groups.iter().filter(|group| group.name == format!("xmss.{job}")) {
                let mut parts = group.params.split(['-', '_']).skip(1);
                let (hash, height, n) = (parts.next(), parts.next(), parts.next());
                let Some(height) = height.and_then(|height| height.parse().ok()) else { continue };
                if hash == Some(family) && n == Some("256") {
                    for entry in entries(group) {
                        let point = (height, entry.row.ns_median / 1e6);
                        add(&mut series, who(entry), entry.ours, point);
                    }
                }
            }
            let title = format!("XMSS-{family}_h_256: {job}");
            let x_ticks = vec![10.0, 16.0, 20.0];
            panels.push(Panel { title, x: "tree height", y: "ms", x_ticks, series });
        }
    }
    panels
}

/// One squaring over the size of the modulus.
fn vdf(groups: &[Group]) -> Vec<Panel> {
    let mut series = Vec::new();
    for group in groups.iter().filter(|group| group.name == "vdf.square") {
        let Ok(bits) = group.params.parse() else { continue };
        for entry in entries(group) {
            add(&mut series, who(entry), entry.ours, (bits, entry.row.ns_median));
        }
    }
    let title = "one squaring modulo N".to_owned();
    let x_ticks = crate::vdf::BITS.map(|bits| bits as f64).to_vec();
    vec![Panel { title, x: "bits of N", y: "ns", x_ticks, series }]
}

/// Verification over the batch size, for each suite that has a peer.
fn vrf(groups: &[Group]) -> Vec<Panel> {
    let verifies = |group: &&Group| group.name.starts_with("vrf.verify");
    let mut panels: Vec<Panel> = Vec::new();
    for group in groups.iter().filter(verifies) {
        let title = format!("{}: verification", group.params);
        if !panels.iter().any(|panel| panel.title == title) {
            let (title, x_ticks) = (title.clone(), vec![1.0, 8.0, 64.0, 200.0, 1024.0]);
            panels.push(Panel { title, x: "n", y: "µs per proof", x_ticks, series: Vec::new() });
        }
        let panel = panels.iter_mut().find(|panel| panel.title == title).expect("pushed above");
        let ours =
            |kernel: &str| entries(group).any(|entry| entry.ours && entry.row.kernel == kernel);
        let forced = if ours("avx512") { "avx2" } else { "" };
        for entry in entries(group) {
            let point = (entry.row.n as f64, entry.row.ns_median / 1e3);
            let plain = entry.ours && entry.row.kernel != forced;
            let label = if plain { "tetralith".to_owned() } else { who(entry) };
            let known =
                panel.series.iter().any(|line| line.label == label && line.points.contains(&point));
            if !known {
                add(&mut panel.series, label, entry.ours, point);
            }
        }
    }
    for panel in &mut panels {
        // Who has no batches verifies n proofs in n times the time of one.
        for line in &mut panel.series {
            if let [(1.0, y)] = line.points[..] {
                line.points.push((1024.0, y));
            }
        }
    }
    // Suites that nobody else has say nothing here.
    panels.retain(|panel| panel.series.iter().any(|line| !line.ours));
    panels
}

fn panels_to_svg(svg: &mut String, panels: &[Panel]) -> Result<(), Box<dyn std::error::Error>> {
    let columns = panels.len().clamp(1, COLUMNS);
    let rows = panels.len().div_ceil(columns).max(1);
    let names = panels.iter().flat_map(|panel| &panel.series);
    let names = names.map(|line| 24 + width(&line.label, NAME)).max().unwrap_or_default();
    let titles = panels.iter().map(|panel| 16 + width(&panel.title, TITLE)).max();
    let wide = (PANEL.0 + names).max(titles.unwrap_or_default());
    let most = panels.iter().map(|panel| panel.series.len() as u32).max().unwrap_or_default();
    let high = PANEL.1.max(40 + 17 * most);
    let size = (wide * columns as u32, high * rows as u32);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE)?;
    for (panel, area) in panels.iter().zip(root.split_evenly((rows, columns))) {
        one(panel, &area)?;
    }
    root.present()?;
    Ok(())
}

fn one(
    panel: &Panel,
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || panel.series.iter().flat_map(|line| line.points.iter().copied());
    let x_ticks = ticks(points().map(|point| point.0), &panel.x_ticks);
    let y_ticks = ticks(points().map(|point| point.1), &[]);
    let ends = |ticks: &[f64], room: f64| match (ticks.first(), ticks.last()) {
        (Some(first), Some(last)) => first / room..last * room,
        _ => 1.0..10.0,
    };
    let x = ends(&x_ticks, 1.08).log_scale().with_key_points(x_ticks);
    let y = ends(&y_ticks, 1.02).log_scale().with_key_points(y_ticks);
    let titled = area.titled(&panel.title, ("sans-serif", TITLE))?;
    let (left, right) = titled.split_horizontally(PANEL.0);
    let mut chart = ChartBuilder::on(&left)
        .margin(8)
        .x_label_area_size(36)
        .y_label_area_size(58)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(panel.x)
        .y_desc(panel.y)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| if *y < 1.0 { format!("{y}") } else { format!("{y:.0}") })
        .bold_line_style(RGBColor(225, 225, 225))
        .light_line_style(WHITE)
        .draw()?;
    let (mut ours, mut theirs) = (OURS.iter().cycle(), THEIRS.iter().cycle());
    for (index, line) in panel.series.iter().enumerate() {
        let palette = if line.ours { &mut ours } else { &mut theirs };
        let colour = *palette.next().expect("a cycle does not end");
        let width = if line.ours { 3 } else { 1 };
        let mut points = line.points.clone();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(width)))?;
        let dots = points.iter().map(|&point| Circle::new(point, width + 2, colour.filled()));
        chart.draw_series(dots)?;
        let y = 12 + 17 * index as i32;
        right.draw(&Circle::new((6, y + 6), 4, colour.filled()))?;
        right.draw(&Text::new(line.label.clone(), (16, y), ("sans-serif", NAME)))?;
    }
    Ok(())
}

/// The given ticks, else 1, 2 and 5 times the powers of ten around the values.
fn ticks(values: impl Iterator<Item = f64>, given: &[f64]) -> Vec<f64> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let range = values
        .filter(|value| *value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |range, value| (range.0.min(value), range.1.max(value)));
    let decades = (-9..12).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(power)));
    let decades: Vec<f64> = decades.collect();
    let first = decades.iter().rposition(|tick| *tick <= range.0).unwrap_or(0);
    let last = decades.iter().position(|tick| *tick >= range.1).unwrap_or(decades.len() - 1);
    decades[first.min(last)..=last].to_vec()
}

#[cfg(test)]
mod tests {
    use super::text::outside;
    use super::*;
    use crate::compare::groups;

    /// Of everything that is stored.
    #[test]
    fn every_text_is_inside() {
        let results = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../results"));
        let folders = std::fs::read_dir(results).expect("results").flatten();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).expect("a folder"));
        let files = files.flatten().map(|file| file.path());
        let stored: Vec<_> =
            files.filter(|file| file.extension() == Some("json".as_ref())).collect();
        assert!(stored.len() >= 3);
        for file in stored {
            let text = std::fs::read(&file).expect("read");
            let comparison: Comparison = serde_json::from_slice(&text).expect("a comparison");
            let svg = draw(&comparison, &groups::join(&comparison)).expect("drawn");
            let beyond = outside(&svg);
            assert!(beyond.is_empty(), "{}: {beyond:#?}", file.display());
        }
    }
}
