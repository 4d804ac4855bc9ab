//! What an answer, the start of an attempt and a manual clear do to usage (E7, E8, E10).

use super::guard;
use crate::{
    state::{
        change::Success,
        model::{Ladder, Streak, Usage, Window},
    },
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
    if is_steady(usage, success) {
        return false;
    }
    usage.windows.retain(|window| !ends_window(success, window));
    let windows = &usage.windows;
    usage.ladders.retain(|ladder| !ends_ladder(success, ladder, windows));
    usage.streaks.retain(|row| !ends_row(success, row));
    if ends_count(success, usage) {
        usage.error_count = 0;
        usage.failure_counts.clear();
    }
    true
}

/// Whether a success changes no more than `last_used`.
#[must_use]
pub fn is_steady(usage: &Usage, success: &Success) -> bool {
    if !(success.reset_model || success.reset_profile) {
        return true;
    }
    let Usage { windows, ladders, streaks, .. } = usage;
    !(windows.iter().any(|window| ends_window(success, window))
        || ladders.iter().any(|ladder| ends_ladder(success, ladder, windows))
        || streaks.iter().any(|row| ends_row(success, row))
        || ends_count(success, usage))
}

fn speaks_for(success: &Success, model: Option<&str>) -> bool {
    match model {
        None => success.reset_profile,
        Some(_) => success.reset_model && model == success.model.as_deref(),
    }
}

fn ends_window(success: &Success, window: &Window) -> bool {
    speaks_for(success, window.model.as_deref()) && window.since <= success.attempt_started_at
}

/// `windows`: those that are left.
fn ends_ladder(success: &Success, ladder: &Ladder, windows: &[Window]) -> bool {
    let still_open = || windows.iter().any(|w| w.model == ladder.model && w.schedule == ladder.schedule);
    speaks_for(success, ladder.model.as_deref())
        && ladder.climbed_at <= success.attempt_started_at
        && !still_open()
}

fn ends_row(success: &Success, row: &Streak) -> bool {
    speaks_for(success, row.model.as_deref()) && row.last <= success.attempt_started_at
}

fn ends_count(success: &Success, usage: &Usage) -> bool {
    usage.error_count > 0 && usage.last_failure_at.is_none_or(|last| last <= success.attempt_started_at)
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
