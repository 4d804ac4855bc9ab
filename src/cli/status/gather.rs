//! The status as data. Times are absolute, spans in milliseconds.

use std::collections::BTreeSet;

use serde::Serialize;

use super::rules::RulesStatus;
use crate::{
    cli::{orders, profiles, schedules::misfits, session::full, statefile::Seen},
    config::Config,
    lang::{policy::Lane, tree::SettingValue},
    run::{Request, Routing, Selected, select},
    state::{
        model::{Ladder, ProfileId, Window},
        select::{collisions, eligible, profile_set},
        view::ProfileView,
    },
    table::{InForce, Origin, Table},
    time::{Timestamp, format_duration},
};

/// Everything that `status` shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    /// The state file.
    pub file: String,
    /// There is such a file.
    pub exists: bool,
    /// The moment from which it is seen.
    pub now: String,
    /// What is wrong (C2, C5).
    pub problems: Vec<String>,
    /// What is in force otherwise than it was given (E3).
    pub warnings: Vec<String>,
    pub session: Option<String>,
    /// The selected model; none when nothing names one.
    pub selected: Option<String>,
    /// Where the selection came from.
    pub source: Option<&'static str>,
    /// The fallback that answers in its place, when one does.
    pub active: Option<String>,
    /// Why: the bucket of the selected model's last failure.
    pub reason: Option<String>,
    pub profiles: Vec<Profile>,
    pub settings: Vec<Setting>,
    #[serde(flatten)]
    pub rules: RulesStatus,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Profile {
    pub id: String,
    pub provider: String,
    pub kind: &'static str,
    pub eligible: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// It is left out by the config's order or list.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub not_listed: bool,
    /// Its session's pin: `user` or `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used: Option<String>,
    pub error_count: u32,
    /// Open windows.
    pub windows: Vec<Open>,
    /// Ladders without an open window, and their next step.
    pub ladders: Vec<Rung>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Open {
    pub lane: &'static str,
    pub bucket: String,
    /// The model that it blocks; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub until: String,
    pub left_ms: u64,
    pub step: u32,
    /// The provider's own reset time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Bounds changed it (E6).
    pub clamped: bool,
    /// What the next failure would give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<Next>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rung {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub schedule: String,
    pub step: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<Next>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Next {
    pub step: u32,
    pub ms: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Setting {
    pub name: String,
    pub value: String,
    pub origin: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_provider: Vec<(String, String)>,
}

/// Gathers the status of a session, or of what the config alone selects.
pub(super) fn gather(
    table: &Table,
    config: &Config,
    seen: &Seen,
    session: Option<&str>,
    agent: Option<&str>,
    rules: RulesStatus,
) -> Status {
    let routing = Routing::from(config);
    let request = Request {
        session: session.map(str::to_owned),
        agent: agent.map(str::to_owned),
        ..Request::default()
    };
    let stored = &seen.view.session;
    let selected = select(&request, &routing, stored);
    let active = selected.as_ref().filter(|it| it.origin.candidate != it.candidate);
    let reason = active.and_then(|_| stored.selected.as_ref()?.reason.clone());
    let listed = listed(&routing, table, seen);
    let profiles = seen.view.profiles.iter().map(|profile| of_profile(profile, table, &listed, seen));
    Status {
        file: seen.path.to_string_lossy().into_owned(),
        exists: seen.there,
        now: seen.now.to_string(),
        problems: problems(&routing, table, seen),
        warnings: misfits(table).into_iter().map(|it| format!("{}; {}", it.message, it.help)).collect(),
        session: request.session,
        selected: selected.as_ref().map(|it| full(&it.origin.candidate)),
        source: selected.as_ref().map(source),
        active: active.map(|it| full(&it.candidate)),
        reason,
        profiles: profiles.collect(),
        settings: settings(table),
        rules,
    }
}

fn source(selected: &Selected) -> &'static str {
    use crate::lang::policy::SelectionSource as S;
    match selected.origin.source {
        S::Default => "default",
        S::Agent => "agent",
        S::Cron => "cron",
        S::Auto => "auto",
        S::User => "user",
        S::Legacy => "legacy",
    }
}

/// C2, C5: two names of one profile; an order that names only missing ones.
fn problems(routing: &Routing, table: &Table, seen: &Seen) -> Vec<String> {
    let family = |a: &str, b: &str| table.same_provider(a, b);
    let stored = &seen.view.profiles;
    let ids: Vec<&ProfileId> = stored.iter().map(|profile| &profile.info.id).collect();
    let twice = collisions(stored, &family).into_iter().map(|twice| twice.to_string());
    let lost = orders::lost(routing, &ids, "stored", &family).into_iter().filter(|lost| lost.all);
    twice.chain(lost.map(|lost| format!("{}; {}", lost.message, lost.help))).collect()
}

fn of_profile(profile: &ProfileView, table: &Table, listed: &BTreeSet<&ProfileId>, seen: &Seen) -> Profile {
    let (info, usage) = (&profile.info, &profile.usage);
    let reason = eligible(info, &info.provider, &str::eq, seen.now).err();
    let open = |window: &&Window| window.is_open(seen.now);
    let idle = |ladder: &&Ladder| {
        let same = |w: &Window| w.model == ladder.model && w.schedule == ladder.schedule;
        !usage.windows.iter().any(|window| window.is_open(seen.now) && same(window))
    };
    let provider = info.provider.as_str();
    let pin = seen.view.session.pins.values().find(|pin| pin.profile == info.id);
    Profile {
        id: info.id.0.to_string(),
        provider: info.provider.clone(),
        kind: profiles::kind(info.kind),
        eligible: reason.is_none(),
        reason: reason.map(|reason| reason.to_string()),
        not_listed: !listed.contains(&info.id),
        pinned: pin.map(|pin| if pin.by_user { "user" } else { "auto" }),
        last_used: usage.last_used.map(|at| at.to_string()),
        error_count: usage.error_count,
        windows: usage.windows.iter().filter(open).map(|w| of_window(w, provider, table, seen.now)).collect(),
        ladders: usage
            .ladders
            .iter()
            .filter(idle)
            .map(|ladder| Rung {
                model: ladder.model.clone(),
                schedule: ladder.schedule.clone(),
                step: ladder.step,
                next_step: next(table, &ladder.schedule, ladder.step, provider),
            })
            .collect(),
    }
}

/// The stored profiles that the config's orders and lists leave in (C5).
fn listed<'a>(routing: &Routing, table: &Table, seen: &'a Seen) -> BTreeSet<&'a ProfileId> {
    let family = |a: &str, b: &str| table.same_provider(a, b);
    let stored = &seen.view.profiles;
    let providers: BTreeSet<&str> = stored.iter().map(|profile| profile.info.provider.as_str()).collect();
    let of = |provider: &'a str| {
        let order = routing.order_of(provider, &family);
        let set = profile_set(provider, order, &routing.profiles, stored, &family);
        let its = set.profiles.into_iter().filter(move |profile| profile.info.provider == provider);
        its.map(|profile| &profile.info.id)
    };
    providers.into_iter().flat_map(of).collect()
}

fn of_window(window: &Window, provider: &str, table: &Table, now: Timestamp) -> Open {
    Open {
        lane: match window.lane {
            Lane::Cooldown => "cooldown",
            Lane::Disable => "disabled",
        },
        bucket: window.bucket.clone(),
        model: window.model.clone(),
        until: window.until.to_string(),
        left_ms: millis(window.until.since(now)),
        step: window.step,
        hint: window.hint.map(|hint| hint.to_string()),
        clamped: window.clamped(),
        next_step: next(table, &window.schedule, window.step, provider),
    }
}

/// The step after `step`, if the rules still know the schedule.
fn next(table: &Table, schedule: &str, step: u32, provider: &str) -> Option<Next> {
    let id = table.backoff_named(schedule)?;
    let step = step.saturating_add(1);
    Some(Next { step, ms: millis(table.backoff_step(id, step, Some(provider))) })
}

fn settings(table: &Table) -> Vec<Setting> {
    let rules = table.ruleset();
    let origin = |force: &InForce| match &force.origin {
        Origin::Rules(span) => format!("rules {}", table.locate(*span)),
        Origin::Set(span) => format!("set {}", table.locate(*span)),
        Origin::Config(path) => format!("config {path}"),
        Origin::Env(name) => format!("environment {name}"),
    };
    let one = |(setting, force): (&crate::lang::tree::Setting, &InForce)| Setting {
        name: setting.name.to_string(),
        value: value(force.value),
        origin: origin(force),
        by_provider: force.by_provider.iter().map(|(id, its)| (id.clone(), value(*its))).collect(),
    };
    rules.settings.iter().zip(table.settings().iter()).map(one).collect()
}

fn value(value: SettingValue) -> String {
    match value {
        SettingValue::Duration(span) => format_duration(span),
        SettingValue::Count(count) => count.to_string(),
    }
}

fn millis(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
