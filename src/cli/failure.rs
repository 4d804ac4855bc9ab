//! What a command ends with.

use std::{io, path::PathBuf, process::ExitCode};

use super::escape::Shown;
use crate::lang::diagnostic::counted;

/// The end of a command that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Exit code 0.
    Fine,
    /// Exit code 1: the checked thing is not fine.
    NotFine,
    /// Exit code 2: the checked thing cannot be read, which has been told.
    Unreadable,
}

impl Outcome {
    /// `Fine` when `fine` holds.
    pub(super) fn of(fine: bool) -> Self {
        if fine { Self::Fine } else { Self::NotFine }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::NotFine => Self::FAILURE,
            Outcome::Unreadable => Self::from(Failure::EXIT_CODE),
        }
    }
}

/// The end of a command that could not do its work.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Stdout took no more.
    #[error("cannot write the result: {0}")]
    Output(#[from] io::Error),
    /// An input cannot be read.
    #[error("cannot read `{}`: {}", Shown(&path.to_string_lossy()), why(error))]
    Read {
        /// The path as the user gave it, or `stdin`.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`: {}", Shown(&path.to_string_lossy()), why(error))]
    Write {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Arguments that do not go together, beyond what the parser can tell.
    #[error("{}", Shown(.0))]
    Usage(String),
    /// The state cannot be read or written.
    #[error("{}", Shown(&.0.to_string()))]
    State(#[from] crate::state::store::StoreError),
    /// The rules do not load; the diagnostics have been printed.
    #[error("{name} cannot be used: {}", counted(*errors, "error"))]
    Rules {
        /// How the rules are called, fit for a terminal.
        name: String,
        /// How many errors there are.
        errors: usize,
    },
}

impl Failure {
    /// The exit code of all of them: wrong usage or unreadable input.
    pub(super) const EXIT_CODE: u8 = 2;

    /// The reader of stdout went away: success.
    pub(super) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// An I/O error as a person would say it.
pub(super) fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::IsADirectory => "it is a folder, and a file is needed".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::InvalidData => "it is not UTF-8 text".into(),
        _ => error.to_string(),
    }
}
