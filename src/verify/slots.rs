//! A reaction in words, with the values in force: what two rule sets are compared by.

use crate::{
    classify::Verdict,
    lang::policy::{DurationSlot, Growth, Lane, Reaction, RotateSlot, Scope, WindowSlot},
    table::Table,
    time::format_duration,
};

use super::snapshot::then;

/// One slot of a reaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its name.
    pub(super) what: &'static str,
    /// What stands in it. Names of schedules and settings do not appear: their values do.
    pub(super) says: String,
}

/// The slots of what follows from a verdict, always the same ones in the same order.
pub(super) fn of(table: &Table, verdict: &Verdict, provider: Option<&str>) -> Vec<Slot> {
    let reaction: &Reaction = table.reaction(verdict);
    let words = Words { table, provider };
    let none = || "none".to_owned();
    [
        ("window", reaction.window.as_ref().map_or_else(none, |window| words.window(window))),
        ("rotate", reaction.rotate.as_ref().map_or_else(none, |rotate| words.rotate(rotate))),
        ("retry", if *reaction.retry_if_repaired { "once if repaired".to_owned() } else { none() }),
        ("end", then(*reaction.end).replace('_', " ")),
        ("say", reaction.say.as_ref().map_or_else(none, |say| format!("{:?}", say.node))),
        ("host", words.host(verdict)),
    ]
    .map(|(what, says)| Slot { what, says })
    .into()
}

struct Words<'a> {
    table: &'a Table,
    provider: Option<&'a str>,
}

impl Words<'_> {
    fn duration(&self, slot: DurationSlot) -> String {
        format_duration(self.table.settings().duration(slot, self.provider))
    }

    fn window(&self, window: &WindowSlot) -> String {
        let lane = match window.lane {
            Lane::Cooldown => "cooldown",
            Lane::Disable => "disable",
        };
        let scope = match window.scope {
            Scope::Model => "model",
            Scope::Profile => "profile",
        };
        let schedule = self.table.ruleset().backoffs.get(window.backoff.index());
        let (steps, jitter) = match schedule.map(|named| &named.backoff) {
            Some(backoff) => (
                match &backoff.growth {
                    Growth::Steps(steps) => {
                        steps.iter().map(|step| self.duration(*step)).collect::<Vec<_>>().join(", ")
                    }
                    Growth::Doubling { from, up_to } => {
                        format!("{} doubling up to {}", self.duration(*from), self.duration(*up_to))
                    }
                },
                backoff.jitter_percent,
            ),
            None => (String::new(), 0),
        };
        let mut out = format!("{lane} {scope} for {steps}");
        if jitter > 0 {
            out += &format!(", jitter {jitter}%");
        }
        if let Some(bounds) = &window.until_reset {
            let (least, most) = (self.duration(bounds.at_least), self.duration(bounds.at_most));
            out += &format!(", until reset ({least} to {most})");
        }
        if let Some(after) = &window.after {
            out += &format!(", after {} in a row within {}", after.count, self.duration(after.within));
        }
        out
    }

    fn rotate(&self, rotate: &RotateSlot) -> String {
        let mut out = match rotate.up_to {
            Some(count) => format!("up to {}", self.table.settings().count(count)),
            None => "through all".to_owned(),
        };
        if let Some(pause) = rotate.after {
            out += &format!(", each after {}", self.duration(pause));
        }
        out
    }

    /// What the bucket tells a host and the interpreter.
    fn host(&self, verdict: &Verdict) -> String {
        let bucket = self.table.bucket(verdict.bucket);
        let traits = &bucket.traits;
        let words = [
            bucket.http.map(|status| format!("http {status}")),
            traits.transient.then(|| "transient".to_owned()),
            traits.auth_class.then(|| "auth_class".to_owned()),
            traits.skips_provider_from.map(|step| format!("skips_provider from step {step}")),
            traits.keeps_probe_slot.then(|| "keeps_probe_slot".to_owned()),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
    }
}
