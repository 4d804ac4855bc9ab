//! `pointsman diff` of two rule sets over as many distinct errors as wanted, as a whole process: time,
//! and memory that does not grow with the corpus. The making of the errors is timed apart.
//!
//! `cargo bench --bench diff`; another number of errors: `cargo bench --bench diff -- 100000`

#![expect(
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench measures with the clock, prints, and may fail so"
)]

use std::{
    collections::{HashSet, hash_map::RandomState},
    fs::{self, File},
    hash::BuildHasher as _,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use pointsman::{
    classify::Scratch,
    lang::load,
    signal::{Signal, fingerprint},
    table::{NoSettings, Table},
};

#[path = "support/children.rs"]
mod children;
#[path = "support/limits.rs"]
mod limits;
#[path = "support/lines.rs"]
mod lines;

/// Peak memory with more errors, as times that with the fewest: it must not grow with the corpus.
const LIMIT_TIMES: f64 = 1.5;

/// Seconds for a million errors, by the clock.
const LIMIT_SECONDS: f64 = 15.0;

/// Errors that differ in more than ids, numbers, quoted names and the model, of all.
const LIMIT_DISTINCT: f64 = 0.9;

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
    let (new, corpus) = (folder.path().join("new.rules"), folder.path().join("errors.jsonl"));
    fs::write(&new, NEW).unwrap();
    let mut limits = limits::Limits::default();
    let mut fewest = None;
    let asked = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    for count in asked.map_or(vec![10_000, 100_000, 1_000_000], |count| vec![count]) {
        let start = Instant::now();
        lines::feed(&mut File::create(&corpus).unwrap(), count);
        let made = start.elapsed();
        let (time, spent, last) = diff(&new, &corpus);
        let peak = children::peak();
        let distinct = distinct(&corpus);
        println!(
            "diff {count:>9} errors ({distinct} distinct, made in {:.2} s) {:>7.2} s  {:>7.2} s of CPU  peak {peak:.1} MiB  {last}",
            made.as_secs_f64(),
            time.as_secs_f64(),
            spent.as_secs_f64(),
        );
        limits.at_least(&format!("distinct of {count}"), distinct as f64 / count as f64, LIMIT_DISTINCT);
        if count == 1_000_000 {
            limits.at_most("seconds for a million errors", time.as_secs_f64(), LIMIT_SECONDS);
        }
        // The peak is that of all children so far, and the fewest errors come first.
        let fewest = *fewest.get_or_insert(peak);
        if fewest > 0.0 {
            limits.at_most(&format!("peak beside the fewest errors, {count}"), peak / fewest, LIMIT_TIMES);
        }
    }
    limits.end()
}

/// The whole process: its time by the clock, its CPU time, and the last line printed.
fn diff(new: &Path, corpus: &Path) -> (Duration, Duration, String) {
    let before = children::cpu();
    let start = Instant::now();
    let mut command = Command::new(BINARY);
    let output = command.args(["diff", "shipped"]).arg(new).arg("--corpus").arg(corpus).output().unwrap();
    let time = start.elapsed();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let last = said.lines().rfind(|line| line.contains("judged differently"));
    (time, children::cpu().saturating_sub(before), last.unwrap_or_default().to_owned())
}

/// How many errors of a corpus differ in more than ids, numbers, quoted names and the model.
fn distinct(corpus: &Path) -> usize {
    let table = Table::compile(load::shipped().unwrap().0, &NoSettings).unwrap();
    let (mut seen, mut scratch, state) = (HashSet::new(), Scratch::default(), RandomState::new());
    for line in BufReader::new(File::open(corpus).unwrap()).lines() {
        let row: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |key: &str| row.get(key).and_then(|value| value.as_str()).map(ToOwned::to_owned);
        let signal = Signal {
            provider: text("provider"),
            model: text("model"),
            message: text("message"),
            ..Signal::default()
        };
        table.classify(&signal.as_ref(), &mut scratch);
        seen.insert(state.hash_one(fingerprint(scratch.evidence())));
    }
    seen.len()
}
