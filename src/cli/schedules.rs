//! Values of a config or the environment that a schedule does not allow (E3).

use std::time::Duration;

use crate::{
    lang::policy::{DurationSlot, Growth},
    lang::tree::{Setting, SettingValue},
    table::{InForce, Origin, Table},
    time::format_duration,
};

/// A value that is not in force as it was given.
pub(super) struct Misfit {
    /// Where it was given: a dotted path of the config, or a variable.
    pub(super) path: String,
    /// One lower-case sentence, with what is in force.
    pub(super) message: String,
    /// How to mend it.
    pub(super) help: String,
}

/// The first and the longest step of every doubling schedule: none may be zero, and the first no longer
/// than the longest.
pub(super) fn misfits(table: &Table) -> Vec<Misfit> {
    let rules = table.ruleset();
    let mut found = Vec::new();
    for named in &rules.backoffs {
        let Growth::Doubling { from, up_to } = named.backoff.growth else { continue };
        let cap = |provider: Option<&str>| table.settings().duration(up_to, provider);
        for Given { path, provider, span } in given(table, from) {
            if span.is_zero() {
                found.push(nothing(path, &named.name));
            } else if span > cap(provider) && !cap(provider).is_zero() {
                let (asked, most) = (format_duration(span), format_duration(cap(provider)));
                let by = name(table, up_to).map_or_else(|| "the schedule".to_owned(), |it| format!("`{it}`"));
                let message = format!("`{path}` is {asked}, more than {by} allows: {most} is in force");
                let help = format!("give {most} or less, or raise the longest step");
                found.push(Misfit { path, message, help });
            }
        }
        let zero = given(table, up_to).into_iter().filter(|given| given.span.is_zero());
        found.extend(zero.map(|given| nothing(given.path, &named.name)));
    }
    found
}

fn nothing(path: String, backoff: &str) -> Misfit {
    let message = format!("`{path}` is 0s: `backoff {backoff}` opens no window");
    Misfit { path, message, help: "leave it out for the rules' own value".to_owned() }
}

/// A duration that did not come from the rules.
struct Given<'t> {
    path: String,
    provider: Option<&'t str>,
    span: Duration,
}

fn given(table: &Table, slot: DurationSlot) -> Vec<Given<'_>> {
    let Some((setting, force)) = setting(table, slot) else { return Vec::new() };
    let path = match &force.origin {
        Origin::Config(path) => Some(path.clone()),
        Origin::Env(name) => Some(name.clone()),
        Origin::Rules(_) | Origin::Set(_) => None,
    };
    let of = |path, provider, value| match value {
        SettingValue::Duration(span) => Some(Given { path, provider, span }),
        SettingValue::Count(_) => None,
    };
    let below = setting.by_provider.as_ref().map_or("", |external| external.path.as_str());
    let own = force.by_provider.iter().map(|(provider, value)| {
        let path = format!("{below}.{provider}");
        of(path, Some(provider.as_str()), *value)
    });
    path.map(|path| of(path, None, force.value)).into_iter().chain(own).flatten().collect()
}

fn name(table: &Table, slot: DurationSlot) -> Option<&str> {
    setting(table, slot).map(|(setting, _)| &*setting.name)
}

fn setting(table: &Table, slot: DurationSlot) -> Option<(&Setting, &InForce)> {
    let DurationSlot::Setting(id) = slot else { return None };
    Some((table.ruleset().settings.get(id.index())?, table.settings().get(id)?))
}
