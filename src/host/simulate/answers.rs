//! What calls get.

use std::time::Duration;

use super::scenario::Entry;
use crate::{run::Attempt, signal::Signal};

/// The providers of a simulation.
pub trait Answers {
    /// What this call gets, which begins `at` after the start.
    fn answer(&mut self, attempt: &Attempt, at: Duration) -> Reply;
}

impl<F: FnMut(&Attempt, Duration) -> Reply> Answers for F {
    fn answer(&mut self, attempt: &Attempt, at: Duration) -> Reply {
        self(attempt, at)
    }
}

/// What a call gets.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// How long it takes.
    pub takes: Duration,
    /// How it ends.
    pub outcome: Outcome,
    /// Output reaches the user before it ends (H5).
    pub partial: bool,
    /// The host can mend the payload that failed (D9).
    pub repair: bool,
}

/// How a call ends.
#[derive(Clone, Debug, Default)]
pub enum Outcome {
    /// The model answers.
    #[default]
    Ok,
    /// The call fails.
    Fail(Box<Signal>),
}

/// The answers of a scenario: the first entry that fits, `ok` when none does.
#[derive(Clone, Debug)]
pub struct Script<'s> {
    entries: &'s [Entry],
    /// How often each has fitted.
    fitted: Vec<u32>,
}

impl<'s> Script<'s> {
    /// Answers as these entries say.
    #[must_use]
    pub fn new(entries: &'s [Entry]) -> Self {
        Self { entries, fitted: vec![0; entries.len()] }
    }
}

impl Answers for Script<'_> {
    fn answer(&mut self, attempt: &Attempt, at: Duration) -> Reply {
        for (entry, fitted) in self.entries.iter().zip(&mut self.fitted) {
            if entry.fits(attempt, at) && entry.times.is_none_or(|times| *fitted < times) {
                *fitted += 1;
                return entry.reply();
            }
        }
        Reply::default()
    }
}

impl Entry {
    fn fits(&self, attempt: &Attempt, at: Duration) -> bool {
        let candidate = &attempt.candidate;
        let is_model = |wanted: &str| match wanted.split_once('/') {
            // A bare id may hold slashes too.
            Some((provider, model)) => {
                (candidate.provider == provider && candidate.model == model) || candidate.model == wanted
            }
            None => candidate.model == wanted,
        };
        self.profile.as_ref().is_none_or(|profile| attempt.profile.as_ref() == Some(profile))
            && self.provider.as_ref().is_none_or(|provider| candidate.provider == *provider)
            && self.model.as_deref().is_none_or(is_model)
            && self.from.is_none_or(|from| from <= at)
            && self.until.is_none_or(|until| at < until)
    }

    fn reply(&self) -> Reply {
        let outcome = match &self.fail {
            Some(signal) => Outcome::Fail(Box::new(signal.clone())),
            None => Outcome::Ok,
        };
        Reply { takes: self.takes, outcome, partial: self.partial, repair: self.repair }
    }
}
