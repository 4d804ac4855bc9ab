//! The store in one SQLite file per agent, shared by several processes.
//!
//! Rows are cached and the cache is validated by `PRAGMA data_version`, so that a view and a steady
//! success cost no read and no write. Every change reads the fresh rows inside an immediate
//! transaction; `synchronous=FULL` makes it durable before it is acknowledged. `last_used` waits in
//! memory for the next change, at most about a second.

mod beside;
mod error;
mod inbox;
mod inner;
mod log;
mod open;
mod read;
mod rights;
mod write;

use std::{
    hint,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, TryLockError},
    time::Duration,
};

use rusqlite::{Connection, Error, Transaction, TransactionBehavior};

use self::{
    beside::Beside,
    error::{explain, is_busy},
    inner::{Durability, Inner, may_wait},
};
use super::{
    change::{Applied, Batch},
    inbox::Records,
    model::{Profile, ProfileId, Session},
    store::{Put, Store, StoreError},
    view::{ProfileInfo, View, ViewQuery},
};
use crate::time::Timestamp;

/// How long an operation waits for other processes before it gives up as [`StoreError::Locked`].
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How often to look whether another thread is done with the cache: for about as long as it takes.
const LOOKS: u32 = 200;

/// State in a SQLite file (C3, E8).
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    inner: Mutex<Inner>,
    beside: Arc<Beside>,
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

    /// Opens an existing file for reading; every change fails with [`StoreError::ReadOnly`]. One that is
    /// empty, or whose making was cut short, is an empty state until it is opened anew.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        Self::over(path, open::read_only(path, PATIENCE)?, PATIENCE)
    }

    fn over(path: &Path, db: Connection, patience: Duration) -> Result<Self, StoreError> {
        db.set_prepared_statement_cache_capacity(64);
        let beside = Arc::<Beside>::default();
        let inner = Inner::new(db, open::Place::of(path), patience, Arc::clone(&beside));
        let store = Self { path: path.to_owned(), inner: Mutex::new(inner), beside };
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
        let mut inner = self.lock()?;
        let done = what(&mut inner);
        if done.as_ref().is_err_and(is_busy) {
            inner.lose_patience();
        }
        done.map_err(|error| explain(&self.path, &error))
    }
}

/// What needs neither the disk nor a wait for another thread.
impl SqliteStore {
    fn at_once<T>(
        &self,
        what: impl FnOnce(&mut Inner) -> Result<Option<T>, Error>,
        beside: impl Fn(&Beside) -> Option<T>,
    ) -> Option<Result<T, StoreError>> {
        for _ in 0..LOOKS {
            match self.inner.try_lock() {
                Ok(mut inner) => {
                    return what(&mut inner).map_err(|error| explain(&self.path, &error)).transpose();
                }
                Err(TryLockError::Poisoned(_)) => return None,
                // A thread that looks at the cache is done sooner than another thread wakes up; one that
                // writes is not.
                Err(TryLockError::WouldBlock) => match beside(&self.beside) {
                    Some(done) => return Some(Ok(done)),
                    None => hint::spin_loop(),
                },
            }
        }
        None
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

    fn apply_all(&self, batches: &[Batch], now: Timestamp) -> Vec<Result<Applied, StoreError>> {
        if batches.len() > 1
            && let Ok(all) = self.run(|inner| inner.apply_all(batches, now))
        {
            return all.into_iter().map(Ok).collect();
        }
        // What one of them comes to grief on need not be the others' fault.
        batches.iter().map(|batch| self.apply(batch, now)).collect()
    }

    fn apply_late(&self, facts: &[(Batch, Timestamp)]) -> Result<(), StoreError> {
        self.run(|inner| inner.apply_late(facts))
    }

    fn view_at_once(&self, query: &ViewQuery<'_>, now: Timestamp) -> Option<Result<View, StoreError>> {
        self.at_once(
            |inner| {
                let session = inner.cached(query.session, now)?;
                Ok(session.map(|session| inner.snapshot.view(session)))
            },
            |beside| beside.view(query, now),
        )
    }

    fn apply_at_once(&self, batch: &Batch, now: Timestamp) -> Option<Result<Applied, StoreError>> {
        if !may_wait(batch) {
            return None;
        }
        self.at_once(
            |inner| {
                let Some(session) =
                    inner.cached(batch.session.as_deref(), now)?.filter(|_| !inner.is_due(now))
                else {
                    return Ok(None);
                };
                Ok(inner.apply_in_memory(batch, &session, now))
            },
            |beside| beside.apply(batch, now),
        )
    }

    fn put_profile(&self, profile: &Profile) -> Result<Put, StoreError> {
        StoreError::of_secrets(profile)?;
        self.run(|inner| inner.in_transaction(|inner| put(inner, profile)))
    }

    fn put_profiles(&self, profiles: &[Profile]) -> Result<Vec<Put>, StoreError> {
        profiles.iter().try_for_each(StoreError::of_secrets)?;
        let all = |inner: &mut Inner| profiles.iter().map(|profile| put(inner, profile)).collect();
        self.run(|inner| inner.in_transaction(all))
    }

    fn remove_profile(&self, id: &ProfileId) -> Result<bool, StoreError> {
        self.run(|inner| {
            inner.in_transaction(|inner| {
                let mut delete = inner.db.prepare_cached("DELETE FROM profile WHERE id = ?1")?;
                let removed = delete.execute([id.0.as_str()])?;
                inner.snapshot.remove(id);
                Ok(removed > 0)
            })
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

    fn records(&self) -> Option<&dyn Records> {
        Some(self)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.run(|inner| {
            inner.regain_patience();
            inner.write_last_used(inner.patience, Durability::Full)
        })
    }
}

/// Inside a transaction. Should that fail, the snapshot is read anew.
fn put(inner: &mut Inner, profile: &Profile) -> Result<Put, Error> {
    write::profile(&inner.db, profile)?;
    let there = inner.snapshot.inserted(&profile.id);
    let inserted = there.unwrap_or_else(|| inner.db.last_insert_rowid().unsigned_abs());
    Ok(inner.snapshot.put(ProfileInfo { inserted, ..ProfileInfo::from(profile) }))
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        if let Ok(mut inner) = self.inner.lock() {
            drop(inner.write_last_used(Duration::ZERO, Durability::Lazy));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{lang::policy::CredentialKind, state::model::Secret};

    fn profile(n: usize) -> Profile {
        Profile {
            id: ProfileId(format!("openai:{n}").into()),
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

    #[test]
    fn what_is_put_or_removed_is_shown_as_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.sqlite");
        let store = SqliteStore::open(&path).unwrap();
        let now = Timestamp::from_millis(1_800_000_000_000);
        let seen = |store: &SqliteStore| {
            let view = store.view(&ViewQuery::default(), now).unwrap();
            let all = view.profiles.iter().map(|it| (ProfileInfo::clone(&it.info), it.usage.error_count));
            all.collect::<Vec<_>>()
        };
        let same = || assert_eq!(seen(&store), seen(&SqliteStore::open(&path).unwrap()));
        let other = || Profile { provider: "other".to_owned(), kind: CredentialKind::Oauth, ..profile(1) };
        for n in 0..3 {
            assert_eq!(store.put_profile(&profile(n)).unwrap(), Put::Added);
            same();
        }
        assert_eq!(store.put_profile(&other()).unwrap(), Put::Replaced);
        same();
        assert!(store.remove_profile(&profile(2).id).unwrap());
        assert!(!store.remove_profile(&profile(2).id).unwrap());
        same();
        let put = store.put_profiles(&[profile(2), profile(3), other(), profile(3)]).unwrap();
        assert_eq!(put, [Put::Added, Put::Added, Put::Replaced, Put::Replaced]);
        same();
        let places: Vec<u64> = seen(&store).iter().map(|(info, _)| info.inserted).collect();
        assert!(places.is_sorted() && places[2] > 3, "a number is not given twice: {places:?}");
    }
}
