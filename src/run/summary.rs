//! What came of a run: each attempt, each skip, and the soonest expiry (J1, J3).

use std::sync::Arc;

use serde::Serialize;

use super::step::Probe;
use crate::{
    signal::Signal,
    state::model::{Candidate, ProfileId},
    time::Timestamp,
};

/// Everything that was tried (A7, J3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Calls that failed, in order (J1).
    pub attempts: Vec<Record>,
    /// Candidates passed over without a call, in order.
    pub skipped: Vec<Skip>,
    /// The last error, whole.
    pub last_error: Option<Signal>,
    /// When the first of the tried candidates is free again, if that is known (J3).
    pub soonest_expiry: Option<Timestamp>,
    /// Why the run ended, when it was exhausted.
    pub reason: Option<ExhaustedReason>,
    /// Number of calls, a successful one included.
    pub calls: usize,
    /// Profiles left out since their secret could not be had when a call needed it, in order (C8).
    pub left_out: Vec<LeftOut>,
}

/// One failed call (J1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Who was called.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// With which credential; redacted ([`redact_profile`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// As what probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// The bucket.
    pub bucket: Arc<str>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Arc<str>>,
    /// The status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// One line that a person can read.
    pub summary: String,
}

/// A candidate passed over without a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skip {
    /// Which.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Why.
    pub reason: SkipReason,
    /// The bucket of the window that blocks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
}

/// A profile left out for want of its secret (C8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Which; redacted ([`redact_profile`]).
    pub profile: String,
    /// Where its secret was looked for, and why it is not there.
    pub why: String,
}

/// Why a candidate was passed over (A7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// All profiles are in a cooldown.
    Cooldown,
    /// All profiles are blocked, one of them disabled.
    Disabled,
    /// The provider's credentials are refused (I1).
    Auth,
    /// It failed lately with the auth class (H3).
    SkipCache,
    /// No eligible profile.
    NoProfile,
    /// The budget is used up (H6).
    Budget,
}

impl SkipReason {
    /// As events and summaries write it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cooldown => "cooldown",
            Self::Disabled => "disabled",
            Self::Auth => "auth",
            Self::SkipCache => "skip_cache",
            Self::NoProfile => "no_profile",
            Self::Budget => "budget",
        }
    }
}

/// Why a run was exhausted (A7, H6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExhaustedReason {
    /// Every candidate failed or was skipped.
    ChainExhausted,
    /// The budget is used up (H6).
    Budget,
    /// The config names no model.
    NoModel,
}

/// `openai:w…@example.com`: a profile id with the local part of an e-mail address cut (J1, J6).
#[must_use]
pub fn redact_profile(id: &ProfileId) -> String {
    let Some((provider, name)) = id.0.split_once(':') else { return id.0.to_string() };
    let Some((local, domain)) = name.split_once('@') else { return id.0.to_string() };
    let head: String = local.chars().take(1).collect();
    format!("{provider}:{head}…@{domain}")
}
