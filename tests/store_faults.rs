//! The SQLite store under bad conditions: many processes, SIGKILL, damaged, locked, read-only, newer
//! files and full disks. `POINTSMAN_LONG_TESTS=1` makes the runs long.

#![cfg(all(feature = "sqlite", unix))]
#![expect(clippy::unwrap_used, reason = "a test may fail so")]
#![expect(
    clippy::disallowed_methods,
    reason = "processes are told what to do by the environment and stop by the clock"
)]

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use pointsman::{
    lang::policy::SelectionSource,
    state::{
        change::*,
        model::*,
        resilient::Resilient,
        sqlite::SqliteStore,
        store::{Store, StoreError},
        view::{View, ViewQuery},
    },
    time::Timestamp,
};
use rusqlite::Connection;

use crate::store::{MINUTE, START, answered, batch, chosen, limited, profile, usage};

mod bad_disk;
#[cfg(feature = "tokio")]
mod host;
mod memory;
mod power;
mod session;

fn long() -> bool {
    env::var("POINTSMAN_LONG_TESTS").is_ok_and(|value| value != "0")
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap())
}

fn look(store: &SqliteStore, session: &str) -> View {
    store.view(&ViewQuery { session: Some(session) }, now()).unwrap()
}

/// A file with one profile, as if written before; START is far enough in the past of no test.
fn file_with_profile(folder: &Path) -> PathBuf {
    let path = folder.join("agent.sqlite");
    SqliteStore::open(&path).unwrap().put_profile(&profile("openai:a")).unwrap();
    path
}

// Child processes: this test binary again, told by the environment what to do.

const ROLE: &str = "POINTSMAN_TEST_ROLE";
const FILE: &str = "POINTSMAN_TEST_FILE";
const NAME: &str = "POINTSMAN_TEST_NAME";

fn role(role: &str, file: &Path, name: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    as_role(&mut command, role, file, name);
    command
}

fn as_role(command: &mut Command, role: &str, file: &Path, name: &str) {
    command.args(["--exact", "store_faults::child", "--nocapture"]);
    command.env(ROLE, role).env(FILE, file).env(NAME, name);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
}

/// Lines that the child says for its parent begin with this.
const SAYS: &str = "child says ";

fn say(what: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{SAYS}{what}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn said(child: Child) -> Vec<String> {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter_map(|line| line.split_once(SAYS)).map(|(_, what)| what.to_owned()).collect()
}

/// No test by itself: the part that child processes play.
#[test]
fn child() {
    let Ok(role) = env::var(ROLE) else { return };
    let (file, name) = (PathBuf::from(env::var(FILE).unwrap()), env::var(NAME).unwrap());
    match role.as_str() {
        "hammer" => hammer(&file, &name),
        "count" => count(&file),
        "fill" => fill(&file),
        "marked" => bad_disk::marked(&file, &name),
        #[cfg(feature = "tokio")]
        "host under plans" => host::under_plans(&file, &name),
        #[cfg(feature = "tokio")]
        "logins under plans" => host::logins_under_plans(&file, &name),
        "under plans" => bad_disk::under_plans(&file, &name),
        "open" => {
            let opened = SqliteStore::open(&file);
            say(opened.map_or_else(|error| error.to_string(), |_| "opened".to_owned()));
        }
        "open read-only" => say(SqliteStore::open_read_only(&file).map_or_else(
            |error| error.to_string(),
            |store| format!("{} profiles", look(&store, "s").profiles.len()),
        )),
        other => panic!("no role `{other}`"),
    }
}

/// Fails, answers, chooses and reopens until time is up; says how often.
fn hammer(file: &Path, name: &str) {
    let end = Instant::now() + if long() { Duration::from_secs(10) } else { Duration::from_secs(3) };
    let (mut failures, mut won, mut lost, mut own) = (0_u64, 0, 0, None);
    let mut store = SqliteStore::open(file).unwrap();
    while Instant::now() < end {
        let changes = vec![limited("openai:a", name, now()), limited("openai:b", "m", now())];
        let applied = store.apply(&batch(name, changes), now()).unwrap();
        assert!(applied.outcomes.iter().all(|outcome| *outcome != Outcome::UnknownProfile));
        failures += 1;

        let there = look(&store, "shared");
        let expect = Expect::of(there.session.selected.as_ref());
        // Time for others to choose meanwhile.
        thread::sleep(Duration::from_millis(failures % 3));
        let new = chosen(&format!("{name}-{won}"), Some(SelectionSource::Auto));
        let select = Change::Select { expect, new: Some(new) };
        if store.apply(&batch("shared", vec![select]), now()).unwrap().conflict {
            lost += 1;
        } else {
            won += 1;
        }

        let mine = chosen(&format!("own-{failures}"), Some(SelectionSource::User));
        let select = Change::Select { expect: Expect::of(own.as_ref()), new: Some(mine.clone()) };
        assert!(!store.apply(&batch(name, vec![select]), now()).unwrap().conflict, "nobody else writes here");
        own = Some(mine);

        store.apply(&batch(name, vec![answered("openai:c", "m", now())]), now()).unwrap();
        if failures % 20 == 0 {
            store = SqliteStore::open(file).unwrap();
        }
    }
    say(format!("{failures} {won} {lost}"));
}

#[test]
fn eight_processes_lose_no_count_and_break_no_override() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    for id in ["openai:a", "openai:b", "openai:c"] {
        store.put_profile(&profile(id)).unwrap();
    }
    let names: Vec<_> = (0..8).map(|n| format!("p{n}")).collect();
    let children: Vec<_> = names.iter().map(|name| role("hammer", &path, name).spawn().unwrap()).collect();
    let (mut failures, mut won, mut lost) = (0, 0, 0);
    for (child, name) in children.into_iter().zip(&names) {
        let line = said(child).pop().expect("it says its counts");
        let counts: Vec<u32> = line.split(' ').map(|n| n.parse().unwrap()).collect();
        let [f, w, l] = counts[..] else { panic!("{line}") };
        (failures, won, lost) = (failures + f, won + w, lost + l);
        let own = look(&store, name).session.selected.clone().unwrap();
        assert_eq!(own.candidate.model, format!("own-{f}"), "{name}'s last choice stands");
    }
    println!("{failures} rounds of all, {won} choices won, {lost} lost");
    let view = look(&store, "shared");
    for id in ["openai:a", "openai:b"] {
        assert_eq!(usage(&view, id).failure_counts["rate_limit"], failures, "{id}");
    }
    assert_eq!(view.session.revision, u64::from(won), "every won choice is one change");
    assert_eq!(usage(&view, "openai:a").windows.len(), 8, "a window for each model");
    assert!(usage(&view, "openai:c").last_used.is_some());
    assert!(failures > 40, "they did hammer: {failures}");
    assert_eq!(won + lost, failures);
    assert!(lost > 0, "they did meet");
    sound(&path);
}

fn sound(path: &Path) {
    let db = Connection::open(path).unwrap();
    let verdict: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

/// Counts up, saying each acknowledged count, until it is killed.
fn count(file: &Path) {
    let store = SqliteStore::open(file).unwrap();
    store.put_profile(&profile("openai:a")).unwrap();
    loop {
        let new = chosen("kept", Some(SelectionSource::User));
        let select = Change::Select { expect: Expect::Anything, new: Some(new) };
        let changes = vec![select, limited("openai:a", "m", now())];
        let applied = store.apply(&batch("s", changes), now()).unwrap();
        say(usage(&applied.view, "openai:a").error_count);
    }
}

#[test]
fn killed_at_any_moment_it_holds_every_acknowledged_change() {
    let folder = tempfile::tempdir().unwrap();
    let rounds = if long() { 200 } else { 24 };
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    let (mut acknowledged, mut total) = (0, 0);
    let mut path = folder.path().join("0.sqlite");
    for round in 0..rounds {
        if round % 6 == 0 {
            // A new file, so that creating it is interrupted too.
            path = folder.path().join(format!("{round}.sqlite"));
            acknowledged = 0;
        }
        let before = acknowledged;
        let mut child = role("count", &path, "count").spawn().unwrap();
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut hear = |line: &str| {
            let count = line.split_once(SAYS).and_then(|(_, count)| count.parse::<u32>().ok());
            acknowledged = acknowledged.max(count.unwrap_or(0));
            count.is_some()
        };
        if round % 2 == 0 {
            // Half of them are surely killed at work, the others perhaps while they start.
            while !hear(&lines.next().expect("it counts")) {}
        }
        thread::sleep(Duration::from_micros((dice >> 33) % 60_000));
        child.kill().unwrap();
        for line in lines {
            hear(&line);
        }
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert!(!error.contains("panicked"), "{error}");
        child.wait().unwrap();

        let store = SqliteStore::open(&path).unwrap();
        let view = look(&store, "s");
        let found =
            view.profile(&ProfileId("openai:a".into())).map_or(0, |profile| profile.usage.error_count);
        assert!(found >= acknowledged, "round {round}: {acknowledged} were acknowledged, {found} are there");
        assert!(found <= acknowledged + 1, "at most the one whose word was cut off");
        assert_eq!(view.session.selected.is_some(), found > 0, "a batch is there whole, or not");
        total += found - before;
        acknowledged = found;
        drop(store);
        sound(&path);
    }
    println!("{total} changes in {rounds} rounds");
    assert!(total >= rounds / 2, "they were killed at work, not before: {total}");
}

#[test]
fn a_damaged_file_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("garbage.sqlite");
    let bytes = b"this is no database, but somebody's diary ".repeat(400);
    std::fs::write(&garbage, &bytes).unwrap();
    let error = SqliteStore::open(&garbage).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains("garbage.sqlite"), "{error}");
    assert_eq!(std::fs::read(&garbage).unwrap(), bytes, "nothing of it is lost");

    let path = file_with_profile(folder.path());
    let mut bytes = std::fs::read(&path).unwrap();
    let page = 4096;
    let end = bytes.len();
    bytes[page..end].fill(0xa5);
    std::fs::write(&path, &bytes).unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");

    let cut = folder.path().join("cut.sqlite");
    std::fs::write(&cut, &bytes[..page + 100]).unwrap();
    assert!(matches!(SqliteStore::open(&cut).unwrap_err(), StoreError::Corrupt { .. }));
}

#[test]
fn an_empty_file_is_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    std::fs::write(&path, "").unwrap();
    SqliteStore::open(&path).unwrap().put_profile(&profile("openai:a")).unwrap();
}

#[test]
fn a_file_whose_making_was_cut_short_is_an_empty_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    Connection::open(&path).unwrap().query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    let store = SqliteStore::open_read_only(&path).unwrap();
    assert!(look(&store, "s").profiles.is_empty());
    assert!(store.sessions().unwrap().is_empty());
    let error = store.put_profile(&profile("openai:a")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    SqliteStore::open(&path).unwrap().put_profile(&profile("openai:a")).unwrap();
    assert_eq!(look(&SqliteStore::open_read_only(&path).unwrap(), "s").profiles.len(), 1);
}

#[test]
fn a_row_or_table_that_cannot_be_read_is_damage() {
    for (damage, detail) in [
        ("UPDATE profile SET email = CAST(x'ff' AS TEXT)", "utf-8"),
        ("UPDATE profile SET extra = 'no JSON'", "line 1"),
        ("ALTER TABLE profile RENAME COLUMN email TO mail", "no such column: email"),
        ("DROP TABLE streak", "no such table: streak"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = file_with_profile(folder.path());
        Connection::open(&path).unwrap().execute_batch(damage).unwrap();
        let error = SqliteStore::open_read_only(&path).unwrap_err().to_string();
        for part in ["is damaged", detail, "move it away"] {
            assert!(error.contains(part), "{damage}: {error}");
        }
    }
}

#[test]
fn another_programs_database_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.sqlite");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE mail (body TEXT)").unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(error.to_string().contains("another program's database"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_schema_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    let db = Connection::open(&path).unwrap();
    let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    for error in [SqliteStore::open(&path).unwrap_err(), SqliteStore::open_read_only(&path).unwrap_err()] {
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error:?}");
        assert!(error.to_string().contains("newer"), "{error}");
    }
    db.pragma_update(None, "user_version", version).unwrap();
    assert_eq!(look(&SqliteStore::open(&path).unwrap(), "s").profiles.len(), 1);
}

#[test]
fn a_file_that_a_newer_version_takes_over_while_open_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    let store = SqliteStore::open(&path).unwrap();
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let fact = batch("s", vec![limited("openai:a", "m", now())]);
    let error = store.apply(&fact, now()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error:?}");
}

#[test]
fn a_file_that_was_removed_or_replaced_while_open_is_no_place_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    let store = SqliteStore::open(&path).unwrap();
    let fact = batch("s", vec![limited("openai:a", "m", now())]);
    let aside = folder.path().join("aside.sqlite");
    std::fs::rename(&path, &aside).unwrap();
    let removed = store.apply(&fact, now()).unwrap_err();
    std::fs::write(&path, "another").unwrap();
    let replaced = store.apply(&fact, now()).unwrap_err();
    for error in [removed, replaced] {
        assert!(matches!(error, StoreError::Gone { .. }), "{error:?}");
        assert!(error.to_string().contains("removed or replaced"), "{error}");
    }
    std::fs::rename(&aside, &path).unwrap();
    assert_eq!(usage(&store.apply(&fact, now()).unwrap().view, "openai:a").error_count, 1, "put back");
}

/// Others would begin a new log beside ours, and what we write would never meet what they write.
#[test]
fn a_file_whose_log_was_removed_while_open_is_no_place_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    let store = SqliteStore::open(&path).unwrap();
    let fact = batch("s", vec![limited("openai:a", "m", now())]);
    store.apply(&fact, now()).unwrap();
    std::fs::remove_file(folder.path().join("agent.sqlite-wal")).unwrap();
    let error = store.apply(&fact, now()).unwrap_err();
    assert!(matches!(error, StoreError::Gone { .. }), "{error:?}");
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(usage(&look(&store, "s"), "openai:a").error_count, 1, "what was acknowledged is in the file");
}

#[test]
fn a_missing_folder_and_a_folder_as_file() {
    let folder = tempfile::tempdir().unwrap();
    let error = SqliteStore::open(&folder.path().join("no/such/folder.sqlite")).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    let error = SqliteStore::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Special { .. }), "{error:?}");
    let error = SqliteStore::open_read_only(&folder.path().join("none.sqlite")).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    assert!(!folder.path().join("none.sqlite").exists(), "reading creates nothing");
}

#[test]
fn a_held_file_can_be_read_and_says_who_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    let store = SqliteStore::open_patiently(&path, Duration::from_millis(50)).unwrap();
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let change = batch("s", vec![limited("openai:a", "m", now())]);
    let error = store.apply(&change, now()).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert_eq!(usage(&look(&store, "s"), "openai:a").error_count, 0, "reading goes on");
    holder.execute_batch("COMMIT").unwrap();
    store.apply(&change, now()).unwrap();
    assert_eq!(usage(&look(&store, "s"), "openai:a").error_count, 1);
}

#[test]
fn a_read_only_store_reads_and_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    let store = SqliteStore::open_read_only(&path).unwrap();
    assert_eq!(look(&store, "s").profiles.len(), 1);
    let error = store.apply(&batch("s", vec![limited("openai:a", "m", now())]), now()).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    let used = Change::Used { profile: ProfileId("openai:a".into()), at: now() };
    store.apply(&batch("s", vec![used]), now()).unwrap();
    assert_eq!(usage(&look(&store, "s"), "openai:a").error_count, 0);
    assert_eq!(usage(&look(&SqliteStore::open(&path).unwrap(), "s"), "openai:a"), Usage::default());
}

#[test]
fn e11_a_read_only_store_shows_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    let ahead = START.after(365 * 24 * 60 * MINUTE);
    SqliteStore::open(&path)
        .unwrap()
        .apply(&batch("s", vec![limited("openai:a", "m", ahead)]), ahead)
        .unwrap();
    let store = SqliteStore::open_read_only(&path).unwrap();
    let view = store.view(&ViewQuery::default(), START).unwrap();
    assert_eq!(view.cuts.len(), 1);
    assert_eq!(usage(&view, "openai:a").blocked_until(Some("m"), START), Some(START.after(MINUTE)));
}

/// As another user, if the tests may become one (they run as root).
#[test]
fn a_file_that_may_not_be_written_is_read_only() {
    use std::os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    };
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    if chown(&path, Some(NOBODY), None).is_err() {
        println!("skipped: only root can become another user");
        return;
    }
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o400)).unwrap();
    // The test binary may lie where nobody may go.
    let copy = folder.path().join("child");
    std::fs::copy(env::current_exe().unwrap(), &copy).unwrap();
    let run = |what| {
        let mut command = Command::new(&copy);
        as_role(&mut command, what, &path, "nobody");
        command.uid(NOBODY).current_dir("/");
        command.spawn().map(said)
    };
    let Ok(lines) = run("open") else {
        println!("skipped: the system does not let us");
        return;
    };
    assert!(lines.concat().contains("is read-only"), "{lines:?}");
    assert_eq!(run("open read-only").unwrap(), ["1 profiles"]);

    // The file may be written, but its folder not: there is no place for the log.
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    let lines = run("open").unwrap();
    assert!(lines.concat().contains("and its folder"), "{lines:?}");
    assert_eq!(run("open read-only").unwrap(), ["1 profiles"]);
}

/// Stores profiles until there is no room, then says how many are there and why it ended.
fn fill(file: &Path) {
    let store = SqliteStore::open(file).unwrap();
    for n in 0.. {
        let mut one = profile(&format!("openai:{n}"));
        one.extra.insert("filler".into(), "x".repeat(5_000).into());
        match store.put_profile(&one) {
            Ok(_) => {}
            Err(StoreError::Full { .. }) => {
                say(format!("full {n}"));
                assert_eq!(look(&store, "s").profiles.len(), n, "reading goes on");
                return;
            }
            Err(other) => {
                say(format!("other {other}"));
                return;
            }
        }
    }
}

#[test]
fn a_file_size_limit_is_a_full_disk_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    drop(SqliteStore::open(&path).unwrap());
    let mut shell = Command::new("sh");
    // Blocks of 512 or 1024 bytes, as the shell counts: about a megabyte at most.
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\""]).arg(env::current_exe().unwrap());
    as_role(&mut shell, "fill", &path, "fill");
    let lines = said(shell.spawn().unwrap());
    let stored: usize =
        lines.concat().strip_prefix("full ").unwrap_or_else(|| panic!("{lines:?}")).parse().unwrap();
    assert!(stored > 3, "{stored}");
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(look(&store, "s").profiles.len(), stored, "every acknowledged one is there");
    store.put_profile(&profile("openai:more")).unwrap();
    sound(&path);
}

#[test]
fn a_clock_that_jumps_a_year_either_way_leaves_nobody_blocked() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    let year = 365 * 24 * 60 * MINUTE;
    for jump in [START.after(year), START.before(year)] {
        let store = SqliteStore::open(&path).unwrap();
        store.apply(&batch("s", vec![limited("openai:a", "m", jump)]), jump).unwrap();
        drop(store);
        let store = SqliteStore::open(&path).unwrap();
        store.view(&ViewQuery::default(), START).unwrap();
        let later = START.after(61 * MINUTE);
        let view = store.view(&ViewQuery::default(), later).unwrap();
        assert_eq!(usage(&view, "openai:a").blocked_until(Some("m"), later), None);
        let other = SqliteStore::open(&path).unwrap().view(&ViewQuery::default(), later).unwrap();
        assert_eq!(usage(&other, "openai:a"), usage(&view, "openai:a"), "the cut is stored");
    }
}

#[test]
fn a_resilient_store_goes_on_in_memory_says_so_and_writes_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_with_profile(folder.path());
    let inner = SqliteStore::open_patiently(&path, Duration::from_millis(20)).unwrap();
    let store = Resilient::new(Arc::new(inner));
    let see = |store: &dyn Store| store.view(&ViewQuery { session: Some("s") }, now()).unwrap();
    assert_eq!(usage(&see(&store), "openai:a").error_count, 0);
    assert_eq!(store.trouble(), None);

    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let fact = batch("s", vec![limited("openai:a", "m", now())]);
    for count in 1..=2 {
        let applied = store.apply(&fact, now()).unwrap();
        assert_eq!(usage(&applied.view, "openai:a").error_count, count);
    }
    assert_eq!(usage(&see(&store), "openai:a").error_count, 2, "it counts at once");
    let trouble = store.trouble().unwrap();
    assert_eq!(trouble.waiting, 2);
    assert!(trouble.why.contains("held by another process"), "{}", trouble.why);
    let select =
        Change::Select { expect: Expect::Nothing, new: Some(chosen("f1", Some(SelectionSource::Auto))) };
    let for_others = store.apply(&batch("s", vec![select]), now());
    assert!(matches!(for_others, Err(StoreError::Locked { .. })), "other readers would not see it");

    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(usage(&see(&store), "openai:a").error_count, 2);
    store.flush().unwrap();
    assert_eq!(store.trouble(), None);
    let other = SqliteStore::open(&path).unwrap();
    assert_eq!(usage(&look(&other, "s"), "openai:a").error_count, 2, "nothing is lost");
}
