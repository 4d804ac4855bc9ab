//! As many distinct errors as wanted: the corpus over and over, with a request id and numbers that
//! no other line has; and what is measured of a process that reads them.

use std::{
    fmt::Write as _,
    fs,
    io::Write,
    process::Child,
    time::{Duration, Instant},
};

/// Lines that are made and written at a time.
const BATCH: usize = 10_000;

/// Writes distinct JSON lines.
struct Lines {
    rows: Vec<serde_json::Map<String, serde_json::Value>>,
    next: usize,
}

impl Lines {
    fn new() -> Self {
        let rows = include_str!("../../tests/corpus/field.jsonl").lines();
        let rows = rows.map(|line| serde_json::from_str(line).unwrap());
        // What is not evidence would only make the lines longer than a host's are.
        let rows = rows.map(|mut row: serde_json::Map<_, _>| {
            row.retain(|key, _| !["id", "truth", "why", "source"].contains(&key.as_str()));
            row
        });
        Self { rows: rows.collect(), next: 0 }
    }

    /// Appends `count` lines that none before was like.
    fn write(&mut self, count: usize, out: &mut String) {
        for _ in 0..count {
            let number = self.next;
            self.next += 1;
            #[expect(clippy::indexing_slicing, reason = "below the length")]
            let row = &self.rows[number % self.rows.len()];
            write!(out, "{{\"id\":{number}").unwrap();
            for (key, value) in row {
                match value.as_str().filter(|_| key == "message") {
                    // Behind the text, so that what leads it stays in its place.
                    Some(text) => {
                        let text = format!("{text} (request req_{:016x})", spread(number));
                        write!(out, ",\"message\":{}", serde_json::Value::String(text)).unwrap();
                    }
                    None => write!(out, ",\"{key}\":{value}").unwrap(),
                }
            }
            out.push_str("}\n");
        }
    }
}

/// Writes so many distinct lines; the time that writing took, without their making.
pub fn feed(input: &mut impl Write, count: usize) -> Duration {
    let mut lines = Lines::new();
    let mut text = String::new();
    let mut time = Duration::ZERO;
    for _ in 0..count / BATCH {
        text.clear();
        lines.write(BATCH, &mut text);
        let start = Instant::now();
        input.write_all(text.as_bytes()).unwrap();
        time += start.elapsed();
    }
    time
}

/// The most memory that a process has held so far.
pub fn peak(child: &Child) -> String {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.unwrap_or("unknown").trim().to_owned()
}

/// Another number for each number, that does not look like a count.
fn spread(number: usize) -> u64 {
    (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
