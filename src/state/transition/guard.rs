//! The clock guard (E11): a clock that jumped back must not leave a profile blocked for a year.

use std::time::Duration;

use crate::{
    state::model::{Usage, Window},
    time::Timestamp,
};

/// Clocks of two threads or processes may differ by this much without having jumped (E11).
pub const SKEW: Duration = Duration::from_secs(1);

/// Cuts every window that lasts longer, seen from `now`, than its schedule or hint could have made
/// it, and takes back to `now` what lies in the future. Gives each window that was cut, as it is
/// now, with its former end.
pub fn guard(usage: &mut Usage, now: Timestamp) -> Vec<(Window, Timestamp)> {
    let mut cuts = Vec::new();
    if now >= calm_from(usage) {
        return cuts;
    }
    for window in &mut usage.windows {
        let was_until = window.until;
        if was_until > now.after(window.longest).after(SKEW) {
            window.until = now.after(window.longest);
            window.since = window.since.min(now);
            cuts.push((window.clone(), was_until));
        } else {
            take_back(&mut window.since, now);
        }
    }
    for ladder in &mut usage.ladders {
        take_back(&mut ladder.climbed_at, now);
    }
    for streak in &mut usage.streaks {
        take_back(&mut streak.last, now);
    }
    for instant in [&mut usage.last_used, &mut usage.last_failure_at].into_iter().flatten() {
        take_back(instant, now);
    }
    cuts
}

/// The instant from which [`guard`] finds nothing to do: one comparison for every later `now`.
#[must_use]
pub fn calm_from(usage: &Usage) -> Timestamp {
    let ends = usage.windows.iter().map(|window| window.until.before(window.longest));
    let sets = usage.windows.iter().map(|window| window.since);
    let climbs = usage.ladders.iter().map(|ladder| ladder.climbed_at);
    let rows = usage.streaks.iter().map(|streak| streak.last);
    let others = [usage.last_used, usage.last_failure_at].into_iter().flatten();
    ends.chain(sets).chain(climbs).chain(rows).chain(others).max().map_or(LONG_AGO, |last| last.before(SKEW))
}

const LONG_AGO: Timestamp = Timestamp::from_millis(i64::MIN);

fn take_back(instant: &mut Timestamp, now: Timestamp) {
    if *instant > now.after(SKEW) {
        *instant = now;
    }
}
