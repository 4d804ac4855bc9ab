//! What the engine costs around a call, beside a bare SQLite commit on the same disk.
//!
//! `cargo bench --bench run` (`-- memory`: the first line alone, for a profiler). Each line says the figure, the limit, and whether it holds; the state
//! lies in `target/`, so that the disk is the one that the build uses.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may fail so, and prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

use std::{
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use pointsman::{
    config::Config,
    host::{Attempt, AttemptError, Engine, RunError},
    lang::load,
    run::{Request, Routing},
    state::{
        change::{Batch, Change},
        memory::MemoryStore,
        model::Profile,
        sqlite::SqliteStore,
        store::Store,
    },
    table::{NoSettings, Table},
    time::Timestamp,
};
use rusqlite::Connection;
use tokio::runtime::{Builder, Runtime};

const CONFIG: &str =
    "agents: { defaults: { model: { primary: alpha/large, fallbacks: [beta/large, gamma/large] } } }";

/// A limit that opens no window: each run finds both keys of its provider free, whoever failed before, so
/// that as many calls fail with 1,000 runs at a time as with 2.
const NO_WINDOW: &str = "language 1\nuse default\nreplace on rate_limit { rotate; fallback }\n";

#[path = "support/limits.rs"]
mod limits;

fn main() -> ExitCode {
    let mut limits = limits::Limits::default();
    let folder = tempfile::tempdir_in(Path::new(env!("CARGO_MANIFEST_DIR")).join("target")).unwrap();
    let sqlite = || -> Arc<dyn Store> {
        let name = format!("{}.sqlite", fresh());
        Arc::new(SqliteStore::open(&folder.path().join(name)).unwrap())
    };
    let memory = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };

    let us = |figure: Duration| figure.as_secs_f64() * 1e6;
    limits.at_most("first attempt answers, in memory, µs", us(steady(memory())), 2.0);
    if std::env::args().any(|arg| arg == "memory") {
        return limits.end();
    }
    limits.at_most("first attempt answers, SQLite, µs", us(steady(sqlite())), 20.0);

    let (failure, commit) = failure(&sqlite(), &folder.path().join("bare.sqlite"));
    println!("{:44} {:10.1}", "bare commit, µs", us(commit));
    println!("{:44} {:10.1}", "failure with its transition, µs", us(failure));
    limits.at_most("failure in bare commits", failure.as_secs_f64() / commit.as_secs_f64(), 1.5);

    for (name, percent) in [("answers only", 0), ("5 % failures", 5)] {
        let few = throughput(sqlite(), 2, percent);
        let many = throughput(sqlite(), 1_000, percent);
        println!("{:44} {few:10.0}", format!("runs a second, 2 at a time, {name}"));
        println!("{:44} {many:10.0}", format!("runs a second, 1,000 at a time, {name}"));
        limits.at_least(&format!("1,000 at a time beside 2, {name}"), many / few, 0.8);
    }
    limits.end()
}

fn fresh() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn engine(store: Arc<dyn Store>) -> Engine {
    fill(&*store);
    Engine::shipped(&Config::parse(CONFIG).unwrap(), store).unwrap()
}

fn engine_without_windows(store: Arc<dyn Store>) -> Engine {
    fill(&*store);
    let Ok((rules, _)) = load::from_text(NO_WINDOW) else { unreachable!("the rules load") };
    let table = Table::compile(rules, &NoSettings).unwrap();
    Engine::new(Arc::new(table), Arc::new(Routing::from(&Config::parse(CONFIG).unwrap())), store)
}

fn fill(store: &dyn Store) {
    for provider in ["alpha", "beta", "gamma"] {
        for name in ["one", "two"] {
            let id = format!("{provider}:{name}");
            store.put_profile(&Profile::api_key(&id, &format!("key-of-{id}"))).unwrap();
        }
    }
}

fn request(session: usize) -> Request {
    Request { session: Some(format!("session-{session}")), ..Request::default() }
}

fn alone() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

async fn answer(_: Attempt) -> Result<(), AttemptError> {
    Ok(())
}

fn refused() -> AttemptError {
    AttemptError::new().status(429).body(r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#)
}

/// The median run among many whose first attempt answers; the session is pinned, nothing is written.
fn steady(store: Arc<dyn Store>) -> Duration {
    let engine = engine(store);
    let rounds = 2_000;
    let each = 10;
    alone().block_on(async {
        engine.run(request(0), answer).await.unwrap();
        let mut spans = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let requests: Vec<Request> = (0..each).map(|_| request(0)).collect();
            let start = Instant::now();
            for request in requests {
                engine.run(request, answer).await.unwrap();
            }
            spans.push(start.elapsed() / each);
        }
        median(spans)
    })
}

/// A run of a pinned session whose only call fails and opens a window; and a bare commit in between.
fn failure(store: &Arc<dyn Store>, bare: &Path) -> (Duration, Duration) {
    let engine = engine(Arc::clone(store));
    let db = Connection::open(bare).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;
         CREATE TABLE bare (id INTEGER PRIMARY KEY, value INTEGER); INSERT INTO bare VALUES (1, 0);",
    )
    .unwrap();
    let (mut failures, mut commits) = (Vec::new(), Vec::new());
    alone().block_on(async {
        let strict = || {
            let candidate =
                pointsman::state::model::Candidate { provider: "alpha".into(), model: "large".into() };
            let source = pointsman::lang::policy::SelectionSource::Cron;
            let choice = pointsman::run::Choice { candidate, source, fallbacks: Some(Vec::new()) };
            Request { choice: Some(choice), ..request(0) }
        };
        engine.store().remove_profile(&pointsman::state::model::ProfileId("alpha:two".into())).unwrap();
        engine.run(strict(), answer).await.unwrap();
        for round in 0..400 {
            let request = strict();
            let start = Instant::now();
            let end = engine.run(request, |_| async { Err::<(), _>(refused()) }).await;
            failures.push(start.elapsed());
            assert!(matches!(end, Err(RunError::Exhausted(summary)) if summary.calls == 1));

            let start = Instant::now();
            db.execute_batch("BEGIN IMMEDIATE").unwrap();
            db.prepare_cached("UPDATE bare SET value = ?1 WHERE id = 1").unwrap().execute([round]).unwrap();
            db.execute_batch("COMMIT").unwrap();
            commits.push(start.elapsed());

            let clear = Batch { session: None, changes: vec![Change::Clear { profile: None, model: None }] };
            let now = Instant::now();
            engine.store().apply(&clear, at(now)).unwrap();
            engine.run(strict(), answer).await.unwrap();
        }
    });
    (median(failures), median(commits))
}

fn at(_: Instant) -> Timestamp {
    use pointsman::host::{Clock, SystemClock};
    SystemClock.now()
}

/// Runs a second, with so many tasks at a time, each with a session of its own; the first call of
/// `percent` of the runs fails, and they go on with the provider's other key.
fn throughput(store: Arc<dyn Store>, tasks: usize, percent: usize) -> f64 {
    let engine = engine_without_windows(store);
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let total = if percent == 0 { 100_000 } else { 10_000 };
    let failed = Arc::new(AtomicUsize::new(0));
    let run = |engine: Engine, task: usize, rounds: usize| {
        let failed = Arc::clone(&failed);
        async move {
            for round in 0..rounds {
                let mut fails = (task * 7 + round * 13) % 100 < percent;
                let attempt = |attempt: Attempt| {
                    let fails = std::mem::take(&mut fails);
                    failed.fetch_add(usize::from(fails), Ordering::Relaxed);
                    async move {
                        tokio::task::yield_now().await;
                        drop(attempt);
                        if fails { Err(refused()) } else { Ok(()) }
                    }
                };
                engine.run(request(task), attempt).await.unwrap();
            }
        }
    };
    let runs_a_second = runtime.block_on(async {
        for task in 0..tasks {
            run(engine.clone(), task, 1).await;
        }
        failed.store(0, Ordering::Relaxed);
        let start = Instant::now();
        let all: Vec<_> =
            (0..tasks).map(|task| tokio::spawn(run(engine.clone(), task, total / tasks))).collect();
        for one in all {
            one.await.unwrap();
        }
        f64::from(u32::try_from(total).unwrap()) / start.elapsed().as_secs_f64()
    });
    let failed = failed.load(Ordering::Relaxed);
    let hundredth = total / 100;
    let meant = (percent * hundredth).saturating_sub(hundredth)..=(percent + 1) * hundredth;
    let share = if percent == 0 { 0..=0 } else { meant };
    assert!(share.contains(&failed), "{failed} of {total} calls failed, and {percent} % were meant to");
    runs_a_second
}

fn median(mut spans: Vec<Duration>) -> Duration {
    spans.sort_unstable();
    spans.get(spans.len() / 2).copied().unwrap()
}
