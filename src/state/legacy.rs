//! What the legacy format knew of usage: one cooldown and one disable (E8).

use std::collections::BTreeMap;

use serde::Serialize;

use super::model::{Usage, Window};
use crate::{lang::policy::Lane, time::Timestamp};

/// The schedule of a window that came from a legacy file, which names none. No ladder of the rules bears
/// this name, so that the next failure begins its own at step 1 (E10): the old count mixes models and
/// buckets, and says of no ladder how far it had come (E4).
#[must_use]
pub fn imported_schedule(lane: Lane) -> &'static str {
    match lane {
        Lane::Cooldown => "imported cooldown",
        Lane::Disable => "imported disable",
    }
}

/// Usage as the legacy files tell it (E8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LegacyUsage {
    /// Start of the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
    /// End of the latest open cooldown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown_until: Option<Timestamp>,
    /// Its model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown_model: Option<String>,
    /// Its bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cooldown_reason: Option<String>,
    /// End of the latest open disable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_until: Option<Timestamp>,
    /// Its bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<String>,
    /// Failures since the last fresh start.
    pub error_count: u32,
    /// Failures per bucket.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failure_counts: BTreeMap<String, u32>,
}

impl Usage {
    /// The legacy view (E8). A file of that form holds one window a lane: the one that ends last.
    #[must_use]
    pub fn legacy(&self, now: Timestamp) -> LegacyUsage {
        let latest = |lane: Lane| -> Option<&Window> {
            self.windows.iter().filter(|w| w.lane == lane && w.is_open(now)).max_by_key(|w| w.until)
        };
        let (cooldown, disable) = (latest(Lane::Cooldown), latest(Lane::Disable));
        LegacyUsage {
            last_used: self.last_used,
            cooldown_until: cooldown.map(|w| w.until),
            cooldown_model: cooldown.and_then(|w| w.model.clone()),
            cooldown_reason: cooldown.map(|w| w.bucket.clone()),
            disabled_until: disable.map(|w| w.until),
            disabled_reason: disable.map(|w| w.bucket.clone()),
            error_count: self.error_count,
            failure_counts: self.failure_counts.clone(),
        }
    }
}
