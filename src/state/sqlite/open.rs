//! Opening the state file: mode, pragmas, migrations.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rusqlite::{Connection, Error, OpenFlags, TransactionBehavior};

use super::{
    error::{explain, is_busy},
    rights::{only_a_file, tighten},
};
use crate::state::store::StoreError;

/// Marks the file as pointsman's (`PRAGMA application_id`): "pntm".
const APPLICATION: i64 = 0x706e_746d;

/// Migrations; the n-th leads to schema version n.
const MIGRATIONS: &[&str] = &[include_str!("schema/0001.sql"), include_str!("schema/0002.sql")];

/// The newest schema version that this build knows.
pub(super) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Where an open file and its log lie, to notice that they no longer do.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    file: Option<FileId>,
    log: Option<(PathBuf, FileId)>,
}

impl Place {
    /// Of the file that was just opened.
    pub fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), file: file_id(path), log: None }
    }

    /// Takes down where the log lies: it stays the same as long as the file is open.
    pub fn see_log(&mut self, log: impl FnOnce() -> Option<PathBuf>) {
        if self.log.is_none() {
            self.log = log().and_then(|log| file_id(&log).map(|id| (log, id)));
        }
    }

    /// Whether both still lie there; where that cannot be told, they do.
    pub fn holds(&self) -> bool {
        (self.file.is_none() || self.file == file_id(&self.path))
            && self.log.as_ref().is_none_or(|(log, id)| file_id(log) == Some(*id))
    }
}

/// Device and inode.
type FileId = (u64, u64);

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
const fn file_id(_path: &Path) -> Option<FileId> {
    None
}

/// Pause between two tries to open a file that others are just creating or recovering.
const PAUSE: Duration = Duration::from_millis(5);

/// Opens for reading and writing; creates the file, with mode 0600, when there is none.
pub(super) fn read_write(path: &Path, wait: Duration) -> Result<Connection, StoreError> {
    create(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    patiently(path, wait, || {
        let mut db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(wait)?;
        db.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;")?;
        // Nothing of a foreign or newer file is touched, not even its journal mode.
        if let Err(error) = recognise(path, &db)? {
            return Ok(Err(error));
        }
        if application(&db)? == APPLICATION {
            // Before its journal takes over the mode that it has.
            tighten(path);
        }
        if db.is_readonly("main")? {
            return Ok(Ok(db));
        }
        let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if !mode.eq_ignore_ascii_case("wal") {
            let detail = format!("journal mode is `{mode}`, write-ahead logging is needed");
            return Ok(Err(StoreError::Io { path: path.to_owned(), detail }));
        }
        migrate(&mut db)?;
        // What was empty is a state file now.
        tighten(path);
        Ok(Ok(db))
    })
}

/// Opens for reading only. A file in a folder that may not be written is read as it lies there.
pub(super) fn read_only(path: &Path, wait: Duration) -> Result<Connection, StoreError> {
    only_a_file(path)?;
    let plain = || {
        let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        db.busy_timeout(wait)?;
        readable(path, db)
    };
    match patiently(path, wait, plain) {
        Err(StoreError::Missing { .. } | StoreError::ReadOnly { .. }) if is_at_rest(path) => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            let db =
                Connection::open_with_flags(immutable_uri(path), flags).map_err(|e| explain(path, &e))?;
            readable(path, db).map_err(|e| explain(path, &e))?
        }
        other => other,
    }
}

/// The connection to read from: where the making of the file was cut short, one to an empty state.
fn readable(path: &Path, db: Connection) -> Result<Result<Connection, StoreError>, Error> {
    if let Err(error) = recognise(path, &db)? {
        return Ok(Err(error));
    }
    if version(&db)? != 0 || tables(&db)? != 0 {
        return Ok(Ok(db));
    }
    let mut empty = Connection::open_in_memory()?;
    migrate(&mut empty)?;
    empty.pragma_update(None, "query_only", true)?;
    Ok(Ok(empty))
}

/// No process has the file open for writing.
fn is_at_rest(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    path.is_file() && !Path::new(&wal).exists()
}

fn immutable_uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.to_string_lossy().bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            uri.extend(
                [byte >> 4, byte & 15].into_iter().filter_map(|half| char::from_digit(half.into(), 16)),
            );
        }
    }
    uri + "?immutable=1"
}

/// Makes the file, for its owner alone. One that is there stays as it is until it is recognised.
fn create(path: &Path) -> Result<(), StoreError> {
    only_a_file(path)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        // It may also be a link that leads nowhere.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::metadata(path).map(drop).map_err(|error| missing(path, &error))
        }
        Err(error) => Err(missing(path, &error)),
        Ok(_) => Ok(()),
    }
}

fn missing(path: &Path, error: &io::Error) -> StoreError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::StorageFull => StoreError::Full { path },
        io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { path },
        _ => StoreError::Missing { path, detail: error.to_string() },
    }
}

/// Tries again while the file is busy: while others create or recover it, SQLite does not always wait
/// by itself.
fn patiently<T>(
    path: &Path,
    wait: Duration,
    mut open: impl FnMut() -> Result<Result<T, StoreError>, Error>,
) -> Result<T, StoreError> {
    let mut left = wait;
    loop {
        match open() {
            Ok(done) => return done,
            Err(error) if is_busy(&error) && left > Duration::ZERO => {
                thread::sleep(PAUSE);
                left = left.saturating_sub(PAUSE);
            }
            Err(error) => return Err(explain(path, &error)),
        }
    }
}

fn number(db: &Connection, pragma: &str) -> Result<i64, Error> {
    db.query_row(pragma, [], |row| row.get(0))
}

fn application(db: &Connection) -> Result<i64, Error> {
    number(db, "PRAGMA application_id")
}

/// The schema version of an open file.
pub(super) fn version(db: &Connection) -> Result<i64, Error> {
    number(db, "PRAGMA user_version")
}

fn tables(db: &Connection) -> Result<i64, Error> {
    number(db, "SELECT count(*) FROM sqlite_schema")
}

/// Whether the file is new, or pointsman's and not too new.
fn recognise(path: &Path, db: &Connection) -> Result<Result<(), StoreError>, Error> {
    let found = version(db)?;
    let application = application(db)?;
    let tables = tables(db)?;
    let path = path.to_owned();
    if application != APPLICATION && (application != 0 || found != 0 || tables != 0) {
        let detail = "it is another program's database".to_owned();
        return Ok(Err(StoreError::Corrupt { path, detail }));
    }
    let known = newest();
    Ok(if found > known { Err(StoreError::Newer { path, found, known }) } else { Ok(()) })
}

fn migrate(db: &mut Connection) -> Result<(), Error> {
    if version(db)? >= newest() {
        return Ok(());
    }
    let migration = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let done = usize::try_from(version(&migration)?).unwrap_or(0);
    for (at, script) in MIGRATIONS.iter().enumerate().skip(done) {
        migration.execute_batch(script)?;
        migration.pragma_update(None, "user_version", i64::try_from(at + 1).unwrap_or(i64::MAX))?;
    }
    migration.pragma_update(None, "application_id", APPLICATION)?;
    migration.commit()
}
