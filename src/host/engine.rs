//! The engine: rules, config, state and clock, shared by all runs of a process.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    attempt::Attempt,
    clock::{Clock, SystemClock},
    credentials::Credentials,
    environment::Environment,
    error::AttemptError,
    keeper::Keeper,
    listener::Listener,
    outcome::{Outcome, RunError},
    recording::Recording,
    rules::{Rules, version},
    trace,
    turn::Turn,
};
use crate::{
    config::Config,
    lang::load,
    run::{Memory, Request, Routing, Run, Step},
    signal::SignalRef,
    state::{
        import::{FileReport, import_oauth},
        secret::SecretSource,
        store::{Store, StoreError},
        view::{View, ViewQuery},
    },
    table::{Table, TableError},
    time::Timestamp,
};

/// Runs turns (A). Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Engine {
    given: Arc<RwLock<Given>>,
    recorder: Arc<Recording>,
    pub(super) keeper: Keeper,
    pub(super) credentials: Arc<Credentials>,
    memory: Arc<Mutex<Memory>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) listener: Option<Arc<dyn Listener>>,
    seed: Arc<AtomicU64>,
}

/// What a run takes at its beginning, and keeps until it ends, whatever is loaded meanwhile.
#[derive(Clone)]
struct Given {
    rules: Source,
    routing: Arc<Routing>,
}

/// Where the table comes from.
#[derive(Clone)]
enum Source {
    Fixed(Arc<Table>),
    Handle(Rules),
}

impl Source {
    fn table(&self) -> Arc<Table> {
        match self {
            Self::Fixed(table) => Arc::clone(table),
            Self::Handle(rules) => rules.current(),
        }
    }
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
        Self::over(Source::Fixed(table), routing, store)
    }

    /// An engine over rules that may be reloaded: each run takes the table in force at its beginning.
    /// [`Engine::watch`] looks for changes.
    #[must_use]
    pub fn with_rules(rules: Rules, routing: Arc<Routing>, store: Arc<dyn Store>) -> Self {
        Self::over(Source::Handle(rules), routing, store)
    }

    fn over(rules: Source, routing: Arc<Routing>, store: Arc<dyn Store>) -> Self {
        Self {
            given: Arc::new(RwLock::new(Given { rules, routing })),
            recorder: Arc::new(Recording::new(Arc::clone(&store))),
            credentials: Arc::new(Credentials::of_process()),
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
        let (rules, _) = load::shipped_to_judge().map_err(|error| {
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

    /// The same with somebody who hears of every event and notice of every run (J2, J4).
    #[must_use]
    pub fn with_listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The same with another place for referred secrets (C8).
    #[must_use]
    pub fn with_secrets(mut self, secrets: Arc<dyn SecretSource + Send + Sync>) -> Self {
        self.credentials = Arc::new(Credentials::new(secrets));
        self
    }

    /// The same, with the logins of the `credentials/oauth.json` below a legacy root. They are taken
    /// over on first use, that is while no profile is stored; the file stays where it is (C4). What
    /// was taken and what was not understood comes with it.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be read or written.
    pub fn with_legacy_logins(self, root: &Path) -> Result<(Self, Option<FileReport>), StoreError> {
        let (store, now) = (self.store(), self.clock.now());
        if !store.view(&ViewQuery::default(), now)?.profiles.is_empty() {
            return Ok((self, None));
        }
        let table = self.table();
        let report = import_oauth(root, &**store, &|a, b| table.same_provider(a, b), now)?;
        Ok((self, report))
    }

    /// Takes other rules and lists for the runs that begin from now on; runs under way keep theirs.
    pub fn replace(&self, table: Arc<Table>, routing: Arc<Routing>) {
        let rules = Source::Fixed(table);
        *self.given.write().unwrap_or_else(PoisonError::into_inner) = Given { rules, routing };
    }

    /// The rules in force.
    #[must_use]
    pub fn table(&self) -> Arc<Table> {
        self.given().rules.table()
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
    /// as after the last change that was stored; only a login that the call has refreshed is stored yet.
    ///
    /// # Errors
    /// [`RunError`] when nothing answered.
    ///
    /// # Panics
    /// Outside of a tokio runtime, and in one without a timer (`enable_time`).
    pub async fn run<T, F, Fut>(&self, request: Request, attempt: F) -> Result<Outcome<T>, RunError>
    where
        F: FnMut(Attempt) -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        self.turn(request).run(attempt).await
    }

    /// One turn with an interrupt handle or a way to mend payloads (H4, D9).
    #[must_use]
    pub fn turn(&self, request: Request) -> Turn<'_> {
        Turn::new(self, request)
    }

    /// A run, and the table that it keeps. Boxed: it is large, and would be moved from hand to hand.
    pub(super) fn begin(&self, request: Request) -> (Box<Run>, Arc<Table>) {
        let Given { rules, routing } = self.given();
        let table = rules.table();
        let seed = self.seed.fetch_add(1, Ordering::Relaxed);
        let mut run = Box::new(Run::new(request, Arc::clone(&table), routing, seed));
        run.hear(self.listener.is_some() || trace::heard());
        (run, table)
    }

    pub(super) fn next(&self, run: &mut Run, now: Timestamp, view: &View) -> Result<Step, RunError> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(run.next(now, view, &mut memory)?)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn given(&self) -> Given {
        self.given.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes what the rules made of a failure; stores it with others, a second's worth together.
    pub(super) async fn record(&self, table: &Table, signal: &SignalRef<'_>) {
        let Some(notes) = self.recorder.see(table, signal, self.now()) else { return };
        let recorder = Arc::clone(&self.recorder);
        self.keeper.work(move |store| recorder.store(store, notes)).await;
    }

    /// The handle that the table comes from, if it does.
    pub(super) fn handle(&self) -> Option<Rules> {
        match self.given().rules {
            Source::Handle(rules) => Some(rules),
            Source::Fixed(_) => None,
        }
    }

    /// Stores what still waits in memory: notes of errors, and `last_used` (E8). What waits is stored too
    /// when the last clone of the engine is dropped. May block.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written.
    pub fn flush(&self) -> Result<(), StoreError> {
        let noted = self.recorder.flush();
        self.store().flush().and(noted)
    }

    /// Forgets what this engine remembers of a session beside the state (K5).
    pub(super) fn forget(&self, session: &str) {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).forget_session(session);
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("rules", &version(&self.table())).finish_non_exhaustive()
    }
}
