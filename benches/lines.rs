//! `pointsman classify` as a whole process in a pipe: lines a second, and memory that does not grow
//! with the input. Before that, what short commands take as whole processes.
//!
//! `cargo bench --bench lines`

#![expect(
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::naive_bytecount,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench measures with the clock, prints, and may fail so"
)]

use std::{
    fs,
    io::Read,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

#[path = "support/children.rs"]
mod children;
#[path = "support/lines.rs"]
mod lines;

const BINARY: &str = env!("CARGO_BIN_EXE_pointsman");

fn main() {
    // First, and the smallest first: the peak is that of all children so far.
    for args in [&["--version"][..], &["classify", "--message", "Rate limit reached"]] {
        let fastest = (0..20).map(|_| once(args)).min().unwrap_or_default();
        let (clock, spent) = (fastest.1.as_secs_f64() * 1e3, fastest.0.as_secs_f64() * 1e3);
        let peak = children::peak();
        println!(
            "pointsman {:<40} {spent:>6.2} ms of CPU, {clock:>6.2} ms by the clock, peak {peak:.1} MiB",
            args.join(" ")
        );
    }
    for count in [10_000, 100_000, 1_000_000] {
        let (time, spent, peak) = piped(count);
        let rate = |time: Duration| count as f64 / time.as_secs_f64();
        println!(
            "classify {count:>9} lines {:>9.0} lines/s  {:>9.0} lines a second of its own CPU time  peak {peak}",
            rate(time),
            rate(spent),
        );
    }
}

/// A whole process: its CPU time, user and system together, and its time by the clock.
fn once(args: &[&str]) -> (Duration, Duration) {
    let before = children::cpu();
    let start = Instant::now();
    let mut command = Command::new(BINARY);
    let status = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
    (children::cpu().saturating_sub(before), start.elapsed())
}

/// The most memory that a process has held so far.
fn peak(child: &Child) -> String {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.unwrap_or("unknown").trim().to_owned()
}

/// Time from the first line in to the last verdict out, the making of lines left out; the CPU time of
/// the process, which others disturb less; its peak memory. The last two from `/proc`: on Linux only.
fn piped(count: usize) -> (Duration, Duration, String) {
    let mut command = Command::new(BINARY);
    let mut child = command.arg("classify").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 20];
        let mut seen = 0;
        loop {
            let read = output.read(&mut buffer).unwrap();
            seen += buffer[..read].iter().filter(|byte| **byte == b'\n').count();
            if read == 0 || seen == count {
                return seen;
            }
        }
    });
    let mut time = lines::feed(&mut input, count);
    let start = Instant::now();
    assert_eq!(reader.join().unwrap(), count);
    time += start.elapsed();
    let peak = peak(&child);
    // Behind the name in brackets, fields 12 and 13: ticks of a hundredth of a second.
    let times = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    let fields = times.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    drop(input);
    assert!(child.wait().unwrap().success());
    (time, Duration::from_millis(10 * ticks), peak)
}
