//! The write-ahead log after a failed sync.
//!
//! When a sync fails, the system may give up what it was to write and take it for written: the next sync
//! succeeds, and leaves a hole in the log, behind which nothing counts after a power cut. So the whole
//! log is written once more before anything is added to it.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::PathBuf,
};

use rusqlite::{Connection, Error, ffi};

use crate::state::secret::Zeroizing;

/// Bytes that are read and written at once.
const PART: usize = 64 * 1024;

/// Where the log lies.
pub(super) fn path(db: &Connection) -> Option<PathBuf> {
    Some(PathBuf::from(format!("{}-wal", db.path()?)))
}

/// Whether there is nothing in the log.
pub(super) fn is_empty(db: &Connection) -> bool {
    path(db).and_then(|log| fs::metadata(log).ok()).is_none_or(|log| log.len() == 0)
}

/// Writes the log once more as it is, and syncs it. Inside a write transaction, so that nobody else
/// writes meanwhile; to readers nothing changes.
pub(super) fn write_again(db: &Connection) -> Result<(), Error> {
    let again = || -> io::Result<()> {
        let Some(log) = path(db) else { return Ok(()) };
        let mut log = match OpenOptions::new().read(true).write(true).open(log) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        // Secrets may pass.
        let mut part = Zeroizing::new(vec![0; PART]);
        loop {
            let at = log.stream_position()?;
            let length = log.read(&mut part)?;
            let Some(part) = part.get(..length).filter(|part| !part.is_empty()) else { break };
            log.seek(SeekFrom::Start(at))?;
            log.write_all(part)?;
        }
        log.sync_data()
    };
    again().map_err(|error| {
        Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR_FSYNC), Some(error.to_string()))
    })
}
