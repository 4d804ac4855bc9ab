//! SQLite's errors in the words of [`StoreError`].

use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};

use super::open::newest;
use crate::state::store::StoreError;

/// What has become of an open file.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum Changed {
    /// It is no longer at its path.
    #[error("removed or replaced")]
    Gone,
    /// A newer version has migrated it.
    #[error("schema version {0}")]
    Newer(i64),
}

impl From<Changed> for Error {
    fn from(changed: Changed) -> Self {
        Self::ToSqlConversionFailure(Box::new(changed))
    }
}

/// What `error` means for the state file at `path`.
pub(super) fn explain(path: &Path, error: &Error) -> StoreError {
    let path = path.to_owned();
    let detail = error.to_string();
    let Error::SqliteFailure(failure, _) = error else {
        return match error {
            Error::SqlInputError { .. } => StoreError::Corrupt { path, detail },
            Error::ToSqlConversionFailure(why) => match why.downcast_ref() {
                Some(Changed::Gone) => StoreError::Gone { path },
                Some(Changed::Newer(found)) => StoreError::Newer { path, found: *found, known: newest() },
                None => StoreError::Io { path, detail },
            },
            Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..)
            | Error::IntegralValueOutOfRange(..) => StoreError::Row { path, detail },
            _ => StoreError::Io { path, detail },
        };
    };
    match failure.code {
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Corrupt { path, detail },
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked { path },
        ErrorCode::ReadOnly => StoreError::ReadOnly { path },
        // The statements are fixed: one that cannot be prepared meets tables that are not as they were made.
        ErrorCode::Unknown if failure.extended_code == ffi::SQLITE_ERROR => {
            StoreError::Corrupt { path, detail }
        }
        ErrorCode::DiskFull => StoreError::Full { path },
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => StoreError::Missing { path, detail },
        // A file-size limit shows as a failed write, not as a full disk.
        ErrorCode::SystemIoFailure if is_failed_write(failure.extended_code) => StoreError::Full { path },
        _ => StoreError::Io { path, detail },
    }
}

fn is_failed_write(extended: i32) -> bool {
    [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE, ffi::SQLITE_IOERR_TRUNCATE].contains(&extended)
}

/// Whether data may be lost that the system takes for written.
pub(super) fn is_failed_sync(error: &Error) -> bool {
    matches!(error, Error::SqliteFailure(failure, _) if failure.extended_code == ffi::SQLITE_IOERR_FSYNC)
}

/// Whether trying again may help.
pub(super) fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
