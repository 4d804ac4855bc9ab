//! Runs every target over its corpus, without libFuzzer and on any compiler, for a minute at most.
//! `replay [TARGET|FILE…]` runs these only: a file through the target whose name its path holds.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

/// For all targets together; what does not fit is left out, and said.
const LONGEST: Duration = Duration::from_secs(60);

/// No input may take longer than this, built without optimisation and on a busy machine.
const SLOW: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let corpus = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut fine = true;
    let mut left = LONGEST;
    for (at, (target, body)) in fuzz::TARGETS.into_iter().enumerate() {
        let named: Vec<PathBuf> = asked
            .iter()
            .map(PathBuf::from)
            .filter(|path| path.is_file() && path.components().any(|part| part.as_os_str() == target))
            .collect();
        let files = match &asked[..] {
            [] => inputs(&corpus.join(target)),
            _ if asked.iter().any(|name| name == target) => inputs(&corpus.join(target)),
            _ => named,
        };
        if files.is_empty() {
            fine &= !asked.is_empty();
            if asked.is_empty() {
                eprintln!("{target}: no corpus");
            }
            continue;
        }
        let share = left / u32::try_from(fuzz::TARGETS.len() - at).unwrap_or(1);
        let began = Instant::now();
        let mut done = 0;
        for path in &files {
            if asked.is_empty() && began.elapsed() > share {
                break;
            }
            done += 1;
            fine &= one(target, body, path);
        }
        let took = began.elapsed();
        left = left.saturating_sub(took);
        println!("{target}: {done} of {} inputs in {:.1} s", files.len(), took.as_secs_f64());
    }
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The files of a folder, in order.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    files.sort();
    files
}

/// Runs one input; whether it went well.
fn one(target: &str, body: fuzz::Body, path: &Path) -> bool {
    let data = match fs::read(path) {
        Ok(data) => data,
        Err(error) => {
            eprintln!("{target}: {}: {error}", path.display());
            return false;
        }
    };
    let began = Instant::now();
    let panicked = std::panic::catch_unwind(|| body(&data)).is_err();
    let slow = began.elapsed() > SLOW;
    if panicked || slow {
        let what = if panicked { "panics" } else { "takes too long" };
        eprintln!("{target}: {} {what}", path.display());
    }
    !panicked && !slow
}
