//! What is measured on each axis. Every figure is the fastest of several rounds, so that what else the
//! machine does counts little.

use std::{
    fmt::Write as _,
    hint::black_box,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use pointsman::{
    classify::Scratch,
    config::Config,
    host::{Attempt, AttemptError, Clock, Engine},
    lang::load,
    run::Request,
    signal::Signal,
    state::{memory::MemoryStore, model::Profile, sqlite::SqliteStore, store::Store},
    table::{NoSettings, Table},
    time::Timestamp,
};
use rusqlite::Connection;
use tokio::runtime::{Builder, Runtime};

use super::Points;

const CONFIG: &str =
    "agents: { defaults: { model: { primary: alpha/large, fallbacks: [beta/large, gamma/large] } } }";

/// Seconds of one of `each` times, the fastest of `rounds`.
fn fastest(rounds: usize, each: u32, mut work: impl FnMut()) -> f64 {
    let round = |_| {
        let start = Instant::now();
        (0..each).for_each(|_| work());
        start.elapsed() / each
    };
    (0..rounds).map(round).min().unwrap_or(Duration::ZERO).as_secs_f64()
}

/// Rules of which three in four look for phrases and one for an expression; no two alike.
fn written(rules: usize) -> String {
    let mut text = "language 1\nuse default\n".to_owned();
    for n in 0..rules {
        let word = |salt: usize| format!("{:05x}", (n * 7919 + salt * 104_729) % 0xF_FFFF);
        let (a, b) = (word(1), word(2));
        let when = match n % 4 {
            0 => format!("text matches /\\b{a} (?:limit|quota) of \\d+ {b}\\b/"),
            _ => format!("text has any of [\"{a} was {b}\", \"no {b} for {a}\"]"),
        };
        writeln!(text, "rule made_{n} -> rate_limit when {when}").unwrap();
    }
    text
}

fn table(text: &str) -> Table {
    let (rules, _) = load::from_text(text).unwrap_or_else(|error| unreadable(&error.diagnostics));
    Table::compile(rules, &NoSettings).unwrap()
}

#[expect(clippy::panic, reason = "a bench that cannot set up has nothing to measure")]
fn unreadable(why: &dyn std::fmt::Debug) -> ! {
    panic!("the made rules do not load: {why:?}")
}

fn error(message: String) -> Signal {
    Signal { status: Some(429), message: Some(message), ..Signal::default() }
}

fn verdict(table: &Table, signal: &Signal) -> f64 {
    let mut scratch = Scratch::default();
    let bytes = signal.message.as_deref().map_or(0, str::len);
    let each = u32::try_from(400_000 / (bytes + 200)).unwrap_or(1).max(1);
    fastest(25, each, || {
        black_box(table.classify(&black_box(signal).as_ref(), &mut scratch));
    })
}

pub fn rules(points: &mut Points<'_>) {
    let usual =
        error("Rate limit reached for large in organization org-1 on tokens per min: limit 30000".into());
    for count in [100, 300, 1_000, 3_000, 10_000] {
        let text = written(count);
        let (rules, _) = load::from_text(&text).unwrap_or_else(|error| unreadable(&error.diagnostics));
        let compiled = fastest(3, 1, || {
            black_box(Table::compile(rules.clone(), &NoSettings).is_ok());
        });
        let table = table(&text);
        let quarter = count / 4 * 4;
        let last = error(format!(
            "no {:05x} for {:05x}",
            ((quarter - 1) * 7919 + 2 * 104_729) % 0xF_FFFF,
            ((quarter - 1) * 7919 + 104_729) % 0xF_FFFF
        ));
        points.add("verdict by a shipped rule", count, verdict(&table, &usual));
        points.add("verdict by the last rule", count, verdict(&table, &last));
        points.add(
            "reading and checking",
            count,
            fastest(3, 1, || {
                black_box(load::from_text(&text).is_ok());
            }),
        );
        points.add("compiling", count, compiled);
    }
    points.all.sort_by(|a, b| a.series.cmp(&b.series));
}

pub fn text(points: &mut Points<'_>) {
    let table = table("language 1\nuse default\n");
    let kinds: [(&str, &str, &str, &str); 4] = [
        ("prose", "", "The service said that it cannot answer now; ", "please slow down."),
        ("JSON", "{\"a\":[", "{\"k\":\"some value\",\"n\":12},", "0],\"error\":{\"message\":\"slow down\"}}"),
        ("HTML", "<html><body>", "<p class=\"x\">some <b>words</b> here</p>", "</body></html>"),
        ("only open brackets", "", "{", ""),
    ];
    for (kind, before, each, after) in kinds {
        for length in [100_usize, 1_000, 10_000, 100_000, 1_048_576] {
            let times = length.saturating_sub(before.len() + after.len()) / each.len();
            let message = format!("{before}{}{after}", each.repeat(times));
            points.add(kind, length, verdict(&table, &error(message)));
        }
    }
}

fn alone() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn engine(store: Arc<dyn Store>) -> Engine {
    for provider in ["alpha", "beta", "gamma"] {
        for name in ["one", "two"] {
            let id = format!("{provider}:{name}");
            store.put_profile(&Profile::api_key(&id, "key")).unwrap();
        }
    }
    Engine::shipped(&Config::parse(CONFIG).unwrap(), store).unwrap()
}

async fn run(engine: &Engine, session: usize) {
    let request = Request { session: Some(format!("session-{session}")), ..Request::default() };
    let answer = |_: Attempt| async { Ok::<(), AttemptError>(()) };
    engine.run(request, answer).await.unwrap();
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(Path::new(env!("CARGO_MANIFEST_DIR")).join("target")).unwrap()
}

/// A run of a pinned session whose first call answers.
fn steady(engine: &Engine) -> f64 {
    let runtime = alone();
    runtime.block_on(run(engine, 0));
    fastest(50, 20, || runtime.block_on(run(engine, 0)))
}

/// A run of a pinned session whose first call fails, and another profile answers; a day after the last one.
fn failing(engine: &Engine, clock: &Days) -> f64 {
    let runtime = alone();
    runtime.block_on(run(engine, 0));
    fastest(50, 5, || {
        clock.pass();
        let mut calls = 0;
        let attempt = |_: Attempt| {
            calls += 1;
            let limited = || AttemptError::new().status(429).body("{\"error\":{\"message\":\"slow down\"}}");
            std::future::ready(if calls == 1 { Err(limited()) } else { Ok(()) })
        };
        let request = Request { session: Some("session-0".to_owned()), ..Request::default() };
        runtime.block_on(engine.run(request, attempt)).unwrap();
    })
}

/// A clock that stands still but for whole days, so that every window has ended.
struct Days(AtomicI64);

impl Days {
    fn pass(&self) {
        self.0.fetch_add(86_400_000, Ordering::Relaxed);
    }
}

impl Clock for Days {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

pub fn profiles(points: &mut Points<'_>) {
    let counts = [10, 100, 1_000, 10_000];
    let whose = [("others'", "other"), ("the provider's own", "alpha")];
    let filled = |count: usize, provider: &str| {
        let store = Arc::new(MemoryStore::new());
        for n in 0..count - 6 {
            store.put_profile(&Profile::api_key(&format!("{provider}:{n}"), "key")).unwrap();
        }
        engine(store)
    };
    for (series, provider) in whose {
        for count in counts {
            points.add(&format!("memory: {series}"), count, steady(&filled(count, provider)));
        }
    }
    for count in counts {
        let clock = Arc::new(Days(AtomicI64::new(1_800_000_000_000)));
        let engine = filled(count, "alpha").with_clock(Arc::clone(&clock) as Arc<dyn Clock>);
        points.add("memory: own, a call fails", count, failing(&engine, &clock));
    }
    let folder = folder();
    for (series, provider) in whose {
        for count in counts {
            let path = folder.path().join(format!("{provider}-{count}.sqlite"));
            let engine = engine(Arc::new(SqliteStore::open(&path).unwrap()));
            let more = count - 6;
            fill(
                &path,
                &format!(
                    "INSERT INTO profile (id, provider, kind, secret_kind, secret) \
                     SELECT '{provider}:' || n, '{provider}', 'api_key', 'direct', 'key' FROM counted({more})"
                ),
            );
            points.add(&format!("SQLite: {series}"), count, steady(&engine));
        }
    }
}

/// Rows of `counted(N)`: n from 0 to N - 1.
fn fill(path: &Path, insert: &str) {
    let (head, rest) = insert.split_once("counted(").unwrap();
    let (count, tail) = rest.split_once(')').unwrap();
    let counted =
        format!("WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n + 1 < {count})");
    let (target, select) = head.split_once("SELECT").unwrap();
    let db = Connection::open(path).unwrap();
    db.execute_batch(&format!("{target} {counted} SELECT {select} c {tail}")).unwrap();
}

/// So many sessions, each with a profile pinned.
fn pinned(path: &Path, sessions: usize) {
    fill(path, &format!("INSERT INTO session (id) SELECT 'session-' || n FROM counted({sessions})"));
    fill(
        path,
        &format!(
            "INSERT INTO session_pin SELECT 'session-' || n, 'alpha', 'alpha:one', 'auto', 0, NULL FROM \
             counted({sessions})"
        ),
    );
}

pub fn sessions(points: &mut Points<'_>) {
    let counts = [10, 100, 1_000, 10_000, 100_000, 1_000_000];
    let runtime = alone();
    let measured = |engine: &Engine, count: usize| {
        let mut at = 0;
        fastest(20, 100, || {
            at = (at + 7_919) % count;
            runtime.block_on(run(engine, at));
        })
    };
    for count in counts {
        let engine = engine(Arc::new(MemoryStore::new()));
        (0..count).for_each(|session| runtime.block_on(run(&engine, session)));
        points.add("memory", count, measured(&engine, count));
    }
    let folder = folder();
    for count in counts {
        let path = folder.path().join(format!("{count}.sqlite"));
        let engine = engine(Arc::new(SqliteStore::open(&path).unwrap()));
        pinned(&path, count);
        runtime.block_on(run(&engine, 0));
        points.add("SQLite", count, measured(&engine, count));
    }
}

pub fn runs(points: &mut Points<'_>) {
    let folder = folder();
    let path = folder.path().join("runs.sqlite");
    let stores: [(&str, Arc<dyn Store>); 2] =
        [("memory", Arc::new(MemoryStore::new())), ("SQLite", Arc::new(SqliteStore::open(&path).unwrap()))];
    pinned(&path, 10_000);
    for (series, store) in stores {
        let engine = engine(store);
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        for session in 0..10_000 {
            runtime.block_on(run(&engine, session));
        }
        for tasks in [1, 10, 100, 1_000, 10_000] {
            let all = 40_000;
            let round = || {
                let task = |task: usize| {
                    let engine = engine.clone();
                    async move {
                        for _ in 0..all / tasks {
                            tokio::task::yield_now().await;
                            run(&engine, task).await;
                        }
                    }
                };
                runtime.block_on(async {
                    let handles: Vec<_> = (0..tasks).map(|n| tokio::spawn(task(n))).collect();
                    for handle in handles {
                        handle.await.unwrap();
                    }
                });
            };
            points.add(series, tasks, fastest(3, 1, round) / 40_000.0);
        }
    }
}
