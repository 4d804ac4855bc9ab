//! How cost grows: with rules, length of the error, stored profiles, sessions, and runs at a time.
//!
//! `cargo bench --bench scale` measures each axis, writes the points to `docs/src/scale.csv` and draws
//! `docs/src/scale.svg` from them; a name behind `--` (`-- sessions`) measures that axis alone and keeps
//! the others' points; `-- --plot` only draws.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may fail so, and prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

#[path = "scale/axes.rs"]
mod axes;
#[path = "scale/plot.rs"]
mod plot;

use std::{fmt::Write as _, fs, path::Path};

/// One measured point.
#[derive(Clone, Debug)]
pub struct Point {
    axis: String,
    series: String,
    x: f64,
    /// Seconds.
    y: f64,
}

/// Name, title of the panel, what it measures.
type Axis = (&'static str, &'static str, fn(&mut Points));

const AXES: [Axis; 5] = [
    ("rules", "rules beside the shipped ones", axes::rules),
    ("text", "length of the error, bytes", axes::text),
    ("profiles", "stored profiles", axes::profiles),
    ("sessions", "stored sessions", axes::sessions),
    ("runs", "runs at a time", axes::runs),
];

/// Points of one axis.
pub struct Points<'a> {
    axis: &'a str,
    all: Vec<Point>,
}

impl Points<'_> {
    fn add(&mut self, series: &str, x: usize, seconds: f64) {
        println!("{:10} {series:34} {x:>9} {:>12.3} µs", self.axis, seconds * 1e6);
        #[expect(clippy::cast_precision_loss, reason = "at most a million")]
        let x = x as f64;
        self.all.push(Point { axis: self.axis.to_owned(), series: series.to_owned(), x, y: seconds });
    }
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src");
    let csv = folder.join("scale.csv");
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let wanted = |axis: &str| asked.is_empty() || asked.iter().any(|arg| arg == axis);
    let mut points = read(&fs::read_to_string(&csv).unwrap_or_default());
    for (axis, _, measure) in AXES.into_iter().filter(|(axis, ..)| wanted(axis)) {
        let mut measured = Points { axis, all: Vec::new() };
        measure(&mut measured);
        points.retain(|point| point.axis != axis);
        points.append(&mut measured.all);
    }
    let place = |point: &Point| AXES.iter().position(|(axis, ..)| *axis == point.axis);
    points.sort_by_key(place);
    fs::write(&csv, write(&points)).unwrap();
    let panels = AXES.map(|(axis, title, _)| (axis, title));
    fs::write(folder.join("scale.svg"), plot::svg(&panels, &points)).unwrap();
}

fn write(points: &[Point]) -> String {
    let mut text = "axis,series,x,seconds\n".to_owned();
    for Point { axis, series, x, y } in points {
        writeln!(text, "{axis},{series},{x},{y:.3e}").unwrap();
    }
    text
}

fn read(text: &str) -> Vec<Point> {
    let line = |line: &str| {
        let mut parts = line.split(',').map(str::to_owned);
        let (axis, series) = (parts.next()?, parts.next()?);
        Some(Point { axis, series, x: parts.next()?.parse().ok()?, y: parts.next()?.parse().ok()? })
    };
    text.lines().filter_map(line).collect()
}
