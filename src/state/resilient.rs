//! A store that goes on in memory where that loses nothing, and says so.
//!
//! Facts (failures, successes, uses) that cannot be written are kept in memory, counted in every
//! view, and written with the next change once the file can be written again, or by a flush. Changes
//! of a session are for other readers, so they are refused as long as they would not reach them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    change::{Applied, Batch, Change},
    inbox::Records,
    model::{Profile, ProfileId, Session},
    snapshot::Snapshot,
    store::{Put, Store, StoreError},
    view::{View, ViewQuery},
};
use crate::time::Timestamp;

/// Batches kept while the file cannot be written; of more, the oldest are dropped, and that is said.
const KEPT: usize = 10_000;

/// Sessions remembered before the memory of them starts anew.
const SESSIONS: usize = 16_384;

/// A store with a memory for bad times.
pub struct Resilient {
    store: Arc<dyn Store>,
    /// Whether there is trouble: then nothing goes past the memory.
    troubled: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    trouble: Option<Trouble>,
    /// What could not be written, and when it was to be.
    waiting: VecDeque<(Batch, Timestamp)>,
    dropped: usize,
    /// The last view that could be read, with the waiting batches applied.
    last: Snapshot,
    sessions: HashMap<String, Arc<Session>>,
}

/// Why a store goes on in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong, and how to mend it.
    pub why: String,
    /// Batches that wait to be written.
    pub waiting: usize,
    /// Batches that were too many to keep.
    pub dropped: usize,
}

impl Resilient {
    /// Over a store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, troubled: AtomicBool::new(false), inner: Mutex::default() }
    }

    /// What is wrong, while something is. For `status`, and for a host to say once.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        if !self.is_troubled() {
            return None;
        }
        let inner = self.inner.lock().ok()?;
        let trouble = inner.trouble.as_ref()?;
        Some(Trouble { waiting: inner.waiting.len(), dropped: inner.dropped, ..trouble.clone() })
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inner>, StoreError> {
        self.inner.lock().map_err(|_| StoreError::Poisoned)
    }

    fn is_troubled(&self) -> bool {
        self.troubled.load(Ordering::Acquire)
    }

    /// Writes what waits, oldest first, as of the time when it was to be written.
    fn catch_up(&self, inner: &mut Inner) -> Result<(), StoreError> {
        while let Some((batch, at)) = inner.waiting.front() {
            self.store.apply(batch, *at)?;
            inner.waiting.pop_front();
        }
        self.recover(inner);
        Ok(())
    }

    fn recover(&self, inner: &mut Inner) {
        inner.trouble = None;
        self.troubled.store(false, Ordering::Release);
    }

    fn say(&self, inner: &mut Inner, error: &StoreError) {
        inner.trouble = Some(Trouble { why: error.to_string(), waiting: 0, dropped: 0 });
        self.troubled.store(true, Ordering::Release);
    }
}

impl Inner {
    fn remember(&mut self, query: &ViewQuery<'_>, view: &View) {
        if !Arc::ptr_eq(&self.last.profiles, &view.profiles) {
            self.last.set_profiles(Arc::clone(&view.profiles));
        }
        if let Some(id) = query.session {
            if self.sessions.len() >= SESSIONS {
                self.sessions.clear();
            }
            self.sessions.insert(id.to_owned(), Arc::clone(&view.session));
        }
    }

    fn session(&self, id: Option<&str>) -> Arc<Session> {
        id.and_then(|id| self.sessions.get(id)).cloned().unwrap_or_default()
    }

    fn keep(&mut self, batch: &Batch, now: Timestamp) -> Applied {
        if self.waiting.len() >= KEPT {
            self.waiting.pop_front();
            self.dropped += 1;
        }
        self.waiting.push_back((batch.clone(), now));
        let id = batch.session.as_deref();
        let plan = self.last.plan(batch, &self.session(id), now);
        self.last.commit(id, plan)
    }
}

impl Store for Resilient {
    /// Does not try to write what waits: a reader need not wait for that.
    fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, StoreError> {
        let mut inner = self.lock()?;
        match self.store.view(query, now) {
            Ok(view) if inner.waiting.is_empty() => {
                self.recover(&mut inner);
                inner.remember(query, &view);
                Ok(view)
            }
            Ok(view) => Ok(inner.last.view(view.session)),
            // Nothing was ever read: there is nothing to go on with.
            Err(error) if inner.last.profiles.is_empty() && inner.waiting.is_empty() => Err(error),
            Err(error) => {
                self.say(&mut inner, &error);
                let session = inner.session(query.session);
                Ok(inner.last.view(session))
            }
        }
    }

    fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError> {
        let mut inner = self.lock()?;
        let query = ViewQuery { session: batch.session.as_deref() };
        match self.catch_up(&mut inner).and_then(|()| self.store.apply(batch, now)) {
            Ok(applied) => {
                inner.remember(&query, &applied.view);
                Ok(applied)
            }
            Err(error) => {
                self.say(&mut inner, &error);
                let facts: Vec<Change> = batch.changes.iter().filter(|c| is_fact(c)).cloned().collect();
                let all = facts.len() == batch.changes.len();
                if !all && facts.is_empty() {
                    return Err(error);
                }
                let kept = inner.keep(&Batch { session: batch.session.clone(), changes: facts }, now);
                if all { Ok(kept) } else { Err(error) }
            }
        }
    }

    fn view_at_once(&self, query: &ViewQuery<'_>, now: Timestamp) -> Option<Result<View, StoreError>> {
        // An error is for `view` to deal with.
        if self.is_troubled() { None } else { self.store.view_at_once(query, now).filter(Result::is_ok) }
    }

    fn apply_at_once(&self, batch: &Batch, now: Timestamp) -> Option<Result<Applied, StoreError>> {
        if self.is_troubled() { None } else { self.store.apply_at_once(batch, now).filter(Result::is_ok) }
    }

    fn put_profile(&self, profile: &Profile) -> Result<Put, StoreError> {
        self.store.put_profile(profile)
    }

    fn remove_profile(&self, id: &ProfileId) -> Result<bool, StoreError> {
        self.store.remove_profile(id)
    }

    fn profile(&self, id: &ProfileId) -> Result<Option<Profile>, StoreError> {
        self.store.profile(id)
    }

    fn sessions(&self) -> Result<Vec<(String, Session)>, StoreError> {
        self.store.sessions()
    }

    fn records(&self) -> Option<&dyn Records> {
        self.store.records()
    }

    fn flush(&self) -> Result<(), StoreError> {
        if self.is_troubled() {
            self.catch_up(&mut *self.lock()?)?;
        }
        self.store.flush()
    }
}

/// What stays true however late it is written.
fn is_fact(change: &Change) -> bool {
    matches!(change, Change::Failure(_) | Change::Success(_) | Change::Used { .. })
}
