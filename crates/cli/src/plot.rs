//! Inline SVG plots for the reports.

mod text;

use crate::report::escape;
use plotters::prelude::*;
use text::width;

/// One bar: a label, a value, and whether it was measured here or published elsewhere.
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) value: f64,
    pub(crate) ours: bool,
}

impl Bar {
    /// A figure of this run.
    pub(crate) fn measured(label: impl Into<String>, value: f64) -> Self {
        Bar { label: label.into(), value, ours: true }
    }

    /// A figure that others published.
    pub(crate) fn published(label: impl Into<String>, value: f64) -> Self {
        Bar { label: label.into(), value, ours: false }
    }
}

const OURS: RGBColor = RGBColor(26, 127, 55);
const THEIRS: RGBColor = RGBColor(140, 140, 140);
const ROW: u32 = 26;
const WIDTH: u32 = 860;
/// The size of labels, as the backend is asked for it.
const LABEL: f64 = 13.0;

/// A line of points over an axis of whole numbers, values on a logarithmic axis.
pub(crate) struct Line {
    pub(crate) label: String,
    pub(crate) points: Vec<(u32, f64)>,
}

/// Lines with markers; `x` and `y` name the axes.
///
/// Returns an SVG element; on a drawing error a paragraph that says so.
pub(crate) fn lines(title: &str, x: &str, y: &str, lines: &[Line]) -> String {
    let mut svg = String::new();
    match draw_lines(&mut svg, title, x, y, lines) {
        Ok(()) => svg,
        Err(error) => format!("<p>The plot failed: {}</p>", escape(&error.to_string())),
    }
}

fn draw_lines(
    svg: &mut String,
    title: &str,
    x: &str,
    y: &str,
    lines: &[Line],
) -> Result<(), Box<dyn std::error::Error>> {
    let all = || lines.iter().flat_map(|line| line.points.iter().copied());
    let (Some(first), Some(last)) = (all().map(|p| p.0).min(), all().map(|p| p.0).max()) else {
        return Ok(());
    };
    let least = all().map(|p| p.1).fold(f64::INFINITY, f64::min) / 2.0;
    let most = all().map(|p| p.1).fold(0.0, f64::max) * 2.0;
    let names = lines.iter().map(|line| width(&line.label, LABEL)).max().unwrap_or_default();
    let root = SVGBackend::with_string(svg, (WIDTH, 360)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, right) =
        root.titled(title, ("sans-serif", 17))?.split_horizontally(WIDTH - names - 32);
    let mut chart = ChartBuilder::on(&left)
        .margin(8)
        .margin_right(16)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d(first..last.max(first + 1), (least..most).log_scale())?;
    chart.configure_mesh().x_desc(x).y_desc(y).draw()?;
    for (i, line) in lines.iter().enumerate() {
        let colour = Palette99::pick(i).to_rgba();
        chart.draw_series(LineSeries::new(line.points.iter().copied(), colour))?;
        let dots = line.points.iter().map(|&point| Circle::new(point, 3, colour.filled()));
        chart.draw_series(dots)?;
        let y = 20 + 20 * i as i32;
        right.draw(&Circle::new((6, y + 6), 4, colour.filled()))?;
        right.draw(&Text::new(line.label.clone(), (16, y), ("sans-serif", LABEL)))?;
    }
    root.present()?;
    drop(chart);
    Ok(())
}

/// Horizontal bars over a logarithmic axis of `unit`, ours in green, published figures in grey.
///
/// Returns an SVG element; on a drawing error a paragraph that says so.
pub(crate) fn bars(title: &str, unit: &str, bars: &[Bar]) -> String {
    let mut svg = String::new();
    match draw(&mut svg, title, unit, bars) {
        Ok(()) => svg,
        Err(error) => format!("<p>The plot failed: {}</p>", escape(&error.to_string())),
    }
}

fn draw(
    svg: &mut String,
    title: &str,
    unit: &str,
    bars: &[Bar],
) -> Result<(), Box<dyn std::error::Error>> {
    let height = 90 + ROW * bars.len() as u32;
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let positive = bars.iter().map(|bar| bar.value.max(1e-12));
    let least = positive.clone().fold(f64::INFINITY, f64::min) / 2.0;
    let most = positive.fold(0.0, f64::max) * 1.2;
    let figure = |bar: &Bar| format!("{:.3}", Figure(bar.value.max(1e-12)));
    let names = bars.iter().map(|bar| width(&bar.label, LABEL)).max().unwrap_or_default();
    let figures = bars.iter().map(|bar| width(&figure(bar), LABEL)).max().unwrap_or_default();
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 17))
        .margin(8)
        .margin_right(figures + 8)
        .x_label_area_size(36)
        .y_label_area_size(names + 16)
        .build_cartesian_2d((least..most).log_scale(), 0.0..bars.len() as f64)?;
    chart.configure_mesh().disable_y_mesh().disable_y_axis().x_desc(unit).x_labels(6).draw()?;
    let label = ("sans-serif", LABEL).into_font();
    for (row, bar) in bars.iter().rev().enumerate() {
        let (low, high) = (row as f64 + 0.15, row as f64 + 0.85);
        let colour = if bar.ours { OURS } else { THEIRS };
        let value = bar.value.max(1e-12);
        chart.draw_series([Rectangle::new([(least, low), (value, high)], colour.filled())])?;
        let figure = Text::new(figure(bar), (value * 1.06, high - 0.15), label.clone());
        chart.draw_series([figure])?;
        let y = 8 + 24 + ROW as i32 * (bars.len() - 1 - row) as i32 + 6;
        root.draw(&Text::new(bar.label.clone(), (10, y), label.clone()))?;
    }
    root.present()?;
    drop(chart);
    Ok(())
}

/// A number with a few digits that mean something.
struct Figure(f64);

impl std::fmt::Display for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            value if value >= 100.0 => write!(f, "{value:.0}"),
            value if value >= 1.0 => write!(f, "{value:.1}"),
            value => write!(f, "{value:.3}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::text::outside;
    use super::*;

    #[test]
    fn bars_become_svg() {
        let svg =
            bars("keygen", "ms", &[Bar::measured("here", 40.0), Bar::published("2017", 2436.0)]);
        assert!(svg.starts_with("<svg") && svg.contains("2017") && svg.contains("2436"), "{svg}");
    }

    #[test]
    fn every_text_is_inside() {
        let long = "vrf.verify_batchcompat draft13-batchcompat, here";
        for values in [[1.0, 2.0, 3.0], [1e-4, 1.0, 1e9], [1e6, 1e-3, 1e-3], [5e8, 6e8, 7e8]] {
            let all = [
                Bar::measured(long, values[0]),
                Bar::published("go-tss report's fit, 10 nodes, with the network", values[1]),
                Bar::measured("short", values[2]),
            ];
            let beyond = outside(&bars("time for one, here and as published", "µs", &all));
            assert!(beyond.is_empty(), "{beyond:#?}");
            for (from, to) in [(16, 22), (4, 20), (10, 10)] {
                let line = |label: &str, value: f64| {
                    let points = vec![(from, value), (to, value / 3.0)];
                    Line { label: label.into(), points }
                };
                let all = [
                    line("n-wesolowski, 16 threads", values[0]),
                    line("wesolowski, 1 threads", values[1]),
                    line(long, values[2]),
                ];
                let title = "Time over the height: QRL's keys, and XMSS-SHA2 from height 16 on";
                let beyond =
                    outside(&lines(title, "log2 T", "% of T after the last squaring", &all));
                assert!(beyond.is_empty(), "{beyond:#?}");
            }
        }
    }
}
