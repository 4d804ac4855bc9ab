//! YAML → [`Scenario`], with every problem at its line.

mod providers;
mod turns;
mod values;

use std::collections::BTreeSet;

use serde_yaml::Value;

use super::{
    error::ScenarioError,
    scenario::{Scenario, ScenarioProfile},
};
use crate::{
    config::{self, Unknown, Walker, is_profile_id, parse},
    lang::policy::CredentialKind,
    state::model::ProfileId,
    time::{Timestamp, parse_date},
};

/// A scenario longer than this is the wrong file.
const LONGEST: usize = 4 * 1024 * 1024;

const TOP: &[&str] = &["config", "profiles", "no_credentials", "providers", "turns", "start", "env"];
const PROFILE: &[&str] = &["id", "kind", "provider", "expires", "refresh", "secret"];

impl Scenario {
    /// Reads a scenario from YAML (or JSON, being YAML). Turns come out in order of time, those of one
    /// instant in the order of the file.
    ///
    /// # Errors
    /// [`ScenarioError`] with every problem found, each with its line: bad YAML, unknown keys, wrong
    /// types, bad durations, turns that say nothing or too much.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        if text.len() > LONGEST {
            return Err(ScenarioError::TooLong { bytes: text.len(), limit: LONGEST });
        }
        let document = parse(text).map_err(ScenarioError::Yaml)?;
        let mut walk = Walker::new(text, "a scenario");
        let mut scenario = scenario(&mut walk, &document);
        if !walk.problems.is_empty() {
            walk.problems.sort_by_key(|problem| problem.offset);
            return Err(ScenarioError::Invalid(walk.problems));
        }
        scenario.hints = walk.hints;
        scenario.turns.sort_by_key(|turn| turn.at);
        Ok(scenario)
    }
}

fn scenario(walk: &mut Walker<'_>, document: &Value) -> Scenario {
    let mut scenario = Scenario::default();
    let Some(top) = walk.section(document, TOP, Unknown::Error) else { return scenario };
    walk.key(top, "config", |walk, value| scenario.config = config::section(walk, value));
    walk.key(top, "start", |walk, value| {
        let Some(text) = values::text(walk, value) else { return };
        scenario.start = parse_date(&text, Timestamp::EPOCH);
        if scenario.start.is_none() {
            let help = "write it as `2026-03-01T00:00:00Z`".to_owned();
            walk.problem(format!("`{text}` is no point in time"), Some(help));
        }
    });
    walk.key(top, "env", |walk, value| {
        let Some(map) = walk.map(value) else { return };
        walk.each(map, |walk, name, value| {
            scenario.env.extend(values::text(walk, value).map(|text| (name.to_owned(), text)));
        });
    });
    walk.key(top, "profiles", |walk, value| {
        let mut seen = BTreeSet::new();
        walk.entries(value, |walk, entry| {
            let Some(profile) = profile(walk, entry) else { return };
            if !seen.insert(profile.id.clone()) {
                walk.problem(format!("profile `{}` stands here twice", profile.id.0), None);
            }
            scenario.profiles.push(profile);
        });
    });
    walk.key(top, "no_credentials", |walk, value| {
        walk.entries(value, |walk, entry| scenario.no_credentials.extend(walk.string(entry)));
    });
    walk.key(top, "providers", |walk, value| {
        let mut entries = Vec::new();
        walk.entries(value, |walk, entry| entries.extend(providers::entry(walk, entry, &scenario)));
        scenario.providers = entries;
    });
    walk.key(top, "turns", |walk, value| {
        let mut turns = Vec::new();
        walk.entries(value, |walk, entry| turns.extend(turns::turn(walk, entry, &scenario)));
        scenario.turns = turns;
    });
    scenario
}

fn profile(walk: &mut Walker<'_>, entry: &Value) -> Option<ScenarioProfile> {
    let map = walk.section(entry, PROFILE, Unknown::Error)?;
    let (mut id, mut kind, mut provider, mut expires) = (None, None, None, None);
    let (mut refresh, mut secret) = (None, None);
    walk.key(map, "id", |walk, value| id = profile_id(walk, value));
    walk.key(map, "kind", |walk, value| kind = walk.kind(value));
    walk.key(map, "provider", |walk, value| provider = walk.string(value));
    walk.key(map, "expires", |walk, value| expires = values::duration(walk, value));
    walk.key(map, "refresh", |walk, value| refresh = values::flag(walk, value));
    walk.key(map, "secret", |walk, value| secret = values::flag(walk, value));
    if !map.contains_key("id") {
        walk.problem("a profile has no `id`".to_owned(), Some("write `id: provider:NAME`".to_owned()));
    }
    let id = id?;
    let kind = match kind.as_deref() {
        Some("oauth") => CredentialKind::Oauth,
        Some("token") => CredentialKind::Token,
        _ => CredentialKind::ApiKey,
    };
    let secret = secret.unwrap_or(true);
    Some(ScenarioProfile {
        provider: provider.unwrap_or_else(|| id.provider().to_owned()),
        refresh: refresh.unwrap_or(kind == CredentialKind::Oauth && secret),
        id,
        kind,
        expires,
        secret,
    })
}

/// `provider:NAME`.
fn profile_id(walk: &mut Walker<'_>, value: &Value) -> Option<ProfileId> {
    let id = walk.string(value)?;
    if !is_profile_id(&id) {
        walk.problem(format!("`{id}` is no profile id"), Some("write `provider:NAME`".to_owned()));
    }
    Some(ProfileId(id.into()))
}

/// A profile that the scenario should know: by its list, or by the config.
fn known_profile(walk: &mut Walker<'_>, value: &Value, scenario: &Scenario) -> Option<ProfileId> {
    let id = profile_id(walk, value)?;
    if !scenario.profiles.is_empty() && scenario.profiles.iter().all(|profile| profile.id != id) {
        let known = scenario.profiles.iter().map(|profile| profile.id.0.as_str());
        walk.hint(format!("no profile of this scenario is called `{}`", id.0), &id.0, known);
    }
    Some(id)
}
