//! The store with a memory for bad times: what it keeps lands as it was, and nothing of others is hurt.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use pointsman::{
    lang::policy::SelectionSource,
    state::{change::*, model::*, resilient::Resilient, sqlite::SqliteStore},
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{
    store::{MINUTE, START, answered, batch, chosen, limited, profile, usage},
    support::hand_on::*,
};

/// A file whose disk is full for this process, as long as it is told to be.
struct Full {
    store: SqliteStore,
    full: AtomicBool,
}

impl Full {
    fn check(&self) -> Result<(), StoreError> {
        let full = self.full.load(Ordering::SeqCst);
        if full { Err(StoreError::Full { path: self.store.path().to_owned() }) } else { Ok(()) }
    }
}

impl Store for Full {
    fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError> {
        self.check().and_then(|()| self.store.apply(batch, now))
    }
    fn apply_late(&self, facts: &[(Batch, Timestamp)]) -> Result<(), StoreError> {
        self.check().and_then(|()| self.store.apply_late(facts))
    }

    hand_on! { view put_profile remove_profile profile sessions flush => store }
}

/// One host whose disk may be full, and another process with the same file.
struct Two {
    _folder: TempDir,
    disk: Arc<Full>,
    host: Resilient,
    other: SqliteStore,
}

fn two() -> Two {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent.sqlite");
    let other = SqliteStore::open(&path).unwrap();
    for id in ["openai:a", "openai:b"] {
        other.put_profile(&profile(id)).unwrap();
    }
    let disk = Arc::new(Full { store: SqliteStore::open(&path).unwrap(), full: AtomicBool::default() });
    let host = Resilient::new(Arc::clone(&disk) as Arc<dyn Store>);
    look(&host, START);
    disk.full.store(true, Ordering::SeqCst);
    Two { _folder: folder, disk, host, other }
}

impl Two {
    fn mend(&self) {
        self.disk.full.store(false, Ordering::SeqCst);
    }
}

fn look(store: &dyn Store, now: Timestamp) -> View {
    store.view(&ViewQuery { session: Some("s") }, now).unwrap()
}

fn failed(store: &dyn Store, id: &str, model: &str, now: Timestamp) {
    store.apply(&batch("s", vec![limited(id, model, now)]), now).unwrap();
}

#[test]
fn a_late_fact_cuts_no_window_that_others_opened_since() {
    let two = two();
    failed(&two.host, "openai:a", "m1", START);
    let later = START.after(30 * MINUTE);
    failed(&two.other, "openai:a", "m2", later);
    failed(&two.other, "openai:b", "m1", later);
    let before = look(&two.other, later);
    two.mend();
    two.host.flush().unwrap();
    let after = look(&two.other, later);
    for (id, model) in [("openai:a", "m2"), ("openai:b", "m1")] {
        let end = usage(&before, id).blocked_until(Some(model), later);
        assert!(end.is_some());
        assert_eq!(usage(&after, id).blocked_until(Some(model), later), end, "{id} {model}");
    }
    let late = usage(&after, "openai:a");
    assert_eq!((late.error_count, late.last_failure_at), (2, Some(later)));
    assert_eq!(late.blocked_until(Some("m1"), START), Some(START.after(MINUTE)), "as of its time");
}

#[test]
fn what_others_change_is_seen_while_facts_wait() {
    let two = two();
    failed(&two.host, "openai:a", "m1", START);
    let now = START.after(MINUTE / 2);
    failed(&two.other, "openai:a", "m2", now);
    two.other.put_profile(&profile("openai:new")).unwrap();
    two.other.remove_profile(&ProfileId("openai:b".into())).unwrap();
    let view = look(&two.host, now);
    let ids: Vec<_> = view.profiles.iter().map(|there| there.info.id.0.as_str()).collect();
    assert_eq!(ids, ["openai:a", "openai:new"]);
    for model in ["m1", "m2"] {
        assert!(usage(&view, "openai:a").blocked_until(Some(model), now).is_some(), "{model}");
    }
    let trouble = two.host.trouble().unwrap();
    assert_eq!((trouble.waiting, trouble.writing), (1, true));
}

#[test]
fn a_fact_of_a_removed_profile_is_none_of_its_successors() {
    let two = two();
    failed(&two.host, "openai:a", "m1", START);
    let id = ProfileId("openai:a".into());
    assert!(two.host.remove_profile(&id).is_err(), "nothing overtakes what waits");
    two.mend();
    assert!(two.host.remove_profile(&id).unwrap());
    two.host.put_profile(&profile("openai:a")).unwrap();
    assert_eq!(usage(&look(&two.host, START), "openai:a"), Usage::default());
}

#[test]
fn a_view_alone_does_not_end_the_trouble_of_a_full_disk() {
    let two = two();
    let select =
        Change::Select { expect: Expect::Nothing, new: Some(chosen("f", Some(SelectionSource::Auto))) };
    assert!(two.host.apply(&batch("s", vec![select.clone()]), START).is_err());
    look(&two.host, START);
    assert!(two.host.trouble().is_some(), "the disk is as full as before");
    two.mend();
    assert!(!two.host.apply(&batch("s", vec![select]), START).unwrap().conflict);
    assert_eq!(two.host.trouble(), None);
}

/// Answers are many and change nothing: they must not push failures out of the memory.
#[test]
fn many_uses_do_not_drop_a_failure() {
    let two = two();
    failed(&two.host, "openai:a", "m1", START);
    for n in 1..=300 {
        let now = START.after(Duration::from_millis(n));
        let used = Change::Used { profile: ProfileId("openai:b".into()), at: now };
        two.host.apply(&batch("s", vec![used, answered("openai:b", "m", now)]), now).unwrap();
    }
    let trouble = two.host.trouble().unwrap();
    assert_eq!(trouble.waiting, 1);
    two.mend();
    two.host.flush().unwrap();
    let view = look(&two.other, START.after(MINUTE));
    assert_eq!(usage(&view, "openai:a").error_count, 1);
    assert_eq!(usage(&view, "openai:b").last_used, Some(START.after(Duration::from_millis(300))));
}

#[test]
fn what_waits_is_written_at_the_end() {
    let two = two();
    failed(&two.host, "openai:a", "m1", START);
    two.mend();
    drop(two.host);
    assert_eq!(usage(&look(&two.other, START), "openai:a").error_count, 1);
}

#[test]
fn e11_a_clock_that_jumps_back_meanwhile_leaves_nobody_blocked() {
    let two = two();
    let ahead = START.after(365 * 24 * 60 * MINUTE);
    failed(&two.host, "openai:a", "m1", ahead);
    let view = look(&two.host, START);
    assert_eq!(usage(&view, "openai:a").blocked_until(Some("m1"), START), Some(START.after(MINUTE)));
    assert_eq!(view.cuts.len(), 1);
    two.mend();
    two.host.flush().unwrap();
    let view = look(&two.other, START);
    assert_eq!(usage(&view, "openai:a").blocked_until(Some("m1"), START), Some(START.after(MINUTE)));
}

/// However many things a host does while another process holds the file, it waits long only once.
#[test]
fn a_file_that_is_held_keeps_nobody_waiting_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = super::file_with_profile(folder.path());
    let patience = Duration::from_millis(400);
    let host = Resilient::new(Arc::new(SqliteStore::open_patiently(&path, patience).unwrap()));
    look(&host, START);
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    let rounds = 10;
    for n in 0..rounds {
        let now = START.after(n * MINUTE);
        failed(&host, "openai:a", "m1", now);
        assert_eq!(usage(&look(&host, now), "openai:a").error_count, n + 1);
        let select = Change::Select { expect: Expect::Anything, new: None };
        assert!(host.apply(&batch("s", vec![select]), now).is_err());
    }
    let took = began.elapsed();
    println!("{rounds} rounds in {took:?} while the file is held, waiting {patience:?} at most");
    assert!(took >= patience, "it did wait");
    assert!(took < rounds * patience, "{took:?}");
    drop(holder);
    host.flush().unwrap();
    let view = look(&SqliteStore::open(&path).unwrap(), START.after(rounds * MINUTE));
    assert_eq!(usage(&view, "openai:a").error_count, rounds, "nothing is lost");
}
