//! The state file of an agent: where it is, and how it is opened.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use clap::builder::TypedValueParser as _;

use super::{escape::Shown, failure::Failure, format::ViewFormat, world::World};
use crate::{
    host::simulate::latest,
    state::{
        model::{ProfileId, Session},
        sqlite::SqliteStore,
        store::Store as _,
        transition::SKEW,
        view::{View, ViewQuery},
    },
    time::{Timestamp, format_duration},
};

/// Where the state is.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct StateArgs {
    /// The state file; left out, `$XDG_STATE_HOME/pointsman/AGENT.sqlite`
    #[arg(long, value_name = "FILE", env = "POINTSMAN_STATE", hide_env_values = true, value_parser = clap::builder::OsStringValueParser::new().try_map(state_path))]
    state: Option<PathBuf>,
    /// The agent whose state it is
    #[arg(long, value_name = "ID", default_value = "main")]
    pub(super) agent: String,
}

/// An empty path is a variable that was meant to be unset, more often than not.
fn state_path(said: OsString) -> Result<PathBuf, &'static str> {
    if said.is_empty() {
        return Err("it names no file; leave it out for the usual one, and unset `POINTSMAN_STATE`");
    }
    Ok(said.into())
}

/// What every command takes that shows something of the state.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ViewArgs {
    /// Text, or one JSON object
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: ViewFormat,
    #[command(flatten)]
    pub(super) state: StateArgs,
}

impl StateArgs {
    /// The file.
    ///
    /// # Errors
    /// When nothing says where it is, or the agent's id is no file name.
    pub(super) fn path(&self, world: &World) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.state {
            return Ok(path.clone());
        }
        let plain = !self.agent.is_empty()
            && !self.agent.starts_with('.')
            && self.agent.chars().all(|c| c.is_alphanumeric() || "-_.@".contains(c));
        if !plain {
            return Err(Failure::Usage(format!(
                "`{}` cannot name a state file; use letters, digits, `-`, `_`, or give --state FILE",
                self.agent
            )));
        }
        let set = |name: &str| world.env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let base = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
        let base = base.or_else(|| Some(set("HOME")?.join(".local/state")));
        let Some(base) = base else {
            return Err(Failure::Usage("nothing says where the state is; give --state FILE".into()));
        };
        Ok(base.join("pointsman").join(format!("{}.sqlite", self.agent)))
    }

    /// Opens the file for changes, and makes it and its folder when there is none.
    pub(super) fn open(&self, world: &World) -> Result<SqliteStore, Failure> {
        open(&self.path(world)?, world)
    }

    /// Opens the file to change what is stored in it.
    ///
    /// # Errors
    /// When there is none: nothing is stored, and its path may be mistyped.
    pub(super) fn existing(&self, world: &World) -> Result<SqliteStore, Failure> {
        let path = self.path(world)?;
        if std::fs::metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Err(Failure::Usage(format!(
                "there is no state file `{}`, so nothing to change; `--state FILE`, `POINTSMAN_STATE` or \
                 `--agent ID` say which is meant",
                path.to_string_lossy()
            )));
        }
        open(&path, world)
    }

    /// Opens the file for reading, if there is one.
    pub(super) fn reader(&self, world: &World) -> Result<Option<SqliteStore>, Failure> {
        let path = self.path(world)?;
        if !holds_state(&path) {
            return Ok(None);
        }
        Ok(Some(read_only(&path, world)?))
    }

    /// The profiles of the file; none when there is no file, or nothing says where it is.
    pub(super) fn stored(&self, world: &World) -> Result<Option<Vec<ProfileId>>, Failure> {
        if !self.path(world).is_ok_and(|path| holds_state(&path)) {
            return Ok(None);
        }
        let view = self.look(None, world)?.view;
        Ok(Some(view.profiles.iter().map(|profile| profile.info.id.clone()).collect()))
    }

    /// Looks at the state without changing it, with `session` in the view. No file, and one
    /// without a byte, is an empty state.
    /// A file that is later than the clock (a simulation ran ahead) is seen from its latest moment.
    pub(super) fn look(&self, session: Option<&str>, world: &World) -> Result<Seen, Failure> {
        let path = self.path(world)?;
        let now = world.now();
        if !holds_state(&path) {
            return Ok(Seen { path, there: false, now, view: View::default(), sessions: Vec::new() });
        }
        let store = read_only(&path, world)?;
        let latest = latest(&store)?.unwrap_or(now);
        if latest > now.after(SKEW) {
            let ahead = format_duration(latest.since(now));
            world.say(&format!("note: the state is {ahead} ahead of the clock, and is seen from there"));
        }
        let now = now.max(latest);
        let view = store.view(&ViewQuery { session }, now)?;
        Ok(Seen { path, there: true, now, view, sessions: store.sessions()? })
    }
}

/// The state as it was found.
pub(super) struct Seen {
    /// The file.
    pub(super) path: PathBuf,
    /// There is such a file.
    pub(super) there: bool,
    /// The moment from which it is seen.
    pub(super) now: Timestamp,
    /// Profiles, their usage, and the session asked for.
    pub(super) view: View,
    /// All sessions.
    pub(super) sessions: Vec<(String, Session)>,
}

/// Opens a state file for changes, and makes it and its folder when there is none.
pub(super) fn open(path: &Path, world: &World) -> Result<SqliteStore, Failure> {
    if let Some(folder) = path.parent() {
        private(folder).map_err(|error| Failure::Write { path: folder.to_owned(), error })?;
    }
    let open = exposed(path);
    let store = SqliteStore::open(path).map_err(Failure::State)?;
    if let Some(mode) = open {
        let (path, now) = (path.to_string_lossy(), exposed(path));
        let now =
            now.map_or("nobody else can now".to_owned(), |mode| format!("they still can (mode {mode:o})"));
        world.say(&format!("note: others could open `{}` (mode {mode:o}); {now}", Shown(&path)));
    }
    Ok(store)
}

/// Makes a folder, and those above it, that nobody else can look into; one that is there stays as it is.
fn private(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether there is a file that something was written into; a command that changes the state makes one
/// of an empty file.
fn holds_state(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| !file.is_file() || file.len() > 0)
}

/// Opens a state file that is only looked at. Says, once, that others can open it.
fn read_only(path: &Path, world: &World) -> Result<SqliteStore, Failure> {
    static SAID: std::sync::Once = std::sync::Once::new();
    let store = SqliteStore::open_read_only(path)?;
    if let Some(mode) = exposed(path) {
        SAID.call_once(|| {
            let path = path.to_string_lossy();
            let path = Shown(&path);
            world.say(&format!("note: others can open `{path}` (mode {mode:o}); `chmod 600` ends that"));
        });
    }
    Ok(store)
}

/// The mode of a file that others than its owner can open.
#[cfg(unix)]
fn exposed(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

#[cfg(not(unix))]
const fn exposed(_: &Path) -> Option<u32> {
    None
}
