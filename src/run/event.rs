//! What a run says of itself while it goes on (J2). A simulator prints these, a driver traces them.

use std::{sync::Arc, time::Duration};

use serde::{Serialize, Serializer};

use super::{
    notice::NoticeKind,
    step::Probe,
    summary::{ExhaustedReason, SkipReason},
};
use crate::{
    lang::policy::{Lane, SelectionSource},
    state::model::{Candidate, ProfileId},
    time::Timestamp,
};

/// One event (J2). In JSON it is flat: `event` names the kind, absent values are left out, `provider` and
/// `model` stand side by side. Times are absolute; see [`Event::since`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// A call begins.
    Attempt {
        /// Who is called.
        #[serde(flatten)]
        candidate: Candidate,
        /// With which credential.
        #[serde(skip_serializing_if = "Option::is_none")]
        profile: Option<ProfileId>,
        /// As what probe.
        #[serde(skip_serializing_if = "Option::is_none")]
        probe: Option<Probe>,
    },
    /// A call failed (J1).
    Failed {
        /// Who was called.
        #[serde(flatten)]
        candidate: Candidate,
        /// With which credential.
        #[serde(skip_serializing_if = "Option::is_none")]
        profile: Option<ProfileId>,
        /// What the error is.
        bucket: Arc<str>,
        /// The rule that decided.
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<Arc<str>>,
        /// The status, if there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        /// The code, if there was one.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// A short preview of the message, without control characters and secrets (J6).
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// A window opened or was extended (E).
    Window {
        /// Whose.
        profile: ProfileId,
        /// Cooldown or disable.
        #[serde(serialize_with = "write_lane")]
        lane: Lane,
        /// The bucket that opened it.
        bucket: String,
        /// The model it blocks; absent: all.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// When it ends.
        until_ms: Timestamp,
        /// The ladder's step, from 1.
        step: u32,
        /// The provider's own reset time where bounds changed it (E6).
        #[serde(skip_serializing_if = "Option::is_none")]
        clamped_from_ms: Option<Timestamp>,
    },
    /// The clock guard cut a window (E11).
    WindowCut {
        /// Whose.
        profile: ProfileId,
        /// The model it blocks; absent: all.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// When it ends now.
        until_ms: Timestamp,
        /// When it would have ended.
        was_until_ms: Timestamp,
    },
    /// A candidate was passed over without a call.
    Skipped {
        /// Which.
        #[serde(flatten)]
        candidate: Candidate,
        /// Why.
        reason: SkipReason,
    },
    /// A profile was left out: its secret could not be had, so there was no call (C8).
    LeftOut {
        /// Who would have been called.
        #[serde(flatten)]
        candidate: Candidate,
        /// The profile.
        profile: ProfileId,
        /// Where its secret was looked for, and why it is not there.
        why: String,
    },
    /// A refreshed credential was not stored, since it is none; the old one stays (C8).
    SecretRefused {
        /// Whose.
        profile: ProfileId,
        /// What is wrong with it.
        why: String,
    },
    /// A pause before a rotation (F2).
    Waited {
        /// How long.
        #[serde(rename = "ms", serialize_with = "write_millis")]
        span: Duration,
    },
    /// The session's selection was written (A5).
    Override {
        /// What is selected now.
        #[serde(flatten)]
        candidate: Candidate,
        /// The profile chosen with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        profile: Option<ProfileId>,
        /// By whom.
        source: SelectionSource,
    },
    /// What the run wrote was undone (A6).
    RolledBack {
        /// What had been selected.
        #[serde(flatten)]
        candidate: Candidate,
    },
    /// An automatic override is gone (B3).
    OverrideCleared {
        /// What had been selected.
        #[serde(flatten)]
        candidate: Candidate,
        /// Why.
        why: Cleared,
    },
    /// Somebody changed the session's selection meanwhile; the run writes no more overrides (A6).
    OverrideKept {
        /// What the run would have selected or undone.
        #[serde(flatten)]
        candidate: Candidate,
    },
    /// A step along the chain (J2).
    Decision(Decision),
    /// A notice for the user goes out (J4).
    Notice {
        /// Its text.
        text: String,
        /// Fallback or cleared.
        kind: NoticeKind,
    },
    /// The state cannot be written; the run goes on without.
    StoreUnavailable {
        /// Why, in words.
        why: String,
        /// A refreshed credential could not be kept, so the next refresh may fail.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        secret_lost: bool,
    },
    /// The end: answered.
    Answered {
        /// Who answered.
        #[serde(flatten)]
        candidate: Candidate,
        /// With which credential.
        #[serde(skip_serializing_if = "Option::is_none")]
        profile: Option<ProfileId>,
    },
    /// The end: an error is returned as it is.
    Surfaced {
        /// What the error is.
        bucket: Arc<str>,
        /// A short preview of the message.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Output has reached the user.
        partial: bool,
    },
    /// The end: the user wants another model.
    Switched {
        /// Which.
        #[serde(flatten)]
        candidate: Candidate,
    },
    /// The end: nothing answered.
    Exhausted {
        /// When the first of the tried candidates is free again (J3).
        #[serde(skip_serializing_if = "Option::is_none")]
        soonest_expiry_ms: Option<Timestamp>,
        /// Number of calls.
        attempts: usize,
        /// Why it ended.
        reason: ExhaustedReason,
    },
}

impl Event {
    /// The same event with its times counted from `start`, as the simulator prints them.
    #[must_use]
    pub fn since(mut self, start: Timestamp) -> Self {
        let count = |time: &mut Timestamp| {
            *time = Timestamp::from_millis(time.as_millis().saturating_sub(start.as_millis()));
        };
        match &mut self {
            Self::Window { until_ms, clamped_from_ms, .. } => {
                count(until_ms);
                clamped_from_ms.as_mut().into_iter().for_each(count);
            }
            Self::WindowCut { until_ms, was_until_ms, .. } => {
                count(until_ms);
                count(was_until_ms);
            }
            Self::Exhausted { soonest_expiry_ms, .. } => {
                soonest_expiry_ms.as_mut().into_iter().for_each(count);
            }
            _ => {}
        }
        self
    }
}

/// Why an automatic override went (B3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cleared {
    /// The origin answered (B3).
    OriginAnswered,
    /// A heartbeat found that its origin is no longer the configured default (B3).
    OriginChanged,
    /// `reset` (K5); a driver says it.
    Reset,
    /// `new` (K5); a driver says it.
    New,
}

/// A step along the chain, flat, so that an exporter can rebuild the primary's failure even when the
/// last fallback failed too (J2). Models are `provider/model`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// What happened to the candidate.
    pub fallback_step_type: DecisionType,
    /// The candidate that failed, was skipped or is probed.
    pub fallback_step_from_model: String,
    /// Where the run goes, or who answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_step_to_model: Option<String>,
    /// The bucket of its failure, or why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_step_from_failure_reason: Option<String>,
    /// A short preview of its failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_step_from_failure_detail: Option<String>,
    /// Its place in the chain, from 1.
    pub fallback_step_chain_position: usize,
    /// What came of it; absent while that is open (a probe) and for a surfaced error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_step_final_outcome: Option<FinalOutcome>,
}

/// What a [`Decision`] is about (J2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionType {
    /// A candidate failed.
    Failed,
    /// A candidate was skipped.
    Skipped,
    /// A candidate is probed.
    Probed,
    /// A later candidate answered.
    Succeeded,
}

/// Where a [`Decision`] led (J2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FinalOutcome {
    /// To the next candidate.
    NextFallback,
    /// Nowhere.
    ChainExhausted,
    /// To an answer.
    Succeeded,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn write_lane<S: Serializer>(lane: &Lane, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(match lane {
        Lane::Cooldown => "cooldown",
        Lane::Disable => "disabled",
    })
}

fn write_millis<S: Serializer>(span: &Duration, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u64(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}
