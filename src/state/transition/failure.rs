//! What a failure does to a profile's usage (E4, E6, E7, E8, E10).

use super::{clear, guard};
use crate::{
    lang::policy::Scope,
    state::{
        change::{AfterInARow, Failure, Hint, Outcome, WindowIntent},
        model::{Ladder, Streak, Usage, Window},
    },
    time::Timestamp,
};

/// Takes a failure down. Counters and the time of the last failure tell what has happened, also inside an
/// open window (E8); window and ladder change as the intent says (E6, E7, E10).
pub fn failure(usage: &mut Usage, failure: &Failure, now: Timestamp) -> Outcome {
    guard(usage, now);
    late_failure(usage, failure, now)
}

/// The same for a failure of an earlier time, `now`: what is newer stays as it is.
pub fn late_failure(usage: &mut Usage, failure: &Failure, now: Timestamp) -> Outcome {
    start_afresh(usage, failure, now);
    count(usage, failure, now);
    let Some(intent) = &failure.window else {
        break_rows(usage, failure);
        return Outcome::NoWindow;
    };
    let model = match intent.scope {
        Scope::Model => failure.model.as_deref().map(str::to_owned),
        Scope::Profile => None,
    };
    break_rows(usage, failure);
    if let Some(after) = intent.after
        && !row_is_long_enough(usage, model.as_deref(), &failure.bucket, after, now)
    {
        return Outcome::NoWindow;
    }
    match open_window(usage, model.as_deref(), &intent.schedule.name, now) {
        Some(open) => extend(open, intent.hint, now),
        None => open_one(usage, failure, intent, model, now),
    }
}

/// E4: after enough quiet, nothing of the past counts. Quiet begins at the later of the last failure
/// and the end of the last window.
fn start_afresh(usage: &mut Usage, failure: &Failure, now: Timestamp) {
    let (Some(quiet), Some(last)) = (failure.forget_after, usage.last_failure_at) else { return };
    let quiet_from = usage.windows.iter().map(|window| window.until).fold(last, Timestamp::max);
    if now >= quiet_from.after(quiet) {
        clear(usage, None);
    }
}

fn count(usage: &mut Usage, failure: &Failure, now: Timestamp) {
    usage.error_count = usage.error_count.saturating_add(1);
    let of_bucket = usage.failure_counts.entry(failure.bucket.clone()).or_default();
    *of_bucket = of_bucket.saturating_add(1);
    usage.last_failure_at = usage.last_failure_at.max(Some(now));
    usage.last_used = usage.last_used.max(Some(failure.attempt_started_at));
}

/// A failure of another bucket ends the row of its model's, and of the profile's.
fn break_rows(usage: &mut Usage, failure: &Failure) {
    usage.streaks.retain(|row| {
        row.bucket == failure.bucket
            || (row.model.is_some() && row.model.as_deref() != failure.model.as_deref())
    });
}

fn row_is_long_enough(
    usage: &mut Usage,
    model: Option<&str>,
    bucket: &str,
    after: AfterInARow,
    now: Timestamp,
) -> bool {
    let row = usage.streaks.iter_mut().find(|row| row.model.as_deref() == model && row.bucket == bucket);
    let count = if let Some(row) = row {
        row.count = if now.since(row.last) <= after.within { row.count.saturating_add(1) } else { 1 };
        row.last = row.last.max(now);
        row.count
    } else {
        let model = model.map(str::to_owned);
        usage.streaks.push(Streak { model, bucket: bucket.to_owned(), count: 1, last: now });
        1
    };
    count >= after.count
}

fn open_window<'a>(
    usage: &'a mut Usage,
    model: Option<&str>,
    schedule: &str,
    now: Timestamp,
) -> Option<&'a mut Window> {
    usage.windows.iter_mut().find(|w| w.is_open(now) && w.model.as_deref() == model && w.schedule == schedule)
}

/// E7: inside an open window only a later hint counts.
fn extend(open: &mut Window, hint: Option<Hint>, now: Timestamp) -> Outcome {
    match hint {
        Some(hint) if within_bounds(hint, now) > open.until => {
            open.until = within_bounds(hint, now);
            open.hint = Some(hint.given);
            open.longest = open.until.since(now);
            Outcome::Extended(open.clone())
        }
        _ => Outcome::Unchanged(open.clone()),
    }
}

/// E6: a hint within its bounds, seen from now.
fn within_bounds(hint: Hint, now: Timestamp) -> Timestamp {
    hint.given.min(now.after(hint.at_most)).max(now.after(hint.at_least))
}

/// E10: climbs one step, unless the attempt began before the ladder's last window was set, and opens
/// the window of that step or of the hint.
fn open_one(
    usage: &mut Usage,
    failure: &Failure,
    intent: &WindowIntent,
    model: Option<String>,
    now: Timestamp,
) -> Outcome {
    let schedule = &intent.schedule;
    let same = |m: &Option<String>, s: &str| *m == model && s == schedule.name;
    let last_set = usage.windows.iter().filter(|w| same(&w.model, &w.schedule)).map(|w| w.since).max();
    let step =
        if let Some(ladder) = usage.ladders.iter_mut().find(|ladder| same(&ladder.model, &ladder.schedule)) {
            let set = last_set.unwrap_or(ladder.climbed_at).max(ladder.climbed_at);
            if failure.attempt_started_at >= set {
                ladder.step = ladder.step.saturating_add(1);
                ladder.climbed_at = now;
            }
            ladder.step
        } else {
            let (model, schedule) = (model.clone(), schedule.name.clone());
            usage.ladders.push(Ladder { model, schedule, step: 1, climbed_at: now });
            1
        };
    let until = match intent.hint {
        Some(hint) => within_bounds(hint, now),
        None => now.after(schedule.jittered(step, intent.seed)),
    };
    usage.windows.retain(|w| !same(&w.model, &w.schedule));
    if until <= now {
        return Outcome::NoWindow;
    }
    let window = Window {
        lane: intent.lane,
        model,
        schedule: schedule.name.clone(),
        bucket: failure.bucket.clone(),
        since: now,
        until,
        step,
        hint: intent.hint.map(|hint| hint.given),
        longest: until.since(now),
    };
    usage.windows.push(window.clone());
    Outcome::Opened(window)
}
