//! The engine: rules, config, state and clock, shared by all runs of a process.

use std::sync::{
    Arc, Mutex, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

use super::{
    attempt::Attempt,
    clock::{Clock, SystemClock},
    credentials::Credentials,
    environment::{Environment, Process},
    error::AttemptError,
    keeper::Keeper,
    listener::Listener,
    outcome::{Outcome, RunError},
    turn::Turn,
};
use crate::{
    config::Config,
    lang::load,
    run::{Memory, Request, Routing, Run, Step},
    state::{secret::SecretSource, store::Store, view::View},
    table::{Table, TableError},
    time::Timestamp,
};

/// Runs turns. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Engine {
    rules: Arc<RwLock<Rules>>,
    pub(super) keeper: Keeper,
    pub(super) credentials: Arc<Credentials>,
    memory: Arc<Mutex<Memory>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) listener: Option<Arc<dyn Listener>>,
    seed: Arc<AtomicU64>,
}

/// What a run keeps until it ends, whatever is loaded meanwhile.
#[derive(Clone)]
struct Rules {
    table: Arc<Table>,
    routing: Arc<Routing>,
}

/// Why an engine cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The rules do not load; `pointsman check` shows where.
    #[error("the rules do not load: {0}")]
    Rules(String),
    /// A setting has a value that it cannot have.
    #[error(transparent)]
    Table(#[from] TableError),
}

impl Engine {
    /// An engine over a compiled table. Secrets come from this process's environment, time from the
    /// system's clock.
    #[must_use]
    pub fn new(table: Arc<Table>, routing: Arc<Routing>, store: Arc<dyn Store>) -> Self {
        Self {
            rules: Arc::new(RwLock::new(Rules { table, routing })),
            credentials: Arc::new(Credentials::new(Arc::new(Process))),
            keeper: Keeper::new(store),
            memory: Arc::default(),
            clock: Arc::new(SystemClock),
            listener: None,
            seed: Arc::default(),
        }
    }

    /// An engine with the shipped rules, and with settings from the config and this process's
    /// environment (L2).
    ///
    /// # Errors
    /// [`EngineError::Table`] when a setting has a value that it cannot have.
    pub fn shipped(config: &Config, store: Arc<dyn Store>) -> Result<Self, EngineError> {
        let (rules, _) = load::shipped().map_err(|error| {
            let first = error.diagnostics.iter().next().map(|diagnostic| diagnostic.message.clone());
            EngineError::Rules(first.unwrap_or_default())
        })?;
        let table = Table::compile(rules, &Environment { config })?;
        Ok(Self::new(Arc::new(table), Arc::new(Routing::from(config)), store))
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The same with somebody who hears of every event and notice of every run.
    #[must_use]
    pub fn with_listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The same with another place for referred secrets.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Arc<dyn SecretSource + Send + Sync>) -> Self {
        self.credentials = Arc::new(Credentials::new(secrets));
        self
    }

    /// Takes other rules and lists for the runs that begin from now on; runs under way keep theirs.
    pub fn replace(&self, table: Arc<Table>, routing: Arc<Routing>) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Rules { table, routing };
    }

    /// The rules in force.
    #[must_use]
    pub fn table(&self) -> Arc<Table> {
        self.rules().table
    }

    /// The state.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        self.keeper.store()
    }

    /// Runs one turn: calls `attempt` for each call that the rules ask for, until one answers or the
    /// rules end the run (A). The shape of a host:
    ///
    /// ```
    /// # use pointsman::host::{Attempt, AttemptError, Engine, RunError};
    /// # use pointsman::run::Request;
    /// # async fn call(_: &Attempt) -> Result<String, AttemptError> { Ok(String::new()) }
    /// # async fn turn(engine: &Engine) -> Result<(), RunError> {
    /// let request = Request { session: Some("chat-1".into()), ..Request::default() };
    /// let outcome = engine.run(request, |attempt| async move { call(&attempt).await }).await?;
    /// for notice in &outcome.notices {
    ///     eprintln!("{}", notice.text);
    /// }
    /// println!("{}", outcome.answer);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The future may be dropped at any time: a call under way is dropped with it, and the state stays
    /// as after the last change that was stored.
    ///
    /// # Errors
    /// [`RunError`] when nothing answered.
    pub async fn run<T, F, Fut>(&self, request: Request, attempt: F) -> Result<Outcome<T>, RunError>
    where
        F: FnMut(Attempt) -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        self.turn(request).run(attempt).await
    }

    /// One turn with an interrupt handle or a way to mend payloads.
    #[must_use]
    pub fn turn(&self, request: Request) -> Turn<'_> {
        Turn::new(self, request)
    }

    pub(super) fn begin(&self, request: Request) -> Run {
        let Rules { table, routing } = self.rules();
        Run::new(request, table, routing, self.seed.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn next(&self, run: &mut Run, now: Timestamp, view: &View) -> Result<Step, RunError> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(run.next(now, view, &mut memory)?)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn rules(&self) -> Rules {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets what this engine remembers of a session beside the state (K5).
    pub(super) fn forget(&self, session: &str) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).forget_session(session);
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("rules", &self.table().hash()).finish_non_exhaustive()
    }
}
