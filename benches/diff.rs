//! `pointsman diff` of two rule sets over as many distinct errors as wanted, as a whole process: time,
//! and memory that does not grow with the corpus.
//!
//! `cargo bench --bench diff`; another number of errors: `cargo bench --bench diff -- 100000`

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench measures with the clock, prints, and may fail so"
)]

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

#[path = "support/limits.rs"]
mod limits;
#[path = "support/lines.rs"]
mod lines;

/// Peak memory with more errors, as times that with the fewest: it must not grow with the corpus.
const LIMIT_TIMES: f64 = 1.5;

const BINARY: &str = env!("CARGO_BIN_EXE_pointsman");

/// What an operator may have changed: a rule of their own, one that is gone, a schedule, a list.
const NEW: &str = "language 1
rule patience -> overloaded when text has \"please try again\" and status in [500..599]
  example status 500 message \"Please try again\"
use default
drop rule prompt_too_long
replace backoff short = steps 30s, 2m
extend usage_window_words with [\"fortnightly\"]
";

fn main() -> ExitCode {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new.rules");
    fs::write(&new, NEW).unwrap();
    let mut limits = limits::Limits::default();
    let mut fewest = None;
    let asked = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    for count in asked.map_or(vec![10_000, 100_000, 1_000_000], |count| vec![count]) {
        let (time, peak, last) = diff(&new, count);
        println!("diff {count:>9} errors {:>7.2} s  peak {peak}  {last}", time.as_secs_f64());
        // `19000 kB`; unknown where there is no `/proc`.
        let Some(peak) = peak.split(' ').next().and_then(|number| number.parse::<f64>().ok()) else {
            continue;
        };
        let fewest = *fewest.get_or_insert(peak);
        limits.at_most(&format!("peak beside the fewest errors, {count}"), peak / fewest, LIMIT_TIMES);
    }
    limits.end()
}

/// Time from the first error in to the difference out, the making of lines left out; peak memory;
/// the last line printed.
fn diff(new: &Path, count: usize) -> (Duration, String, String) {
    let mut command = Command::new(BINARY);
    command.args(["diff", "shipped"]).arg(new).args(["--corpus", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut time = lines::feed(&mut input, count);
    let start = Instant::now();
    let peak = lines::peak(&child);
    drop(input);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    time += start.elapsed();
    assert!(child.wait().unwrap().success());
    let last = said.lines().rfind(|line| line.contains("judged differently"));
    (time, peak, last.unwrap_or_default().to_owned())
}
