//! A reaction's window slot with every value resolved, as the state asks for it (E).

use crate::{
    classify::Verdict,
    lang::policy::{DurationSlot, Growth, ResetBounds, WindowSlot},
    state::{
        change::{AfterInARow, Hint, WindowIntent},
        schedule::{Schedule, Steps},
    },
    table::Table,
};

/// The window that a failure asks for. Settings are those of `provider`; `seed` feeds the jitter.
pub(super) fn intent(
    table: &Table,
    slot: &WindowSlot,
    verdict: &Verdict,
    provider: &str,
    seed: u64,
) -> WindowIntent {
    let duration = |slot: DurationSlot| table.settings().duration(slot, Some(provider));
    WindowIntent {
        lane: slot.lane,
        scope: slot.scope,
        schedule: schedule(table, slot, provider),
        seed,
        hint: slot.until_reset.and_then(|bounds| hint(table, bounds, verdict, provider)),
        after: slot.after.map(|after| AfterInARow { count: after.count, within: duration(after.within) }),
    }
}

fn schedule(table: &Table, slot: &WindowSlot, provider: &str) -> Schedule {
    let duration = |slot: DurationSlot| table.settings().duration(slot, Some(provider));
    let name = table.backoff_name(slot.backoff).to_owned();
    let Some(named) = table.ruleset().backoffs.get(slot.backoff.index()) else {
        return Schedule::new(name, Steps::List(Vec::new()));
    };
    let steps = match &named.backoff.growth {
        Growth::Steps(steps) => Steps::List(steps.iter().map(|step| duration(*step)).collect()),
        Growth::Doubling { from, up_to } => {
            Steps::Doubling { from: duration(*from), up_to: duration(*up_to) }
        }
    };
    Schedule { name, steps, jitter_percent: named.backoff.jitter_percent }
}

/// E6: the provider's reset time with the bucket's bounds; a declaration may be trusted further (C11).
fn hint(table: &Table, bounds: ResetBounds, verdict: &Verdict, provider: &str) -> Option<Hint> {
    let found = verdict.reset?;
    let duration = |slot: DurationSlot| table.settings().duration(slot, Some(provider));
    let at_most = duration(bounds.at_most);
    let trusted = table.reset(found.from).trusted.map(duration);
    Some(Hint {
        given: found.given,
        at_least: duration(bounds.at_least),
        at_most: trusted.map_or(at_most, |trusted| trusted.max(at_most)),
    })
}
