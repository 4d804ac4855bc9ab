//! Ten thousand classifications a second while the files change a hundred times, good and bad by turns.

#![expect(
    clippy::disallowed_methods,
    reason = "it measures, runs itself, and classifies on a thread of its own"
)]

use std::{
    fs,
    process::Command,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread::{scope, sleep},
    time::{Duration, Instant},
};

use pointsman::{
    classify::Scratch,
    host::{Reloaded, Rules},
    signal::SignalRef,
};

use super::{rules, write};

/// Classifications a second.
const RATE: u64 = 10_000;

/// How often the files change.
const CHANGES: u64 = 100;

/// What has to be classified for one change, at the least: a tenth of a second's worth.
const BETWEEN: u64 = RATE / 10;

/// Memory is a process's, and other tests run in this one: the load has one of its own.
#[test]
fn a_hundred_changes_under_load_tear_no_table_and_take_no_memory() {
    let alone = [module_path!().split_once("::").unwrap().1, "::alone"].concat();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &alone, "--ignored", "--nocapture", "--test-threads=1"]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    println!("{said}");
}

/// With `POINTSMAN_LONG_TESTS=1` the rate must be kept by the clock of the wall; else by that clock without what
/// others had of the processor.
#[test]
#[ignore = "runs in a process of its own"]
fn alone() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), 0, true);
    let rules = rules(folder.path());
    let (done, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let (mut taken, mut refused, mut early) = (0, 0, 0);
    let (took, waited) = scope(|scope| {
        let worker = scope.spawn(|| classify(&rules, &done, &stop));
        for n in 1..=CHANGES {
            let good = n.is_multiple_of(2);
            let enough = done.load(Ordering::Relaxed) + BETWEEN;
            write(folder.path(), n, good);
            assert!(rules.look().is_none(), "change {n}");
            match rules.look() {
                Some(Ok(Reloaded::Taken { .. })) if good => taken += 1,
                Some(Err(_)) if !good => refused += 1,
                other => panic!("change {n}: {other:?}"),
            }
            while done.load(Ordering::Relaxed) < enough && !worker.is_finished() {
                sleep(Duration::from_millis(1));
            }
            if n == CHANGES / 10 {
                early = resident();
            }
        }
        stop.store(true, Ordering::Relaxed);
        worker.join().unwrap()
    });
    let late = resident();
    assert_eq!((taken, refused), (CHANGES / 2, CHANGES / 2));
    assert_eq!(rules.in_force().reloads, CHANGES / 2);
    let done = done.into_inner();
    assert!(done >= CHANGES * BETWEEN, "{done}");
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    let (growth, rate, own) = (
        late as f64 / early.max(1) as f64,
        done as f64 / took.as_secs_f64(),
        done as f64 / took.saturating_sub(waited).as_secs_f64(),
    );
    println!(
        "{done} in {took:.1?}, of which others had {waited:.1?}: {rate:.0} a second, {own:.0} in the rest; {early} kB after {}, {late} kB after {CHANGES} changes: {growth:.3}",
        CHANGES / 10
    );
    let long = std::env::var_os("POINTSMAN_LONG_TESTS").is_some();
    assert!(if long { rate } else { own } >= 9_900.0, "{rate} a second, {own} in its own time");
    assert!(growth <= 1.1, "{early} kB grew to {late} kB");
}

/// Classifies at the rate until it is told to stop; how long that was, and how long it stood in line for a
/// processor.
fn classify(rules: &Rules, done: &AtomicU64, stop: &AtomicBool) -> (Duration, Duration) {
    let mut scratch = Scratch::default();
    let (began, before) = (Instant::now(), in_line());
    while !stop.load(Ordering::Relaxed) {
        // Ten at a time, as often as the rate asks for.
        let due = began.elapsed().as_micros() * u128::from(RATE) / 1_000_000;
        if u128::from(done.load(Ordering::Relaxed)) > due {
            sleep(Duration::from_micros(200));
            continue;
        }
        let table = rules.current();
        let mut names = Vec::new();
        for n in 0..10 {
            let message = if n % 2 == 0 { "first purple elephant" } else { "second purple elephant" };
            let signal = SignalRef { message: Some(message), ..SignalRef::default() };
            let verdict = table.classify(&signal, &mut scratch);
            let rule = table.rule(verdict.rule.expect("a rule of the overlay matches"));
            let number = rule.name.split_once('_').unwrap().1.to_owned();
            names.push((number, table.bucket(verdict.bucket).name.clone()));
        }
        assert!(names.windows(2).all(|two| two[0] == two[1]), "torn: {names:?}");
        done.fetch_add(10, Ordering::Relaxed);
    }
    (began.elapsed(), in_line().saturating_sub(before))
}

/// How long this thread was ready to run and had no processor; nothing where the system does not tell.
fn in_line() -> Duration {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(told.split_whitespace().nth(1).and_then(|nanos| nanos.parse().ok()).unwrap_or(0))
}

/// Resident memory of this process in kB; 0 where the system does not tell.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
}
