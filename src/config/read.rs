//! YAML → [`Config`].

use serde_yaml::{Mapping, Value};

use super::{
    Agent, AgentModels, Config, ConfigError, ConfiguredProfile, ModelChoice, ModelRef, Numbers, Problem,
    keys,
    locate::{Step, locate},
};
use crate::lang::diagnostic::nearest::{did_you_mean, nearest};

/// A config longer than this is the wrong file.
const LONGEST: usize = 4 * 1024 * 1024;

/// Problems, and hints, beyond these are no help to anybody.
const MOST: usize = 50;

/// Reads a config.
pub(super) fn config(text: &str) -> Result<Config, ConfigError> {
    if text.len() > LONGEST {
        return Err(ConfigError::TooLong { bytes: text.len(), limit: LONGEST });
    }
    let mut document: Value = serde_yaml::from_str(text).map_err(|error| yaml(&error))?;
    document.apply_merge().map_err(|error| yaml(&error))?;
    let mut reader = Reader { text, path: Vec::new(), problems: Vec::new(), hints: Vec::new() };
    let mut config = reader.document(&document);
    if reader.problems.is_empty() {
        config.numbers = Numbers::of(&document);
        config.hints = reader.hints;
        Ok(config)
    } else {
        reader.problems.sort_by_key(|problem| problem.offset);
        Err(ConfigError::Invalid(reader.problems))
    }
}

fn yaml(error: &serde_yaml::Error) -> ConfigError {
    let (line, column, offset) =
        error.location().map_or((0, 0, 0), |at| (at.line(), at.column(), at.index()));
    let message = error.to_string();
    // The place is told apart from the sentence.
    let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
    ConfigError::Yaml(Problem { message, help: None, line, column, offset })
}

struct Reader<'t> {
    text: &'t str,
    path: Vec<Step>,
    problems: Vec<Problem>,
    hints: Vec<Problem>,
}

/// What a section does with keys that it does not know.
#[derive(Clone, Copy, PartialEq)]
enum Unknown {
    Error,
    Hint,
}

impl Reader<'_> {
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

    fn kind(&mut self, value: &Value) -> Option<String> {
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
        self.entries(value, |read, entry| {
            let Some(map) = read.section(entry, keys::AGENT, Unknown::Hint) else { return };
            let mut agent = Agent { models: read.models(map), ..Agent::default() };
            read.key(map, "id", |read, value| {
                agent.id = read.string(value).unwrap_or_default();
                if agents.iter().any(|there| there.id == agent.id) {
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

    fn model(&mut self, value: &Value) -> Option<ModelRef> {
        let text = self.string(value)?;
        let model = ModelRef::parse(&text);
        if model.is_none() {
            self.problem(format!("`{text}` names no model"), Some("write `provider/model`".to_owned()));
        }
        model
    }

    // Walking.

    /// A map whose keys are checked. Nothing (`auth:`) is an empty one.
    fn section<'v>(&mut self, value: &'v Value, known: &[&str], unknown: Unknown) -> Option<&'v Mapping> {
        let map = self.map(value)?;
        for key in map.keys() {
            let Some(name) = key.as_str() else { continue };
            if known.contains(&name) {
                continue;
            }
            self.path.push(Step::Key(name.to_owned()));
            self.unknown(name, known, unknown);
            self.path.pop();
        }
        Some(map)
    }

    fn unknown(&mut self, name: &str, known: &[&str], unknown: Unknown) {
        let section = dotted(self.path.get(..self.path.len().saturating_sub(1)).unwrap_or_default());
        let near = did_you_mean(name, known.iter().copied());
        match unknown {
            Unknown::Error if keys::SECRETS.contains(&name.to_lowercase().as_str()) => {
                let help = "a config holds no secrets; store it with `pointsman profiles add`";
                self.problem(format!("`{name}` does not belong into `{section}`"), Some(help.to_owned()));
            }
            Unknown::Error => {
                let all = || format!("known are `{}`", known.join("`, `"));
                self.problem(format!("unknown key `{name}` in `{section}`"), Some(near.unwrap_or_else(all)));
            }
            Unknown::Hint if self.hints.len() < MOST && nearest(name, known.iter().copied()).is_some() => {
                let place =
                    if section.is_empty() { "at the top".to_owned() } else { format!("in `{section}`") };
                let hint = self.make(format!("`{name}` {place} is passed over"), near);
                self.hints.push(hint);
            }
            Unknown::Hint => {}
        }
    }

    fn key(&mut self, map: &Mapping, name: &str, read: impl FnOnce(&mut Self, &Value)) {
        if let Some(value) = map.get(name).filter(|value| !value.is_null()) {
            self.path.push(Step::Key(name.to_owned()));
            read(self, value);
            self.path.pop();
        }
    }

    fn each(&mut self, map: &Mapping, mut read: impl FnMut(&mut Self, &str, &Value)) {
        for (key, value) in map {
            let Some(name) = key.as_str() else { continue };
            self.path.push(Step::Key(name.to_owned()));
            read(self, name, value);
            self.path.pop();
        }
    }

    fn entries(&mut self, value: &Value, mut read: impl FnMut(&mut Self, &Value)) {
        let Value::Sequence(list) = value else {
            if !value.is_null() {
                self.mismatch("a list", value);
            }
            return;
        };
        for (at, entry) in list.iter().enumerate() {
            self.path.push(Step::At(at));
            read(self, entry);
            self.path.pop();
        }
    }

    fn map<'v>(&mut self, value: &'v Value) -> Option<&'v Mapping> {
        match value {
            Value::Mapping(map) => Some(map),
            Value::Null => None,
            other => {
                self.mismatch("a map", other);
                None
            }
        }
    }

    fn string(&mut self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text.clone()),
            other => {
                self.mismatch("a text", other);
                None
            }
        }
    }

    // Reporting.

    fn mismatch(&mut self, expected: &str, found: &Value) {
        let what = match found {
            Value::Null => "nothing",
            Value::Bool(_) => "yes or no",
            Value::Number(number) if number.as_f64().is_some_and(|n| n < 0.0) => "a negative number",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a map",
            Value::Tagged(_) => "a tagged value",
        };
        let place = dotted(&self.path);
        let place = if place.is_empty() { "the config".to_owned() } else { format!("`{place}`") };
        self.problem(format!("{place} must be {expected}, not {what}"), None);
    }

    fn problem(&mut self, message: String, help: Option<String>) {
        if self.problems.len() >= MOST {
            return;
        }
        let problem = self.make(message, help);
        self.problems.push(problem);
    }

    fn make(&self, message: String, help: Option<String>) -> Problem {
        // A key that a merge brought in stands elsewhere; its map is near enough.
        let found = (1..=self.path.len()).rev().find_map(|end| locate(self.text, self.path.get(..end)?));
        let (line, column, offset) = found.unwrap_or((0, 0, 0));
        Problem { message, help, line, column, offset }
    }
}

fn is_profile_id(id: &str) -> bool {
    id.split_once(':').is_some_and(|(provider, name)| !provider.is_empty() && !name.is_empty())
}

fn dotted(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.extend([".", key]),
            Step::At(at) => text.extend(["[", &at.to_string(), "]"]),
        }
    }
    text
}
