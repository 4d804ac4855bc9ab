//! Runs in flight.

use std::{sync::Arc, time::Duration};

use super::answers::{Outcome, Reply};
use crate::{
    run::{Attempt, Failed, Refreshed, Report, Run},
    signal::{Aborted, Signal},
    time::Timestamp,
};

/// How long a refreshed credential lasts.
const REFRESHED_FOR: Duration = Duration::from_hours(1);

/// A run, and what it waits for.
#[derive(Debug)]
pub(super) struct Flight {
    pub run: Run,
    pub session: Arc<str>,
    /// Its number, from 1.
    pub number: u64,
    pub waits: Waits,
    /// The host can mend the payload of the last call that failed (D9).
    pub mends: bool,
}

/// What a run waits for.
#[derive(Debug)]
pub(super) enum Waits {
    /// Nothing: it is its turn.
    Not,
    /// A call.
    Call { ticket: u64, call: Box<Call> },
    /// A pause.
    Pause { ticket: u64 },
}

impl Waits {
    pub const fn ticket(&self) -> Option<u64> {
        match self {
            Self::Not => None,
            Self::Call { ticket, .. } | Self::Pause { ticket } => Some(*ticket),
        }
    }
}

/// A call under way, with the end that it will have.
#[derive(Debug)]
pub(super) struct Call {
    attempt: Attempt,
    reply: Reply,
}

impl Call {
    /// A call that begins now, and when it ends: at its deadline, if it takes longer (H6).
    pub fn begin(attempt: Attempt, mut reply: Reply, now: Timestamp) -> (Self, Timestamp) {
        let mut end = now.after(reply.takes);
        if let Some(deadline) = attempt.deadline.filter(|deadline| *deadline < end) {
            end = deadline.max(now);
            reply.outcome = Outcome::Fail(Box::new(cut_off(Aborted::Deadline)));
        }
        (Self { attempt, reply }, end)
    }

    /// Whom it calls.
    pub const fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// Whether output has reached the user.
    pub const fn partial(&self) -> bool {
        self.reply.partial
    }

    /// Whether the host can mend the payload if this call fails.
    pub const fn mends(&self) -> bool {
        self.reply.repair
    }

    /// What the host reports when it ends.
    pub fn report(self, now: Timestamp) -> Report {
        let new_secret = self.attempt.refresh_first.then(|| Refreshed {
            secret: super::start::no_secret(),
            refresh: None,
            expires: Some(now.after(REFRESHED_FOR)),
        });
        match self.reply.outcome {
            Outcome::Ok => Report::Answered { new_secret },
            Outcome::Fail(signal) => failed(*signal, self.reply.partial, new_secret),
        }
    }
}

/// What the host reports when somebody cancels a call whose output has reached the user.
pub(super) fn cancelled(by: Aborted) -> Report {
    failed(cut_off(by), true, None)
}

fn failed(signal: Signal, partial: bool, new_secret: Option<Refreshed>) -> Report {
    Report::Failed(Box::new(Failed { signal, partial, new_secret, ..Failed::default() }))
}

fn cut_off(by: Aborted) -> Signal {
    Signal { aborted: Some(by), ..Signal::default() }
}
