//! The store, off the async threads where it may block.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::{sync::Semaphore, task::spawn_blocking};

use super::clock::Clock;
use crate::state::{
    change::{Applied, Batch},
    model::{Profile, ProfileId},
    resilient::Resilient,
    store::{Store, StoreError},
    view::{View, ViewQuery},
};

/// Asks the store at once where it need not wait, else on a blocking thread; one such at a time,
/// since a store writes one batch at a time anyway. What cannot be written is kept in memory where
/// that loses nothing.
#[derive(Clone)]
pub(super) struct Keeper {
    store: Arc<dyn Store>,
    resilient: Arc<Resilient>,
    turn: Arc<Semaphore>,
    /// The last view of all profiles that was read.
    last: Arc<Mutex<Option<View>>>,
}

impl Keeper {
    pub fn new(store: Arc<dyn Store>) -> Self {
        let resilient = Arc::new(Resilient::new(store));
        let store = Arc::clone(&resilient) as Arc<dyn Store>;
        Self { store, resilient, turn: Arc::new(Semaphore::new(1)), last: Arc::default() }
    }

    pub const fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Why the state is in memory only, while it is.
    pub fn trouble(&self) -> Option<String> {
        self.resilient.trouble().map(|trouble| trouble.why)
    }

    pub async fn view(&self, session: Option<&str>, clock: &Arc<dyn Clock>) -> Result<View, StoreError> {
        if let Some(view) = self.store.view_at_once(&ViewQuery { session }, clock.now()) {
            return view;
        }
        let (session, clock) = (session.map(str::to_owned), Arc::clone(clock));
        let query =
            move |store: &dyn Store| store.view(&ViewQuery { session: session.as_deref() }, clock.now());
        let view = self.wait(query).await?;
        // The first view of a process comes this way, and every one that shows a change from outside.
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(View { session: Arc::default(), cuts: Vec::new(), ..view.clone() });
        Ok(view)
    }

    /// The profiles as they were last read from the store, for when it cannot be read.
    pub fn last_known(&self) -> Option<View> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Once the store has begun, the batch is applied whole, also when nobody waits any more.
    pub async fn apply(&self, batch: Batch, clock: &Arc<dyn Clock>) -> Result<Applied, StoreError> {
        if let Some(applied) = self.store.apply_at_once(&batch, clock.now()) {
            return applied;
        }
        let clock = Arc::clone(clock);
        self.wait(move |store| store.apply(&batch, clock.now())).await
    }

    pub async fn profile(&self, id: &ProfileId) -> Result<Option<Profile>, StoreError> {
        let id = id.clone();
        self.wait(move |store| store.profile(&id)).await
    }

    /// Work that nothing depends on; `None` when it broke off.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> T + Send + 'static,
    ) -> Option<T> {
        self.wait(move |store| Ok(work(store))).await.ok()
    }

    async fn wait<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.turn).acquire_owned().await;
        let store = Arc::clone(&self.store);
        let done = spawn_blocking(move || {
            let _permit = permit;
            work(&*store)
        });
        done.await.unwrap_or(Err(StoreError::Poisoned))
    }
}
