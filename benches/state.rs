//! What state costs: a steady run with either store, and a durable failure beside a bare commit of
//! SQLite under the same settings.

#![expect(clippy::panic, reason = "a bench that cannot set up has nothing to measure")]

use std::{collections::BTreeMap, path::Path, time::Duration};

use divan::Bencher;
use pointsman::{
    lang::policy::{CredentialKind, Lane, Scope},
    state::{
        change::{Batch, Change, Failure, Success, WindowIntent},
        memory::MemoryStore,
        model::{Profile, ProfileId, Secret},
        schedule::{Schedule, Steps},
        sqlite::SqliteStore,
        store::Store,
        view::ViewQuery,
    },
    time::Timestamp,
};
use rusqlite::Connection;

fn main() {
    divan::main();
}

const START: i64 = 1_800_000_000_000;

fn filled<S: Store>(store: S) -> S {
    for n in 0..6 {
        let profile = Profile {
            id: ProfileId(format!("openai:{n}").into()),
            provider: "openai".into(),
            kind: CredentialKind::ApiKey,
            secret: Some(Secret::Env("KEY".into())),
            refresh: None,
            expires: None,
            email: None,
            extra: BTreeMap::new(),
            inserted: 0,
        };
        if let Err(error) = store.put_profile(&profile) {
            panic!("{error}");
        }
    }
    store
}

fn sqlite(folder: &Path) -> SqliteStore {
    match SqliteStore::open(&folder.join("agent.sqlite")) {
        Ok(store) => filled(store),
        Err(error) => panic!("{error}"),
    }
}

/// What a steady run asks of the store: one view, then the attempt's start and its success.
fn steady(store: &dyn Store, at: i64) {
    let now = Timestamp::from_millis(START + at / 1_000);
    let profile = ProfileId("openai:3".into());
    let view = store.view(&ViewQuery { session: Some("s") }, now);
    divan::black_box(view.is_ok());
    let used = Change::Used { profile: profile.clone(), at: now };
    let batch = Batch { session: Some("s".into()), changes: vec![used] };
    divan::black_box(store.apply(&batch, now).is_ok());
    let success = Success {
        profile,
        model: Some("gpt-5.5".into()),
        attempt_started_at: now,
        reset_model: true,
        reset_profile: true,
    };
    let batch = Batch { session: Some("s".into()), changes: vec![Change::Success(success)] };
    divan::black_box(store.apply(&batch, now).is_ok());
}

#[divan::bench]
fn steady_in_memory(bencher: Bencher) {
    let store = filled(MemoryStore::new());
    let mut at = 0;
    bencher.bench_local(|| {
        at += 1;
        steady(&store, at);
    });
}

#[divan::bench]
fn steady_in_sqlite(bencher: Bencher) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let store = sqlite(folder.path());
    let mut at = 0;
    bencher.bench_local(|| {
        at += 1;
        steady(&store, at);
    });
}

#[divan::bench(sample_count = 300)]
fn bare_commit(bencher: Bencher) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let Ok(db) = Connection::open(folder.path().join("bare.sqlite")) else { return };
    let setup =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (a INTEGER PRIMARY KEY, b);
                 INSERT INTO t VALUES (1, 0);";
    divan::black_box(db.execute_batch(setup).is_ok());
    bencher.bench_local(|| {
        let update = db.prepare_cached("UPDATE t SET b = b + 1 WHERE a = 1");
        update.is_ok_and(|mut update| update.execute([]).is_ok())
    });
}

#[divan::bench(sample_count = 300)]
fn durable_failure(bencher: Bencher) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let store = sqlite(folder.path());
    let schedule = Schedule::new("short", Steps::List(vec![Duration::from_mins(1), Duration::from_mins(5)]));
    let mut at = START;
    bencher.bench_local(|| {
        at += 3_600_000;
        let now = Timestamp::from_millis(at);
        let window = WindowIntent {
            lane: Lane::Cooldown,
            scope: Scope::Model,
            schedule: schedule.clone(),
            seed: 0,
            hint: None,
            after: None,
        };
        let failure = Failure {
            profile: ProfileId("openai:3".into()),
            model: Some("gpt-5.5".into()),
            bucket: "rate_limit".into(),
            attempt_started_at: now,
            window: Some(window),
            forget_after: Some(Duration::from_hours(24)),
        };
        let batch = Batch { session: Some("s".into()), changes: vec![Change::Failure(failure)] };
        store.apply(&batch, now).is_ok()
    });
}
