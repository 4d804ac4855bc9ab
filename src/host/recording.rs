//! The recorder that all runs of an engine share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::recorder::Recorder;
use crate::{
    signal::SignalRef,
    state::{
        inbox::Notes,
        store::{Store, StoreError},
    },
    table::Table,
    time::Timestamp,
};

/// Notes of all runs, and the store that they go to.
pub(super) struct Recording {
    recorder: Mutex<Recorder>,
    store: Arc<dyn Store>,
}

impl Recording {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { recorder: Mutex::default(), store }
    }

    fn lock(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an error; what is to be stored by now.
    pub fn see(&self, table: &Table, signal: &SignalRef<'_>, now: Timestamp) -> Option<Notes> {
        self.store.records()?;
        let mut recorder = self.lock();
        recorder.see(table, signal, now);
        recorder.due(now)
    }

    /// Stores notes; keeps them for the next time when that fails, since nothing depends on them.
    pub fn store(&self, store: &dyn Store, notes: Notes) {
        if let Some(records) = store.records()
            && records.note(&notes).is_err()
        {
            self.lock().put_back(notes);
        }
    }

    pub fn flush(&self) -> Result<(), StoreError> {
        self.lock().flush(&*self.store)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // Nobody is left to hear of an error, and nothing depends on the notes.
        drop(self.flush());
    }
}
