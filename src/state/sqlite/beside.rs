//! What other threads see and leave while one of them writes.
//!
//! From the beginning of a transaction to its end no other process changes the file. So the state that
//! it found stays the current one until it commits, and nobody who asks for it need wait for the disk.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    state::{
        change::{Applied, Batch, Change},
        model::{ProfileId, Session},
        snapshot::Snapshot,
        view::{View, ViewQuery},
    },
    time::Timestamp,
};

/// The state before a commit that is under way; nothing while there is none.
#[derive(Debug, Default)]
pub(super) struct Beside(Mutex<Option<Before>>);

#[derive(Debug)]
struct Before {
    snapshot: Snapshot,
    /// Sessions that the commit changes: they are not to be had before its end.
    changing: Vec<String>,
    used: LastUsed,
}

/// `last_used` that is not written yet.
pub(super) type LastUsed = BTreeMap<ProfileId, Timestamp>;

/// Notes the uses of a batch.
pub(super) fn note_uses(of: &Batch, used: &mut LastUsed) {
    for (profile, at) in of.changes.iter().filter_map(Change::used) {
        note_use(profile, at, used);
    }
}

/// Notes a use; a later one stays.
pub(super) fn note_use(profile: &ProfileId, at: Timestamp, used: &mut LastUsed) {
    let last = used.entry(profile.clone()).or_insert(at);
    *last = at.max(*last);
}

impl Beside {
    /// A commit begins.
    pub fn open(&self, snapshot: Snapshot, changing: Vec<String>) {
        *self.before() = Some(Before { snapshot, changing, used: LastUsed::new() });
    }

    /// The commit has ended, one way or the other; what was used meanwhile.
    pub fn close(&self) -> LastUsed {
        self.before().take().map(|before| before.used).unwrap_or_default()
    }

    /// See [`crate::state::store::Store::view_at_once`].
    pub fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Option<View> {
        let before = self.before();
        let before = before.as_ref()?;
        let session = before.session(query.session)?;
        let snapshot = &before.snapshot;
        (!snapshot.clock_jumped(now)).then(|| snapshot.view(session))
    }

    /// See [`crate::state::store::Store::apply_at_once`]. A success that changes no more than `last_used`
    /// comes before what is being written, which then changes it no more.
    pub fn apply(&self, batch: &Batch, now: Timestamp) -> Option<Applied> {
        let mut before = self.before();
        let before = before.as_mut()?;
        let session = before.session(batch.session.as_deref())?;
        let applied = before.snapshot.apply_uses(batch, &session, now)?;
        note_uses(batch, &mut before.used);
        Some(applied)
    }

    fn before(&self) -> MutexGuard<'_, Option<Before>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Before {
    fn session(&self, id: Option<&str>) -> Option<Arc<Session>> {
        let Some(id) = id else { return Some(Arc::default()) };
        let changes = self.changing.iter().any(|changing| changing == id);
        self.snapshot.sessions.get(id).filter(|_| !changes).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
        time::Duration,
    };

    use super::*;
    use crate::state::{
        change::{Expect, Failure},
        model::Profile,
        sqlite::SqliteStore,
        store::Store,
    };

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn store(folder: &tempfile::TempDir) -> SqliteStore {
        let store = SqliteStore::open(&folder.path().join("agent.sqlite")).unwrap();
        for id in ["acme:a", "acme:b"] {
            store.put_profile(&Profile::api_key(id, "env:KEY")).unwrap();
        }
        store.view(&ViewQuery { session: Some("s") }, NOW).unwrap();
        store.view(&ViewQuery { session: Some("t") }, NOW).unwrap();
        store
    }

    fn used(at: Timestamp) -> Batch {
        Batch { session: None, changes: vec![Change::Used { profile: ProfileId("acme:b".into()), at }] }
    }

    fn last_used(view: &View) -> Option<Timestamp> {
        view.profile(&ProfileId("acme:b".into())).and_then(|profile| profile.usage.last_used)
    }

    /// What [`SqliteStore`] answers at once while another thread waits for the disk.
    #[test]
    fn a_commit_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let inner = store.inner.lock().unwrap();
        let seen = |session| store.view_at_once(&ViewQuery { session }, NOW);
        assert!(seen(None).is_none(), "it is not known yet what the writer found");
        store.beside.open(inner.snapshot.clone(), vec!["t".to_owned()]);
        assert!(seen(Some("s")).is_some());
        assert!(seen(Some("t")).is_none(), "the commit changes it");
        assert!(seen(Some("never read")).is_none());
        let applied = store.apply_at_once(&used(NOW), NOW).unwrap().unwrap();
        assert_eq!(last_used(&applied.view), Some(NOW));
        assert_eq!(last_used(&seen(None).unwrap().unwrap()), Some(NOW));
        assert_eq!(store.beside.close(), LastUsed::from([(ProfileId("acme:b".into()), NOW)]));
        assert!(seen(None).is_none());
    }

    /// Whatever was acknowledged beside a commit is there after it.
    #[test]
    fn uses_beside_commits_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (store, done) = (store(&folder), AtomicBool::new(false));
        let session = Batch {
            session: Some("s".to_owned()),
            changes: vec![Change::Select { expect: Expect::Nothing, new: None }],
        };
        let failure = Failure {
            profile: ProfileId("acme:a".into()),
            model: None,
            bucket: "odd".to_owned(),
            attempt_started_at: NOW,
            window: None,
            forget_after: None,
        };
        let failures = Batch { session: None, changes: vec![Change::Failure(failure)] };
        let mut at = NOW;
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..200 {
                    store.apply(&failures, NOW).unwrap();
                    store.apply(&session, NOW).unwrap();
                }
                done.store(true, Ordering::SeqCst);
            });
            // Further ahead than a second, the clock guard would cut it.
            while !done.load(Ordering::SeqCst) && at.since(NOW) < Duration::from_millis(900) {
                let next = at.after(Duration::from_millis(1));
                if let Some(applied) = store.apply_at_once(&used(next), NOW) {
                    at = next;
                    assert_eq!(last_used(&applied.unwrap().view), Some(at));
                    assert_eq!(last_used(&store.view(&ViewQuery::default(), NOW).unwrap()), Some(at));
                }
                // So that the writer comes in between.
                thread::sleep(Duration::from_micros(300));
            }
        });
        assert!(at > NOW, "some were acknowledged");
        store.flush().unwrap();
        let reopened = SqliteStore::open(store.path()).unwrap();
        let view = reopened.view(&ViewQuery::default(), NOW).unwrap();
        assert_eq!(last_used(&view), Some(at));
        assert_eq!(view.profile(&ProfileId("acme:a".into())).unwrap().usage.error_count, 200);
    }
}
