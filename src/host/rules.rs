//! The rules in force, and their reload while runs go on.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use super::{
    clock::{Clock, SystemClock},
    environment::Environment,
    watch::{Remembering, Stamps},
};
use crate::{
    config::Config,
    lang::{
        diagnostic::{Diagnostics, Severity},
        load,
        source::{Sources, Span},
    },
    state::inbox::InForce,
    table::{NoSettings, Table, TableError},
    time::Timestamp,
    verify,
};

/// Why rules were not taken. The ones in force stay in force.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReloadError {
    /// They do not load.
    #[error("{}", first(.0, .1))]
    Load(Diagnostics, Sources),
    /// A setting has a value that it cannot have.
    #[error(transparent)]
    Setting(#[from] TableError),
    /// Examples or tests of the rules come out otherwise than they say.
    #[error("{}", first(.0, .1))]
    Tests(Diagnostics, Sources),
    /// There is no rule in them any more: most likely a file that was emptied to be written anew.
    #[error("there is no rule left; a file may just be being written; the rules that were in force stay")]
    Empty,
}

/// The first problem with its place, and how many more there are.
fn first(found: &Diagnostics, sources: &Sources) -> String {
    let errors = || found.iter().filter(|found| found.severity() == Severity::Error);
    let Some(first) = errors().next().or_else(|| found.iter().next()) else {
        return "the rules do not load".to_owned();
    };
    let more = match errors().count().max(1) {
        1 => String::new(),
        n => format!(" (and {} more; `pointsman check` shows all)", n - 1),
    };
    format!("{}: {}{more}", place(sources, first.span()), first.message)
}

fn place(sources: &Sources, span: Span) -> String {
    let name = sources.get(span.source).map_or("the rules", |source| &source.name);
    format!("{name}:{}", sources.line_column(span).0)
}

/// What a reload did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reloaded {
    /// The files say what they said before; nothing has changed.
    Same,
    /// A new table is in force.
    Taken {
        /// Its version.
        version: String,
    },
}

/// A handle to the rules of a process: the table in force, and the way to another one. Cheap to clone;
/// clones share everything.
///
/// A new table is compiled, warmed, and its examples and tests are run before it takes the old one's
/// place in one step. Whoever holds a table from [`Rules::current`] keeps it whole.
///
/// ```
/// use pointsman::{config::Config, host::Rules};
///
/// let rules = Rules::shipped(Config::default())?;
/// let table = rules.current();
/// assert!(table.bucket_named("rate_limit").is_some());
/// # Ok::<(), pointsman::host::ReloadError>(())
/// ```
#[derive(Clone)]
pub struct Rules(Arc<Inner>);

struct Inner {
    /// None: the shipped rules.
    path: Option<PathBuf>,
    config: Config,
    clock: Arc<dyn Clock>,
    current: RwLock<Arc<Table>>,
    /// Held by one reload at a time.
    state: Mutex<State>,
}

struct State {
    loaded_at: Timestamp,
    reloads: u64,
    failure: Option<(Timestamp, String)>,
    /// The files as they were when they were last read, taken or refused.
    read: Stamps,
    /// A change that was seen at the last look, and is taken when it still is the newest at the next.
    pending: Option<Stamps>,
}

impl Rules {
    /// The shipped rules, with settings from `config` and this process's environment (L2).
    ///
    /// # Errors
    /// [`ReloadError::Setting`] when a setting has a value that it cannot have.
    pub fn shipped(config: Config) -> Result<Self, ReloadError> {
        Self::open(None, config, Arc::new(SystemClock))
    }

    /// The rules of a file, or of a folder with a `main.rules`.
    ///
    /// # Errors
    /// [`ReloadError`] when they cannot be used.
    pub fn from_path(path: impl Into<PathBuf>, config: Config) -> Result<Self, ReloadError> {
        Self::open(Some(path.into()), config, Arc::new(SystemClock))
    }

    /// Rules at a path (none: the shipped ones), told the time by `clock`.
    ///
    /// # Errors
    /// [`ReloadError`] when they cannot be used.
    pub fn open(path: Option<PathBuf>, config: Config, clock: Arc<dyn Clock>) -> Result<Self, ReloadError> {
        let (table, stamps) = read(path.as_deref(), &config);
        let state = State { loaded_at: clock.now(), reloads: 0, failure: None, read: stamps, pending: None };
        let (current, state) = (RwLock::new(Arc::new(table?)), Mutex::new(state));
        Ok(Self(Arc::new(Inner { path, config, clock, current, state })))
    }

    /// The table in force.
    #[must_use]
    pub fn current(&self) -> Arc<Table> {
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files anew, and takes their table if all is well with it. Blocks for as long as
    /// compiling and trying takes; the table in force stays in use meanwhile.
    ///
    /// # Errors
    /// [`ReloadError`] when they cannot be used; then nothing has changed.
    pub fn reload(&self) -> Result<Reloaded, ReloadError> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.take(&mut state)
    }

    /// One look at the files, for a host that watches by itself: call it about twice a second, on a
    /// thread that may block. A change is taken at the look after the one that saw it, unless the files
    /// have changed again meanwhile: so a file that is being written is not read. `None`: nothing to do.
    pub fn look(&self) -> Option<Result<Reloaded, ReloadError>> {
        self.0.path.as_ref()?;
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = state.read.again();
        if now == state.read {
            state.pending = None;
            return None;
        }
        if state.pending.as_ref() != Some(&now) {
            state.pending = Some(now);
            return None;
        }
        Some(self.take(&mut state))
    }

    fn take(&self, state: &mut State) -> Result<Reloaded, ReloadError> {
        let (table, stamps) = read(self.0.path.as_deref(), &self.0.config);
        let judges = |table: &Table| !table.ruleset().rules.is_empty();
        let emptied = table.as_ref().is_ok_and(|new| !judges(new)) && judges(&self.current());
        let table = if emptied { Err(ReloadError::Empty) } else { table };
        (state.read, state.pending) = (stamps, None);
        match table {
            Ok(table) => {
                state.failure = None;
                let mut current = self.0.current.write().unwrap_or_else(PoisonError::into_inner);
                if table.hash() == current.hash() {
                    return Ok(Reloaded::Same);
                }
                let version = version(&table);
                *current = Arc::new(table);
                state.loaded_at = self.0.clock.now();
                state.reloads += 1;
                Ok(Reloaded::Taken { version })
            }
            Err(error) => {
                state.failure = Some((self.0.clock.now(), error.to_string()));
                Err(error)
            }
        }
    }

    /// What is in force: version, source, age, reloads and the last failure, as `status` shows them.
    #[must_use]
    pub fn in_force(&self) -> InForce {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        InForce {
            version: version(&self.current()),
            source: source(self.0.path.as_deref()),
            loaded_at: state.loaded_at,
            reloads: state.reloads,
            failure: state.failure.clone(),
        }
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rules").field(&self.in_force()).finish()
    }
}

/// A table's version as people compare it.
#[must_use]
pub fn version(table: &Table) -> String {
    format!("{:016x}", table.hash())
}

/// How rules at a path are called.
#[must_use]
pub fn source(path: Option<&Path>) -> String {
    path.map_or_else(|| "the shipped rules".to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Reads, compiles, warms and tries the rules. Each stamp is older than its text, so that a change while
/// it is read is seen at the next look.
fn read(path: Option<&Path>, config: &Config) -> (Result<Table, ReloadError>, Stamps) {
    let Some(path) = path else { return (made(load::shipped(), config), Stamps::default()) };
    let (files, root) = Remembering::of_root(path);
    let loaded = load::load(&files, &root);
    (made(loaded, config), files.into_stamps())
}

fn made(loaded: load::Loaded, config: &Config) -> Result<Table, ReloadError> {
    let (rules, _) = loaded.map_err(|error| ReloadError::Load(error.diagnostics, error.sources))?;
    // Examples and tests speak of the rules as written; a host's config may well set other values (L2).
    let failures = verify::run(&Table::compile(rules.clone(), &NoSettings)?).failures;
    let table = Table::compile(rules, &Environment { config })?;
    table.warm();
    if failures.is_empty() {
        Ok(table)
    } else {
        Err(ReloadError::Tests(failures, table.ruleset().sources.clone()))
    }
}
