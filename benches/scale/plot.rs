//! Panels with two logarithmic axes, as an SVG that is read on light and dark pages.

use std::fmt::Write as _;

use super::Point;

const COLUMNS: usize = 2;
/// Of a panel with its labels.
const WIDTH: f64 = 406.0;
const HEIGHT: f64 = 300.0;
/// Of its plotting area, within the panel.
const LEFT: f64 = 62.0;
const TOP: f64 = 34.0;
const ACROSS: f64 = 322.0;
const DOWN: f64 = 168.0;

const STYLE: &str = "
    .bg { fill: #ffffff } .text { fill: #1d2730 } .note { fill: #5b6b7b; font-size: 11px }
    .grid { stroke: #dde3e8 } .frame { stroke: #5b6b7b; fill: none }
    .s { fill: none; stroke-width: 2 } .d { stroke: none }
    .s0 { stroke: #1f6fb2 } .s1 { stroke: #b3541e } .s2 { stroke: #3f7d52 } .s3 { stroke: #8a4fa3 }
    .d0 { fill: #1f6fb2 } .d1 { fill: #b3541e } .d2 { fill: #3f7d52 } .d3 { fill: #8a4fa3 }
    .s4 { stroke: #8a7a1f } .d4 { fill: #8a7a1f }
    @media (prefers-color-scheme: dark) {
      .bg { fill: #14181c } .text { fill: #e6ecf1 } .note { fill: #9fb0c0 }
      .grid { stroke: #2b343c } .frame { stroke: #8a9aaa }
      .s0 { stroke: #6db3ee } .s1 { stroke: #eb9a66 } .s2 { stroke: #6fae82 } .s3 { stroke: #c795dc }
      .d0 { fill: #6db3ee } .d1 { fill: #eb9a66 } .d2 { fill: #6fae82 } .d3 { fill: #c795dc }
      .s4 { stroke: #cfc06a } .d4 { fill: #cfc06a }
    }
";

/// One panel for each axis, with its title.
pub fn svg(panels: &[(&str, &str)], points: &[Point]) -> String {
    let rows = panels.len().div_ceil(COLUMNS);
    let (width, height) = (WIDTH * many(COLUMNS), HEIGHT * many(rows));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-sans-serif, \
         system-ui, sans-serif\" font-size=\"13\" role=\"img\" aria-labelledby=\"t\">\n  <title id=\"t\">How cost \
         grows with rules, text, profiles, sessions and runs at a time</title>\n  <style>{STYLE}  </style>\n  \
         <rect class=\"bg\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n"
    );
    for (place, (axis, title)) in panels.iter().enumerate() {
        let its: Vec<&Point> = points.iter().filter(|point| point.axis == *axis).collect();
        let (x, y) = (WIDTH * many(place % COLUMNS), HEIGHT * many(place / COLUMNS));
        writeln!(out, "  <g transform=\"translate({x} {y})\">").unwrap();
        panel(&mut out, title, &its);
        out.push_str("  </g>\n");
    }
    out.push_str("</svg>\n");
    out
}

fn panel(out: &mut String, title: &str, points: &[&Point]) {
    let (xs, ys) = (decades(points.iter().map(|point| point.x)), decades(points.iter().map(|point| point.y)));
    let x = |value: f64| LEFT + ACROSS * (value.log10() - f64::from(xs.0)) / f64::from(xs.1 - xs.0);
    let y = |value: f64| TOP + DOWN * (f64::from(ys.1) - value.log10()) / f64::from(ys.1 - ys.0);
    writeln!(out, "    <text class=\"text\" x=\"{LEFT}\" y=\"22\">{title}</text>").unwrap();
    for power in xs.0..=xs.1 {
        let at = x(10f64.powi(power));
        writeln!(out, "    <path class=\"grid\" d=\"M{at:.1} {TOP}v{DOWN}\"/>").unwrap();
        let (bottom, name) = (TOP + DOWN + 15.0, count(power));
        writeln!(
            out,
            "    <text class=\"note\" x=\"{at:.1}\" y=\"{bottom}\" text-anchor=\"middle\">{name}</text>"
        )
        .unwrap();
    }
    for power in ys.0..=ys.1 {
        let (at, name) = (y(10f64.powi(power)), span(power));
        writeln!(out, "    <path class=\"grid\" d=\"M{LEFT} {at:.1}h{ACROSS}\"/>").unwrap();
        let (left, down) = (LEFT - 6.0, at + 4.0);
        writeln!(
            out,
            "    <text class=\"note\" x=\"{left}\" y=\"{down:.1}\" text-anchor=\"end\">{name}</text>"
        )
        .unwrap();
    }
    writeln!(
        out,
        "    <rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{ACROSS}\" height=\"{DOWN}\"/>"
    )
    .unwrap();
    let mut names: Vec<&str> = points.iter().map(|point| point.series.as_str()).collect();
    names.dedup();
    for (n, name) in names.iter().enumerate() {
        let its: Vec<&&Point> = points.iter().filter(|point| point.series == *name).collect();
        let line: Vec<String> =
            its.iter().map(|point| format!("{:.1},{:.1}", x(point.x), y(point.y))).collect();
        writeln!(out, "    <polyline class=\"s s{n}\" points=\"{}\"/>", line.join(" ")).unwrap();
        for point in &its {
            let (x, y) = (x(point.x), y(point.y));
            writeln!(out, "    <circle class=\"d d{n}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>").unwrap();
        }
        let (across, down) = (LEFT + 168.0 * many(n % 2), TOP + DOWN + 36.0 + 17.0 * many(n / 2));
        writeln!(
            out,
            "    <circle class=\"d d{n}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"/>",
            across + 4.0,
            down - 4.0
        )
        .unwrap();
        writeln!(out, "    <text class=\"note\" x=\"{:.1}\" y=\"{down:.1}\">{name}</text>", across + 13.0)
            .unwrap();
    }
}

/// The powers of ten around some values.
#[expect(clippy::cast_possible_truncation, reason = "powers of ten of what is measured are small")]
fn decades(values: impl Iterator<Item = f64> + Clone) -> (i32, i32) {
    let least = values.clone().fold(f64::INFINITY, f64::min).log10().floor() as i32;
    let most = values.fold(0.0, f64::max).log10().ceil() as i32;
    if least < most { (least, most) } else { (0, 1) }
}

fn count(power: i32) -> String {
    match power {
        ..3 => format!("{}", 10f64.powi(power)),
        3..6 => format!("{}k", 10f64.powi(power - 3)),
        _ => format!("{}M", 10f64.powi(power - 6)),
    }
}

fn span(power: i32) -> String {
    match power {
        ..-6 => format!("{} ns", 10f64.powi(power + 9).round()),
        -6..-3 => format!("{} µs", 10f64.powi(power + 6).round()),
        -3..0 => format!("{} ms", 10f64.powi(power + 3).round()),
        _ => format!("{} s", 10f64.powi(power).round()),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a handful")]
fn many(count: usize) -> f64 {
    count as f64
}
