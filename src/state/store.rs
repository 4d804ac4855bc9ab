//! What keeps the state: one trait, two stores ([`super::memory`], and SQLite with that feature).

use std::path::PathBuf;

use super::{
    change::{Applied, Batch},
    inbox::Records,
    model::{Profile, ProfileId, Session},
    secret::Flaw,
    view::{View, ViewQuery},
};
use crate::time::Timestamp;

/// Keeps profiles, usage and sessions of one agent (C3, E8). Safe to share among threads; the SQLite store
/// is also safe to share among processes.
pub trait Store: Send + Sync {
    /// A snapshot. Cheap when nothing has changed since the last one.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be read.
    fn view(&self, query: &ViewQuery<'_>, now: Timestamp) -> Result<View, StoreError>;

    /// Applies a batch in one transaction. When it returns, the batch is durable; only `Used`, and a
    /// success that resets nothing, may wait up to a second.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written; then nothing of the batch is.
    fn apply(&self, batch: &Batch, now: Timestamp) -> Result<Applied, StoreError>;

    /// Applies batches that wait together, in order, each as [`Store::apply`] does. A store that pays for
    /// each transaction may take one for them all; then they are acknowledged together.
    fn apply_all(&self, batches: &[Batch], now: Timestamp) -> Vec<Result<Applied, StoreError>> {
        batches.iter().map(|batch| self.apply(batch, now)).collect()
    }

    /// Applies facts that could not be written when they happened, oldest first, each as of its time,
    /// all or nothing. What others have written since stays: to the clock guard (E11) it is not from
    /// the future. Without facts, it tells whether the state could be written.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written; then nothing is.
    fn apply_late(&self, facts: &[(Batch, Timestamp)]) -> Result<(), StoreError> {
        facts.iter().try_for_each(|(batch, at)| self.apply(batch, *at).map(drop))
    }

    /// [`Store::view`], if that takes neither the disk nor a wait for another thread. For drivers that
    /// must not block.
    fn view_at_once(&self, query: &ViewQuery<'_>, now: Timestamp) -> Option<Result<View, StoreError>> {
        let _ = (query, now);
        None
    }

    /// [`Store::apply`], if that takes neither the disk nor a wait for another thread; `None`: nothing
    /// has been done.
    fn apply_at_once(&self, batch: &Batch, now: Timestamp) -> Option<Result<Applied, StoreError>> {
        let _ = (batch, now);
        None
    }

    /// Stores a profile; one with the same id is replaced, its usage and place kept.
    ///
    /// # Errors
    /// [`StoreError::Secret`] when a secret in it is none, any other when the state cannot be written.
    fn put_profile(&self, profile: &Profile) -> Result<Put, StoreError>;

    /// Stores several profiles as [`Store::put_profile`] does, all or none.
    ///
    /// # Errors
    /// As of [`Store::put_profile`]; then none is stored.
    fn put_profiles(&self, profiles: &[Profile]) -> Result<Vec<Put>, StoreError> {
        profiles.iter().try_for_each(StoreError::of_secrets)?;
        profiles.iter().map(|profile| self.put_profile(profile)).collect()
    }

    /// Removes a profile with its usage. Whether there was one.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written.
    fn remove_profile(&self, id: &ProfileId) -> Result<bool, StoreError>;

    /// A profile with its secrets, for the moment of use.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be read.
    fn profile(&self, id: &ProfileId) -> Result<Option<Profile>, StoreError>;

    /// All sessions, by id.
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be read.
    fn sessions(&self) -> Result<Vec<(String, Session)>, StoreError>;

    /// What is kept of errors for the operator; none where nothing is.
    fn records(&self) -> Option<&dyn Records> {
        None
    }

    /// Writes what still waits in memory (`last_used`).
    ///
    /// # Errors
    /// [`StoreError`] when the state cannot be written.
    fn flush(&self) -> Result<(), StoreError>;
}

/// What [`Store::put_profile`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is new.
    Added,
    /// It replaced one with the same id.
    Replaced,
}

/// Why the state cannot be read or written, and how to mend it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is damaged, or no state file.
    #[error(
        "the state file `{path}` is damaged or no state file ({detail}); move it away to start afresh, or \
         restore a copy"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// What is at the path is no file, and was not touched.
    #[error("the state file `{path}` is no file, but {what}; name a file, or one that is still to be made")]
    Special {
        /// The path.
        path: PathBuf,
        /// What is there instead.
        what: &'static str,
    },
    /// Another process has held the file too long.
    #[error(
        "the state file `{path}` has been held by another process for too long; end that process, or wait"
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("the state file `{path}` is read-only; give its owner write access to the file and its folder")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// A newer pointsman wrote the file.
    #[error(
        "the state file `{path}` has schema version {found}, newer than {known}, the newest that this pointsman \
         knows; use a newer pointsman, or another file"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest known version.
        known: i64,
    },
    /// No room for the change.
    #[error("no room left to write the state file `{path}`; free some space, nothing stored before is lost")]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder cannot be opened.
    #[error(
        "the state file `{path}` cannot be opened ({detail}); check that its folder exists, and may be entered and written to"
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// Another file, or none, has taken the place of the one that is open.
    #[error(
        "the state file `{path}` was removed or replaced while it was open; put it back, or end this process and \
         start it anew"
    )]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// A row that this version cannot read.
    #[error(
        "the state file `{path}` is damaged: it holds a row that cannot be read ({detail}); move it away to start \
         afresh, or restore a copy"
    )]
    Row {
        /// The file.
        path: PathBuf,
        /// Which, and why.
        detail: String,
    },
    /// Any other failure to read or write.
    #[error("the state file `{path}` cannot be read or written ({detail}); check the disk")]
    Io {
        /// The file.
        path: PathBuf,
        /// What SQLite or the system said.
        detail: String,
    },
    /// What was to be stored as a secret is none (C8).
    #[error("the secret of `{}` {flaw}", profile.0)]
    Secret {
        /// Whose.
        profile: ProfileId,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// A thread broke off in the middle of a change.
    #[error("the state in memory is unusable since a thread broke off while changing it; start anew")]
    Poisoned,
}

impl StoreError {
    /// The door for every secret: a profile with one that cannot be used is not stored (C8).
    pub(super) fn of_secrets(profile: &Profile) -> Result<(), Self> {
        match profile.flaw() {
            Some(flaw) => Err(Self::Secret { profile: profile.id.clone(), flaw }),
            None => Ok(()),
        }
    }
}
