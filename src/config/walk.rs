//! Walks a YAML document key by key; whatever is wrong is taken down with its place in the text. For
//! files that people write: the config, a scenario.

use serde_yaml::{Mapping, Value};

use super::{
    Problem, keys,
    locate::{Step, locate},
    size,
};
use crate::lang::diagnostic::nearest::{did_you_mean, nearest};

/// Problems, and hints, beyond these are no help to anybody.
const MOST: usize = 50;

/// Reads YAML.
///
/// # Errors
/// The place where it is none.
pub(crate) fn parse(text: &str) -> Result<Value, Problem> {
    if let Some(offset) = size::too_deep(text) {
        let before = text.get(..offset).unwrap_or_default();
        let (line, column) = (
            1 + before.matches('\n').count(),
            before.rsplit('\n').next().map_or(1, |last| 1 + last.chars().count()),
        );
        let message = "its brackets are nested too deeply".to_owned();
        return Err(Problem { message, help: None, line, column, offset });
    }
    let read = || {
        size::check(text)?;
        let mut document: Value = serde_yaml::from_str(text)?;
        document.apply_merge()?;
        Ok(document)
    };
    read().map_err(|error: serde_yaml::Error| {
        let (line, column, offset) =
            error.location().map_or((0, 0, 0), |at| (at.line(), at.column(), at.index()));
        let message = error.to_string();
        // The place is told apart from the sentence.
        let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
        Problem { message, help: None, line, column, offset }
    })
}

/// Where the walk is, and what it has found.
pub(crate) struct Walker<'t> {
    text: &'t str,
    /// What the document is called: `the config`.
    what: &'static str,
    path: Vec<Step>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Keys that look misspelt.
    pub hints: Vec<Problem>,
}

/// What a section does with keys that it does not know.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Unknown {
    /// It takes none.
    Error,
    /// It passes them over, with a hint where one looks misspelt.
    Hint,
}

impl<'t> Walker<'t> {
    /// At the top of the document that `text` is.
    pub fn new(text: &'t str, what: &'static str) -> Self {
        Self { text, what, path: Vec::new(), problems: Vec::new(), hints: Vec::new() }
    }

    /// A map whose keys are checked. Nothing (`auth:`) is an empty one.
    pub fn section<'v>(&mut self, value: &'v Value, known: &[&str], unknown: Unknown) -> Option<&'v Mapping> {
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
                let help = format!("{} holds no secrets; store it with `pointsman profiles add`", self.what);
                self.problem(format!("`{name}` does not belong into `{section}`"), Some(help));
            }
            Unknown::Error => {
                let all = || format!("known are `{}`", known.join("`, `"));
                let place = place(&section);
                self.problem(format!("unknown key `{name}` {place}"), Some(near.unwrap_or_else(all)));
            }
            Unknown::Hint if self.hints.len() < MOST && nearest(name, known.iter().copied()).is_some() => {
                let hint = self.make(format!("`{name}` {} is passed over", place(&section)), near);
                self.hints.push(hint);
            }
            Unknown::Hint => {}
        }
    }

    /// Reads what stands under a key, if anything does.
    pub fn key(&mut self, map: &Mapping, name: &str, read: impl FnOnce(&mut Self, &Value)) {
        if let Some(value) = map.get(name).filter(|value| !value.is_null()) {
            self.path.push(Step::Key(name.to_owned()));
            read(self, value);
            self.path.pop();
        }
    }

    /// Reads every entry of a map.
    pub fn each(&mut self, map: &Mapping, mut read: impl FnMut(&mut Self, &str, &Value)) {
        for (key, value) in map {
            let Some(name) = key.as_str() else { continue };
            self.path.push(Step::Key(name.to_owned()));
            read(self, name, value);
            self.path.pop();
        }
    }

    /// Reads every entry of a list. Nothing is an empty one.
    pub fn entries(&mut self, value: &Value, mut read: impl FnMut(&mut Self, &Value)) {
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

    /// A map; nothing is none.
    pub fn map<'v>(&mut self, value: &'v Value) -> Option<&'v Mapping> {
        match value {
            Value::Mapping(map) => Some(map),
            Value::Null => None,
            other => {
                self.mismatch("a map", other);
                None
            }
        }
    }

    /// A text.
    pub fn string(&mut self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text.clone()),
            other => {
                self.mismatch("a text", other);
                None
            }
        }
    }

    /// Takes down that something else stands here.
    pub fn mismatch(&mut self, expected: &str, found: &Value) {
        let endless;
        let what = match found {
            Value::Null => "nothing",
            Value::Number(number) if number.as_f64().is_some_and(|n| !n.is_finite()) => {
                endless = format!("`{number}`");
                &endless
            }
            Value::Bool(_) => "yes or no",
            Value::Number(number) if number.as_f64().is_some_and(|n| n < 0.0) => "a negative number",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a map",
            Value::Tagged(_) => "a tagged value",
        };
        let place = dotted(&self.path);
        let place = if place.is_empty() { self.what.to_owned() } else { format!("`{place}`") };
        self.problem(format!("{place} must be {expected}, not {what}"), None);
    }

    /// Takes down what is wrong here.
    pub fn problem(&mut self, message: String, help: Option<String>) {
        if self.problems.len() >= MOST {
            return;
        }
        let problem = self.make(message, help);
        self.problems.push(problem);
    }

    /// Takes down what may be meant otherwise, with the nearest of the `known` names.
    pub fn hint<'k>(&mut self, message: String, written: &str, known: impl Iterator<Item = &'k str>) {
        if self.hints.len() < MOST {
            let hint = self.make(message, did_you_mean(written, known));
            self.hints.push(hint);
        }
    }

    /// Takes down that a word is none of those that may stand here.
    pub fn unknown_word(&mut self, written: &str, what: &str, words: &[&str]) {
        let all = || format!("use `{}`", words.join("`, `"));
        let help = did_you_mean(written, words.iter().copied()).unwrap_or_else(all);
        self.problem(format!("`{written}` is {what}"), Some(help));
    }

    fn make(&self, message: String, help: Option<String>) -> Problem {
        let (line, column, offset) = nearest_place(self.text, &self.path);
        Problem { message, help, line, column, offset }
    }
}

/// What was found out about a key of a document that has been read.
#[cfg(feature = "cli")]
pub(crate) fn found_at(text: &str, path: &[&str], message: String, help: Option<String>) -> Problem {
    let path: Vec<Step> = path.iter().map(|key| Step::Key((*key).to_owned())).collect();
    let (line, column, offset) = nearest_place(text, &path);
    Problem { message, help, line, column, offset }
}

/// A key that a merge brought in stands elsewhere; its map is near enough.
fn nearest_place(text: &str, path: &[Step]) -> (usize, usize, usize) {
    (1..=path.len()).rev().find_map(|end| locate(text, path.get(..end)?)).unwrap_or((0, 0, 0))
}

fn place(section: &str) -> String {
    if section.is_empty() { "at the top".to_owned() } else { format!("in `{section}`") }
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
