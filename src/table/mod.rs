//! Checked tree → immutable matcher table, with the values of settings in force.

pub(crate) mod ask;
pub(crate) mod atom;
mod compile;
mod error;
pub(crate) mod exprs;
pub(crate) mod finder;
mod hash;
mod index;
pub(crate) mod literals;
pub(crate) mod program;
mod settings;
mod slots;

pub(crate) use compile::Matcher;

pub use error::TableError;
pub use settings::{InForce, NoSettings, Origin, SettingSource, Settings};

use crate::{
    lang::tree::{Ruleset, engine_list::ECHO_KEYS},
    signal::{Evidence, Normaliser, SignalRef},
};

/// A compiled rule set. Immutable, `Send + Sync`, meant to be shared in an `Arc`; a reload makes a
/// new one.
#[derive(Debug)]
pub struct Table {
    rules: Ruleset,
    settings: Settings,
    /// Folded provider id → family.
    families: hash::Names<String>,
    /// Providers whose profiles stand under another name, and that name (C2).
    renamed: Vec<(String, String)>,
    hash: u64,
    matcher: Matcher,
    normaliser: Normaliser,
}

impl Table {
    /// Compiles a checked rule set, with settings overridden by `source` (L2).
    ///
    /// # Errors
    /// When `source` holds something that cannot be a value of its setting.
    pub fn compile(rules: Ruleset, source: &dyn SettingSource) -> Result<Self, TableError> {
        let settings = Settings::read(&rules, source)?;
        let families = slots::families(&rules.aliases);
        let renamed = slots::renamed(&rules);
        let hash = hash::of(&rules, &settings);
        let matcher = compile::compile(&rules, &families)?;
        let normaliser = Normaliser::new(rules.engine_list(ECHO_KEYS).map(ToOwned::to_owned));
        Ok(Self { rules, settings, families, renamed, hash, matcher, normaliser })
    }

    /// Builds every regular expression now instead of at its first literal hit: for a reload, before
    /// the new table takes the old one's place.
    pub fn warm(&self) {
        self.matcher.exprs.warm();
    }

    /// Takes over the regular expressions that another table has built and that this one has too:
    /// building them is most of the work of checking rules again after a small change.
    pub fn take_over(&mut self, other: &Self) {
        self.matcher.exprs.take_over(&other.matcher.exprs);
    }

    /// Reads an error as the rules want it read: strings below the keys of their list `echo_keys` are
    /// the user's own words (D13).
    pub fn normalise(&self, signal: &SignalRef<'_>, evidence: &mut Evidence) {
        self.normaliser.read(signal, evidence);
    }

    /// Whether two rule sets want every error read the same way, so that it needs to be read once only.
    #[must_use]
    pub fn reads_like(&self, other: &Self) -> bool {
        self.rules.engine_list(ECHO_KEYS).eq(other.rules.engine_list(ECHO_KEYS))
    }

    pub(crate) fn matcher(&self) -> &Matcher {
        &self.matcher
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Table>();
};
