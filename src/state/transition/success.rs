//! What an answer, the start of an attempt and a manual clear do to usage (E7, E8, E10).

use super::guard;
use crate::{
    state::{change::Success, model::Usage},
    time::Timestamp,
};

/// E10: resets the ladders that the success speaks for and clears their windows, as far as they were
/// set before the attempt began. Whether anything but `last_used` changed: a steady success changes
/// nothing, and need not be written.
pub fn success(usage: &mut Usage, success: &Success, now: Timestamp) -> bool {
    let moved = !guard(usage, now).is_empty();
    late_success(usage, success) || moved
}

/// The same for a success of an earlier time: what is newer stays as it is.
pub fn late_success(usage: &mut Usage, success: &Success) -> bool {
    used(usage, success.attempt_started_at);
    if !(success.reset_model || success.reset_profile) {
        return false;
    }
    let began = success.attempt_started_at;
    let spoken_for = |model: &Option<String>| match model {
        None => success.reset_profile,
        Some(_) => success.reset_model && model.as_deref() == success.model.as_deref(),
    };
    let before = rows(usage);
    usage.windows.retain(|window| !spoken_for(&window.model) || window.since > began);
    let windows = &usage.windows;
    usage.ladders.retain(|ladder| {
        let still_open = windows.iter().any(|w| w.model == ladder.model && w.schedule == ladder.schedule);
        !spoken_for(&ladder.model) || ladder.climbed_at > began || still_open
    });
    usage.streaks.retain(|row| !spoken_for(&row.model) || row.last > began);
    let mut changed = rows(usage) != before;
    if usage.error_count > 0 && usage.last_failure_at.is_none_or(|last| last <= began) {
        usage.error_count = 0;
        usage.failure_counts.clear();
        changed = true;
    }
    changed
}

fn rows(usage: &Usage) -> (usize, usize, usize) {
    (usage.windows.len(), usage.ladders.len(), usage.streaks.len())
}

/// E8: `last_used` is the start of the last attempt.
pub fn used(usage: &mut Usage, at: Timestamp) {
    usage.last_used = usage.last_used.max(Some(at));
}

/// A manual clear (E7): all windows, ladders and counters, or those of one model.
pub fn clear(usage: &mut Usage, model: Option<&str>) {
    if model.is_none() {
        *usage = Usage { last_used: usage.last_used, ..Usage::default() };
        return;
    }
    usage.windows.retain(|window| window.model.as_deref() != model);
    usage.ladders.retain(|ladder| ladder.model.as_deref() != model);
    usage.streaks.retain(|row| row.model.as_deref() != model);
}
