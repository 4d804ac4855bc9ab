//! The store in one SQLite file per agent, shared by several processes.
//!
//! Rows are cached and the cache is validated by `PRAGMA data_version`, so that a view and a steady
//! success cost no read and no write. Every change reads the fresh rows inside an immediate
//! transaction; `synchronous=FULL` makes it durable before it is acknowledged. `last_used` waits in
//! memory for the next change, at most about a second.

mod error;
mod open;
mod read;
mod write;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
    thread,
    time::Duration,
};

use rusqlite::{Connection, Error, Transaction, TransactionBehavior};

use self::error::{explain, is_busy};
use super::{
    change::{Applied, Batch, Change},
    model::{Profile, ProfileId, Session},
    snapshot::{Plan, Snapshot},
    store::{Put, Store, StoreError},
    view::{ProfileView, View, ViewQuery},
};
use crate::time::Timestamp;

/// How long an operation waits for other processes before it gives up as [`StoreError::Locked`].
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Pause between two tries to begin a transaction while another process writes.
const PAUSE: Duration = Duration::from_millis(1);

/// `last_used` waits in memory no longer than this.
const LAST_USED_WAITS: Duration = Duration::from_secs(1);

/// Sessions kept in memory before the cache starts anew.
const CACHED_SESSIONS: usize = 16_384;

/// State in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    db: Connection,
    patience: Duration,
    snapshot: Snapshot,
    /// `PRAGMA data_version` that the snapshot belongs to; none: nothing read yet.
    seen: Option<i64>,
    /// `last_used` that is not written yet.
    used: BTreeMap<ProfileId, Timestamp>,
    /// When `last_used` was last written, or began to wait.
    used_since: Option<Timestamp>,
}

impl SqliteStore {
    /// Opens the file, and creates it with mode 0600 when there is none. Its folder must exist.
    ///
    /// # Errors
    /// [`StoreError`] when the file is damaged, of a newer version, locked, or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_patiently(path, PATIENCE)
    }

    /// Like [`Self::open`], and waits for other processes as long as `patience`.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn open_patiently(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        Self::over(path, open::read_write(path, patience)?, patience)
    }

    /// Opens an existing file for reading; every change fails with [`StoreError::ReadOnly`].
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        Self::over(path, open::read_only(path, PATIENCE)?, PATIENCE)
    }

    fn over(path: &Path, db: Connection, patience: Duration) -> Result<Self, StoreError> {
        db.set_prepared_statement_cache_capacity(64);
        let (snapshot, used) = (Snapshot::default(), BTreeMap::new());
        let inner = Inner { db, patience, snapshot, seen: None, used, used_since: None };
        let store = Self { path: path.to_owned(), inner: Mutex::new(inner) };
        store.run(Inner::refresh)?;
        Ok(store)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inner>, StoreError> {
        self.inner.lock().map_err(|_| StoreError::Poisoned)
    }

    fn run<T>(&self, what: impl FnOnce(&mut Inner) -> Result<T, Error>) -> Result<T, StoreError> {
        what(&mut *self.lock()?).map_err(|error| explain(&self.path, &error))
    }
}

/// What needs neither the disk nor a wait for another thread.
impl SqliteStore {
    fn at_once<T>(
        &self,
        what: impl FnOnce(&mut Inner) -> Result<Option<T>, Error>,
    ) -> Option<Result<T, StoreError>> {
        let mut inner = self.inner.try_lock().ok()?;
        what(&mut inner).map_err(|error| explain(&self.path, &error)).transpose()
    }
}

impl Inner {
    /// The session, if the cache holds it and is fresh, and the clock guard has nothing to do.
    fn cached(&self, session: Option<&str>, now: Timestamp) -> Result<Option<Arc<Session>>, Error> {
        let session =
            session.map_or_else(|| Some(Arc::default()), |id| self.snapshot.sessions.get(id).cloned());
        let ready = session.filter(|_| !self.snapshot.clock_jumped(now));
        Ok(if ready.is_some() && self.seen == Some(data_version(&self.db)?) { ready } else { None })
    }

    /// What waits of `last_used`, if anything, has waited long enough.
    fn is_due(&self, now: Timestamp) -> bool {
        self.used_since.is_some_and(|since| now.since(since) >= LAST_USED_WAITS || now < since)
    }

    /// Reads anew what another connection has changed.
    fn refresh(&mut self) -> Result<(), Error> {
        if self.seen == Some(data_version(&self.db)?) {
            return Ok(());
        }
        let reading = self.db.transaction_with_behavior(TransactionBehavior::Deferred)?;
        let profiles = read::profiles(&reading)?;
        let seen = data_version(&reading)?;
        reading.commit()?;
        self.take(profiles, seen);
        Ok(())
    }

    fn take(&mut self, mut profiles: Vec<ProfileView>, seen: i64) {
        for profile in &mut profiles {
            if let Some(at) = self.used.get(&profile.info.id) {
                super::transition::used(Arc::make_mut(&mut profile.usage), *at);
            }
        }
        self.snapshot.set_profiles(Arc::new(profiles));
        self.snapshot.sessions.clear();
        self.seen = Some(seen);
    }

    fn session(&mut self, id: Option<&str>) -> Result<Arc<Session>, Error> {
        let Some(id) = id else { return Ok(Arc::default()) };
        if let Some(session) = self.snapshot.sessions.get(id) {
            return Ok(Arc::clone(session));
        }
        let session = Arc::new(read::session(&self.db, id)?);
        if self.snapshot.sessions.len() >= CACHED_SESSIONS {
            self.snapshot.sessions.clear();
        }
        self.snapshot.sessions.insert(id.to_owned(), Arc::clone(&session));
        Ok(session)
    }

    fn apply(&mut self, batch: &Batch, now: Timestamp) -> Result<Applied, Error> {
        if batch.changes.iter().all(may_wait) {
            self.refresh()?;
            let session = self.session(batch.session.as_deref())?;
            let plan = self.snapshot.plan(batch, &session, now);
            if !plan.must_be_written() {
                return Ok(self.apply_in_memory(batch, plan, now));
            }
        }
        self.in_transaction(|inner| {
            let session = inner.session(batch.session.as_deref())?;
            let plan = inner.snapshot.plan(batch, &session, now);
            inner.write(batch.session.as_deref(), &plan)?;
            Ok(plan)
        })
        .map(|plan| {
            self.used_since = Some(now);
            self.snapshot.commit(batch.session.as_deref(), plan)
        })
    }

    /// Stores what the clock guard cuts (E11), or shows it at least, when nothing can be stored.
    fn view_after_jump(&mut self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, Error> {
        let batch = Batch { session: query.session.map(str::to_owned), changes: Vec::new() };
        if let Ok(applied) = self.apply(&batch, now) {
            return Ok(applied.view);
        }
        self.refresh()?;
        let session = self.session(query.session)?;
        let plan = self.snapshot.plan(&batch, &session, now);
        Ok(View { profiles: plan.profiles, cuts: plan.cuts, ..self.snapshot.view(session) })
    }

    /// Runs `work` on fresh rows inside an immediate transaction, with what `last_used` waits.
    fn in_transaction<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.begin()?;
        let done = self.fresh_and(work).and_then(|done| {
            self.db.prepare_cached("COMMIT")?.execute([])?;
            Ok(done)
        });
        match done {
            Ok(done) => {
                self.used.clear();
                Ok(done)
            }
            Err(error) => {
                if !self.db.is_autocommit() {
                    // The first error says more than one of the way back.
                    drop(self.db.execute_batch("ROLLBACK"));
                }
                self.seen = None;
                Err(error)
            }
        }
    }

    /// Waits for other writers by short pauses: SQLite's own grow to a tenth of a second, and let one
    /// process starve the others.
    fn begin(&self) -> Result<(), Error> {
        let mut statement = self.db.prepare_cached("BEGIN IMMEDIATE")?;
        let mut left = self.patience;
        self.db.busy_timeout(Duration::ZERO)?;
        let done = loop {
            match statement.execute([]) {
                Err(error) if is_busy(&error) && !left.is_zero() => {
                    thread::sleep(PAUSE);
                    left = left.saturating_sub(PAUSE);
                }
                done => break done,
            }
        };
        self.db.busy_timeout(self.patience)?;
        done.map(|_| ())
    }

    fn fresh_and<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        let seen = data_version(&self.db)?;
        if self.seen != Some(seen) {
            let profiles = read::profiles(&self.db)?;
            self.take(profiles, seen);
        }
        for (id, at) in &self.used {
            write::last_used(&self.db, id, *at)?;
        }
        work(self)
    }

    fn write(&self, session: Option<&str>, plan: &Plan) -> Result<(), Error> {
        for place in &plan.changed {
            let (old, new) = (self.snapshot.profiles.get(*place), plan.profiles.get(*place));
            if let (Some(old), Some(new)) = (old, new) {
                write::usage(&self.db, new.info.inserted, &old.usage, &new.usage)?;
            }
        }
        for place in &plan.used {
            if let Some(profile) = plan.profiles.get(*place)
                && let Some(at) = profile.usage.last_used
            {
                write::last_used(&self.db, &profile.info.id, at)?;
            }
        }
        for new in &plan.secrets {
            write::new_secret(&self.db, new)?;
        }
        if let (Some(id), true) = (session, plan.session_changed) {
            write::session(&self.db, id, &plan.session)?;
        }
        Ok(())
    }

    fn apply_in_memory(&mut self, batch: &Batch, plan: Plan, now: Timestamp) -> Applied {
        for place in &plan.used {
            if let Some(profile) = plan.profiles.get(*place)
                && let Some(at) = profile.usage.last_used
            {
                self.used.insert(profile.info.id.clone(), at);
            }
        }
        let applied = self.snapshot.commit(batch.session.as_deref(), plan);
        self.used_since.get_or_insert(now);
        if self.is_due(now) {
            self.used_since = Some(now);
            // It may be lost, so nobody waits for it: not for other processes, not for the disk.
            drop(self.write_last_used(Duration::ZERO, "NORMAL"));
        }
        applied
    }

    fn write_last_used(&mut self, patience: Duration, synchronous: &str) -> Result<(), Error> {
        if self.used.is_empty() {
            return Ok(());
        }
        self.db.pragma_update(None, "synchronous", synchronous)?;
        let usual = std::mem::replace(&mut self.patience, patience);
        let done = self.in_transaction(|_| Ok(()));
        self.patience = usual;
        self.db.pragma_update(None, "synchronous", "FULL")?;
        done
    }
}

impl Store for SqliteStore {
    fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, StoreError> {
        self.run(|inner| {
            inner.refresh()?;
            if inner.snapshot.clock_jumped(now) {
                return inner.view_after_jump(query, now);
            }
            let session = inner.session(query.session)?;
            Ok(inner.snapshot.view(session))
        })
    }

    fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError> {
        self.run(|inner| inner.apply(batch, now))
    }

    fn view_at_once(&self, query: &ViewQuery<'_>, now: Timestamp) -> Option<Result<View, StoreError>> {
        self.at_once(|inner| {
            let session = inner.cached(query.session, now)?;
            Ok(session.map(|session| inner.snapshot.view(session)))
        })
    }

    fn apply_at_once(&self, batch: &Batch, now: Timestamp) -> Option<Result<Applied, StoreError>> {
        if !batch.changes.iter().all(may_wait) {
            return None;
        }
        self.at_once(|inner| {
            let Some(session) = inner.cached(batch.session.as_deref(), now)?.filter(|_| !inner.is_due(now))
            else {
                return Ok(None);
            };
            let plan = inner.snapshot.plan(batch, &session, now);
            Ok((!plan.must_be_written()).then(|| inner.apply_in_memory(batch, plan, now)))
        })
    }

    fn put_profile(&self, profile: &Profile) -> Result<Put, StoreError> {
        self.run(|inner| {
            let put = inner.in_transaction(|inner| {
                let there = inner.snapshot.profiles.iter().any(|there| there.info.id == profile.id);
                write::profile(&inner.db, profile)?;
                Ok(if there { Put::Replaced } else { Put::Added })
            })?;
            inner.seen = None;
            Ok(put)
        })
    }

    fn remove_profile(&self, id: &ProfileId) -> Result<bool, StoreError> {
        self.run(|inner| {
            let removed = inner.in_transaction(|inner| {
                inner.db.prepare_cached("DELETE FROM profile WHERE id = ?1")?.execute([&id.0])
            })?;
            inner.seen = None;
            Ok(removed > 0)
        })
    }

    fn profile(&self, id: &ProfileId) -> Result<Option<Profile>, StoreError> {
        self.run(|inner| read::profile(&inner.db, id))
    }

    fn sessions(&self) -> Result<Vec<(String, Session)>, StoreError> {
        self.run(|inner| {
            let reading = inner.db.transaction_with_behavior(TransactionBehavior::Deferred)?;
            let all = read::sessions(&reading)?;
            Transaction::commit(reading)?;
            Ok(all)
        })
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.run(|inner| inner.write_last_used(inner.patience, "FULL"))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        if let Ok(mut inner) = self.inner.lock() {
            drop(inner.write_last_used(Duration::ZERO, "NORMAL"));
        }
    }
}

fn data_version(db: &Connection) -> Result<i64, Error> {
    db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

/// Whether a change alone need not be durable before it is acknowledged, if it changes no more than
/// `last_used`.
fn may_wait(change: &Change) -> bool {
    matches!(change, Change::Used { .. } | Change::Success(_))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{lang::policy::CredentialKind, state::model::Secret};

    fn profile(n: usize) -> Profile {
        Profile {
            id: ProfileId(format!("openai:{n}")),
            provider: "openai".to_owned(),
            kind: CredentialKind::ApiKey,
            secret: Some(Secret::Env("KEY".to_owned())),
            refresh: None,
            expires: None,
            email: None,
            extra: BTreeMap::from([("filler".to_owned(), "x".repeat(3_000).into())]),
            inserted: 0,
        }
    }

    #[test]
    fn a_full_file_refuses_and_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let store = SqliteStore::open(&path).unwrap();
        store.inner.lock().unwrap().db.pragma_update(None, "max_page_count", 40).unwrap();
        let full = (0..).find_map(|n| store.put_profile(&profile(n)).err().map(|error| (n, error)));
        let (stored, error) = full.unwrap();
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        let seen =
            |store: &SqliteStore| store.view(&ViewQuery::default(), Timestamp::EPOCH).unwrap().profiles.len();
        assert_eq!(seen(&store), stored, "reading goes on");
        assert_eq!(seen(&SqliteStore::open(&path).unwrap()), stored);
        store.inner.lock().unwrap().db.pragma_update(None, "max_page_count", 4_000).unwrap();
        store.put_profile(&profile(stored)).unwrap();
        assert_eq!(seen(&store), stored + 1, "and with room, writing does");
    }
}
