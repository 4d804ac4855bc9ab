//! What a run asks of its driver, and what the driver tells it: the contract of the interpreter.
//!
//! | step | the driver | then calls |
//! | --- | --- | --- |
//! | [`Step::Persist`] | applies the batch | `report(Persisted)`, then `next` with the view that came back |
//! | [`Step::Attempt`] | calls the model | `report(Answered)`, `report(Failed)` or `report(NoSecret)`, then `next` |
//! | [`Step::Attempt`] with `repair` | mends the payload | `report(Repaired)` or `report(NotRepaired)`, then `next` |
//! | [`Step::Wait`] | waits | `report(Waited)`, then `next` |
//! | [`Step::Notify`], [`Step::Event`] | shows it | `next` |
//! | an end | returns | nothing more |

use std::{sync::Arc, time::Duration};

use serde::Serialize;

use super::{event::Event, notice::Notice, summary::Summary};
use crate::{
    classify::Verdict,
    signal::{Aborted, Signal},
    state::{
        change::{Applied, Batch, Outcome},
        model::{Candidate, ProfileId, Secret},
        store::StoreError,
    },
    time::Timestamp,
};

/// The next thing to do.
#[derive(Clone, Debug)]
pub enum Step {
    /// Apply these changes in one transaction. Answer with [`Report::Persisted`].
    Persist(Batch),
    /// Make a call. Answer with [`Report::Answered`], [`Report::Failed`] or [`Report::NoSecret`]; with
    /// `repair` set, with [`Report::Repaired`] or [`Report::NotRepaired`].
    Attempt(Attempt),
    /// Wait this long (F2). Answer with [`Report::Waited`].
    Wait(Duration),
    /// Show a notice (J4). No answer.
    Notify(Notice),
    /// Log an event (J2). No answer.
    Event(Event),
    /// The end: a candidate answered (A7).
    Done(Box<Done>),
    /// The end: this error is to be returned as it is (A7).
    Surface(Box<Surface>),
    /// The end: nothing answered (A7, J3).
    Exhausted(Box<Summary>),
    /// The end: the user wants another model now (H4). Start a new run with it.
    Switch(Candidate),
}

/// A call to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The provider and model.
    pub candidate: Candidate,
    /// The credential; `None` for a provider that needs none.
    pub profile: Option<ProfileId>,
    /// Why a profile is used although it is blocked; `origin` also when it is free (B3, I).
    pub probe: Option<Probe>,
    /// When the budget ends; cut the call off then and report `aborted: deadline` (H6).
    pub deadline: Option<Timestamp>,
    /// The credential has expired: refresh it first, and hand the new secret back (C8).
    pub refresh_first: bool,
    /// No call yet: mend the payload of the call that just failed (D9). After
    /// [`Report::Repaired`] the same attempt comes again without this flag.
    pub repair: bool,
}

/// What a probe looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// The origin of an automatic override (B3).
    Origin,
    /// The primary (I2, I3).
    Primary,
    /// A sibling model of a provider whose profiles are blocked (I4).
    Sibling,
}

/// What came of a step.
#[derive(Clone, Debug)]
pub enum Report {
    /// Answers [`Step::Persist`].
    Persisted(Persisted),
    /// Answers [`Step::Wait`].
    Waited,
    /// Answers [`Step::Attempt`]: the model answered.
    Answered {
        /// A credential that was refreshed on the way.
        new_secret: Option<Refreshed>,
    },
    /// Answers [`Step::Attempt`]: the call failed.
    Failed(Box<Failed>),
    /// Answers [`Step::Attempt`]: there was no call, since the profile's secret could not be had. The run
    /// leaves the profile out, as any that is not eligible (C8): no window, no call of the budget.
    NoSecret {
        /// Where it was looked for, and why it is not there; never the secret itself.
        why: String,
    },
    /// Answers an attempt with `repair`: the payload is mended.
    Repaired,
    /// Answers an attempt with `repair`: it cannot be mended.
    NotRepaired,
}

/// A failed call.
#[derive(Clone, Debug, Default)]
pub struct Failed {
    /// What the host knows of it. `provider`, `model` and `received_at` are filled in when absent.
    pub signal: Signal,
    /// Output of this attempt has reached the user (H5).
    pub partial: bool,
    /// Who cut it off, if anybody did (D11); the same as in the signal.
    pub aborted: Option<Aborted>,
    /// A credential that was refreshed on the way.
    pub new_secret: Option<Refreshed>,
}

/// A refreshed credential (C8). Debug never shows it.
#[derive(Clone, Debug)]
pub struct Refreshed {
    /// The new access token.
    pub secret: Secret,
    /// The new refresh token; `None` keeps the old one.
    pub refresh: Option<Secret>,
    /// When `secret` expires.
    pub expires: Option<Timestamp>,
}

/// What came of a batch.
#[derive(Clone, Debug)]
pub enum Persisted {
    /// It is durable.
    Ok(Vec<Outcome>),
    /// The session holds another selection than the run expected: nothing of the session was
    /// written, the rest was (A6). The next `next` gets the view that shows it.
    Conflict(Vec<Outcome>),
    /// The state cannot be written. The run goes on where that loses nothing, and says so.
    Unavailable {
        /// Why, in words.
        why: String,
    },
}

impl From<&Result<Applied, StoreError>> for Persisted {
    fn from(applied: &Result<Applied, StoreError>) -> Self {
        match applied {
            Ok(applied) if applied.conflict => Self::Conflict(applied.outcomes.clone()),
            Ok(applied) => Self::Ok(applied.outcomes.clone()),
            Err(error) => Self::Unavailable { why: error.to_string() },
        }
    }
}

/// A run that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Who answered.
    pub candidate: Candidate,
    /// With which credential.
    pub profile: Option<ProfileId>,
    /// Its place in the chain, from 1.
    pub position: usize,
    /// What failed or was skipped on the way.
    pub summary: Summary,
}

/// An error that is returned as it is.
#[derive(Clone, Debug)]
pub struct Surface {
    /// The error, as the host reported it.
    pub signal: Signal,
    /// What it was taken for.
    pub verdict: Verdict,
    /// The bucket's name.
    pub bucket: Arc<str>,
    /// What a host should answer its own client with.
    pub http: Option<u16>,
    /// The sentence for the user that the reaction brings.
    pub say: Option<String>,
    /// Output of the attempt has reached the user (H5).
    pub partial: bool,
    /// All attempts and skips.
    pub summary: Summary,
}

/// Something that happens to a run from outside, at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// Give up (D11).
    Abort(Aborted),
    /// The session's model has changed (H4).
    Switch {
        /// To which.
        to: Candidate,
        /// A user asked for it (K1); a stale value is `false`.
        by_user: bool,
    },
}

/// A call at the wrong moment. The run is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfTurn {
    /// `next` was called while a step waits for its report.
    #[error("the last step was `{0}`, so report what came of it before asking for the next step")]
    ReportFirst(Expected),
    /// `report` was called while no step waits for one.
    #[error("no step waits for a report, so ask for the next step")]
    NothingToReport,
    /// The report does not fit the step.
    #[error("the last step was `{0}`, which is answered by another report")]
    OtherReport(Expected),
    /// The run has ended.
    #[error("the run has ended, so start another one")]
    Ended,
}

/// The step that waits for its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// [`Step::Persist`].
    Persist,
    /// [`Step::Attempt`].
    Attempt,
    /// [`Step::Attempt`] with `repair`.
    Repair,
    /// [`Step::Wait`].
    Wait,
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Persist => "persist",
            Self::Attempt => "attempt",
            Self::Repair => "repair",
            Self::Wait => "wait",
        })
    }
}
