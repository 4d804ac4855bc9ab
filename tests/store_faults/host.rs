//! A host over a state file in trouble: each turn gets its answer, and nothing that the host was told is
//! stored gets lost.

use std::{
    fs,
    io::Write as _,
    path::Path,
    sync::{Arc, Mutex, OnceLock},
    thread,
    time::{Duration, Instant},
};

use pointsman::{
    config::Config,
    host::{Attempt, AttemptError, Clock, Engine},
    run::{Request, Routing},
    state::{
        memory::MemoryStore,
        sqlite::SqliteStore,
        store::{Store, StoreError},
        view::{View, ViewQuery},
    },
    table::Table,
    time::Timestamp,
};
use rusqlite::Connection;

use super::{bad_disk, long, say, sound};
use crate::store::{MINUTE, START, batch, limited, profile, usage};

/// A clock that goes where it is told.
struct Told(Mutex<Timestamp>);

impl Clock for Told {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// A host with two keys of one provider; calls with `openai:a` meet a rate limit.
struct Host {
    engine: Engine,
    clock: Arc<Told>,
}

/// The shipped rules, compiled once.
static TABLE: OnceLock<Arc<Table>> = OnceLock::new();

impl Host {
    fn over(store: impl Store + 'static) -> Self {
        let clock = Arc::new(Told(Mutex::new(START)));
        let config = Config::parse(
            "agents: { defaults: { model: { primary: openai/gpt-5.5 } } }\nauth: { order: { openai: [openai:a, openai:b] } }",
        )
        .unwrap();
        let shipped = || Engine::shipped(&config, Arc::new(MemoryStore::new())).unwrap().table();
        let table = Arc::clone(TABLE.get_or_init(shipped));
        let engine = Engine::new(table, Arc::new(Routing::from(&config)), Arc::new(store));
        Self { engine: engine.with_clock(Arc::clone(&clock) as Arc<dyn Clock>), clock }
    }

    fn at(&self, now: Timestamp) {
        *self.clock.0.lock().unwrap() = now;
    }

    /// One turn of a new session; how often `openai:a` was called.
    fn turn(&self, session: usize) -> u32 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let refused = Mutex::new(0);
        let request = Request { session: Some(format!("s{session}")), ..Request::default() };
        let call = |attempt: Attempt| {
            let limited = attempt.profile.is_some_and(|id| id.0 == "openai:a");
            *refused.lock().unwrap() += u32::from(limited);
            async move {
                let error = AttemptError::message("Rate limit reached for requests").status(429);
                if limited { Err(error) } else { Ok(7) }
            }
        };
        let answer = runtime.block_on(self.engine.run(request, call)).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(answer.answer, 7);
        refused.into_inner().unwrap()
    }

    fn failures(&self) -> u32 {
        usage(&look(&**self.engine.store()), "openai:a").error_count
    }
}

fn look(store: &dyn Store) -> View {
    store.view(&ViewQuery { session: Some("s") }, START.after(1_000 * MINUTE)).unwrap()
}

fn brief(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open_patiently(path, Duration::from_millis(20))
}

fn filled(path: &Path) -> Host {
    let store = brief(path).unwrap();
    for id in ["openai:a", "openai:b"] {
        store.put_profile(&profile(id)).unwrap();
    }
    drop(store);
    Host::over(brief(path).unwrap())
}

/// Takes turns, hours apart, with something done before each; all failures must be in the file in the end.
fn turns(host: &Host, path: &Path, mut before: impl FnMut(usize), mend: impl FnOnce()) {
    let mut refused = 0;
    for turn in 0..5 {
        before(turn);
        host.at(START.after(90 * MINUTE * u32::try_from(turn).unwrap()));
        refused += host.turn(turn);
        assert_eq!(host.failures(), refused, "turn {turn}: all count at once");
    }
    assert!(refused >= 5, "{refused}");
    mend();
    host.engine.flush().unwrap();
    assert_eq!(usage(&look(&brief(path).unwrap()), "openai:a").error_count, refused);
    sound(path);
}

/// The part of the child over a bad disk.
pub fn under_plans(folder: &Path, plans: &str) {
    for (n, text) in plans.split(',').enumerate() {
        let path = folder.join(format!("{n}.sqlite"));
        let host = filled(&path);
        turns(
            &host,
            &path,
            |turn| {
                if turn == 0 {
                    bad_disk::plan(folder, text);
                }
            },
            || bad_disk::plan(folder, "- 0 -"),
        );
    }
    say(format!("{} plans", plans.split(',').count()));
}

/// The part of the child that takes legacy logins over onto a bad disk, and again after a mend.
pub fn logins_under_plans(folder: &Path, plans: &str) {
    let (mut cut, mut none) = (0, 0);
    for (n, text) in plans.split(',').enumerate() {
        let path = folder.join(format!("logins-{n}.sqlite"));
        drop(brief(&path).unwrap());
        bad_disk::plan(folder, text);
        let first =
            brief(&path).and_then(|store| Host::over(store).engine.with_legacy_logins(folder).map(drop));
        cut += usize::from(first.is_err());
        bad_disk::plan(folder, "- 0 -");
        none += usize::from(look(&brief(&path).unwrap()).profiles.is_empty());
        let (engine, _) = Host::over(brief(&path).unwrap()).engine.with_legacy_logins(folder).unwrap();
        assert_eq!(look(&**engine.store()).profiles.len(), 3, "{text}");
    }
    assert!(cut > 0 && none > 0, "{cut} {none}");
    say(format!("{} plans", plans.split(',').count()));
}

fn legacy_logins(folder: &Path) {
    fs::create_dir_all(folder.join("credentials")).unwrap();
    let logins = r#"{ "google": { "access": "1" }, "openai": { "access": "2" }, "qwen": { "access": "3" } }"#;
    fs::write(folder.join("credentials/oauth.json"), logins).unwrap();
}

#[test]
fn each_turn_is_answered_on_a_bad_disk() {
    let Some(library) = bad_disk::bad_disk() else { return };
    let folder = tempfile::tempdir().unwrap();
    legacy_logins(folder.path());
    let (most, step) = if long() { (60, 1) } else { (40, 13) };
    let plans: Vec<_> =
        ["sync N eio", "sync N eio+", "write N enospc", "write N enospc+", "write N short", "write N eio+"]
            .iter()
            .flat_map(|plan| (1..most).step_by(step).map(|n| plan.replace('N', &n.to_string())))
            .collect();
    for role in ["host under plans", "logins under plans"] {
        let lines =
            super::said(bad_disk::over(library, role, folder.path(), &plans.join(",")).spawn().unwrap());
        assert_eq!(lines, [format!("{} plans", plans.len())]);
    }
}

/// C4: what was taken over only in part would never be completed, since it is done at first use only.
#[test]
fn c4_logins_are_taken_over_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    legacy_logins(folder.path());
    let path = folder.path().join("agent.sqlite");
    drop(brief(&path).unwrap());
    let db = Connection::open(&path).unwrap();
    let trap = "CREATE TRIGGER full BEFORE INSERT ON profile WHEN new.provider = 'qwen' \
                BEGIN SELECT RAISE(ABORT, 'no room'); END";
    db.execute_batch(trap).unwrap();
    let host = Host::over(brief(&path).unwrap());
    host.engine.with_legacy_logins(folder.path()).unwrap_err();
    db.execute_batch("DROP TRIGGER full").unwrap();
    let host = Host::over(brief(&path).unwrap());
    let (engine, report) = host.engine.with_legacy_logins(folder.path()).unwrap();
    assert_eq!(look(&**engine.store()).profiles.len(), 3, "{report:?}");
}

#[test]
fn each_turn_is_answered_while_the_file_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let host = filled(&path);
    let holder = Connection::open(&path).unwrap();
    let before = |turn| {
        if turn == 1 {
            holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        }
    };
    turns(&host, &path, before, || holder.execute_batch("ROLLBACK").unwrap());
}

/// With the patience that hosts have: a long test.
#[test]
fn each_turn_is_answered_while_the_file_is_held_for_a_minute() {
    if !long() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    drop(filled(&path));
    let host = Host::over(SqliteStore::open(&path).unwrap());
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (began, mut longest, mut refused, mut turn) = (Instant::now(), Duration::ZERO, 0, 0);
    while began.elapsed() < Duration::from_mins(1) {
        let this = Instant::now();
        host.at(START.after(90 * MINUTE * turn));
        refused += host.turn(turn as usize);
        longest = longest.max(this.elapsed());
        turn += 1;
        thread::sleep(Duration::from_millis(500));
    }
    holder.execute_batch("ROLLBACK").unwrap();
    println!("{turn} turns in a minute, the longest took {longest:?}");
    assert!(longest < Duration::from_secs(15), "{longest:?}");
    host.engine.flush().unwrap();
    assert_eq!(usage(&look(&brief(&path).unwrap()), "openai:a").error_count, refused);
}

#[test]
fn each_turn_is_answered_while_the_file_is_elsewhere() {
    for replaced in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let host = filled(&path);
        let end = |end: &str, aside: &str| folder.path().join(format!("{aside}agent.sqlite{end}"));
        let rename = |from: &str, to: &str| {
            for name in ["", "-wal", "-shm"] {
                fs::rename(end(name, from), end(name, to)).unwrap();
            }
        };
        let before = |turn| {
            if turn == 1 {
                rename("", "aside-");
                if replaced {
                    drop(brief(&path).unwrap());
                }
            }
        };
        turns(&host, &path, before, || {
            if replaced {
                assert_eq!(look(&brief(&path).unwrap()).profiles.len(), 0, "nothing went astray");
            }
            rename("aside-", "");
        });
    }
}

/// Nobody can write into a file that is not one any more; but turns go on, and say so.
#[test]
fn each_turn_is_answered_though_the_file_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let host = filled(&path);
    let mut refused = host.turn(0);
    for name in ["agent.sqlite", "agent.sqlite-wal"] {
        let mut file = fs::OpenOptions::new().write(true).open(folder.path().join(name)).unwrap();
        let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
        file.write_all(&vec![0xa5; length]).unwrap();
    }
    // Another writer makes the host read anew.
    drop(Connection::open(&path).unwrap().execute_batch("DELETE FROM tally"));
    for turn in 1..5 {
        host.at(START.after(90 * MINUTE * u32::try_from(turn).unwrap()));
        refused += host.turn(turn);
    }
    assert!(refused > 0);
    drop(host);
    assert!(matches!(brief(&path), Err(StoreError::Corrupt { .. })), "and nobody takes it for a state file");
}

#[test]
fn each_turn_is_answered_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let host = filled(&path);
    let year = 365 * 24 * 60 * MINUTE;
    let ends = [i64::MAX, i64::MIN].map(Timestamp::from_millis);
    let times =
        [ends[0].before(year), ends[1], Timestamp::EPOCH, START.after(year), START, START.before(year)];
    for (turn, now) in times.into_iter().enumerate() {
        host.at(now);
        host.turn(turn);
        host.engine.flush().unwrap();
    }
    for now in [ends[0], ends[1], ends[0], START] {
        let failure = batch("s", vec![limited("openai:a", "gpt-5.5", now)]);
        host.engine.store().apply(&failure, now).unwrap();
    }
    let later = START.after(61 * MINUTE);
    let view = brief(&path).unwrap().view(&ViewQuery::default(), later).unwrap();
    assert_eq!(
        usage(&view, "openai:a").blocked_until(Some("gpt-5.5"), later),
        None,
        "and nobody stays blocked"
    );
}
