//! A store that goes on in memory where that loses nothing, and says so.
//!
//! Facts (failures, successes, uses) that cannot be written are kept in memory, counted in every
//! view, and written as soon as the file can be again. Changes of a session are for other readers,
//! so they are refused as long as they would not reach them.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
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

/// A store with a memory for bad times.
pub struct Resilient {
    store: Box<dyn Store>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    trouble: Option<Trouble>,
    waiting: VecDeque<Batch>,
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
    pub fn new(store: Box<dyn Store>) -> Self {
        Self { store, inner: Mutex::default() }
    }

    /// What is wrong, while something is. For `status`, and for a host to say once.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        let inner = self.inner.lock().ok()?;
        let trouble = inner.trouble.as_ref()?;
        Some(Trouble { waiting: inner.waiting.len(), dropped: inner.dropped, ..trouble.clone() })
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inner>, StoreError> {
        self.inner.lock().map_err(|_| StoreError::Poisoned)
    }

    /// Writes what waits, oldest first.
    fn catch_up(&self, inner: &mut Inner, now: Timestamp) -> Result<(), StoreError> {
        while let Some(batch) = inner.waiting.front() {
            self.store.apply(batch, now)?;
            inner.waiting.pop_front();
        }
        inner.trouble = None;
        Ok(())
    }
}

impl Inner {
    fn remember(&mut self, query: &ViewQuery<'_>, view: &View) {
        if !Arc::ptr_eq(&self.last.profiles, &view.profiles) {
            self.last.set_profiles(Arc::clone(&view.profiles));
        }
        if let Some(id) = query.session {
            self.sessions.insert(id.to_owned(), Arc::clone(&view.session));
        }
    }

    fn session(&self, id: Option<&str>) -> Arc<Session> {
        id.and_then(|id| self.sessions.get(id)).cloned().unwrap_or_default()
    }

    fn say(&mut self, error: &StoreError) {
        self.trouble = Some(Trouble { why: error.to_string(), waiting: 0, dropped: 0 });
    }

    fn keep(&mut self, batch: &Batch, now: Timestamp) -> Applied {
        if self.waiting.len() >= KEPT {
            self.waiting.pop_front();
            self.dropped += 1;
        }
        self.waiting.push_back(batch.clone());
        let id = batch.session.as_deref();
        let plan = self.last.plan(batch, &self.session(id), now);
        self.last.commit(id, plan)
    }
}

impl Store for Resilient {
    fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, StoreError> {
        let mut inner = self.lock()?;
        let caught_up = self.catch_up(&mut inner, now);
        match caught_up.and_then(|()| self.store.view(query, now)) {
            Ok(view) => {
                inner.remember(query, &view);
                Ok(view)
            }
            // Nothing was ever read: there is nothing to go on with.
            Err(error) if inner.last.profiles.is_empty() && inner.waiting.is_empty() => Err(error),
            Err(error) => {
                inner.say(&error);
                let session = match self.store.view(query, now) {
                    Ok(view) => view.session,
                    Err(_) => inner.session(query.session),
                };
                Ok(inner.last.view(session))
            }
        }
    }

    fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError> {
        let mut inner = self.lock()?;
        let query = ViewQuery { session: batch.session.as_deref() };
        let caught_up = self.catch_up(&mut inner, now);
        match caught_up.and_then(|()| self.store.apply(batch, now)) {
            Ok(applied) => {
                inner.remember(&query, &applied.view);
                Ok(applied)
            }
            Err(error) => {
                inner.say(&error);
                if batch.changes.iter().all(is_fact) { Ok(inner.keep(batch, now)) } else { Err(error) }
            }
        }
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
        self.store.flush()
    }
}

/// What stays true however late it is written.
fn is_fact(change: &Change) -> bool {
    matches!(change, Change::Failure(_) | Change::Success(_) | Change::Used { .. })
}
