//! A store that goes on in memory where that loses nothing, and says so.
//!
//! Facts (failures, successes, uses) that cannot be written are kept in memory, counted in every
//! view, and written with the next change once the file can be written again, by a flush, or at the
//! end. Changes of a session are for other readers, so they are refused as long as they would not
//! reach them.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    change::{Applied, Batch, Change},
    inbox::Records,
    model::{Profile, ProfileId, Session},
    profiles::Profiles,
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
    /// Uses that could not be written: of each profile only the last one counts.
    used: BTreeMap<ProfileId, Timestamp>,
    dropped: usize,
    /// The profiles that were last read.
    read: Option<Profiles>,
    /// The same, with what waits applied: once that is asked for.
    last: Snapshot,
    /// It is older than what was read.
    stale: bool,
    sessions: HashMap<String, Arc<Session>>,
}

/// Why a store goes on in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong, and how to mend it.
    pub why: String,
    /// Whether a change could not be written, not only a view not be read.
    pub writing: bool,
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

    /// Writes what waits, all or nothing. With nothing that waits, sees whether writing is possible.
    fn catch_up(&self, inner: &mut Inner) -> Result<(), StoreError> {
        if !self.is_troubled() {
            return Ok(());
        }
        let Inner { waiting, used, .. } = inner;
        let since = waiting.back().map_or(Timestamp::EPOCH, |(_, at)| *at);
        let uses = used.iter().map(|(profile, at)| Change::Used { profile: profile.clone(), at: *at });
        waiting.push_back((Batch { session: None, changes: uses.collect() }, since));
        let done = self.store.apply_late(waiting.make_contiguous());
        waiting.pop_back();
        done?;
        waiting.clear();
        used.clear();
        self.recover(inner);
        Ok(())
    }

    fn recover(&self, inner: &mut Inner) {
        inner.trouble = None;
        self.troubled.store(false, Ordering::Release);
    }

    /// Remembers what was applied; keeps the facts of what could not be.
    fn settle(
        &self,
        inner: &mut Inner,
        batch: &Batch,
        applied: Result<Applied, StoreError>,
        now: Timestamp,
    ) -> Result<Applied, StoreError> {
        let query = ViewQuery { session: batch.session.as_deref() };
        match applied {
            Ok(applied) => {
                inner.remember(&query, &applied.view);
                Ok(applied)
            }
            Err(error) => {
                self.say(inner, &error, true);
                // What cannot be written can often be read: the facts are kept on top of that.
                if let Ok(view) = self.store.view(&query, now) {
                    inner.remember(&query, &view);
                }
                let facts: Vec<Change> = batch.changes.iter().filter(|c| is_fact(c)).cloned().collect();
                let all = facts.len() == batch.changes.len();
                if inner.read.is_none() || (!all && facts.is_empty()) {
                    return Err(error);
                }
                let kept = inner.keep(&Batch { session: batch.session.clone(), changes: facts }, now);
                if all { Ok(kept) } else { Err(error) }
            }
        }
    }

    fn say(&self, inner: &mut Inner, error: &StoreError, writing: bool) {
        // A file that can be read again may still not be written.
        let writing = writing || inner.trouble.as_ref().is_some_and(|trouble| trouble.writing);
        inner.trouble = Some(Trouble { why: error.to_string(), writing, waiting: 0, dropped: 0 });
        self.troubled.store(true, Ordering::Release);
    }
}

impl Inner {
    /// Takes over what was read, and applies what waits to it.
    fn remember(&mut self, query: &ViewQuery<'_>, view: &View) {
        if !self.read.as_ref().is_some_and(|read| read.is(&view.profiles)) {
            self.read = Some(view.profiles.clone());
            self.stale = true;
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

    fn last(&mut self) -> &mut Snapshot {
        if std::mem::take(&mut self.stale) {
            self.last.set_profiles(self.read.clone().unwrap_or_default());
            for (batch, at) in &self.waiting {
                let plan = self.last.plan_late(batch, *at);
                self.last.commit(None, plan);
            }
        }
        &mut self.last
    }

    /// What is remembered, with what waits; the clock guard looks at that, too (E11).
    fn view(&mut self, session: Arc<Session>, now: Timestamp) -> View {
        let last = self.last();
        if !last.clock_jumped(now) {
            return last.view(session);
        }
        let plan = last.plan(&Batch::default(), &session, now);
        last.commit(None, plan).view
    }

    fn keep(&mut self, batch: &Batch, now: Timestamp) -> Applied {
        let id = batch.session.as_deref();
        let session = self.session(id);
        let plan = self.last().plan(batch, &session, now);
        if plan.must_be_written() {
            if self.waiting.len() >= KEPT {
                self.waiting.pop_front();
                self.dropped += 1;
            }
            self.waiting.push_back((batch.clone(), now));
        }
        let used = plan.used.iter().filter_map(|place| plan.profiles.get(*place));
        for (profile, at) in used.filter_map(|there| Some((&there.info.id, there.usage.last_used?))) {
            self.used.insert(profile.clone(), at);
        }
        self.last.commit(id, plan)
    }
}

impl Store for Resilient {
    /// Does not try to write what waits: a reader need not wait for that.
    fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, StoreError> {
        let mut inner = self.lock()?;
        match self.store.view(query, now) {
            Ok(view) => {
                inner.remember(query, &view);
                if !inner.waiting.is_empty() {
                    let mut shown = inner.view(Arc::clone(&view.session), now);
                    shown.cuts.extend(view.cuts);
                    return Ok(shown);
                }
                if !inner.trouble.as_ref().is_some_and(|trouble| trouble.writing) {
                    self.recover(&mut inner);
                }
                Ok(view)
            }
            // Nothing was ever read: there is nothing to go on with.
            Err(error) if inner.read.is_none() => Err(error),
            Err(error) => {
                self.say(&mut inner, &error, false);
                let session = inner.session(query.session);
                Ok(inner.view(session, now))
            }
        }
    }

    fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError> {
        let mut inner = self.lock()?;
        let applied = self.catch_up(&mut inner).and_then(|()| self.store.apply(batch, now));
        self.settle(&mut inner, batch, applied, now)
    }

    fn apply_all(&self, batches: &[Batch], now: Timestamp) -> Vec<Result<Applied, StoreError>> {
        if !self.is_troubled()
            && let Ok(mut inner) = self.lock()
        {
            let applied = batches.iter().zip(self.store.apply_all(batches, now));
            return applied.map(|(batch, applied)| self.settle(&mut inner, batch, applied, now)).collect();
        }
        batches.iter().map(|batch| self.apply(batch, now)).collect()
    }

    fn view_at_once(&self, query: &ViewQuery<'_>, now: Timestamp) -> Option<Result<View, StoreError>> {
        // An error is for `view` to deal with.
        if self.is_troubled() { None } else { self.store.view_at_once(query, now).filter(Result::is_ok) }
    }

    fn apply_at_once(&self, batch: &Batch, now: Timestamp) -> Option<Result<Applied, StoreError>> {
        if self.is_troubled() { None } else { self.store.apply_at_once(batch, now).filter(Result::is_ok) }
    }

    fn put_profile(&self, profile: &Profile) -> Result<Put, StoreError> {
        self.catch_up(&mut *self.lock()?)?;
        self.store.put_profile(profile)
    }

    fn put_profiles(&self, profiles: &[Profile]) -> Result<Vec<Put>, StoreError> {
        self.catch_up(&mut *self.lock()?)?;
        self.store.put_profiles(profiles)
    }

    /// What waits comes first: a profile that is stored anew under the same id begins without it.
    fn remove_profile(&self, id: &ProfileId) -> Result<bool, StoreError> {
        self.catch_up(&mut *self.lock()?)?;
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
        self.store.flush()?;
        self.catch_up(&mut *self.lock()?)
    }
}

impl Drop for Resilient {
    fn drop(&mut self) {
        let inner = std::mem::take(&mut self.inner);
        if let Ok(mut inner) = inner.into_inner() {
            // The last chance; nobody is left to hear that it was none.
            drop(self.catch_up(&mut inner));
        }
    }
}

/// What stays true however late it is written.
fn is_fact(change: &Change) -> bool {
    matches!(change, Change::Failure(_) | Change::Success(_) | Change::Used { .. })
}
