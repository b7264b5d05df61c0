//! How wide the texts of a plot are. `bench/peers`, which is no part of the workspace, compiles this file too.

/// Pixels of a text, for a letter as wide as those of the widest usual fonts; the viewer has its own.
pub(crate) fn width(text: &str, size: f64) -> u32 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '(' | ')' | '[' | ']' | '/' | '\'' | ':' | ';'
        | ',' | '.' | '-' | ' ' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '…' => 1.0,
        'A'..='Z' => 0.79,
        _ => 0.64,
    };
    // The backend writes `font-size` 1.24 times smaller than it is asked for.
    (text.chars().map(em).sum::<f64>() * size / 1.24).ceil() as u32
}

/// The texts of an SVG that may reach beyond its edge.
#[cfg(test)]
pub(crate) fn outside(svg: &str) -> Vec<String> {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let attribute = |tag: &str, name: &str| {
        let value = tag.split_once(&format!(" {name}=\"")).map(|(_, rest)| rest);
        value.and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
    };
    let head = svg.split('>').next().expect("a head");
    let (most_x, most_y) = (number(&attribute(head, "width")), number(&attribute(head, "height")));
    let texts = svg.split("<text").skip(1).map(|rest| {
        let (tag, rest) = rest.split_once('>').expect("a tag");
        (tag, rest.split_once("</text>").expect("its end").0.trim())
    });
    let beyond = texts.filter(|(tag, text)| {
        let (x, y) = (number(&attribute(tag, "x")), number(&attribute(tag, "y")));
        let size = number(&attribute(tag, "font-size"));
        let plain = text.replace("&apos;", "'").replace("&amp;", "&");
        let wide = f64::from(width(&plain, size * 1.24));
        let before = match &attribute(tag, "text-anchor")[..] {
            "start" => 0.0,
            "middle" => wide / 2.0,
            _ => wide,
        };
        // How far the letters' top and bottom are below y.
        let dy = attribute(tag, "dy");
        let line = match dy.strip_suffix("em") {
            Some(em) => size * number(em),
            None => size / 2.0 * number(dy.trim_end_matches("ex")),
        };
        let (top, bottom) = (line - 0.76 * size, line + 0.24 * size);
        let (x, y) = match attribute(tag, "transform").contains("rotate(270") {
            true => ([x + top, x + bottom], [y - wide + before, y + before]),
            false => ([x - before, x - before + wide], [y + top, y + bottom]),
        };
        x[0] < 0.0 || y[0] < 0.0 || x[1] > most_x || y[1] > most_y
    });
    beyond.map(|(tag, text)| format!("{text} {tag}")).collect()
}
