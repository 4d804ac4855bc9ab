//! The store, off the async threads where it may block.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::{sync::Semaphore, task::spawn_blocking};

use super::clock::Clock;
use crate::{
    state::{
        change::{Applied, Batch},
        model::{Profile, ProfileId},
        resilient::Resilient,
        store::{Store, StoreError},
        view::{View, ViewQuery},
    },
    time::Timestamp,
};

/// Asks the store at once where it need not wait, else on a blocking thread; one such at a time, since a
/// store writes for one at a time anyway. What cannot be written is kept in memory where that loses nothing.
#[derive(Clone)]
pub(super) struct Keeper {
    store: Arc<dyn Store>,
    resilient: Arc<Resilient>,
    turn: Arc<Semaphore>,
    /// The last view of all profiles that was waited for.
    last: Arc<Mutex<Option<View>>>,
    /// The first one, in case that none had to be waited for.
    first: Arc<OnceLock<View>>,
}

impl Keeper {
    pub fn new(store: Arc<dyn Store>) -> Self {
        let resilient = Arc::new(Resilient::new(store));
        let store = Arc::clone(&resilient) as Arc<dyn Store>;
        let turn = Arc::new(Semaphore::new(1));
        Self { store, resilient, turn, last: Arc::default(), first: Arc::default() }
    }

    pub const fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Why the state is in memory only, while it is.
    pub fn trouble(&self) -> Option<String> {
        self.resilient.trouble().map(|trouble| trouble.why)
    }

    /// The state, and when it was looked at.
    pub async fn view(
        &self,
        session: Option<&str>,
        clock: &Arc<dyn Clock>,
    ) -> Result<(View, Timestamp), StoreError> {
        let now = clock.now();
        if let Some(view) = self.store.view_at_once(&ViewQuery { session }, now) {
            let view = view?;
            self.first.get_or_init(|| of_profiles(&view));
            return Ok((view, now));
        }
        let (session, clock) = (session.map(str::to_owned), Arc::clone(clock));
        let query = move |store: &dyn Store| {
            let now = clock.now();
            store.view(&ViewQuery { session: session.as_deref() }, now).map(|view| (view, now))
        };
        let (view, now) = self.wait(query).await?;
        // The first view of a process comes this way, and every one that shows a change from outside.
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(of_profiles(&view));
        Ok((view, now))
    }

    /// The profiles as they were last read from the store, for when it cannot be read.
    pub fn last_known(&self) -> Option<View> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last.or_else(|| self.first.get().cloned())
    }

    /// Once the store has begun, the batch is applied whole, also when nobody waits any more.
    pub async fn apply(&self, batch: Batch, clock: &Arc<dyn Clock>) -> Result<Applied, StoreError> {
        self.apply_at(batch, clock.now(), clock).await.0
    }

    /// The same where it is `now` already; with the time when the batch was stored.
    pub async fn apply_at(
        &self,
        batch: Batch,
        now: Timestamp,
        clock: &Arc<dyn Clock>,
    ) -> (Result<Applied, StoreError>, Timestamp) {
        if let Some(applied) = self.store.apply_at_once(&batch, now) {
            return (applied, now);
        }
        let of_store = Arc::clone(clock);
        let applied = self.wait(move |store| store.apply(&batch, of_store.now())).await;
        (applied, clock.now())
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

fn of_profiles(view: &View) -> View {
    View { session: Arc::default(), cuts: Vec::new(), ..view.clone() }
}
