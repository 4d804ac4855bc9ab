//! What follows from a verdict: the reaction slot by slot, the reset time, the window.

use serde::Serialize;

use super::place;
use crate::{
    classify::Verdict,
    lang::{
        policy::{CountSlot, DurationSlot, End, Lane, Reaction, RotateSlot, Scope, WindowSlot},
        source::Span,
    },
    signal::Evidence,
    table::Table,
    time::{Timestamp, format_duration},
};

/// One slot of the reaction in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Slot {
    /// `window`, `rotate`, `retry`, `end` or `say`.
    pub slot: &'static str,
    /// Its value in words of the language, with settings in force.
    pub value: String,
    /// `file:line`, or `built in`.
    pub at: String,
}

/// The provider's reset time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetShown {
    /// The declaration that found it.
    pub by: String,
    /// `file:line` of the declaration.
    pub declared_at: String,
    /// The time that was given.
    pub given: Timestamp,
    /// The time that counts.
    pub until: Timestamp,
    /// How far that is away, in milliseconds.
    pub reset_ms: u64,
    /// Whether bounds changed it.
    pub clamped: bool,
}

/// The window that a first failure would open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowShown {
    /// `cooldown` or `disable`.
    pub lane: &'static str,
    /// The model that it blocks; absent: the whole profile.
    pub model: Option<String>,
    /// The schedule.
    pub schedule: String,
    /// When it would end.
    pub until: Timestamp,
    /// How long it would be, in milliseconds.
    pub for_ms: u64,
    /// The reset time sets it, not the schedule.
    pub by_reset: bool,
    /// The failure in a row that opens it; 1: the first.
    pub from_failure: u32,
}

/// The slots of a reaction of the table's rules, with settings in force.
#[must_use]
pub fn slots(table: &Table, reaction: &Reaction) -> Vec<Slot> {
    let slot = |slot, value: String, span: Span| Slot { slot, value, at: place(table, span) };
    let mut slots = vec![
        slot("window", window_words(table, reaction.window.node.as_ref()), reaction.window.span),
        slot("rotate", rotate_words(table, reaction.rotate.node), reaction.rotate.span),
        slot(
            "retry",
            if reaction.retry_if_repaired.node { "retry once if repaired" } else { "no retry" }.to_owned(),
            reaction.retry_if_repaired.span,
        ),
        slot(
            "end",
            match reaction.end.node {
                End::Fallback => "fallback",
                End::Surface => "surface",
                End::FallbackElseSurface => "fallback else surface",
            }
            .to_owned(),
            reaction.end.span,
        ),
    ];
    slots.extend(reaction.say.as_ref().map(|say| slot("say", say.node.clone(), say.span)));
    slots
}

fn window_words(table: &Table, window: Option<&WindowSlot>) -> String {
    let Some(window) = window else { return "no window".to_owned() };
    let scope = match window.scope {
        Scope::Model => "model",
        Scope::Profile => "profile",
    };
    let until = window.until_reset.map_or_else(String::new, |bounds| {
        let (least, most) = (duration(table, bounds.at_least), duration(table, bounds.at_most));
        format!(" until reset at least {least} at most {most}")
    });
    let after = window.after.map_or_else(String::new, |after| {
        format!(" after {} in a row within {}", after.count, duration(table, after.within))
    });
    let (lane, schedule) = (lane_word(window.lane), table.backoff_name(window.backoff));
    format!("{lane} {scope} using {schedule}{until}{after}")
}

fn rotate_words(table: &Table, rotate: Option<RotateSlot>) -> String {
    let Some(rotate) = rotate else { return "no rotate".to_owned() };
    let up_to = rotate
        .up_to
        .map_or_else(String::new, |count: CountSlot| format!(" up to {}", table.settings().count(count)));
    let after = rotate.after.map_or_else(String::new, |pause| format!(" after {}", duration(table, pause)));
    format!("rotate{up_to}{after}")
}

fn duration(table: &Table, slot: DurationSlot) -> String {
    format_duration(table.settings().duration(slot, None))
}

fn lane_word(lane: Lane) -> &'static str {
    match lane {
        Lane::Cooldown => "cooldown",
        Lane::Disable => "disable",
    }
}

pub(super) fn reset(table: &Table, verdict: &Verdict, now: Timestamp) -> Option<ResetShown> {
    let hint = verdict.reset?;
    let declared = table.reset(hint.from);
    Some(ResetShown {
        by: declared.name.to_string(),
        declared_at: place(table, declared.span),
        given: hint.given,
        until: hint.at,
        reset_ms: millis(hint.at, now),
        clamped: hint.clamped(),
    })
}

pub(super) fn window(
    table: &Table,
    verdict: &Verdict,
    evidence: &Evidence,
    now: Timestamp,
) -> Option<WindowShown> {
    let window = table.reaction(verdict).window.node?;
    let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let step = table.backoff_step(window.backoff, 1, known(&evidence.provider).as_deref());
    let until = verdict.reset.map_or(now.after(step), |hint| hint.at);
    Some(WindowShown {
        lane: lane_word(window.lane),
        model: known(&evidence.model).filter(|_| window.scope == Scope::Model),
        schedule: table.backoff_name(window.backoff).to_owned(),
        until,
        for_ms: millis(until, now),
        by_reset: verdict.reset.is_some(),
        from_failure: window.after.map_or(1, |after| after.count),
    })
}

fn millis(until: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(until.since(now).as_millis()).unwrap_or(u64::MAX)
}
