//! One legacy entry of `usageStats` (C4, E8).

use super::{Entries, FileReport, entries::Raw, instant, text};
use crate::{
    lang::policy::Lane,
    state::{
        legacy::imported_schedule,
        model::{Usage, Window},
    },
    time::Timestamp,
};

#[derive(Default)]
struct Lanes {
    cooldown_until: Option<Timestamp>,
    cooldown_model: Option<String>,
    cooldown_reason: Option<String>,
    disabled_until: Option<Timestamp>,
    disabled_reason: Option<String>,
}

/// Reads usage; what it does not understand goes into the report.
pub(super) fn read(value: Raw, at: &str, now: Timestamp, report: &mut FileReport) -> Option<Usage> {
    let Some(fields) = Entries::of(value) else {
        report.left(at, "not a map");
        return None;
    };
    fields.say_repeated(&format!("{at}."), report);
    let (mut usage, mut lanes) = (Usage::default(), Lanes::default());
    for (name, value) in fields.each {
        let understood = match (name.as_str(), value) {
            ("failureCounts", Raw::Map(counts)) => counts.each.into_iter().all(|(bucket, count)| {
                let count = count.other().and_then(number);
                usage.failure_counts.extend(count.map(|count| (bucket, count)));
                count.is_some()
            }),
            (_, Raw::Other(value)) if value.is_null() => true,
            (name, Raw::Other(value)) => match name {
                "lastUsed" => set(&mut usage.last_used, instant(&value)),
                "lastFailureAt" => set(&mut usage.last_failure_at, instant(&value)),
                "errorCount" => number(&value).map(|count| usage.error_count = count).is_some(),
                "cooldownUntil" => set(&mut lanes.cooldown_until, instant(&value)),
                "cooldownModel" => set(&mut lanes.cooldown_model, text(&value)),
                "cooldownReason" => set(&mut lanes.cooldown_reason, text(&value)),
                "disabledUntil" => set(&mut lanes.disabled_until, instant(&value)),
                "disabledReason" => set(&mut lanes.disabled_reason, text(&value)),
                _ => false,
            },
            _ => false,
        };
        if !understood {
            report.left(format!("{at}.{name}"), "unknown field, or not of the right type");
        }
    }
    let since = usage.last_failure_at.or(usage.last_used).unwrap_or(now).min(now);
    let window = |lane, until: Timestamp, model, reason: Option<String>| Window {
        lane,
        model,
        schedule: imported_schedule(lane).to_owned(),
        bucket: reason.unwrap_or_else(|| "unclassified".to_owned()),
        since,
        until,
        step: 1,
        hint: None,
        longest: until.since(now).max(until.since(since)),
    };
    if let Some(until) = lanes.cooldown_until {
        usage.windows.push(window(Lane::Cooldown, until, lanes.cooldown_model, lanes.cooldown_reason));
    }
    if let Some(until) = lanes.disabled_until {
        usage.windows.push(window(Lane::Disable, until, None, lanes.disabled_reason));
    }
    Some(usage)
}

fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    *place = value;
    place.is_some()
}

fn number(value: &serde_json::Value) -> Option<u32> {
    value.as_u64().map(|count| u32::try_from(count).unwrap_or(u32::MAX))
}
