//! How a turn ends.

use std::fmt;

use crate::{
    run::{Done, Notice, OutOfTurn, Summary, Surface},
    state::{model::Candidate, store::StoreError},
};

/// A turn that was answered (A7).
#[derive(Clone, Debug)]
pub struct Outcome<T> {
    /// What the call gave.
    pub answer: T,
    /// Who answered, and what failed on the way.
    pub done: Done,
    /// Messages for the user that are due with this answer (J4).
    pub notices: Vec<Notice>,
}

/// A turn that was not (A7).
#[derive(Debug)]
pub enum RunError {
    /// This error is to be shown as it is: no fallback helps, or none is left (A7).
    Surfaced(Box<Surface>),
    /// Every candidate failed or was skipped (A7, J3).
    Exhausted(Box<Summary>),
    /// The user wants this model now: run the turn again with it (H4).
    Switched(Candidate),
    /// The state could not be read, and nothing of it was known.
    State(StoreError),
    /// The driver broke the run's contract: a fault of this crate.
    OutOfTurn(OutOfTurn),
}

impl From<OutOfTurn> for RunError {
    fn from(error: OutOfTurn) -> Self {
        Self::OutOfTurn(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Surfaced(surface) => surfaced(surface, f),
            Self::Exhausted(summary) => exhausted(summary, f),
            Self::Switched(to) => {
                write!(f, "the user has switched to `{}/{}`; run the turn again", to.provider, to.model)
            }
            Self::State(error) => error.fmt(f),
            Self::OutOfTurn(error) => write!(f, "the driver and the run disagree: {error}"),
        }
    }
}

fn surfaced(surface: &Surface, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(say) = &surface.say {
        return f.write_str(say);
    }
    match surface.summary.attempts.last() {
        Some(last) => {
            write!(f, "`{}/{}` failed: {}", last.candidate.provider, last.candidate.model, last.summary)
        }
        None => write!(f, "the turn ended before a call: {}", surface.bucket),
    }
}

fn exhausted(summary: &Summary, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (calls, skips) = (summary.calls, summary.skipped.len());
    write!(f, "no model answered ({calls} called, {skips} skipped")?;
    if !summary.left_out.is_empty() {
        write!(f, ", {} left out: missing secret", summary.left_out.len())?;
    }
    f.write_str(")")?;
    if let Some(last) = summary.left_out.last() {
        write!(f, "; no key for `{}`: {}", last.profile, last.why)?;
    }
    if let Some(last) = summary.attempts.last() {
        write!(f, "; the last, `{}/{}`: {}", last.candidate.provider, last.candidate.model, last.summary)?;
    }
    match summary.soonest_expiry {
        Some(soonest) => write!(f, "; the first is free again at {soonest}"),
        None => Ok(()),
    }
}

impl std::error::Error for RunError {}
