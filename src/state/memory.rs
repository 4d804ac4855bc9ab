//! The store in memory: for embedding without a file, for tests and for the simulator.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use super::{
    change::{Applied, Batch},
    inbox::{InForce, Inbox, Kept, Notes, Records},
    model::{Profile, ProfileId, Session},
    snapshot::Snapshot,
    store::{Put, Store, StoreError},
    view::{ProfileInfo, View, ViewQuery},
};
use crate::time::Timestamp;

/// State that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    snapshot: Snapshot,
    credentials: BTreeMap<ProfileId, Profile>,
    inserted: u64,
    kept: Kept,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inner>, StoreError> {
        self.0.lock().map_err(|_| StoreError::Poisoned)
    }
}

impl Inner {
    fn session(&self, id: Option<&str>) -> Arc<Session> {
        id.and_then(|id| self.snapshot.sessions.get(id)).cloned().unwrap_or_default()
    }

    fn apply(&mut self, batch: &Batch, now: Timestamp) -> Applied {
        let id = batch.session.as_deref();
        let session = self.session(id);
        if let Some(applied) = self.snapshot.apply_uses(batch, &session, now) {
            return applied;
        }
        let plan = self.snapshot.plan(batch, &session, now);
        for new in &plan.secrets {
            if let Some(profile) = self.credentials.get_mut(&new.profile) {
                profile.take(new);
            }
        }
        self.snapshot.commit(id, plan)
    }
}

impl Store for MemoryStore {
    fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, StoreError> {
        let mut inner = self.lock()?;
        if inner.snapshot.clock_jumped(now) {
            let batch = Batch { session: query.session.map(str::to_owned), changes: Vec::new() };
            return Ok(inner.apply(&batch, now).view);
        }
        Ok(inner.snapshot.view(inner.session(query.session)))
    }

    fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError> {
        Ok(self.lock()?.apply(batch, now))
    }

    fn view_at_once(&self, query: &ViewQuery<'_>, now: Timestamp) -> Option<Result<View, StoreError>> {
        Some(self.view(query, now))
    }

    fn apply_at_once(&self, batch: &Batch, now: Timestamp) -> Option<Result<Applied, StoreError>> {
        Some(self.apply(batch, now))
    }

    fn put_profile(&self, profile: &Profile) -> Result<Put, StoreError> {
        StoreError::of_secrets(profile)?;
        let mut inner = self.lock()?;
        let mut profile = profile.clone();
        profile.inserted = inner.snapshot.inserted(&profile.id).unwrap_or_else(|| {
            inner.inserted += 1;
            inner.inserted
        });
        let put = inner.snapshot.put(ProfileInfo::from(&profile));
        inner.credentials.insert(profile.id.clone(), profile);
        Ok(put)
    }

    fn remove_profile(&self, id: &ProfileId) -> Result<bool, StoreError> {
        let mut inner = self.lock()?;
        inner.snapshot.remove(id);
        Ok(inner.credentials.remove(id).is_some())
    }

    fn profile(&self, id: &ProfileId) -> Result<Option<Profile>, StoreError> {
        Ok(self.lock()?.credentials.get(id).cloned())
    }

    fn sessions(&self) -> Result<Vec<(String, Session)>, StoreError> {
        let inner = self.lock()?;
        let all = inner.snapshot.sessions.iter().map(|(id, session)| (id.clone(), Session::clone(session)));
        let mut all: Vec<_> = all.collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(all)
    }

    fn records(&self) -> Option<&dyn Records> {
        Some(self)
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

impl Records for MemoryStore {
    fn note(&self, notes: &Notes) -> Result<(), StoreError> {
        self.lock()?.kept.note(notes);
        Ok(())
    }

    fn inbox(&self) -> Result<Inbox, StoreError> {
        Ok(self.lock()?.kept.inbox.clone())
    }

    fn drop_entries(&self, ids: &[u64]) -> Result<usize, StoreError> {
        Ok(self.lock()?.kept.drop_entries(ids))
    }

    fn put_in_force(&self, rules: &InForce) -> Result<(), StoreError> {
        self.lock()?.kept.in_force = Some(rules.clone());
        Ok(())
    }

    fn in_force(&self) -> Result<Option<InForce>, StoreError> {
        Ok(self.lock()?.kept.in_force.clone())
    }
}
