//! What the engine costs around a call, beside a bare SQLite commit on the same disk.
//!
//! `cargo bench --bench run` (`-- memory`: the first line alone, for a profiler). Each line says the figure, the limit, and whether it holds; the state
//! lies in `target/`, so that the disk is the one that the build uses.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may fail so, and prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a bench looks at the clock")]

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use pointsman::{
    config::Config,
    host::{Attempt, AttemptError, Engine, RunError},
    run::Request,
    state::{
        change::{Batch, Change},
        memory::MemoryStore,
        model::Profile,
        sqlite::SqliteStore,
        store::Store,
    },
    time::Timestamp,
};
use rusqlite::Connection;
use tokio::runtime::{Builder, Runtime};

const CONFIG: &str =
    "agents: { defaults: { model: { primary: alpha/large, fallbacks: [beta/large, gamma/large] } } }";

fn main() {
    let folder = tempfile::tempdir_in(Path::new(env!("CARGO_MANIFEST_DIR")).join("target")).unwrap();
    let sqlite = || -> Arc<dyn Store> {
        let name = format!("{}.sqlite", fresh());
        Arc::new(SqliteStore::open(&folder.path().join(name)).unwrap())
    };
    let memory = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };

    let us = |figure: Duration| figure.as_secs_f64() * 1e6;
    line("first attempt answers, in memory, µs", us(steady(memory())), 2.0, false);
    if std::env::args().any(|arg| arg == "memory") {
        return;
    }
    line("first attempt answers, SQLite, µs", us(steady(sqlite())), 20.0, false);

    let (failure, commit) = failure(&sqlite(), &folder.path().join("bare.sqlite"));
    println!("{:44} {:10.1}", "bare commit, µs", us(commit));
    println!("{:44} {:10.1}", "failure with its transition, µs", us(failure));
    line("failure in bare commits", failure.as_secs_f64() / commit.as_secs_f64(), 1.5, false);

    for (name, percent) in [("answers only", 0), ("5 % failures", 5)] {
        let few = throughput(sqlite(), 2, percent);
        let many = throughput(sqlite(), 1_000, percent);
        println!("{:44} {few:10.0}", format!("runs a second, 2 at a time, {name}"));
        println!("{:44} {many:10.0}", format!("runs a second, 1,000 at a time, {name}"));
        line(&format!("1,000 at a time beside 2, {name}"), many / few, 0.8, true);
    }
}

fn line(what: &str, figure: f64, limit: f64, least: bool) {
    let holds = if least { figure >= limit } else { figure <= limit };
    let (side, mark) = (if least { "≥" } else { "≤" }, if holds { "holds" } else { "MISSED" });
    println!("{what:44} {figure:10.2}  {side} {limit:<5} {mark}");
}

fn fresh() -> usize {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn engine(store: Arc<dyn Store>) -> Engine {
    for provider in ["alpha", "beta", "gamma"] {
        for name in ["one", "two"] {
            let id = format!("{provider}:{name}");
            store.put_profile(&Profile::api_key(&id, &format!("key-of-{id}"))).unwrap();
        }
    }
    Engine::shipped(&Config::parse(CONFIG).unwrap(), store).unwrap()
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

/// Runs a second, with so many tasks at a time, each with a session of its own; `percent` of the runs
/// fail at first and go on with another profile.
fn throughput(store: Arc<dyn Store>, tasks: usize, percent: usize) -> f64 {
    let engine = engine(store);
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let total = if percent == 0 { 100_000 } else { 10_000 };
    let run = |engine: Engine, task: usize, rounds: usize| async move {
        for round in 0..rounds {
            let fails = (task * 7 + round * 13) % 100 < percent;
            let attempt = move |attempt: Attempt| async move {
                tokio::task::yield_now().await;
                let first = attempt.provider == "alpha";
                if fails && first { Err(refused()) } else { Ok(()) }
            };
            engine.run(request(task), attempt).await.unwrap();
        }
    };
    runtime.block_on(async {
        for task in 0..tasks {
            run(engine.clone(), task, 1).await;
        }
        let start = Instant::now();
        let all: Vec<_> =
            (0..tasks).map(|task| tokio::spawn(run(engine.clone(), task, total / tasks))).collect();
        for one in all {
            one.await.unwrap();
        }
        f64::from(u32::try_from(total).unwrap()) / start.elapsed().as_secs_f64()
    })
}

fn median(mut spans: Vec<Duration>) -> Duration {
    spans.sort_unstable();
    spans.get(spans.len() / 2).copied().unwrap()
}
