//! The store, off the async threads where it may block.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::{
    select,
    sync::{AcquireError, OwnedSemaphorePermit, Semaphore, oneshot},
    task::spawn_blocking,
};

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
    /// Batches that nobody has begun to store.
    waiting: Arc<Mutex<Vec<Waiting>>>,
    /// The last view of all profiles that was waited for.
    last: Arc<Mutex<Option<View>>>,
    /// The first one, in case that none had to be waited for.
    first: Arc<OnceLock<View>>,
}

struct Waiting {
    batch: Batch,
    reply: oneshot::Sender<Result<Applied, StoreError>>,
}

impl Keeper {
    pub fn new(store: Arc<dyn Store>) -> Self {
        let resilient = Arc::new(Resilient::new(store));
        let store = Arc::clone(&resilient) as Arc<dyn Store>;
        let turn = Arc::new(Semaphore::new(1));
        Self { store, resilient, turn, waiting: Arc::default(), last: Arc::default(), first: Arc::default() }
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
        if let Some(seen) = self.view_at_once(session, clock) {
            return seen;
        }
        let permit = Arc::clone(&self.turn).acquire_owned().await;
        // Those who wait for one that writes find it at hand when that is done.
        if let Some(seen) = self.view_at_once(session, clock) {
            return seen;
        }
        let (session, clock) = (session.map(str::to_owned), Arc::clone(clock));
        let query = move |store: &dyn Store| {
            let now = clock.now();
            store.view(&ViewQuery { session: session.as_deref() }, now).map(|view| (view, now))
        };
        let (view, now) = self.block(permit, query).await?;
        // The first view of a process comes this way, and every one that shows a change from outside.
        *lock(&self.last) = Some(of_profiles(&view));
        Ok((view, now))
    }

    fn view_at_once(
        &self,
        session: Option<&str>,
        clock: &Arc<dyn Clock>,
    ) -> Option<Result<(View, Timestamp), StoreError>> {
        let now = clock.now();
        let view = self.store.view_at_once(&ViewQuery { session }, now)?;
        if let Ok(view) = &view {
            self.first.get_or_init(|| of_profiles(view));
        }
        Some(view.map(|view| (view, now)))
    }

    /// The profiles as they were last read from the store, for when it cannot be read.
    pub fn last_known(&self) -> Option<View> {
        let last = lock(&self.last).clone();
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
        (self.applied(batch, clock).await, clock.now())
    }

    /// Batches that come while the store writes are stored together, by the first of them whose turn it is.
    async fn applied(&self, batch: Batch, clock: &Arc<dyn Clock>) -> Result<Applied, StoreError> {
        let (reply, mut answer) = oneshot::channel();
        lock(&self.waiting).push(Waiting { batch, reply });
        let turn = Arc::clone(&self.turn).acquire_owned();
        let permit = select! {
            biased;
            applied = &mut answer => return applied.unwrap_or(Err(StoreError::Poisoned)),
            permit = turn => permit,
        };
        let (store, clock, waiting) = (Arc::clone(&self.store), Arc::clone(clock), Arc::clone(&self.waiting));
        spawn_blocking(move || {
            let _permit = permit;
            // Who waits no more has written nothing.
            let there = |one: &Waiting| !one.reply.is_closed();
            let all: Vec<Waiting> = std::mem::take(&mut *lock(&waiting)).into_iter().filter(there).collect();
            let (batches, replies): (Vec<_>, Vec<_>) = all.into_iter().map(|it| (it.batch, it.reply)).unzip();
            for (reply, applied) in replies.into_iter().zip(store.apply_all(&batches, clock.now())) {
                // It may have gone meanwhile.
                drop(reply.send(applied));
            }
        });
        answer.await.unwrap_or(Err(StoreError::Poisoned))
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
        self.block(permit, work).await
    }

    /// On a blocking thread, by whose turn it is.
    async fn block<T: Send + 'static>(
        &self,
        permit: Result<OwnedSemaphorePermit, AcquireError>,
        work: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = Arc::clone(&self.store);
        let done = spawn_blocking(move || {
            let _permit = permit;
            work(&*store)
        });
        done.await.unwrap_or(Err(StoreError::Poisoned))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn of_profiles(view: &View) -> View {
    View { session: Arc::default(), cuts: Vec::new(), ..view.clone() }
}
