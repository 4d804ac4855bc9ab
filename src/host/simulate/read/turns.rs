//! What the host does.

use std::time::Duration;

use serde_yaml::{Mapping, Value};

use super::{known_profile, providers, values};
use crate::{
    config::{ModelRef, Unknown, Walker},
    host::simulate::scenario::{Act, Ask, Pinned, Scenario, Switch, Turn},
    lang::policy::SelectionSource,
    run::{Choice, Kind, ModelList, Routing},
    signal::Aborted,
    state::model::{Candidate, ProfileId},
};

const TURN: &[&str] =
    &["at", "session", "agent", "kind", "source", "model", "profile", "fallbacks", "once", "do", "aborted"];
const DEEDS: &[&str] = &["reset", "new", "compact", "clear_profile", "switch", "abort"];
/// What every deed may say: when, where, and who does it.
const DEED: &[&str] = &["at", "session", "do", "agent", "source"];
const SOURCES: &[&str] = &["default", "agent", "cron", "heartbeat", "user", "legacy"];

/// A turn as it is written.
#[derive(Default)]
struct Written<'w> {
    agent: Option<String>,
    kind: Kind,
    source: Option<&'w str>,
    model: Option<Candidate>,
    profile: Option<ProfileId>,
    fallbacks: Option<Vec<Candidate>>,
    once: bool,
    deed: Option<&'w str>,
    aborted: Option<Aborted>,
}

/// One entry of `turns`.
pub(super) fn turn(walk: &mut Walker<'_>, value: &Value, scenario: &Scenario) -> Option<Turn> {
    let map = walk.section(value, TURN, Unknown::Error)?;
    let (mut at, mut session): (Option<Duration>, _) = (None, None);
    walk.key(map, "at", |walk, value| at = values::duration(walk, value));
    walk.key(map, "session", |walk, value| session = values::text(walk, value));
    for needed in ["at", "session"] {
        if map.get(needed).is_none_or(Value::is_null) {
            let help = format!("write `{needed}: {}`", if needed == "at" { "0s" } else { "s1" });
            walk.problem(format!("a turn has no `{needed}`"), Some(help));
        }
    }
    let written = written(walk, map, scenario);
    let act = match written.deed {
        Some(deed) => do_(walk, map, deed, written)?,
        None => Act::Ask(ask(walk, map, written, scenario)),
    };
    Some(Turn { at: at?, session: session?, act })
}

fn written(walk: &mut Walker<'_>, map: &Mapping, scenario: &Scenario) -> Written<'static> {
    let mut written = Written::default();
    walk.key(map, "agent", |walk, value| {
        written.agent = values::text(walk, value);
        let known = || scenario.config.agents.iter().map(|agent| agent.id.as_str());
        if let Some(agent) = written.agent.as_deref().filter(|agent| known().all(|id| id != *agent)) {
            walk.hint(format!("no agent of the config is called `{agent}`"), agent, known());
        }
    });
    walk.key(map, "kind", |walk, value| {
        let image = values::word(walk, value, "no kind of turn", &["text", "image"]) == Some("image");
        written.kind = if image { Kind::Image } else { Kind::Text };
    });
    walk.key(map, "source", |walk, value| {
        written.source = values::word(walk, value, "no source of a selection", SOURCES);
    });
    walk.key(map, "model", |walk, value| written.model = walk.model(value).map(candidate));
    walk.key(map, "profile", |walk, value| written.profile = known_profile(walk, value, scenario));
    walk.key(map, "fallbacks", |walk, value| {
        let mut fallbacks = Vec::new();
        walk.entries(value, |walk, value| fallbacks.extend(walk.model(value).map(candidate)));
        written.fallbacks = Some(fallbacks);
    });
    walk.key(map, "once", |walk, value| written.once = values::flag(walk, value) == Some(true));
    walk.key(map, "do", |walk, value| {
        written.deed = values::word(walk, value, "nothing that a host does", DEEDS);
    });
    walk.key(map, "aborted", |walk, value| written.aborted = providers::aborted(walk, value));
    written
}

fn candidate(model: ModelRef) -> Candidate {
    Candidate { provider: model.provider.into(), model: model.model.into() }
}

/// Something without a turn of its own.
fn do_(walk: &mut Walker<'_>, map: &Mapping, deed: &str, written: Written<'_>) -> Option<Act> {
    let takes: &[&str] = match deed {
        "clear_profile" => &["profile", "model"],
        "switch" => &["model", "once"],
        "abort" => &["aborted"],
        _ => &[],
    };
    for key in map.keys().filter_map(Value::as_str) {
        let belongs = DEED.contains(&key) || takes.contains(&key);
        if !belongs && TURN.contains(&key) {
            let help = "leave it out, or leave `do` out".to_owned();
            walk.problem(format!("`{key}` says nothing beside `do: {deed}`"), Some(help));
        }
    }
    Some(match deed {
        "reset" => Act::Reset,
        "new" => Act::New,
        "compact" => Act::Compact,
        "clear_profile" => Act::ClearProfile {
            profile: written.profile,
            model: written.model.map(|model| model.model.into()),
        },
        "switch" => {
            let by_user = matches!(written.source, None | Some("user"));
            let Some(to) = written.model else {
                if !map.contains_key("model") {
                    let help = "write `model: provider/model`".to_owned();
                    walk.problem("a switch does not say to which model".to_owned(), Some(help));
                }
                return None;
            };
            Act::Switch(Switch { to, by_user, stores: by_user && !written.once })
        }
        _ => {
            let by_user = matches!(written.source, None | Some("user"));
            Act::Abort(written.aborted.unwrap_or(if by_user { Aborted::User } else { Aborted::Host }))
        }
    })
}

fn ask(walk: &mut Walker<'_>, map: &Mapping, written: Written<'_>, scenario: &Scenario) -> Ask {
    let Written { agent, kind, source, model, profile, fallbacks, once, .. } = written;
    let mut ask = Ask { kind, heartbeat: source == Some("heartbeat"), ..Ask::default() };
    let by_user = matches!(source, None | Some("user" | "legacy"));
    ask.pins = profile.map(|profile| Pinned { profile, by_user });
    if map.contains_key("aborted") {
        walk.problem("`aborted` says nothing here".to_owned(), Some("it goes with `do: abort`".to_owned()));
    }
    if once && model.is_none() && !map.contains_key("model") {
        walk.problem("`once` is about a model".to_owned(), Some("add `model: provider/model`".to_owned()));
    }
    if by_user && fallbacks.is_some() {
        let help = "leave it out, or say whose list it is: `source: cron`".to_owned();
        walk.problem("`fallbacks` says nothing here".to_owned(), Some(help));
    }
    // A job with a list and no model of its own goes by the configured one.
    let model = model.or_else(|| {
        fallbacks.as_ref()?;
        let routing = Routing::from(&scenario.config);
        let list = |list: &ModelList| list.primary.clone();
        routing.agent(agent.as_deref(), kind).and_then(list).or_else(|| list(routing.defaults(kind)))
    });
    let has_agent = agent.is_some();
    ask.agent = agent;
    let Some(model) = model else { return ask };
    let source = match source {
        None | Some("user") if once || kind == Kind::Image => SelectionSource::User,
        None | Some("user") => {
            ask.stores = Some((model, Some(SelectionSource::User)));
            return ask;
        }
        Some("legacy") => {
            ask.stores = Some((model, None));
            return ask;
        }
        Some("cron") => SelectionSource::Cron,
        Some("agent") => SelectionSource::Agent,
        Some("heartbeat") if has_agent => SelectionSource::Agent,
        Some(_) => SelectionSource::Default,
    };
    ask.choice = Some(Choice { candidate: model, source, fallbacks });
    ask
}
