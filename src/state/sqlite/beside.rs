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
    used: LastUsed,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Meanwhile {
    pub used: LastUsed,
    /// The last one that somebody may have seen.
    pub revision: u64,
}

/// `last_used` that is not written yet.
pub(super) type LastUsed = BTreeMap<ProfileId, Timestamp>;

/// Notes the uses of a batch.
pub(super) fn note_uses(of: &Batch, used: &mut LastUsed) {
    for (profile, at) in of.changes.iter().filter_map(Change::used) {
        let last = used.entry(profile.clone()).or_insert(at);
        *last = at.max(*last);
    }
}

impl Beside {
    /// A commit begins.
    pub fn open(&self, snapshot: Snapshot) {
        *self.before() = Some(Before { snapshot, used: LastUsed::new() });
    }

    /// The commit has ended, one way or the other; what was used meanwhile.
    pub fn close(&self) -> Meanwhile {
        let before = self.before().take();
        before.map(|it| Meanwhile { used: it.used, revision: it.snapshot.revision }).unwrap_or_default()
    }

    /// See [`crate::state::store::Store::view_at_once`].
    pub fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Option<View> {
        let before = self.before();
        let Before { snapshot, .. } = before.as_ref()?;
        let session = session(snapshot, query.session)?;
        (!snapshot.clock_jumped(now)).then(|| snapshot.view(session))
    }

    /// See [`crate::state::store::Store::apply_at_once`]. A success that changes no more than `last_used`
    /// comes before what is being written, which then changes it no more.
    pub fn apply(&self, batch: &Batch, now: Timestamp) -> Option<Applied> {
        let mut before = self.before();
        let Before { snapshot, used } = before.as_mut()?;
        let session = session(snapshot, batch.session.as_deref())?;
        let applied = snapshot.apply_uses(batch, &session, now)?;
        note_uses(batch, used);
        Some(applied)
    }

    fn before(&self) -> MutexGuard<'_, Option<Before>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn session(snapshot: &Snapshot, id: Option<&str>) -> Option<Arc<Session>> {
    id.map_or_else(|| Some(Arc::default()), |id| snapshot.sessions.get(id).cloned())
}
