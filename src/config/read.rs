//! YAML → [`Config`].

use std::collections::HashSet;

use serde_yaml::{Mapping, Value};

use super::{
    Agent, AgentModels, Config, ConfigError, ConfiguredProfile, ModelChoice, ModelRef, Numbers, keys,
    walk::{Unknown, Walker, parse},
};
use crate::lang::diagnostic::nearest::did_you_mean;

/// A config longer than this is the wrong file.
const LONGEST: usize = 1024 * 1024;

/// Reads a config.
pub(super) fn config(text: &str) -> Result<Config, ConfigError> {
    if text.len() > LONGEST {
        return Err(ConfigError::TooLong { bytes: text.len(), limit: LONGEST });
    }
    let document = parse(text).map_err(ConfigError::Yaml)?;
    let mut walker = Walker::new(text, "the config");
    let mut config = section(&mut walker, &document);
    if walker.problems.is_empty() {
        config.hints = walker.hints;
        Ok(config)
    } else {
        walker.problems.sort_by_key(|problem| problem.offset);
        Err(ConfigError::Invalid(walker.problems))
    }
}

/// Reads a config that stands somewhere in a larger document: where the walker is. What is wrong
/// with it is taken down there.
pub(crate) fn section(walker: &mut Walker<'_>, value: &Value) -> Config {
    let mut config = walker.document(value);
    config.numbers = Numbers::of(value);
    config
}

impl Walker<'_> {
    fn document(&mut self, document: &Value) -> Config {
        let mut config = Config::default();
        let Some(top) = self.section(document, keys::TOP, Unknown::Hint) else { return config };
        self.key(top, "auth", |read, auth| {
            let Some(auth) = read.section(auth, keys::AUTH, Unknown::Hint) else { return };
            read.key(auth, "profiles", |read, value| config.profiles = read.profiles(value));
            read.key(auth, "order", |read, value| read.order(value, &mut config));
            read.key(auth, "cooldowns", Self::cooldowns);
        });
        self.key(top, "agents", |read, agents| {
            let Some(agents) = read.section(agents, keys::AGENTS, Unknown::Hint) else { return };
            read.key(agents, "defaults", |read, value| {
                if let Some(map) = read.section(value, keys::DEFAULTS, Unknown::Hint) {
                    config.defaults = read.models(map);
                }
            });
            read.key(agents, "list", |read, value| config.agents = read.agents(value));
        });
        config
    }

    fn profiles(&mut self, value: &Value) -> Vec<ConfiguredProfile> {
        let mut profiles = Vec::new();
        let Some(map) = self.map(value) else { return profiles };
        self.each(map, |read, id, entry| {
            if !is_profile_id(id) {
                read.problem(format!("`{id}` is no profile id"), Some("write `provider:NAME`".to_owned()));
            }
            let mut profile = ConfiguredProfile { id: id.to_owned(), ..ConfiguredProfile::default() };
            if let Some(fields) = read.section(entry, keys::PROFILE, Unknown::Error) {
                read.key(fields, "provider", |read, value| profile.provider = read.string(value));
                read.key(fields, "email", |read, value| profile.email = read.string(value));
                for name in ["kind", "mode", "type"] {
                    read.key(fields, name, |read, value| profile.kind = read.kind(value));
                }
            }
            profiles.push(profile);
        });
        profiles
    }

    /// A kind of credential.
    pub(crate) fn kind(&mut self, value: &Value) -> Option<String> {
        let kind = self.string(value)?;
        if !keys::KINDS.contains(&kind.as_str()) {
            let help = did_you_mean(&kind, keys::KINDS.iter().copied());
            let all = || "use `oauth`, `token` or `api_key`".to_owned();
            self.problem(format!("`{kind}` is no kind of credential"), Some(help.unwrap_or_else(all)));
        }
        Some(kind)
    }

    fn order(&mut self, value: &Value, config: &mut Config) {
        let Some(map) = self.map(value) else { return };
        self.each(map, |read, provider, list| {
            let mut ids = Vec::new();
            read.entries(list, |read, entry| {
                let Some(id) = read.string(entry) else { return };
                if !is_profile_id(&id) {
                    read.problem(
                        format!("`{id}` is no profile id"),
                        Some("write `provider:NAME`".to_owned()),
                    );
                }
                ids.push(id);
            });
            config.order.insert(provider.to_owned(), ids);
        });
    }

    /// Only checks: the values are found among the numbers, where settings ask for them.
    fn cooldowns(&mut self, value: &Value) {
        let Some(map) = self.section(value, keys::COOLDOWNS, Unknown::Error) else { return };
        self.each(map, |read, key, value| match key {
            keys::BY_PROVIDER => {
                if let Some(providers) = read.map(value) {
                    read.each(providers, |read, _, value| read.number(value));
                }
            }
            _ if keys::COOLDOWNS.contains(&key) => read.number(value),
            _ => {}
        });
    }

    fn number(&mut self, value: &Value) {
        let fits = value.as_f64().is_some_and(|number| number.is_finite() && number >= 0.0);
        if !fits {
            self.mismatch("a number of 0 or more", value);
        }
    }

    fn agents(&mut self, value: &Value) -> Vec<Agent> {
        let mut agents: Vec<Agent> = Vec::new();
        let mut ids = HashSet::new();
        self.entries(value, |read, entry| {
            let Some(map) = read.section(entry, keys::AGENT, Unknown::Hint) else { return };
            let mut agent = Agent { models: read.models(map), ..Agent::default() };
            read.key(map, "id", |read, value| {
                agent.id = read.string(value).unwrap_or_default();
                if !ids.insert(agent.id.clone()) {
                    read.problem(format!("agent `{}` stands here twice", agent.id), None);
                }
            });
            if !map.contains_key("id") {
                read.problem("an agent has no `id`".to_owned(), Some("give it one".to_owned()));
            }
            agents.push(agent);
        });
        agents
    }

    fn models(&mut self, map: &Mapping) -> AgentModels {
        let mut models = AgentModels::default();
        self.key(map, "model", |read, value| models.model = read.choice(value));
        self.key(map, "imageModel", |read, value| models.image_model = read.choice(value));
        self.key(map, "heartbeat", |read, value| {
            if let Some(heartbeat) = read.section(value, keys::HEARTBEAT, Unknown::Hint) {
                read.key(heartbeat, "model", |read, value| models.heartbeat_model = read.model(value));
            }
        });
        models
    }

    fn choice(&mut self, value: &Value) -> Option<ModelChoice> {
        if value.is_string() {
            return Some(ModelChoice { primary: self.model(value), fallbacks: None });
        }
        let Value::Mapping(_) = value else {
            self.mismatch("`provider/model`, or a map of `primary` and `fallbacks`", value);
            return None;
        };
        let map = self.section(value, keys::MODEL, Unknown::Error)?;
        let mut choice = ModelChoice::default();
        self.key(map, "primary", |read, value| choice.primary = read.model(value));
        self.key(map, "fallbacks", |read, value| {
            let mut fallbacks = Vec::new();
            read.entries(value, |read, entry| fallbacks.extend(read.model(entry)));
            choice.fallbacks = Some(fallbacks);
        });
        Some(choice)
    }

    /// `provider/model`.
    pub(crate) fn model(&mut self, value: &Value) -> Option<ModelRef> {
        let text = self.string(value)?;
        let model = ModelRef::parse(&text);
        if model.is_none() {
            self.problem(format!("`{text}` names no model"), Some("write `provider/model`".to_owned()));
        }
        model
    }
}

/// Whether a text is `provider:NAME` (C2).
pub(crate) fn is_profile_id(id: &str) -> bool {
    id.split_once(':').is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty())
}
