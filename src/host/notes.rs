//! What the host says while a call goes on. A new secret among it outlives the call (C8).

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::runtime;

use super::{clock::Clock, engine::Engine, listener::Listener, trace};
use crate::{
    run::{Event, Refreshed},
    state::{
        change::{Batch, Change, NewSecret},
        model::ProfileId,
        store::Store,
    },
};

/// [`Notes`] of one call, shared by the host and the driver.
#[derive(Clone)]
pub(super) struct Noted(Arc<Shared>);

/// What the host has said.
#[derive(Clone, Default)]
pub(super) struct Notes {
    pub new_secret: Option<Refreshed>,
    pub delivered: bool,
}

struct Shared {
    notes: Mutex<Notes>,
    /// Whose a new secret is.
    profile: Option<ProfileId>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    listener: Option<Arc<dyn Listener>>,
}

impl Noted {
    /// Nothing yet.
    pub fn new(profile: Option<&ProfileId>, engine: &Engine) -> Self {
        Self(Arc::new(Shared {
            notes: Mutex::default(),
            profile: profile.cloned(),
            store: Arc::clone(engine.keeper.store()),
            clock: Arc::clone(&engine.clock),
            listener: engine.listener.clone(),
        }))
    }

    pub fn look(&self) -> Notes {
        self.lock().clone()
    }

    /// The new secret has come to the store with the changes of the turn.
    pub fn stored(&self) {
        self.lock().new_secret = None;
    }

    pub fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Noted").finish_non_exhaustive()
    }
}

impl Drop for Shared {
    /// The turn was dropped, the call panicked, or a task of the host's went on without it: the provider
    /// takes the old token no more, so the new one is stored all the same.
    fn drop(&mut self) {
        let notes = self.notes.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (Some(profile), Some(new)) = (self.profile.take(), notes.new_secret.take()) else { return };
        let Refreshed { secret, refresh, expires } = new;
        let change = Change::NewSecret(NewSecret { profile, secret, refresh, expires });
        let batch = Batch { session: None, changes: vec![change] };
        if self.store.apply_at_once(&batch, self.clock.now()).is_some() {
            return;
        }
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        let late = Late { batch, store, clock, listener: self.listener.take() };
        match runtime::Handle::try_current() {
            // A runtime that shuts down drops what it does not run.
            Ok(runtime) => drop(runtime.spawn_blocking(move || drop(late))),
            Err(_) => drop(late),
        }
    }
}

/// A change for which nobody waits, applied when it is dropped.
struct Late {
    batch: Batch,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    listener: Option<Arc<dyn Listener>>,
}

impl Drop for Late {
    fn drop(&mut self) {
        let Err(error) = self.store.apply(&self.batch, self.clock.now()) else { return };
        let event = Event::StoreUnavailable { why: error.to_string(), secret_lost: true };
        trace::event(None, &event);
        if let Some(listener) = &self.listener {
            listener.event(None, &event);
        }
    }
}
